"""Ingest: 2,000 own CRAFT games into a store, against DuckDB alone reading the same lines.

The base is one `INSERT ... UNNEST` over `read_json`. It is measured twice: keeping every message and nothing else, which is the least that
can be called reading a game log, and keeping all that the lines hold, its lists side by side. Neither checks, replays or derives anything.
"""

from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.figures import Figure, seconds
from benchmarks.timing import Measured, medians, peak_mb
from benchmarks.workload import craft_games, fresh, ingest
from ingest.files.run import ingest_paths
from ingest.files.writer import Report
from schemas.store.store import Store

__all__ = ["run"]

_GAMES: Final = 2_000
_ROUNDS: Final = 3
_MOST: Final = 8.0
_MOST_CHECKED: Final = 1.15

_MESSAGES: Final = """
SELECT filename, turn, said.agent, said.channel, said.text
FROM (SELECT filename, turn, unnest(utterances) AS said FROM read_json($1, format = 'newline_delimited', filename = true, columns = {
    turn: 'BIGINT', utterances: 'STRUCT(agent VARCHAR, channel VARCHAR, text VARCHAR)[]'}))
"""
_EVERYTHING: Final = """
SELECT * REPLACE (unnest(utterances) AS utterances, unnest(oracle) AS oracle, unnest(actions) AS actions, unnest(labels) AS labels)
FROM read_json($1, format = 'newline_delimited', filename = true, columns = {
    turn: 'BIGINT', "at": 'VARCHAR', state_before: 'JSON', state_after: 'JSON', oracle_followed: 'BOOLEAN', goal_reached: 'BOOLEAN',
    error: 'VARCHAR', utterances: 'STRUCT(agent VARCHAR, channel VARCHAR, audience VARCHAR[], text VARCHAR, superseded BOOLEAN)[]',
    oracle: 'STRUCT(verb VARCHAR, arguments JSON)[]', actions: 'STRUCT(agent VARCHAR, verb VARCHAR, arguments JSON, raw VARCHAR,
    accepted BOOLEAN, error_code VARCHAR, error_text VARCHAR, undoes BOOLEAN)[]',
    labels: 'STRUCT(rubric VARCHAR, question VARCHAR, agent VARCHAR, answer VARCHAR, basis VARCHAR, planted VARCHAR)[]'})
WHERE turn IS NOT NULL
"""


def run() -> list[Figure]:
    """Measure."""
    paths = craft_games(_GAMES)
    ingest(paths[:200], "warm-up.duckdb")  # imports, schemas
    reports: list[Report] = []
    taken = medians(
        _ROUNDS,
        {
            "messages": partial(_base, _MESSAGES, paths),
            "everything": partial(_base, _EVERYTHING, paths),
            "ours": lambda: reports.append(ingest(paths, "ingest.duckdb")[1]),
        },
    )
    small = [ingest(paths[:1], "small.duckdb")[1] for _ in range(_ROUNDS)]
    return [
        *_times(taken),
        *_parts(taken, reports),
        _with_checks(f"{_GAMES:,} games", reports),
        _with_checks("one game", small),
        *_memory(paths[0].parents[1]),
    ]


def _base(select: str, paths: list[Path]) -> None:
    import duckdb

    files = [str(path) for path in paths]
    with duckdb.connect(str(fresh("base.duckdb"))) as connection:
        connection.execute("SET enable_progress_bar = false")
        columns = connection.execute(f"DESCRIBE {select}", [files[:1]]).fetchall()
        connection.execute(f"CREATE TABLE lines ({', '.join(f'{name!r} {kind}'.replace(chr(39), chr(34)) for name, kind, *_ in columns)})")
        connection.execute(f"INSERT INTO lines {select}", [files])


def _times(taken: dict[str, Measured]) -> list[Figure]:
    ours, messages, everything = taken["ours"], taken["messages"], taken["everything"]
    ratio = ours.wall_s / messages.wall_s
    return [
        Figure(
            f"{_GAMES:,} games, time",
            seconds(ours.wall_s),
            f"{seconds(messages.wall_s)}: DuckDB, one INSERT ... UNNEST of the messages",
            ratio,
            f"<= {_MOST:g}",
            ratio <= _MOST,
        ),
        Figure(
            f"{_GAMES:,} games, time",
            seconds(ours.wall_s),
            f"{seconds(everything.wall_s)}: DuckDB, one INSERT ... UNNEST of all fields",
            ours.wall_s / everything.wall_s,
        ),
        Figure(
            f"{_GAMES:,} games, CPU of all processes",
            seconds(ours.cpu_s),
            f"{seconds(everything.cpu_s)}: DuckDB, all fields",
            ours.cpu_s / everything.cpu_s,
        ),
    ]


def _parts(taken: dict[str, Measured], reports: list[Report]) -> list[Figure]:
    """Where the time goes, out of the round whose total is the median."""
    timing = sorted((report.timing for report in reports), key=lambda timing: timing.wall_s)[len(reports) // 2]
    base = taken["messages"].wall_s
    parts = {
        "of it: reading and building tables, all workers": timing.read_s,
        "of it: replay, all workers": timing.replay_s,
        "of it: validation (Pandera)": timing.validate_s,
        "of it: writing": timing.insert_s,
    }
    return [Figure(name, seconds(value), f"{seconds(base)}: messages", value / base) for name, value in parts.items()]


def _with_checks(what: str, reports: list[Report]) -> Figure:
    """What the checks of all rows by Pandera's schemas add, within the same ingest."""
    walls, checks = (sorted(getattr(one.timing, name) for one in reports)[len(reports) // 2] for name in ("wall_s", "validate_s"))
    ratio = walls / (walls - checks)
    return Figure(
        f"{what}, with Pandera's checks",
        seconds(walls),
        f"{seconds(walls - checks)}: without",
        ratio,
        f"<= {_MOST_CHECKED:g}",
        ratio <= _MOST_CHECKED,
    )


def _memory(folder: Path) -> list[Figure]:
    ours, base = peak_mb(_ingest_alone, folder), peak_mb(_base_alone, folder)
    if ours is None or base is None:
        return []
    return [Figure("peak memory, one process", f"{ours:.0f} MB", f"{base:.0f} MB: DuckDB, all fields", ours / base)]


def _ingest_alone(folder: Path) -> None:
    store = Store(folder.parent / "memory.duckdb")
    store.path.unlink(missing_ok=True)
    ingest_paths([folder], store, workers=1)


def _base_alone(folder: Path) -> None:
    _base(_EVERYTHING, sorted(folder.rglob("*.jsonl")))
