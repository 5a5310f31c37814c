"""Knowledge items: where one object belongs, or how the goals of two objects lie to each other.

Source: formats/einstein.md section 2. Items are equal if their canonical forms are; only canonical forms are built here.
"""

from typing import NamedTuple

from games.einstein.engine.bins import Bin, RelationKind


class Grounding(NamedTuple):
    """The goal of an object is a bin."""

    block: int
    goal: Bin

    @property
    def text(self) -> str:
        """The item as actions and prompts write it."""
        return f"(block{self.block}, in, {self.goal})"


class Relation(NamedTuple):
    """The goals of two objects are the same bin, or share the row, the column, or neither. ``first <= second``."""

    first: int
    second: int
    kind: RelationKind

    @property
    def text(self) -> str:
        """The item as actions and prompts write it."""
        return f"(block{self.first}, block{self.second}, same, {self.kind})"


Item = Grounding | Relation


def relation(one: int, other: int, kind: RelationKind) -> Relation:
    """Give the relation in its canonical form: the smaller number first."""
    return Relation(min(one, other), max(one, other), kind)


def mentions(item: Item, block: int) -> bool:
    """Tell whether an item is about an object."""
    if isinstance(item, Grounding):
        return item.block == block
    return block in (item.first, item.second)
