"""Worlds with a known truth, to measure how often an interval holds it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analytics.agreement.pairs import Comparison
from analytics.estimates.rates import ErrorCounts, Labelled, Units

Floats = NDArray[np.float64]


ANSWERS = ("no", "unclear", "yes")
SCORES = np.array([0.0, 0.5, 1.0])
_TURNS = 20
_LENGTHS = (0.25, 0.5, 1.0, 1.0, 2.25)
"""Of games of unequal length, as shares of the mean."""


class Judged(NamedTuple):
    """A judge that errs, asked about all turns of some games, and labels on some of them."""

    games: int
    labels: int
    by_game: bool
    """Whether labels stand on all turns of as many games as it takes, two at least, or on turns drawn from all games."""
    clustering: float
    """Intraclass correlation of the truth inside a game (beta distribution of the games' rates)."""
    rate: float
    accuracy: float
    """Sensitivity and specificity."""
    unequal: bool = False
    """Whether games are a quarter to more than twice as long as the mean one."""
    error_clustering: float = 0.0
    """Intraclass correlation of the judge's being right inside a game: in some games it errs often, in others hardly."""


class Data(NamedTuple):
    """Data sets of such a world; each array of shape (data sets, games)."""

    units: Units
    labelled: Labelled
    errors: ErrorCounts


def judged_games(world: Judged, data_sets: int, random: np.random.Generator) -> Data:
    """Draw data sets. A game has 20 turns, or as many as the labels need."""
    shape = (data_sets, world.games)
    turns = max(_TURNS, -(-(1 if world.by_game else 2) * world.labels // world.games))
    sizes = np.full(world.games, turns)
    if world.unequal:
        sizes = np.maximum(1, np.round(turns * np.resize(_LENGTHS, world.games))).astype(np.int64)
    if world.by_game:
        labelled = np.zeros(shape, dtype=np.int64)
        known = min(world.games, max(2, round(world.labels / turns)))
        labelled[:, :known] = sizes[:known]
    else:
        labelled = random.multivariate_hypergeometric(sizes, world.labels, size=data_sets, method="marginals")
    rates = _beta(world.rate, world.clustering, shape, random)
    yes = random.binomial(labelled, rates)
    no = labelled - yes
    right, clear = (_beta(world.accuracy, world.error_clustering, shape, random) for _ in range(2))
    found, cleared = random.binomial(yes, right), random.binomial(no, clear)
    rest = sizes - labelled
    rest_yes = random.binomial(rest, rates)
    said_of_rest = random.binomial(rest_yes, right) + random.binomial(rest - rest_yes, 1 - clear)
    said = found + no - cleared
    parts = (said + said_of_rest, np.broadcast_to(sizes, shape), yes, said, labelled, yes, found, no, cleared)
    numbers = [part.astype(float) for part in parts]
    return Data(Units(*numbers[:2]), Labelled(*numbers[2:5]), ErrorCounts(*numbers[5:]))


class Rated(NamedTuple):
    """Two raters with the answers no, unclear and yes; the second gives the first's answer with some probability, else another."""

    games: int
    shares: tuple[float, float, float]
    """Of the first rater's answers."""
    right: float
    """Probability of the same answer."""
    clustering: float
    """Intraclass correlation, inside a game, of the first one's answers and of the second one's being right."""
    unequal: bool
    """Games of 1 to some 60 units instead of 10."""

    def table(self) -> Floats:
        """Probability of each pair of answers."""
        return np.array(self.shares)[:, None] * _confusion(np.array(self.right))


def agreeing_raters(world: Rated, random: np.random.Generator) -> Comparison:
    """Draw one data set."""
    sizes = np.full(world.games, 10)
    if world.unequal:
        sizes = np.where(random.random(world.games) < 0.1, 50, 0) + np.minimum(random.geometric(0.1, world.games), 40)
    shares, right = np.tile(world.shares, (world.games, 1)), np.full(world.games, world.right)
    if world.clustering:
        strength = (1 - world.clustering) / world.clustering
        shares = random.dirichlet(np.array(world.shares) * strength, world.games)
        right = _beta(world.right, world.clustering, (world.games,), random)
    cells = (shares[:, :, None] * _confusion(right)).reshape(world.games, -1)
    counts = random.multinomial(sizes, cells / cells.sum(axis=1, keepdims=True))
    games = np.repeat(np.arange(world.games), sizes)
    pairs = np.repeat(np.tile(np.arange(cells.shape[1]), world.games), counts.ravel())
    first, second = np.divmod(pairs, len(ANSWERS))
    one_hot = np.eye(len(ANSWERS))
    return Comparison(
        rubric="r",
        question="q",
        kind="judge_people",
        rater_a="people",
        rater_b="judge",
        answers=ANSWERS,
        scores=SCORES,
        counts_a=one_hot[first],
        counts_b=one_hot[second],
        clusters=games,
        weights=np.ones(len(games)),
        unanswered=0,
    )


def _beta(mean: float, clustering: float, shape: tuple[int, ...], random: np.random.Generator) -> Floats:
    if not clustering:
        return np.full(shape, mean)
    strength = (1 - clustering) / clustering
    return random.beta(mean * strength, (1 - mean) * strength, shape)


def _confusion(right: Floats) -> Floats:
    """Shape (...) -> (..., answers, answers)."""
    size = len(ANSWERS)
    other = (1 - right) / (size - 1)
    return other[..., None, None] + (right - other)[..., None, None] * np.eye(size)
