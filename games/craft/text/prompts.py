"""The messages with which a language model plays CRAFT (after CRAFT, arXiv 2603.25268, appendix; the wording, in prompts.yaml, is ours).

What an agent may see when it is its turn to speak or act; nothing else reaches a player. The shared conversation has one line a message, an
answer of the builder, or a result. Director personalities (paper, appendix) are drawn as in the released code.
"""

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, get_args

from games.craft.engine.board import DIRECTORS, WALLS, Board, Director, View, views_json
from games.craft.engine.rules import Move, Outcome
from games.craft.text.replies import NO_MESSAGE, DirectorAnswer
from games.players.player import texts_of
from schemas.chat.messages import Message

Archetype = Literal["assertive", "cautious", "observant", "skeptical", "synthesizer"]
ARCHETYPES: Final[tuple[Archetype, ...]] = get_args(Archetype)


def archetypes(structure_index: int, run: int) -> dict[Director, Archetype]:
    """Draw the three personalities of a game.

    The draw depends on the structure's index (from 0) and the run index alone: CPython hashes a
    tuple of integers the same way in every process.
    """
    return {
        director: random.Random(hash((structure_index, number, run)) % 2**32).choice(ARCHETYPES)
        for number, director in enumerate(DIRECTORS)
    }


@dataclass(frozen=True, slots=True)
class DirectorObservation:
    """All that a director may see when asked to speak."""

    director: Director
    turn: int
    target_view: View
    """The director's own wall of the target."""
    board_views: dict[Director, View]
    """All three walls of the current board; no view shows the hidden cells."""
    history: tuple[str, ...]
    """The conversation before this turn, and this turn's messages if the settings say so.

    Its result lines quote the whole board, hidden cells included, as in the published loop.
    """
    earlier: tuple[str, ...] = ()
    """The director's own earlier messages of this turn; empty under the published rules, which do not tell."""
    unread: bool = False
    """Whether nothing of the director's last reply could be read; not under the published rules, which do not tell."""


@dataclass(frozen=True, slots=True)
class BuilderObservation:
    """All that the builder may see when asked to act."""

    turn: int
    board: Board
    discussion: str
    """This turn's messages, one line each; the builder sees no earlier ones."""
    listed: tuple[Move, ...]
    """Verified candidates; empty without oracle or when there are none."""
    simulated: tuple[str, ...] = ()
    """What the tool answered in this turn, one JSON text a call."""
    unread: str | None = None
    """Why the builder's reply of the turn before could not be read; None if it could, and under the published rules, which do not tell."""


_NO_MESSAGE: Final = "(nobody has said anything yet)"
_VERIFIED: Final = "Verified moves, each brings the structure nearer to the target:"
_CHOOSE: Final = "Choose the one that at least one director asks for; if none clearly matches, CLARIFY."
_SILENT: Final = "(no director has said anything)"


def director_messages(seen: DirectorObservation, archetype: Archetype, rules: str = "sane") -> list[Message]:
    """Give what a director receives; targets of others, candidates and turns left are in no part of it.

    What is the same for all directors comes first, so that a server's prefix cache serves them all; the form of the reply comes last.
    ``rules``: whose wording, ``sane`` or ``published`` (`games.craft.game.Rules`).
    """
    texts = texts_of(__package__)
    slots = {
        "director": seen.director,
        "archetype": archetype,
        "personality": texts["personalities"][archetype],
        "cells": ", ".join(WALLS[seen.director]),
        "board": _joined({director: _view_text(view) for director, view in seen.board_views.items()}),
        "target": _view_text(seen.target_view),
        "history": "\n".join(seen.history) or _NO_MESSAGE,
        "again": texts["director_again"].format(messages="\n".join(seen.earlier)) if seen.earlier else "",
        "unread": texts["director_unread"] if seen.unread else "",
    }
    return _chat(texts["director_system"][rules].format(**slots), _parts(texts["director"], rules), slots)


def builder_messages(
    seen: BuilderObservation, *, oracle: bool, simulations: int = 0, provider_tool: bool = False, rules: str = "sane"
) -> list[Message]:
    """Give what the builder receives: the board and this turn's messages; no target, no history.

    ``simulations``: how many moves it may try before it decides; ``provider_tool``: by a tool of its provider's protocol; ``rules``: as in
    `director_messages`.
    """
    texts = texts_of(__package__)
    slots = {
        "board": json.dumps(seen.board.structure_json(ghosts=True)),
        "candidates": "\n".join([_VERIFIED, *map(_candidate, seen.listed), _CHOOSE]) if seen.listed else "",
        "discussion": seen.discussion or _SILENT,
        "simulations": str(simulations),
        "choose": texts["builder_choose"]["listed" if oracle and seen.listed else "plain"],
        "unread": texts["builder_unread"].format(reason=seen.unread) if seen.unread else "",
    }
    kind = "tools" if simulations else "oracle" if oracle and seen.listed else "plain"
    (system,) = _parts([texts["builder_system"][kind]], rules)
    parts = _parts(texts["builder"], rules)
    if simulations:  # the form comes last; the published prompt has the tool there
        tool = texts["builder_provider_tool" if provider_tool else "builder_tools"]
        parts = [*parts, tool] if rules == "published" else [*parts[:-1], tool, parts[-1]]
    return _chat(system.format(**slots), parts, slots)


def simulated_note(results: Sequence[str], left: int) -> str:
    """How many calls are left; without results: that too many were made."""
    texts = texts_of(__package__)
    go_on: str = texts["simulated"]["more" if left else "none"].format(left=left).strip()
    return go_on if results else f"{texts['simulated']['too_many'].strip()}\n{go_on}"


def _parts(parts: Sequence[str | Mapping[str, str]], rules: str) -> list[str]:
    """The parts in that wording; one that only the other wording has is left out."""
    found = [part if isinstance(part, str) else part.get(rules, "") for part in parts]
    return [part for part in found if part]


def _chat(system: str, parts: Sequence[str], slots: dict[str, str]) -> list[Message]:
    shown = [text for part in parts if (text := part.format(**slots).strip())]
    return [{"role": "system", "content": system.strip()}, {"role": "user", "content": "\n\n".join(shown)}]


def _candidate(move: Move) -> str:
    place = f"at {move.position} layer {move.layer}" + (f" spanning to {move.span_to}" if move.span_to else "")
    return f"PLACE {move.block} {place}" if move.action == "place" else f"REMOVE from {place.removeprefix('at ')}"


@lru_cache(maxsize=4096)  # the target stays as it is, and all directors are shown the same board
def _view_text(view: View) -> str:
    """As JSON."""
    (rows,) = views_json({"D1": view}).values()
    return json.dumps(rows)


def _joined(texts: Mapping[str, str]) -> str:
    """A JSON object of values that are JSON already."""
    return "{" + ", ".join(f"{json.dumps(key)}: {text}" for key, text in texts.items()) + "}"


UNREADABLE: Final = "My reply could not be read, so nothing was moved."
"""What all see of a builder's reply that could not be read."""

_LONGEST: Final = 50
_LAST_LINES: Final = 40


def director_line(director: Director, answer: DirectorAnswer) -> str:
    """Give the line for a director's message; a missing message gets its stand-in text."""
    return f"{director}: {answer.message}"


def builder_line(text: str) -> str:
    """Give the line for the builder's confirmation or question."""
    return f"Builder: {text}"


def result_line(outcome: Outcome) -> str:
    """Give the line for what the engine did. It is "Placed" after a removal too, as in the logs."""
    board = json.dumps(outcome.board.structure_json(ghosts=True))
    if outcome.error is not None:
        return f"Builder: FAILED — {outcome.error.message}. Board unchanged: {board}"
    move = outcome.move
    span = f"↔{move.span_to}" if move.span_to else ""
    return f"Builder: Placed {move.block} at {move.position}{span} layer {move.layer}. Current board: {board}"


def discussion(answers: Iterable[tuple[Director, DirectorAnswer]]) -> str:
    """Give what the builder reads of a turn: one line a message, missing messages left out."""
    return "\n".join(director_line(director, answer) for director, answer in answers if answer.message != NO_MESSAGE)


def trimmed(history: Sequence[str]) -> tuple[str, ...]:
    """Cut a history of more than 50 lines to its last 40; done between turns."""
    return tuple(history[-_LAST_LINES:] if len(history) > _LONGEST else history)
