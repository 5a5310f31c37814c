"""What cross-fitting, weights for abstention, and raters as clusters do to a rate whose truth is known: `python -m research methods`.

*Cross-fitting*: the judge's weight in a corrected rate is estimated from the labels that it then corrects; each game's part has the weight
of the other games, against one weight for all. *Weights by the chance of an answer*: labels only on units that the judge answered;
`--answers-by turn` weights them by 1 over the share answered in their third of the game. Right if nothing but the turn decides what is
answered, and nothing in the data shows whether that is so. *Raters as clusters*: three people label a third of the games each, and each
takes some no for yes; against the range of the truth that second labels of a fifth of the games give.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analytics.estimates.corrected import rate_row
from analytics.estimates.rates import judge_weight, prediction_powered
from research.claims import judged_of
from research.pages import put
from research.simulation import Floats, Judged, judged_games

_SETS: Final = 300
_GAMES, _TURNS, _LABELS, _RATE = 60, 12, 200, 0.45


def cross_fitting(labels: int, games: int, random: np.random.Generator) -> Iterator[float]:
    """Bias over standard error, and standard error, with one weight for all games and as the rate is; then the rate's coverage."""
    world = Judged(games, labels, by_game=False, clustering=0.1, rate=0.3, accuracy=0.7)
    data = judged_games(world, 10 * _SETS, random)
    found = prediction_powered(data.units, data.labelled)
    judged, n = data.units.scores.sum(axis=1) / data.units.sizes.sum(axis=1), data.labelled.sizes.sum(axis=1)
    weight = judge_weight(data.units, data.labelled)
    plain = (data.labelled.labels.sum(axis=1) - weight * data.labelled.scores.sum(axis=1)) / n + weight * judged
    for rate in (plain, found.rate):
        yield (float(np.nanmean(rate)) - world.rate) / float(np.nanstd(rate))
        yield float(np.nanstd(rate))
    yield float(((found.low <= world.rate) & (world.rate <= found.high))[~np.isnan(found.rate)].mean())


def _row(truth: NDArray[np.bool_], label: Floats, random: np.random.Generator, **columns: Any) -> dict[str, Any]:
    """The row of `corrected-rates` by a judge that is right in .85; shapes (games, turns), NaN without a label."""
    answer = np.where(random.random(truth.shape) < 0.85, truth, ~truth)
    answered = columns.pop("answered", np.ones(truth.shape, dtype=bool))
    game, turn = np.indices(truth.shape)
    values = {
        "game": game,
        "place": (turn + 1) / _TURNS,
        "label": label,
        "score": np.where(answered, answer, np.nan),
        "is_answered": answered,
    }
    units = pl.DataFrame({name: one.ravel() for name, one in values.items()}).with_columns(pl.col("label", "score").fill_nan(None))
    return rate_row(judged_of(units.with_columns(is_sample=pl.col("label").is_not_null(), **columns)), "turn")


def _covers(row: dict[str, Any], low: str, high: str) -> tuple[float, float]:
    ends = row[low], row[high]
    return (np.nan, np.nan) if None in ends else (float(ends[0] <= _RATE <= ends[1]), ends[1] - ends[0])


def weighted(answers_yes: float, answers_no: float, answers_late: float, random: np.random.Generator) -> Floats:
    """Coverage and mean width of the bounds, and of the rate with weights by the share answered in the third of the game."""
    third = np.arange(_TURNS) // (_TURNS // 3)
    found = []
    for _ in range(_SETS):
        truth = random.random((_GAMES, _TURNS)) < _RATE * np.array([1.5, 1.0, 0.5])[third]
        chance = np.where(truth, answers_yes, answers_no) * np.where(third == 2, answers_late, 1.0)
        answered = random.random(truth.shape) < chance
        label = np.where(answered, truth, np.nan)
        label.ravel()[random.permutation(np.flatnonzero(answered))[_LABELS:]] = np.nan
        row = _row(truth, label, random, answered=answered)
        found.append((*_covers(row, "least_possible", "most_possible"), *_covers(row, "rate_low", "rate_high")))
    means: Floats = np.nanmean(found, axis=0)
    return means


def raters(wrong: float, random: np.random.Generator) -> Floats:
    """Coverage and mean width: games as clusters, raters, and the range that a second label of every fifth game gives."""
    found = []
    strength, who = 5, np.resize(np.arange(3), _GAMES)
    for _ in range(_SETS):
        truth = random.random((_GAMES, _TURNS)) < _RATE
        errs = random.beta(wrong * strength, (1 - wrong) * strength, 3)
        label, second = (truth | (random.random(truth.shape) < errs[(who + other) % 3][:, None]) for other in (0, 1))
        person = np.repeat(who, _TURNS).tolist()
        people = [[{"rater": str(one), "given": float(given)}] for one, given in zip(person, label.ravel().tolist(), strict=True)]
        twice = (np.arange(_GAMES) % 5 == 0)[:, None] & np.ones(_TURNS, dtype=bool)
        differ = pl.Series(np.where(twice, label != second, np.nan).ravel()).fill_nan(None)
        row = _row(truth, label.astype(float), random, people=pl.Series(people), differ=differ)
        ends = ("rate_low", "rate_high"), ("rater_low", "rater_high"), ("least_possible", "most_possible")
        found.append([one for pair in ends for one in _covers(row, *pair)])
    means: Floats = np.nanmean(found, axis=0)
    return means


def lines() -> Iterator[str]:
    """The three tables."""
    random = np.random.default_rng(2026)
    yield f"{'cross-fitting of the weight':<34}{'one weight: bias / error':>26}{'error':>8}{'cross-fitted':>15}{'error':>8}{'coverage':>10}"
    for labels, games in ((30, 10), (60, 10), (200, 60)):
        yield f"{f'{labels} labels of {games} games':<34}" + "{:>26.3f}{:>8.3f}{:>15.3f}{:>8.3f}{:>10.3f}".format(
            *cross_fitting(labels, games, random)
        )
    yield f"\n{'coverage, width where the judge abstains':<50}{'bounds':>14}{'weighted by turn':>20}"
    for name, world in {
        "answers late turns half as often": (1.0, 1.0, 0.5),
        "answers 90 % of true yes and 50 % of true no": (0.9, 0.5, 1.0),
        "answers 90 % of true yes and 80 % of true no": (0.9, 0.8, 1.0),
    }.items():
        numbers = weighted(*world, random)
        yield f"{name:<50}{f'{numbers[0]:.3f}, {numbers[1]:.2f}':>14}{f'{numbers[2]:.3f}, {numbers[3]:.2f}':>20}"
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
