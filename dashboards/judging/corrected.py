"""Corrected rates: what the judge says beside what is true once labels correct it, by question and model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dash import html

from analytics.rates.corrected import corrected_rates
from dashboards.computed import computed
from dashboards.figures.dots import Axis
from dashboards.grid import Grid, fold
from dashboards.judging.common import choices, chosen, command_about, dots, nothing_yet, words_of
from dashboards.parts import Part, card, figure, note
from dashboards.reader import Reader
from dashboards.tables import GridColumn, TableRows

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SECTION", "TABLES", "TITLE", "content"]

SECTION = "corrected"
TITLE = "Corrected rates"

_OUTSIDE = "games outside the store"


def content(read: Reader, rubric: str) -> Part:
    """Of one judge, `?judge=`; the filter of models counts here."""
    report = computed(read.store, corrected_rates, rubric=rubric)
    if report.is_empty():
        return nothing_yet("No scored answer on this rubric.", f"cotrace judge --rubric {rubric} --judge engine")
    judges = report["judge"].unique(maintain_order=True).to_list()
    judge = chosen(read.address.one("judge"), judges)
    chooser = choices(read.address, "Judge", "judge", {name: name for name in judges}, judge)
    rows = _rows_of(read, rubric)
    if rows.is_empty():
        return html.Div([chooser, note("No verdict under these filters.")])
    references = ", ".join(sorted(rows["reference"].unique()))
    return html.Div(
        [
            chooser,
            card(
                "Judge and corrected rate",
                figure(
                    "judge-corrected", dots(_drawn(rows), Axis(title="rate of yes", is_share=True)), label="rates by question and model"
                ),
                fold(read, RATES, rubric, is_open=True),
                hint=f"Labels: {references}, taken as right. Corrected: the judge on everything, corrected by the labels of this model "
                "(prediction-powered). By error rates: Rogan and Gladen, with the labels of all models; it holds if the judge errs alike "
                "for all. Where labelled units differ from the others, or the judge leaves units unanswered, nothing is corrected: bounds "
                "count what is unknown once as no and once as yes.",
            ),
        ]
    )


def _rows_of(read: Reader, rubric: str) -> pl.DataFrame:
    """The report of the chosen judge, and of the models in view."""
    import polars as pl

    report = computed(read.store, corrected_rates, rubric=rubric)
    judge = chosen(read.address.one("judge"), report["judge"].unique(maintain_order=True).to_list() or [""])
    models = read.address.all("model")
    rows = report.filter((pl.col("judge") == judge) & (pl.col("model").is_in(models) if models else pl.lit(value=True)))
    return rows.with_columns(pl.col("model").fill_null(_OUTSIDE)).sort("question", "model")


def _rates(read: Reader, rubric: str) -> TableRows:
    rows = _rows_of(read, rubric)
    return TableRows(
        frame=rows.with_columns(words_of(rows, r".*?, corrected [^)]*\): ", r"[^;]*; ")),
        source=command_about("corrected-rates", rubric),
        columns={
            "question": GridColumn(heading="Question", kind="name"),
            "model": GridColumn(heading="Team"),
            "units": GridColumn(heading="Units", kind="count"),
            "games": GridColumn(heading="Games", kind="count"),
            "labels": GridColumn(heading="Labels", kind="count"),
            "judge_rate": GridColumn(heading="Judge says", kind="share"),
            "label_rate": GridColumn(heading="Labels say", kind="share"),
            "rate": GridColumn(heading="Corrected (95 %)", kind="share", low="rate_low", high="rate_high"),
            "rogan_gladen": GridColumn(heading="By error rates (95 %)", kind="share", low="rogan_gladen_low", high="rogan_gladen_high"),
            "least_possible": GridColumn(heading="At least", kind="share", hint="lower bound, where nothing is corrected"),
            "most_possible": GridColumn(heading="At most", kind="share", hint="upper bound, where nothing is corrected"),
            "words": GridColumn(heading="What to make of it", kind="words"),
        },
    )


def _drawn(rows: pl.DataFrame) -> pl.DataFrame:
    """A dot for what the judge says, which has no interval, and one for the corrected rate, of each model."""
    import polars as pl

    none = pl.lit(None, pl.Float64)
    about = {"at": "question", "n": "units"}
    mended = rows.select(**about, series=_of_model("corrected"), value="rate", low="rate_low", high="rate_high", hollow=False)
    said = rows.select(**about, series=_of_model("judge"), value="judge_rate", low=none, high=none, hollow=True)
    return pl.concat([mended, said]).sort("at", "series", maintain_order=True)


def _of_model(what: str) -> pl.Expr:
    import polars as pl

    return pl.concat_str("model", pl.lit(f", {what}"))


RATES: Final = Grid("corrected-rates", _rates, "In numbers")
TABLES = (RATES,)
