"""Draws how good verdicts are against how good the reading is, as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

__all__ = ["Point", "chart"]

_LEFT, _TOP, _WIDTH, _HEIGHT = 56, 20, 300, 220
_COLORS = {"model": "#b8432f", "both": "#2f6db8"}
_PANELS = ("precision", "coverage")


class Point(NamedTuple):
    """What came of one reader."""

    kind: str
    reading: float
    """Share of the reader's requests that are right in every field, 0 to 1."""
    coverage: float
    precision: float


def chart(points: Sequence[Point]) -> str:
    """Two panels side by side: precision and coverage of verdicts, by the precision of whole claims."""
    least = min(point.reading for point in points)
    body = "\n".join(line for number, name in enumerate(_PANELS) for line in _panel(points, name, least, number * (_WIDTH + 80)))
    width, height = 2 * _WIDTH + 150, _HEIGHT + 80
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">\n'
        f'<rect width="{width}" height="{height}" fill="white"/>\n{body}\n</svg>\n'
    )


def _panel(points: Sequence[Point], name: str, least: float, shift: int) -> Iterator[str]:
    low = min(0.5, *(getattr(point, name) for point in points))
    left, bottom = _LEFT + shift, _TOP + _HEIGHT
    yield f'<path d="M{left} {_TOP}V{bottom}H{left + _WIDTH}" fill="none" stroke="#444"/>'
    for step in range(6):
        share = low + (1 - low) * step / 5
        y = bottom - _HEIGHT * step / 5
        yield f'<text x="{left - 6}" y="{y + 4:.0f}" text-anchor="end">{share:.2f}</text>'
        yield f'<path d="M{left} {y:.0f}h{_WIDTH}" stroke="#ddd"/>'
        x = left + _WIDTH * step / 5
        yield f'<text x="{x:.0f}" y="{bottom + 16}" text-anchor="middle">{least + (1 - least) * step / 5:.2f}</text>'
    yield f'<text x="{left + _WIDTH / 2}" y="{bottom + 36}" text-anchor="middle">requests read right in every field (precision)</text>'
    yield f'<text x="{left}" y="{_TOP - 7}">{name} of verdicts</text>'
    for place, (kind, color) in enumerate(_COLORS.items()):
        own = sorted((p.reading, getattr(p, name)) for p in points if p.kind == kind)
        spots = [(left + _WIDTH * (x - least) / (1 - least or 1), bottom - _HEIGHT * (y - low) / (1 - low or 1)) for x, y in own]
        yield f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in spots)}" fill="none" stroke="{color}" stroke-width="2"/>'
        yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}"/>' for x, y in spots)
        words = {"model": "the model alone", "both": "the model and the rules"}[kind]
        yield f'<text x="{left + 165}" y="{bottom - 24 + 14 * place}" fill="{color}">{words}</text>'
