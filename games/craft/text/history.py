"""The shared conversation history: one line a message, an answer of the builder, or a result."""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from games.craft.engine.blocks import Director
from games.craft.engine.rules import Outcome
from games.craft.text.director_output import NO_MESSAGE, DirectorAnswer

UNREADABLE: Final = "My reply could not be read, so nothing was moved."
"""What all see of a builder's reply that could not be read."""

_LONGEST: Final = 50
_KEPT: Final = 40


def director_said(director: Director, answer: DirectorAnswer) -> str:
    """Give the line for a director's message; a missing message gets its stand-in text."""
    return f"{director}: {answer.message}"


def builder_said(text: str) -> str:
    """Give the line for the builder's confirmation or question."""
    return f"Builder: {text}"


def result_line(outcome: Outcome) -> str:
    """Give the line for what the engine did. It says "Placed" after a removal too, as in the logs."""
    board = json.dumps(outcome.board.structure_json(ghosts=True))
    if outcome.error is not None:
        return f"Builder: FAILED — {outcome.error.message}. Board unchanged: {board}"
    move = outcome.move
    span = f"↔{move.span_to}" if move.span_to else ""
    return f"Builder: Placed {move.block} at {move.position}{span} layer {move.layer}. Current board: {board}"


def discussion(answers: Iterable[tuple[Director, DirectorAnswer]]) -> str:
    """Give what the builder reads of a turn: one line a message, missing messages left out."""
    return "\n".join(director_said(director, answer) for director, answer in answers if answer.message != NO_MESSAGE)


def trimmed(history: Sequence[str]) -> tuple[str, ...]:
    """Cut a history of more than 50 lines to its last 40; done between turns."""
    return tuple(history[-_KEPT:] if len(history) > _LONGEST else history)
