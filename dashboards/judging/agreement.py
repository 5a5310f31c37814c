"""Agreement: a judge with people, with planted truth, with the engine, with other judges and with itself; people among themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from dash import html

from analytics.agreement.pairs import ALL
from analytics.agreement.report import agreement_report
from dashboards.computed import computed
from dashboards.judging.common import WHOLE_STORE, choices, chosen, dots, estimates, nothing_yet, two_digits, words_of
from dashboards.parts import Part, card, figure, table
from dashboards.reader import Reader

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SECTION", "TITLE", "content"]

SECTION = "agreement"
TITLE = "Agreement"

_KINDS = {
    "judge_people": "Judge and people",
    "people": "People among themselves",
    "judge_truth": "Judge and planted truth",
    "judge_engine": "Judge and engine",
    "judge_judge": "Judge and judge",
    "judge_repeats": "Judge asked again",
    "people_truth": "People and planted truth",
}
_MEASURES = {"kappa": "Kappa", "ac1": "Gwet's AC1", "alpha_nominal": "Krippendorff's alpha", "agreement": "Equal answers"}
_LOWEST = {"agreement": 0}


def content(read: Reader, rubric: str) -> Part:
    """`?kind=` who is compared, `?measure=` what is drawn, `?question=` whose confusion matrix is shown."""
    import polars as pl

    report = computed(read.store, agreement_report, rubric=rubric).filter(pl.col("rubric") == rubric)
    if report.is_empty():
        return nothing_yet(
            "Nobody else has answered this rubric's questions about the same units. Label some on the page Labelling, import labels, "
            "or ask a second judge:",
            "cotrace labels import labels.csv",
            f"cotrace judge --rubric {rubric} --model openai/gpt-4o-mini --repeats 2",
        )
    address = read.address
    found = report["kind"].unique().to_list()
    kinds = {kind: text for kind, text in _KINDS.items() if kind in found}
    kind = chosen(address.one("kind"), list(kinds))
    measure = chosen(address.one("measure"), list(_MEASURES))
    rows = report.filter(pl.col("kind") == kind).with_columns(
        question=pl.when(pl.col("question") == ALL).then(pl.lit("all")).otherwise(pl.col("question")),
        raters=_raters(kind),
    )
    links = [address.to(question=row["question"], raters=row["raters"]) for row in rows.iter_rows(named=True)]
    drawn = dots(
        rows.select(
            at="question",
            series="raters",
            value=measure,
            low=f"{measure}_low",
            high=f"{measure}_high",
            link=pl.Series(links, dtype=pl.String),
        ),
        title=_MEASURES[measure].lower(),
        span=(_LOWEST.get(measure, min(0.0, _least(rows[f"{measure}_low"]))), 1),
    )
    return html.Div(
        [
            choices(address, "Compared", "kind", kinds, kind),
            choices(address, "Drawn", "measure", _MEASURES, measure),
            card(_KINDS[kind], figure("judge-agreement", drawn), _numbers(rows, address), hint=f"{_HINTS[measure]} {WHOLE_STORE}"),
            _confusion(rows, address.one("question"), address.one("raters")),
        ]
    )


_HINTS = {
    "kappa": "Agreement beyond chance: 1 is full, 0 what chance gives. Low where one answer is common, even for a good judge.",
    "ac1": "Agreement beyond chance that is not upset by a common answer.",
    "alpha_nominal": "Agreement beyond chance of any number of raters; below 0.67 nothing should be built on it.",
    "agreement": "Share of equal answers; high by chance alone where one answer is common.",
}


def _raters(kind: str) -> Any:
    import polars as pl

    if kind in {"people", "judge_repeats"}:
        return pl.col("rater_a")
    return pl.when(pl.lit(kind == "judge_judge")).then(pl.concat_str("rater_b", pl.lit(" and "), "rater_a")).otherwise(pl.col("rater_b"))


def _least(values: pl.Series) -> float:
    found = values.min()
    return float(found) if isinstance(found, float) else 0.0


def _numbers(rows: pl.DataFrame, address: Any) -> Part:
    columns = {
        "question": "Question",
        "raters": "Who",
        "units": "Units",
        "games": "Games",
        "agreement": "Equal answers",
        "kappa": "Kappa",
        "ac1": "AC1",
        "sensitivity": "Finds yes",
        "specificity": "Finds no",
        "words": "What to make of it",
    }
    intervals = ("agreement", "kappa", "ac1", "sensitivity", "specificity")
    shown = estimates(rows, {name: (f"{name}_low", f"{name}_high") for name in ("agreement", "kappa")})
    shown = shown.with_columns(words_of(rows, r"[^;]* gives? the same answer in [^;]*; "))
    return table(
        shown,
        columns,
        link=lambda row: address.to(question=row["question"], raters=row["raters"]),
        show=dict.fromkeys(intervals[2:], two_digits),
        classes=dict.fromkeys(intervals, "num") | {"words": "words"},
    )


def _confusion(rows: pl.DataFrame, question: str, raters: str) -> Part:
    """Every pair of answers, counted, of the question that was clicked."""
    import polars as pl

    found = rows.filter((pl.col("question") == question) & ((pl.col("raters") == raters) | (raters == "")))
    if found.is_empty():
        return None
    row = found.row(0, named=True)
    counts: dict[str, dict[str, int]] = orjson.loads(row["confusion"])
    answers = sorted({*counts, *(answer for said in counts.values() for answer in said)})
    matrix = pl.DataFrame([{"": said} | {answer: counts.get(said, {}).get(answer, 0) for answer in answers} for said in answers])
    heads = {"": f"{row['rater_a']} said"} | {answer: answer for answer in answers}
    return card(
        f"{question}: {row['rater_b']} said", table(matrix, heads), hint="Pairs of answers, a row for each answer of the reference."
    )
