"""Drift: how the answers of a judge move from job to job, and inside a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dash import html

from analytics.drift import drift_report
from dashboards.computed import computed
from dashboards.figures.dots import Axis
from dashboards.grid import Grid, fold
from dashboards.judging.common import WHOLE_STORE, choices, chosen, command_about, dots, nothing_yet, words_of
from dashboards.parts import Part, card, figure
from dashboards.reader import Reader
from dashboards.tables import GridColumn, TableRows

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SECTION", "TABLES", "TITLE", "content"]

SECTION = "drift"
TITLE = "Drift"

_COMPARED = {"again": "Same units again", "new": "New units", "within": "Halves of a job"}
_HINTS = {
    "again": "The same units, asked again by a later job: only the judge can differ.",
    "new": "Units of a later job against those of earlier ones, of the same models: the games differ, too.",
    "within": "The second half of a job against its first, by the order in which the answers came: the games differ, too.",
}
_RATES = """
SELECT judge || coalesce(' (' || variant || ')', '') AS judge, question, answer, rate, rate_low, rate_high,
    strftime(started_at, '%Y-%m-%d %H:%M:%S') AS at
FROM answer_rates WHERE rubric = $rubric AND starts_with(judge, 'llm:') ORDER BY judge, started_at, question, answer
"""


def content(read: Reader, rubric: str) -> Part:
    """Of one judge, `?judge=`; `?answer=` is drawn, `?compared=` is tested."""
    import polars as pl

    address = read.address
    rates = read.rows(_RATES, {"rubric": rubric})
    if rates.is_empty():
        return nothing_yet(
            "No model has judged this rubric. Ask the same units again later, and drift shows:",
            f"cotrace judge --rubric {rubric} --model openai/gpt-4o-mini --repeats 1",
            f"cotrace judge --rubric {rubric} --model openai/gpt-4o-mini --repeats 2    # weeks later: asks each unit once more",
        )
    judges = rates["judge"].unique(maintain_order=True).to_list()
    judge = chosen(address.one("judge"), judges)
    rates = rates.filter(pl.col("judge") == judge)
    answers = sorted(rates["answer"].unique(), key=lambda answer: (answer != "yes", answer))
    answer = chosen(address.one("answer"), answers)
    said = rates.filter(pl.col("answer") == answer)
    shown = said.select("at", series="question", value="rate", low="rate_low", high="rate_high")
    drawn = dots(shown, Axis(title=f"share of {answer}", is_share=True))
    return html.Div(
        [
            choices(address, "Judge", "judge", {name: name for name in judges}, judge),
            choices(address, "Answer", "answer", {name: name for name in answers}, answer),
            card(
                "Answers by job",
                figure("judge-drift", drawn, label="share of answers by job"),
                hint=f"With 95 % intervals by game. {WHOLE_STORE}",
            ),
            _tests_card(read, rubric),
        ]
    )


def _tested(read: Reader, rubric: str) -> tuple[dict[str, str], str, pl.DataFrame]:
    """The kinds of comparison there are, the chosen one and its rows, the smallest p first."""
    import polars as pl

    rates = read.rows(_RATES, {"rubric": rubric})
    judge = chosen(read.address.one("judge"), rates["judge"].unique(maintain_order=True).to_list() or [""])
    tested = computed(read.store, drift_report, rubric=rubric).filter(pl.col("judge") == judge)
    found = tested["compared"].unique().to_list()
    kinds = {kind: text for kind, text in _COMPARED.items() if kind in found}
    kind = chosen(read.address.one("compared"), list(kinds) or [""])
    rows = tested.filter(pl.col("compared") == kind).sort(pl.col("p_corrected"), "question", nulls_last=True, maintain_order=True)
    return kinds, kind, rows


def _tests_card(read: Reader, rubric: str) -> Part:
    kinds, kind, _ = _tested(read, rubric)
    if not kinds:
        return nothing_yet("There is nothing to compare yet: too few answers, or none of the same wording and temperature.")
    return html.Div(
        [
            choices(read.address, "Compared", "compared", kinds, kind),
            card("Has it drifted?", fold(read, TESTS, rubric, is_open=True), hint=_HINTS[kind]),
        ]
    )


def _tests(read: Reader, rubric: str) -> TableRows:
    import polars as pl

    _, kind, rows = _tested(read, rubric)
    columns = {
        "question": GridColumn(heading="Question", kind="name"),
        "answer": GridColumn(heading="Answer"),
        "at": GridColumn(heading="Job of", kind="when"),
        "units": GridColumn(heading="Units", kind="count"),
        "games": GridColumn(heading="Games", kind="count"),
        "rate_before": GridColumn(heading="Before", kind="share"),
        "rate_after": GridColumn(heading="After", kind="share"),
        "difference": GridColumn(heading="Difference (95 %)", kind="share", low="low", high="high"),
        "agreement": GridColumn(heading="Same answer", kind="share"),
        "p_corrected": GridColumn(heading="p, corrected", kind="p"),
        "words": GridColumn(heading="What to make of it", kind="words"),
    }
    if kind != "again":
        del columns["agreement"]
    return TableRows(
        frame=rows.with_columns(words_of(rows, r"[^;]*; "), at=pl.col("later_at").dt.strftime("%Y-%m-%d %H:%M")),
        source=command_about("drift", rubric),
        columns=columns,
    )


TESTS: Final = Grid("drift", _tests, "Comparisons")
TABLES = (TESTS,)
