"""Whose cost a turn of an AsymPuzl game was.

What a turn had to bring about is a list of positions: that both hypotheses are right at its end or, while A cannot conclude a color, that
it can. Each position that is missing has one broken link: the agent could conclude it and did not set it right, or its partner did not tell
it. An agent's ideal turn writes all that it can conclude and tells all that it knows, so it mends its own positions and no others; the
cost is shared out by positions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from games.asympuzl.facts import Facts, read_facts
from games.asympuzl.labels import DoneTurn
from games.asympuzl.puzzle import AGENTS, Agent, Puzzle, other
from games.asympuzl.value import Standing, concluded
from judges.asympuzl.history import history_of
from judges.asympuzl.told import told_and_written
from judges.attribution.findings import NOTHING, Attributed, Finding, Link, Lost, undecided
from judges.evidence.transcript import Transcript

__all__ = ["MEASURES", "attribute"]

MEASURES: Final = ("asympuzl.know",)

_SHOWN: Final = 1
"""Messages that are shown where the log does not say how many, as in the paper."""


class _Missing(NamedTuple):
    """A position that a turn had to bring about and did not."""

    position: int
    agent: Agent
    link: Link
    evidence: str


class _Turn(NamedTuple):
    """A turn with what came before it."""

    puzzle: Puzzle
    number: int
    done: Mapping[Agent, DoneTurn]
    said: Mapping[Agent, Sequence[str]]
    """Agent -> its messages of the turns before that its partner is shown."""

    shown: int | None


def attribute(transcript: Transcript, lost: Mapping[int, Lost]) -> Attributed:
    """Find what was missing after each turn, and whose it was; see `judges.attribution.findings.Attribute`."""
    history = history_of(transcript)
    shown = transcript.details.get("history_length", _SHOWN)
    said: dict[Agent, list[str]] = {agent: [] for agent in AGENTS}
    findings: list[Finding] = []
    for view in transcript.turns:
        played = {agent: found[-1] for agent in AGENTS if (found := history.until(view.turn, agent))}
        value = lost.get(view.turn)
        if value is not None and len(played) < len(AGENTS) and value.cost > NOTHING:
            findings.append(undecided(view.turn, value.cost, "the turn broke off: only one agent has answered"))
        elif value is not None and len(played) == len(AGENTS):
            turn = _Turn(history.puzzle, view.turn, played, {agent: _last(said[agent], shown) for agent in AGENTS}, shown)
            findings += _of_turn(turn, value)
        for agent, done in played.items():
            said[agent].append(done.message)
    return Attributed(findings, [*told_and_written(transcript)])


def _last(messages: Sequence[str], shown: int | None) -> Sequence[str]:
    return messages if shown is None else messages[max(0, len(messages) - shown) :]


def _of_turn(turn: _Turn, lost: Lost) -> Iterator[Finding]:
    missing = list(_untold(turn) if lost.before > 1 else _unwritten(turn))
    if lost.cost <= NOTHING:
        return
    if not missing:
        yield undecided(turn.number, lost.cost, "nothing that was missing could be read from the messages")
        return
    counts = Counter((found.agent, found.link) for found in missing)
    told = {(found.agent, found.link): found.evidence for found in reversed(missing)}
    alone = len({found.agent for found in missing}) == 1
    for (agent, link), positions in counts.items():
        share = lost.cost * positions / len(missing)
        yield Finding(turn.number, agent, link, share, f"{told[agent, link]}; {_count(positions)} missing", share if alone else None)


def _count(positions: int) -> str:
    return "1 position was" if positions == 1 else f"{positions} positions were"


def _standing(turn: _Turn, *, hears: bool) -> Standing:
    """Before the turn or, for B, who hears A's new message before it writes, with that message."""
    said = dict(turn.said)
    if hears:
        said["A"] = _last([*turn.said["A"], turn.done["A"].message], turn.shown)
    return Standing({agent: done.before for agent, done in turn.done.items()}, said)


def _unwritten(turn: _Turn) -> Iterator[_Missing]:
    """Positions that are wrong after a turn in which they could be right."""
    for agent in AGENTS:
        done, known = turn.done[agent], concluded(turn.puzzle, _standing(turn, hears=agent == "B"), agent)
        for position, (has, belongs) in enumerate(zip(done.after, turn.puzzle.truth, strict=True), start=1):
            if has != belongs:
                could = position in known and (agent == "A" or _told(turn, position))
                yield _slip(turn, agent, position) if could else _silence(turn, other(agent), position)


def _told(turn: _Turn, position: int) -> bool:
    """Whether A told B the shape of a position, and no other, so that B need not work it out from all the others."""
    said, belongs = _standing(turn, hears=True).shown["A"], turn.puzzle.truth[position - 1]
    told = {shape for message in said for place, shape in read_facts(message, turn.puzzle.vocabulary, "A").order if place == position}
    return told == {belongs.shape} or turn.done["B"].before[position - 1] == belongs


def _untold(turn: _Turn) -> Iterator[_Missing]:
    """Positions whose color A cannot conclude after a turn in which B could tell it."""
    said = {agent: _last([*turn.said[agent], done.message], turn.shown) for agent, done in turn.done.items()}
    after = Standing({agent: done.after for agent, done in turn.done.items()}, said)
    known, knew = concluded(turn.puzzle, after, "A"), concluded(turn.puzzle, _standing(turn, hears=False), "A")
    for position in range(1, turn.puzzle.size + 1):
        if position not in known:
            yield _slip(turn, "A", position) if position in knew else _silence(turn, "B", position)


def _slip(turn: _Turn, agent: Agent, position: int) -> _Missing:
    """An agent who could conclude a position and has it wrong."""
    done, belongs = turn.done[agent], turn.puzzle.truth[position - 1]
    was, has = done.before[position - 1], done.after[position - 1]
    if not done.parse_ok or any(move.fault for move in done.moves if move.position in (None, position)):
        return _Missing(position, agent, "format", f"position {position}: its answer, or an action in it, cannot be read")
    stands = f"position {position} has {has.shape} {has.color or 'without color'}, and {belongs.shape} {belongs.color} could be concluded"
    if was == belongs:
        return _Missing(position, agent, "acted_wrong", f"{stands}: it was right before")
    return _Missing(position, agent, "misread" if has != was else "not_heard", f"{stands} from what {other(agent)} had told")


def _silence(turn: _Turn, agent: Agent, position: int) -> _Missing:
    """An agent whose partner could not conclude a position."""
    done, belongs = turn.done[agent], turn.puzzle.truth[position - 1]
    facts = read_facts(done.message, turn.puzzle.vocabulary, agent)
    known = f"{belongs.shape} at position {position}" if agent == "A" else f"{belongs.shape} is {belongs.color}"
    if _contradicts(facts, position, turn.puzzle):
        return _Missing(position, agent, "said_wrong", f'its clues have {known}; it wrote "{done.message}"')
    if not done.parse_ok:
        return _Missing(position, agent, "format", f"its clues have {known}, and its answer cannot be read")
    return _Missing(position, agent, "not_said", f'its clues have {known}; it wrote "{done.message}"')


def _contradicts(facts: Facts, position: int, puzzle: Puzzle) -> bool:
    """Whether a message says something else of the position or its shape than is true."""
    belongs = puzzle.truth[position - 1]
    told: set[tuple[object, object]] = {("shape", shape) for place, shape in facts.order if place == position}
    told |= {("color", color) for shape, color in facts.colors if shape == belongs.shape}
    told |= {("color", color) for place, color in facts.places if place == position}
    return any(told_of not in (("shape", belongs.shape), ("color", belongs.color)) for told_of in told)
