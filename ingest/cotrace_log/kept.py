"""Turns of cotrace's own log, read quickly: what repeats itself can be kept as it stands in the file.

States are then parsed once for each that differs, and so are planted labels and the claims that scripted players know their texts to make.
A family's `ingest.<family>.own` says by `KEEPS = True` that it asks `json_of` for states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields
from functools import lru_cache
from types import GenericAlias
from typing import Any, Final, NamedTuple, get_type_hints

import msgspec

from ingest.reading.json_text import dumps, loads
from schemas.game import ActionEntry, OracleEntry, PlantedLabel, Turn, UtteranceEntry

__all__ = ["PlannedClaim", "claims_in", "json_of", "read_turn", "read_turn_keeping"]

_READ: Final = {"kind": "read"}


class PlannedClaim(NamedTuple):
    """A claim of a text, as its author planned it."""

    kind: str
    text: str
    """Its JSON text."""


def _fast(kind: type[Any], **kept: Any) -> Any:
    """The record as a Struct, which msgspec reads in half the time of a dataclass; ``kept``: fields that are of another type in it."""
    hints = get_type_hints(kind) | kept
    columns = [(entry.name, hints[entry.name], _default(entry)) for entry in fields(kind)]
    return msgspec.defstruct(kind.__name__, columns, kw_only=True, gc=False, eq=False)


def _default(entry: Field[Any]) -> Any:
    if entry.default is not MISSING:
        return entry.default
    return msgspec.field() if entry.default_factory is MISSING else msgspec.field(default_factory=entry.default_factory)


def _several(kind: Any) -> Any:
    return GenericAlias(list, (kind,))


_TURN: Final = msgspec.json.Decoder(Turn)
_KEEPING: Final = msgspec.json.Decoder(
    _fast(
        Turn,
        state_before=msgspec.Raw,
        state_after=msgspec.Raw,
        utterances=_several(_fast(UtteranceEntry, claims=msgspec.Raw)),
        oracle=_several(_fast(OracleEntry)) | None,
        actions=_several(_fast(ActionEntry)),
        labels=_several(msgspec.Raw),
    )
)
_LABEL: Final = msgspec.json.Decoder(_fast(PlantedLabel))
_CLAIMS: Final = msgspec.json.Decoder(list[dict[str, Any]] | None)


def read_turn(line: bytes) -> Turn | None:
    """The turn on a line; None where another reader has to look, and to say what is wrong."""
    try:
        return _TURN.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def read_turn_keeping(line: bytes) -> Turn | None:
    """The same, its states and claims kept as they stand in the file; equal labels are one object."""
    try:
        if not line.isascii():
            line.decode()  # what is kept is not looked into
        turn = _KEEPING.decode(line)
        turn.labels = list(map(_label, map(bytes, turn.labels)))
        for said in turn.utterances:
            claims_in(said.claims)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    read: Turn = turn
    return read


_label: Final = lru_cache(maxsize=65536)(_LABEL.decode)
"""Scripted players make the same mistakes again and again."""


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
