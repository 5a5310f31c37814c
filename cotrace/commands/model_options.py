"""Options of commands that ask a model: where it is, how it answers, and what it may take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from cotrace.commands.options import Number

__all__ = ["model_options"]

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: Final = (
    click.option("--base-url", "base_urls", multiple=True, help="OpenAI-compatible server; repeat to share calls out among several."),
    click.option("--key-env", "key_variables", multiple=True, help="Environment variable with a key; repeat for several keys."),
    click.option("--cache", type=click.Path(path_type=Path), help="File or folder of answers by content: what is in it is not paid again."),
    click.option("--concurrency", default=32, show_default=True, type=click.IntRange(min=1), help="Calls under way at once."),
    click.option(
        "--requests-per-minute",
        type=Number(min=0, min_open=True),
        help="Never send more requests a minute than this, to each server and key.",
    ),
    click.option(
        "--tokens-per-minute", type=Number(min=0, min_open=True), help="Never use more tokens a minute than this, at each server and key."
    ),
    click.option("--temperature", default=0.0, show_default=True, type=Number(min=0), help="Sampling temperature."),
    click.option("--max-tokens", default=1500, show_default=True, type=click.IntRange(min=1), help="Longest reply."),
    click.option(
        "--timeout",
        "timeout_s",
        default=120.0,
        show_default=True,
        type=Number(min=0, min_open=True),
        help="Seconds before a request is given up.",
    ),
    click.option("--max-cost", type=Number(min=0), help="USD that may be spent; the run stops cleanly before it would be more."),
    click.option("--prices", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Price file of your own (YAML)."),
)


def model_options(command: F) -> F:
    """Add the options, in their order."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
