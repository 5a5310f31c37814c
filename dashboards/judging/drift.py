"""Drift: how the answers of a judge move from job to job, and inside a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from analytics.drift.report import drift_report
from dashboards.computed import computed
from dashboards.judging.common import WHOLE_STORE, choices, chosen, dots, estimates, nothing_yet, two_digits, words_of
from dashboards.parts import Part, card, figure, table
from dashboards.reader import Reader

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SECTION", "TITLE", "content"]

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
    drawn = dots(said.select("at", series="question", value="rate", low="rate_low", high="rate_high"), title=f"share of {answer}")
    tested = computed(read.store, drift_report, rubric=rubric).filter(pl.col("judge") == judge)
    return html.Div(
        [
            choices(address, "Judge", "judge", {name: name for name in judges}, judge),
            choices(address, "Answer", "answer", {name: name for name in answers}, answer),
            card("Answers by job", figure("judge-drift", drawn), hint=f"With 95 % intervals by game. {WHOLE_STORE}"),
            _tests(read, tested),
        ]
    )


def _tests(read: Reader, tested: pl.DataFrame) -> Part:
    import polars as pl

    found = tested["compared"].unique().to_list()
    kinds = {kind: text for kind, text in _COMPARED.items() if kind in found}
    if not kinds:
        return nothing_yet("There is nothing to compare yet: too few answers, or none of the same wording and temperature.")
    kind = chosen(read.address.one("compared"), list(kinds))
    rows = tested.filter(pl.col("compared") == kind).sort(pl.col("p_corrected"), "question", nulls_last=True, maintain_order=True)
    columns = {
        "question": "Question",
        "answer": "Answer",
        "at": "Job of",
        "units": "Units",
        "games": "Games",
        "rate_before": "Before",
        "rate_after": "After",
        "difference": "Difference (95 %)",
        "agreement": "Same answer",
        "p_corrected": "p, corrected",
        "words": "What to make of it",
    }
    if kind != "again":
        del columns["agreement"]
    shown = estimates(rows, {"difference": ("low", "high")})
    shown = shown.with_columns(words_of(rows, r"[^;]*; "), at=pl.col("later_at").dt.strftime("%Y-%m-%d %H:%M"))
    numbers = ("rate_before", "rate_after", "agreement")
    return html.Div(
        [
            choices(read.address, "Compared", "compared", kinds, kind),
            card(
                "Has it drifted?",
                table(
                    shown.select(*columns),
                    columns,
                    show=dict.fromkeys(numbers, two_digits) | {"p_corrected": _p},
                    classes={"difference": "num", "words": "words", "at": "when"},
                ),
                hint=_HINTS[kind],
            ),
        ]
    )


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"  # noqa: PLR2004 - below it the digits mean nothing
