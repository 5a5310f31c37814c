"""Probes: answers that change although nothing that matters has, and planted defects that are found; and a liking for its own model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dash import html

from analytics.judging.probes import probe_report, self_preference_report
from dashboards.computed import computed
from dashboards.figures.dots import Axis
from dashboards.grid import Grid, fold
from dashboards.judging.common import WHOLE_STORE, choices, chosen, command_about, dots, nothing_yet, words_of
from dashboards.parts import Part, card, figure
from dashboards.reader import Reader
from dashboards.tables import GridColumn, TableRows

if TYPE_CHECKING:
    import polars as pl

    from schemas.store import Store

__all__ = ["SECTION", "TABLES", "TITLE", "content"]

SECTION = "probes"
TITLE = "Probes"

_EXPECTED = {
    "same": ("Should stay", "answers that change", "Share of answers that change though nothing that matters does: 0 is best."),
    "changed": ("Should change", "defects found", "Share of planted defects at which a yes turns to no: 1 is best."),
}


def content(read: Reader, rubric: str) -> Part:
    """Of one judge, `?judge=`."""
    judges, judge, told, own = _probed(read, rubric)
    if not judges:
        return nothing_yet(
            "This rubric has not been probed. Units perturbed by rule show whether a judge is swayed, and whether it sees planted defects:",
            f"cotrace probe {rubric} --kind list",
            f"cotrace probe {rubric} --kind polite --kind names --judge engine",
        )
    expected = [name for name in _EXPECTED if name in told["expects"].to_list()]
    return html.Div(
        [
            choices(read.address, "Judge", "judge", {name: name for name in judges}, judge),
            html.P(WHOLE_STORE, className="lead"),
            *(_probe_card(read, told.filter(told["expects"] == name), rubric, name) for name in expected),
            _own_card(read, rubric) if len(own) else None,
        ]
    )


def _probed(read: Reader, rubric: str) -> tuple[list[str], str, pl.DataFrame, pl.DataFrame]:
    """The judges that were probed, the chosen one, what its probes show, and its own model against others."""
    probed = computed(read.store, _probes, rubric=rubric)
    own = computed(read.store, self_preference_report, rubric=rubric)
    judges = [*dict.fromkeys([*probed["judge"], *own["judge"]])]
    judge = chosen(read.address.one("judge"), judges or [""])
    return judges, judge, probed.filter(probed["judge"] == judge), own.filter(own["judge"] == judge)


def _probes(store: Store, *, rubric: str) -> pl.DataFrame:
    import polars as pl

    return probe_report(store).filter(pl.col("rubric") == rubric)


def _probe_card(read: Reader, rows: pl.DataFrame, rubric: str, expected: str) -> Part:
    title, axis, hint = _EXPECTED[expected]
    drawn = rows.select("low", "high", at="question", series="probe", value="rate", n="pairs")
    return card(
        title,
        figure(f"judge-probes-{expected}", dots(drawn, Axis(title=axis, is_share=True), n_of="pairs"), label=axis),
        fold(read, PROBES, f"{expected}/{rubric}", is_open=True),
        hint=hint,
    )


def _probe_rows(read: Reader, part: str) -> TableRows:
    expected, _, rubric = part.partition("/")
    _, _, told, _ = _probed(read, rubric)
    rows = told.filter(told["expects"] == expected)
    return TableRows(
        frame=rows.with_columns(words_of(rows, r"changes [^,]* though nothing that matters changed, ")),
        source=command_about("probes", rubric),
        columns={
            "question": GridColumn(heading="Question", kind="name"),
            "probe": GridColumn(heading="Probe", kind="name"),
            "pairs": GridColumn(heading="Pairs", kind="count"),
            "games": GridColumn(heading="Games", kind="count"),
            "unanswered": GridColumn(heading="Unanswered", kind="count"),
            "rate": GridColumn(heading="Changed (95 %)" if expected == "same" else "Found (95 %)", kind="share", low="low", high="high"),
            "repeats_differ": GridColumn(heading="By chance", kind="share"),
            "shift": GridColumn(heading="Shift", kind="score"),
            "words": GridColumn(heading="What to make of it", kind="words"),
        },
    )


def _own_card(read: Reader, rubric: str) -> Part:
    return card(
        "Its own model against others",
        fold(read, OWN, rubric, is_open=True),
        hint="A higher score may be earned. Units with the same label say whether the judge is kinder to its own model than to others.",
    )


def _own_rows(read: Reader, rubric: str) -> TableRows:
    _, _, _, own = _probed(read, rubric)
    return TableRows(
        frame=own.with_columns(words_of(own, r".*; ")),
        source=command_about("self-preference", rubric),
        columns={
            "question": GridColumn(heading="Question", kind="name"),
            "own_units": GridColumn(heading="Own units", kind="count"),
            "other_units": GridColumn(heading="Others'", kind="count"),
            "rate_difference": GridColumn(heading="Score, own more (95 %)", kind="score", low="rate_low", high="rate_high"),
            "own_labels": GridColumn(heading="Own labels", kind="count"),
            "other_labels": GridColumn(heading="Others'", kind="count"),
            "own_sensitivity": GridColumn(heading="Own yes found", kind="share"),
            "other_sensitivity": GridColumn(heading="Others'", kind="share"),
            "own_specificity": GridColumn(heading="Own no found", kind="share"),
            "other_specificity": GridColumn(heading="Others'", kind="share"),
            "preference": GridColumn(
                heading="Score at the same label, own more (95 %)", kind="score", low="preference_low", high="preference_high"
            ),
            "words": GridColumn(heading="What to make of it", kind="words"),
        },
    )


PROBES: Final = Grid("probes", _probe_rows, "In numbers")
OWN: Final = Grid("self-preference", _own_rows, "In numbers")
TABLES = (PROBES, OWN)
