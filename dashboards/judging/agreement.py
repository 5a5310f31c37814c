"""Agreement: a judge with people, with planted truth, with the engine, with other judges and with itself; people among themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson
from dash import html

from analytics.agreement.pairs import ALL
from analytics.agreement.report import agreement_report
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

    kinds, kind, rows = _compared(read, rubric)
    if not kinds:
        return nothing_yet(
            "Nobody else has answered this rubric's questions about the same units. Label some on the page Labelling, import labels, "
            "or ask a second judge:",
            "cotrace labels import labels.csv",
            f"cotrace judge --rubric {rubric} --model openai/gpt-4o-mini --repeats 2",
        )
    address = read.address
    measure = chosen(address.one("measure"), list(_MEASURES))
    links = [address.to(question=row["question"], raters=row["raters"]) for row in rows.iter_rows(named=True)]
    drawn = dots(
        rows.select(
            at="question",
            series="raters",
            value=measure,
            low=f"{measure}_low",
            high=f"{measure}_high",
            n="units",
            link=pl.Series(links, dtype=pl.String),
        ),
        Axis(title=_MEASURES[measure].lower(), low=_LOWEST.get(measure, min(0.0, _least(rows[f"{measure}_low"])))),
    )
    return html.Div(
        [
            choices(address, "Compared", "kind", kinds, kind),
            choices(address, "Drawn", "measure", _MEASURES, measure),
            card(
                _KINDS[kind],
                figure("judge-agreement", drawn, label=f"{_MEASURES[measure]} by question"),
                fold(read, NUMBERS, rubric, is_open=True),
                hint=f"{_HINTS[measure]} {WHOLE_STORE}",
            ),
            _confusion_card(read, rubric),
        ]
    )


def _compared(read: Reader, rubric: str) -> tuple[dict[str, str], str, pl.DataFrame]:
    """The kinds of comparison there are, the chosen one and its rows."""
    import polars as pl

    report = computed(read.store, agreement_report, rubric=rubric).filter(pl.col("rubric") == rubric)
    found = report["kind"].unique().to_list()
    kinds = {kind: text for kind, text in _KINDS.items() if kind in found}
    kind = chosen(read.address.one("kind"), list(kinds) or [""])
    rows = report.filter(pl.col("kind") == kind).with_columns(
        question=pl.when(pl.col("question") == ALL).then(pl.lit("all")).otherwise(pl.col("question")),
        raters=_raters(kind),
    )
    return kinds, kind, rows


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


def _numbers(read: Reader, rubric: str) -> TableRows:
    _, _, rows = _compared(read, rubric)
    return TableRows(
        frame=rows.with_columns(words_of(rows, r"[^;]* gives? the same answer in [^;]*; ")),
        source=command_about("agreement", rubric),
        columns={
            "question": GridColumn(heading="Question", kind="name"),
            "raters": GridColumn(heading="Who", kind="judge"),
            "units": GridColumn(heading="Units", kind="count"),
            "games": GridColumn(heading="Games", kind="count"),
            "agreement": GridColumn(heading="Equal answers", kind="score", low="agreement_low", high="agreement_high"),
            "kappa": GridColumn(heading="Kappa", kind="score", low="kappa_low", high="kappa_high"),
            "ac1": GridColumn(heading="AC1", kind="score"),
            "sensitivity": GridColumn(heading="Finds yes", kind="score"),
            "specificity": GridColumn(heading="Finds no", kind="score"),
            "words": GridColumn(heading="What to make of it", kind="words"),
        },
        link=lambda row: read.address.to(question=row["question"], raters=row["raters"]),
    )


def _chosen_row(read: Reader, rubric: str) -> dict[str, Any] | None:
    question, raters = read.address.one("question"), read.address.one("raters")
    _, _, rows = _compared(read, rubric)
    return next((row for row in rows.iter_rows(named=True) if row["question"] == question and raters in {"", row["raters"]}), None)


def _confusion_card(read: Reader, rubric: str) -> Part:
    """Every pair of answers, counted, of the question that was clicked."""
    row = _chosen_row(read, rubric)
    if row is None:
        return None
    hint = "Pairs of answers, a row for each answer of the reference."
    return card(f"{row['question']}: {row['rater_b']} said", fold(read, CONFUSION, rubric, is_open=True), hint=hint)


def _confusion(read: Reader, rubric: str) -> TableRows:
    import polars as pl

    row = _chosen_row(read, rubric)
    counts: dict[str, dict[str, int]] = orjson.loads(row["confusion"]) if row else {}
    answers = sorted({*counts, *(answer for said in counts.values() for answer in said)})
    matrix = pl.DataFrame([{"said": said} | {f"n_{answer}": counts.get(said, {}).get(answer, 0) for answer in answers} for said in answers])
    heads = {"said": GridColumn(heading=f"{row['rater_a']} said" if row else "")}
    return TableRows(
        frame=matrix,
        source=command_about("confusion", rubric),
        columns=heads | {f"n_{answer}": GridColumn(heading=answer, kind="count") for answer in answers},
    )


NUMBERS: Final = Grid("agreement", _numbers, "In numbers")
CONFUSION: Final = Grid("confusion", _confusion, "Pairs of answers")
TABLES = (NUMBERS, CONFUSION)
