"""What became of what AsymPuzl's players told each other: `action_follows` of a game in which nobody asks for actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from games.asympuzl.facts import read_facts
from games.asympuzl.labels import DoneTurn
from games.asympuzl.puzzle import AGENTS, Agent, Entry, Puzzle, other
from judges.asympuzl.history import history_of
from judges.attribution.findings import Follow, How
from judges.evidence.transcript import Transcript

__all__ = ["told_and_written"]


def told_and_written(game: Transcript) -> Iterator[Follow]:
    """Each fact when it is first told, and whether the partner's next answer has it: B's of the same turn, A's of the next one."""
    history = history_of(game)
    for agent in AGENTS:
        known: set[object] = set()
        for view in game.turns:
            said = next((one for one in view.said("public", agent) if not one.superseded), None)
            heard_in = view.turn if agent == "A" else view.turn + 1
            heard = history.until(heard_in, other(agent))
            if said is None or not heard:
                continue
            for text, how, right in _told(history.puzzle, said.text, agent, heard[-1]):
                if text not in known:
                    known.add(text)
                    yield Follow(view.turn, said.seq, agent, other(agent), text, how, right)


def _told(puzzle: Puzzle, message: str, agent: Agent, hearer: DoneTurn) -> Iterator[tuple[str, How, bool]]:
    """Each fact of a message, what the hearer made of it, and whether it is true."""
    facts = read_facts(message, puzzle.spoken, agent)
    if facts.unread:  # another clause may take back or change what this one tells
        return
    for place, shape in sorted(facts.order):
        is_own_list = agent == "B" and puzzle.clues_b[place - 1 : place] and puzzle.clues_b[place - 1].shape == shape
        if 1 <= place <= puzzle.size and not is_own_list:
            was, has = hearer.before[place - 1].shape, hearer.after[place - 1].shape
            yield f"{shape} at position {place}", _how({has}, {was}, shape), puzzle.truth[place - 1].shape == shape
    for shape, color in sorted(facts.colors):
        before, after = _colors(hearer.before, shape), _colors(hearer.after, shape)
        yield f"{shape} is {color}", _how(after, before, color), color in _colors(puzzle.truth, shape)


def _how(after: AbstractSet[str], before: AbstractSet[str], told: str) -> How:
    if told in after:
        return "fully"
    return "no" if after == before else "differs"


def _colors(entries: Sequence[Entry], shape: str) -> set[str]:
    return {entry.color for entry in entries if entry.shape == shape and entry.color is not None}
