"""What a reader (`judges.evidence.reader`) made of a text: rules, a model, or both, which must agree where both have read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields, replace
from types import ModuleType
from typing import Any, cast

from judges.claims import generic
from judges.claims.reading import Read, TextClaims, Told, Unread
from judges.claims.rows import read_of
from judges.evidence.reader import RULES, Reader, reader_named
from judges.evidence.transcript import Transcript, UtteranceView
from schemas.claims import kind_of, written
from schemas.families import module

_MANNER = ("first", "stated", "words")
"""What may differ between two readings of the same claim: how it was told, not what."""


def agreed(rules: Read[Any], model: Read[Any], names: tuple[str, str], weak: Collection[tuple[str, str, Any]] = ()) -> Read[Any]:
    """Join two readings, field by field: what the two contradict each other in is open, with both readings as the reason.

    Args:
        rules: by rules, which leave open what they do not read.
        model: by a model, whose claims are those that count; rules give fields that it leaves out.
        names: of the two readers, for the reasons.
        weak: kind, field and value (None: any) that contradict nothing: they say less than other values do.
    """
    left = [told for told in model.told if told.certain]
    joined: list[Told[Any]] = []
    open_: list[Unread] = []
    for told in rules.told:
        if not told.certain:
            continue
        twin = next((other for other in left if _joined(told.claim, other.claim, weak) is not None), None)
        if twin is not None:
            left.remove(twin)
            joined.append(twin._replace(claim=_joined(told.claim, twin.claim, weak)))
        elif not _is_weak(told.claim, weak) and not any(_joined(told.claim, one.claim, weak) is not None for one in joined):
            open_.append(_differs(told, f"{names[0]}: {told.claim}; {names[1]} does not say so"))
    for told in left:
        if _is_weak(told.claim, weak) or not _understood(rules, told) or any(same_claim(told.claim, one.claim) for one in joined):
            joined.append(told)
        else:
            open_.append(_differs(told, f"{names[1]}: {told.claim}; {names[0]} does not say so"))
    order = sorted(joined, key=lambda told: (told.start is None, told.start or 0))
    return Read(tuple(order), (*model.unread, *open_), model.vouched)


def _differs(told: Told[Any], why: str) -> Unread:
    return Unread(getattr(told.claim, "words", ""), why, (type(told.claim),), told.start, told.end)


def _understood(rules: Read[Any], told: Told[Any]) -> bool:
    """Whether the rules have understood the words of a model's claim, so that their silence contradicts it."""
    if told.start is None or told.end is None:
        return False
    kind, start, end = type(told.claim), told.start, told.end
    stretches = [(clause.start, clause.end) for clause in rules.unread if kind in clause.may_hold]
    stretches += [(one.start, one.end) for one in rules.told if not one.certain]
    return not any(begin is None or stop is None or (begin < end and start < stop) for begin, stop in stretches)


def _joined(rules: Any, model: Any, weak: Collection[tuple[str, str, Any]]) -> Any | None:
    """The model's claim with what the rules add to it; None if the two contradict each other."""
    if type(rules) is not type(model):
        return None
    said, other = told_fields(rules), told_fields(model)
    added: dict[str, Any] = {}
    for name, value in said.items():
        if name not in other or (isinstance(value, tuple) and set(value) >= set(other[name])):
            added[name] = getattr(rules, name)
        elif isinstance(value, tuple) and set(value) <= set(other[name]):
            continue
        elif value != other[name] and not any((kind_of(type(rules)), name, one) in weak for one in (None, value, other[name])):
            return None
    return replace(model, **added)


def _is_weak(claim: object, weak: Collection[tuple[str, str, Any]]) -> bool:
    """Whether a claim says nothing that another could contradict."""
    return any((kind_of(type(claim)), field.name, getattr(claim, field.name)) in weak for field in fields(claim))  # type: ignore[arg-type]


def same_claim(one: object, other: object) -> bool:
    """Whether two claims say the same."""
    return type(one) is type(other) and told_fields(one) == told_fields(other)


def told_fields(claim: object) -> dict[str, Any]:
    """What a claim says: each field that says something, without how it was told."""
    said = written(claim)
    told = ((name, value) for name, value in said.items() if name not in _MANNER and name != "kind")
    return {name: tuple(sorted(value)) if isinstance(value, tuple | list) else value for name, value in told}


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
