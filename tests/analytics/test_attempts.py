"""pass@k and pass^k: the estimators against all draws of attempts, and the report on repeated tasks."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from analytics.attempts import pass_at_k, pass_hat_k
from analytics.reports import report
from schemas.common.errors import UsageError
from tests.ingest.asked import ingested, written


@pytest.mark.parametrize(("n", "solved"), [(1, 0), (4, 0), (4, 1), (5, 3), (3, 3)])
def test_estimators_are_the_means_over_all_draws_of_attempts(n: int, solved: int) -> None:
    """Which is what makes them unbiased."""
    results = [index < solved for index in range(n)]
    for k in range(1, n + 1):
        draws = list(combinations(results, k))
        assert pass_at_k(n, solved, k) == pytest.approx(sum(map(any, draws)) / len(draws))
        assert pass_hat_k(n, solved, k) == pytest.approx(sum(map(all, draws)) / len(draws))


@pytest.mark.parametrize("counts", [(2, 3, 1), (2, 1, 3), (2, 1, 0)])
def test_counts_that_do_not_fit_are_refused(counts: tuple[int, int, int]) -> None:
    """More solved than tried, or more draws than attempts."""
    with pytest.raises(UsageError, match="k is 1 to attempts"):
        pass_at_k(*counts)


def test_attempts_at_the_same_task_are_one_task(tmp_path: Path) -> None:
    """Tasks are what is sampled; one with fewer attempts than k is left out and counted."""
    results = {"a": [1, 0], "b": [1, 1], "c": [0]}
    rows = [
        {"task_id": task, "model": "m", "success": bool(one), "messages": [{"role": "assistant", "content": f"{task} {place}"}]}
        for task, of_task in results.items()
        for place, one in enumerate(of_task)
    ]
    found = report(ingested(tmp_path, written(tmp_path / "a.jsonl", *rows)).store, "attempts")
    columns = ("k", "tasks", "left_out", "attempts", "pass_at_k", "pass_hat_k")
    assert found.select(columns).rows() == [(1, 3, 0, 5, 0.5, 0.5), (2, 2, 1, 4, 1.0, 0.5)]
    assert all(row["low"] <= row["pass_at_k"] <= row["high"] for row in found.iter_rows(named=True))
