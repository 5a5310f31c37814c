"""The units of a selection, wherever they come from: out of games, pairs of games, or rows of a query of the rubric's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any, Final

from judges.pieces import Scene
from judges.probes import retold
from judges.rubric import PROBE, Rubric
from judges.transcript import Transcript, load
from judges.units import Selection, Unit, units
from schemas.errors import UsageError
from schemas.store import Store

__all__ = ["PLACE_COLUMNS", "selected_units"]

PLACE_COLUMNS: Final = ("unit_id", "episode_id", "turn", "agent")
"""Columns of a `unit_sql` that say where the unit stands; the first two must be there. Every other column is a piece of evidence."""


def selected_units(store: Store, rubric: Rubric, selection: Selection) -> Iterator[Unit]:
    """The units of the selected games (of a pair, both must be selected), game by game; of a probe those that can be told anew.

    Raises:
        StoreError: the store cannot be opened.
        UsageError: the rubric's `unit_sql` does not work, or lacks a column that the rubric needs.
    """
    found = _as_they_are(store, rubric, selection)
    if rubric.variant is None or not rubric.variant.startswith(PROBE):
        return found
    return (told for unit in found if (told := retold(rubric, unit)) is not None)


def _as_they_are(store: Store, rubric: Rubric, selection: Selection) -> Iterator[Unit]:
    if rubric.unit == "pair":
        return _pairs(store, rubric, selection)
    if rubric.unit == "row":
        return _rows(store, rubric, selection)
    return (unit for game in load(store, list(selection)) for unit in units(rubric, game, selection[game.episode_id]))


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
                scene = Scene(game=first, roles=rubric.roles, other=second)
                yield Unit(f"{first.episode_id} vs {second.episode_id}", first.episode_id, None, None, scene)


def _rows(store: Store, rubric: Rubric, selection: Selection) -> Iterator[Unit]:
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for row in _checked(_queried(store, rubric), rubric):
        turns = selection.get(row["episode_id"], frozenset())
        if turns is None or row.get("turn") in turns:
            rows.setdefault(row["episode_id"], []).append(row)
    for game in load(store, sorted(rows)):
        for row in rows[game.episode_id]:
            yield _row_unit(rubric, game, row)


def _row_unit(rubric: Rubric, game: Transcript, row: Mapping[str, Any]) -> Unit:
    return Unit(str(row["unit_id"]), game.episode_id, row.get("turn"), row.get("agent"), Scene(game=game, roles=rubric.roles, row=row))


def _queried(store: Store, rubric: Rubric) -> list[Mapping[str, Any]]:
    import duckdb

    with store.reading() as connection:
        try:
            found = connection.execute(f"SELECT * FROM (\n{rubric.unit_sql}\n)")
            columns = [column[0] for column in found.description or ()]
            rows = found.fetchall()
        except duckdb.Error as error:
            reason = " ".join(str(error).partition("LINE ")[0].split())
            raise UsageError(f"rubric {rubric.name}: its unit_sql does not work: {reason}") from error
    _look_at_columns(rubric, columns)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _look_at_columns(rubric: Rubric, columns: Sequence[str]) -> None:
    shown = [name for group in rubric.groups() for name in group.shows]
    for name in (*PLACE_COLUMNS[:2], *shown):
        if name not in columns:
            raise UsageError(f"rubric {rubric.name}: its unit_sql gives no column {name}: it gives {', '.join(columns)}")


def _checked(rows: Sequence[Mapping[str, Any]], rubric: Rubric) -> Iterator[Mapping[str, Any]]:
    seen: set[object] = set()
    for row in rows:
        unit = row["unit_id"]
        if unit is None or unit in seen:
            why = "a row without unit_id" if unit is None else f"two rows with unit_id {unit!r}"
            raise UsageError(f"rubric {rubric.name}: its unit_sql gives {why}: each row needs one of its own")
        seen.add(unit)
        yield row
