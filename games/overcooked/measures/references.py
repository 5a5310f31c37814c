"""Reference trajectories: the published ones by the rule that made them, and all there are by search.

A reference is a pair of action sequences, one an agent, in which every unit of work of the order (`games.overcooked.engine.workflow`) is
done once
and nothing else. The search walks the product of both agents' progress: what is done, what is in which utensil, how many of the
shared counters are taken. Every way through it that ends with the delivery is a reference. There are far too many pairs to list
them (`count`), so that what is asked of them is answered on the graph of states: whether a sequence is one of an agent's references
(`is_reference`), and how far the best of them was followed (`longest_match`).

The published files hold only those in which the main ingredient is worked on first, the dish comes last, and the items reach the last
utensil in the order in which they are passed (formats/overcooked.md, section 3.1).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import permutations
from typing import Final, NamedTuple

from games.overcooked.engine.layout import DISH, Layout, kitchen
from games.overcooked.engine.vocabulary import PLACE
from games.overcooked.engine.workflow import Workflow, WorkUnit, workflow
from games.overcooked.measures.metrics import Trajectory, efficiency
from schemas.errors import BadInputError

__all__ = ["ReferencePair", "SearchedReferences", "published_references", "searched_references"]

_MOST_STATES: Final = 400_000
"""States beyond which a search is given up: some seconds; the largest of the thirty orders takes 9,000."""


class ReferencePair(NamedTuple):
    """A reference trajectory: the actions of Chef and Assistant, without blanks."""

    chef: Trajectory
    assistant: Trajectory


@cache
def published_references(order: str, layout: Layout | None = None) -> tuple[ReferencePair, ...]:
    """Give the references that the published files hold for an order, in any order of items into the last utensil.

    In a kitchen of one's own those made by the same rule, as far as they can be carried out there; where none can, one that was searched.
    """
    if layout is kitchen():
        return published_references(order)
    made = tuple(_published(workflow(order, layout)))
    if layout is None:
        return made
    every = searched_references(order, layout)
    return tuple(pair for pair in dict.fromkeys(made) if every.has_pair(pair)) or (every.first,)


def _published(work: Workflow) -> Iterator[ReferencePair]:
    utensil = next(utensil for utensil in work.layout.utensils.values() if work.order in utensil.makes)
    inputs = utensil.makes[work.order]
    fetched = [item for item in inputs[1:] if item in work.layout.ingredients]
    made = [item for item in inputs[1:] if item not in fetched]
    for items in permutations((inputs[0], *fetched, *made)):
        chef, assistant = _Script(work, 0), _Script(work, 1)
        main = next(iter(work.units.values()))  # the first unit of the recipe handles the main ingredient
        assistant.add_chain(main.name, stop=[f"pass {item}" for item in inputs])
        chef.add_with_needs(f"pass {inputs[0]}")
        for item in items:
            assistant.add_with_needs(f"pass {item}")
            chef.add_with_needs(f"put {utensil.name} {item}")
        if f"pass {DISH}" in work.units:
            assistant.add_with_needs(f"pass {DISH}")
        chef.add_with_needs("deliver")
        yield ReferencePair(tuple(chef.actions), tuple(assistant.actions))


class _Script:
    """One agent's units in the order in which they are asked for, each after those of the agent's own that it needs."""

    def __init__(self, work: Workflow, agent: int) -> None:
        self._work = work
        self._agent = agent
        self._done: set[str] = set()
        self.actions: list[str] = []

    def add_with_needs(self, name: str) -> None:
        """Add a unit after all of the agent's units that it depends on; nothing if the order does not have it."""
        unit = self._work.units.get(name)
        if unit is None or name in self._done:
            return
        self._done.add(name)
        for need in unit.after:
            self.add_with_needs(need)
        if unit.agent == self._agent:
            self.actions += unit.actions

    def add_chain(self, name: str, stop: Sequence[str]) -> None:
        """Add a unit and the agent's units that follow from it alone, up to where it waits for the partner or a unit in ``stop``."""
        if name in stop:
            return
        self.add_with_needs(name)
        for unit in self._work.of(self._agent):
            if unit.after == (name,):
                self.add_chain(unit.name, stop)


# -- search ---------------------------------------------------------------------------------------


class _State(NamedTuple):
    """How far both are."""

    done: frozenset[str]
    """Units finished by either."""

    busy: tuple[tuple[str, int] | None, tuple[str, int] | None]
    """Per agent the unit under way and how many of its actions are done."""


class _Edge(NamedTuple):
    agent: int
    action: str
    target: int


@dataclass(frozen=True, eq=False)
class SearchedReferences:
    """All references of an order, as a graph without cycles: nodes are numbered so that edges lead to larger numbers."""

    edges: tuple[tuple[_Edge, ...], ...]
    """From each state; state 0 is the beginning, the last one the delivery."""

    lengths: tuple[int, int]
    """Actions of Chef and Assistant in any of them."""

    def longest_match(self, agent: int, done: Trajectory) -> int:
        """Give D_max of what an agent did against the best of its references, in actions."""
        return self._best(agent, tuple(done))[0]

    def next_actions(self, agent: int, done: Trajectory) -> tuple[str, ...]:
        """Give the actions that would make the longest match of an agent longer by one, sorted."""
        return self._best(agent, tuple(done))[1]

    @lru_cache(maxsize=16384)  # noqa: B019 - there is one of an order and kitchen, kept for good; games of an order begin alike
    def _best(self, agent: int, done: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
        """Length of the longest match, and what would make it longer."""
        reached = self._followed(agent, done)
        best = max(matched for matched, _ in reached.values())
        ends = [state for state, (matched, _) in reached.items() if matched == best]
        return best, tuple(sorted({edge.action for state in ends for edge in self.edges[state] if edge.agent == agent}))

    def _followed(self, agent: int, done: Trajectory) -> dict[int, tuple[int, int]]:
        """State -> (own actions matched, how much of `done` that took); the least taken wins, matched follows."""
        reached = {0: (0, 0)}
        where: dict[str, list[int]] = {}
        for index, action in enumerate(done):
            where.setdefault(action, []).append(index)
        for state in range(len(self.edges)):
            if state not in reached:
                continue
            matched, taken = reached[state]
            for edge in self.edges[state]:
                found: tuple[int, int] | None = (matched, taken)
                if edge.agent == agent:
                    place = next((index for index in where.get(edge.action, ()) if index >= taken), None)
                    found = None if place is None else (matched + 1, place + 1)
                if found is None:
                    continue
                known = reached.get(edge.target)
                if known is None or found[1] < known[1]:
                    reached[edge.target] = found
        return reached

    def tes(self, agent: int, done: Trajectory) -> float:
        """Give the trajectory efficiency score against the best of all references, 0 to 1."""
        return efficiency(self.longest_match(agent, done), self.lengths[agent], len(done))

    @property
    def first(self) -> ReferencePair:
        """One of the references: in each state what is listed first."""
        actions: tuple[list[str], list[str]] = ([], [])
        state = 0
        while self.edges[state]:
            agent, action, state = self.edges[state][0]
            actions[agent].append(action)
        return ReferencePair(tuple(actions[0]), tuple(actions[1]))

    def is_reference(self, agent: int, actions: Trajectory) -> bool:
        """Tell whether these are exactly an agent's actions in one of the references."""
        return len(actions) == self.lengths[agent] == self.longest_match(agent, actions)

    def has_pair(self, pair: ReferencePair) -> bool:
        """Tell whether both sequences belong together in one of the references."""
        ahead = {(0, 0, 0)}
        final = len(self.edges) - 1
        while ahead:
            following = set()
            for state, chef, assistant in ahead:
                if state == final:
                    return chef == len(pair.chef) and assistant == len(pair.assistant)
                for edge in self.edges[state]:
                    place = assistant if edge.agent else chef
                    own = pair.assistant if edge.agent else pair.chef
                    if place < len(own) and own[place] == edge.action:
                        following.add((edge.target, chef + (edge.agent == 0), assistant + edge.agent))
            ahead = following
        return False

    def count(self, agent: int) -> int:
        """Give how many different action sequences of one agent there are.

        States that an agent cannot tell apart by its own actions are merged, so that each sequence is counted once.
        """
        start = self.reachable_alone(agent, frozenset({0}))
        counted: dict[frozenset[int], int] = {start: 1}
        for _ in range(self.lengths[agent]):
            following: dict[frozenset[int], int] = {}
            for states, ways in counted.items():
                by_action: dict[str, set[int]] = {}
                for state in states:
                    for edge in self.edges[state]:
                        if edge.agent == agent:
                            by_action.setdefault(edge.action, set()).add(edge.target)
                for targets in by_action.values():
                    merged = self.reachable_alone(agent, frozenset(targets))
                    following[merged] = following.get(merged, 0) + ways
            counted = following
        return sum(counted.values())

    def reachable_alone(self, agent: int, states: frozenset[int]) -> frozenset[int]:
        """Give the states that the partner alone can bring about from any of these, these included."""
        found, unvisited = set(states), list(states)
        while unvisited:
            for edge in self.edges[unvisited.pop()]:
                if edge.agent != agent and edge.target not in found:
                    found.add(edge.target)
                    unvisited.append(edge.target)
        return frozenset(found)


@cache
def searched_references(order: str, layout: Layout | None = None) -> SearchedReferences:
    """Find all references of an order in a kitchen; None: the benchmark's.

    Raises:
        BadInputError: there is no way to the delivery, or there are too many states to search.
    """
    if layout is kitchen():
        return searched_references(order)
    return _Search(workflow(order, layout)).run()


class _Search:
    """Explores the states in which both agents can be, and keeps those from which the delivery can be reached."""

    def __init__(self, work: Workflow) -> None:
        self._work = work
        self._counters = len(work.layout.shared_counters)

    def run(self) -> SearchedReferences:
        start = _State(frozenset(), (None, None))
        graph: dict[_State, list[tuple[int, str, _State]]] = {}
        unvisited = [start]
        while unvisited:
            state = unvisited.pop()
            if state in graph:
                continue
            graph[state] = list(self._moves(state))
            if len(graph) > _MOST_STATES:
                raise BadInputError(f"order {self._work.order} takes too much work: more than {_MOST_STATES:,} states; shorten its recipe")
            unvisited += [target for _, _, target in graph[state]]
        live = self._live(graph)
        if start not in live:
            counters = f"{self._counters} shared counter{'s' if self._counters > 1 else ''}"
            raise BadInputError(f"order {self._work.order} cannot be delivered in this kitchen: with {counters} every way ends before it")
        ordered = sorted(live, key=self._actions_done)
        number = {state: index for index, state in enumerate(ordered)}
        edges = tuple(
            tuple(_Edge(agent, action, number[target]) for agent, action, target in graph[state] if target in number) for state in ordered
        )
        lengths = [sum(len(unit.actions) for unit in self._work.of(agent)) for agent in (0, 1)]
        return SearchedReferences(edges, (lengths[0], lengths[1]))

    def _actions_done(self, state: _State) -> int:
        return sum(len(self._work.units[name].actions) for name in state.done) + sum(busy[1] for busy in state.busy if busy)

    def _live(self, graph: dict[_State, list[tuple[int, str, _State]]]) -> set[_State]:
        """States from which every unit can be finished: all others are dead ends."""
        live: set[_State] = set()
        for state in sorted(graph, key=self._actions_done, reverse=True):
            if len(state.done) == len(self._work.units) or any(target in live for _, _, target in graph[state]):
                live.add(state)
        return live

    def _moves(self, state: _State) -> Iterator[tuple[int, str, _State]]:
        for agent in (0, 1):
            busy = state.busy[agent]
            if busy is not None:
                unit = self._work.units[busy[0]]
                if unit.actions[busy[1]] != PLACE or self._counters_taken(state) < self._counters:
                    yield self._step(state, agent, unit, busy[1])
                continue
            for unit in self._work.of(agent):
                if unit.name not in state.done and self._may_begin(state, unit):
                    yield self._step(state, agent, unit, 0)

    def _may_begin(self, state: _State, unit: WorkUnit) -> bool:
        if not set(unit.after) <= state.done:
            return False
        goes_back = unit.frees == unit.occupies  # what is taken out is put in again: the utensil need not be empty before
        return unit.occupies is None or goes_back or self._in_use(state, unit.occupies) in (None, unit.product)

    def _counters_taken(self, state: _State) -> int:
        """Shared counters with something on them: an item leaves one with the first action of the unit that takes it."""
        begun = state.done | {busy[0] for busy in state.busy if busy}
        return len([name for name in state.done if self._work.units[name].counters > 0]) - len(
            [name for name in begun if self._work.units[name].counters < 0]
        )

    def _in_use(self, state: _State, utensil: str) -> str | None:
        """What a utensil is being used for; None while it is empty and nobody is on the way to it."""
        under_way = {busy[0] for busy in state.busy if busy}
        for name, unit in self._work.units.items():
            if unit.occupies == utensil and (name in state.done or name in under_way) and not self._freed(state, unit):
                return unit.product
        return None

    def _freed(self, state: _State, unit: WorkUnit) -> bool:
        """Whether what this unit put in has been taken out again."""
        under_way = {busy[0] for busy in state.busy if busy}
        start = f"start {unit.product}"
        return any(
            other.frees == unit.occupies and start in other.after and (name in state.done or name in under_way)
            for name, other in self._work.units.items()
        )

    def _step(self, state: _State, agent: int, unit: WorkUnit, place: int) -> tuple[int, str, _State]:
        finished = place + 1 == len(unit.actions)
        busy = list(state.busy)
        busy[agent] = None if finished else (unit.name, place + 1)
        done = state.done | {unit.name} if finished else state.done
        return agent, unit.actions[place], _State(done, (busy[0], busy[1]))
