"""Bars on figures: 95 % intervals everywhere, and each figure says so."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from dashboards.coordination.page import _accuracy_chart
from dashboards.judging.scores import chart
from dashboards.pages.overview import metric_profile
from tests.places import ROOT

WITH_BARS = sorted(path for path in (ROOT / "dashboards").rglob("*.py") if re.search(r"error_[xy]\b", path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", WITH_BARS, ids=lambda path: path.stem)
def test_a_page_with_error_bars_says_that_they_are_95_percent(path: Path) -> None:
    """And none says that it draws a standard error; a module that draws for others leaves it to them."""
    text = path.read_text(encoding="utf-8")
    assert "95 %" in text or path.name == "common.py"
    assert not re.search(r"one standard error|with its standard error", text)


def ends(figure: object) -> list[tuple[float, float]]:
    (bar,) = [trace for trace in figure.data if trace.type == "bar"]  # type: ignore[attr-defined]
    return list(zip(bar.error_y.arrayminus, bar.error_y.array, strict=True))


def test_bars_of_scores_are_intervals() -> None:
    """From 0.2 to 0.7 around 0.5, not half the standard error of 0.1 each way; none where there is a single game."""
    rows = pl.DataFrame(
        {
            "model": ["m", "m"],
            "outcome": ["followed", "followed"],
            "question": ["Q1", "Q2"],
            "score_mean": [0.5, 0.4],
            "score_sem": [0.1, None],
            "score_low": [0.2, None],
            "score_high": [0.7, None],
        }
    ).with_columns(*(pl.lit(1).alias(name) for name in ("scored", "undecided", "na", "failed")))
    assert ends(chart(rows)) == [pytest.approx((0.3, 0.2)), (0, 0)]


def test_bars_of_answers_and_of_metrics_are_intervals() -> None:
    """Of CoordinationQA over questions, of the overview over tasks."""
    rows = pl.DataFrame(
        {"respondent": ["a"], "type": ["EC"], "accuracy": [0.5], "accuracy_se": [0.01], "accuracy_low": [0.3]}
    ).with_columns(accuracy_high=pl.lit(0.8), accuracy_corrected=pl.lit(0.5), chance=pl.lit(0.2))
    assert ends(_accuracy_chart(rows)) == [pytest.approx((0.2, 0.3))]
    profile = pl.DataFrame({"model": ["m"], "condition": ["c"], "metric": ["b.x"], "mean": [0.9], "n": [5], "low": [0.5], "high": [0.95]})
    assert ends(metric_profile(profile)) == [pytest.approx((0.4, 0.05))]
