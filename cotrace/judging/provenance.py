"""Where an optimised rubric comes from, as it stands in its file (docs/optimize.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from judges.optimization.cases import PARTS
from judges.optimization.optimizers import OPTIMIZERS
from providers.asker import now

if TYPE_CHECKING:
    from analytics.judging.optimization_gain import Gain
    from analytics.statistics.intervals import Estimate
    from judges.optimization.search import Optimization, OptimizationResult
    from judges.rubric.model import Rubric


@dataclass(frozen=True)
class HeldOutTest:
    """What the new rubric was tested on, and what came of it."""

    labels: str
    metric: str
    gains: Sequence[Gain]
    conclusion: str
    place: int
    """Which test of this parent on this store it was, from 1."""


def provenance(parent: Rubric, request: Optimization, found: OptimizationResult, test: HeldOutTest) -> dict[str, Any]:
    """The key `provenance` of the new file; its keys are explained in docs/optimize.md."""
    optimizer = OPTIMIZERS[request.optimizer]
    packages = sorted({"cotrace", "dspy", optimizer.package})
    return {
        "parent": {"name": parent.name, "version": parent.version, "hash": parent.hash},
        "questions": list(request.rubric.questions),
        "optimizer": request.optimizer,
        "seed": request.seed,
        "candidates": {"asked_for": request.candidates, "tried": found.tried, "most_demonstrations": request.demonstrations},
        "judge": {"model": request.asked.model, **request.asked.answering()},
        "writer": {"model": request.writer.model, **request.writer.answering()} if optimizer.writes else None,
        "labels": {"source": test.labels, "given": _labels(request)},
        "metric": test.metric,
        "split": {
            name: {"units": len(part), "games": sorted({case.episode_id for case in part})}
            for name, part in zip(PARTS, request.parts, strict=True)
        },
        "validation": {"before": _rounded(found.validation_before), "after": _rounded(found.validation_after)},
        "held_out": {gain.question: _gain(gain) for gain in test.gains},
        "test": test.place,
        "conclusion": test.conclusion,
        "calls": found.usage.asked,
        "answered_from_disk": found.usage.from_cache,
        "failed": found.usage.failed,
        "tokens": [found.usage.tokens_in, found.usage.tokens_out],
        "cost_usd": None if found.usage.cost is None else _rounded(found.usage.cost),
        "versions": {package: version(package) for package in packages},
        "made_at": f"{now().isoformat(timespec='seconds')}Z",
    }


def _labels(request: Optimization) -> int:
    return sum(n for part in request.parts for case in part for given in case.labels.values() for n in given.values())


def _gain(gain: Gain) -> Mapping[str, Any]:
    return {
        "units": gain.units,
        "games": gain.games,
        "before": _estimate(gain.before),
        "after": _estimate(gain.after),
        "difference": _estimate(gain.difference),
        "p": None if gain.p is None else _rounded(gain.p),
    }


def _estimate(found: Estimate | None) -> list[float] | None:
    """Value, lower and upper end."""
    return None if found is None else [_rounded(found.value), _rounded(found.low), _rounded(found.high)]


def _rounded(number: float) -> float:
    return round(number, 4)
