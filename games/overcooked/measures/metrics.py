"""Trajectory metrics of the paper and of the published evaluation (formats/overcooked.md, sections 7.1 to 7.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from games.overcooked.engine.actions import Trajectory, normalised
from games.overcooked.engine.layout import Layout
from games.overcooked.engine.references import SearchedReferences
from games.overcooked.engine.vocabulary import NONE, known_to_anyone

BETA: Final = 0.95
"""Weight of the number of actions against the length of the reference (section 7)."""

_BETA_SQUARED: Final = BETA * BETA


@dataclass(frozen=True, slots=True)
class TrajectoryScore:
    """How an agent's actions compare with the reference that fits them best."""

    tes: float
    """Trajectory efficiency score, 0 to 1; the code calls it F1."""

    similarity: float
    """Share of the reference that was followed, 0 to 1."""

    precision: float
    """Share of the actions that follow the reference, 0 to 1; the code calls it redundancy, which it is not. 0 without actions."""

    d_max: int
    """Actions of the reference that were followed."""

    reference: int
    """Which reference, from 0: the first of the best."""

    @property
    def redundancy(self) -> float:
        """Share of the actions that do not follow the reference, 0 to 1."""
        return 1.0 - self.precision


def history(actions: Sequence[str], layout: Layout | None = None) -> tuple[str, ...]:
    """Give logged actions as they count in a kitchen: without blanks, unknown ones dropped (section 7.2)."""
    known = known_to_anyone(layout)
    return tuple(action for action in map(normalised, actions) if action in known)


def d_max(done: Trajectory, reference: Trajectory) -> int:
    """Length of the longest prefix of the reference that is a subsequence of what was done (section 7.1)."""
    left = iter(done)
    for matched, action in enumerate(reference):
        if action not in left:  # looks on from the last one found
            return matched
    return len(reference)


def tes(done: Trajectory, reference: Trajectory) -> float:
    """Trajectory efficiency score against one reference: (1 + b^2) D / (m + b^2 n), b = 0.95 (section 7.1)."""
    return _efficiency(d_max(done, reference), len(reference), len(done))


def _efficiency(matched: int, reference_length: int, done_length: int) -> float:
    """The same out of D, m and n; 0 if nothing was done."""
    return (1 + _BETA_SQUARED) * matched / (reference_length + _BETA_SQUARED * done_length) if done_length else 0.0


def best_tes(done: Trajectory, references: Sequence[Trajectory]) -> float:
    """Trajectory efficiency score against the reference that fits best."""
    return max(tes(done, reference) for reference in references)


def searched_tes(done: Trajectory, references: SearchedReferences, agent: int) -> float:
    """Trajectory efficiency score against the best of all references of an agent, 0 to 1."""
    return _efficiency(references.longest_match(agent, done), references.lengths[agent], len(done))


def score(done: Trajectory, references: Sequence[Trajectory]) -> TrajectoryScore:
    """Compare a whole game's actions of one agent with all its references; an agent that did nothing is given the action ``NONE``."""
    counted = tuple(done) or (NONE,)
    values = [tes(counted, reference) for reference in references]
    best = values.index(max(values))
    matched = d_max(counted, references[best])
    return TrajectoryScore(values[best], matched / len(references[best]), matched / len(counted), matched, best)


def progress_completeness(scores: Sequence[TrajectoryScore]) -> float:
    """PC: the mean of the agents' TES, 0 to 1 (paper; section 7.3)."""
    return sum(entry.tes for entry in scores) / len(scores)


def overall_f1_upstream(scores: Sequence[TrajectoryScore], reference_lengths: Sequence[int], action_counts: Sequence[int]) -> float:
    """The code's `overall.mean_f1`, 0 for a perfect game because it takes precision for redundancy (section 7.3); not to be used.

    ``action_counts`` are those the scores were made from: 1 for an agent that did nothing.
    """
    similarity = _weighted([entry.similarity for entry in scores], reference_lengths)
    misnamed = _weighted([1.0 - entry.precision for entry in scores], action_counts)
    return 2 * similarity * misnamed / (similarity + misnamed) if similarity + misnamed else 0.0


def _weighted(values: Sequence[float], weights: Sequence[int]) -> float:
    return sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)
