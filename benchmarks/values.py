"""Values: what each turn cost, against replaying the same games; caches are emptied before every round, code is compiled before."""

from functools import partial
from typing import Final, NamedTuple

from benchmarks.figures import Figure, seconds
from benchmarks.timing import medians
from schemas.families import modules

__all__ = ["ValueWork", "run"]

_ROUNDS: Final = 7
_GOAL: Final = 3


class ValueWork(NamedTuple):
    """What `benchmarks.<family>.values.work` gives."""

    name: str
    replay: partial[None]
    value: partial[None]


def run() -> list[Figure]:
    """Measure."""
    return [_figure(found.work()) for _, found in modules("benchmarks", "values")]


def _figure(work: ValueWork) -> Figure:
    taken = medians(_ROUNDS, {"base": work.replay, "ours": work.value})
    ratio = taken["ours"].cpu_s / taken["base"].cpu_s
    return Figure(
        work.name, seconds(taken["ours"].cpu_s), f"{seconds(taken['base'].cpu_s)}: replay", ratio, f"<= {_GOAL}", met=ratio <= _GOAL
    )
