"""Two readings of one text as one: what both say is certain, where they differ nothing is."""

from __future__ import annotations

from typing import Any

from judges.claims.reading import Read, Told, Unread
from schemas.claims import written

__all__ = ["agreed", "same_claim", "told_fields"]

_MANNER = ("first", "stated", "words")
"""What may differ between two readings of the same claim: how it was told, not what."""


def agreed(one: Read[Any], other: Read[Any], names: tuple[str, str]) -> Read[Any]:
    """Join two readings: a claim counts where both make it; what only one makes, or did not understand, stays open.

    Args:
        one: a reading.
        other: another of the same text.
        names: of the two readers, for the reasons.
    """
    theirs = [told for told in other.told if told.certain]
    shared: list[Told[Any]] = []
    alone: list[tuple[Told[Any], str]] = []
    for told in one.told:
        twin = next((their for their in theirs if same_claim(told.claim, their.claim)), None) if told.certain else None
        if twin is None:
            alone.append((told, f"{names[0]}: {told.claim}; {names[1]} does not say so"))
        else:
            theirs.remove(twin)
            shared.append(told)
    alone += [(told, f"{names[1]}: {told.claim}; {names[0]} does not say so") for told in theirs]
    alone += [(told, f"{names[1]} is not sure of {told.claim}") for told in other.told if not told.certain]
    differing = [Unread(getattr(told.claim, "words", ""), why, (type(told.claim),), told.start, told.end) for told, why in alone]
    return Read(tuple(shared), (*one.unread, *other.unread, *differing))


def same_claim(one: object, other: object) -> bool:
    """Whether two claims say the same."""
    return type(one) is type(other) and told_fields(one) == told_fields(other)


def told_fields(claim: object) -> dict[str, Any]:
    """What a claim says: each field that says something, without how it was told."""
    said = written(claim)
    told = ((name, value) for name, value in said.items() if name not in _MANNER and name != "kind")
    return {name: tuple(sorted(value)) if isinstance(value, tuple | list) else value for name, value in told}
