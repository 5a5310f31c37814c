"""Two raters, or one rater's own repeats, as counts ready for the coefficients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from analytics.agreement.answers import numbers_of_answers
from analytics.agreement.measures import coincidences, cross_pairs, inner_pairs, unit_agreement
from analytics.agreement.ways import ORDER, Answered, Rater, numbered, sums_by

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int64]

__all__ = ["ALL", "Comparison", "comparisons"]

ALL = "ALL"
"""Rubric or question of a comparison that pools all."""

_KINDS = {
    ("people", "truth"): "people_truth",
    ("engine", "truth"): "judge_truth",
    ("judge", "truth"): "judge_truth",
    ("engine", "people"): "judge_people",
    ("judge", "people"): "judge_people",
    ("judge", "engine"): "judge_engine",
    ("judge", "judge"): "judge_judge",
}
"""(role of b, role of a) -> kind of the comparison; a is the reference."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The answers of side a and side b about the units that both answered; of one side, where its raters are compared with one another."""

    rubric: str
    question: str
    kind: str
    rater_a: str
    rater_b: str
    answers: tuple[str, ...]
    """By ascending score, answers without one last."""
    scores: Floats
    """Of each answer; NaN: none."""
    counts_a: Floats
    """How often each answer was given: shape (rows, answers). Units of a game with the same counts on both sides stand in one row."""
    counts_b: Floats
    """The same; equal to `counts_a` inside one side."""
    clusters: NDArray[np.int64]
    """The game of each row, from 0 without gaps."""
    weights: Floats
    """The units of each row."""
    unanswered: int
    """Units that a answered and b was asked about without giving an answer."""
    scale: int | None = None
    """Answers that could be given, whether or not somebody did; None: `answers`."""

    @property
    def within(self) -> bool:
        """Whether raters of one side are compared."""
        return self.rater_a == self.rater_b

    @property
    def units(self) -> int:
        """How many were compared."""
        return int(self.weights.sum())

    def tables(self) -> Floats:
        """Pairs of the units of each row: shape (rows, answers, answers)."""
        return self._tables

    @cached_property
    def _tables(self) -> Floats:
        pairs = inner_pairs(self.counts_a) if self.within else cross_pairs(self.counts_a, self.counts_b)
        return pairs * self.weights[:, None, None]

    def coincidences(self, *, scored: bool = False) -> Floats:
        """For alpha: of one side as Krippendorff has it; between sides each pair is a unit with two ratings.

        Args:
            scored: only answers with a number; ratings without one are then missing.
        """
        import numpy as np

        kept = ~np.isnan(self.scores) if scored else np.ones(len(self.scores), dtype=bool)
        if self.within:
            return coincidences(self.counts_a[:, kept]) * self.weights[:, None, None]
        tables = self._tables[:, kept][:, :, kept]
        both: Floats = tables + np.swapaxes(tables, 1, 2)
        return both

    def unit_agreement(self) -> tuple[Floats, Floats]:
        """For AC1: of one side as Gwet has it; between sides each pair is a unit with two ratings."""
        import numpy as np

        if self.within:
            agreeing, shares = unit_agreement(self.counts_a)
            return agreeing * self.weights[:, None], shares * self.weights[:, None]
        tables = self.tables()
        agreeing = np.column_stack([np.trace(tables, axis1=1, axis2=2), tables.sum(axis=(1, 2))])
        return agreeing, (tables.sum(axis=1) + tables.sum(axis=2)) / 2


class _Pair(NamedTuple):
    """What two raters, or one twice, said of the units of a question that they were asked about."""

    games: Codes
    """Of each row, a place in `_Asked.games`."""
    ways: Codes
    """Of each row, a place in `counts`."""
    units: Floats
    """How many there are like that."""
    counts: Floats
    """How often each of `_Asked.names` was given by the first, then by the second: shape (ways, 2 * names)."""
    unanswered: int


class _Asked(NamedTuple):
    """A question."""

    rubric: str
    question: str
    names: Sequence[str]
    """Its answers."""
    scale: frozenset[str]
    """Answers that could be given, N/A left out."""
    scores: dict[Rater, dict[str | None, float | None]]
    """Of each rater the answers that it gave, with their numbers."""
    games: NDArray[np.uint64]
    pairs: dict[tuple[Rater, Rater], _Pair]


def comparisons(answered: Iterable[Answered]) -> Iterator[Comparison]:
    """Every comparison that the answers allow: each question, each rubric as a whole, and all of them.

    Args:
        answered: as `analytics.agreement.units.answered` gives it of everybody.
    """
    asked = [_asked(one, question) for one in answered for question in one.questions]
    for one in asked:
        yield from _compared([one], one.rubric, one.question)
    for rubric in dict.fromkeys(one.rubric for one in asked):
        own = [one for one in asked if one.rubric == rubric]
        yield from _compared(_of_several(own, "question"), rubric, ALL)
    yield from _compared(_of_several(asked, "rubric"), ALL, ALL)


def _of_several(asked: Sequence[_Asked], what: str) -> list[_Asked]:
    """The answers of raters who answered about more than one of them: of others there is nothing to pool."""
    seen: dict[Rater, set[str]] = {}
    for one in asked:
        for rater in one.scores:
            seen.setdefault(rater, set()).add(getattr(one, what))
    kept = {rater for rater, about in seen.items() if len(about) > 1}
    return [
        one._replace(
            scores={rater: scores for rater, scores in one.scores.items() if rater in kept},
            pairs={raters: pair for raters, pair in one.pairs.items() if kept.issuperset(raters)},
        )
        for one in asked
    ]


def _asked(answered: Answered, question: str) -> _Asked:
    """The pairs of raters of a question."""
    scores: dict[Rater, dict[str | None, float | None]] = {}
    for (own, rater, answer), score in answered.scores.items():
        if own == question:
            scores.setdefault(rater, {})[answer] = score
    pairs = {
        raters: pair for raters in answered.pairs if _kind(*raters) is not None and (pair := _pair(answered, *raters, question)) is not None
    }
    return _Asked(answered.rubric, question, answered.answers, _scale_of(answered), scores, answered.games, pairs)


def _scale_of(answered: Answered) -> frozenset[str]:
    """The answers of a rubric: as it comes with cotrace, else as they were given to any of its questions."""
    known = {answer for answer in numbers_of_answers(answered.rubric) or answered.answers if answer != "na"}
    scored = {answer for answer, score in numbers_of_answers(answered.rubric).items() if score is not None}
    return frozenset(scored or known)


def _kind(first: Rater, second: Rater) -> str | None:
    if first == second:
        return {"people": "people", "judge": "judge_repeats"}.get(first[0])
    return _KINDS.get((second[0], first[0]))


def _pair(answered: Answered, first: Rater, second: Rater, question: str) -> _Pair | None:
    """What both said about the units that both answered; inside one side, about those that at least two answered."""
    import numpy as np

    found = answered.matched(first, second, question)
    of_first, of_second = (counts[:, :-1].sum(axis=1) for counts in (found.counts_first, found.counts_second))
    a, b = of_first[found.first], of_second[found.second]
    is_usable = a > 1 if first == second else (a > 0) & (b > 0)
    was_asked = found.counts_second.sum(axis=1)[found.second] > 0
    unanswered = 0 if first == second else int(found.units[(a > 0) & (b == 0) & was_asked].sum())
    if not (is_usable.any() or unanswered):
        return None
    counts = np.hstack(
        [
            np.repeat(found.counts_first[:, :-1], len(found.counts_second), axis=0),
            np.tile(found.counts_second[:, :-1], (len(found.counts_first), 1)),
        ]
    )
    ways = (found.first * len(found.counts_second) + found.second)[is_usable]
    return _Pair(found.games[is_usable], ways, found.units[is_usable], counts, unanswered)


def _compared(asked: Sequence[_Asked], rubric: str, question: str) -> Iterator[Comparison]:
    """The pairs of raters, over all of these questions."""
    import numpy as np

    if not asked:
        return
    scored: dict[str, float | None] = {}
    for answer, score in (item for one in asked for scores in one.scores.values() for item in scores.items()):
        if answer is not None:
            scored[answer] = max((number for number in (scored.get(answer), score) if number is not None), default=None)
    names = sorted(scored, key=lambda name: (scored[name] is None, scored[name], name))
    scores = np.array([np.nan if scored[name] is None else scored[name] for name in names], dtype=float)
    games = asked[0].games if len({id(one.games) for one in asked}) == 1 else np.unique(np.concatenate([one.games for one in asked]))
    raters = {pair for one in asked for pair in one.pairs}
    for first, second in sorted(raters, key=lambda pair: [(ORDER.index(role), rater) for role, rater in pair]):
        found = [(one, one.pairs[first, second]) for one in asked if (first, second) in one.pairs]
        if not any(len(pair.units) for _, pair in found):
            continue
        rows = _pooled(found, names, games)
        yield Comparison(
            rubric=rubric,
            question=question,
            kind=str(_kind(first, second)),
            rater_a=first[1],
            rater_b=second[1],
            answers=tuple(names),
            scores=scores,
            counts_a=rows.counts[rows.ways, : len(names)],
            counts_b=rows.counts[rows.ways, len(names) :],
            clusters=numbered(rows.games)[0],
            weights=rows.units,
            unanswered=rows.unanswered,
            scale=len({*names, *(answer for one in asked for answer in one.scale)}),
        )


def _pooled(found: Sequence[tuple[_Asked, _Pair]], names: Sequence[str], games: NDArray[np.uint64]) -> _Pair:
    """The same pair about several questions as one, over these names of answers and games; a row for each way in each game."""
    import numpy as np

    counts, ways, places, start = [], [], [], 0
    for one, pair in found:
        columns = [one.names.index(name) if name in one.names else -1 for name in names]
        sides = np.hstack([pair.counts, np.zeros((len(pair.counts), 1))])
        counts.append(sides[:, columns + [column + len(one.names) if column >= 0 else -1 for column in columns]])
        ways.append(pair.ways + start)
        places.append(pair.games if one.games is games else np.searchsorted(games, one.games)[pair.games])
        start += len(pair.counts)
    different, way = np.unique(np.concatenate(counts), axis=0, return_inverse=True)
    keys = np.concatenate(places) * len(different) + way.ravel()[np.concatenate(ways)]
    keys, units = sums_by(keys, np.concatenate([pair.units for _, pair in found]), len(games) * len(different))
    return _Pair(keys // len(different), keys % len(different), units, different, sum(pair.unanswered for _, pair in found))
