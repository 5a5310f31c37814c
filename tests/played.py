"""A store filled from games that cotrace plays itself, for tests that look at the whole."""

from __future__ import annotations

from pathlib import Path

from analytics.installation import ensure_installed
from games.craft.targets import StructureRules
from ingest.files.run import ingest_paths
from judges.attribution.job import attribute_games
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.store.store import Store
from tests.masters import copied
from tests.scripted import CraftRequest as PlayRequest
from tests.scripted import play

HOSTILE_TEXT = "<img src=x onerror=alert(1)><b id=planted>bold</b> </script>"


def played_store(folder: Path, *, judged: bool = True) -> Store:
    """Three personas on three targets, judged and attributed by the engine, with their logs: the caller's own copy."""
    copied("judged" if judged else "played", _judged if judged else _played, folder)
    return Store(folder / "played.duckdb")


def _played(folder: Path) -> None:
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
    Store.settle(store)


def _judged(folder: Path) -> None:
    store = played_store(folder, judged=False)
    for name in ("spatial_grounding", "pragmatic_sufficiency"):
        run(JudgeRequest(rubric=find(name)), store)
    attribute_games(store)
    Store.settle(store)
