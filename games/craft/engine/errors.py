"""The engine's error messages: code, text, and what the published taxonomy makes of the text.

The texts are those of the released engine, because logs hold nothing else. Codes are ours and
stable: C coordinates, P place, L large block, R remove, X execution, A action.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, get_args

from games.craft.engine.blocks import HIDDEN_CELLS

ErrorCode = Literal[
    "C1", "C2", "C3", "C4", "C5", "A1",
    "P1", "P2", "P3",
    "L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8",
    "R1", "R2", "R3", "R4", "R5",
    "X1", "X2",
]  # fmt: skip

ERROR_CODES: Final[tuple[ErrorCode, ...]] = get_args(ErrorCode)

ErrorCategory = Literal["layer", "span", "other"]

MESSAGES: Final[dict[ErrorCode, str]] = {
    "C1": "Missing fields: action={action}, position={position}",
    "C2": "Bad coordinate format: {parts}",
    "C3": "Invalid position format: {position}",
    "C4": "Coordinates out of bounds: ({row},{column})",
    "C5": "Coordinate parsing failed: {reason}",
    "A1": "Unknown action: '{action}'",
    "P1": "Block '{block}' not in available blocks",
    "P2": "Wrong layer at {position}: got {layer}, expected {height} (stack has {height} blocks)",
    "P3": "Stack full at {position} (3 blocks already)",
    "L1": "span_to cannot be same as position: {position}",
    "L2": "Large block '{block}' needs span_to — specify which adjacent cell it extends into",
    "L3": "Illegal span into invisible cell: {position}↔{span_to}. Large blocks cannot include {hidden}.",
    "L4": "Invalid span_to format: {span_to}",
    "L5": "span_to {span_to} is not adjacent to {position} — valid neighbors: {neighbors}",
    "L6": "span_to {span_to} has {partner_height} blocks, {position} has {height} — both must be at same height to place on same layer",
    "L7": "Neighbor {span_to} stack is already full",
    "L8": "{position} or {span_to} already occupied by another span at layer {layer}",
    "R1": "Cannot remove from {position} — stack is empty",
    "R2": "Cannot remove layer {layer} at {position} — must remove top block first (layer {top})",
    "R3": "Large block at {position} layer {layer} has no recorded span partner",
    "R4": "Cannot remove large block at {position} layer {layer} alone — must also specify span_to={partner}",
    "R5": "Incorrect span_to for large block removal at {position} layer {layer}: got {span_to}, expected {partner}",
    "X1": "Move execution failed",
    "X2": "Move execution error: {reason}",
}
"""Message templates. X2 (an exception inside the released engine) occurs only in foreign logs."""


@dataclass(frozen=True, slots=True)
class MoveError:
    """Why the engine refused a move."""

    code: ErrorCode
    message: str

    @property
    def category(self) -> ErrorCategory:
        """What the published taxonomy files the message under."""
        return category_of(self.message)


def category_of(message: str) -> ErrorCategory:
    """File a message by substring, ``layer`` before ``span``, as the published taxonomy does."""
    lowered = message.lower()
    if "layer" in lowered:
        return "layer"
    return "span" if "span" in lowered else "other"


_FIELD = re.compile(r"\\{\w+\\}")
_PATTERNS: Final = tuple((code, re.compile(_FIELD.sub("(?:.*)", re.escape(template)), re.DOTALL)) for code, template in MESSAGES.items())


@lru_cache(maxsize=4096)
def code_of(message: str) -> ErrorCode | None:
    """Recognise a logged message; None if no message of the engine reads like it."""
    return next((code for code, pattern in _PATTERNS if pattern.fullmatch(message)), None)


_HIDDEN_SET, _HIDDEN_SET_REVERSED = (f"{{{first!r}, {second!r}}}" for first, second in (HIDDEN_CELLS, HIDDEN_CELLS[::-1]))


def same_message(first: str, second: str) -> bool:
    """Compare two messages; the printed set of hidden cells may be in either order."""
    return first == second or _ordered(first) == _ordered(second)


def _ordered(message: str) -> str:
    return message.replace(_HIDDEN_SET_REVERSED, _HIDDEN_SET)
