"""Predicted against annotated claims: precision and recall for every field of the first instruction, F1 over all claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["FIELDS", "FieldScore", "score_all", "score_first"]

FIELDS = ("verb", "color", "size", "cells", "layer")
ClaimRecord = Mapping[str, Any]


@dataclass(frozen=True)
class FieldScore:
    """Counts of one field and the two rates made of them."""

    right: int
    """Fields that were given and equal the annotation."""

    given: int
    """Fields that were given (not null)."""

    annotated: int
    """Annotated fields (not null)."""

    @property
    def precision(self) -> float | None:
        """Share of the given fields that are right, 0 to 1; None if none was given."""
        return self.right / self.given if self.given else None

    @property
    def recall(self) -> float | None:
        """Share of the annotated fields that were given rightly, 0 to 1; None if none was annotated."""
        return self.right / self.annotated if self.annotated else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall, 0 to 1; None without anything to count."""
        return 2 * self.right / (self.given + self.annotated) if self.given + self.annotated else None


def score_first(pairs: Iterable[tuple[Sequence[ClaimRecord], Sequence[ClaimRecord]]]) -> dict[str, FieldScore]:
    """Score the first instruction of each text, field by field; a pair is (predicted claims, annotated claims)."""
    counts = {name: [0, 0, 0] for name in FIELDS}
    for predicted, annotated in pairs:
        ours, theirs = _first(predicted), _first(annotated)
        for name in FIELDS:
            given, expected = _value(ours, name), _value(theirs, name)
            counts[name][0] += given is not None and given == expected
            counts[name][1] += given is not None
            counts[name][2] += expected is not None
    return {name: FieldScore(*numbers) for name, numbers in counts.items()}


def score_all(pairs: Iterable[tuple[Sequence[ClaimRecord], Sequence[ClaimRecord]]]) -> FieldScore:
    """Score whole claims: a predicted claim is right if all five fields equal those of an annotated claim not used yet."""
    right = given = expected = 0
    for predicted, annotated in pairs:
        left = [_key(claim) for claim in annotated]
        expected += len(left)
        given += len(predicted)
        for claim in predicted:
            if _key(claim) in left:
                left.remove(_key(claim))
                right += 1
    return FieldScore(right, given, expected)


def _first(claims: Sequence[ClaimRecord]) -> ClaimRecord | None:
    return next((claim for claim in claims if claim.get("first")), None)


def _value(claim: ClaimRecord | None, name: str) -> object:
    value = claim.get(name) if claim is not None else None
    return tuple(sorted(value)) if name == "cells" and value else value


def _key(claim: ClaimRecord) -> tuple[object, ...]:
    return tuple(_value(claim, name) for name in FIELDS)
