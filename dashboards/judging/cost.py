"""Cost: calls, tokens and money of each scoring job, and of a thousand verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from dashboards.judging.common import WHOLE_STORE
from dashboards.parts import Part, card, stat, table
from dashboards.reader import Reader

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SECTION", "TITLE", "content"]

SECTION = "cost"
TITLE = "Cost"

_JOBS = """
WITH counted AS (
    SELECT judge_run_id, count(*) AS verdicts, count(*) FILTER (status = 'failed') AS failed
    FROM verdicts WHERE rubric = $rubric GROUP BY judge_run_id
),

jobs AS (
    SELECT
        judge, coalesce(variant, 'as written') AS walls, started_at, status, units, calls, tokens_in, tokens_out, cost,
        coalesce(verdicts, 0) AS verdicts, coalesce(failed, 0) AS failed, epoch(finished_at - started_at) AS seconds
    FROM judge_runs LEFT JOIN counted USING (judge_run_id)
    WHERE rubric = $rubric
)
"""
_SUMS = """
    sum(units)::BIGINT AS units, sum(calls)::BIGINT AS calls, sum(verdicts)::BIGINT AS verdicts, sum(failed)::BIGINT AS failed,
    sum(tokens_in)::BIGINT AS tokens_in, sum(tokens_out)::BIGINT AS tokens_out, sum(seconds) AS seconds, sum(cost) AS cost,
    1000 * sum(tokens_in + tokens_out) / nullif(sum(verdicts), 0) AS tokens_per_1000,
    1000 * sum(cost) / nullif(sum(verdicts) FILTER (cost IS NOT NULL), 0) AS cost_per_1000
"""
_NUMBERS = {
    "units": "Units",
    "calls": "Calls",
    "verdicts": "Verdicts",
    "failed": "Failed",
    "tokens_in": "Tokens in",
    "tokens_out": "Tokens out",
    "seconds": "Time",
    "cost": "USD",
    "tokens_per_1000": "Tokens / 1,000 verdicts",
    "cost_per_1000": "USD / 1,000 verdicts",
}


def content(read: Reader, rubric: str) -> Part:
    """By judge and by job, probes included."""
    asked = {"rubric": rubric}
    by_judge = read.rows(f"{_JOBS} SELECT judge, walls, count(*) AS jobs, {_SUMS} FROM jobs GROUP BY ALL ORDER BY judge, walls", asked)
    by_job = read.rows(
        f"{_JOBS} SELECT strftime(started_at, '%Y-%m-%d %H:%M') AS at, judge, walls, status, {_SUMS} "
        "FROM jobs GROUP BY judge, walls, started_at, status ORDER BY started_at DESC LIMIT 200",
        asked,
    )
    return html.Div(
        [
            _tiles(by_judge),
            card("By judge", _numbers(by_judge, {"judge": "Judge", "walls": "Walls", "jobs": "Jobs"}), hint=WHOLE_STORE),
            card("By job", _numbers(by_job, {"at": "Began (UTC)", "judge": "Judge", "walls": "Walls", "status": "Status"})),
        ]
    )


def _tiles(by_judge: pl.DataFrame) -> Part:
    calls, verdicts, tokens = (int(sum(by_judge[name])) for name in ("calls", "verdicts", "tokens_in"))
    tokens += int(sum(by_judge["tokens_out"]))
    priced = by_judge["cost"].drop_nulls()
    known = int(sum(by_judge.filter(by_judge["cost"].is_not_null())["verdicts"]))
    money = "–" if priced.is_empty() else _money(float(priced.sum()))
    return html.Div(
        [
            stat("calls", _whole(calls), "retries included"),
            stat("verdicts", _whole(verdicts)),
            stat("tokens", _whole(tokens)),
            stat("spent", money, "by the price file" if len(priced) else "no model has a price"),
            stat("per 1,000 verdicts", _money(1000 * float(priced.sum()) / known) if len(priced) and known else "–"),
        ],
        className="stats",
    )


def _numbers(rows: pl.DataFrame, heads: dict[str, str]) -> Part:
    columns = heads | _NUMBERS
    show = dict.fromkeys(("units", "calls", "verdicts", "failed", "tokens_in", "tokens_out", "tokens_per_1000"), _whole)
    show |= {"seconds": _time, "cost": _dollars, "cost_per_1000": _dollars}
    return table(rows.select(*columns), columns, show=show, classes={"at": "when"})


def _whole(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _money(value: float) -> str:
    return f"{_dollars(value)} USD"


def _dollars(value: float | None) -> str:
    """Cents, or where there is less, two digits that mean something."""
    if value is None:
        return "–"
    return f"{value:,.2f}" if value >= 1 or value == 0 else f"{value:.2g}"


def _time(value: float | None) -> str:
    if value is None:
        return "–"
    minutes, seconds = divmod(round(value), 60)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min {seconds:02} s" if minutes else f"{value:.1f} s"  # noqa: PLR2004
