"""Engines: steps per second of the puzzle games, and how the planner of one of them grows with the number of objects.

A step is an answer as text: parsed, carried out, labelled. Its base is `json.loads` of the same games' logs. The planner's base is its own
time for the fewest objects, over puzzles drawn from the same seed.
"""

import json
from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

from benchmarks.figures import Figure, seconds
from benchmarks.timing import medians
from schemas.families import modules, offered

__all__ = ["EngineWork", "run"]

_ROUNDS: Final = 5


class EngineWork(NamedTuple):
    """What `benchmarks.<family>.engine.work` gives; its `more`, where there is one, gives further figures."""

    name: str
    steps: int
    play: partial[None]
    texts: Sequence[str]
    """The games' logs."""


def run() -> list[Figure]:
    """Measure."""
    steps = [_steps(found.work()) for _, found in modules("benchmarks", "engine")]
    return steps + [figure for _, more in offered("benchmarks", "engine", "more") for figure in more()]


def _steps(work: EngineWork) -> Figure:
    taken = medians(_ROUNDS, {"base": partial(_load, work.texts), "ours": work.play})
    ours, base = taken["ours"].wall_s, taken["base"].wall_s
    return Figure(
        f"{work.name}: {work.steps / ours:,.0f} steps/s, {work.steps:,} steps",
        seconds(ours),
        f"{seconds(base)}: json.loads of their logs, {sum(map(len, work.texts)) / 1e6:.1f} MB",
        ours / base,
    )


def _load(texts: Sequence[str]) -> None:
    for text in texts:
        for line in text.splitlines():
            json.loads(line)
