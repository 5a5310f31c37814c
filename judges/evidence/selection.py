"""The units of a selection, wherever they come from: out of games, pairs of games, or rows of a query of the rubric's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from judges.evidence.perturbations import perturbed
from judges.evidence.pieces import UnitContext
from judges.evidence.transcript import Reader, load
from judges.evidence.units import Selection, Unit, units
from judges.rubric import PROBE, Rubric
from schemas.common.errors import UsageError
from schemas.store.read_only_sql import query_mistake, reason_of, without_end
from schemas.store.store import Store

if TYPE_CHECKING:
    import duckdb


Row = Mapping[str, Any]
"""Column, in small letters -> value; only the columns that place a unit and those that the rubric shows."""

_INTEGER: Final = frozenset(f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")) | {"INTEGER", "UINTEGER"}
_TEXT: Final = frozenset({"VARCHAR"})
_NULL: Final = '"NULL"'
_ZONED: Final = "WITH TIME ZONE"

PLACE_COLUMNS: Final[Mapping[str, tuple[frozenset[str], str]]] = {
    "unit_id": (frozenset(), ""),
    "episode_id": (_TEXT, "VARCHAR"),
    "turn": (_INTEGER, "INTEGER"),
    "agent": (_TEXT, "VARCHAR"),
}
"""Columns that say where the unit is -> the types they may have (none: any), and the one to cast to. The first two must be there; every
other column is a piece of evidence."""


class _Game(NamedTuple):
    turns: int
    agents: Sequence[str]


def read_rows(store: Store, rubric: Rubric) -> list[Row]:
    """All rows of the rubric's query, each a unit of its own at a place that the store has.

    Raises:
        StoreError: the store cannot be opened.
        UsageError: the query does not work, lacks a column, or a row is nowhere; names the first such row.
    """
    import duckdb

    with store.reading() as connection:
        try:
            sql = rubric.unit_sql or ""
            mistake = query_mistake(sql)
            if mistake is not None:
                raise _refused(rubric, f"does not work: {mistake}")
            relation = connection.sql(without_end(sql))
            types = {name.lower(): str(kind) for name, kind in zip(relation.columns, relation.types, strict=True)}
            names = _columns(rubric, types)
            values = relation.project(", ".join(_selected(name, types[name.lower()]) for name in names)).fetchall()
        except duckdb.Error as error:
            raise _refused(rubric, f"does not work: {reason_of(error)}") from error
        rows: list[Row] = [dict(zip(names, row, strict=True)) for row in values]
        games = _games(connection, {row["episode_id"] for row in rows})
    for reason in _misplaced(rows, games):
        raise _refused(rubric, reason)
    return rows


def _columns(rubric: Rubric, types: Mapping[str, str]) -> list[str]:
    shown = [name for group in rubric.groups() for name in group.shows]
    for name in ("unit_id", "episode_id", *shown):
        if name.lower() not in types:
            raise _refused(rubric, f"gives no column {name}: it gives {', '.join(types)}")
    for name, (allowed, cast) in PLACE_COLUMNS.items():
        if allowed and types.get(name, _NULL) not in allowed | {_NULL}:
            raise _refused(rubric, f"gives {name} as {types[name]}: write CAST(... AS {cast}) AS {name}")
    return list(dict.fromkeys([*(name for name in PLACE_COLUMNS if name in types), *shown]))


def _selected(name: str, kind: str) -> str:
    """A time with a zone is taken as text: what DuckDB makes of it otherwise needs a package of its own."""
    quoted = '"' + name.replace('"', '""') + '"'
    return f"CAST({quoted} AS VARCHAR) AS {quoted}" if _ZONED in kind else f"{quoted} AS {quoted}"


def _games(connection: duckdb.DuckDBPyConnection, episodes: set[str | None]) -> dict[str, _Game]:
    rows = connection.execute(
        "SELECT episode_id, (SELECT coalesce(max(turn), 0) FROM turns WHERE turns.episode_id = episodes.episode_id), "
        "(SELECT coalesce(list(agent ORDER BY agent), []) FROM agents WHERE agents.episode_id = episodes.episode_id) "
        "FROM episodes WHERE episode_id IN (SELECT unnest(?::VARCHAR[]))",
        [[episode for episode in episodes if episode is not None]],
    ).fetchall()
    return {episode: _Game(turns, agents) for episode, turns, agents in rows}


def _misplaced(rows: Sequence[Row], games: Mapping[str, _Game]) -> Iterator[str]:
    seen: set[str] = set()
    for row in rows:
        unit, episode, turn, agent = (row.get(name) for name in PLACE_COLUMNS)
        if unit is None or str(unit) in seen:
            yield f"gives {'a row without unit_id' if unit is None else f'two rows with unit_id {unit!r}'}: each row needs one of its own"
        seen.add(str(unit))
        game = games.get(str(episode))
        if game is None:
            yield f"gives row {unit!r} the episode_id {episode!r}, and no game of the store is called so: take it from one of its tables"
            continue
        if turn is not None and not 1 <= turn <= game.turns:
            yield f"gives row {unit!r} the turn {turn}, and game {episode} has turns 1 to {game.turns}: give one of them, or null"
        if agent is not None and agent not in game.agents:
            there = ", ".join(game.agents)
            yield f"gives row {unit!r} the agent {agent!r}, and game {episode} has {there}: give one of them or null, or rename the column"


def _refused(rubric: Rubric, what: str) -> UsageError:
    return UsageError(f"rubric {rubric.name}: its unit_sql {what}")


def selected_units(store: Store, rubric: Rubric, selection: Selection, reader: Reader | None = None) -> Iterator[Unit]:
    """The units of the selected games (of a pair, both must be selected), game by game; of a probe those that can be perturbed.

    Engine checks find texts read by that reader; None: by rules.

    Raises:
        StoreError: the store cannot be opened.
        UsageError: the rubric's `unit_sql` does not work, lacks a column that the rubric needs, or a row is nowhere in the store.
    """
    found = _as_they_are(store, rubric, selection, reader)
    if rubric.variant is None or not rubric.variant.startswith(PROBE):
        return found
    return (reported for unit in found if (reported := perturbed(rubric, unit)) is not None)


def _as_they_are(store: Store, rubric: Rubric, selection: Selection, reader: Reader | None) -> Iterator[Unit]:
    if rubric.unit == "pair":
        return _pairs(store, rubric, selection)
    if rubric.unit == "row":
        return _rows(store, rubric, selection)
    return (unit for game in load(store, list(selection), reader) for unit in units(rubric, game, selection[game.episode_id]))


def _pairs(store: Store, rubric: Rubric, selection: Selection) -> Iterator[Unit]:
    """Games of one task by different models, each two in both orders, so that a liking for the first place shows."""
    with store.reading() as connection:
        tasks = connection.execute(
            "SELECT list(episode_id ORDER BY episode_id) FROM episodes WHERE episode_id IN (SELECT unnest(?::VARCHAR[])) "
            "GROUP BY benchmark, task_id ORDER BY benchmark, task_id",
            [list(selection)],
        ).fetchall()
    for (ids,) in tasks:
        for first, second in permutations(load(store, ids), 2):
            if first.model != second.model:
                context = UnitContext(game=first, roles=rubric.roles, other=second)
                yield Unit(f"{first.episode_id} vs {second.episode_id}", first.episode_id, None, None, context)


def _rows(store: Store, rubric: Rubric, selection: Selection) -> Iterator[Unit]:
    """Of the selected games, the rows on a selected turn, and those that belong to no turn."""
    rows: dict[str, list[Row]] = {}
    for row in read_rows(store, rubric):
        turn, turns = row.get("turn"), selection.get(row["episode_id"], frozenset())
        if row["episode_id"] in selection and (turn is None or turns is None or turn in turns):
            rows.setdefault(row["episode_id"], []).append(row)
    for game in load(store, sorted(rows)):
        for row in rows[game.episode_id]:
            context = UnitContext(game=game, roles=rubric.roles, row=row)
            yield Unit(str(row["unit_id"]), game.episode_id, row.get("turn"), row.get("agent"), context)
