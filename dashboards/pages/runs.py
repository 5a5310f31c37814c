"""Runs: what was played, judged and read, when, with what, at what cost, how far it is, and what went wrong; it follows what comes in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dashboards.address import GAME, game_at
from dashboards.grid import Grid, GridColumn, TableRows, columns_of, grid, table_links
from dashboards.parts import Part, card, data, html, link_choices, stat
from schemas.common.wording import count, counted, of_unknown_cost, spent

if TYPE_CHECKING:
    from dashboards.reader import Reader


PATH = "/runs"
TITLE = "Runs"
IN_MENU = True
ORDER = 92
FILTERS: Final[tuple[str, ...]] = ()

_KINDS: Final = {
    "played": "Played",
    "judged": "Judged",
    "read": "Read",
    "receipts": "Receipts",
    "rejected": "Rejected",
    "calls": "Calls that failed",
}
_HINTS: Final = {
    "played": "One line an experiment, the latest first. Crashed and truncated games are excluded from rates.",
    "judged": "One line a scoring job, the latest first.",
    "read": "One line a file of logs, the latest first.",
    "receipts": "What each file of conversations holds, counted without its reader, and how much of it is stored. Losses come first.",
    "rejected": "Parts of logs that could not be used, with the reason and the fix.",
    "calls": "Requests to models without a usable reply.",
}
_TOTALS: Final = """
    SELECT
        (SELECT count(*) FROM runs) AS runs, (SELECT count(*) FROM games) AS games, (SELECT count(*) FROM repeated_episodes) AS again,
        (SELECT count(*) FROM judge_runs) AS jobs, (SELECT count(*) FROM judge_runs WHERE status IN ('running', 'submitted')) AS running,
        (SELECT count(*) FROM rejects) AS rejects, (SELECT count(*) FROM calls WHERE status = 'failed') AS failed
"""
_SPENT: Final = "FROM spending WHERE purpose IN ('judge', 'player')"
_PLAYED: Final = """
    SELECT *, strftime(started_at, '%Y-%m-%d %H:%M') AS at FROM experiments ORDER BY started_at DESC NULLS LAST, name, run_id
"""
_JUDGED: Final = """
    SELECT *, strftime(started_at, '%Y-%m-%d %H:%M') AS at, tokens_in + tokens_out AS tokens FROM scoring_jobs
    ORDER BY started_at DESC, rubric, judge_run_id
"""
_READ: Final = """
    SELECT strftime(ingested_at, '%Y-%m-%d %H:%M') AS at, file, format, episodes, rejected, bytes FROM sources
    ORDER BY ingested_at DESC, file
"""
_RECEIPTS: Final = """
    SELECT file, kind, counted, stored, array_to_string(missing, '; ') AS missing FROM receipts INNER JOIN sources USING (source_id)
    ORDER BY kind <> 'keys' AND coalesce(stored, 0) < counted DESC, file, kind
"""
_REJECTED: Final = "SELECT path, locator, reason, excerpt FROM rejects ORDER BY path, locator"
_CALLS: Final = """
    SELECT strftime(asked_at, '%Y-%m-%d %H:%M') AS at, purpose, model, run, attempts, error, episode_id, coalesce(turn, 1) AS turn
    FROM calls WHERE status = 'failed' ORDER BY asked_at DESC, call_id
"""


def content(read: Reader) -> Part:
    """`?show=played|judged|read|receipts|rejected|calls`."""
    totals = read.rows(_TOTALS).row(0, named=True)
    kind = read.address.one("show") if read.address.one("show") in _KINDS else "played"
    table = _TABLES[kind]
    live = html.Span("live", className="pill good", title="This page follows the store", **data(live=""))
    return html.Div(
        [
            html.H1(["Runs ", live]),
            html.P(_lead(totals), className="lead"),
            _tiles(totals, {row["purpose"]: row for row in read.rows(_SPENT).iter_rows(named=True)}),
            link_choices("Show", [(text, read.address.to(show=name), name == kind) for name, text in _KINDS.items()]),
            card(_KINDS[kind], grid(read, table), hint=_HINTS[kind], menu=table_links(read, table)),
        ]
    )


def _lead(totals: dict[str, Any]) -> str:
    wrong = [
        text
        for number, text in (
            (totals["rejects"], counted(totals["rejects"], "rejected part") + " of logs"),
            (totals["failed"], counted(totals["failed"], "failed call")),
        )
        if number
    ]
    running = f"Under way, or killed: {counted(totals['running'], 'scoring job')}. " if totals["running"] else "Nothing is under way. "
    return running + (f"What went wrong: {', '.join(wrong)}." if wrong else "Nothing went wrong.")


def _tiles(totals: dict[str, Any], spending: dict[str, dict[str, Any]]) -> Part:
    again = f", {count(totals['again'])} duplicates excluded" if totals["again"] else ""
    return html.Div(
        [
            stat(
                "experiment" if totals["runs"] == 1 else "experiments", count(totals["runs"]), f"{counted(totals['games'], 'game')}{again}"
            ),
            stat("scoring job" if totals["jobs"] == 1 else "scoring jobs", count(totals["jobs"])),
            *(
                stat(f"spent on {purpose}s", spent(row["cost"], row["calls_unpriced"]), of_unknown_cost(row["calls_unpriced"]))
                for purpose in ("judge", "player")
                for row in [spending.get(purpose, {"cost": None, "calls_unpriced": 0})]
            ),
        ],
        className="stats",
    )


def _played(read: Reader, _: str) -> TableRows:
    return TableRows(
        sql=_PLAYED,
        columns=columns_of("runs", "played"),
        link=lambda row: read.address.narrowed(GAME, benchmark=row["benchmark"], condition=row["condition"]),
    )


def _judged(read: Reader, _: str) -> TableRows:
    return TableRows(
        sql=_JUDGED,
        columns=columns_of("runs", "judged"),
        link=lambda row: read.address.narrowed("/judges", rubric=row["rubric"]),
    )


def _read(_: Reader, __: str) -> TableRows:
    return TableRows(
        sql=_READ,
        columns=columns_of("runs", "read"),
    )


def _receipts(_: Reader, __: str) -> TableRows:
    return TableRows(
        sql=_RECEIPTS,
        columns=columns_of("runs", "receipts"),
    )


def _rejected(_: Reader, __: str) -> TableRows:
    columns = {"path": "File", "locator": "Where", "reason": "Why", "excerpt": "Excerpt"}
    return TableRows(sql=_REJECTED, columns={name: GridColumn(heading=heading, kind="words") for name, heading in columns.items()})


def _calls(_: Reader, __: str) -> TableRows:
    return TableRows(
        sql=_CALLS,
        columns=columns_of("runs", "calls"),
        link=lambda row: game_at(row["episode_id"], row["turn"]) if row["episode_id"] else PATH,
    )


_TABLES: Final = {
    "played": Grid("runs-played", _played, "Experiments"),
    "judged": Grid("runs-judged", _judged, "Scoring jobs"),
    "read": Grid("runs-read", _read, "Files"),
    "receipts": Grid("runs-receipts", _receipts, "Receipts"),
    "rejected": Grid("runs-rejected", _rejected, "Rejected parts"),
    "calls": Grid("runs-calls", _calls, "Calls that failed"),
}
TABLES = tuple(_TABLES.values())
