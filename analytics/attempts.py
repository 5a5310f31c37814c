"""pass@k and pass^k: how sure a team is to solve a task in one of k attempts, and in all of them."""

import math
from typing import Final

import numpy as np
import polars as pl

from analytics.comparison.game_values import game_values
from analytics.report_columns import framed
from analytics.statistics.intervals import clustered_share
from schemas.common.errors import UsageError
from schemas.common.text import near
from schemas.store.store import Store

_MOST: Final = 10
"""Values of k beyond this many are left out, but for the largest."""
_GROUP: Final = ("benchmark", "game", "team_name", "condition", "max_turns")


def pass_at_k(attempts: int, solved: int, k: int) -> float:
    """Chance that at least one of k attempts solves the task: 1 - C(n-c, k) / C(n, k), unbiased (Chen et al. 2021, arXiv 2107.03374).

    Args:
        attempts: n, 1 or more.
        solved: c, 0 to n.
        k: 1 to n.

    Returns:
        0 to 1.

    Raises:
        UsageError: the counts do not fit each other.
    """
    _check(attempts, solved, k)
    return 1 - math.comb(attempts - solved, k) / math.comb(attempts, k)


def pass_hat_k(attempts: int, solved: int, k: int) -> float:
    """Chance that all of k attempts solve the task: C(c, k) / C(n, k), unbiased (Yao et al. 2024, arXiv 2406.12045).

    Arguments, returns and errors as in `pass_at_k`.
    """
    _check(attempts, solved, k)
    return math.comb(solved, k) / math.comb(attempts, k)


def _check(attempts: int, solved: int, k: int) -> None:
    if not 0 <= solved <= attempts or not 1 <= k <= attempts:
        raise UsageError(f"{solved} of {attempts} attempts solved, k = {k}: solved is 0 to attempts, and k is 1 to attempts")


def attempts(store: Store, *, benchmark: str | None = None) -> pl.DataFrame:
    """One row for each team, condition and k: games of one team with the same task are attempts at it.

    Columns: `report_columns.csv`.

    Raises:
        UsageError: the store has no such benchmark.
    """
    games = game_values(store, "success")
    known = games["benchmark"].unique().sort().to_list()
    if benchmark is not None and benchmark not in known:
        raise UsageError(f"no games of benchmark {benchmark!r} have a success{near(benchmark, known)}")
    games = games if benchmark is None else games.filter(pl.col("benchmark") == benchmark)
    by_task = games.group_by(*_GROUP, "task", maintain_order=True).agg(pl.len().alias("n"), pl.col("value").sum().alias("solved"))
    rows = [
        dict(zip(_GROUP, key, strict=True)) | {"team": key[_GROUP.index("team_name")]} | row
        for key, part in by_task.group_by(_GROUP, maintain_order=True)
        for row in _rows(part["n"].to_numpy(), part["solved"].to_numpy().round().astype(int))
    ]
    return framed("attempts", rows).sort("benchmark", "game", "condition", "max_turns", "team", "k", nulls_last=True)


def _rows(n: np.ndarray, solved: np.ndarray) -> list[dict[str, float | int]]:
    most = int(n.max())
    rows: list[dict[str, float | int]] = []
    for k in [*range(1, min(most, _MOST) + 1), *([most] if most > _MOST else [])] if most > 1 else []:
        counts = [(int(a), int(c)) for a, c in zip(n, solved, strict=True) if a >= k]
        row: dict[str, float | int] = {
            "k": k,
            "tasks": len(counts),
            "left_out": len(n) - len(counts),
            "attempts": sum(a for a, _ in counts),
        }
        for names, estimate in ((("pass_at_k", "low", "high"), pass_at_k), (("pass_hat_k", "hat_low", "hat_high"), pass_hat_k)):
            found = clustered_share([estimate(a, c, k) for a, c in counts], range(len(counts)))
            if found is not None:
                row |= dict(zip(names, found, strict=True))
        rows.append(row)
    return rows
