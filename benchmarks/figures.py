"""What a benchmark gives: figures, each a ratio to a base that was measured in the same run."""

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Figure", "markdown", "seconds", "table"]

_HEADINGS = ("figure", "measured", "base", "ratio", "goal", "met")


class Figure(NamedTuple):
    """One line of the table."""

    name: str
    value: str
    """What was measured, with its unit."""
    base: str
    """What it is held against, measured in the same run."""
    ratio: float
    """Measured by base."""
    goal: str = ""
    """What the ratio should be; empty where none was set."""
    met: bool | None = None
    """None without a goal."""


def seconds(value: float) -> str:
    """A time to three digits: `12.3 s`, `0.123 s`, `4.56 ms`."""
    return f"{value:.3g} s" if value >= 0.1 else f"{1000 * value:.3g} ms"


def table(figures: Sequence[Figure]) -> str:
    """Aligned columns for the terminal."""
    rows = [_HEADINGS, *map(_cells, figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def markdown(figures: Sequence[Figure]) -> str:
    """A Markdown table."""
    rows = [_HEADINGS, ("---",) * len(_HEADINGS), *map(_cells, figures)]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows)


def _cells(figure: Figure) -> tuple[str, ...]:
    met = "" if figure.met is None else "yes" if figure.met else "**no**"
    return figure.name, figure.value, figure.base, f"{figure.ratio:.3g}", figure.goal, met
