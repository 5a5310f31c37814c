"""Cost: calls, tokens and money of each scoring job, and of a thousand verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dash import html

from dashboards.grid import Grid, fold
from dashboards.judging.common import WHOLE_STORE
from dashboards.parts import Part, card, stat
from dashboards.reader import Reader
from dashboards.tables import GridColumn, TableRows
from schemas.wording import NOTHING, count, money, of_unknown_cost, spent

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SECTION", "TABLES", "TITLE", "content"]

SECTION = "cost"
TITLE = "Cost"

_JOBS = """
WITH counted AS (
    SELECT judge_run_id, count(*) AS verdicts, count(*) FILTER (status = 'failed') AS failed
    FROM verdicts WHERE rubric = $rubric GROUP BY judge_run_id
),

jobs AS (
    SELECT
        judge, coalesce(variant, 'as written') AS variant, started_at, status, units, calls, tokens_in, tokens_out, cost,
        coalesce(verdicts, 0) AS verdicts, coalesce(failed, 0) AS failed, epoch(finished_at - started_at) AS seconds
    FROM judge_runs LEFT JOIN counted USING (judge_run_id)
    WHERE rubric = $rubric
)
"""
_SUMS = """
    sum(units)::BIGINT AS units, sum(calls)::BIGINT AS calls, sum(verdicts)::BIGINT AS verdicts, sum(failed)::BIGINT AS failed,
    CASE WHEN count(tokens_in) = count(*) THEN sum(tokens_in)::BIGINT END AS tokens_in,
    CASE WHEN count(tokens_out) = count(*) THEN sum(tokens_out)::BIGINT END AS tokens_out,
    sum(seconds) AS seconds, sum(cost) AS cost, coalesce(sum(calls) FILTER (cost IS NULL), 0)::BIGINT AS unpriced,
    1000 * sum(tokens_in + tokens_out) / nullif(sum(verdicts) FILTER (tokens_in + tokens_out IS NOT NULL), 0) AS tokens_per_1000,
    1000 * sum(cost) / nullif(sum(verdicts) FILTER (cost IS NOT NULL), 0) AS cost_per_1000
"""
_NUMBERS: Final = {
    "units": GridColumn(heading="Units", kind="count"),
    "calls": GridColumn(heading="Calls", kind="count"),
    "verdicts": GridColumn(heading="Verdicts", kind="count"),
    "failed": GridColumn(heading="Failed", kind="count"),
    "tokens_in": GridColumn(heading="Tokens in", kind="count"),
    "tokens_out": GridColumn(heading="Tokens out", kind="count"),
    "seconds": GridColumn(heading="Time", kind="seconds"),
    "cost": GridColumn(heading="Cost", kind="money"),
    "unpriced": GridColumn(heading="Calls of unknown cost", kind="count"),
    "tokens_per_1000": GridColumn(heading="Tokens / 1000 verdicts", kind="count"),
    "cost_per_1000": GridColumn(heading="Cost / 1000 verdicts", kind="money"),
}
_BY_JUDGE = f"{_JOBS} SELECT judge, variant, count(*) AS jobs, {_SUMS} FROM jobs GROUP BY ALL ORDER BY judge, variant"
_BY_JOB = f"""
{_JOBS} SELECT strftime(started_at, '%Y-%m-%d %H:%M') AS at, judge, variant, status, {_SUMS}
FROM jobs GROUP BY judge, variant, started_at, status ORDER BY started_at DESC
"""


def content(read: Reader, rubric: str) -> Part:
    """By judge and by job, probes included."""
    by_judge = read.rows(_BY_JUDGE, {"rubric": rubric})
    return html.Div(
        [
            _tiles(by_judge),
            card("By judge", fold(read, BY_JUDGE, rubric, is_open=True), hint=WHOLE_STORE),
            card("By job", fold(read, BY_JOB, rubric, is_open=True)),
        ]
    )


def _tiles(by_judge: pl.DataFrame) -> Part:
    calls, verdicts = (int(sum(by_judge[name])) for name in ("calls", "verdicts"))
    tokens = by_judge["tokens_in"] + by_judge["tokens_out"]
    priced = by_judge["cost"].drop_nulls()
    known = int(sum(by_judge.filter(by_judge["cost"].is_not_null())["verdicts"]))
    total, unknown = float(priced.sum()) if len(priced) else None, int(by_judge["unpriced"].sum())
    return html.Div(
        [
            stat("calls", count(calls), "retries included"),
            stat("verdicts", count(verdicts)),
            stat("tokens", NOTHING, "a server did not count all") if tokens.has_nulls() else stat("tokens", count(int(tokens.sum()))),
            stat(
                "spent", spent(total, unknown), of_unknown_cost(unknown) or ("by the price file" if len(priced) else "no model has a price")
            ),
            stat("per 1000 verdicts", money(1000 * total / known if total is not None and known else None)),
        ],
        className="stats",
    )


def _by_judge(_: Reader, rubric: str) -> TableRows:
    heads = {
        "judge": GridColumn(heading="Judge", kind="judge"),
        "variant": GridColumn(heading="Visible evidence"),
        "jobs": GridColumn(heading="Jobs", kind="count"),
    }
    return TableRows(sql=_BY_JUDGE, parameters={"rubric": rubric}, columns=heads | _NUMBERS)


def _by_job(_: Reader, rubric: str) -> TableRows:
    heads = {
        "at": GridColumn(heading="Began (UTC)", kind="when"),
        "judge": GridColumn(heading="Judge", kind="judge"),
        "variant": GridColumn(heading="Visible evidence"),
        "status": GridColumn(heading="Status", kind="name"),
    }
    return TableRows(sql=_BY_JOB, parameters={"rubric": rubric}, columns=heads | _NUMBERS)


BY_JUDGE: Final = Grid("cost-by-judge", _by_judge, "Judges")
BY_JOB: Final = Grid("cost-by-job", _by_job, "Jobs")
TABLES = (BY_JUDGE, BY_JOB)
