"""What the Collab-Overcooked paper counts in the references, not in logs."""

from collections.abc import Sequence

from analytics.papers import TableCell
from games.overcooked.engine.references import published_references
from games.overcooked.engine.tasks import tasks
from schemas.store.store import Store


def levels(_: Store, __: object) -> list[TableCell]:
    """Table 3: what the Assistant does in an order's first reference, and how often both fill a utensil; a level's orders are alike."""
    found: dict[tuple[str, str], list[int]] = {}
    for order, task in tasks().items():
        chef, assistant = published_references(order)[0]
        for column, count in (
            ("acquiring new ingredients", sum("ingredient_dispenser" in action for action in assistant)),
            ("processing by Alice", _fillings(assistant)),
            ("acquiring a new dish", sum("dish_dispenser" in action for action in assistant)),
            ("processing by Bob", _fillings(chef)),
            ("collaborative actions", len(assistant)),
        ):
            found.setdefault((f"level {task.level}", column), []).append(count)
    return [TableCell(row, column, sum(counts) / len(counts), n=len(counts)) for (row, column), counts in found.items()]


def _fillings(actions: Sequence[str]) -> int:
    return sum(action.startswith("put_obj_in_utensil") for action in actions)
