"""cotrace: why a team of LLM agents failed.

The public face. Names are looked up when they are used, so that importing costs nothing:

    import cotrace
    store = cotrace.open("cotrace.duckdb")
    report = store.ingest("logs/")
    store.judge("spatial_grounding", judge="engine")
    frame = store.sql("SELECT * FROM leaderboard").pl()

docs/python.md shows the rest.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from cotrace import packages

if TYPE_CHECKING:
    from analytics.query import query
    from cotrace.playing import play
    from cotrace.store import OpenStore
    from cotrace.store import open_store as open  # noqa: A004 - `cotrace.open` reads as it should
    from ingest.files.run import ingest_paths
    from judges.runs.runner import run as judge
    from schemas.common.errors import CotraceError
    from schemas.game_log import GameLog
    from schemas.store.store import Store

__all__ = ["CotraceError", "GameLog", "OpenStore", "Store", "__version__", "ingest_paths", "judge", "open", "play", "query"]

__version__ = "0.1.0"

_HOMES = {
    "CotraceError": ("schemas.common.errors", "CotraceError"),
    "GameLog": ("schemas.game_log", "GameLog"),
    "OpenStore": ("cotrace.store", "OpenStore"),
    "open": ("cotrace.store", "open_store"),
    "play": ("cotrace.playing", "play"),
    "Store": ("schemas.store.store", "Store"),
    "ingest_paths": ("ingest.files.run", "ingest_paths"),
    "judge": ("judges.runs.runner", "run"),
    "query": ("analytics.query", "query"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'cotrace' has no attribute {name!r}; it has {', '.join(__all__)}")
    module, attribute = _HOMES[name]
    return getattr(importlib.import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})  # what completion offers: names that nobody has used yet, too


packages.check(__version__)
