"""`cotrace report`: the named reports, in the terminal, as data, or as one HTML file."""

from __future__ import annotations

import click

from cotrace.commands.options import format_option, say, store_option
from schemas.store import Store

__all__ = ["REPORTS", "command"]

REPORTS: dict[str, tuple[str, str]] = {
    "leaderboard": ("leaderboard", "benchmark, score_mean desc nulls last, model, condition"),
    "outcomes": ("outcomes", "model, condition, task_id, episode_id, turn"),
    "failures": ("failure_breakdown", "taxonomy, model, condition, level, category"),
    "remove-gap": ("remove_gap_models", "reading, gap desc nulls last, model, condition"),
    "remove-gap-turns": ("remove_gap", "model, condition, builder, turn"),
    "spirals": ("correction_spirals", "turns_wasted desc, model, task_id, episode_id, start_turn, kind"),
    "missed": ("missed_turns", "model, condition, task_id, episode_id, turn"),
    "judges": ("judge_scores_models", "rubric, question, judge, variant, model, condition"),
    "agreement": ("agreement", "rubric, question, kind, rater_a, rater_b"),
    "cost": ("cost", "last_started_at"),
    "rejects": ("rejects", "path, locator"),
    "disagreements": ("log_disagreements", "episode_id, turn, field"),
}
"""Name -> (view or table, order)."""


@click.command()
@click.argument("name", type=click.Choice([*REPORTS, "all"]))
@store_option
@format_option("table", "csv", "json", "html")
@click.option("--where", "condition", default="true", show_default=True, help="SQL condition on the report's columns.")
def command(name: str, store: Store, output_format: str, condition: str) -> None:
    """Print one of the named reports; `all` only as HTML, with the figures of the dashboard.

    \b
    Example:
      cotrace report failures --format csv --where "model = 'gpt-4o'" > failures.csv
    """
    from analytics.query import query
    from analytics.views import ensure_installed
    from cotrace.output import emit
    from schemas.errors import UsageError

    ensure_installed(store)
    if output_format == "html":
        from dashboards.document import document

        chosen = list(REPORTS) if name == "all" else [name]
        tables = {key: query(store, _select(key, condition if name != "all" else "true")) for key in chosen}
        click.echo(document(store, tables))
        say(f"one self-contained page with {len(chosen)} reports from {store.path}; open it in a browser")
        return
    if name == "all":
        raise UsageError("report all: a terminal shows one report at a time; name one, or add --format html")
    rows = query(store, _select(name, condition))
    emit(rows, output_format)
    say(f"{len(rows)} rows from {REPORTS[name][0]} in {store.path}; its columns are explained in docs/views.md, pages: cotrace dash")


def _select(name: str, condition: str) -> str:
    source, order = REPORTS[name]
    return f"SELECT * FROM {source} WHERE {condition} ORDER BY {order}"
