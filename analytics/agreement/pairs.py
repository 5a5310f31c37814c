"""Two raters, or repeats of one rater: tables of counts and the coefficients of agreement over them.

The coefficients take arrays whose last two axes are a square table of counts (rows: answers of side a, columns: of side b, both in the same
order), and work over any axes in front, so that the thousand tables of a bootstrap cost one call. Where a coefficient is not defined, it is
NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analytics.agreement.answers import ORDER, Answered, Rater, numbered, numbers_of_answers, sums_by
from analytics.report_columns import report_columns
from analytics.statistics.intervals import Floats

if TYPE_CHECKING:
    Codes = NDArray[np.int64]

Scale = Literal["nominal", "ordinal", "interval"]


def cross_pairs(counts_a: Floats, counts_b: Floats) -> Floats:
    """Tables of all pairs between two sides, one a unit: every answer of side a meets every answer of side b.

    Args:
        counts_a: shape (units, answers), how often side a gave each answer.
        counts_b: the same of side b.

    Returns:
        Shape (units, answers, answers).
    """
    table: Floats = counts_a[:, :, None] * counts_b[:, None, :]
    return table


def inner_pairs(counts: Floats) -> Floats:
    """Tables of all ordered pairs of different raters inside one side; shapes as in `cross_pairs`."""
    own: Floats = counts[:, :, None] * np.eye(counts.shape[1])
    return cross_pairs(counts, counts) - own


def coincidences(counts: Floats) -> Floats:
    """Coincidence matrices, one a unit: each ordered pair counts 1 / (ratings of the unit - 1); units with one rating count nothing.

    Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", step C of the general form.
    """
    others = counts.sum(axis=1) - 1
    shares: Floats = inner_pairs(counts) / np.where(others > 0, others, 1)[:, None, None]
    return shares


def percent_agreement(table: Floats) -> Floats:
    """Share of pairs with equal answers, 0 to 1."""
    return _ratio(np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-2, -1)))


def kappa(table: Floats, weights: Floats | None = None) -> Floats:
    """Cohen's kappa, -1 to 1; of a symmetric table of inner pairs it is Fleiss's.

    1 - (weighted disagreement observed) / (expected from the margins): Cohen (1960), Educational and Psychological Measurement 20; with
    weights Cohen (1968), Psychological Bulletin 70; Fleiss (1971), Psychological Bulletin 76.

    Args:
        table: counts, see above.
        weights: shape (answers, answers), the disagreement of each pair, 0 on the diagonal; None: 1 off the diagonal.
    """
    apart: Floats = 1 - np.eye(table.shape[-1]) if weights is None else weights
    n = table.sum(axis=(-2, -1))
    rows, columns = table.sum(axis=-1), table.sum(axis=-2)
    observed = (table * apart).sum(axis=(-2, -1)) * n
    expected = (rows[..., :, None] * columns[..., None, :] * apart).sum(axis=(-2, -1))
    return 1 - _ratio(observed, expected)


def krippendorff_alpha(coincidence: Floats, scale: Scale, values: Floats | None = None) -> Floats:
    """Krippendorff's alpha, at most 1: 1 - (n - 1) * sum of o_ck d_ck / sum of n_c n_k d_ck.

    Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", general form with missing data; d is 1 for different answers
    (nominal), the squared number of ranks between two answers, weighted by how often they are used (ordinal), or the squared difference
    of their values (interval).

    Args:
        coincidence: sums of `coincidences` over units, or of symmetric tables of pairs.
        scale: which difference.
        values: shape (answers,), ascending; for interval.
    """
    n_c = coincidence.sum(axis=-1)
    apart = _differences(n_c, scale, values)
    observed = (coincidence * apart).sum(axis=(-2, -1)) * (n_c.sum(axis=-1) - 1)
    expected = (n_c[..., :, None] * n_c[..., None, :] * apart).sum(axis=(-2, -1))
    return 1 - _ratio(observed, expected)


def _differences(n_c: Floats, scale: Scale, values: Floats | None) -> Floats:
    size = n_c.shape[-1]
    if scale == "nominal":
        return 1 - np.eye(size)
    if scale == "interval":
        assert values is not None
        return np.subtract.outer(values, values) ** 2
    middle = n_c.cumsum(axis=-1) - n_c / 2  # ranks between c and k: all answers from c to k, half of c and half of k left out
    squared: Floats = (middle[..., :, None] - middle[..., None, :]) ** 2
    return squared


def unit_agreement(counts: Floats) -> tuple[Floats, Floats]:
    """What `gwet_ac1` is made of, one a unit.

    Returns:
        Shape (units, 2): the share of agreeing pairs of raters (0 where fewer than two answered) and whether two answered; and shape
        (units, answers): the share of each answer (0 where no rater answered).
    """
    ratings = counts.sum(axis=1)
    pairs = ratings * (ratings - 1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / np.where(pairs > 0, pairs, 1)
    shares: Floats = counts / np.where(ratings > 0, ratings, 1)[:, None]
    return np.column_stack([agreeing, (pairs > 0).astype(float)]), shares


def gwet_ac1(agreeing: Floats, shares: Floats, scale: int | None = None) -> Floats:
    """Gwet's AC1, -1 to 1: (p_a - p_e) / (1 - p_e) with p_e = sum of pi (1 - pi) / (answers - 1).

    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61, for several raters and missing ratings as in Gwet,
    "Handbook of Inter-Rater Reliability" (4th ed. 2014, chapter 5). The number of answers is that of the scale, used or not: an answer that
    no rater happened to give would else change the agreement that is expected by chance.

    Args:
        agreeing: shape (..., 2), sums over units as `unit_agreement` gives.
        shares: shape (..., answers), sums over units.
        scale: answers that could be given; None: those of the table.
    """
    size = max(shares.shape[-1], scale or 0)
    if size < 2:  # noqa: PLR2004 - one possible answer: nothing can differ
        return _ratio(agreeing[..., 0] * 0, agreeing[..., 0] * 0)
    observed = _ratio(agreeing[..., 0], agreeing[..., 1])
    share = _ratio(shares, shares.sum(axis=-1, keepdims=True))
    chance = (share * (1 - share)).sum(axis=-1) / (size - 1)
    return _ratio(observed - chance, 1 - chance)


def rate_of_answer(table: Floats, answer: int, other: int) -> Floats:
    """Of the pairs in which a answered `answer` and b `answer` or `other`, the share in which b answered `answer` too, 0 to 1.

    With yes and no this is the sensitivity of b against a, with no and yes its specificity.
    """
    right = table[..., answer, answer]
    return _ratio(right, right + table[..., answer, other])


def _ratio(part: Floats, whole: Floats) -> Floats:
    """NaN where the whole is 0."""
    found: Floats = np.divide(part, whole, out=np.full(np.broadcast(part, whole).shape, np.nan), where=np.asarray(whole) != 0)
    return found


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
    """The units of each row, in one game."""
    unanswered: int
    """Units that a answered and b was asked about without giving an answer."""
    scale: int | None = None
    """Answers that could be given, whether or not somebody did; None: `answers`."""
    alike: Floats | None = None
    """How many games have just these rows, of each game; None: each is one game."""

    @property
    def within(self) -> bool:
        """Whether raters of one side are compared."""
        return self.rater_a == self.rater_b

    @property
    def units(self) -> int:
        """How many were compared."""
        return int(self.all_units.sum())

    @cached_property
    def games(self) -> Floats:
        """How many games each number in `clusters` represents."""
        return np.ones(int(self.clusters.max()) + 1) if self.alike is None else self.alike

    @cached_property
    def all_units(self) -> Floats:
        """The units of each row, in all games that are alike."""
        return self.weights * self.games[self.clusters]

    @cached_property
    def tables(self) -> Floats:
        """Pairs of the units of each row: shape (rows, answers, answers)."""
        pairs = inner_pairs(self.counts_a) if self.within else cross_pairs(self.counts_a, self.counts_b)
        return pairs * self.weights[:, None, None]

    def coincidences(self, *, scored: bool = False) -> Floats:
        """For alpha: of one side as Krippendorff has it; between sides each pair is a unit with two ratings.

        Args:
            scored: only answers with a number; ratings without one are then missing.
        """
        used = ~np.isnan(self.scores) if scored else np.ones(len(self.scores), dtype=bool)
        if self.within:
            return coincidences(self.counts_a[:, used]) * self.weights[:, None, None]
        tables = self.tables[:, used][:, :, used]
        both: Floats = tables + np.swapaxes(tables, 1, 2)
        return both

    def unit_agreement(self) -> tuple[Floats, Floats]:
        """For AC1: of one side as Gwet has it; between sides each pair is a unit with two ratings."""
        if self.within:
            agreeing, shares = unit_agreement(self.counts_a)
            return agreeing * self.weights[:, None], shares * self.weights[:, None]
        tables = self.tables
        agreeing = np.column_stack([np.trace(tables, axis1=1, axis2=2), tables.sum(axis=(1, 2))])
        return agreeing, (tables.sum(axis=1) + tables.sum(axis=2)) / 2


class _Pair(NamedTuple):
    """The answers of two raters, or of one twice, about the units of a question that they were asked about."""

    games: Codes
    """Of each row, a place in `_Asked.games`."""
    patterns: Codes
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
    used = {rater for rater, about in seen.items() if len(about) > 1}
    return [
        one._replace(
            scores={rater: scores for rater, scores in one.scores.items() if rater in used},
            pairs={raters: pair for raters, pair in one.pairs.items() if used.issuperset(raters)},
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
        raters: pair
        for raters in answered.pairs()
        if _kind(*raters) is not None and (pair := _pair(answered, *raters, question)) is not None
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
    """The answers of both about the units that both answered; inside one side, about those that at least two answered."""
    found = answered.matched(first, second, question)
    a, b = (counts[:, :-1].sum(axis=1)[found.ways] for counts in (found.counts_first, found.counts_second))
    is_usable = a > 1 if first == second else (a > 0) & (b > 0)
    unanswered = 0 if first == second else int(found.units[(a > 0) & (b == 0)].sum())
    if not (is_usable.any() or unanswered):
        return None
    counts = np.hstack([found.counts_first[:, :-1], found.counts_second[:, :-1]])
    return _Pair(found.games[is_usable], found.ways[is_usable], found.units[is_usable], counts, unanswered)


def _compared(asked: Sequence[_Asked], rubric: str, question: str) -> Iterator[Comparison]:
    """The pairs of raters, over all of these questions."""
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
        rows, alike = _alike(_pooled(found, names, games))
        yield Comparison(
            rubric=rubric,
            question=question,
            kind=str(_kind(first, second)),
            rater_a=first[1],
            rater_b=second[1],
            answers=tuple(names),
            scores=scores,
            counts_a=rows.counts[rows.patterns, : len(names)],
            counts_b=rows.counts[rows.patterns, len(names) :],
            clusters=numbered(rows.games)[0],
            weights=rows.units,
            unanswered=rows.unanswered,
            scale=len({*names, *(answer for one in asked for answer in one.scale)}),
            alike=alike,
        )


def _pooled(found: Sequence[tuple[_Asked, _Pair]], names: Sequence[str], games: NDArray[np.uint64]) -> _Pair:
    """The same pair about several questions as one, over these names of answers and games; a row for each way in each game."""
    counts, patterns, places, start = [], [], [], 0
    for one, pair in found:
        columns = [one.names.index(name) if name in one.names else -1 for name in names]
        sides = np.hstack([pair.counts, np.zeros((len(pair.counts), 1))])
        counts.append(sides[:, columns + [column + len(one.names) if column >= 0 else -1 for column in columns]])
        patterns.append(pair.patterns + start)
        places.append(pair.games if one.games is games else np.searchsorted(games, one.games)[pair.games])
        start += len(pair.counts)
    different, pattern = np.unique(np.concatenate(counts), axis=0, return_inverse=True)
    keys = np.concatenate(places) * len(different) + pattern.ravel()[np.concatenate(patterns)]
    keys, units = sums_by(keys, np.concatenate([pair.units for _, pair in found]), len(games) * len(different))
    return _Pair(keys // len(different), keys % len(different), units, different, sum(pair.unanswered for _, pair in found))


def _alike(pair: _Pair) -> tuple[_Pair, Floats]:
    """The rows of one game of all that have the same, which most games with few units have, and how many games these are.

    Two different games are taken for alike if their sums of random numbers are equal, modulo 2 to the 64: by chance in one of a hundred
    million stores of fifty thousand games.

    Args:
        pair: rows in order of games.
    """
    starts = np.flatnonzero(np.diff(pair.games, prepend=-1))
    numbers = np.random.default_rng(0).integers(0, 2**64, len(pair.counts), dtype=np.uint64)
    keys = np.add.reduceat(numbers[pair.patterns] * pair.units.astype(np.uint64), starts)
    _, first, times = np.unique(keys, return_index=True, return_counts=True)
    order = np.argsort(first)
    is_first = np.zeros(len(starts), dtype=bool)
    is_first[first] = True
    rows = np.repeat(is_first, np.diff(starts, append=len(pair.games)))
    one_each = pair._replace(games=pair.games[rows], patterns=pair.patterns[rows], units=pair.units[rows])
    return one_each, times[order].astype(float)


_MIDDLE = 0.5
_CORRELATIONS = ("pearson", "pearson_p", "spearman", "spearman_p")
_CONSTANT = 1e-12

COLUMNS = tuple(column.name for column in report_columns("agreement") if column.name.startswith(("mean_", "consensus_")))


def score_columns(compared: Comparison, na_score: float | None) -> dict[str, float | int | None]:
    """The columns named in `COLUMNS`; None where a number is not defined. Inside one side only `mean_a` and `mean_b` are.

    ``mean_answer_*`` correlates side a's mean of a unit with every answer of side b about it (the procedure of CRAFT's human validation,
    formats section 9), ``mean_mean_*`` the means of both. ``consensus_*`` compares, over units, whether each side's mean is above, at or
    below 0.5. The p-values take all pairs for independent, which they are not: they are here to be compared with published ones.

    Args:
        compared: the two sides.
        na_score: the number of an answer without one; None: it is left out. The published numbers take N/A for 0.5.
    """
    scores = compared.scores if na_score is None else np.where(np.isnan(compared.scores), na_score, compared.scores)
    counted = ~np.isnan(scores)
    values, a, b, units = scores[counted], compared.counts_a[:, counted], compared.counts_b[:, counted], compared.all_units
    found: dict[str, float | int | None] = dict.fromkeys(COLUMNS)
    found["mean_a"], found["mean_b"] = _mean(units @ a, values), _mean(units @ b, values)
    if compared.within:
        return found
    both = (a.sum(axis=1) > 0) & (b.sum(axis=1) > 0)
    a, b, units = a[both], b[both], units[both]
    if not len(a):
        return found
    means_a, means_b = (a @ values) / a.sum(axis=1), (b @ values) / b.sum(axis=1)
    # few means are different: each pair of them once, with the number of its units
    (first, place), (second, other) = (np.unique(means, return_inverse=True) for means in (means_a, means_b))
    given = np.column_stack([np.bincount(place, weights=units * column) for column in b.T])
    found |= _correlated("mean_answer", np.repeat(first, len(values)), np.tile(values, len(first)), given.ravel().astype(float))
    keys, times = sums_by(place * len(second) + other, units, len(first) * len(second))
    means_a, means_b = first[keys // len(second)], second[keys % len(second)]
    found |= _correlated("mean_mean", means_a, means_b, times)
    table = np.zeros((3, 3))
    np.add.at(table, (_side(means_a), _side(means_b)), times)
    found["consensus_n"] = int(units.sum())
    found["consensus_agreement"] = _defined(percent_agreement(table))
    found["consensus_kappa"] = _defined(kappa(table))
    return found


def _side(means: Floats) -> NDArray[np.int64]:
    """0 below the middle, 1 at it, 2 above; a mean of thirds that should be at it is not pushed off by rounding."""
    return (np.sign(np.round(means - _MIDDLE, 9)) + 1).astype(np.int64)


def _mean(counts: Floats, values: Floats) -> float | None:
    """Of numbers that stand there so often."""
    total = float(counts.sum())
    return float(counts @ values) / total if total else None


def _correlated(name: str, first: Floats, second: Floats, times: Floats) -> dict[str, float | int | None]:
    """Correlations of pairs that stand there so often: Pearson's, and Spearman's, which is Pearson's of the ranks."""
    found: dict[str, float | int | None] = {f"{name}_{column}": None for column in _CORRELATIONS}
    there = times > 0
    first, second, times = first[there], second[there], times[there]
    n = int(times.sum())
    found[f"{name}_n"] = n
    if n > 2 and min(np.ptp(first), np.ptp(second)) > _CONSTANT:  # noqa: PLR2004 - through two points goes any line
        numbers = (*_pearson(first, second, times), *_pearson(_ranks(first, times), _ranks(second, times), times))
        found |= {f"{name}_{column}": float(number) for column, number in zip(_CORRELATIONS, numbers, strict=True)}
    return found


def _pearson(first: Floats, second: Floats, times: Floats) -> tuple[float, float]:
    """The correlation, and its p-value by Student's t with two degrees of freedom less than pairs."""
    from scipy import special

    n = times.sum()
    x, y = (values - times @ values / n for values in (first, second))
    r = float(np.clip(times @ (x * y) / math.sqrt((times @ x**2) * (times @ y**2)), -1, 1))
    t = r * math.sqrt((n - 2) / ((1 - r) * (1 + r))) if abs(r) < 1 else math.inf
    return r, float(2 * special.stdtr(n - 2, -abs(t)))


def _ranks(values: Floats, times: Floats) -> Floats:
    """Mean ranks of numbers that stand there so often."""
    _, place = np.unique(values, return_inverse=True)
    counts = np.bincount(place, weights=times)
    ranks: Floats = (counts.cumsum() - (counts - 1) / 2)[place]
    return ranks


def _defined(value: Floats) -> float | None:
    return None if math.isnan(float(value)) else float(value)
