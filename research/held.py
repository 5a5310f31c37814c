"""How often the intervals of reports hold the truth, by method: the sections of docs/dev/coverage.md about games without labels."""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from research.plain_intervals import PLAIN
from research.report_intervals import SLOW
from research.scenes import Scene

METHODS: Final = PLAIN | SLOW

_SEED: Final = 2026
_LOW, _HIGH = 0.93, 0.97
_GIVEN: Final = 0.5
"""Share of the data sets that must have an interval; the others have too few events, or none."""

_Found = list[tuple[Scene, float, float]]


def held(name: str, scene: Scene, data_sets: int, seed: int = _SEED) -> tuple[float, float]:
    """Share of the data sets with an interval whose interval holds the truth, and mean width; NaN if fewer than half have one."""
    method = METHODS[name]
    low, high = method.draw(scene, data_sets, np.random.default_rng(seed))
    given = np.isfinite(low) & np.isfinite(high)
    if given.mean() < _GIVEN:
        return np.nan, np.nan
    truth = scene.rate if method.is_rate else 0.0
    inside = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
    return float(inside[given].mean()), float((high - low)[given].mean())


def section(name: str, data_sets: int) -> str:
    """Coverage by number of games, and in the worst scenes."""
    method = METHODS[name]
    draws = max(round(data_sets * method.fraction), 1)
    found = [(scene, *held(name, scene, draws)) for scene in method.scenes]
    given = [one for one in found if np.isfinite(one[1])]
    lines = [
        f"### {name} ({method.reports})",
        f"\n{len(given)} scenes of {draws:,} data sets.\n",
        "| scenes | least | mean | below 0.93 | 0.93 to 0.97 | above 0.97 | mean width |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [f"| {title} | {_told(some)} |" for title, chosen in _groups(given) if (some := [one for one in given if chosen(one[0])])]
    worst = sorted(given, key=lambda one: one[1])[:3]
    lines.append("\nWorst: " + "; ".join(f"{share:.3f} ({_named(scene)})" for scene, share, _ in worst) + ".")
    return "\n".join(lines)


def _groups(found: _Found) -> Iterator[tuple[str, Callable[[Scene], bool]]]:
    yield "all", lambda _: True
    for games in sorted({scene.games for scene, *_ in found}):
        yield f"{games} games", lambda scene, games=games: scene.games == games  # type: ignore[misc]
    yield "equal", lambda scene: not scene.unequal
    yield "unequal", lambda scene: scene.unequal
    for rate in sorted({scene.rate for scene, *_ in found}):
        yield f"share {rate:g}", lambda scene, rate=rate: scene.rate == rate  # type: ignore[misc]


def _told(chosen: _Found) -> str:
    shares, widths = np.array([share for _, share, _ in chosen]), np.array([width for *_, width in chosen])
    below, above = shares < _LOW, shares > _HIGH
    parts = (f"{shares.min():.3f}", f"{shares.mean():.3f}", *(f"{part.mean():.2f}" for part in (below, ~below & ~above, above, widths)))
    return " | ".join(parts)


def _named(scene: Scene) -> str:
    return f"{scene.games} {'unequal' if scene.unequal else 'equal'} games, share {scene.rate:g}, icc {scene.icc:g}"
