"""Options and ways of speaking that several verbs share."""

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from cotrace.terminal import echo
from schemas.common.cluster import using
from schemas.common.errors import UsageError
from schemas.store.store import DEFAULT_STORE, Store
from schemas.store.stores import store_at

F = TypeVar("F", bound=Callable[..., Any])

MOST = 1_000_000
"""The most of anything that can be played; more is a slip of the finger, and would fill the memory first."""

COUNT = click.IntRange(1, MOST)
"""How many of something to play."""


class StoreParameter(click.ParamType[Store]):
    """A store by its path or `lake:` address."""

    name = "store"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Store:  # noqa: ARG002 - click's signature
        """The store, whether it is there or not."""
        return value if isinstance(value, Store) else store_at(value)


class Number(click.FloatRange):
    """A number within bounds; `nan` and `inf`, which no bound stops, are refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; click tells the user what is wrong with it."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a usable number.", param, ctx)
        return number


def store_option(command: F) -> F:
    """`--store`, or COTRACE_STORE, or cotrace.duckdb in this folder."""
    return click.option(
        "--store",
        type=StoreParameter(),
        envvar="COTRACE_STORE",
        default=DEFAULT_STORE,
        show_default=True,
        help="The DuckDB file to work on, or lake:FOLDER or lake:s3://BUCKET/PREFIX (or set COTRACE_STORE).",
    )(command)


def _use_cluster(context: click.Context, _: click.Parameter, on: str | None) -> None:
    context.with_resource(using(on))


def on_option(command: F) -> F:
    """`--on`: the work of the command is spread over a cluster; nothing of the command itself knows."""
    return click.option(
        "--on",
        expose_value=False,
        callback=_use_cluster,
        metavar="ray[://HOST:PORT]",
        help="Spread the work over a Ray cluster (docs/scale.md).",
    )(command)


def format_option(*formats: str) -> Callable[[F], F]:
    """`--format`, the first one being the default."""

    def decorate(command: F) -> F:
        return click.option(
            "--format", "output_format", type=click.Choice(formats), default=formats[0], show_default=True, help="How to print the rows."
        )(command)

    return decorate


@contextmanager
def writing_to(out: Path, option: str = "--out") -> Iterator[None]:
    """Tell in one line which file of an output folder cannot be written, and the mend.

    Args:
        out: the folder.
        option: which named it.

    Raises:
        UsageError: the file system refused.
    """
    try:
        yield
    except (ConnectionError, TimeoutError):
        raise  # a matter of the network, which Python counts among the errors of files
    except OSError as error:
        where = error.filename or out
        raise UsageError(
            f"{option} {out}: {where} cannot be used ({error.strerror or error}); choose a folder that can be written"
        ) from error


_ONE_OF_MANY: Final = re.compile(
    r"(?<![\d.,])1 (game|turn|row|file|unit|call|text|label|part|report|request|finding|step|timestep"
    r"|question|sentence|verdict|sample|line|message|mistake|column)s\b"
)
"""What is counted, where there is one of it."""


def tokens(taken: int | None, written: int | None) -> str:
    """Those of prompts and of replies, in words."""
    return "tokens not counted by the server" if taken is None or written is None else f"{taken} + {written} tokens"


def requested(requests: int, timed_out: int) -> str:
    """How many requests were sent, in words, and how many of them had no reply in time."""
    late = f" ({timed_out} timed out: see --timeout and --concurrency)" if timed_out else ""
    return f"{requests} requests{late}"


def spent(cost: float | None) -> str:
    """What something has cost, in words."""
    return "cost not known: no price, or tokens that the server does not count" if cost is None else f"{cost:.4f} USD"


def say(message: str) -> None:
    """Tell the user something; everything that is not data goes to stderr. Names and places in it may come out of a log."""
    echo(_ONE_OF_MANY.sub(r"1 \1", message), err=True)
