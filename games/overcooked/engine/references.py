"""The work that an order takes, and its reference trajectories.

The recipe and each agent's reach divide an order into units of work (`workflow`). A reference is a pair of action sequences, one an agent,
in which every unit is done once and nothing else. The search walks the product of both agents' progress: what is done, what is in which
utensil, how many of the shared counters are taken. Every way through it that ends with the delivery is a reference. There are far too
many pairs to list, so questions about them are answered on the graph of states: whether a sequence is one of an agent's references
(`is_reference`), and how far the best of them was followed (`longest_match`).

The published files hold only references in which the main ingredient is worked on first, the dish comes last, and the items reach the
last utensil in the order in which they are passed (formats/overcooked.md, section 3.1).

For one agent's own sequences (`OwnSequences`), states that its own actions cannot distinguish are merged. Its actions may be mixed with
others, so an agent can be in many states at once: in each to which some of its actions, in order, lead. These are the bits of a number.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import permutations
from typing import Final, NamedTuple

from games.overcooked.engine.actions import Trajectory
from games.overcooked.engine.layout import DELIVER, DISH, DISH_DISPENSER, INGREDIENT_DISPENSER, PLACE, Layout, kitchen
from schemas.common.errors import BadInputError


class WorkUnit(NamedTuple):
    """Work that is done in one go, with something in the hand between its actions."""

    name: str
    agent: int
    actions: tuple[str, ...]
    """Without blanks; all but the last leave the agent's hand full, except single actions."""
    after: tuple[str, ...]
    """Names of the units that must be done before."""
    occupies: str | None = None
    """A utensil that is this unit's product's from here on; nothing else may be put in before it is freed."""
    frees: str | None = None
    """The utensil that is empty again afterwards."""
    product: str | None = None
    """What the occupied utensil is to make."""
    counters: int = 0
    """Shared counters that it fills (1) or empties (-1)."""


@dataclass(frozen=True, slots=True)
class Workflow:
    """All units of an order, by name, inputs before what is made of them."""

    order: str
    units: dict[str, WorkUnit]
    layout: Layout

    def of(self, agent: int) -> tuple[WorkUnit, ...]:
        """The units of one agent."""
        return tuple(unit for unit in self.units.values() if unit.agent == agent)


@cache
def workflow(order: str, layout: Layout | None = None) -> Workflow:
    """Work out who has to do what for an order in a kitchen; None: the benchmark's."""
    if layout is kitchen():
        return workflow(order)
    return _Planner(layout or kitchen(), order).plan()


class _Planner:
    """Walks a recipe from the order down to raw ingredients."""

    def __init__(self, layout: Layout, order: str) -> None:
        self._layout = layout
        self._order = order
        self._made_in = {product: utensil for utensil in layout.utensils.values() for product in utensil.makes}
        self._owner = {name: agent for agent in (1, 0) for name in layout.reaches[agent]}

    def plan(self) -> Workflow:
        utensil = self._made_in[self._order]
        units = [*self._made(self._order)]
        start = f"start {self._order}"
        if self._layout.needs_dish[self._order]:
            units.append(WorkUnit(f"pass {DISH}", 1, (f"pickup({DISH},{DISH_DISPENSER})", PLACE), (), counters=1))
            last = (f"pickup({DISH},counter)", f"fill_dish_with_food({utensil.name})", DELIVER)
            units.append(WorkUnit("deliver", 0, last, (start, f"pass {DISH}"), frees=utensil.name, counters=-1))
        else:
            units.append(WorkUnit("deliver", 0, (f"pickup({self._order},{utensil.name})", DELIVER), (start,), frees=utensil.name))
        return Workflow(self._order, {unit.name: unit for unit in units}, self._layout)

    def _made(self, product: str) -> Iterator[WorkUnit]:
        """The units that end with the utensil started that makes the product."""
        utensil = self._made_in[product]
        inserts: list[str] = []
        for item in utensil.makes[product]:
            for unit in self._brought(item, utensil.name, product):
                inserts.append(unit.name)
                yield unit
        works = tuple(name for name in inserts if name.startswith(f"put {utensil.name}"))
        yield WorkUnit(f"start {product}", self._owner[utensil.name], (f"{utensil.operation}({utensil.name})",), works)

    def _brought(self, item: str, utensil: str, product: str) -> Iterator[WorkUnit]:
        """The units that end with an item in a utensil."""
        before: tuple[str, ...] = ()
        freed: str | None = None
        source, maker = INGREDIENT_DISPENSER, self._owner[INGREDIENT_DISPENSER]
        if item in self._made_in:
            yield from self._made(item)
            source = freed = self._made_in[item].name
            before, maker = (f"start {item}",), self._owner[source]
        agent = self._owner[utensil]
        put = f"put_obj_in_utensil({utensil})"
        name = f"put {utensil} {item}"
        if maker == agent:
            yield WorkUnit(name, agent, (f"pickup({item},{source})", put), before, utensil, freed, product)
            return
        yield WorkUnit(f"pass {item}", maker, (f"pickup({item},{source})", PLACE), before, frees=freed, counters=1)
        yield WorkUnit(name, agent, (f"pickup({item},counter)", put), (f"pass {item}",), utensil, None, product, -1)


START: Final = 1
"""Position of an agent that has done nothing."""


class Edge(NamedTuple):
    """An action of either agent, and the state of both to which it leads."""

    agent: int
    action: str
    target: int


@dataclass(frozen=True, slots=True)
class OwnSequences:
    """All sequences of an agent, as a graph without cycles whose states are ordered by how many actions lead there."""

    done: tuple[int, ...]
    """Of each state how many actions of the agent lead there."""
    following: tuple[Mapping[str, int], ...]
    """Of each state the actions that may come next, and the states to which they lead."""
    leads: Mapping[str, Sequence[tuple[int, int]]]
    """Of each action the bits of the states before and after it."""

    def after(self, reached: int, action: str) -> int:
        """Position of an agent after one more action."""
        found = reached
        for before, behind in self.leads.get(action, ()):
            if reached & before:
                found |= behind
        return found

    def after_all(self, actions: Iterable[str], reached: int = START) -> int:
        """Position of an agent that has done these actions too."""
        for action in actions:
            reached = self.after(reached, action)
        return reached

    def longest(self, reached: int) -> int:
        """How many actions of the best sequence have been done: D_max."""
        return self.done[reached.bit_length() - 1]

    def next_actions(self, reached: int) -> tuple[str, ...]:
        """The actions that would make the longest match longer by one, sorted."""
        best, found = self.longest(reached), set[str]()
        state = reached.bit_length() - 1
        while state >= 0 and self.done[state] == best:
            if reached >> state & 1:
                found.update(self.following[state])
            state -= 1
        return tuple(sorted(found))

    def count(self) -> int:
        """How many different sequences there are."""
        ways = [1, *(0 for _ in self.done[1:])]
        for state, following in enumerate(self.following):
            for target in following.values():
                ways[target] += ways[state]
        return sum(number for number, following in zip(ways, self.following, strict=True) if not following)


def own_sequences(edges: Sequence[Sequence[Edge]], agent: int) -> OwnSequences:
    """Merge the states of both, from each of which its edges lead; state 0 is the beginning."""
    start = _partner_moves(edges, agent, {0})
    number = {start: 0}
    done: list[int] = [0]
    following: list[dict[str, int]] = []
    leads: dict[str, list[tuple[int, int]]] = {}
    for place, states in enumerate(merged := [start]):
        own: dict[str, int] = {}
        found: dict[str, set[int]] = {}
        for state in states:
            for edge in edges[state]:
                if edge.agent == agent:
                    found.setdefault(edge.action, set()).add(edge.target)
        for action, targets in found.items():
            after = _partner_moves(edges, agent, targets)
            if after not in number:
                number[after] = len(merged)
                merged.append(after)
                done.append(done[place] + 1)
            own[action] = number[after]
            leads.setdefault(action, []).append((1 << place, 1 << number[after]))
        following.append(own)
    return OwnSequences(tuple(done), tuple(following), leads)


def _partner_moves(edges: Sequence[Sequence[Edge]], agent: int, states: set[int]) -> frozenset[int]:
    """The states that the partner alone can bring about from any of these, these included."""
    found, unvisited = set(states), list(states)
    while unvisited:
        for edge in edges[unvisited.pop()]:
            if edge.agent != agent and edge.target not in found:
                found.add(edge.target)
                unvisited.append(edge.target)
    return frozenset(found)


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


@dataclass(frozen=True, eq=False)
class SearchedReferences:
    """All references of an order, as a graph without cycles: nodes are numbered so that edges lead to larger numbers."""

    edges: tuple[tuple[Edge, ...], ...]
    """From each state; state 0 is the beginning, the last one the delivery."""
    lengths: tuple[int, int]
    """Actions of Chef and Assistant in any of them."""

    @cached_property
    def own(self) -> tuple[OwnSequences, OwnSequences]:
        """The references of Chef and Assistant, each on its own."""
        return own_sequences(self.edges, 0), own_sequences(self.edges, 1)

    def longest_match(self, agent: int, done: Trajectory) -> int:
        """Give D_max of what an agent did against the best of its references, in actions."""
        return self.own[agent].longest(self.own[agent].after_all(done))

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
        """Give how many different action sequences of one agent there are."""
        return self.own[agent].count()


@cache
def searched_references(order: str, layout: Layout | None = None) -> SearchedReferences:
    """Find all references of an order in a kitchen; None: the benchmark's.

    Raises:
        BadInputError: no way leads to the delivery, or there are too many states to search.
    """
    if layout is kitchen():
        return searched_references(order)
    return _Search(workflow(order, layout)).run()


class _State(NamedTuple):
    """How far both are."""

    done: int
    """Units finished by either, as bits."""
    busy: tuple[tuple[int, int] | None, tuple[int, int] | None]
    """Per agent the unit under way and how many of its actions are done."""


class _Unit(NamedTuple):
    """A unit of work; other units are bits."""

    bit: int
    agent: int
    actions: tuple[str, ...]
    after: int
    """What must be done before."""
    utensil: str | None
    """What must be empty, or in use for the same product, when it begins; None also where what is taken out is put in again."""
    product: str | None


class _Use(NamedTuple):
    """A unit that occupies a utensil."""

    begins: int
    ends: int
    """Units any of which takes out what is made there of what this one puts in."""
    product: str | None


class _Search:
    """Explores the states in which both agents can be, and stores those from which the delivery can be reached."""

    def __init__(self, work: Workflow) -> None:
        self._work = work
        self._counters = len(work.layout.shared_counters)
        self._bits = {name: 1 << place for place, name in enumerate(work.units)}
        self._units = [self._unit(unit) for unit in work.units.values()]
        self._of = [[(place, unit) for place, unit in enumerate(self._units) if unit.agent == agent] for agent in (0, 1)]
        self._uses = {name: self._uses_of(name) for name in work.layout.utensils}
        self._puts = self._mask(unit for unit in work.units.values() if unit.counters > 0)
        self._takes = self._mask(unit for unit in work.units.values() if unit.counters < 0)

    def _unit(self, unit: WorkUnit) -> _Unit:
        goes_back = unit.frees == unit.occupies  # what is taken out is put in again: the utensil need not be empty before
        after = self._mask(other for other in self._work.units.values() if other.name in unit.after)
        return _Unit(self._bits[unit.name], unit.agent, unit.actions, after, None if goes_back else unit.occupies, unit.product)

    def _uses_of(self, utensil: str) -> list[_Use]:
        units = self._work.units.values()
        takers = {unit.name: [one for one in units if one.frees == utensil and f"start {unit.product}" in one.after] for unit in units}
        return [_Use(self._bits[unit.name], self._mask(takers[unit.name]), unit.product) for unit in units if unit.occupies == utensil]

    def _mask(self, units: Iterable[WorkUnit]) -> int:
        return sum(self._bits[unit.name] for unit in units)

    def run(self) -> SearchedReferences:
        """Find them; states are explored in order of the actions that lead there, so that all edges lead to later ones."""
        start = _State(0, (None, None))
        graph: dict[_State, list[tuple[int, str, _State]]] = {start: []}
        for state in (found := [start]):
            graph[state] = list(self._moves(state))
            for _, _, target in graph[state]:
                if target not in graph:
                    graph[target] = []
                    found.append(target)
            if len(found) > _MOST_STATES:
                raise BadInputError(f"order {self._work.order} takes too much work: more than {_MOST_STATES:,} states; shorten its recipe")
        live: set[_State] = set()
        """States from which every unit can be finished: all others are dead ends."""
        for state in reversed(graph):
            if state.done == sum(self._bits.values()) or any(target in live for _, _, target in graph[state]):
                live.add(state)
        if start not in live:
            counters = f"{self._counters} shared counter{'s' if self._counters > 1 else ''}"
            raise BadInputError(f"order {self._work.order} cannot be delivered in this kitchen: with {counters} every way ends before it")
        ordered = [state for state in graph if state in live]
        number = {state: index for index, state in enumerate(ordered)}
        edges = tuple(
            tuple(Edge(agent, action, number[target]) for agent, action, target in graph[state] if target in number) for state in ordered
        )
        lengths = [sum(len(unit.actions) for unit in self._work.of(agent)) for agent in (0, 1)]
        return SearchedReferences(edges, (lengths[0], lengths[1]))

    def _moves(self, state: _State) -> Iterator[tuple[int, str, _State]]:
        begun = state.done | sum(self._units[busy[0]].bit for busy in state.busy if busy)
        for agent, busy in enumerate(state.busy):
            if busy is not None:
                unit = self._units[busy[0]]
                # an item leaves a shared counter with the first action of the unit that takes it
                taken = (state.done & self._puts).bit_count() - (begun & self._takes).bit_count()
                if unit.actions[busy[1]] != PLACE or taken < self._counters:
                    yield _step(state, unit, *busy)
                continue
            for place, unit in self._of[agent]:
                if not state.done & unit.bit and self._may_begin(state.done, begun, unit):
                    yield _step(state, unit, place, 0)

    def _may_begin(self, done: int, begun: int, unit: _Unit) -> bool:
        if unit.after & ~done:
            return False
        return unit.utensil is None or self._in_use(begun, unit.utensil) in (None, unit.product)

    def _in_use(self, begun: int, utensil: str) -> str | None:
        """What a utensil is being used for; None while it is empty and no agent is on the way to it."""
        return next((use.product for use in self._uses[utensil] if begun & use.begins and not begun & use.ends), None)


def _step(state: _State, unit: _Unit, place: int, begun: int) -> tuple[int, str, _State]:
    finished = begun + 1 == len(unit.actions)
    own = None if finished else (place, begun + 1)
    busy = (own, state.busy[1]) if unit.agent == 0 else (state.busy[0], own)
    return unit.agent, unit.actions[begun], _State(state.done | unit.bit if finished else state.done, busy)
