"""Builders as data: how they choose a move, when they ask back, and what goes wrong in their lines.

A builder knows the board, the candidates (oracle condition) and what this turn's messages say; the
messages reach it as instructions, so that its understanding is planted and never depends on wording.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Final

from games.craft.engine.board import CELLS, COLORS, MAX_HEIGHT, Board, Director
from games.craft.engine.rules import Move
from games.craft.players.sight import Instruction, Verb
from games.craft.players.speech import LINE_SLIPS, MOVE_SLIPS, SlipScene, confirmation, wording
from games.craft.text.replies import builder_line


@dataclass(frozen=True, slots=True)
class MessageReading:
    """What one message asks for."""

    director: Director
    request: Instruction

    @property
    def followed(self) -> Director | None:
        """Who is followed by whoever carries it out; None where it names no cell: then the builder guesses."""
        return self.director if self.request.cell is not None else None


@dataclass(frozen=True, slots=True)
class Situation:
    """What the builder has before it."""

    board: Board
    listed: tuple[Move, ...]
    readings: tuple[MessageReading, ...]
    """One a director whose message asks for something, in order of speaking."""


@dataclass(frozen=True, slots=True)
class IntendedMove:
    """The move a builder has in mind."""

    move: Move
    followed: Director | None
    """Whose message it carries out; None if it guesses."""


@dataclass(frozen=True, slots=True)
class BuilderDecision:
    """The builder's answer and what is planted in it."""

    line: str
    choice: IntendedMove | None
    """None for a question."""
    slips: tuple[str, ...] = ()


Policy = Callable[[Situation, random.Random], IntendedMove]


def _follow_candidates(situation: Situation, rng: random.Random) -> IntendedMove:
    """Take the candidate that a message fits best; without one, do what the messages say."""
    fits = [
        (_agreement(reading.request, move), reading, move)
        for reading in situation.readings
        for move in situation.listed
        if replace(reading.request, size=None, span_to=None).allows(move) and _agreement(reading.request, move) > 0
    ]
    if fits:
        best = max(fit[0] for fit in fits)
        _, reading, move = rng.choice([fit for fit in fits if fit[0] == best])
        return IntendedMove(move, reading.followed)
    placed = [reading.request.verb for reading in situation.readings if reading.request.cell is not None]
    trust = max((_TRUST[verb] for verb in placed), default=0.0)
    unasked = [move for move in situation.listed if move.action == "place" or "remove" in placed]
    if unasked and rng.random() >= trust:
        return IntendedMove(rng.choice(unasked), None)
    return _do_as_requested(situation, rng)


_TRUST: Final[dict[Verb, float]] = {"place": 0.2, "remove": 0.6}
"""Chance that a message wins against a list of candidates that it does not fit: what is wrong need not be listed."""


def _agreement(request: Instruction, move: Move) -> int:
    block = move.block or ""
    pairs = (
        (request.color, block[:1]),
        (request.size, block[1:]),
        (request.layer, move.layer),
        (request.cell, request.cell),
        (request.span_to, move.span_to),
    )
    return sum(given is not None and given == is_ for given, is_ in pairs)


def _do_as_requested(situation: Situation, rng: random.Random) -> IntendedMove:
    """Carry out the most definite message word for word; what it leaves open is guessed."""
    if not situation.readings:
        return IntendedMove(_filled(Instruction("place", None, None, None, None), situation, rng), None)
    most = max(reading.request.definiteness for reading in situation.readings)
    reading = rng.choice([reading for reading in situation.readings if reading.request.definiteness == most])
    return IntendedMove(_filled(reading.request, situation, rng), reading.followed)


def _filled(request: Instruction, situation: Situation, rng: random.Random) -> Move:
    heights = {cell: situation.board.height(cell) for cell in CELLS}
    fitting = [cell for cell in CELLS if (heights[cell] < MAX_HEIGHT if request.verb == "place" else heights[cell])]
    cell = request.cell or rng.choice(fitting or list(CELLS))
    if request.verb == "remove":
        layer = max(heights[cell] - 1, 0) if request.layer is None else request.layer
        return Move("remove", request.block, cell, layer, request.span_to)
    layer = heights[cell] if request.layer is None else request.layer
    block = (request.color or rng.choice(list(COLORS))) + (request.size or "s")
    return Move("place", block, cell, layer, request.span_to)


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder:
    """A scripted builder."""

    policy: Policy
    slips: Mapping[str, float] = field(default_factory=dict)
    """Slip name -> chance a turn; the first that comes up and can happen is made."""
    asks: float = 0.0
    """Chance to ask back when no message is complete or two disagree about a place."""

    def decide(self, situation: Situation, rng: random.Random) -> BuilderDecision:
        """Give this turn's answer."""
        doubt = _doubt(situation, rng)
        if doubt is not None and rng.random() < self.asks:
            return BuilderDecision(f"CLARIFY:{doubt}", None)
        choice = self.policy(situation, rng)
        scene = SlipScene(situation.board, choice.followed, rng)
        for name, chance in self.slips.items():
            if rng.random() < chance and (line := _slipped(name, choice, scene)) is not None:
                return BuilderDecision(line, choice, (name,))
        return BuilderDecision(_line(choice.move, choice, rng), choice)


def _slipped(name: str, choice: IntendedMove, scene: SlipScene) -> str | None:
    if name in MOVE_SLIPS:
        move = MOVE_SLIPS[name](choice.move, scene)
        return None if move is None else _line(move, choice, scene.rng)
    return LINE_SLIPS[name](_line(choice.move, choice, scene.rng), choice.move, scene)


def _line(move: Move, choice: IntendedMove, rng: random.Random) -> str:
    return builder_line(move, confirmation(move, choice.followed, rng))


def _doubt(situation: Situation, rng: random.Random) -> str | None:
    if not situation.readings:
        return wording().sentence("question.nothing", {}, rng)
    for first, second in permutations(situation.readings, 2):
        about = bool(first.request.cells & second.request.cells) and first.request.layer == second.request.layer
        if about and (first.request.verb, first.request.block) != (second.request.verb, second.request.block):
            return wording().sentence("question.conflict", {"who": first.director, "who2": second.director}, rng)
    if any(reading.request.complete for reading in situation.readings):
        return None
    unclear = situation.readings[0]
    topic = "place" if unclear.request.cell is None else "block"
    return wording().sentence(f"question.{topic}", {"who": unclear.director}, rng)


_SLOPPY: Final = (
    "layer_slip", "span_omitted", "span_wrong", "span_extra", "endpoint_reversed", "frame_flip", "color_slip", "place_on_full",
)  # fmt: skip
_FORMAT: Final = (
    "span_none_text", "bad_block_code", "bad_coordinate", "space_in_coordinate", "malformed_line", "layer_not_a_number",
    "remove_with_code", "brackets", "colon_in_confirmation", "extra_line",
)  # fmt: skip

BUILDERS: Final[dict[str, Builder]] = {
    "oracle_follower": Builder(policy=_follow_candidates),
    "literal": Builder(policy=_do_as_requested),
    "sloppy": Builder(policy=_follow_candidates, slips=dict.fromkeys(_SLOPPY, 0.07)),
    "clarifier": Builder(policy=_follow_candidates, asks=0.7),
    "format_breaker": Builder(policy=_follow_candidates, slips=dict.fromkeys(_FORMAT, 0.05)),
}
"""Builder name -> builder."""
