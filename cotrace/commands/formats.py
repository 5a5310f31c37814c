"""`cotrace formats`: which logs can be read."""

import click

from cotrace.options.shared import say
from cotrace.terminal import echo


@click.command()
def command() -> None:
    """List the log formats that can be read; `cotrace ingest` tells them by content.

    \b
    Example:
      cotrace formats
    """
    from ingest.adapters import formats

    found = formats()
    width = max(len(name) for name, _ in found)
    for name, text in found:
        echo(f"{name:<{width}}  {text}")
    say(f"{len(found)} formats; next: cotrace ingest PATH, or --format NAME where a file does not say what it is")
