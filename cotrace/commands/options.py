"""Options and ways of speaking that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from schemas.store import DEFAULT_STORE, Store

__all__ = ["format_option", "say", "store_option"]

F = TypeVar("F", bound=Callable[..., Any])


class _StoreParameter(click.ParamType[Store]):
    name = "store"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Store:  # noqa: ARG002 - click's signature
        return value if isinstance(value, Store) else Store(Path(value))


def store_option(command: F) -> F:
    """`--store`, or COTRACE_STORE, or cotrace.duckdb in this folder."""
    return click.option(
        "--store",
        type=_StoreParameter(),
        envvar="COTRACE_STORE",
        default=DEFAULT_STORE,
        show_default=True,
        help="The DuckDB file to work on (or set COTRACE_STORE).",
    )(command)


def format_option(*formats: str) -> Callable[[F], F]:
    """`--format`, the first one being the default."""

    def decorate(command: F) -> F:
        return click.option(
            "--format", "output_format", type=click.Choice(formats), default=formats[0], show_default=True, help="How to print the rows."
        )(command)

    return decorate


def say(message: str) -> None:
    """Tell the user something; everything that is not data goes to stderr."""
    click.echo(message, err=True)
