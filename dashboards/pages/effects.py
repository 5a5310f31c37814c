"""Effects: what goes with the outcome, what follows on what, how long it takes, who can what, and how many tasks are enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dash import html

from analytics.reports import report
from dashboards.associations.questions import QUESTIONS, EffectsSection
from dashboards.computed import kept
from dashboards.grid import Grid, fold
from dashboards.one_benchmark import benchmark_choices, shown_benchmark
from dashboards.parts import Later, Part, card, figure, link_choices, note
from dashboards.reader import Reader
from dashboards.tables import TableRows
from schemas.text import in_shell, printable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FILTERS", "IN_MENU", "LATER", "ORDER", "PATH", "TABLES", "TITLE", "content"]

PATH = "/effects"
TITLE = "Effects"
IN_MENU = True
ORDER = 56
FILTERS: Final = ("benchmark",)

_MOST_SENTENCES: Final = 6


def content(read: Reader) -> Part:
    """One question at a time, `?ask=`, of one family; of survival one event, `?event=`."""
    names = read.rows("SELECT DISTINCT benchmark FROM compared_games WHERE ending = 'ended'", filter_on=())["benchmark"].to_list()
    benchmark = shown_benchmark(read, names)
    if benchmark is None:
        return html.Div([html.H1(TITLE), note("No games that ended under these filters: nothing to learn from.")])
    asked, _ = _asked(read)
    choices = [
        *benchmark_choices(read, names, benchmark, "event"),
        link_choices("Ask", [(one.title, read.address.to(ask=name, event=None), name == asked) for name, one in QUESTIONS.items()]),
    ]
    return html.Div([html.H1(TITLE), html.Div(choices), _CARD(read, benchmark)])


def _asked(read: Reader) -> tuple[str, EffectsSection]:
    name = read.address.one("ask")
    return (name, QUESTIONS[name]) if name in QUESTIONS else next(iter(QUESTIONS.items()))


def _report(read: Reader, name: str, benchmark: str) -> pl.DataFrame:
    return kept(read.store.path, ("report", name, benchmark), lambda: report(read.store, name, benchmark=benchmark))


def _card(read: Reader, benchmark: str) -> Part:
    _, question = _asked(read)
    rows = _report(read, question.report, benchmark)
    if rows.is_empty():
        return card(
            question.title, note(f"Too few games for this question: cotrace report {question.report} has no rows."), hint=question.asks
        )
    events = _events(read, question, benchmark)
    chart = question.draw(_drawn(read, question, rows, benchmark))
    surest = rows.sort("p_holm", nulls_last=True, maintain_order=True) if "p_holm" in rows.columns else rows
    if "event" in surest.columns and (event := _event(read, surest)):
        surest = surest.filter(surest["event"] == event)
    sentences = surest["advice"].drop_nulls().head(_MOST_SENTENCES).to_list()
    more = f"The surest {len(sentences)} of {len(surest)}; the table has all." if len(surest) > len(sentences) else None
    return card(
        question.title,
        events,
        html.H3("What follows, and what does not"),
        html.Ul([html.Li(printable(sentence)) for sentence in sentences]),
        html.P(more, className="hint") if more else None,
        figure(f"effects-{question.report}", chart, label=question.title) if chart is not None else None,
        fold(read, ROWS, f"{question.report}/{benchmark}"),
        hint=question.asks,
    )


def _drawn(read: Reader, question: EffectsSection, rows: pl.DataFrame, benchmark: str) -> pl.DataFrame:
    """What the figure shows: the report, or its curves, of survival those of one event."""
    import polars as pl

    drawn = _report(read, question.curves, benchmark) if question.curves else rows
    if question.curves and "event" in drawn.columns:
        drawn = drawn.filter(pl.col("event") == _event(read, drawn))
    if "condition" in drawn.columns:
        drawn = drawn.with_columns(pl.col("condition").map_elements(read.condition_in_words, return_dtype=pl.String))
    return drawn


def _event(read: Reader, curves: pl.DataFrame) -> str | None:
    """The event that the address names, else completion or the first there is."""
    found = curves["event"].unique(maintain_order=True).to_list()
    wanted = (read.address.one("event"), "completion")
    return next((event for event in (*wanted, *found) if event in found), None)


def _events(read: Reader, question: EffectsSection, benchmark: str) -> Part:
    if not question.curves:
        return None
    curves = _report(read, question.curves, benchmark)
    if "event" not in curves.columns:
        return None
    shown = _event(read, curves)
    found = curves["event"].unique(maintain_order=True).to_list()
    return link_choices("Until", [(str(event), read.address.to(event=event), event == shown) for event in found])


def _rows(read: Reader, part: str) -> TableRows:
    name, _, benchmark = part.partition("/")
    question = next((one for one in QUESTIONS.values() if one.report == name), next(iter(QUESTIONS.values())))
    return TableRows(
        frame=_report(read, question.report, benchmark),
        source=f"cotrace report {question.report} --benchmark {in_shell(benchmark)}",
        columns=question.columns,
    )


_CARD: Final = Later("effects-card", _card, 700)
LATER = (_CARD,)
ROWS: Final = Grid("effects-rows", _rows, "All rows")
TABLES = (ROWS,)
