"""The steps left before and after each step of a game."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from games.einstein.engine.step import Setting
from games.einstein.engine.table import Table
from games.einstein.replay import Step
from games.einstein.value.hands import hands
from games.einstein.value.search import Search


class Distances(NamedTuple):
    """Steps left in a position."""

    hands: int
    """For players who know everything."""

    plan: int | None
    """By the published planner, which passes only where it can do nothing else; None: out of its reach."""

    know: int | None
    """For players who know what they were told and can talk; None: no agent can tell what a player has to know."""


def distances(setting: Setting, steps: Sequence[Step]) -> Iterator[tuple[Distances, Distances]]:
    """Give the steps left before and after each step."""
    return pairwise(values(setting, [step.before for step in steps] + [steps[-1].outcome.table] if steps else []))


def values(setting: Setting, tables: Iterable[Table]) -> Iterator[Distances]:
    """Value positions of one game, in any order; what is proven of one helps with the others."""
    known = Search(setting, planner=False)
    planned = Search(setting, planner=True, easier=known)
    for table in tables:
        know = known.steps(table)  # first: it saves the planner work
        yield Distances(hands(setting.puzzle, table), planned.steps(table), know)
