"""Who reads a text: by rules, as its author meant it, by a model, or two of them together.

======================== ============================================================================================
``rules``                the family's own reader of plain language, on the spot
``planted``              what the author of a scripted text knows it to claim, out of the log (table `claims`)
``llm:<model>``          what a model made of it, out of the table `claims`, where `judges.claims.extraction` put it
``both:<other>``         by rules and by another of these: a claim counts where the two agree
======================== ============================================================================================
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final, NamedTuple

from judges.claims import generic
from judges.claims.reading import Read, TextClaims, Unread
from judges.claims.rows import read_of
from judges.claims.two_readers import agreed
from judges.evidence.transcript import Transcript, UtteranceView
from schemas.errors import UsageError
from schemas.families import module

__all__ = ["BY_RULES", "PLANTED", "RULES", "Reader", "read_by", "read_by_rules", "reader_named", "reading_of", "reading_room"]

RULES: Final = "rules"
PLANTED: Final = "planted"
_LLM: Final = "llm:"
_BOTH: Final = "both:"


class Reader(NamedTuple):
    """A reader by name."""

    name: str
    """As in the column `claims.reader`."""

    rules: bool
    """Whether the rules read along."""

    stored: str | None
    """The reader whose claims stand in the table `claims`; None if none is needed."""

    @property
    def model(self) -> str | None:
        """The model that reads, if one does."""
        return self.stored.removeprefix(_LLM) if self.stored is not None and self.stored.startswith(_LLM) else None

    @property
    def judge(self) -> str:
        """The engine with this reader, as in the column `verdicts.judge`."""
        return "engine" if self.name == RULES else f"engine:{self.name}"


BY_RULES: Final = Reader(RULES, rules=True, stored=None)
"""The reader that needs nothing but the text."""


def reader_named(name: str) -> Reader:
    """The reader of that name.

    Raises:
        UsageError: there is none.
    """
    other = name.removeprefix(_BOTH)
    if name == RULES:
        return BY_RULES
    if other == PLANTED or (other.startswith(_LLM) and len(other) > len(_LLM)):
        return Reader(name, rules=name != other, stored=other)
    raise UsageError(f"there is no reader {name}: give rules, planted, llm:<provider/model>, or both:<one of the last two>")


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


def read_before(game: Transcript, turn: int, said: UtteranceView) -> Read[Any] | None:
    """What the game's stored reader made of a text; None if it has not read it."""
    return read_of(game.claims.get((turn, said.seq), ()), tuple(reading_room(game.benchmark).TYPES))


def read_by(game: Transcript, turn: int, said: UtteranceView, reader: Reader) -> Read[Any] | None:
    """What a reader made of a text of a game that was loaded with it; None if it has not read it."""
    other = read_before(game, turn, said)
    if not reader.rules:
        return other
    own = read_by_rules(game, turn, said)
    if reader.stored is None:
        return own
    return None if other is None else agreed(own, other, (RULES, reader.stored))
