"""Corrected rates: what the judge says beside what is true once labels correct it, by question and model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from analytics.rates.corrected import corrected_rates
from dashboards.computed import computed
from dashboards.judging.common import choices, chosen, dots, estimates, nothing_yet, two_digits, words_of
from dashboards.parts import Part, card, figure, note, table
from dashboards.reader import Reader

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SECTION", "TITLE", "content"]

SECTION = "corrected"
TITLE = "Corrected rates"

_OUTSIDE = "games outside the store"


def content(read: Reader, rubric: str) -> Part:
    """Of one judge, `?judge=`; the filter of models counts here."""
    import polars as pl

    address = read.address
    report = computed(read.store, corrected_rates, rubric=rubric)
    if report.is_empty():
        return nothing_yet("No scored answer on this rubric.", f"cotrace judge --rubric {rubric} --judge engine")
    judges = report["judge"].unique(maintain_order=True).to_list()
    judge = chosen(address.one("judge"), judges)
    models = address.all("model")
    rows = report.filter((pl.col("judge") == judge) & (pl.col("model").is_in(models) if models else pl.lit(value=True)))
    chooser = choices(address, "Judge", "judge", {name: name for name in judges}, judge)
    if rows.is_empty():
        return html.Div([chooser, note("No verdict under these filters.")])
    rows = rows.with_columns(pl.col("model").fill_null(_OUTSIDE)).sort("question", "model")
    columns = {
        "question": "Question",
        "model": "Model",
        "units": "Units",
        "games": "Games",
        "labels": "Labels",
        "judge_rate": "Judge says",
        "label_rate": "Labels say",
        "rate": "Corrected (95 %)",
        "rogan_gladen": "By error rates (95 %)",
        "words": "What to make of it",
    }
    rates = ("judge_rate", "label_rate", "rate", "rogan_gladen")
    shown = estimates(rows, {name: (f"{name}_low", f"{name}_high") for name in rates[2:]})
    shown = shown.with_columns(words_of(rows, r".*?, corrected [^)]*\): ", r"[^;]*; "))
    references = ", ".join(sorted(rows["reference"].unique()))
    return html.Div(
        [
            chooser,
            card(
                "Judge and corrected rate",
                figure("judge-corrected", dots(_drawn(rows), title="rate of yes")),
                table(
                    shown.select(*columns),
                    columns,
                    show=dict.fromkeys(rates[:2], two_digits),
                    classes=dict.fromkeys(rates, "num") | {"words": "words"},
                ),
                hint=f"Labels: {references}. Corrected: the judge on everything, mended by the labels of this model (prediction-powered). "
                "By error rates: Rogan and Gladen, with the labels of all models; it holds if the judge errs alike for all.",
            ),
        ]
    )


def _drawn(rows: pl.DataFrame) -> pl.DataFrame:
    """A dot for what the judge says, which has no interval, and one for the corrected rate, of each model."""
    import polars as pl

    none = pl.lit(None, pl.Float64)
    mended = rows.select(at="question", series=_of_model("corrected"), value="rate", low="rate_low", high="rate_high", hollow=False)
    said = rows.select(at="question", series=_of_model("judge"), value="judge_rate", low=none, high=none, hollow=True)
    return pl.concat([mended, said]).sort("at", "series", maintain_order=True)


def _of_model(what: str) -> pl.Expr:
    import polars as pl

    return pl.concat_str("model", pl.lit(f", {what}"))
