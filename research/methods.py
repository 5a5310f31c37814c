"""What methods would bring that reports do not use, on data with a known truth: `python -m research methods`.

*Cross-fitting*: the judge's weight in a corrected rate is estimated from the labels that it then corrects. Its variance takes for each game
the weight of the other games; the rate does not. Its bias, against the standard error, and the same with the weight of the other half of
the games, show what is lost by that. *Weights by the chance of an answer*: labels only on units that the judge answered, weighted by 1 over
the share answered in their third of the game; right if nothing but the turn decides what is answered, and nothing in the data shows
whether that is so. *Raters as clusters*: three people label a third each, and each takes some no for yes; Student's t over three people's
means; against the range of the truth that reports give where a fifth of the units has a second label, by another person.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from analytics.estimates.rates import Labelled, Units, judge_weight, possible_truth, prediction_powered
from analytics.statistics.intervals import mean_interval, share_interval
from research.pages import put
from research.simulation import Floats, Judged, judged_games

_SETS: Final = 2000
_GAMES, _TURNS, _LABELS, _RATE = 60, 12, 200, 0.45


def cross_fitting(labels: int, games: int, random: np.random.Generator) -> tuple[float, float, float, float]:
    """Bias over standard error, and standard error, of the rate as it is, and with the weight of the other half of the games."""
    world = Judged(games, labels, by_game=False, clustering=0.1, rate=0.3, accuracy=0.7)
    data = judged_games(world, _SETS, random)
    found = prediction_powered(data.units, data.labelled).rate
    halves = [np.arange(games) % 2 == side for side in (0, 1)]
    weights = [
        judge_weight(Units(*(one[:, half] for one in data.units)), Labelled(*(one[:, half] for one in data.labelled))) for half in halves
    ]
    judged = data.units.scores.sum(axis=1) / data.units.sizes.sum(axis=1)
    parts = [_half(data.labelled, half, other, judged) for half, other in zip(halves, weights[::-1], strict=True)]
    share = data.labelled.sizes[:, halves[0]].sum(axis=1) / labels
    crossed = share * parts[0] + (1 - share) * parts[1]
    biases = [(float(np.nanmean(rate)) - world.rate, float(np.nanstd(rate))) for rate in (found, crossed)]
    return biases[0][0] / biases[0][1], biases[0][1], biases[1][0] / biases[1][1], biases[1][1]


def _half(labelled: Labelled, half: NDArray[np.bool_], weight: Floats, judged: Floats) -> Floats:
    n = np.maximum(labelled.sizes[:, half].sum(axis=1), 1)
    mean: Floats = labelled.labels[:, half].sum(axis=1) / n + weight * (judged - labelled.scores[:, half].sum(axis=1) / n)
    return mean


def weighted(answers_yes: float, answers_no: float, answers_late: float, random: np.random.Generator) -> tuple[float, float]:
    """Coverage of the interval of labels on answered units, and the same weighted by 1 over the chance of an answer."""
    held = np.zeros(2)
    third = np.arange(_TURNS) // (_TURNS // 3)
    course = np.array([1.5, 1.0, 0.5])[third]
    for _ in range(_SETS // 4):
        truth = random.random((_GAMES, _TURNS)) < _RATE * course
        chance = np.where(truth, answers_yes, answers_no) * np.where(third == 2, answers_late, 1.0)
        answered = random.random(truth.shape) < chance
        labelled = np.isin(np.arange(truth.size), random.choice(np.flatnonzero(answered), _LABELS, replace=False)).reshape(truth.shape)
        share = np.array([answered[:, third == one].mean() for one in range(3)])[third]
        for place, weights in enumerate((labelled * 1.0, labelled / share * share.mean())):
            ends = mean_interval((weights * truth).sum(axis=1), weights.sum(axis=1))
            held[place] += ends.low <= _RATE <= ends.high
    plain, by_chance = held / (_SETS // 4)
    return float(plain), float(by_chance)


def raters(wrong: float, random: np.random.Generator) -> list[float]:
    """Coverage and mean width: games as clusters, raters, and the range that a second label of every fifth unit gives."""
    found = np.zeros((3, 2))
    strength, who = 5, np.resize(np.arange(3), _GAMES)
    for _ in range(_SETS // 4):
        truth = random.random((_GAMES, _TURNS)) < _RATE
        errs = random.beta(wrong * strength, (1 - wrong) * strength, 3)
        label, second = (truth | (random.random(truth.shape) < errs[(who + other) % 3][:, None]) for other in (0, 1))
        sizes = np.full(_GAMES, float(_TURNS))
        of_games = mean_interval(label.sum(axis=1).astype(float), sizes)
        means = np.array([label[who == rater].mean() for rater in range(3)])
        half = float(stats.t.ppf(0.975, 2) * stats.sem(means))
        twice = np.arange(_GAMES) % 5 == 0
        most = float(share_interval((label != second)[twice].sum(axis=1).astype(float), sizes[twice]).high)
        possible = [possible_truth(float(end), most) for end in of_games]
        ends = (*of_games, means.mean() - half, means.mean() + half, possible[0].low, possible[1].high)
        for place, (low, high) in enumerate(zip(ends[::2], ends[1::2], strict=True)):
            found[place] += low <= _RATE <= high, high - low
    return [float(one) for one in (found / (_SETS // 4)).ravel()]


def lines() -> Iterator[str]:
    """The three tables."""
    random = np.random.default_rng(2026)
    yield f"{'cross-fitting of the weight':<44}{'bias / error':>13}{'error':>8}{'crossed: bias / error':>23}{'error':>8}"
    for labels, games in ((30, 10), (60, 10), (200, 60)):
        yield f"{f'{labels} labels of {games} games':<44}" + "{:>13.3f}{:>8.3f}{:>23.3f}{:>8.3f}".format(
            *cross_fitting(labels, games, random)
        )
    yield f"\n{'weights by the chance of an answer: coverage':<60}{'labels':>8}{'weighted':>10}"
    for name, world in {
        "answers late turns half as often": (1.0, 1.0, 0.5),
        "answers 90 % of true yes and 50 % of true no": (0.9, 0.5, 1.0),
        "answers 90 % of true yes and 80 % of true no": (0.9, 0.8, 1.0),
    }.items():
        yield f"{name:<60}" + "{:>8.3f}{:>10.3f}".format(*weighted(*world, random))
    yield f"\n{'raters who take some no for yes':<34}" + "".join(
        f"{name:>22}" for name in ("games: coverage, width", "raters", "second labels")
    )
    for wrong in (0.02, 0.05, 0.1):
        numbers = raters(wrong, random)
        cells = [f"{held:.3f}, {width:.2f}" for held, width in zip(numbers[::2], numbers[1::2], strict=True)]
        yield f"{f'on average {100 * wrong:.0f} %':<34}" + "".join(f"{cell:>22}" for cell in cells)


def main(arguments: Sequence[str]) -> int:
    """Print the tables, or write them into the page."""
    return put("methods", lines(), arguments)
