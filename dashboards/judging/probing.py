"""Probes: answers that change although nothing that matters has, and planted defects that are found; and a liking for its own model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from analytics.judging.probes import probe_report
from analytics.judging.self_preference import self_preference_report
from dashboards.computed import computed
from dashboards.judging.common import WHOLE_STORE, choices, chosen, dots, estimates, nothing_yet, two_digits, words_of
from dashboards.parts import Part, card, figure, table
from dashboards.reader import Reader

if TYPE_CHECKING:
    import polars as pl

    from schemas.store import Store

__all__ = ["SECTION", "TITLE", "content"]

SECTION = "probes"
TITLE = "Probes"

_EXPECTED = {
    "same": ("Should stay", "answers that change", "Share of answers that change though nothing that matters does: 0 is best."),
    "changed": ("Should change", "defects found", "Share of planted defects at which a yes turns to no: 1 is best."),
}


def content(read: Reader, rubric: str) -> Part:
    """Of one judge, `?judge=`."""
    import polars as pl

    address = read.address
    probed = computed(read.store, _probes, rubric=rubric)
    own = computed(read.store, self_preference_report, rubric=rubric)
    judges = [*dict.fromkeys([*probed["judge"], *own["judge"]])]
    if not judges:
        return nothing_yet(
            "This rubric has not been probed. Units told anew by rule show whether a judge is swayed, and whether it sees planted defects:",
            f"cotrace probe {rubric} --kind list",
            f"cotrace probe {rubric} --kind polite --kind names --judge engine",
        )
    judge = chosen(address.one("judge"), judges)
    told = probed.filter(pl.col("judge") == judge)
    return html.Div(
        [
            choices(address, "Judge", "judge", {name: name for name in judges}, judge),
            html.P(WHOLE_STORE, className="lead"),
            *(_probe_card(told.filter(pl.col("expects") == expected), expected) for expected in _EXPECTED),
            _own_model(own.filter(pl.col("judge") == judge)),
        ]
    )


def _probes(store: Store, *, rubric: str) -> pl.DataFrame:
    import polars as pl

    return probe_report(store).filter(pl.col("rubric") == rubric)


def _probe_card(rows: pl.DataFrame, expected: str) -> Part:
    if rows.is_empty():
        return None
    title, axis, hint = _EXPECTED[expected]
    columns = {
        "question": "Question",
        "probe": "Probe",
        "pairs": "Pairs",
        "games": "Games",
        "unanswered": "Unanswered",
        "rate": "Changed (95 %)" if expected == "same" else "Found (95 %)",
        "repeats_differ": "By chance",
        "shift": "Shift",
        "words": "What to make of it",
    }
    drawn = rows.select("low", "high", at="question", series="probe", value="rate")
    shown = estimates(rows, {"rate": ("low", "high")})
    shown = shown.with_columns(words_of(rows, r"changes [^,]* though nothing that matters changed, "))
    return card(
        title,
        figure(f"judge-probes-{expected}", dots(drawn, title=axis)),
        table(
            shown.select(*columns),
            columns,
            show=dict.fromkeys(("repeats_differ", "shift"), two_digits),
            classes={"rate": "num", "words": "words"},
        ),
        hint=hint,
    )


def _own_model(rows: pl.DataFrame) -> Part:
    if rows.is_empty():
        return None
    columns = {
        "question": "Question",
        "own_units": "Own units",
        "other_units": "Others'",
        "rate_difference": "Score, own more (95 %)",
        "own_labels": "Own labels",
        "other_labels": "Others'",
        "own_sensitivity": "Own yes found",
        "other_sensitivity": "Others'",
        "own_specificity": "Own no found",
        "other_specificity": "Others'",
        "preference": "Score at the same label, own more (95 %)",
        "words": "What to make of it",
    }
    differences = ("rate_difference", "preference")
    ends = {"rate_difference": ("rate_low", "rate_high"), "preference": ("preference_low", "preference_high")}
    shown = estimates(rows, ends).with_columns(words_of(rows, r".*; "))
    return card(
        "Its own model against others",
        table(
            shown.select(*columns),
            columns,
            show=dict.fromkeys([f"{side}_{rate}" for side in ("own", "other") for rate in ("sensitivity", "specificity")], two_digits),
            classes=dict.fromkeys(differences, "num") | {"words": "words"},
        ),
        hint="A higher score may be earned. Units with the same label say whether the judge is kinder to its own model than to others.",
    )
