"""One reading of a text held against another that is known to be right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from judges.claims.readers import same_claim, told_fields
from judges.claims.reading import Read
from schemas.claims import kind_of

FIRST = "(first)"
"""Instead of a kind: what the text asks for first, whether the reader is certain of it or not."""

WHOLE = "(whole)"
"""Instead of a field: the claim with all its fields."""

TEXT = "(text)"
"""Instead of a kind: all claims of the text, where the reader says that it has understood all of it."""


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
    ours, theirs = ([told.claim for told in one.told if told.certain and _counts(told.claim, meant)] for one in (read, meant))
    for kind in dict.fromkeys(map(type, (*theirs, *ours))):
        yield from _of_kind(kind_of(kind), [one for one in ours if type(one) is kind], [one for one in theirs if type(one) is kind])
    understood = not read.unread and all(told.certain for told in read.told if _counts(told.claim, meant))
    yield Count(TEXT, WHOLE, int(understood), 1, int(understood and _same(ours, theirs)))


def first_counts(read: Read[Any], meant: Read[Any]) -> Iterator[Count]:
    """What a reader got right of the first thing that a text asks for, field by field; nothing for families that know no first.

    Certain or not: the figure of the reading itself, where `counts` has that of what checks may build on.

    Args:
        read: by the reader.
        meant: as the author of the text knows it, or a person has annotated it.
    """
    ours, theirs = (_first([told.claim for told in one.told if _counts(told.claim, meant)]) for one in (read, meant))
    for field in dict.fromkeys((*theirs, *ours)):
        right = field in ours and field in theirs and ours[field] == theirs[field]
        yield Count(FIRST, field, int(field in ours), int(field in theirs), int(right))


def _first(claims: Sequence[Any]) -> dict[str, Any]:
    """The fields of the claim that is said to be first; of the first in the text, if none is."""
    asking = [claim for claim in claims if hasattr(claim, "first")]
    chosen = next((claim for claim in asking if claim.first), asking[0] if asking else None)
    return {} if chosen is None else told_fields(chosen)


def _counts(claim: object, meant: Read[Any]) -> bool:
    return meant.vouched is None or type(claim) in meant.vouched


def _of_kind(kind: str, ours: list[Any], theirs: list[Any]) -> Iterator[Count]:
    given, meant, right = Counter[str](), Counter[str](), Counter[str]()
    for claim in ours:
        given.update([WHOLE, *told_fields(claim)])
    for claim in theirs:
        meant.update([WHOLE, *told_fields(claim)])
    for one, other in _pairs(ours, theirs):
        values, expected = told_fields(one), told_fields(other)
        right.update(name for name, value in values.items() if name in expected and expected[name] == value)
        right[WHOLE] += same_claim(one, other)
    for field in dict.fromkeys((*meant, *given)):
        yield Count(kind, field, given[field], meant[field], right[field])


def _pairs(ours: Sequence[Any], theirs: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Each claim with at most one other, the most alike first."""
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
    expected = told_fields(other)
    return sum(name in expected and expected[name] == value for name, value in told_fields(one).items())


def _same(ours: Sequence[Any], theirs: Sequence[Any]) -> bool:
    left = list(theirs)
    for one in ours:
        twin = next((other for other in left if same_claim(one, other)), None)
        if twin is None:
            return False
        left.remove(twin)
    return not left
