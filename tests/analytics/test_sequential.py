"""Sequential looks keep their level however often one looks, and tell apart what differs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from analytics.statistics.shifts import always_valid_p, confidence_sequence

DATA_SETS, TASKS, LEVEL = 1000, 80, 0.05


def played(difference: float, kind: str, seed: int = 3) -> NDArray[np.float64]:
    """Differences by task of two teams whose tasks differ in difficulty, shape (data sets, tasks)."""
    random = np.random.default_rng(seed)
    level = random.beta(2, 2, (DATA_SETS, TASKS))
    sides = [np.clip(level + side * difference / 2, 0, 1) for side in (1, -1)]
    if kind == "successes":
        return (random.random(level.shape) < sides[0]).astype(float) - (random.random(level.shape) < sides[1])
    return sides[0] * random.random(level.shape) ** 0.5 - sides[1] * random.random(level.shape) ** 0.5


@pytest.mark.parametrize("kind", ["successes", "scores"])
def test_looked_at_after_every_task_the_level_is_kept(kind: str) -> None:
    """Equal teams are told apart in 5 % at most by any look; a t test that is looked at as often, in more than 20 %."""
    differences = played(0.0, kind)
    ever = (always_valid_p(differences).min(axis=1) <= LEVEL).mean()
    assert ever <= LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / DATA_SETS)
    n = np.arange(1, TASKS + 1)
    means = differences.cumsum(axis=1) / n
    spread = np.sqrt(np.maximum((differences**2).cumsum(axis=1) / n - means**2, 1e-12) / n)
    assert (np.abs(means / spread)[:, 9:] > 1.96).any(axis=1).mean() > 0.2


def test_what_differs_is_told_apart() -> None:
    """A difference of 0.3 in success within 80 tasks in more than 80 %."""
    assert (always_valid_p(played(0.3, "successes")).min(axis=1) <= LEVEL).mean() > 0.8


@pytest.mark.sampled(1)
@pytest.mark.parametrize("data_sets", [15, 40])
def test_the_interval_holds_at_all_looks_at_once(data_sets: int) -> None:
    """The mean difference of 0.2 is inside at looks after 20, 40, 60, 80 tasks in 95 % of the runs at least."""
    runs = played(0.2, "successes")[:data_sets]
    truth = float(played(0.2, "successes", seed=8).mean())
    held = [all(low <= truth <= high for low, high in (confidence_sequence(run[:n], LEVEL) for n in range(20, 81, 20))) for run in runs]
    assert np.mean(held) >= 0.95


def test_by_hand() -> None:
    """One task won wholly: stakes s on both sides leave (1 + s) and (1 - s), one on average; nothing follows."""
    assert always_valid_p(np.array([1.0]))[0] == pytest.approx(1.0)
    two = np.mean([((1 + s) ** 2 + (1 - s) ** 2) / 2 for s in (place / 20 for place in range(1, 20))])
    assert always_valid_p(np.array([1.0, 1.0]))[-1] == pytest.approx(1 / two)
    assert confidence_sequence(np.array([]), LEVEL) == (-1.0, 1.0)
