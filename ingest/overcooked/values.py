"""What each step of a Collab-Overcooked game cost at least: rows of `turn_values`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from games.overcooked.engine.tasks import Task
from games.overcooked.replay import ReplayedStep
from games.overcooked.value.bound import steps_left_of_json
from schemas.records import TurnValue

__all__ = ["turn_values"]


def turn_values(episode: str, task: Task, steps: Sequence[ReplayedStep]) -> Iterator[TurnValue]:
    """Value the steps of a game; a step that does all it could costs 0, since the step itself is spent."""
    if not steps:
        return
    left = [
        steps_left_of_json(task.order, steps[0].before_json, task.layout),
        *(0 if step.delivered else steps_left_of_json(task.order, step.after_json, task.layout) for step in steps),
    ]
    for turn, (before, after) in enumerate(pairwise(left), start=1):
        yield TurnValue(episode, turn, "overcooked.time_left", before, after, 1 + after - before, "steps", "bound")
