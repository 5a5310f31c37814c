"""Labels of an agent's turn that a rule decides (format description, section 9; a proposal, not in the paper).

Every label here is given by rule. `assumes_shared_view` needs a judge (judges/asympuzl/rubrics/asympuzl_failures.yaml).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args

from games.asympuzl.facts import Facts, color_words, read_facts, shape_words
from games.asympuzl.puzzle import COLORS, Agent, Entry, Puzzle, Vocabulary, other, wrong_positions

Label = Literal[
    "no_json",
    "invalid_action",
    "repeated_message",
    "ignored_partner",
    "overcorrection",
    "wasted_write",
    "correction_spiral",
    "out_of_knowledge_claim",
    "wrong_statement",
    "sufficient_message",
]

FAILURES: Final[tuple[Label, ...]] = tuple(label for label in get_args(Label) if label != "sufficient_message")
"""The labels of something that went wrong."""

_SPIRAL_TURNS: Final = 4
_SPIRAL_CHANGES: Final = 3


@dataclass(frozen=True, slots=True)
class Move:
    """An action of a turn as far as the labels look at it."""

    position: int | None
    """From 1; None if the action names none."""
    fault: str | None
    """Why it is not valid; None if it is."""
    changed: bool
    takes_back: bool
    """It makes a right entry wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneTurn:
    """A turn of an agent."""

    agent: Agent
    turn: int
    parse_ok: bool
    message: str
    moves: tuple[Move, ...]
    before: tuple[Entry, ...]
    after: tuple[Entry, ...]
    read: Facts | None = None
    """What somebody else understood the message to state; None: read by sentence patterns."""

    def facts(self, words: Vocabulary) -> Facts:
        """What the message states."""
        return read_facts(self.message, words, self.agent) if self.read is None else self.read


class FoundLabel(NamedTuple):
    """A label and what it rests on."""

    label: Label
    evidence: str


def labels_of(history: Sequence[DoneTurn], puzzle: Puzzle) -> list[FoundLabel]:
    """The labels of the last turn in the history, which has the turns of both agents in the order of play."""
    now = history[-1]
    own, heard = _of(history, now.agent), _of(history[:-1], other(now.agent))
    faults = [move.fault for move in now.moves if move.fault is not None]
    idle = [move.position for move in now.moves if move.fault is None and not move.changed]
    repeats = own[:-1] and _bare(now.message) == _bare(own[-2].message)
    recent = own[-_SPIRAL_TURNS:]
    changes = [move.position for turn in recent for move in turn.moves if move.changed]
    again = [place for place in wrong_positions(recent[-1].after, puzzle.truth) if changes.count(place) >= _SPIRAL_CHANGES]
    counted = (f"{place} ({changes.count(place)} changes)" for place in again)
    evidence: dict[Label, str | None] = {
        "no_json": None if now.parse_ok else "no JSON object with message or actions",
        "invalid_action": f"actions refused: {', '.join(faults)}" if faults else None,
        "repeated_message": f"the same as in turn {own[-2].turn}" if repeats else None,
        "ignored_partner": _ignored_partner(now, heard, puzzle),
        "overcorrection": _overcorrection(now, heard, puzzle),
        "wasted_write": f"writes what stood there already at {', '.join(map(str, idle))}" if idle else None,
        "correction_spiral": (f"changed again and again and still wrong: {', '.join(counted)}" if again else None),
        "out_of_knowledge_claim": _out_of_knowledge_claim(now, heard, puzzle),
        "wrong_statement": _wrong_statement(now, puzzle),
        "sufficient_message": _sufficient_message(now, puzzle),
    }
    return [FoundLabel(label, found) for label, found in evidence.items() if found is not None]


def _ignored_partner(now: DoneTurn, heard: Sequence[DoneTurn], puzzle: Puzzle) -> str | None:
    if not heard or heard[-1].facts(puzzle.spoken).unread:  # it may take back what it states
        return None
    facts = heard[-1].facts(puzzle.vocabulary)
    stated = _contradicted_order if now.agent == "B" else _contradicted_colors
    ignored = stated(facts, now.before, puzzle) & stated(facts, now.after, puzzle)
    return f"was told, and it is true: {', '.join(sorted(ignored))}" if ignored else None


def _contradicted_order(facts: Facts, hypothesis: Sequence[Entry], puzzle: Puzzle) -> set[str]:
    true = {(place, shape) for place, shape in facts.order if puzzle.truth[place - 1].shape == shape}
    return {f"position {place} is {shape}" for place, shape in true if hypothesis[place - 1].shape != shape}


def _contradicted_colors(facts: Facts, hypothesis: Sequence[Entry], puzzle: Puzzle) -> set[str]:
    """An unknown color counts: an agent that received a color and leaves it open has not taken it in."""
    true = facts.colors & {(entry.shape, entry.color) for entry in puzzle.truth}
    return {f"{shape} is {color}" for shape, color in true if any(entry.shape == shape and entry.color != color for entry in hypothesis)}


def _overcorrection(now: DoneTurn, heard: Sequence[DoneTurn], puzzle: Puzzle) -> str | None:
    """What the partner's latest message stated, or may have, is not the writer's fault: the message is wrong (`wrong_statement`)."""
    facts = heard[-1].facts(puzzle.spoken) if heard else Facts()
    if facts.unread:
        return None
    positions = sorted(place for place in taken_back(now) if not _is_stated(facts, place, now.after[place - 1], now.agent))
    return f"right entries made wrong at {', '.join(map(str, positions))}" if positions else None


def taken_back(done: DoneTurn) -> set[int]:
    """Positions at which an agent made a right entry wrong."""
    return {move.position for move in done.moves if move.takes_back and move.position is not None}


def _is_stated(facts: Facts, place: int, entry: Entry, agent: Agent) -> bool:
    """Whether the partner stated what an agent has at a position."""
    if agent == "B":
        return (place, entry.shape) in facts.order
    return (entry.shape, entry.color) in facts.colors or (place, entry.color) in facts.places


def contradicts(facts: Facts, position: int, puzzle: Puzzle, speaker: Agent) -> bool:
    """Whether a message states something else about a position, or of what belongs there, than the speaker's clues have."""
    belongs = puzzle.truth[position - 1]
    if speaker == "A":
        return any((place == position) != (shape == belongs.shape) for place, shape in facts.order)
    named = [(shape == belongs.shape, color == belongs.color) for shape, color in facts.colors]
    named += [(place == position, color == belongs.color) for place, color in facts.places]
    return any(is_here != is_its_color for is_here, is_its_color in named)


def _wrong_statement(now: DoneTurn, puzzle: Puzzle) -> str | None:
    """Only of a message that was understood whole: another clause may take a statement back."""
    facts = now.facts(puzzle.spoken)
    if facts.unread:
        return None
    if now.agent == "A":
        right = set(enumerate((entry.shape for entry in puzzle.clues_a), start=1))
        wrong = sorted(f"position {place} is {shape}" for place, shape in facts.order - right)
    else:
        wrong = sorted(f"{shape} is {color}" for shape, color in facts.colors if Entry(shape, color) not in puzzle.clues_b)
    return f"stated against its own clues: {', '.join(wrong)}" if wrong else None


def _out_of_knowledge_claim(now: DoneTurn, heard: Sequence[DoneTurn], puzzle: Puzzle) -> str | None:
    # A does not know which colors are in play, so one that is not in play is a claim too.
    words = puzzle.vocabulary._replace(colors=puzzle.vocabulary.colors.union(COLORS))
    facts = now.facts(words)
    if now.agent == "A":
        known = {color for turn in heard for color in color_words(turn.message, words)}
        news = {color for _, color in (*facts.colors, *facts.places)} - known
        return f"colors that B has not named: {', '.join(sorted(news))}" if news else None
    read = [turn.facts(puzzle.vocabulary) for turn in heard]
    stated = {fact for found in read for fact in found.order}
    # A shape that A spoke of in words that could not be read may well have been placed by A.
    unread = {
        shape
        for turn, found in zip(heard, read, strict=True)
        for shape in shape_words(turn.message, puzzle.vocabulary) - {shape for _, shape in found.order}
    }
    own = set(enumerate((entry.shape for entry in puzzle.clues_b), start=1))  # a numbered list of its clues claims no order
    claims = sorted((place, shape) for place, shape in facts.order - stated - own if shape not in unread)
    return f"an order that A has not told: {', '.join(f'{place} {shape}' for place, shape in claims)}" if claims else None


def _sufficient_message(now: DoneTurn, puzzle: Puzzle) -> str | None:
    facts = now.facts(puzzle.vocabulary)
    if now.agent == "A":
        right = {(place, entry.shape) for place, entry in enumerate(puzzle.truth, start=1)}
        return "gives the right shape of every position" if right <= facts.order else None
    return "gives the right color of every shape" if {(e.shape, e.color) for e in puzzle.truth} <= facts.colors else None


def _of(history: Sequence[DoneTurn], agent: Agent) -> list[DoneTurn]:
    return [turn for turn in history if turn.agent == agent]


def _bare(message: str) -> str:
    return re.sub(r"[\W_]+", "", message.lower())
