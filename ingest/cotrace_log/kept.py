"""Turns of cotrace's own log, read quickly: what repeats itself can be kept as it stands in the file.

States are then parsed once for each that differs, and so are the claims that scripted players know their texts to make. A family's
`ingest.<family>.own` says by `KEEPS = True` that it asks `json_of` for states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from ingest.reading.json_text import dumps, loads
from schemas.game import Turn, UtteranceEntry

__all__ = ["PlannedClaim", "claims_in", "json_of", "read_turn", "read_turn_keeping"]

_READ: Final = {"kind": "read"}


class PlannedClaim(NamedTuple):
    """A claim of a text, as its author planned it."""

    kind: str
    text: str
    """Its JSON text."""


class _Label(msgspec.Struct, frozen=True):
    """As `schemas.game.PlantedLabel`."""

    rubric: str
    question: str
    agent: str | None
    answer: str
    basis: str
    planted: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Utterance(UtteranceEntry):
    claims: msgspec.Raw = None  # type: ignore[assignment]  # `claims_in` tells what it holds


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn(Turn):
    state_before: msgspec.Raw = None  # type: ignore[assignment]  # where it is left out
    state_after: msgspec.Raw = None  # type: ignore[assignment]
    utterances: Sequence[_Utterance] = ()
    labels: Sequence[_Label] = ()  # type: ignore[assignment]  # the same fields, read in half the time


_TURN: Final = msgspec.json.Decoder(Turn)
_KEEPING: Final = msgspec.json.Decoder(_Turn)
_CLAIMS: Final = msgspec.json.Decoder(list[dict[str, Any]] | None)


def read_turn(line: bytes) -> Turn | None:
    """The turn on a line; None where another reader has to look, and to say what is wrong."""
    try:
        return _TURN.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def read_turn_keeping(line: bytes) -> Turn | None:
    """The same, its states and claims kept as they stand in the file."""
    try:
        if not line.isascii():
            line.decode()  # what is kept is not looked into
        turn = _KEEPING.decode(line)
        for said in turn.utterances:
            claims_in(said.claims)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return turn


def json_of(value: object) -> str | None:
    """JSON text of a part of a turn; None where there is nothing."""
    if isinstance(value, msgspec.Raw):
        return _text(bytes(value))
    return None if value is None else dumps(value)


@lru_cache(maxsize=4096)  # a turn begins with the state that the one before left
def _text(written: bytes) -> str | None:
    value = _value(written)
    return None if value is None else dumps(value)


def _value(written: bytes) -> Any:
    try:
        return msgspec.json.decode(written)
    except (msgspec.MsgspecError, UnicodeDecodeError):  # halves of surrogate pairs
        return loads(written)


def claims_in(claims: object) -> tuple[PlannedClaim, ...] | None:
    """The claims of a text, before them the one that says of which kinds all are told; None where nothing is known.

    Raises:
        msgspec.ValidationError: they are no list of objects.
    """
    if isinstance(claims, msgspec.Raw):
        return _claims(bytes(claims))
    return None if claims is None else _planned(claims)  # type: ignore[arg-type]  # read by the other reader, which has checked them


@lru_cache(maxsize=65536)  # scripted players have few things to say
def _claims(written: bytes) -> tuple[PlannedClaim, ...] | None:
    claims = _CLAIMS.decode(written)
    return None if claims is None else _planned(claims)


def _planned(claims: Sequence[Mapping[str, Any]]) -> tuple[PlannedClaim, ...]:
    says_so = claims and claims[0].get("kind") == "read"
    return tuple(PlannedClaim(str(claim.get("kind")), dumps(claim)) for claim in (claims if says_so else (_READ, *claims)))
