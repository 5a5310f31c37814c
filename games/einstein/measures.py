"""Numbers of a game, and solutions of a puzzle.

Numbers are named as the columns of the reference files (formats/einstein.md section 9); views aggregate them.

The shortest solution is the yardstick of the step ratio (section 8). `plan` is a best-first search (A*) over states of at most 3^n
positions times what each player received. Two facts keep it small:

* in a shortest solution an object goes straight from its start to its goal, or once through the common bin, so its place is one of three;
* each player makes at least one step for every move only it can make, and the players alternate: this bounds the steps left from below.

The published planner stores no states it has seen and gives up after 2,500 expansions; this one needs neither limit nor luck.

Players are tuned on several solutions, the shortest first (agents of Einstein Puzzles, section 2.4). The published planner takes the first
five that its search completes. Here solutions are distinguished by what is done: another order of the same actions comes only where there
are no others within two steps of the shortest.
"""

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, NamedTuple

from games.einstein.engine import puzzle as puzzles
from games.einstein.engine.actions import Action, ActionType, Ask, Move, Pass, Share, action_type
from games.einstein.engine.table import bits, closure, items_mask
from games.einstein.labels import NO_ERROR
from games.einstein.replay import Step
from schemas.common.errors import CotraceError


class PlanError(CotraceError):
    """A puzzle has no solution in a mode."""


class Plan(NamedTuple):
    """A shortest solution."""

    steps: int
    """Its length: one per action, so an ask and its answer are two."""
    first_player: puzzles.Player
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
    received: tuple[int, int]
    """Per player the items it knows."""
    player: int


_Successor = tuple[tuple[Action, ...], Node]


@dataclass(slots=True)
class _Search:
    """What the search looks up about a puzzle."""

    puzzle: puzzles.Puzzle
    verbs: puzzles.Verbs
    start_side: tuple[int, int]
    """Per player the objects that start in its bin."""
    goal_side: tuple[int, int]
    """Per player the objects whose goal it reaches."""
    known: dict[tuple[int, int], int]
    """What follows from items and placed objects, as far as computed."""


def plan(puzzle: puzzles.Puzzle, mode: puzzles.ActionMode) -> Plan:
    """Find a shortest solution; the same one in every process.

    Raises:
        PlanError: no solution exists.
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


def start_of(puzzle: puzzles.Puzzle, mode: puzzles.ActionMode) -> tuple[_Search, Node]:
    """Give where the search begins, and with whom: not always player 0."""
    blocks = range(puzzle.num_objects)
    starts = tuple(sum(1 << block for block in blocks if puzzle.starts[block] == bin_) for bin_ in puzzles.START_BINS)
    goals = tuple(sum(1 << block for block in blocks if puzzle.goals[block] in own) for own in puzzles.OWN_DESTINATIONS)
    search = _Search(puzzle, puzzles.ALLOWED[mode], (starts[0], starts[1]), (goals[0], goals[1]), {})
    received = (items_mask(puzzle.given(0)), items_mask(puzzle.given(1)))
    first: puzzles.Player = 0 if any(_reachable_moves(search, Node(0, 0, received, 0))) else 1
    return search, Node(0, 0, received, first)


def _known(search: _Search, state: Node) -> int:
    key = (state.received[state.player], state.placed)
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
    if search.verbs == puzzles.ALLOWED["none"]:
        guesses = ~_known(search, state) & ~state.placed & ((1 << search.puzzle.num_objects) - 1)
        start, goal = search.start_side[state.player], search.goal_side[state.player]
        placeable |= guesses & goal & (state.common | start)
        passable |= guesses & start & ~state.common
    after = state._replace(player=1 - state.player)
    puzzle = search.puzzle
    for block in bits(placeable):
        bit = 1 << block
        source = puzzles.COMMON if state.common & bit else puzzle.starts[block]
        yield (Move(block, source, puzzle.goals[block]),), after._replace(common=state.common & ~bit, placed=state.placed | bit)
    for block in bits(passable):
        yield (Move(block, puzzle.starts[block], puzzles.COMMON),), after._replace(common=state.common | 1 << block)
    if search.verbs.share:
        # Every item that the partner lacks and that is not obsolete (both its objects placed)
        partner = 1 - state.player
        for index in bits(state.received[state.player] & ~state.received[partner]):
            about = 1 << index | 1 << search.puzzle.anchors[index]
            if about & ~state.placed:
                yield (Share(search.puzzle.items[index]),), _telling(state, partner, index)._replace(player=partner)
    if search.verbs.ask:
        yield from _asks(search, state)


def _asks(search: _Search, state: Node) -> Iterator[_Successor]:
    """Ask and answer in one: cost 2, the same player moves again. Answers that tell nothing new only lose time."""
    partner = 1 - state.player
    unknown = ~_known(search, state)
    for index in bits(state.received[partner] & ~state.received[state.player]):
        for block in {index, search.puzzle.anchors[index]}:
            if unknown >> block & 1:
                yield (Ask(block), Share(search.puzzle.items[index])), _telling(state, state.player, index)


def _telling(state: Node, hearer: int, index: int) -> Node:
    first, second = state.received
    received = (first | 1 << index, second) if hearer == 0 else (first, second | 1 << index)
    return state._replace(received=received)


def _path(came: dict[Node, tuple[Node, tuple[Action, ...]]], state: Node) -> tuple[Action, ...]:
    steps: list[tuple[Action, ...]] = []
    while state in came:
        state, actions = came[state]
        steps.append(actions)
    return tuple(action for actions in reversed(steps) for action in actions)


@dataclass(frozen=True, slots=True, kw_only=True)
class GameMetrics:
    """Numbers of one game."""

    num_objects: int
    step_count: int
    terminated: bool
    truncated: bool
    success: bool
    correct_objects: int
    """Objects in their goal bins at the end (``partial_success_rate`` in published files)."""
    optimal_steps: int
    """Length of a shortest solution in this action space (provide_seek for mixed pairs)."""
    optimal_first_player: int
    """1 or 2."""
    total_used_trials: int | None
    """Candidates thrown away; None without verifier, as the next four."""
    total_sum_err: int | None
    corrected_steps: int | None
    """Steps in which a later candidate replaced the first."""
    actions: Counter[ActionType]
    n_accepted: int
    n_state_changed: int
    labels: Counter[str]
    """Steps per category of the paper, ``no_error`` included."""
    ext_labels: Counter[str]

    @property
    def sub_r(self) -> float:
        """Share of objects in their goal bins at the end, 0 to 1 (Sub.R)."""
        return self.correct_objects / self.num_objects

    @property
    def step_ratio(self) -> float | None:
        """Steps over the optimum (StepR); None for a game without success."""
        return self.step_count / self.optimal_steps if self.success else None

    @property
    def avg_used_trials(self) -> float | None:
        """Candidates thrown away per step."""
        return self._per_step(self.total_used_trials)

    @property
    def avg_sum_err(self) -> float | None:
        """Cost of candidates per step."""
        return self._per_step(self.total_sum_err)

    @property
    def avg_corrected(self) -> float | None:
        """Share of steps in which a later candidate replaced the first, 0 to 1 (Corr.R)."""
        return self._per_step(self.corrected_steps)

    def _per_step(self, total: int | None) -> float | None:
        return None if total is None or not self.step_count else total / self.step_count


@cache
def optimum(puzzle: puzzles.Puzzle, modes: puzzles.Modes) -> Plan:
    """Give a shortest solution in the action space that is the yardstick of a pair.

    Raises:
        PlanError: the puzzle has no solution.
    """
    return plan(puzzle, puzzles.optimum_mode(modes))


def game_metrics(puzzle: puzzles.Puzzle, modes: puzzles.Modes, steps: Sequence[Step]) -> GameMetrics:
    """Compute the numbers of a game from its replayed steps; a game without steps is as it started."""
    best = optimum(puzzle, modes)
    last = steps[-1].outcome if steps else None
    choices = [step.choice for step in steps if step.choice]
    verified = bool(choices)
    labels = Counter(label for step in steps for label in step.labels or (NO_ERROR,))
    return GameMetrics(
        num_objects=puzzle.num_objects,
        step_count=len(steps),
        terminated=bool(last and last.terminated),
        truncated=bool(last and last.truncated),
        success=bool(last and last.success),
        correct_objects=last.table.correct(puzzle) if last else 0,
        optimal_steps=best.steps,
        optimal_first_player=best.first_player + 1,
        total_used_trials=sum(choice.used_trials for choice in choices) if verified else None,
        total_sum_err=sum(choice.sum_err for choice in choices) if verified else None,
        corrected_steps=sum(choice.corrected for choice in choices) if verified else None,
        actions=Counter(action_type(step.answer.action) for step in steps),
        n_accepted=sum(step.outcome.accepted for step in steps),
        n_state_changed=sum(step.outcome.state_changed for step in steps),
        labels=labels,
        ext_labels=Counter(label for step in steps for label in step.ext_labels),
    )


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
def trajectories(puzzle: puzzles.Puzzle, mode: puzzles.ActionMode, count: int) -> tuple[Trajectory, ...]:
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


def _solutions(puzzle: puzzles.Puzzle, mode: puzzles.ActionMode, count: int) -> Iterator[_Path]:
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
            passed_on = {action.block for action in actions if isinstance(action, Move) and action.target == puzzles.COMMON}
            if any(
                puzzle.goals[block] in puzzles.OWN_DESTINATIONS[mover] for block in passed_on
            ):  # a block that its player could have placed
                continue
            taken = (*path.actions, *actions)
            done = path.done | {((mover + place) % 2, action) for place, action in enumerate(actions)}
            order += 1
            heapq.heappush(waiting, (len(taken) + steps_left(search, after), -len(taken), order, _Path(after, taken, done)))


def _trying(puzzle: puzzles.Puzzle, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """The same solution by players who know no more than they can: what is guessed there is tried bin by bin here.

    While one tries, the other goes on with what it knows, or passes.
    """
    rest = [(place % 2, action) for place, action in enumerate(actions)]
    received = tuple(items_mask(puzzle.given(player)) for player in puzzles.PLAYERS)
    placed = player = 0
    tried: list[Action] = []
    wrong: list[Action] | None = None
    while rest:
        mover, action = rest[0]
        if isinstance(action, Pass) and mover != player:
            del rest[0]
            continue
        known = closure(puzzle, received[player], placed)
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
    if not isinstance(action, Move) or known >> action.block & 1 or action.source == puzzles.COMMON == action.target:
        return []
    own = sorted(puzzles.OWN_DESTINATIONS[player])
    before = own[: own.index(action.target)] if action.target in own else own
    return [Move(action.block, action.source, target) for target in before]
