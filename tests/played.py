"""A store filled from games that cotrace plays itself, for tests that look at the whole."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from analytics.views import ensure_installed
from games.craft.play import PlayRequest, play
from games.craft.targets.generator import StructureRules
from ingest.files.run import ingest_paths
from judges.attribution.job import attribute_games
from judges.rubric.files import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.store import Store

__all__ = ["HOSTILE_TEXT", "played_store"]

HOSTILE_TEXT = "<img src=x onerror=alert(1)><b id=planted>bold</b> </script>"


def played_store(folder: Path, *, judged: bool = True) -> Store:
    """Three personas on three targets, judged and attributed by the engine: a copy, the caller's own, of games played once a process."""
    made = _judged() if judged else _played()
    shutil.copytree(made.path.parent, folder, dirs_exist_ok=True)
    return Store(folder / made.path.name)


@cache
def _played() -> Store:
    folder = _folder("played")
    play(
        PlayRequest(
            out=folder / "logs",
            personas=("clear", "layer_confused", "over_remover"),
            builders=("literal",),
            structures=3,
            turns=12,
            rules=StructureRules(reachable=True),
            processes=1,
        )
    )
    store = Store(folder / "played.duckdb")
    ingest_paths([folder / "logs"], store, workers=1)
    ensure_installed(store)
    return store


@cache
def _judged() -> Store:
    store = played_store(_folder("judged"), judged=False)
    for name in ("spatial_grounding", "pragmatic_sufficiency"):
        run(JudgeRequest(rubric=find(name)), store)
    attribute_games(store)
    return store


def _folder(name: str) -> Path:
    """A folder that is gone when the process ends."""
    made = Path(tempfile.mkdtemp(prefix=f"cotrace-{name}-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made
