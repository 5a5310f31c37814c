"""Bars on figures: 95 % intervals everywhere, and each figure says so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dashboards.figures import Axis, Dot, dot_plot
from tests.places import ROOT

WITH_BARS = sorted(path for path in (ROOT / "dashboards").rglob("*.py") if re.search(r"error_[xy]\b", path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", WITH_BARS, ids=lambda path: path.stem)
def test_a_page_with_error_bars_says_that_they_are_95_percent(path: Path) -> None:
    """And none says that it draws a standard error; a module that draws for others leaves it to them."""
    text = path.read_text(encoding="utf-8")
    assert "95 %" in text or path.name == "common.py"
    assert not re.search(r"one standard error|with its standard error", text)


def ends(figure: object) -> list[tuple[float, float]]:
    (trace,) = [trace for trace in figure.data if trace.error_x.array or trace.error_y.array]  # type: ignore[attr-defined]
    bars = trace.error_x if trace.error_x.array else trace.error_y
    return list(zip(bars.arrayminus, bars.array, strict=True))


def test_dots_have_intervals_that_end_where_values_end() -> None:
    """From 0.2 to 0.7 around 0.5; none where there is none; never below 0 or above 1 where nothing can be."""
    dots = [
        Dot(line="Q1", value=0.5, low=0.2, high=0.7),
        Dot(line="Q2", value=0.4),
        Dot(line="Q3", value=0.9, low=-0.1, high=1.3),
        Dot(line="Q4", value=None),
    ]
    figure = dot_plot(dots, Axis(title="score"))
    assert ends(figure) == [pytest.approx((0.3, 0.2)), (0, 0), pytest.approx((0.9, 0.1))]
    assert list(figure.data[0].y) == [0, 1, 2]


def test_every_value_of_a_line_is_drawn_and_every_series_looks_its_own() -> None:
    """One trace held several values at one place, and stacked means beyond 1; two entries of the legend had one colour."""
    dots = [
        Dot(line=line, value=value, series=series) for line in ("Q1", "Q2") for series, value in (("followed", 1.0), ("not_followed", 0.4))
    ]
    figure = dot_plot(dots, Axis(title="score"))
    looks = [(trace.marker.color, trace.marker.symbol) for trace in figure.data]
    assert len(set(looks)) == len(looks) == 2
    assert all(len(set(trace.y)) == len(trace.y) for trace in figure.data)
    assert max(value for trace in figure.data for value in trace.x) <= 1
