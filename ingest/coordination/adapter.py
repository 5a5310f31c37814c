"""Reads games of LLM-Coordination: JSON Lines, one turn (in the kitchen one tick) a line, one or more games a file.

Format: docs/coordination.md. Every turn is replayed; differences of log and rules are rows of `log_disagreements`.
"""

import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from pydantic import ValidationError

from ingest.coordination import console, player_files, qa
from ingest.coordination.consistency import compared
from ingest.coordination.game import GameParts, game_rows
from ingest.coordination.hanabi import hanabi_game
from ingest.coordination.kitchen import kitchen_game
from ingest.coordination.records import CaptureStep, EscapeStep, HanabiStep, KitchenStep, Step
from ingest.coordination.rooms import capture_game, escape_game
from ingest.reading.adapter_types import FileKind, Place, Reading, checked, episode_id, malformed, read_fast
from ingest.reading.text import loads
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt

KINDS: Final = (FileKind("answers of models to older CoordinationQA questions", (b'"source_file"', b'"source_column"', b'"key_reduced"')),)


FORMAT: Final = "coordination"
VERSION: Final = 6

_SCHEMA: Final = re.compile(rb'"schema"\s*:\s*"(?:hanabi|overcooked|collab_capture|collab_escape)_step/1"')


class _Kind(NamedTuple):
    place: str
    """Name of the field that counts turns."""
    first: int
    game: Callable[[Sequence[Any]], GameParts]


_KINDS: Final[Mapping[type[Step], _Kind]] = {
    HanabiStep: _Kind("turn", 1, hanabi_game),
    KitchenStep: _Kind("tick", 0, kitchen_game),
    CaptureStep: _Kind("turn", 1, capture_game),
    EscapeStep: _Kind("turn", 1, escape_game),
}
_BY_SCHEMA: Final[Mapping[str, type[Step]]] = {str(kind.__struct_config__.tag): kind for kind in _KINDS}
_LINE: Final[msgspec.json.Decoder[Step]] = msgspec.json.Decoder(Step)


class _Game(NamedTuple):
    kind: _Kind
    name: str
    line: int
    steps: list[Any]


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether these are games of LLM-Coordination."""
    return head.lstrip()[:1] == b"{" and bool(_SCHEMA.search(head.split(b"\n", 1)[0]))


def read(data: bytes, place: Place) -> Reading:
    """Read a file. A game with a turn that cannot be read, or missing, ends before it.

    Raises:
        BadInputError: there is no line in it.
    """
    found = Reading()
    started = time.perf_counter()
    for index, game in enumerate(_games(data, found)):
        try:
            parts = compared(game.kind.game, game.steps)
        except BadInputError as error:
            found.rejects.append(BadInputError(error.reason, locator=f"line {game.line}", excerpt=excerpt(game.name)))
            continue
        logged = {"episode": game.name, "complete": game.steps[-1].terminal, "console": False}
        episode = episode_id("coordination", place.path, index)
        found.add(game_rows(episode, parts, place, logged))
        found.places[episode] = f"line {game.line}"
    found.replay_s = time.perf_counter() - started
    if not found.episodes and not found.rejects:
        raise BadInputError("no turns: the game was not written, copy the file again")
    return found


def _games(data: bytes, found: Reading) -> list[_Game]:
    games: dict[tuple[type[Step], str], _Game] = {}
    broken: set[tuple[type[Step], str]] = set()
    lines = data.split(b"\n")
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            step = _step(text, number)
        except BadInputError as error:
            cut = number == len(lines)
            reason = f"{error.reason}; the game ends before it" if cut else error.reason
            found.rejects.append(BadInputError(reason, locator=error.locator or f"line {number}", excerpt=error.excerpt))
            continue
        key = (type(step), step.episode)
        game = games.setdefault(key, _Game(_KINDS[type(step)], step.episode, number, []))
        expected = game.kind.first + len(game.steps)
        if key not in broken and getattr(step, game.kind.place) == expected:
            game.steps.append(step)
        elif key not in broken:
            broken.add(key)
            here = f"{game.kind.place} {getattr(step, game.kind.place)} of {step.episode}"
            found.rejects.append(BadInputError(f"{here} comes where {expected} belongs: the game ends there", locator=f"line {number}"))
    return [game for game in games.values() if game.steps]


def _step(text: bytes, number: int) -> Step:
    """A line."""
    return read_fast(_LINE, text) or _checked(text, number)


def _checked(text: bytes, number: int) -> Step:
    value = loads(text)
    schema = str(value.get("schema")) if isinstance(value, dict) else ""
    if schema not in _BY_SCHEMA:
        raise BadInputError(f"no turn of LLM-Coordination (schema {excerpt(schema)!r})", locator=f"line {number}")
    try:
        return checked(_BY_SCHEMA[schema], value)
    except ValidationError as error:
        raise malformed(error, f"line {number}") from error


ADAPTERS: Final[tuple[Any, ...]] = (qa, sys.modules[__name__], console, player_files)
"""All formats in which games of this family are logged: the steps, consoles, the players' own files, and answers to CoordinationQA."""
