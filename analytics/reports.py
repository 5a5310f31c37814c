"""The named reports: views with a report in their header, two tables, and reports computed in Python."""

from __future__ import annotations

import csv
import importlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from importlib.resources import files
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from analytics.query import condition, filtered, one_reading, query
from analytics.report_columns import report_columns
from analytics.statistics.few_games import marked
from analytics.views import VIEWS
from schemas.common.errors import UsageError
from schemas.common.text import in_sql, near
from schemas.store.store import Store
from schemas.tables import TABLES

if TYPE_CHECKING:
    import polars as pl


class Computed(NamedTuple):
    """A report that needs more than SQL."""

    module: str
    function: str
    """Takes a store with the views, and its options by name; returns a frame with the columns of `report_columns.csv`."""
    options: tuple[str, ...]
    """Keys of `OPTIONS` that it takes in addition to the store."""
    page: str
    """Where it is explained."""
    prose: str
    """Column of whole sentences: a terminal shows it line by line, in the place of a table; empty: a table."""


class Option(NamedTuple):
    """What some computed reports take in addition to the store."""

    kind: type[str | float | int]
    doc: str
    low: float | None = None
    high: float | None = None


OPTIONS: dict[str, Option] = {
    "na_score": Option(float, "the number of N/A in means and correlations [default: none]; CRAFT's use 0.5.", 0, 1),
    "metric": Option(str, "score (the default), success, remove_gap, spirals, tokens, craft.iou_score, judge:RUBRIC.QUESTION, ..."),
    "benchmark": Option(str, "only this benchmark [default: all]"),
    "epsilon": Option(float, "share of units on which a judge may be worse than a person [default: 0.15]", 0, 1),
    "risk": Option(float, "accepted share of wrong answers among all units [default: 0.05]", 0, 1),
    "per": Option(str, "team (the default), condition, model, level or turn: what a row is about; --where is then on the columns of games"),
    "taxonomy": Option(str, "only this taxonomy of failures [default: the one shown first; with --per or --where all]"),
    "families": Option(str, "SQL expression over episodes that gives the family of a task: families count once [default: tasks count]"),
    "answers_by": Option(
        str, "turn, length, score, agent or task: give a rate that assumes that whether the judge answers depends on this alone"
    ),
    "difference": Option(float, "to detect, in units of the metric [default: shares of the standard deviation between tasks].", 0),
}
"""Name, as in Python and with dashes on the command line -> what it is; the reports that take one are named in front of its help."""


class Listed(NamedTuple):
    """A report in a list of all."""

    text: str
    """What it answers, in a few words."""
    needs: str = ""
    """What it needs apart from logs, in the words of `SOURCES`."""


GROUPS: dict[str, dict[str, Listed]] = {}
"""Heading -> report, from `reports.csv`; those that views of a family list are added to the first group."""
COMPUTED: dict[str, Computed] = {}
"""Name -> what computes it."""
NEEDS: dict[str, str] = {}
"""Computed report -> what a store must have for a row: printed where there is none."""

for _line in csv.DictReader((files("analytics") / "reports.csv").read_text(encoding="utf-8").splitlines()):
    GROUPS.setdefault(_line["group"], {})[_line["report"]] = Listed(_line["text"], _line["needs"])
    if _line["module"]:
        _options = tuple(_line["options"].split())
        COMPUTED[_line["report"]] = Computed(_line["module"], _line["function"], _options, _line["page"], _line["prose"])
        NEEDS[_line["report"]] = _line["takes"]

SOURCES: dict[str, str] = {
    "values": "a benchmark whose states have values (docs/values.md)",
    "attribution": "cotrace attribute",
    "verdicts": "cotrace judge",
    "labels": "cotrace labels import, or notes and labels on the dashboard",
    "probe": "cotrace probe",
    "replay": "cotrace replay",
    "claims": "cotrace claims, or cotrace judge --judge engine",
    "models": "cotrace judge --model",
}
"""What reports need -> where it comes from."""

_USUAL = {"failures": "is_default"}
"""Report -> the rows that are meant where no condition is given: the same in print, on pages and in the demo."""
_MACROS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "leaderboard": ("leaderboard_by", ("team", "condition", "model", "level")),
    "failures": ("failures_by", ("team", "condition", "model", "level", "turn")),
    "cost-by-category": ("category_costs_by", ("team", "condition", "model", "level", "turn")),
}
"""Report that is a view of a table macro -> the macro, and what a row of it can be about."""
_CLASSIFIED: Final = ("failures", "cost-by-category")
"""Reports whose rows are categories of several taxonomies."""
_FIRST = "lost"
"""The report that opens `cotrace report all`: why, before how often."""

_IDENTIFYING_NUMBERS = frozenset(("max_turns", "max_turns_a", "max_turns_b", "turn", "start_turn", "end_turn", "repeat", "tasks"))
_SENTENCES = frozenset(("advice", "sentence", "evidence", "reason", "few_games"))

_TABLES: dict[str, tuple[str, str]] = {
    "rejects": ("rejects", "path, locator"),
    "receipts": ("receipts", "path, kind"),
    "disagreements": ("log_disagreements", "episode_id, turn, field"),
}
"""Name -> (table, order)."""


_FAMILIES: Final = """
SELECT DISTINCT task, family
FROM compared_games
INNER JOIN (SELECT episode_id, ({})::VARCHAR AS family FROM episodes) USING (episode_id)
"""


def options_of(name: str) -> tuple[str, ...]:
    """Keys of `OPTIONS` that a report takes."""
    if name in COMPUTED:
        return COMPUTED[name].options
    return (
        *(("families",) if name == "leaderboard" else ()),
        *(("per",) if name in _MACROS else ()),
        *(("taxonomy",) if name in _CLASSIFIED else ()),
    )


@cache
def _views() -> dict[str, tuple[str, str]]:
    """Name -> (view or macro, order)."""
    return {spec.report[0]: (spec.name, spec.report[1]) for spec in VIEWS if spec.report} | _TABLES


def report_names() -> tuple[str, ...]:
    """All reports: who lost it first, then the views by name, then what is computed."""
    return (_FIRST, *sorted(_views()), *(name for name in COMPUTED if name != _FIRST))


def grouped() -> dict[str, dict[str, Listed]]:
    """Every report of `report_names` under its heading; those of families, by what their views say, under the first."""
    first, *rest = GROUPS
    known = {name for reports in GROUPS.values() for name in reports}
    listed = {spec.report[0]: spec.listed for spec in VIEWS if spec.report}
    texts = {name: listed.get(name) or described(name).partition(". ")[0] for name in report_names() if name not in known}
    others = {name: Listed(*text.split("; needs ")) for name, text in texts.items()}
    return {first: GROUPS[first] | others, **{heading: GROUPS[heading] for heading in rest}}


def described(name: str) -> str:
    """What a report's rows are, in one sentence."""
    if name in COMPUTED:
        return (_compute(name).__doc__ or "").partition("\n")[0]
    if name in _TABLES:
        return next(f"One row is {table.grain[:1].lower()}{table.grain[1:]}." for table in TABLES if table.name == _TABLES[name][0])
    return next(spec.summary[:1].upper() + spec.summary[1:] for spec in VIEWS if spec.report and spec.report[0] == name)


def report(store: Store, name: str, where: str = "true", **options: Any) -> pl.DataFrame:
    """The rows of a report that meet an SQL condition on its columns, with all columns.

    Where it has intervals, a last column few_games is true of rows whose interval rests on fewer than ten games or tasks; of reports whose
    intervals were simulated, held_least is the worst coverage that was simulated for so many games (docs/dev/coverage.md).

    Args:
        store: where to read; its views are there (`analytics.installation.ensure_installed`).
        name: one of `report_names()`.
        where: one SQL expression; of a report that is a macro over games (`regret-by-step`), on the columns of `games`.
        options: what a computed report takes in addition to the store, as in its `Computed.options`.

    Raises:
        UsageError: there is no such report, it takes no such option, or the condition is not one on its columns.
    """
    for option in options:
        if option not in options_of(name):
            takers = [other for other in report_names() if option in options_of(other)]
            raise UsageError(f"--{option.replace('_', '-')} is for the report {', '.join(takers) or '(none)'}: leave it out")
    if (benchmark := options.get("benchmark")) is not None:
        known = query(store, "SELECT DISTINCT benchmark FROM episodes ORDER BY ALL")["benchmark"].to_list()
        if benchmark not in known:
            raise UsageError(f"benchmark {benchmark}: the store has no such games{near(benchmark, known)}")
    if name in COMPUTED:
        with one_reading(store):
            rows: pl.DataFrame = _compute(name)(store, **options)
        return marked(filtered(rows, where), name)
    if name not in _views():
        raise UsageError(f"no report {name!r}{near(name, report_names())}")
    order = _views()[name][1]
    taxonomy = options.pop("taxonomy", None)
    if where == "true" and "per" not in options and taxonomy is None:
        where = _USUAL.get(name, where)
    with one_reading(store):
        source, left, of_tasks = _source(store, name, where, **options)
        if taxonomy is not None:
            known = query(store, "SELECT DISTINCT taxonomy FROM game_categories ORDER BY ALL")["taxonomy"].to_list()
            if taxonomy not in known:
                raise UsageError(f"taxonomy {taxonomy}: no turn of the store is classified by it{near(taxonomy, known)}")
            left = f"({condition(left)}) AND taxonomy = {in_sql(taxonomy)}"
        return marked(query(store, f"SELECT * FROM {source} WHERE {condition(left)} ORDER BY {order}, COLUMNS(*)", of_tasks), name)


def _source(store: Store, name: str, where: str, families: str | None = None, per: str = "") -> tuple[str, str, dict[str, list[str]]]:
    """The view or call of a macro that gives a report's rows, the condition on its columns, and the values of parameters."""
    source = _views()[name][0]
    is_macro = any(spec.name == source and spec.kind == "table macro" for spec in VIEWS)
    given: list[str] = []
    values: dict[str, list[str]] = {}
    if families is not None:
        found = query(store, _FAMILIES.format(condition(families)))
        values = {"tasks": found["task"].to_list(), "families": found["family"].to_list()}
        given.append("families := map($tasks, $families)")
    if per:
        known = _MACROS[name][1]
        if per not in known:
            raise UsageError(f"--per {per}: a row of {name} is about one of {', '.join(known)}{near(per, known)}")
        given.append(f"per := {in_sql(per)}")
    if per or is_macro:
        given.append(f"chosen := {condition(where)}")
        where = "true"
    if given:
        source = f"{_MACROS[name][0] if name in _MACROS else source}({', '.join(given)})"
    return source, where, values


def all_reports(store: Store, **options: Any) -> dict[str, pl.DataFrame]:
    """Every report as by `report`, each computed once: `claims` is made of the others.

    Raises:
        UsageError: as of `report`.
    """
    found: dict[str, pl.DataFrame] = {}
    with ExitStack() as held:
        held_since = -inf
        for name in report_names():
            if monotonic() - held_since > _HELD_S:
                held.close()
                held.enter_context(one_reading(store))
                held_since = monotonic()
            if name != "claims":
                found[name] = report(store, name, **options)
        return found | {"claims": marked(_compute("claims")(store, found), "claims")}


_HELD_S: Final = 1.0
"""Opening a store takes longer than many a report, so it stays open from report to report; but others must get their turn to write."""


def columns_of(name: str) -> list[str]:
    """The columns of a report that fit a terminal; empty: all do."""
    if name in COMPUTED:
        return [column.name for column in report_columns(name) if column.is_shown]
    return [column for spec in VIEWS if spec.report and spec.report[0] == name for column in spec.shows]


def prose_of(name: str) -> str:
    """The column that holds a report's sentences; empty: its rows are numbers."""
    return COMPUTED[name].prose if name in COMPUTED else ""


def shown_columns(name: str, rows: pl.DataFrame) -> list[str]:
    """`columns_of`, and of the other columns that identify a row as many as it takes to distinguish all of these rows."""
    shown = [column for column in columns_of(name) if column in rows.columns]
    return with_identity(rows, shown) if shown else list(rows.columns)


def with_identity(rows: pl.DataFrame, shown: Sequence[str]) -> list[str]:
    """The columns and, behind the last one that identifies a row, those without which rows would look alike: condition, variant, ...

    What identifies a row is text, and numbers such as a turn limit; counts and measures do not, even where they differ.

    Args:
        rows: of a report.
        shown: some of their columns.
    """
    possible = [column for column, kind in rows.schema.items() if identifies(column, kind)]
    keys = [column for column in shown if column in possible]
    added: list[str] = []
    distinct = rows.select(keys).n_unique() if keys else min(rows.height, 1)
    while distinct < rows.height:
        more = {column: rows.select(*keys, *added, column).n_unique() for column in possible if column not in {*keys, *added}}
        best = max(more, key=lambda column: more[column], default=None)
        if best is None or more[best] <= distinct:
            break
        added.append(best)
        distinct = more[best]
    place = shown.index(keys[-1]) + 1 if keys else 0
    return [*shown[:place], *(column for column in rows.columns if column in added), *shown[place:]]


def identifies(column: str, kind: pl.DataType) -> bool:
    """Whether a column of a report names what its rows are about, and not how much or why."""
    return column in _IDENTIFYING_NUMBERS or (str(kind) in {"String", "Boolean"} and column not in _SENTENCES)


def units_of(name: str) -> dict[str, str]:
    """Column -> unit, of a report that is a view; empty for others."""
    found = (spec.meanings for spec in VIEWS if spec.report and spec.report[0] == name)
    return {column: meaning.unit for of_view in found for column, meaning in of_view.items()}


def _compute(name: str) -> Any:
    return getattr(importlib.import_module(COMPUTED[name].module), COMPUTED[name].function)
