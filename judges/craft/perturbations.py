"""Plants one defect into a clean text of a director, or into all texts of a turn, so that the right answer after it is known.

A text is clean if it asks for exactly one block, completely, and that block is the next missing one of its cell in the director's own
view. One word of it is exchanged, and the exchange counts only if the reader then finds that very attribute changed and nothing else;
what cannot be changed so is left out. See formats, section 12.2, for how the answers follow.

Of a turn, every message that gives a candidate away gets the defect, and it counts only if the answer to the question is proved on both
sides: yes before it, no after it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from games.craft.claims import Request, compatible
from games.craft.engine.board import CELLS, COLORS, DIRECTORS, MAX_HEIGHT, SIZES, WALLS, Director
from games.craft.engine.rules import Move
from judges.checks import Decision
from judges.claims.reading import Open, Shown, TextClaims, find_in
from judges.craft.checks.pragmatic_sufficiency import describes_candidate_block, suffices
from judges.craft.checks.prepared import PreparedGame, game_of
from judges.craft.checks.prepared import PreparedTurn as Turn
from judges.craft.reading import read_of_rules
from judges.evidence.pieces import UnitContext
from judges.evidence.transcript import ActionView, UtteranceView

DEFECTS: Final[Mapping[str, str]] = {
    "layer": "another layer than the right one",
    "size": "the other size",
    "colour": "a colour that is not wanted there",
    "place": "a wrong cell; of one director's text, one that the director does not see",
    "redundancy": "a block is asked for again that was asked for and placed a few turns ago",
}
"""Name -> what is planted."""

DEFECTS_OF: Final[Mapping[str, Mapping[str, str]]] = {
    "spatial_grounding": {"layer": "SG3", "size": "SG6", "colour": "SG1", "place": "SG7", "redundancy": "SG2"},
    "mind_modeling": {"layer": "MM4", "size": "MM4", "colour": "MM4", "redundancy": "MM2"},
    "pragmatic_sufficiency": {"layer": "PS3", "size": "PS2", "colour": "PS2", "place": "PS3"},
}
"""Rubric -> planted defect -> the question whose right answer turns from yes to no."""

NAMES: Final = DIRECTORS
"""Rubrics speak of the directors by name."""

UNNAMED_ROLES: Final = frozenset({"builder"})

_GROUPS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "layer": (("bottom", "middle", "top"), ("first", "second", "third"), ("0", "1", "2")),
    "size": (("small", "large"), tuple(SIZES)),
    "colour": (tuple(COLORS.values()), tuple(COLORS)),
    "place": (CELLS, ("left", "right"), ("left-hand", "right-hand")),
}
"""Attribute -> words that can be exchanged for one another."""

_FIELDS: Final = {"layer": "layer", "size": "size", "colour": "color", "place": "cells"}
_TURNS_BACK: Final = 5
"""As far as a judge's history reaches."""


def planted(kind: str, context: UnitContext, message: UtteranceView) -> str | None:
    """The text with that defect in it; None where the text is not clean or the defect cannot be put into it by a word."""
    if message.agent not in WALLS or context.turn is None:
        return None
    game = game_of(context.game)
    director: Director = next(name for name in WALLS if name == message.agent)
    turn = game.prepared(context.turn.turn)
    asked = _requests(message.text, director, turn)
    if len(asked) != 1 or not _is_clean(asked[0], game, turn, director) or not _fits_thought(asked[0], message, turn, director):
        return None
    if kind == "redundancy":
        for earlier in reversed(game.before(turn.view.turn)[-_TURNS_BACK:]):
            for action in earlier.view.actions:
                again = _sentence(action, game, turn, director)
                both = f"{message.text.rstrip()} {again}"
                if again is not None and _asks_again(_requests(both, director, turn), action, earlier):
                    return both
        return None
    return _with_defect(kind, message.text, director, turn, lambda found: _is_wrong(kind, found, game, turn, director))


def planted_in_turn(kind: str, context: UnitContext, messages: Sequence[UtteranceView], question: str) -> Mapping[int, str]:
    """Number of the message -> its text with that defect in it; empty where the answer would not be known."""
    if context.turn is None:
        return {}
    turn = game_of(context.game).prepared(context.turn.turn)
    answer, is_of = _GROUP_QUESTIONS[question]
    if answer(turn).answer != "yes":
        return {}

    def _gives_away(request: Request) -> bool:
        return any(is_of(request, move) for move in turn.candidates)

    changed: dict[int, str] = {}
    for message in messages:
        director = next((name for name in WALLS if name == message.agent), None)
        asked = () if director is None else _requests(message.text, director, turn)
        if director is None or not any(_gives_away(request) for request in asked):
            continue
        text = _with_defect(kind, message.text, director, turn, lambda found: not _gives_away(found))
        if text is None:
            return {}
        changed[message.seq] = text
    reported = tuple(replace(message, text=changed.get(message.seq, message.text)) for message in turn.view.utterances)
    after = Turn(context.game, replace(turn.view, utterances=reported))
    return changed if changed and answer(after).answer == "no" else {}


def _is_block_of(request: Request, move: Move) -> bool:
    return request.block is not None and request.block == move.block


def _may_be(request: Request, move: Move) -> bool:
    known = (request.verb == move.action, request.layer in (move.layer, None), set(request.cells) <= move.covered())
    return all(known) and request.block in (move.block, None)


_GROUP_QUESTIONS: Final[Mapping[str, tuple[Callable[[Turn], Decision], Callable[[Request, Move], bool]]]] = {
    "PS2": (describes_candidate_block, _is_block_of),
    "PS3": (suffices, _may_be),
}
"""Question -> its check, and which requests give a candidate away."""


def _with_defect(kind: str, text: str, director: Director, turn: Turn, is_wrong: Callable[[Request], bool]) -> str | None:
    """None unless the text asks for one thing, and one exchanged word makes just that attribute of it wrong."""
    before = _requests(text, director, turn)
    for changed in _exchanged(kind, text) if len(before) == 1 else ():
        found = _requests(changed, director, turn)
        if len(found) == 1 and _differs_only(kind, before[0], found[0]) and is_wrong(found[0]):
            return changed
    return None


def _requests(text: str, director: Director, turn: Turn) -> tuple[Request, ...]:
    """Give what a text asks for; nothing where it was not wholly understood."""
    asked = TextClaims(read_of_rules(text, director, turn.board.stacks)).whole(Request)
    return () if isinstance(asked, Open) else asked


def _is_clean(request: Request, game: PreparedGame, turn: Turn, director: Director) -> bool:
    if not (request.complete and request.verb == "place" and request.on_wall(director) and game.has_view(director)):
        return False
    layer = request.layer or 0
    wanted = (request.color, request.size)
    return all(turn.board.height(c) == layer and game.shown(director, c, layer) == wanted for c in CELLS if c in request.cells)


def _fits_thought(request: Request, utterance: UtteranceView, turn: Turn, director: Director) -> bool:
    """A public message is clean if it states what the reasoning, where there is one that can be read, came to."""
    meant_by = (thought for thought, message in turn.spoken(director) if message is not None and message.seq == utterance.seq)
    thought = next(meant_by, None)
    meant = None if thought is None else thought.only()
    return thought is None or (isinstance(meant, Request) and meant.complete and compatible(meant, request))


def _exchanged(kind: str, text: str) -> Iterator[str]:
    for group in _GROUPS[kind]:
        for found in re.finditer("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in group), text, re.IGNORECASE):
            for word in group:
                if word != found[0].casefold():
                    yield text[: found.start()] + word + text[found.end() :]


def _differs_only(kind: str, before: Request, after: Request) -> bool:
    field = _FIELDS[kind]
    fields = ("verb", "color", "size", "cells", "layer")
    return after.verb is not None and [f for f in fields if getattr(before, f) != getattr(after, f)] == [field]


def _is_wrong(kind: str, request: Request, game: PreparedGame, turn: Turn, director: Director) -> bool:
    if kind == "place":
        return bool(request.cells) and not set(request.cells) & set(WALLS[director])
    if kind == "colour":
        rest = [game.shown(director, c, layer) for c in CELLS if c in request.cells for layer in range(turn.board.height(c), MAX_HEIGHT)]
        return request.color is not None and all(block is None or block[0] != request.color for block in rest)
    return request.layer is not None and request.size is not None


def _asks_again(asked: tuple[Request, ...], action: ActionView, earlier: Turn) -> bool:
    """Whether there are two requests now, the second for what that action did and what had been asked for on its turn."""
    where = (action.arguments["position"],), action.arguments["layer"], action.arguments["block"]
    if len(asked) != 2 or (asked[1].cells, asked[1].layer, asked[1].block) != where:  # noqa: PLR2004 - the clean one and the old one
        return False
    before = find_in([message.reading for message in earlier.messages], Request, lambda one: bool(one.cells) and compatible(one, asked[1]))
    return isinstance(before, Shown)


def _sentence(action: ActionView, game: PreparedGame, turn: Turn, director: Director) -> str | None:
    """A request for the small block that this action has put where it is still in its right place."""
    block, cell, layer = (action.arguments.get(name) for name in ("block", "position", "layer"))
    if not action.accepted or action.verb != "place" or cell not in WALLS[director] or not isinstance(layer, int):
        return None
    place = next(c for c in CELLS if c == cell)
    stack = turn.board.stack(place)
    if not isinstance(block, str) or block[1:] != "s" or layer >= len(stack) or stack[layer] != block:
        return None
    if game.shown(director, place, layer) != (block[0], "s"):
        return None
    return f"Also place a small {COLORS[block[0]]} block at {cell} on layer {layer}."
