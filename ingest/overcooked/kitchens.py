"""In which kitchen a log was played: cotrace's own logs say so; of others' a kitchen file beside the log, or the log's own picture."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from games.overcooked.engine.drawing import WIDTH, map_text
from games.overcooked.engine.layout import AGENTS, kitchen, published
from games.overcooked.engine.own_kitchen import kitchen_of, own_kitchen, read_kitchen
from games.overcooked.engine.tasks import Task, orders_of, task_of, tasks
from games.overcooked.engine.world import start_world
from ingest.overcooked.records import LogRecord, StepRecord
from schemas.errors import BadInputError, UsageError

__all__ = ["kitchen_file", "task_played"]

_NAMES: Final = ("kitchen.yaml", "kitchen.layout")
_FOLDERS: Final = 3
"""Of the log, the order's and the model's."""


def kitchen_file(path: Path) -> Path | None:
    """The kitchen file that a log is read with: the nearest one in its folder or one of the two above."""
    found = (folder / name for folder in list(path.parents)[:_FOLDERS] for name in _NAMES)
    return next((file for file in found if file.is_file()), None)


def task_played(order: str, record: LogRecord, steps: Sequence[StepRecord], path: Path) -> Task:
    """The order in the kitchen in which it was cooked.

    Raises:
        BadInputError: nothing says how the order is made.
    """
    own = record.cotrace
    if own is not None:
        return _task(order, {} if own.kitchen is None else {"kitchen": own.kitchen})
    beside = kitchen_file(path)
    picture = steps[0].map if steps else ""
    is_published = order in tasks() and picture in ("", map_text(start_world(kitchen(), order)))
    if beside is not None and not (is_published and picture and not _shows(picture, order, beside)):
        return _in_file(order, beside)
    return tasks()[order] if is_published else _pictured(order, picture)


def _shows(picture: str, order: str, file: Path) -> bool:
    """Whether a game in the kitchen of a file begins with this picture; a folder may hold logs of the published kitchen beside them."""
    layout = read_kitchen(file)
    return order in orders_of(layout) and picture == map_text(start_world(layout, order))


def _in_file(order: str, file: Path) -> Task:
    layout = read_kitchen(file)
    if order not in orders_of(layout):
        known = ", ".join(orders_of(layout))
        raise BadInputError(f"order {order!r} is none of {file.name} beside the log: it has {known}", locator="content[0].order_list")
    return task_of(order, layout)


def _task(order: str, goal: dict[str, Any]) -> Task:
    try:
        return task_of(order, kitchen_of(goal))
    except UsageError as error:
        raise BadInputError(str(error), locator="content[0].order_list") from error


def _pictured(order: str, picture: str) -> Task:
    """The published recipes in the kitchen of the log's first picture."""
    dish = published()["needs_dish"].get(order)
    if dish is None or order not in kitchen().products:
        raise BadInputError(
            f"order {order!r} is not one of the benchmark's thirty: put the kitchen it was played in beside the log, as {_NAMES[0]} or the "
            f"published code's layout file as {_NAMES[1]}",
            locator="content[0].order_list",
        )
    rows = _grid(picture) or published()["grid"]
    name = f"grid-{hashlib.blake2b(repr(rows).encode(), digest_size=3).hexdigest()}"
    orders = {} if order in tasks() else {"orders": {order: {"dish": dish}}}
    return task_of(order, own_kitchen({"name": name, "grid": rows, **orders}))


def _grid(picture: str) -> list[str]:
    """Rows of a picture of cells with eight characters: symbols, and arrows with an agent's number where one stands."""
    rows = [line for line in picture.split("\n") if line.strip()]
    return ["".join(_symbol(row[at : at + WIDTH].strip()) for at in range(0, len(row.rstrip()), WIDTH)) for row in rows]


def _symbol(cell: str) -> str:
    if not cell:
        return "."
    return cell[1] if len(cell) > 1 and cell[1] in "01"[: len(AGENTS)] and not cell[0].isalnum() else cell[0]
