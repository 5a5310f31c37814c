"""The shortest solution of a puzzle: the yardstick of the step ratio (formats/einstein.md section 8).

A best-first search (A*) over states of at most 3^n positions times what each player was told. Two facts keep it small:

* in a shortest solution an object goes straight from its start to its goal, or once through the common bin, so its place is one of three;
* each player makes at least one step for every move only it can make, and the players alternate: this bounds the steps left from below.

The published planner keeps no memory of the states it has seen and gives up after 2,500 expansions; this one needs neither limit nor luck.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from games.einstein.engine.actions import Action, Ask, Move, Pass, Share
from games.einstein.engine.bins import COMMON, OWN_DESTINATIONS, START_BINS, Player
from games.einstein.engine.modes import ALLOWED, ActionMode, Verbs
from games.einstein.engine.puzzle import Puzzle
from games.einstein.engine.table import bits, closure, items_mask
from schemas.errors import CotraceError


class PlanError(CotraceError):
    """A puzzle has no solution in a mode."""


class Plan(NamedTuple):
    """A shortest solution."""

    steps: int
    """Its length: one per action, so an ask and its answer are two."""

    first_player: Player
    """Who begins. Not always player 0: see section 8."""

    actions: tuple[Action, ...]
    """The actions in order, the players alternating."""

    expansions: int
    """States the search looked behind: what it cost."""


class Node(NamedTuple):
    """A node of the search. Masks as in ``table``."""

    common: int
    """Objects in the common bin."""

    placed: int
    told: tuple[int, int]
    """Per player the items it knows."""

    player: int


_Successor = tuple[tuple[Action, ...], Node]


@dataclass(slots=True)
class _Search:
    """What the search looks up about a puzzle."""

    puzzle: Puzzle
    verbs: Verbs
    start_side: tuple[int, int]
    """Per player the objects that start in its bin."""

    goal_side: tuple[int, int]
    """Per player the objects whose goal it reaches."""

    known: dict[tuple[int, int], int]
    """What follows from items and placed objects, as far as computed."""


def plan(puzzle: Puzzle, mode: ActionMode) -> Plan:
    """Find a shortest solution; the same one in every process.

    Raises:
        PlanError: there is no solution.
    """
    search, start = start_of(puzzle, mode)
    everything = (1 << puzzle.num_objects) - 1
    came: dict[Node, tuple[Node, tuple[Action, ...]]] = {}
    best = {start: 0}
    waiting = [(steps_left(search, start), 0, 0, start)]
    order = expansions = 0
    while waiting:
        _, negative_cost, _, state = heapq.heappop(waiting)
        cost = -negative_cost
        if cost > best[state]:
            continue
        if state.placed == everything:
            return Plan(cost, 0 if start.player == 0 else 1, _path(came, state), expansions)
        expansions += 1
        for actions, after in successors(search, state):
            reached = cost + len(actions)
            if reached < best.get(after, reached + 1):
                best[after] = reached
                came[after] = (state, actions)
                order += 1
                heapq.heappush(waiting, (reached + steps_left(search, after), -reached, order, after))
    raise PlanError(f"game {puzzle.game_id} has no solution in mode {mode}")


def start_of(puzzle: Puzzle, mode: ActionMode) -> tuple[_Search, Node]:
    """Give where the search begins, and with whom: not always player 0."""
    search = _search(puzzle, mode)
    told = (items_mask(puzzle.given(0)), items_mask(puzzle.given(1)))
    first: Player = 0 if any(_reachable_moves(search, Node(0, 0, told, 0))) else 1
    return search, Node(0, 0, told, first)


def _search(puzzle: Puzzle, mode: ActionMode) -> _Search:
    blocks = range(puzzle.num_objects)
    starts = tuple(sum(1 << block for block in blocks if puzzle.starts[block] == bin_) for bin_ in START_BINS)
    goals = tuple(sum(1 << block for block in blocks if puzzle.goals[block] in own) for own in OWN_DESTINATIONS)
    return _Search(puzzle, ALLOWED[mode], (starts[0], starts[1]), (goals[0], goals[1]), {})


def _known(search: _Search, state: Node) -> int:
    key = (state.told[state.player], state.placed)
    if key not in search.known:
        search.known[key] = closure(search.puzzle, *key)
    return search.known[key]


def steps_left(search: _Search, state: Node) -> int:
    """Bound the steps left from below: the player to move makes every other step, beginning now."""
    mine, other = state.player, 1 - state.player
    at_start = ~(state.common | state.placed)
    needed = [
        (search.goal_side[who] & ~state.placed).bit_count() + (search.start_side[who] & ~search.goal_side[who] & at_start).bit_count()
        for who in (mine, other)
    ]
    return max(2 * needed[0] - 1, 2 * needed[1])


def _reachable_moves(search: _Search, state: Node) -> tuple[int, int]:
    """Give the known objects that the player can place, and those that it can pass on."""
    known = _known(search, state) & ~state.placed
    start, goal = search.start_side[state.player], search.goal_side[state.player]
    placeable = known & goal & (state.common | start)
    passable = known & ~goal & start & ~state.common
    return placeable, passable


def successors(search: _Search, state: Node) -> Iterator[_Successor]:
    """Give what can be done, with the node behind it; a pass only where nothing else can."""
    found = False
    for successor in _all_successors(search, state):
        found = True
        yield successor
    if not found:
        yield (Pass(),), state._replace(player=1 - state.player)


def _all_successors(search: _Search, state: Node) -> Iterator[_Successor]:
    placeable, passable = _reachable_moves(search, state)
    if search.verbs == ALLOWED["none"]:
        guesses = ~_known(search, state) & ~state.placed & ((1 << search.puzzle.num_objects) - 1)
        start, goal = search.start_side[state.player], search.goal_side[state.player]
        placeable |= guesses & goal & (state.common | start)
        passable |= guesses & start & ~state.common
    yield from _moves(search, state, placeable, passable)
    if search.verbs.share:
        yield from _shares(search, state)
    if search.verbs.ask:
        yield from _asks(search, state)


def _moves(search: _Search, state: Node, placeable: int, passable: int) -> Iterator[_Successor]:
    after = state._replace(player=1 - state.player)
    puzzle = search.puzzle
    for block in bits(placeable):
        bit = 1 << block
        source = COMMON if state.common & bit else puzzle.starts[block]
        yield (Move(block, source, puzzle.goals[block]),), after._replace(common=state.common & ~bit, placed=state.placed | bit)
    for block in bits(passable):
        yield (Move(block, puzzle.starts[block], COMMON),), after._replace(common=state.common | 1 << block)


def _shares(search: _Search, state: Node) -> Iterator[_Successor]:
    """Every item that the partner lacks and that is not obsolete (both its objects placed)."""
    partner = 1 - state.player
    for index in bits(state.told[state.player] & ~state.told[partner]):
        about = 1 << index | 1 << search.puzzle.anchors[index]
        if about & ~state.placed:
            yield (Share(search.puzzle.items[index]),), _telling(state, partner, index)._replace(player=partner)


def _asks(search: _Search, state: Node) -> Iterator[_Successor]:
    """Ask and answer in one: cost 2, the same player moves again. Answers that tell nothing new only lose time."""
    partner = 1 - state.player
    unknown = ~_known(search, state)
    for index in bits(state.told[partner] & ~state.told[state.player]):
        for block in {index, search.puzzle.anchors[index]}:
            if unknown >> block & 1:
                yield (Ask(block), Share(search.puzzle.items[index])), _telling(state, state.player, index)


def _telling(state: Node, hearer: int, index: int) -> Node:
    first, second = state.told
    told = (first | 1 << index, second) if hearer == 0 else (first, second | 1 << index)
    return state._replace(told=told)


def _path(came: dict[Node, tuple[Node, tuple[Action, ...]]], state: Node) -> tuple[Action, ...]:
    steps: list[tuple[Action, ...]] = []
    while state in came:
        state, actions = came[state]
        steps.append(actions)
    return tuple(action for actions in reversed(steps) for action in actions)
