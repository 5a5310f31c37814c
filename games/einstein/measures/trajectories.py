"""Several solutions of a puzzle, the shortest first: what players are tuned on (agents of Einstein Puzzles, section 2.4).

The published planner takes the first five that its search completes. Here they are told apart by what is done: another order of the same
actions comes only where there are no others within two steps of the shortest.
"""

import heapq
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from games.einstein.engine.actions import Action, Move, Pass
from games.einstein.engine.bins import COMMON, OWN_DESTINATIONS, PLAYERS
from games.einstein.engine.modes import ActionMode
from games.einstein.engine.puzzle import Puzzle
from games.einstein.engine.table import closure, items_mask
from games.einstein.measures.planner import Node, start_of, steps_left, successors

SLACK: Final = 2
"""Steps by which a solution may be longer than the shortest, as in the paper."""

_MOST_LOOKED_AT: Final = 60_000
_TRYING: Final = 2
"""Of the solutions without talk, how many (the last) try bins in turn, as the paper has it: the others guess right at once."""


class Trajectory(NamedTuple):
    """A solution from the first step of the game on, the players alternating, Player1 first."""

    actions: tuple[Action, ...]
    longer: int
    """Steps beyond the shortest solution."""


class _Path(NamedTuple):
    node: Node
    actions: tuple[Action, ...]
    done: frozenset[tuple[int, Action]]
    """What who has done, in whatever order."""


@lru_cache(maxsize=8)
def trajectories(puzzle: Puzzle, mode: ActionMode, count: int) -> tuple[Trajectory, ...]:
    """Give up to `count` solutions; the same ones in every process.

    Raises:
        PlanError: there is none.
    """
    first = start_of(puzzle, mode)[1].player
    found = _chosen([*_solutions(puzzle, mode, count)], count)
    lead: tuple[Action, ...] = () if first == 0 else (Pass(),)
    whole = [lead + actions for actions in found]
    if mode == "none" and count > _TRYING:
        trying = [tried for actions in whole[:_TRYING] if (tried := _trying(puzzle, actions)) not in whole]
        whole = [*whole[: count - len(trying)], *dict.fromkeys(trying)]
    return tuple(Trajectory(actions, len(actions) - len(whole[0])) for actions in whole)


def _chosen(found: list[_Path], count: int) -> list[tuple[Action, ...]]:
    """Those that do something else before those that do the same in another order."""
    new: dict[frozenset[tuple[int, Action]], _Path] = {}
    for path in found:
        new.setdefault(path.done, path)
    first = list(new.values())[:count]
    again = [path for path in found if path not in first]
    return sorted((path.actions for path in (*first, *again[: count - len(first)])), key=len)


def _solutions(puzzle: Puzzle, mode: ActionMode, count: int) -> Iterator[_Path]:
    """Solutions in order of length, up to `SLACK` beyond the shortest; at most `count` ways to do the same."""
    search, start = start_of(puzzle, mode)
    everything = (1 << puzzle.num_objects) - 1
    waiting = [(steps_left(search, start), 0, 0, _Path(start, (), frozenset()))]
    ways: Counter[tuple[Node, frozenset[tuple[int, Action]]]] = Counter()
    order = looked_at = 0
    shortest: int | None = None
    different: set[frozenset[tuple[int, Action]]] = set()
    while waiting:
        due, _, _, path = heapq.heappop(waiting)
        if (shortest is not None and due > shortest + SLACK) or len(different) == count or looked_at > _MOST_LOOKED_AT:
            return
        ways[path.node, path.done] += 1
        if ways[path.node, path.done] > count:
            continue
        if path.node.placed == everything:
            shortest = len(path.actions) if shortest is None else shortest
            different.add(path.done)
            yield path
            continue
        looked_at += 1
        for actions, after in successors(search, path.node):
            mover = path.node.player
            if any(_detour(puzzle, mover, action) for action in actions):
                continue
            taken = (*path.actions, *actions)
            done = path.done | {((mover + place) % 2, action) for place, action in enumerate(actions)}
            order += 1
            heapq.heappush(waiting, (len(taken) + steps_left(search, after), -len(taken), order, _Path(after, taken, done)))


def _detour(puzzle: Puzzle, mover: int, action: Action) -> bool:
    """Tell whether a block goes through the common bin that its player could have placed."""
    return isinstance(action, Move) and action.target == COMMON and puzzle.goals[action.block] in OWN_DESTINATIONS[mover]


def _trying(puzzle: Puzzle, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """The same solution by players who know no more than they can: what is guessed there is tried bin by bin here.

    While one tries, the other goes on with what it knows, or passes.
    """
    rest = [(place % 2, action) for place, action in enumerate(actions)]
    told = tuple(items_mask(puzzle.given(player)) for player in PLAYERS)
    placed = player = 0
    tried: list[Action] = []
    wrong: list[Action] | None = None
    while rest:
        mover, action = rest[0]
        if isinstance(action, Pass) and mover != player:
            del rest[0]
            continue
        known = closure(puzzle, told[player], placed)
        taken: Action
        if mover != player:
            taken = _meanwhile(rest, player, known)
        else:
            wrong = _wrong_bins(action, player, known) if wrong is None else wrong
            taken = wrong.pop(0) if wrong else rest.pop(0)[1]
            wrong = wrong if taken is not action else None
        tried.append(taken)
        if isinstance(taken, Move) and puzzle.goals[taken.block] == taken.target:
            placed |= 1 << taken.block
        player = 1 - player
    return tuple(tried)


def _meanwhile(rest: list[tuple[int, Action]], player: int, known: int) -> Action:
    """What the partner of one who tries can do: its next action, if it rests on nothing that comes before it."""
    busy = rest[0][1]
    for place, (mover, action) in enumerate(rest[1:2], start=1):
        apart = isinstance(action, Move) and isinstance(busy, Move) and action.block != busy.block
        if mover == player and apart and isinstance(action, Move) and known >> action.block & 1:
            del rest[place]
            return action
    return Pass()


def _wrong_bins(action: Action, player: int, known: int) -> list[Action]:
    """Moves of a block of unknown goal into the own bins that come before the right one."""
    if not isinstance(action, Move) or known >> action.block & 1 or action.source == COMMON == action.target:
        return []
    own = sorted(OWN_DESTINATIONS[player])
    before = own[: own.index(action.target)] if action.target in own else own
    return [Move(action.block, action.source, target) for target in before]
