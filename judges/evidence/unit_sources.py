"""The units of a selection, wherever they come from: out of games, pairs of games, or rows of a query of the rubric's own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from judges.evidence.perturbation.perturbations import perturbed
from judges.evidence.pieces import UnitContext
from judges.evidence.reader import Reader
from judges.evidence.row_query import Row, read_rows
from judges.evidence.transcript import Transcript, load
from judges.evidence.units import Selection, Unit, units
from judges.rubric import PROBE, Rubric
from schemas.store import Store


def selected_units(store: Store, rubric: Rubric, selection: Selection, reader: Reader | None = None) -> Iterator[Unit]:
    """The units of the selected games (of a pair, both must be selected), game by game; of a probe those that can be perturbed.

    Engine checks find texts read by that reader; None: by rules.

    Raises:
        StoreError: the store cannot be opened.
        UsageError: the rubric's `unit_sql` does not work, lacks a column that the rubric needs, or a row stands nowhere in the store.
    """
    found = _as_they_are(store, rubric, selection, reader)
    if rubric.variant is None or not rubric.variant.startswith(PROBE):
        return found
    return (told for unit in found if (told := perturbed(rubric, unit)) is not None)


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
        if row["episode_id"] in selection and _is_selected(row.get("turn"), selection[row["episode_id"]]):
            rows.setdefault(row["episode_id"], []).append(row)
    for game in load(store, sorted(rows)):
        for row in rows[game.episode_id]:
            yield _row_unit(rubric, game, row)


def _is_selected(turn: int | None, turns: frozenset[int] | None) -> bool:
    return turn is None or turns is None or turn in turns


def _row_unit(rubric: Rubric, game: Transcript, row: Row) -> Unit:
    return Unit(
        str(row["unit_id"]), game.episode_id, row.get("turn"), row.get("agent"), UnitContext(game=game, roles=rubric.roles, row=row)
    )
