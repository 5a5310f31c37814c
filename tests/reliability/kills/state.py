"""What a command leaves behind: rows and files, without what is another one in every run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import duckdb

from schemas.common.processes import worker_pool
from schemas.store.stores import store_at
from schemas.tables import TABLES

_OF_THE_RUN: Final = frozenset({"store_info", "judge_runs"})
"""Tables that tell of runs, of which a killed and a second one are two."""
_ANOTHER_EACH_TIME: Final = re.compile(r"judge_run_id|call_id|run|latency_s|attempts|\w+_at")
_KEYS: Final = frozenset({"call_id", "run", "latency_s", "attempts", "asked_at", "calls"})
_WORKING_FILES: Final = re.compile(r"\.journal(/|$)|\.wal$|\.duckdb$|\.cache|answers")


def state_of(folder: Path) -> dict[str, Any]:
    """Table or file -> its content, in an order of its own."""
    found: dict[str, Any] = {}
    lakes = [log.parent for log in folder.rglob("_delta_log")]
    for lake in lakes:
        with worker_pool(1) as apart:  # what reads lakes has threads, which no fork survives
            found |= apart.submit(_lake, lake).result()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not any(path.is_relative_to(lake) for lake in lakes)):
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".duckdb":
            found |= {f"{name}: {table}": rows for table, rows in _tables(path).items()}
        elif not _WORKING_FILES.search(name):
            found[name] = _content(path)
    return found


def _lake(folder: Path) -> dict[str, list[str]]:
    with store_at(f"lake:{folder}").reading() as connection:
        return {f"{folder.name}: {spec.name}": _rows(connection, spec.name) for spec in TABLES if spec.name not in _OF_THE_RUN}


def _tables(path: Path) -> dict[str, list[str]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        names = [
            row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' ORDER BY 1").fetchall()
        ]
        return {name: _rows(connection, name) for name in names if name not in _OF_THE_RUN}


def _rows(connection: duckdb.DuckDBPyConnection, table: str) -> list[str]:
    columns = [row[0] for row in connection.execute(f"DESCRIBE {table}").fetchall()]
    kept = [f'"{column}"' for column in columns if table == "runs" or not _ANOTHER_EACH_TIME.fullmatch(column)]
    return _listed(connection.execute(f"SELECT {', '.join(kept)} FROM {table}").fetchall())


def _listed(rows: list[tuple[Any, ...]]) -> list[str]:
    """Sums of floats depend on the order of the rows in their last digits."""
    return sorted(repr([f"{value:.9g}" if isinstance(value, float) else value for value in row]) for row in rows)


def _content(path: Path) -> Any:
    if path.suffix == ".parquet":
        with duckdb.connect() as connection:
            columns = [row[0] for row in connection.execute(f"DESCRIBE FROM '{path}'").fetchall()]
            kept = [f'"{column}"' for column in columns if not _ANOTHER_EACH_TIME.fullmatch(column)]
            return _listed(connection.execute(f"SELECT {', '.join(kept)} FROM '{path}'").fetchall())
    text = path.read_text("utf-8", "replace")
    if path.suffix == ".jsonl":
        return [json.dumps(_plain(json.loads(line)), sort_keys=True) for line in text.splitlines()]
    return re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?|judge-[0-9a-f]{12}", "TIME", text)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items() if key not in _KEYS and not key.endswith("_at")}
    return [_plain(one) for one in value] if isinstance(value, list) else value
