"""What each step of an Einstein game cost: rows of `turn_values`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from games.einstein.engine.step import Setting
from games.einstein.replay import Step
from games.einstein.value.distances import distances
from schemas.records import TurnValue

__all__ = ["turn_values"]

_UNIT = "steps"


def turn_values(setting: Setting, steps: Sequence[Step], episode: str) -> Iterator[TurnValue]:
    """Value the steps of a game; a step that does all it could costs 0, since the step itself is spent.

    Where the goal cannot be reached by a measure there is no value: null, of kind `none`.
    """
    for step, (before, after) in zip(steps, distances(setting, steps), strict=True):
        for name, was, now in zip(before._fields, before, after, strict=True):
            cost = None if was is None or now is None else 1 + now - was
            yield TurnValue(episode, step.number + 1, f"einstein.{name}", was, now, cost, _UNIT, "none" if cost is None else "exact")
