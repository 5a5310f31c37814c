"""The true answers to rubric questions about a finished turn, as far as plans, geometry or engine determine them.

Mind modelling (MM1 to MM8, MM3 is a matter of taste): the public message against what others know. Spatial grounding (SG1 to SG7): the
private reasoning against target, board and engine. Pragmatic sufficiency (PS1 to PS6): the messages of a turn together, and what the
builder made of them. Nothing is read out of texts. What each answer rests on, and what is left out as a matter of taste, is the table in
docs/dev/planted_labels.md.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from games.craft.engine import board as boards
from games.craft.engine.rules import Move, execute
from games.craft.game import TurnRecord
from games.craft.measures import followed_full, same_effect
from games.craft.players.builders import BuilderDecision
from games.craft.players.sight import BuiltMove, Instruction, Plan
from games.craft.players.speech import HARMLESS_SLIPS, MISREADINGS
from games.craft.text.replies import NO_MESSAGE, NO_THINKING, DirectorAnswer
from schemas.game import PlantedLabel

Answer = tuple[str, str] | None
"""An answer and its basis; None where it is a matter of taste."""


@dataclass(frozen=True, slots=True)
class Voice:
    """Thought and message of one director in a turn; of several calls the last, whose plan is the same."""

    turn: int
    director: boards.Director
    plan: Plan
    answer: DirectorAnswer

    @property
    def thinks(self) -> bool:
        """Whether the log shows the reasoning of the plan."""
        return self.answer.thinking != NO_THINKING and self.plan.fault != "output_api_error"

    @property
    def speaks(self) -> bool:
        """Whether others can read the message of the plan."""
        return self.answer.message not in ("", NO_MESSAGE) and self.plan.fault != "output_api_error"

    @property
    def request(self) -> Instruction | None:
        """What others can read of the plan."""
        return self.plan.request if self.speaks else None

    def owns(self, cells: frozenset[boards.Cell]) -> bool:
        """Tell whether all cells lie on this director's wall."""
        return cells <= set(boards.WALLS[self.director])


@dataclass(frozen=True, kw_only=True)
class TurnFacts:
    """One finished turn, seen from outside."""

    record: TurnRecord
    target: boards.Board
    voices: tuple[Voice, ...]
    """One a director that spoke, in order of first speaking."""
    earlier: tuple[Voice, ...]
    """The same of all turns before."""
    done: tuple[BuiltMove, ...]
    """The moves of all turns before."""
    decision: BuilderDecision

    def others(self, voice: Voice) -> list[Voice]:
        """Give the other directors with a readable message in this turn."""
        return [other for other in self.voices if other.director != voice.director and other.speaks]

    def is_right(self, cell: boards.Cell, layer: int) -> bool:
        """Whether the block that belongs there is there."""
        block = _block(self.record.board_before, cell, layer)
        return block is not None and block == _block(self.target, cell, layer)

    def looks_right(self, director: boards.Director, cell: boards.Cell, layer: int) -> bool:
        """Tell whether a place of the own wall shows the same colour and apparent size as in the target."""
        seen = _entry(self.record.board_before, director, cell, layer)
        return seen is not None and seen == self.shown(director, cell, layer)

    def shown(self, director: boards.Director, cell: boards.Cell, layer: int) -> boards.ViewedBlock | None:
        """Give the target's block as the director's wall shows it."""
        return _entry(self.target, director, cell, layer)

    def hides_large(self, director: boards.Director, cell: boards.Cell, layer: int) -> bool:
        """Tell whether the target has a large block there that looks small on this wall."""
        shown = self.shown(director, cell, layer) if cell in boards.WALLS[director] else None
        return shown is not None and shown.size == 1 and boards.is_large(_block(self.target, cell, layer) or "")


def _block(board: boards.Board, cell: boards.Cell, layer: int) -> str | None:
    stack = board.stacks[boards.CELL_INDEX[cell]]
    return stack[layer] if 0 <= layer < len(stack) else None


def _entry(board: boards.Board, director: boards.Director, cell: boards.Cell, layer: int) -> boards.ViewedBlock | None:
    block = boards.director_view(board, director)[layer][boards.WALLS[director].index(cell)]
    return None if block.color == "none" else block


def _adds_something(facts: TurnFacts, voice: Voice) -> Answer:
    request = voice.request
    if request is None:
        return ("No", "construction") if voice.plan.kind == "filler" else None
    if not request.cells:
        return None
    if {"redundant_echo", "redundant_endorse"} & set(voice.plan.defects):
        return "No", "construction"
    before = [other for other in facts.earlier if other.turn == voice.turn - 1 and other.director != voice.director]
    theirs = [other.request for other in (*facts.others(voice), *before) if other.request is not None]
    if any(_same(other, request) for other in theirs):
        return "No", "geometry"
    return None if any(other.cells & request.cells for other in theirs) else ("Yes", "geometry")


def _asks_nothing_settled(facts: TurnFacts, voice: Voice) -> Answer:
    request = voice.request
    if request is None or not request.cells or request.layer is None:
        return None
    asked = [other for other in facts.earlier if _touches(other.plan.thought, request) or _touches(other.plan.request, request)]
    acted = [done for done in facts.done if done.accepted and done.move.action == request.verb]
    acted = [done for done in acted if done.move.covered() & request.cells and done.move.layer == request.layer]
    if not asked and not acted:
        return "Yes", "engine"
    if request.verb == "remove" or not acted:
        return None
    requested = any(other.request is not None and _same(other.request, request) for other in facts.earlier)
    is_placed = all(_block(facts.record.board_before, cell, request.layer) == request.block for cell in request.cells)
    return ("No", "engine") if requested and is_placed else None


def _carries_reasoning_over(_: TurnFacts, voice: Voice) -> Answer:
    thought, request = voice.plan.thought, voice.request
    if thought is None or not voice.thinks:
        return None
    if request is None:
        return "No", "construction"
    if request == thought:
        return "Yes", "construction"
    given = ((request.verb, thought.verb), (request.color, thought.color), (request.size, thought.size), (request.layer, thought.layer))
    dropped = not request.cells or (thought.span_to is not None and request.span_to is None)
    contradicts = any(mine is not None and mine != meant for mine, meant in given)
    return ("No", "construction") if dropped or contradicts else None


def _concentrates_on_own_view(_: TurnFacts, voice: Voice) -> Answer:
    request = voice.request
    if request is None or not request.cells:
        return None
    unique = {boards.SEEN_BY[cell] == (voice.director,) for cell in request.cells}
    return (("Yes" if unique.pop() else "No"), "geometry") if len(unique) == 1 else None


def _can_be_executed(facts: TurnFacts, voice: Voice) -> Answer:
    request = voice.request
    if request is None:
        return ("No", "construction") if voice.plan.kind == "filler" else None
    half = request.size == "l" and request.span_to is None
    if half or request.cell is None or request.color is None or request.size is None:
        return "No", "construction"
    if request.layer is None:
        return None
    if request.verb == "remove":
        possible = execute(facts.record.board_before, Move("remove", None, request.cell, request.layer, request.span_to)).accepted
        return ("Yes", "construction") if possible else None
    return ("Yes", "construction") if facts.record.board_before.height(request.cell) == request.layer else None


def _settles_contradiction(facts: TurnFacts, voice: Voice) -> Answer:
    others = facts.others(voice)
    if not others:
        return "N/A", "geometry"
    request = voice.request
    if request is None or not request.cells:
        return None
    against = {other.director for other in others if other.request is not None and at_odds(request, other.request)}
    heard = {other.director for other in facts.voices[: facts.voices.index(voice)]}
    if against - heard:  # of whoever spoke later it could not know
        return None
    if against:
        unsettled = against - {voice.plan.disputes}
        return None if unsettled and unsettled != against else (("No" if unsettled else "Yes"), "geometry")
    elsewhere = all(other.request is None or (other.request.cells and not other.request.cells & request.cells) for other in others)
    return ("N/A", "geometry") if elsewhere and voice.plan.disputes is None else None


def _knows_who_sees_what(_: TurnFacts, voice: Voice) -> Answer:
    plan = voice.plan
    if plan.perspective == "explicit":
        return ("Yes", "construction") if plan.request is not None else None
    own = plan.request is not None and voice.owns(plan.request.cells)
    bare = plan.perspective == "bare" and (own or plan.kind == "filler")
    return ("No", "construction") if bare else None


def at_odds(first: Instruction, second: Instruction) -> bool:
    """Tell whether two instructions contradict each other about the same cell and layer."""
    if not first.cells & second.cells or first.layer is None or first.layer != second.layer:
        return False
    given = ((first.verb, second.verb), (first.color, second.color), (first.size, second.size))
    return any(one is not None and other is not None and one != other for one, other in given)


def _same(first: Instruction, second: Instruction) -> bool:
    return (first.verb, first.block, first.layer, first.cells) == (second.verb, second.block, second.layer, second.cells) and bool(
        first.block
    )


def _touches(earlier: Instruction | None, request: Instruction) -> bool:
    if earlier is None or earlier.verb != request.verb or not earlier.cells & request.cells:
        return False
    return request.verb == "remove" or earlier.layer is None or earlier.layer == request.layer


MIND_MODELING: Final[dict[str, Callable[[TurnFacts, Voice], Answer]]] = {
    "MM1": _adds_something,
    "MM2": _asks_nothing_settled,
    "MM4": _carries_reasoning_over,
    "MM5": _concentrates_on_own_view,
    "MM6": _can_be_executed,
    "MM7": _settles_contradiction,
    "MM8": _knows_who_sees_what,
}
"""Question -> truth for one director with a readable message."""


def _names_missing_block(facts: TurnFacts, voice: Voice) -> Answer:
    thought = voice.plan.thought
    if thought is None or thought.cell is None or thought.layer is None or not voice.owns(thought.cells):
        return None
    right = facts.is_right(thought.cell, thought.layer)
    if thought.verb == "remove":
        nothing = _block(facts.record.board_before, thought.cell, thought.layer) is None
        return ("No", "construction") if right or nothing else None
    if right:
        return "No", "geometry"
    missing = [layer for layer in range(boards.MAX_HEIGHT) if not facts.is_right(thought.cell, layer)]
    if all((_block(facts.target, thought.cell, layer) or " ")[0] != thought.color for layer in missing):
        return "No", "geometry"
    shown = facts.shown(voice.director, thought.cell, thought.layer)
    fits = shown is not None and (shown.color, shown.size) == (boards.COLORS[thought.color or "g"], 2 if thought.size == "l" else 1)
    return ("Yes", "geometry") if fits and thought.layer >= facts.record.board_before.height(thought.cell) else None


def _leaves_right_blocks_out(facts: TurnFacts, voice: Voice) -> Answer:
    """A remark that a block is right asks for nothing."""
    thought = voice.plan.thought
    if thought is None or thought.layer is None or not voice.owns(thought.cells):
        return None
    if any(facts.is_right(cell, thought.layer) for cell in thought.cells):
        return "No", "construction"
    looks_right = any(facts.looks_right(voice.director, cell, thought.layer) for cell in thought.cells)
    return None if looks_right else ("Yes", "construction")


def _has_right_layer(facts: TurnFacts, voice: Voice) -> Answer:
    thought = voice.plan.thought
    if thought is None or thought.verb == "remove" or thought.cell is None or thought.layer is None or not voice.owns(thought.cells):
        return None
    if thought.layer != facts.record.board_before.height(thought.cell):
        return "No", "engine"
    even = all(facts.record.board_before.height(cell) == thought.layer for cell in thought.cells)
    wanted = _block(facts.target, thought.cell, thought.layer)
    return ("Yes", "engine") if even and wanted is not None and wanted[0] == thought.color else None


def _arrives_at_candidate(facts: TurnFacts, voice: Voice) -> Answer:
    thought = voice.plan.thought
    if thought is None:
        return None
    if not facts.record.listed:
        return "N/A", "no oracle list in log"
    if any(thought.names_block(move) for move in facts.record.listed):
        return "Yes", "engine"
    near = any(
        move.action == thought.verb and (move.block or " ")[0] == thought.color and move.covered() & thought.cells
        for move in facts.record.listed
    )
    return None if near else ("No", "engine")


def _can_be_done_now(facts: TurnFacts, voice: Voice) -> Answer:
    thought = voice.plan.thought
    move = None if thought is None else _literal_move(facts, thought)
    if move is None:
        return None
    return ("Yes" if execute(facts.record.board_before, move).accepted else "No"), "engine"


def _literal_move(facts: TurnFacts, thought: Instruction) -> Move | None:
    if thought.cell is None or thought.layer is None:
        return None
    if thought.verb == "remove":
        return Move("remove", None, thought.cell, thought.layer, facts.record.board_before.partner(thought.cell, thought.layer))
    return Move("place", thought.block, thought.cell, thought.layer, thought.span_to) if thought.complete else None


def _reads_size(facts: TurnFacts, voice: Voice) -> Answer:
    thought = voice.plan.thought
    if thought is None or thought.verb == "remove" or thought.cell is None or thought.layer is None or not voice.owns(thought.cells):
        return None
    shown = facts.shown(voice.director, thought.cell, thought.layer)
    if shown is None:
        return None
    return ("Yes" if (shown.size == 1) == (thought.size == "s") else "No"), "geometry"


def _stays_on_own_wall(_: TurnFacts, voice: Voice) -> Answer:
    plan = voice.plan
    named = set(plan.thought.cells if plan.thought else ())
    named |= {plan.right_block[0]} if plan.right_block else set()
    named |= {plan.other_wall} if plan.other_wall else set()
    return ("Yes" if named <= set(boards.WALLS[voice.director]) else "No"), "construction"


SPATIAL_GROUNDING: Final[dict[str, Callable[[TurnFacts, Voice], Answer]]] = {
    "SG1": _names_missing_block,
    "SG2": _leaves_right_blocks_out,
    "SG3": _has_right_layer,
    "SG4": _arrives_at_candidate,
    "SG5": _can_be_done_now,
    "SG6": _reads_size,
    "SG7": _stays_on_own_wall,
}
"""Question -> truth for one director with readable reasoning."""


_CUT_SHORT: Final = frozenset(("layer_slip", "span_omitted", "span_wrong", "span_extra", "span_none_text"))


def _points_at_a_place(facts: TurnFacts) -> Answer:
    return ("Yes" if any(request.cells for request in _requests(facts)) else "No"), "construction"


def _gives_block_of_candidate(facts: TurnFacts) -> Answer:
    if not facts.record.listed:
        return None
    whole = [request for request in _requests(facts) if request.block is not None]
    if any(request.cells and request.allows(move) for request in whole for move in facts.record.listed):
        return "Yes", "engine"
    return None if {request.block for request in whole} & {move.block for move in facts.record.listed} else ("No", "engine")


def _lets_builder_pick(facts: TurnFacts) -> Answer:
    if not facts.record.listed:
        return None
    request = _requests(facts)
    exact = [one for one in request if any(one.names_block(move) for move in facts.record.listed)]
    if exact:
        return None if any(at_odds(one, other) for one in exact for other in request) else ("Yes", "engine")
    loosely = any(replace(one, size=None, span_to=None).allows(move) for one in request for move in facts.record.listed)
    return None if loosely else ("No", "engine")


def _places_fit_one_cell(facts: TurnFacts) -> Answer:
    request = _requests(facts)
    if not any(one.cells for one in request):
        return "No", "construction"
    exact = all(one.cells and one.layer is not None and (one.size == "s" or one.span_to is not None) for one in request)
    return ("Yes", "construction") if exact else None


def _builder_understood(facts: TurnFacts) -> Answer:
    if facts.record.clarification is not None:
        return "N/A", "no builder confirmation"
    if facts.record.unreadable is not None:
        return None
    choice, slips = facts.decision.choice, set(facts.decision.slips)
    if choice is None or choice.followed is None:
        return None
    followed = next((voice.request for voice in facts.voices if voice.director == choice.followed), None)
    if followed is None or followed.block is None or not followed.cells or not followed.allows(choice.move):
        return None
    written = facts.record.written
    if slips & MISREADINGS:
        by_chance = written is None or any(request.allows(written) for request in _requests(facts))
        return None if by_chance else ("No", "construction")
    return ("Yes", "construction") if slips <= HARMLESS_SLIPS else None


def _vagueness_caused_miss(facts: TurnFacts) -> Answer:
    if not facts.record.listed:
        return "N/A", "no oracle list in log"
    outcome, choice = facts.record.outcome, facts.decision.choice
    if outcome is None or choice is None:  # it asked, or wrote what cannot be read, though it could have moved
        return None
    if outcome.accepted and followed_full(facts.record.listed, outcome.move):
        return "N/A", "engine"
    if any(same_effect(move, outcome.move) for move in facts.record.listed):
        return None
    if choice.followed is None and outcome.accepted and not any(request.cells for request in _requests(facts)):
        return "Yes", "construction"
    slips = set(facts.decision.slips)
    meant = any(
        voice.director == choice.followed and voice.request is not None and voice.request.names_block(choice.move) for voice in facts.voices
    )
    sufficient = _lets_builder_pick(facts) == ("Yes", "engine") and meant and choice.move in facts.record.listed
    return ("No", "construction") if sufficient and slips and slips <= _CUT_SHORT else None


def _requests(facts: TurnFacts) -> list[Instruction]:
    return [voice.request for voice in facts.voices if voice.request is not None]


PRAGMATIC_SUFFICIENCY: Final[dict[str, Callable[[TurnFacts], Answer]]] = {
    "PS1": _points_at_a_place,
    "PS2": _gives_block_of_candidate,
    "PS3": _lets_builder_pick,
    "PS4": _places_fit_one_cell,
    "PS5": _builder_understood,
    "PS6": _vagueness_caused_miss,
}
"""Question -> truth for a turn with at least one readable message."""


_NONE: Final = "none"


def planted_labels(facts: TurnFacts) -> Iterator[PlantedLabel]:
    """Give the labels of a turn, director by director, then those of the group (agent None)."""
    defects: dict[str, None] = {}
    for voice in facts.voices:
        planted = _defects(facts, voice)
        defects |= dict.fromkeys(planted)
        rubrics = (("spatial_grounding", SPATIAL_GROUNDING, voice.thinks), ("mind_modeling", MIND_MODELING, voice.speaks))
        for rubric, questions, readable in rubrics:
            answers = {question: truth(facts, voice) for question, truth in questions.items()} if readable else {}
            for question, answer in answers.items():
                if answer is not None:
                    yield PlantedLabel(rubric, question, voice.director, *answer, "|".join(planted) or _NONE)
    if not any(voice.speaks for voice in facts.voices):
        return
    defects |= dict.fromkeys(f"builder_slip:{slip}" for slip in facts.decision.slips)
    if facts.decision.choice is None:
        defects["clarify"] = None
    group = "|".join(defects) or _NONE
    for question, truth in PRAGMATIC_SUFFICIENCY.items():
        answer = truth(facts)
        if answer is not None:
            yield PlantedLabel("pragmatic_sufficiency", question, None, *answer, group)


def _defects(facts: TurnFacts, voice: Voice) -> tuple[str, ...]:
    thought = voice.plan.thought
    if thought is None or thought.verb == "remove" or thought.cell is None or thought.layer is None or thought.size != "s":
        return voice.plan.defects
    truthful = "size_misread" not in voice.plan.defects and facts.hides_large(voice.director, thought.cell, thought.layer)
    return ("apparent_size", *voice.plan.defects) if truthful else voice.plan.defects
