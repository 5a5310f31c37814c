"""The columns of reports computed in Python: `report_columns.csv` has their types and meanings, and which fit a terminal.

A line has a report (none: of all reports whose own line has no meaning), columns, type, whether they are shown, and their meaning. Types
are text, count (64-bit), number (double), flag and time (UTC). `x_low` and `x_high` are the ends of the 95 % interval of x.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import polars as pl


class ReportColumn(NamedTuple):
    """A column of a computed report."""

    name: str
    kind: str
    """text, count, number, flag or time."""
    is_shown: bool
    """Whether it fits a terminal."""
    meaning: str


@cache
def _lines() -> dict[str, list[ReportColumn]]:
    found: dict[str, list[ReportColumn]] = {}
    usual: dict[str, str] = {}
    for line in csv.DictReader((files("analytics") / "report_columns.csv").read_text(encoding="utf-8").splitlines()):
        for name in line["columns"].split(", "):
            if not line["report"]:
                usual[name] = line["meaning"]
                continue
            base, _, end = name.rpartition("_")
            of = f" of {base}" if base else ""
            interval = f"{'lower' if end == 'low' else 'upper'} end of the 95 % interval{of}" if end in ("low", "high") else ""
            meaning = line["meaning"] or usual.get(name) or interval
            found.setdefault(line["report"], []).append(ReportColumn(name, line["type"], bool(line["shown"]), meaning))
    return found


def report_columns(report: str) -> list[ReportColumn]:
    """The columns of a computed report in order; empty of others."""
    return _lines().get(report, [])


def framed(report: str, rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """The rows with the columns of a computed report, in their order; what a row lacks is null, what the report lacks is left out."""
    import polars as pl

    kinds = {"text": pl.String(), "count": pl.Int64(), "number": pl.Float64(), "flag": pl.Boolean(), "time": pl.Datetime("us")}
    schema = {column.name: kinds[column.kind] for column in report_columns(report)}
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema, orient="row")
