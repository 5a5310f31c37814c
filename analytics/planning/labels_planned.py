"""How many labels a plan takes, as rows of `report power`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from analytics.query import query

if TYPE_CHECKING:
    from schemas.store import Store

__all__ = ["labels_rows"]

_WIDTHS: Final = ("0_10", "0_05", "0_02")
"""Half-widths, as the columns of the report of labels needed are named."""


def labels_rows(store: Store, metric: str) -> list[dict[str, Any]]:
    """Of the questions that have labels: design, metric, difference, tasks (with ends and as it is now) and advice, by half-width.

    Args:
        store: a store with the views.
        metric: score: all questions; `judge:<rubric>.<question>`, with or without `@<judge>`: that one; others have none.
    """
    from analytics.rates.corrected import labels_needed_report

    prefix, _, asked = metric.partition(":")
    if metric != "score" and prefix != "judge":
        return []
    question, _, judge = asked.partition("@")
    if not query(store, "SELECT 1 FROM labels LIMIT 1").height:
        return []
    found = labels_needed_report(store, rubric=question.rpartition(".")[0] or None).to_dicts()
    return [
        planned
        for row in found
        if row["labels"] and question in ("", f"{row['rubric']}.{row['question']}") and judge in ("", row["judge"])
        for planned in _of_question(row)
    ]


def _of_question(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    reached = [width for width in _WIDTHS if row[f"labels_for_{width}"]]
    for width in reached or _WIDTHS[:1]:
        needed, low, high = (row[f"labels_for_{width}{end}"] for end in ("", "_low", "_high"))
        half = float(width.replace("_", "."))
        whose = f" on games of {row['model']}" if row["model"] else ""
        ends = f" ({low or 'no number'} to {high or 'no number'}, as sure as the variances are)" if low or high else ""
        told = f"{needed:,} labels{ends}" if needed else f"no number of labels on these {row['units']} units: have more games judged"
        yield {
            "design": "labels",
            "metric": f"judge:{row['rubric']}.{row['question']}@{row['judge']}",
            "difference": half,
            "tasks": needed,
            "tasks_low": low,
            "tasks_high": high,
            "tasks_now": row["labels"],
            "advice": f"{row['question']} by {row['judge']}{whose}, known to plus or minus {half:g}: {told}; there are {row['labels']:,}",
        }
