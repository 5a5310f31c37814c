"""Delete from a store: the verdicts of a judge or a scoring run, an experiment, or what came from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schemas.common.errors import UsageError
from schemas.common.text import near
from schemas.store.store import Store, Transaction
from schemas.tables import TABLES

if TYPE_CHECKING:
    import duckdb


_OUTLIVE_GAMES: Final = frozenset({"notes"})
_OF_GAMES: Final = tuple(spec.name for spec in TABLES if "episode_id" in spec.column_names and spec.name not in _OUTLIVE_GAMES)

KINDS: Final[Mapping[str, str]] = {
    "judge": "SELECT DISTINCT judge FROM verdicts UNION SELECT DISTINCT judge FROM judge_runs",
    "judge_run": "SELECT DISTINCT judge_run_id FROM judge_runs",
    "rubric": "SELECT DISTINCT rubric FROM verdicts",
    "run": "SELECT run_id FROM runs UNION SELECT name FROM runs",
    "source": "SELECT path FROM sources UNION SELECT source_id FROM sources UNION SELECT file FROM sources",
    "labels": "SELECT DISTINCT source FROM labels",
    "annotator": "SELECT DISTINCT annotator FROM labels",
    "notes": "SELECT DISTINCT author FROM notes",
}
"""What can be forgotten -> the names there are."""

_VERDICTS: Final = {"judge": "judge = $name", "judge_run": "judge_run_id = $name", "rubric": "rubric = $name"}
_LABELS: Final = {"labels": "source = $name", "annotator": "annotator = $name"}
_EPISODES: Final = {
    "run": "run_id IN (SELECT run_id FROM runs WHERE run_id = $name OR name = $name)",
    "source": "source_id IN (SELECT source_id FROM sources WHERE path = $name OR source_id = $name OR file = $name)",
}
_BROUGHT_BY_LOGS: Final = "source = 'planted' OR source IN (SELECT path FROM sources)"
"""Labels that people gave outlive a game: they meet it again when its log is read again."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What goes, or went: table -> rows."""

    rows: Mapping[str, int]

    @property
    def total(self) -> int:
        """All rows."""
        return sum(self.rows.values())


def forget(store: Store, kind: str, name: str, *, really: bool = False) -> Forgotten:
    """Count the rows of a name, and delete them if really meant, in one transaction.

    Args:
        store: the store.
        kind: one of `KINDS`.
        name: the judge, scoring run, rubric, experiment, file, source of labels, annotator or author of notes.
        really: False only counts.

    Raises:
        UsageError: nothing of that name is in the store; suggests the nearest. Or the store is a part of a lake.
        StoreError: the store cannot be read, or written.
    """
    if store.whole is not store:
        raise UsageError(
            f"{store.path} is a part of a lake, and what is forgotten may have rows in others: name the whole, without what follows ?"
        )
    with store.reading() as connection:
        names = [found for (found,) in connection.execute(KINDS[kind]).fetchall() if found is not None]
        name = next((one for one in (name, *_paths(kind, name)) if one in names), name)
        if name not in names:
            some = f"there are {', '.join(sorted(names)[:8]) or 'none'}"
            raise UsageError(f"no {kind.replace('_', ' ')} {name} in {store.path}{near(name, names, some)}")
        counted = {
            table: _one(connection, f"SELECT count(*) FROM {table} WHERE {which}", name) for table, which in _conditions(kind).items()
        }
    if really:
        store.transact(lambda transaction: _delete(transaction, kind, name))
    return Forgotten({table: rows for table, rows in counted.items() if rows})


def _paths(kind: str, name: str) -> tuple[str, ...]:
    """What a path as it is typed here is called in the store."""
    whole = str(Path(name).absolute()), str(Path(name).resolve())
    return {"source": whole, "labels": (*whole, *(f"planted:{path}" for path in whole))}.get(kind, ())


def _conditions(kind: str) -> dict[str, str]:
    """Table -> which of its rows go."""
    if kind in _VERDICTS:
        return {"verdicts": _VERDICTS[kind], "judge_runs": _VERDICTS[kind]}
    if kind in _LABELS:
        return {"labels": _LABELS[kind]}
    if kind == "notes":
        return {"notes": "author = $name"}
    games = f"episode_id IN (SELECT episode_id FROM episodes WHERE {_EPISODES[kind]})"
    gone = {table: games for table in _OF_GAMES if table != "episodes"} | {"episodes": _EPISODES[kind]}
    gone["labels"] = f"({games}) AND ({_BROUGHT_BY_LOGS})"
    if kind == "source":
        return gone | dict.fromkeys(("rejects", "sources"), _EPISODES[kind])
    left = f"source_id IN (SELECT source_id FROM episodes GROUP BY ALL HAVING bool_and({_EPISODES['run']}))"
    return {"sources": left} | gone | {"runs": "run_id = $name OR name = $name"}


def _one(connection: duckdb.DuckDBPyConnection, sql: str, name: str) -> int:
    row = connection.execute(sql, {"name": name}).fetchone()
    return int(row[0]) if row else 0


def _delete(transaction: Transaction, kind: str, name: str) -> None:
    if kind == "run":  # a log that holds other experiments too is read again when it is asked for
        games = f"SELECT source_id FROM episodes WHERE {_EPISODES['run']}"
        transaction.update("sources", "adapter_version = NULL", f"source_id IN ({games})", {"name": name})
    for table, which in _conditions(kind).items():
        transaction.delete(table, which, {"name": name})
    transaction.delete("runs", "run_id NOT IN (SELECT run_id FROM episodes)")
