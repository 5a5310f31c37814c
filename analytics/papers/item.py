"""A table or figure of a paper: where its numbers come from, and how units become cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from analytics.query import query
from schemas.store import Store

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Note", "PaperItem", "TableCell", "TableCells", "given", "ratios", "units"]


class TableCell(NamedTuple):
    """A number of a table; None where the logs have too little."""

    row: str
    column: str
    value: float | None
    sem: float | None = None
    """As the paper forms it; None where it prints none."""
    low: float | None = None
    """95 % interval over tasks; the paper has none."""
    high: float | None = None
    n: int = 0
    """Units."""


TableCells = Callable[[Store], list[TableCell]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperItem:
    """A table or figure."""

    kind: str
    """table or figure."""
    number: str
    title: str
    needs: str
    """What the logs must hold; of one that no logs can give, what it is instead."""
    cells: TableCells | None = None
    """None: no log can give it."""

    @property
    def name(self) -> str:
        """As in `paper_numbers.csv`: `table 1`, `figure 3a`."""
        return f"{self.kind} {self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something that does not add up in the published results, with the query that shows it."""

    title: str
    says: str
    """What is wrong, and what it changes."""
    sql: str | None = None
    """Run on the store; None: no query can show it, and `says` tells where to look."""
    printed: tuple[str, ...] = ()
    """Items of the paper, such as `table 8`, whose printed numbers the query reads as `printed`: item, row, column, value, sem."""


def units(sql: str, *, ddof: int = 1, with_sem: bool = True, percent: tuple[str, ...] = (), by_cluster: bool = False) -> TableCells:
    """Cells that are means of units, with intervals over clusters.

    The interval is that of a bounded mean where all values are between 0 and 1 (`analytics.statistics.cluster_intervals.mean_interval`),
    else Student's over clusters, which ends at 0 where no value is below, and is left out where all clusters are alike.

    Args:
        sql: gives row, col, cluster (the task), and value, one row a unit.
        ddof: of the standard error over units: 1, or 0 as some of the published scripts have it.
        with_sem: whether the paper prints one.
        percent: ends of the columns that the paper prints as a hundredfold.
        by_cluster: whether the paper takes the mean of the clusters' means.
    """
    grouped = (
        f'SELECT "row"::VARCHAR AS r, col::VARCHAR AS c, "cluster"::VARCHAR AS task, sum(value)::DOUBLE AS total, count(value) AS n, '
        "sum(value * value)::DOUBLE AS squares, min(value) >= 0 AND max(value) <= 1 AS is_share, min(value) < 0 AS falls_below "
        f"FROM ({sql}) WHERE value IS NOT NULL GROUP BY ALL ORDER BY ALL"
    )

    def cells(store: Store) -> list[TableCell]:
        found = query(store, grouped)
        parts = found.group_by("r", "c", maintain_order=True)
        return [_cell(str(row), str(column), part, _How(ddof, with_sem, percent, by_cluster)) for (row, column), part in parts]

    return cells


def ratios(sql: str, *, percent: tuple[str, ...] = ()) -> TableCells:
    """Cells that are shares of many units, counted by cluster, with the interval of `units`; the paper prints no standard error.

    Args:
        sql: gives row, col, cluster, hits and n, the units they are of; several rows of one cluster are summed.
        percent: as in `units`.
    """
    grouped = (
        'SELECT "row"::VARCHAR AS r, col::VARCHAR AS c, "cluster"::VARCHAR AS task, sum(hits)::DOUBLE AS total, sum(n) AS n, '
        f"sum(hits)::DOUBLE AS squares, true AS is_share, false AS falls_below FROM ({sql}) GROUP BY ALL HAVING sum(n) > 0 ORDER BY ALL"
    )
    how = _How(1, with_sem=False, percent=percent, by_cluster=False)

    def cells(store: Store) -> list[TableCell]:
        parts = query(store, grouped).group_by("r", "c", maintain_order=True)
        return [_cell(str(row), str(column), part, how) for (row, column), part in parts]

    return cells


class _How(NamedTuple):
    ddof: int
    with_sem: bool
    percent: tuple[str, ...]
    by_cluster: bool


def _cell(row: str, column: str, part: pl.DataFrame, how: _How) -> TableCell:
    import numpy as np

    sums, sizes = part["total"].to_numpy().astype(float), part["n"].to_numpy().astype(float)
    n = float(sizes.sum())
    mean = float(sums.sum() / n)
    spread = max(float(part["squares"].sum()) / n - mean**2, 0.0) * n / (n - how.ddof) if n > how.ddof else None
    sem = float(np.sqrt(spread / n)) if spread is not None and how.with_sem and n > 1 else None
    if how.by_cluster:
        sums, sizes = sums / sizes, np.ones(len(sizes))
        mean = float(sums.mean())
    low, high = _ends(sums, sizes, is_share=bool(part["is_share"].all()))
    low = low if low is None or part["falls_below"].any() else max(low, 0.0)
    scale = 100 if column.endswith(how.percent) else 1
    value, sem, low, high = (None if number is None else number * scale for number in (mean, sem, low, high))
    return TableCell(row, column, value, sem, low, high, int(n))


def _ends(sums: Floats, sizes: Floats, *, is_share: bool) -> tuple[float | None, float | None]:
    import numpy as np
    from scipy import stats

    from analytics.statistics.cluster_intervals import mean_interval
    from analytics.statistics.intervals import LEVEL

    clusters, total = len(sums), float(sizes.sum())
    if clusters < 2:  # noqa: PLR2004 - one task says nothing about others
        return None, None
    if is_share:
        ends = mean_interval(sums, sizes)
        return float(ends.low), float(ends.high)
    mean = float(sums.sum()) / total
    error = float(np.sqrt(clusters / (clusters - 1) * ((sums - mean * sizes) ** 2).sum())) / total
    if error <= 1e-12 * max(abs(mean), 1.0):  # one without width would say that other tasks give the same
        return None, None
    half = float(stats.t.ppf((1 + LEVEL) / 2, clusters - 1)) * error
    return mean - half, mean + half


def given(sql: str) -> TableCells:
    """Cells as a query gives them: row, col, value, sem, low, high, n."""

    def cells(store: Store) -> list[TableCell]:
        return list(_read(query(store, f'SELECT "row"::VARCHAR, col::VARCHAR, value, sem, low, high, n::BIGINT FROM ({sql}) ORDER BY ALL')))

    return cells


def _read(rows: pl.DataFrame) -> Iterator[TableCell]:
    for row, column, *numbers, n in rows.iter_rows():
        value, sem, low, high = (None if number is None else float(number) for number in numbers)
        yield TableCell(str(row), str(column), value, sem, low, high, n or 0)


if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Floats = NDArray[float64]
