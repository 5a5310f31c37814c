"""Ingests many variants of a log at once, and tells what of each differs in the store from the sound log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from ingest.files.run import ingest_paths
from schemas.store.store import Store
from schemas.tables import TABLES
from tests.fuzz.specimens import Specimen

Outcome = Literal["rejected", "difference", "left alone", "stored", "unread"]

OUTCOMES: Final[Mapping[Outcome, str]] = {
    "rejected": "a row in `rejects` says so",
    "difference": "a row in `log_disagreements` says so",
    "left alone": "the file is counted as no log, and why",
    "stored": "nothing shows it: the store has what the log says",
    "unread": "nothing shows it: cotrace does not read it",
}

_PLACE: Final = "split_part(file, '/', 1)"
_OWN_NAMES: Final = {"episode_id", "run_id", "source_id", "file", "unit_key", "ingested_at"}
"""Columns that differ between two copies of a log."""


def outcomes_of(specimen: Specimen, variants: Sequence[bytes], folder: Path) -> list[Outcome]:
    """Ingest the sound bytes and all variants, each in a folder of its own, and say what became of each.

    Args:
        specimen: says where a log lies and what lies beside it.
        variants: the sound log first, then its variants.
        folder: empty; used up.
    """
    logs = folder / "logs"
    for number, data in enumerate(variants):
        specimen.write(logs / str(number), data)
    for name, data in specimen.above.items():
        (logs / name).write_bytes(data)
    store = Store(folder / "store.duckdb")
    report = ingest_paths([logs], store, workers=1)
    broken = [reject for reject in report.rejected if "please report" in reject.reason]
    if broken:
        raise AssertionError(f"{specimen.name}: {broken[0].reason} ({Path(broken[0].path).relative_to(logs)})")
    told = _told(store)
    sound = told.get("0", {})
    return [_outcome(told.get(str(number), {}), sound) for number in range(len(variants))]


_Told = Mapping[str, tuple[object, ...]]
"""`rejects`, `differences` or the name of a table -> what the store has of a variant."""


def _outcome(told: _Told, sound: _Told) -> Outcome:
    if told.get("rejects") != sound.get("rejects"):
        return "rejected"
    if told.get("differences") != sound.get("differences"):
        return "difference"
    if "episodes" not in told and "episodes" in sound:
        return "left alone"
    return "unread" if told == sound else "stored"


def _told(store: Store) -> dict[str, dict[str, tuple[object, ...]]]:
    found: dict[str, dict[str, tuple[object, ...]]] = {}
    with store.reading() as connection:
        for what, query in _queries():
            for place, *rest in connection.execute(query).fetchall():
                found.setdefault(place, {})[what] = tuple(rest)
    return found


def _queries() -> Iterable[tuple[str, str]]:
    yield (
        "rejects",
        f"SELECT {_PLACE}, count(*), list(reason ORDER BY reason) FROM rejects JOIN sources USING (source_id) GROUP BY 1",
    )
    difference = "hash(turn, field, logged, recomputed)"
    disagreements = "episodes JOIN log_disagreements USING (episode_id)"
    yield "differences", f"SELECT {_PLACE}, list_sort(list({difference})) FROM {disagreements} GROUP BY 1"
    for table in TABLES:
        names = set(table.column_names)
        if table.name in {"sources", "rejects", "log_disagreements"} or not names & {"episode_id", "run_id"}:
            continue
        columns = ", ".join(f"{table.name}.{name}" for name in table.column_names if name not in _OWN_NAMES)
        key = "episode_id" if "episode_id" in names else "run_id"
        source = "episodes" if table.name == "episodes" else f"episodes JOIN {table.name} USING ({key})"
        yield table.name, f"SELECT {_PLACE}, list_sort(list(hash({columns}))) FROM {source} GROUP BY 1"
