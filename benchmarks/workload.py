"""What the benchmarks work on: games that cotrace plays itself, once a run, and stores filled with them."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from games.craft.players.directors import PERSONAS
from games.experiments.plan import play
from ingest.files.run import ingest_paths
from ingest.files.writer import Report
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.store.store import Store
from schemas.tables import TABLES

if TYPE_CHECKING:
    import duckdb

__all__ = ["RUBRICS", "TURNS", "ask_twice", "craft_games", "fresh", "ingest", "judge", "multiply", "scratch"]

TURNS: Final = 20
RUBRICS: Final = ("spatial_grounding", "mind_modeling", "pragmatic_sufficiency")
_PERSONAS: Final = tuple(PERSONAS)[:10]
_UNITS: Final = ("unit_id", "unit_key")


@cache
def scratch() -> Path:
    """A folder that is gone when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="cotrace-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def craft_games(count: int) -> list[Path]:
    """Logs of that many CRAFT games of ten personas, played once a run."""
    structures = -(-count // len(_PERSONAS))
    players = [*(f"directors=script:{persona}" for persona in _PERSONAS), "builder=script:literal"]
    report = play("craft", scratch() / "craft", players=players, games=structures, turns=TURNS)
    by_structure = sorted(report.paths, key=lambda path: (path.name, path.parent.name))
    return by_structure[:count]


def fresh(name: str) -> Path:
    """A path in the scratch folder where no file is."""
    path = scratch() / name
    path.unlink(missing_ok=True)
    return path


def ingest(paths: list[Path], name: str) -> tuple[Store, Report]:
    """Read logs into a new store."""
    store = Store(fresh(name))
    report = ingest_paths(paths, store)
    assert report.is_clean, report.rejected[:3]
    return store, report


def judge(store: Store, rubrics: tuple[str, ...] = RUBRICS) -> None:
    """Have the engine judge answer rubrics over the whole store."""
    for rubric in rubrics:
        run(JudgeRequest(rubric=find(rubric)), store)


def ask_twice(store: Store, rubric: str) -> None:
    """As if a model had judged a rubric twice: it says what the engine says, but of one unit in ten, each time others."""
    with store.writing() as connection:
        for job in ("model-1", "model-2"):
            connection.execute(_ANSWERS, [job, rubric])
            connection.execute(_JOB, [job, rubric])


_ANSWERS: Final = """
INSERT INTO verdicts BY NAME
SELECT * REPLACE (
    $1 AS judge_run_id, 'llm:stub/model' AS judge, CASE WHEN hash(unit_id, question, $1) % 10 = 0 THEN 'No' ELSE answer END AS answer,
    CASE WHEN hash(unit_id, question, $1) % 10 = 0 THEN 0 ELSE score END AS score)
FROM verdicts WHERE rubric = $2 AND judge = 'engine' AND status = 'answered'
"""
_JOB: Final = """
INSERT INTO judge_runs BY NAME
SELECT * REPLACE (
    $1 AS judge_run_id, 'llm:stub/model' AS judge, 'stub/model' AS model, started_at + INTERVAL (right($1, 1)::INTEGER) DAY AS started_at)
FROM judge_runs WHERE rubric = $2 AND judge = 'engine'
"""


def multiply(store: Store, copies: int) -> None:
    """Make each game of the store `copies` games, in SQL: the same rows under other ids."""
    with store.writing() as connection:
        for spec in TABLES:
            if "episode_id" in spec.column_names:
                _multiply(connection, spec.name, spec.column_names, copies)
    Store.settle(store)


def _multiply(connection: duckdb.DuckDBPyConnection, name: str, columns: tuple[str, ...], copies: int) -> None:
    changed = ["episode_id || '~' || copy AS episode_id"]
    changed += [f"replace({unit}, episode_id, episode_id || '~' || copy) AS {unit}" for unit in _UNITS if unit in columns]
    connection.execute(
        f"INSERT INTO {name} SELECT * EXCLUDE (copy) REPLACE ({', '.join(changed)}) FROM {name}, range(1, $1) AS copies(copy)", [copies]
    )
