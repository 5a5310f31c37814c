"""What a reader (`judges.evidence.reader`) made of a text."""

from __future__ import annotations

from types import ModuleType
from typing import Any, cast

from judges.claims import generic
from judges.claims.reading import Read, TextClaims, Unread
from judges.claims.rows import read_of
from judges.claims.two_readers import agreed
from judges.evidence.reader import RULES, Reader, reader_named
from judges.evidence.transcript import Transcript, UtteranceView
from schemas.families import module


def reading_of(game: Transcript, turn: int, said: UtteranceView) -> TextClaims[Any]:
    """What the game's reader understood of a text."""
    reader = reader_named(game.reader)
    found = read_by(game, turn, said, reader)
    if found is None:
        types = tuple(reading_room(game.benchmark).TYPES)
        found = Read((), (Unread(said.text, f"{reader.stored} has not read it", types),))
    return TextClaims(found)


def reading_room(benchmark: str) -> ModuleType:
    """How the texts of a benchmark are read: the family's module `reading`, or what serves for any game."""
    return module(benchmark, "judges", "reading") or generic


def read_by_rules(game: Transcript, turn: int, said: UtteranceView) -> Read[Any]:
    """What the family's rules understand of a text."""
    return reading_room(game.benchmark).read(game, turn, said)  # type: ignore[no-any-return]  # a module, found by name


def read_before(game: Transcript, turn: int, said: UtteranceView, *, by_model: bool) -> Read[Any] | None:
    """What the game's stored reader made of a text; None if it has not read it."""
    room = reading_room(game.benchmark)
    found = read_of(game.claims.get((turn, said.seq), ()), tuple(room.TYPES))
    if found is None or not by_model or not hasattr(room, "resolve"):
        return found
    return cast("Read[Any]", room.resolve(found, game, turn, said))


def read_by(game: Transcript, turn: int, said: UtteranceView, reader: Reader) -> Read[Any] | None:
    """What a reader made of a text of a game that was loaded with it; None if it has not read it."""
    other = read_before(game, turn, said, by_model=reader.model is not None)
    if not reader.rules:
        return other
    own = read_by_rules(game, turn, said)
    if reader.stored is None:
        return own
    return None if other is None else agreed(own, other, (RULES, reader.stored), getattr(reading_room(game.benchmark), "WEAK", ()))
