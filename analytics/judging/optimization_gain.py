"""Whether an optimised rubric agrees better with labels than the one it was made from: on held-out games, with an interval.

Both rubrics answer the same units, so the comparison is paired: each game is left out of both, and swapped between both.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from analytics.agreement.pairs import gwet_ac1, kappa, krippendorff_alpha, percent_agreement
from analytics.statistics.intervals import LEVEL, NUDGE, PSEUDO, Estimate, Floats, Pushed, Varied, coefficient_interval
from schemas.common import wording

ALL: Final = "ALL"
"""Name of the mean over the questions."""

_EVEN: Final = 0.2
"""Weight of answers in equal shares in what the added units answer, as in `analytics.agreement.report`."""
_SWAPS: Final = 2000
_SURE: Final = 0.05


class AgreementCoefficient(NamedTuple):
    """A coefficient of agreement."""

    of_table: Callable[[Floats], Floats]
    """From tables of counts, shape (..., answers, answers); rows are the labels'."""
    least: float
    """The lowest value; the highest is 1."""
    corrects_for_answers: bool
    """Whether it takes out what comes of one answer being common; errors are then weighted while a rubric is sought."""
    doc: str


def _alpha(table: Floats) -> Floats:
    return krippendorff_alpha(table + table.swapaxes(-1, -2), "nominal")


def _ac1(table: Floats) -> Floats:
    agreeing = np.stack([np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-2, -1))], axis=-1)
    return gwet_ac1(agreeing, (table.sum(axis=-1) + table.sum(axis=-2)) / 2)


METRICS: Final[Mapping[str, AgreementCoefficient]] = {
    "kappa": AgreementCoefficient(kappa, least=-1, corrects_for_answers=True, doc="Cohen's kappa"),
    "alpha": AgreementCoefficient(_alpha, least=-1, corrects_for_answers=True, doc="Krippendorff's alpha, nominal"),
    "ac1": AgreementCoefficient(_ac1, least=-1, corrects_for_answers=False, doc="Gwet's AC1"),
    "accuracy": AgreementCoefficient(percent_agreement, least=0, corrects_for_answers=False, doc="share of equal answers"),
}
"""Name on the command line -> coefficient; formulas and sources: `analytics.agreement.pairs`."""

Possible = Mapping[str, Sequence[str]]

_NO_ANSWER: Final = "(no answer)"
"""A call that failed agrees with no one: a rubric cannot gain by making the judge fail where it errs."""


class Judged(NamedTuple):
    """A labelled unit and one judge's answers to it."""

    game: str
    labels: Mapping[str, Mapping[str, int]]
    """Question -> answer -> how often it was given."""
    answers: Mapping[str, str]
    """Question -> answer; questions without an answer are missing."""


class Gain(NamedTuple):
    """Agreement before and after, of one question or as the mean over all."""

    question: str
    units: int
    games: int
    before: Estimate | None
    """None: not defined."""
    after: Estimate | None
    difference: Estimate | None
    """after - before."""
    p: float | None
    """Two-sided, of a permutation test that swaps before and after game by game: exact however few the games, and with fewer than six
    games never below 0.05. Not corrected for other runs."""


def mean_agreement(metric: str, judged: Sequence[Judged], possible: Possible) -> float:
    """The coefficient of each question, averaged over the questions in which it is defined; minus infinity where it is in none.

    Args:
        metric: a key of `METRICS`.
        judged: units with labels and answers.
        possible: question -> the answers that it can get; answers in use that are not among them count too.
    """
    tables = _tables(judged, _names(judged, possible))
    found = np.array([METRICS[metric].of_table(table.sum(axis=0)) for table in tables.values()])
    return float(np.nanmean(found)) if np.isfinite(found).any() else -np.inf


def gains(metric: str, before: Sequence[Judged], after: Sequence[Judged], possible: Possible) -> list[Gain]:
    """One for each question, and the mean over them as `ALL` where there are several.

    Args:
        metric: a key of `METRICS`.
        before: units as the first rubric's judge answered them.
        after: the same units in the same order, as the second's did.
        possible: as in `mean_agreement`.
    """
    names = _names([*before, *after], possible)
    tables_before, tables_after = _tables(before, names), _tables(after, names)
    of_table = METRICS[metric].of_table
    flips = _flips(len({one.game for one in before}))
    found: dict[str, _Varied] = {}
    for question, first in tables_before.items():
        second = tables_after[question]
        sums = np.stack([first, second], axis=1)  # games, before and after, answers, answers
        swapped = np.einsum("sg,gbij->sbij", flips, sums) + np.einsum("sg,gbij->sbij", 1 - flips, sums[:, ::-1])
        variants = np.stack([of_table(_variants(first)), of_table(_variants(second))])
        found[question] = _Varied(variants, of_table(swapped), first.sum(axis=(1, 2)))
    least = METRICS[metric].least
    rows = [_gain(question, [one for one in before if question in one.labels], least, varied) for question, varied in found.items()]
    if len(found) > 1:
        variants, swapped, sizes = (np.stack(parts) for parts in zip(*found.values(), strict=True))
        rows.append(_gain(ALL, before, least, _Varied(_mean(variants), _mean(swapped), sizes.sum(axis=0))))
    return rows


def corrected_p(p: float, run: int) -> float:
    """P of the run-th test of successors of one rubric, times run (run + 1).

    The bounds 0.05 / (run (run + 1)) sum to 0.05, so however many runs are made, and whenever one stops, a gain is claimed by chance in at
    most 5 % of all families of runs (alpha spending; Foster and Stine 2008, Journal of the Royal Statistical Society B 70).
    """
    return min(1.0, p * run * (run + 1))


def conclusion(metric: str, found: Sequence[Gain], run: int = 1) -> str:
    """What follows, and no more: one sentence.

    Args:
        metric: a key of `METRICS`.
        found: as `gains` gives them.
        run: the how manieth test it is of what was made from the same rubric, from 1.
    """
    total = found[-1]
    name = METRICS[metric].doc
    if total.before is None or total.after is None or total.difference is None:
        return f"nothing follows: {name} or its interval is not defined on {total.units} held-out units of {total.games} games"
    change = f"by {total.difference.value:+.3f} ({total.difference.low:+.3f} to {total.difference.high:+.3f})"
    where = f"on {total.units} held-out units of {total.games} games"
    p = None if total.p is None else corrected_p(total.p, run)
    of_runs = "" if run == 1 else f", run {run} on this rubric's labels"
    if p is not None and p <= _SURE and total.difference.low > 0:
        return f"gain: {name} rises {change} {where}{of_runs}"
    if p is not None and p <= _SURE and total.difference.high < 0:
        return f"worse: {name} changes {change} {where}{of_runs}; keep the rubric as it was"
    chance = (
        "p is not defined"
        if p is None
        else f"{wording.p_is(p)}, corrected for {'further runs' if run == 1 else f'{run} runs and further ones'}"
    )
    return (
        f"no gain shown: {name} changes {change} {where}{of_runs}, which may be chance ({chance}); "
        "keep the rubric as it was, or label more games"
    )


def _tables(judged: Sequence[Judged], names: Mapping[str, list[str]]) -> dict[str, Floats]:
    """Question -> counts, shape (games, answers, answers), games by name, also those without a label of the question."""
    games = {game: place for place, game in enumerate(sorted({one.game for one in judged}))}
    tables: dict[str, Floats] = {question: np.zeros((len(games), len(of), len(of))) for question, of in names.items()}
    for one in judged:
        for question, given in one.labels.items():
            of = names[question]
            column = of.index(one.answers.get(question, _NO_ANSWER))
            for answer, n in given.items():
                tables[question][games[one.game], of.index(answer), column] += n
    return tables


def _names(judged: Sequence[Judged], possible: Possible) -> dict[str, list[str]]:
    """Question -> its possible answers, and all in use; questions in the order of the possible answers, then as they come up."""
    found = {question: set(answers) for question, answers in possible.items()}
    labelled = {question for one in judged for question in one.labels}
    for one in judged:
        for question, given in one.labels.items():
            found.setdefault(question, set()).update(given, {one.answers.get(question, _NO_ANSWER)})
    return {question: sorted(answers) for question, answers in found.items() if question in labelled}


def _flips(games: int) -> Floats:
    """Which games keep their place, shape (swaps, games): every way to swap if there are few, else a sample with the data as they are."""
    if 2**games <= _SWAPS:
        every: Floats = (np.arange(2**games)[:, None] >> np.arange(games) & 1 == 0).astype(float)
        return every
    drawn = np.random.default_rng(games).integers(0, 2, size=(_SWAPS, games)).astype(float)
    drawn[0] = 1
    return drawn


def _mean(numbers: Floats) -> Floats:
    """Over the questions in which it is defined."""
    defined = ~np.isnan(numbers)
    total, n = np.where(defined, numbers, 0).sum(axis=0), defined.sum(axis=0)
    mean: Floats = np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)
    return mean


_AS_IT_IS: Final = 0
_WITH_ADDED: Final = 1
_PUSHED: Final = ((2, 3), (4, 5))
"""Less and more of each kind of added unit."""
_WITHOUT: Final = 6
"""From here on each game is left out."""


def _variants(table: Floats) -> Floats:
    """What the intervals are made of: shape (games, answers, answers) -> (6 + games, answers, answers)."""
    total = table.sum(axis=0)
    size = len(total)
    shares = (1 - _EVEN) * (total.sum(axis=0) + total.sum(axis=1)) / (2 * total.sum()) + _EVEN / size
    both, same = np.outer(shares, shares), np.eye(size)
    kinds = [PSEUDO * pattern / max(pattern.sum(), _TINY) for pattern in (both * (1 - same), both * same)]
    added = total + kinds[0] + kinds[1]
    pushed = [added + sign * NUDGE * kind for kind in kinds for sign in (-1, 1)]
    return np.concatenate([[total, added, *pushed], added - table])


class _Varied(NamedTuple):
    """A coefficient in all the variants that its intervals and its test need."""

    variants: Floats
    """Shape (2, variants): before and after, see `_variants`."""
    swapped: Floats
    """Shape (swaps, 2)."""
    sizes: Floats
    """Labels by game."""


def _gain(question: str, judged: Sequence[Judged], least: float, varied: _Varied) -> Gain:
    variants, swapped, sizes = varied
    point = variants[1, _AS_IT_IS] - variants[0, _AS_IT_IS]
    differences = swapped[:, 1] - swapped[:, 0]
    as_far = np.abs(differences) >= np.abs(point) - _ROUNDING
    return Gain(
        question=question,
        units=len(judged),
        games=len({one.game for one in judged}),
        before=_level(variants[0], least, sizes),
        after=_level(variants[1], least, sizes),
        difference=_difference(variants, sizes),
        p=None if np.isnan(point) else float(as_far[~np.isnan(differences)].mean()),
    )


def _level(variants: Floats, least: float, sizes: Floats) -> Estimate | None:
    """With the interval of `analytics.statistics.intervals`, on Fisher's z, which for shares is half the log odds."""
    values = (variants - least) * 2 / (1 - least) - 1
    pushed = tuple(Pushed(values[less], values[more]) for less, more in _PUSHED)
    with np.errstate(over="ignore"):  # where all games are alike
        ends = coefficient_interval(Varied(values[_AS_IT_IS], values[_WITH_ADDED], values[_WITHOUT:], pushed, sizes))
    return _estimate(*(least + (float(value) + 1) * (1 - least) / 2 for value in (values[_AS_IT_IS], *ends)))


def _difference(variants: Floats, sizes: Floats) -> Estimate | None:
    """The same on the plain scale: jackknife over games, and the variance of the added units of both sides."""
    from scipy import stats

    games = int((sizes > 0).sum())
    if games < _FEWEST_GAMES:
        return None
    apart = variants[1] - variants[0]
    between = (games - 1) / games * float(((apart[_WITHOUT:] - apart[_WITH_ADDED]) ** 2).sum())
    of_added = float(sum((((variants[:, more] - variants[:, less]) / (2 * NUDGE)) ** 2 / PSEUDO).sum() for less, more in _PUSHED))
    alike = float(sizes.sum() ** 2 / (sizes**2).sum())
    freedom = max(alike - 1, 1.0) * min((between + of_added) / max(between, _TINY), _MANY) ** 2
    half = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) * np.sqrt(between + of_added)
    point, value = float(apart[_AS_IT_IS]), float(apart[_WITH_ADDED])
    return _estimate(point, min(point, value - half), max(point, value + half))


_FEWEST_GAMES: Final = 2
_ROUNDING: Final = 1e-12
_TINY: Final = 1e-300
_MANY: Final = 1e6


def _estimate(value: float, low: float, high: float) -> Estimate | None:
    return None if any(math.isnan(number) for number in (value, low, high)) else Estimate(float(value), float(low), float(high))
