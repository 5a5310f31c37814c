"""`cotrace attribute`: whose cost each turn was."""

from __future__ import annotations

import click

from cotrace.commands.options import say, store_option
from schemas.store import Store

__all__ = ["attribute_all", "command"]


@click.command()
@click.option("--where", default="true", show_default=True, help="SQL condition on `episodes`, such as \"model = 'gpt-4o'\".")
@click.option(
    "--reader",
    "reader_name",
    default="rules",
    show_default=True,
    help="Who reads the messages: rules, planted, llm:<model> (what `cotrace claims` let it read), or both:<one of the last two>.",
)
@store_option
def command(store: Store, where: str, reader_name: str) -> int:
    """Put what each turn cost down to an agent and a broken link, by the rules of the game (docs/attribution.md).

    Reads messages and boards, asks no model. What was said about the same games before is replaced. Exit code 1 if no game could be
    attributed.

    \b
    Example:
      cotrace attribute && cotrace report lost
    """
    return attribute_all(store, where, reader_name)


def attribute_all(store: Store, where: str = "true", reader_name: str = "rules") -> int:
    """Attribute the games and tell what came of it; 1 if none could be."""
    from analytics.views import ensure_installed
    from cotrace.progress import progress_bar
    from judges.attribution.job import attribute_games
    from judges.claims.readers import reader_named

    reader = reader_named(reader_name)
    ensure_installed(store)
    with progress_bar("attributing") as show:
        report = attribute_games(store, where, reader, show)
    say(f"{report.games} games attributed: {report.findings} findings, {report.requests} requests held against what was done")
    for benchmark, games in report.without.items():
        say(f"  {games} games of {benchmark} left out: they have no values, or nothing tells whose they were (docs/attribution.md)")
    say("next: cotrace report lost, cotrace report attributions, cotrace dash")
    return int(report.games == 0)
