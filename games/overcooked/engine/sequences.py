"""The references of one agent: the sequences of its own actions, whatever its partner does meanwhile.

States of both that an agent cannot tell apart by its own actions are merged. What an agent has done may hold other actions too, so
that it stands in many states at once: in each to which some of its actions, in order, lead. These are the bits of a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

START: Final = 1
"""Where an agent stands that has done nothing."""


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
        """Where an agent stands when it has done an action more."""
        found = reached
        for before, behind in self.leads.get(action, ()):
            if reached & before:
                found |= behind
        return found

    def after_all(self, actions: Iterable[str], reached: int = START) -> int:
        """Where an agent stands that has done these actions too."""
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
        for action, targets in _own_moves(edges, agent, states).items():
            after = _partner_moves(edges, agent, targets)
            if after not in number:
                number[after] = len(merged)
                merged.append(after)
                done.append(done[place] + 1)
            own[action] = number[after]
            leads.setdefault(action, []).append((1 << place, 1 << number[after]))
        following.append(own)
    return OwnSequences(tuple(done), tuple(following), leads)


def _own_moves(edges: Sequence[Sequence[Edge]], agent: int, states: Iterable[int]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for state in states:
        for edge in edges[state]:
            if edge.agent == agent:
                found.setdefault(edge.action, set()).add(edge.target)
    return found


def _partner_moves(edges: Sequence[Sequence[Edge]], agent: int, states: set[int]) -> frozenset[int]:
    """The states that the partner alone can bring about from any of these, these included."""
    found, unvisited = set(states), list(states)
    while unvisited:
        for edge in edges[unvisited.pop()]:
            if edge.agent != agent and edge.target not in found:
                found.add(edge.target)
                unvisited.append(edge.target)
    return frozenset(found)
