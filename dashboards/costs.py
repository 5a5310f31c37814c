"""What turns cost, by the measure that pages speak of: one a family, of those in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from schemas.wording import share, without_zero

if TYPE_CHECKING:
    from dashboards.reader import Reader

__all__ = ["Measure", "cost_in_words", "measure_of"]

_PREFERRED: Final = ("reachable", "know", "solved", "upper_bound", "time")
"""Last parts of measures that count what a team can act on, before those that assume more; others follow by name."""


class Measure(NamedTuple):
    """A measure of `turn_values`."""

    name: str
    unit: str


def measure_of(read: Reader, benchmark: str) -> Measure | None:
    """The measure that pages show for a benchmark; None if no turn of it has a value."""
    found = read.rows(
        "SELECT DISTINCT measure, unit FROM turn_values WHERE starts_with(measure, $benchmark || '.') AND cost IS NOT NULL ORDER BY ALL",
        {"benchmark": benchmark},
    ).rows()
    by_preference = sorted(found, key=lambda row: (_rank(row[0].rpartition(".")[2]), row[0]))
    return Measure(*by_preference[0]) if by_preference else None


def cost_in_words(cost: float | None, unit: str) -> str:
    """`.042 of progress`, `2 steps`; what is next to nothing is nothing."""
    if cost is None:
        return "–"
    if unit == "probability":
        return "nothing" if abs(cost) < 0.005 else f"{share(cost)} of the chance to win"  # noqa: PLR2004 - half a percent
    if unit == "progress":
        told = without_zero(f"{cost:.3f}").replace("-", "−")
        return f"{told} of progress" if abs(cost) >= 0.0005 else "nothing"  # noqa: PLR2004 - half of the last digit
    whole = f"{cost:.0f}" if abs(cost - round(cost)) < 0.05 else f"{cost:.1f}"  # noqa: PLR2004 - a tenth is shown
    return "nothing" if float(whole) == 0 else f"{whole} {unit.removesuffix('s') if whole == '1' else unit}"


def _rank(last: str) -> int:
    return _PREFERRED.index(last) if last in _PREFERRED else len(_PREFERRED)
