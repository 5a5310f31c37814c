"""A scripted player's decision, before it is put into words."""

import random
from collections.abc import Callable
from typing import NamedTuple

from games.einstein.engine.actions import Action
from games.einstein.engine.bins import Bin
from games.einstein.players.mind import Mind


class StatedThought(NamedTuple):
    """What the thoughts say of an object."""

    block: int
    goal: Bin | None
    """Where it is said to belong; None: said to be unknown."""


class Intent(NamedTuple):
    """An answer in the making."""

    habit: str
    """``sense``, or the name of the habit that made it."""

    action: Action | None
    """What is done; None for an answer that the grammar does not read."""

    reason: str
    """The kind of thought that goes with it: a symbol of ``wording.yaml``."""

    claims: tuple[StatedThought, ...] = ()
    written: str | None = None
    """The action as written, where that is not simply ``action.text``."""

    thought: str | None = None
    """The whole thought, where it is more than claims and reason put into words."""

    @property
    def action_text(self) -> str:
        """What stands in the action tag."""
        if self.written is not None:
            return self.written
        return "" if self.action is None else self.action.text


Habit = Callable[[Mind, random.Random], Intent | None]
"""Gives a decision, or None where the game offers no occasion."""
