"""Reads the builder's answer: one PLACE, REMOVE or CLARIFY line.

The grammar, and what becomes of lines that do not keep to it, are those of the released parser::

    PLACE:<block>:<position>:<layer>:CONFIRM:<text>
    PLACE:<block>:<position>:<layer>:<span_to>:CONFIRM:<text>
    REMOVE:<position>:<layer>:CONFIRM:<text>
    REMOVE:<position>:<layer>:<span_to>:CONFIRM:<text>
    CLARIFY:<question>

Parts are not trimmed. Whatever cannot be read becomes a clarification; `is_complaint` tells it from a question.
"""

from dataclasses import dataclass
from typing import Final

from games.craft.engine.move import Move

FAILED_CALL: Final = "Error in move generation:"
"""Begins the text that stands for a call that failed."""
_NO_REPLY: Final = (FAILED_CALL, "No response from API")
_COMPLAINTS: Final = (
    *_NO_REPLY,
    "Could not parse response:",
    "Parse error:",
    "Builder produced no final text",
    "Builder loop did not execute",
)
"""How texts of the released code begin that its logs hold in the place of a question."""

_LONGEST_CODE: Final = 3
"""Longer text behind REMOVE is not taken for a block code."""


@dataclass(frozen=True, slots=True)
class ParsedMove:
    """A line that was read as a move."""

    move: Move
    confirmation: str
    """Text after CONFIRM; generated where the line had none."""


@dataclass(frozen=True, slots=True)
class Clarification:
    """A question of the builder, or the parser's complaint about a line it could not read."""

    text: str


def parse_answer(answer: str) -> ParsedMove | Clarification:
    """Read a model's answer: its first line counts."""
    return parse_line(answer.strip().split("\n")[0].strip())


def parse_line(line: str) -> ParsedMove | Clarification:
    """Read one line."""
    text = line.strip().strip("[]")
    try:
        return _parsed(text)
    except ValueError as error:  # the layer is no integer; the log holds Python's own words
        return Clarification(f"Parse error: {error}")


def is_complaint(clarification: str) -> bool:
    """Whether the released code wrote this itself, as no reply came or it could not be read: the builder asked nothing."""
    return clarification.lstrip().startswith(_COMPLAINTS)


def no_reply_came(text: str) -> bool:
    """Whether a complaint, or the reason why a reply is unreadable, is that the call failed: nothing that an agent wrote was at fault."""
    return text.lstrip().startswith(_NO_REPLY)


def builder_line(move: Move, confirmation: str) -> str:
    """Write a move in the builder's grammar; removals leave the block out."""
    parts = ["PLACE", move.block or ""] if move.action == "place" else ["REMOVE"]
    parts += [move.position, str(move.layer)]
    if move.span_to is not None:
        parts.append(move.span_to)
    return ":".join([*parts, "CONFIRM", confirmation])


def _parsed(text: str) -> ParsedMove | Clarification:
    if text.startswith("PLACE:"):
        return _place(text)
    if text.startswith("REMOVE:"):
        return _remove(_without_block(text))
    if text.startswith("CLARIFY:"):
        return Clarification(text.removeprefix("CLARIFY:"))
    return _unreadable(text)


def _place(text: str) -> ParsedMove | Clarification:
    match text.split(":", 6):
        case [_, block, position, layer, span_to, "CONFIRM", confirmation]:
            return ParsedMove(Move("place", block, position, int(layer), span_to), confirmation)
        case [_, block, position, layer, "CONFIRM", confirmation, *_]:  # cut at its first colon
            return ParsedMove(Move("place", block, position, int(layer)), confirmation)
        case [_, block, position, layer, *_]:
            return ParsedMove(Move("place", block, position, int(layer)), f"Placing {block} at {position}")
    return _unreadable(text)


def _remove(text: str) -> ParsedMove | Clarification:
    match text.split(":", 5):
        case [_, position, layer, span_to, "CONFIRM", confirmation]:
            return ParsedMove(Move("remove", None, position, int(layer), span_to), confirmation)
    match text.split(":", 4):
        case [_, position, layer, "CONFIRM", confirmation]:
            return ParsedMove(Move("remove", None, position, int(layer)), confirmation)
    return _unreadable(text)


def _without_block(text: str) -> str:
    """Drop a block code that the grammar does not ask for: ``REMOVE:bl:(0,0):...``."""
    verb, first, *rest = text.split(":")
    code = first.strip()
    is_code = len(code) <= _LONGEST_CODE and not code.startswith("(")
    return ":".join([verb, *rest]) if is_code else text


def _unreadable(text: str) -> Clarification:
    return Clarification(f"Could not parse response: {text}")
