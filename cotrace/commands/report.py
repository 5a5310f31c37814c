"""`cotrace report`: the named reports, in the terminal, as data, or as one HTML file."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from cotrace.commands.options import format_option, say, store_option
from schemas.store import Store
from schemas.text import printable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COMPUTED", "REPORTS", "command"]

REPORTS: dict[str, tuple[str, str]] = {
    "leaderboard": ("leaderboard", "benchmark, score_mean desc nulls last, model, condition"),
    "outcomes": ("outcomes", "model, condition, task_id, episode_id, turn"),
    "failures": ("failure_breakdown", "taxonomy, model, condition, level, category"),
    "families": ("families", "benchmark"),
    "failures-common": ("failures_common", "benchmark, model, condition, turns desc, common"),
    "remove-gap": ("remove_gap_models", "reading, gap desc nulls last, model, condition"),
    "remove-gap-turns": ("remove_gap", "model, condition, builder, turn"),
    "spirals": ("correction_spirals", "turns_wasted desc, model, task_id, episode_id, start_turn, kind"),
    "missed": ("missed_turns", "model, condition, task_id, episode_id, turn"),
    "judges": ("judge_scores_models", "rubric, question, judge, variant, model, condition"),
    "confusion": ("agreement_confusion", "rubric, question, kind, rater_a, variant_a, rater_b, variant_b, answer_a, n desc, answer_b"),
    "panel": ("panel", "rubric, question, variant, unit_id"),
    "panel-disagreements": ("panel_disagreements", "entropy desc, rubric, question, variant, unit_id"),
    "pairs": ("pair_preferences", "rubric, question, judge, variant, episode_a, episode_b, repeat"),
    "flagged": ("flagged_units", "unit_id, flagged"),
    "einstein": ("einstein_runs", "action_mode, use_cot, verifier, run"),
    "einstein-errors": ("einstein_errors", "scope, verifier, action_mode, count desc, category"),
    "cost": ("cost", "last_started_at"),
    "rejects": ("rejects", "path, locator"),
    "disagreements": ("log_disagreements", "episode_id, turn, field"),
}
"""Name -> (view or table, order)."""


class Computed(NamedTuple):
    """A report that needs more than SQL."""

    module: str
    function: str
    """Takes the store, gives a frame."""
    columns: str
    """The module's constant that names the columns which fit a terminal."""


COMPUTED: dict[str, Computed] = {
    "agreement": Computed("analytics.agreement.report", "agreement_report", "SUMMARY"),
    "corrected-rates": Computed("analytics.rates.corrected", "corrected_rates", "SUMMARY"),
    "calibration": Computed("analytics.rates.calibration", "calibration_report", "SUMMARY"),
    "calibrated-answers": Computed("analytics.rates.calibrated_answers", "calibrated_answers", "SUMMARY"),
    "probes": Computed("analytics.judging.probes", "probe_report", "SUMMARY"),
    "drift": Computed("analytics.drift.report", "drift_report", "SUMMARY"),
    "self-preference": Computed("analytics.judging.self_preference", "self_preference_report", "SUMMARY"),
    "labels-needed": Computed("analytics.rates.corrected", "labels_needed_report", "NEEDED_SUMMARY"),
}
"""Name -> what computes it."""

_ALL: Final = (*REPORTS, *COMPUTED)


@click.command()
@click.argument("name", type=click.Choice([*_ALL, "all"]))
@store_option
@format_option("table", "csv", "json", "html")
@click.option("--where", default="true", show_default=True, help="SQL condition on the report's columns.")
@click.option(
    "--na-score",
    type=click.FloatRange(0, 1),
    help="agreement: the number of N/A in means and correlations [default: none]; CRAFT's use 0.5.",
)
def command(name: str, store: Store, output_format: str, where: str, na_score: float | None) -> None:
    """Print one of the named reports; `all` only as HTML, with the figures of the dashboard.

    \b
    Example:
      cotrace report failures --format csv --where "model = 'gpt-4o'" > failures.csv
    """
    from analytics.views import ensure_installed
    from cotrace.output import emit
    from schemas.errors import UsageError

    if na_score is not None and name != "agreement":
        raise UsageError("--na-score is for the report agreement: leave it out")
    options = {} if na_score is None else {"na_score": na_score}
    ensure_installed(store)
    if output_format == "html":
        from dashboards.document import document

        chosen = _ALL if name == "all" else (name,)
        tables = {key: _rows(key, store, where if name != "all" else "true", options) for key in chosen}
        click.echo(document(store, tables))
        say(f"one self-contained page with {len(chosen)} reports from {store.path}; open it in a browser")
        return
    if name == "all":
        raise UsageError("report all: a terminal shows one report at a time; name one, or add --format html")
    rows = _rows(name, store, where, options)
    if name in COMPUTED:
        emit(rows.select(_short(name)) if output_format == "table" else rows, output_format)
        if output_format == "table" and "advice" in rows.columns:
            for line in rows["advice"]:
                click.echo(printable(line))
        say(f"{len(rows)} rows of {name} from {store.path}; --format csv has all {rows.width} columns, docs/judges.md explains them")
        return
    emit(rows, output_format)
    say(f"{len(rows)} rows from {REPORTS[name][0]} in {store.path}; its columns are explained in docs/views.md, pages: cotrace dash")


def _rows(name: str, store: Store, where: str, options: dict[str, float]) -> pl.DataFrame:
    from analytics.query import condition, filtered, query

    if name not in COMPUTED:
        return query(store, _select(name, condition(where)))
    compute = getattr(importlib.import_module(COMPUTED[name].module), COMPUTED[name].function)
    return filtered(compute(store, **options), where)


def _short(name: str) -> list[str]:
    return list(getattr(importlib.import_module(COMPUTED[name].module), COMPUTED[name].columns))


def _select(name: str, condition: str) -> str:
    source, order = REPORTS[name]
    return f"SELECT * FROM {source} WHERE {condition} ORDER BY {order}"
