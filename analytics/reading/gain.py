"""Whether a reader's new prompt reads better than the old one: on texts of held-out authors, paired, with intervals over games."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from analytics.statistics.cluster_intervals import share_interval
from analytics.statistics.intervals import Estimate
from analytics.statistics.shifts import Shift, paired_shift
from judges.claims.scoring import TEXT, Count
from schemas import wording

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["ReadingGain", "conclusion", "reading_gain"]

_SURE: Final = 0.05
_SEVERAL: Final = 2


class ReadingGain(NamedTuple):
    """Precision and recall of the fields of claims before and after, and the difference of the score that was climbed."""

    texts: int
    games: int
    precision: tuple[Estimate | None, Estimate | None]
    """Before and after; right of given."""
    recall: tuple[Estimate | None, Estimate | None]
    """Right of meant."""
    difference: Shift
    """Mean over texts of the score after minus before."""


def reading_gain(
    games: Sequence[str], before: Sequence[Sequence[Count]], after: Sequence[Sequence[Count]], score: Callable[[Iterable[Count]], float]
) -> ReadingGain:
    """Compare two readings of the same texts.

    Args:
        games: of each text.
        before: what the old prompt's reading of each text got right.
        after: the new prompt's.
        score: of one text's counts, 0 to 1.
    """
    import numpy as np

    names, places = np.unique(np.array(games), return_inverse=True)
    apart = np.array([score(new) - score(old) for old, new in zip(before, after, strict=True)])
    sums, sizes = _by_game(apart, places), _by_game(np.ones(len(games)), places)
    given, meant, right = zip(*(_sums(found, places) for found in (before, after)), strict=True)
    precision = (_share(right[0], given[0]), _share(right[1], given[1]))
    recall = (_share(right[0], meant[0]), _share(right[1], meant[1]))
    return ReadingGain(len(games), len(names), precision, recall, paired_shift(sums, sizes))


def _by_game(values: Any, places: Any) -> Floats:
    import numpy as np

    return np.bincount(places, weights=values).astype(float)


def _sums(found: Sequence[Sequence[Count]], places: Any) -> list[Floats]:
    """Values given, meant and right by game."""
    told = [[one for one in text if one.kind != TEXT] for text in found]
    columns = ([sum(getattr(one, name) for one in text) for text in told] for name in ("given", "meant", "right"))
    return [_by_game(column, places) for column in columns]


def _share(right: Floats, of: Floats) -> Estimate | None:
    some = of > 0
    if some.sum() < _SEVERAL:
        return None
    ends = share_interval(right[some], of[some])
    return Estimate(float(right.sum() / of.sum()), float(ends.low), float(ends.high))


def conclusion(found: ReadingGain, authors: Sequence[str]) -> str:
    """What may be said, and no more: one sentence."""
    shift = found.difference
    interval = "" if shift.low is None or shift.high is None else f" ({shift.low:+.3f} to {shift.high:+.3f})"
    change = f"by {shift.difference:+.3f}{interval} on {found.texts} texts of {found.games} games by {', '.join(authors)}"
    if shift.p is not None and shift.p <= _SURE and shift.low is not None and shift.low > 0:
        return f"gain: the score rises {change}, authors that it was not made from"
    if shift.p is not None and shift.p <= _SURE and shift.high is not None and shift.high < 0:
        return f"worse: the score changes {change}; keep the prompt as it was"
    chance = "too few games for a test" if shift.p is None else wording.p_is(shift.p)
    return f"no gain shown: the score changes {change}, which may be chance ({chance}); keep the prompt as it was, or bring more games"
