"""What a reader made of a text: rules, a model, or both, which must agree where both have read; how well it agrees with another.

A family may also bring single messages without their game (`judges.<family>.messages`).
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from judges.claims import generic
from judges.claims.extraction import read_of
from judges.claims.reading import FamilyReading, Read, ReadClaim, TextClaims, Unread
from judges.evidence.transcript import RULES, Reader, Transcript, UtteranceView, reader_named
from schemas.claims import kind_of, written
from schemas.common.errors import UsageError
from schemas.families import module, modules
from schemas.store.store import Store

_MANNER = ("first", "stated", "words")
"""What may differ between two readings of the same claim: its wording, not its content."""


def agreed(rules: Read[Any], model: Read[Any], names: tuple[str, str], weak: Collection[tuple[str, str, Any]] = ()) -> Read[Any]:
    """Join two readings, field by field: what the two contradict each other in is open, with both readings as the reason.

    Args:
        rules: by rules, which leave open what they do not read.
        model: by a model, whose claims are those that count; rules give fields that it leaves out.
        names: of the two readers, for the reasons.
        weak: kind, field and value (None: any) that contradict nothing: they say less than other values do.
    """
    left = [claimed for claimed in model.claims if claimed.certain]
    joined: list[ReadClaim[Any]] = []
    open_: list[Unread] = []
    for claimed in rules.claims:
        if not claimed.certain:
            continue
        twin = next((other for other in left if _joined(claimed.claim, other.claim, weak) is not None), None)
        if twin is not None:
            left.remove(twin)
            joined.append(twin._replace(claim=_joined(claimed.claim, twin.claim, weak)))
        elif not _is_weak(claimed.claim, weak) and not any(_joined(claimed.claim, one.claim, weak) is not None for one in joined):
            open_.append(_differs(claimed, f"{names[0]}: {claimed.claim}; {names[1]} does not say so"))
    for claimed in left:
        if _is_weak(claimed.claim, weak) or not _understood(rules, claimed) or any(same_claim(claimed.claim, one.claim) for one in joined):
            joined.append(claimed)
        else:
            open_.append(_differs(claimed, f"{names[1]}: {claimed.claim}; {names[0]} does not say so"))
    order = sorted(joined, key=lambda claimed: (claimed.start is None, claimed.start or 0))
    return Read(tuple(order), (*model.unread, *open_), model.vouched)


def _differs(claimed: ReadClaim[Any], why: str) -> Unread:
    return Unread(getattr(claimed.claim, "words", ""), why, (type(claimed.claim),), claimed.start, claimed.end)


def _understood(rules: Read[Any], claimed: ReadClaim[Any]) -> bool:
    """Whether the rules have understood the words of a model's claim, so that their silence contradicts it."""
    if claimed.start is None or claimed.end is None:
        return False
    kind, start, end = type(claimed.claim), claimed.start, claimed.end
    stretches = [(clause.start, clause.end) for clause in rules.unread if kind in clause.may_hold]
    stretches += [(one.start, one.end) for one in rules.claims if not one.certain]
    return not any(begin is None or stop is None or (begin < end and start < stop) for begin, stop in stretches)


def _joined(rules: Any, model: Any, weak: Collection[tuple[str, str, Any]]) -> Any | None:
    """The model's claim with what the rules add to it; None if the two contradict each other."""
    if type(rules) is not type(model):
        return None
    reply, other = stated_fields(rules), stated_fields(model)
    added: dict[str, Any] = {}
    for name, value in reply.items():
        if name not in other or (isinstance(value, tuple) and set(value) >= set(other[name])):
            added[name] = getattr(rules, name)
        elif isinstance(value, tuple) and set(value) <= set(other[name]):
            continue
        elif value != other[name] and not any((kind_of(type(rules)), name, one) in weak for one in (None, value, other[name])):
            return None
    return replace(model, **added)


def _is_weak(claim: object, weak: Collection[tuple[str, str, Any]]) -> bool:
    """Whether a claim states nothing that another could contradict."""
    return any((kind_of(type(claim)), field.name, getattr(claim, field.name)) in weak for field in fields(claim))  # type: ignore[arg-type]


def same_claim(one: object, other: object) -> bool:
    """Whether two claims say the same."""
    return type(one) is type(other) and stated_fields(one) == stated_fields(other)


def stated_fields(claim: object) -> dict[str, Any]:
    """What a claim states: each field that has a value, without its wording."""
    reply = written(claim)
    reported = ((name, value) for name, value in reply.items() if name not in _MANNER and name != "kind")
    return {name: tuple(sorted(value)) if isinstance(value, tuple | list) else value for name, value in reported}


def reading_of(game: Transcript, turn: int, message: UtteranceView) -> TextClaims[Any]:
    """What the game's reader understood of a text."""
    reader = reader_named(game.reader)
    found = read_by(game, turn, message, reader)
    if found is None:
        found = Read((), (Unread(message.text, f"{reader.stored} has not read it", family_reading(game.benchmark).types),))
    return TextClaims(found)


def family_reading(benchmark: str) -> FamilyReading:
    """How the texts of a benchmark are read."""
    found: FamilyReading = (module(benchmark, "judges", "reading") or generic).READING
    return found


def read_by(game: Transcript, turn: int, message: UtteranceView, reader: Reader) -> Read[Any] | None:
    """What a reader made of a text of a game that was loaded with it; None if it has not read it."""
    family = family_reading(game.benchmark)
    other = read_of(game.claims.get((turn, message.seq), ()), family.types)
    if other is not None and reader.model is not None and family.resolve is not None:
        other = family.resolve(other, game, turn, message)
    if not reader.rules:
        return other
    own = family.read(game, turn, message)
    if reader.stored is None:
        return own
    return None if other is None else agreed(own, other, (RULES, reader.stored), family.weak)


FIRST = "(first)"
"""Instead of a kind: what the text asks for first, whether the reader is certain of it or not."""

WHOLE = "(whole)"
"""Instead of a field: the claim with all its fields."""

TEXT = "(text)"
"""Instead of a kind: all claims of the text, where the reader states that it has understood all of it."""


class Count(NamedTuple):
    """Of one field of one kind of claim, or of claims as a whole, in one text."""

    kind: str
    field: str
    given: int
    """How often the reader was certain of a value."""
    meant: int
    """How often there is one."""
    right: int
    """How often the reader gave it."""


def counts(read: Read[Any], meant: Read[Any]) -> Iterator[Count]:
    """What a reader got right of a text, as far as the right reading vouches for a kind of claim.

    A claim is held against the one of its kind with which it shares most fields.

    Args:
        read: by the reader; only what it is certain of counts.
        meant: as the author of the text knows it, or a person has annotated it.
    """
    ours, theirs = ([claimed.claim for claimed in one.claims if claimed.certain and _counts(claimed.claim, meant)] for one in (read, meant))
    for kind in dict.fromkeys(map(type, (*theirs, *ours))):
        yield from _of_kind(kind_of(kind), [one for one in ours if type(one) is kind], [one for one in theirs if type(one) is kind])
    understood = not read.unread and all(claimed.certain for claimed in read.claims if _counts(claimed.claim, meant))
    yield Count(TEXT, WHOLE, int(understood), 1, int(understood and _same(ours, theirs)))


def first_counts(read: Read[Any], meant: Read[Any]) -> Iterator[Count]:
    """What a reader got right of the first thing that a text asks for, field by field; nothing for families that know no first.

    Certain or not: the figure of the reading itself, where `counts` has that of what checks may build on.
    """
    ours, theirs = (_first([claimed.claim for claimed in one.claims if _counts(claimed.claim, meant)]) for one in (read, meant))
    for field in dict.fromkeys((*theirs, *ours)):
        right = field in ours and field in theirs and ours[field] == theirs[field]
        yield Count(FIRST, field, int(field in ours), int(field in theirs), int(right))


def _first(claims: Sequence[Any]) -> dict[str, Any]:
    """The fields of the claim that is marked as first; of the first in the text, if none is."""
    asking = [claim for claim in claims if hasattr(claim, "first")]
    chosen = next((claim for claim in asking if claim.first), asking[0] if asking else None)
    return {} if chosen is None else stated_fields(chosen)


def _counts(claim: object, meant: Read[Any]) -> bool:
    return meant.vouched is None or type(claim) in meant.vouched


def _of_kind(kind: str, ours: list[Any], theirs: list[Any]) -> Iterator[Count]:
    given, meant, right = Counter[str](), Counter[str](), Counter[str]()
    for claim in ours:
        given.update([WHOLE, *stated_fields(claim)])
    for claim in theirs:
        meant.update([WHOLE, *stated_fields(claim)])
    for one, other in _pairs(ours, theirs):
        values, expected = stated_fields(one), stated_fields(other)
        right.update(name for name, value in values.items() if name in expected and expected[name] == value)
        right[WHOLE] += same_claim(one, other)
    for field in dict.fromkeys((*meant, *given)):
        yield Count(kind, field, given[field], meant[field], right[field])


def _pairs(ours: Sequence[Any], theirs: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    alike = sorted(
        ((_shared(one, other), -i, -j) for i, one in enumerate(ours) for j, other in enumerate(theirs)),
        reverse=True,
    )
    taken: set[tuple[str, int]] = set()
    for _, i, j in alike:
        if ("ours", i) not in taken and ("theirs", j) not in taken:
            taken |= {("ours", i), ("theirs", j)}
            yield ours[-i], theirs[-j]  # the earlier ones first among those equally alike


def _shared(one: object, other: object) -> int:
    expected = stated_fields(other)
    return sum(name in expected and expected[name] == value for name, value in stated_fields(one).items())


def _same(ours: Sequence[Any], theirs: Sequence[Any]) -> bool:
    left = list(theirs)
    for one in ours:
        twin = next((other for other in left if same_claim(one, other)), None)
        if twin is None:
            return False
        left.remove(twin)
    return not left


class AnnotatedMessages(NamedTuple):
    """Messages and what people wrote that they claim."""

    messages: Sequence[Any]
    """Of the family's own type."""
    refused: Sequence[str]
    """Lines that cannot be used: where, what, why, the fix."""
    ambiguous: int
    """Annotations left out because a careful reader could decide otherwise."""
    not_annotated: int

    @property
    def key(self) -> str:
        """Made from the contents: the same messages have the same key."""
        return hashlib.blake2b(repr(self.messages).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class FamilyMessages(Protocol):
    """A module of this face reads a family's messages."""

    claims_of: Callable[[Mapping[str, Any]], dict[str, Any]]
    """A record of a file, read by rules: `{id, claims}`. Raises BadInputError."""
    annotated_messages: Callable[[Path, Path], AnnotatedMessages]
    """The messages of a file and their claims by another file. Raises UsageError."""
    put_messages: Callable[[AnnotatedMessages, Store], None]
    """Makes a store of them, if it is none already. Raises StoreError."""


def messages_of(benchmark: str | None) -> FamilyMessages:
    """The family's module; without a name, that of the only family that has one.

    Raises:
        UsageError: the family has none, or several have one and none is named.
    """
    found = dict(modules("judges", "messages"))
    if benchmark is None and len(found) > 1:
        raise UsageError(f"whose messages are they? add --benchmark {' or --benchmark '.join(found)}")
    name = benchmark or next(iter(found), "")
    if name not in found:
        raise UsageError(f"--benchmark {name}: single messages are read of {', '.join(found)}")
    return cast("FamilyMessages", found[name])
