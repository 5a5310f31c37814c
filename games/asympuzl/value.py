"""The fewest turns an AsymPuzl game still needs, and what each player could already conclude.

The definition is cotrace's own, in the manner of formats/values.md. In one turn each player can write everything it knows. B hears A before
it writes, so B never needs more than this turn; A hears B a turn later. What a player can conclude it has from its clues, from the messages
of its partner that it is shown (the last ones, by the history length), and from what is right in its own hypothesis. Facts are read
from messages by `games.asympuzl.facts`. What that cannot read may have stated anything: then the value is a bound from below.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from games.asympuzl.facts import Facts, read_facts
from games.asympuzl.puzzle import Agent, Entry, Puzzle, other


class Standing(NamedTuple):
    """A game between two turns."""

    hypotheses: Mapping[Agent, tuple[Entry, ...]]
    shown: Mapping[Agent, Sequence[str]]
    """Agent -> those of its messages that its partner is still shown."""


class TurnsLeft(NamedTuple):
    """Turns to the end, this one included."""

    hands: int
    """For players who know everything: 0 or 1."""
    know: int
    """For players who know what they received: 0, 1, or 2 where A cannot yet conclude a color that it needs."""
    exact: bool = True
    """Every message that `know` rests on was understood; else it is the least that it can be."""


def turns_left(puzzle: Puzzle, standing: Standing) -> TurnsLeft:
    """Give the turns left between two turns."""
    if all(hypothesis == puzzle.truth for hypothesis in standing.hypotheses.values()):
        return TurnsLeft(0, 0)
    if len(concluded(puzzle, standing, "A")) == puzzle.size:
        return TurnsLeft(1, 1)
    return TurnsLeft(1, 2) if understood(puzzle, standing, "A") else TurnsLeft(1, 1, exact=False)


def understood(puzzle: Puzzle, standing: Standing, agent: Agent) -> bool:
    """Whether every message that the agent is shown was understood, so that what is not in it was not stated."""
    return not any(read_facts(message, puzzle.spoken, other(agent)).unread for message in standing.shown[other(agent)])


def concluded(puzzle: Puzzle, standing: Standing, agent: Agent) -> frozenset[int]:
    """Positions, from 1, that the agent has right or could set right; false and contradictory statements tell nothing."""
    facts = [read_facts(message, puzzle.spoken, other(agent)) for message in standing.shown[other(agent)]]
    hypothesis = standing.hypotheses[agent]
    known = {
        place
        for place, entry in enumerate(puzzle.truth, start=1)
        if hypothesis[place - 1] == entry or (_colors if agent == "A" else _shapes)(facts, place, entry)
    }
    if agent == "B" and len(known) == puzzle.size - 1:  # it knows all pairs: the last one goes to the last place
        return frozenset(range(1, puzzle.size + 1))
    return frozenset(known)


def _colors(facts: Sequence[Facts], place: int, entry: Entry) -> bool:
    """Whether one color was stated for a shape or its place, and it is the right one."""
    stated = {color for fact in facts for shape, color in fact.colors if shape == entry.shape}
    stated |= {color for fact in facts for where, color in fact.places if where == place}
    return stated == {entry.color}


def _shapes(facts: Sequence[Facts], place: int, entry: Entry) -> bool:
    """Whether one shape was stated for a place, and it is the right one."""
    return {shape for fact in facts for where, shape in fact.order if where == place} == {entry.shape}
