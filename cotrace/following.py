"""While games are played, their logs go into the store, and games that have ended are judged."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schemas.errors import CotraceError
from schemas.store import Store

if TYPE_CHECKING:
    from judges.runs.job import JudgeRequest

_REST_S: Final = 5.0
_REST_A_ROUND: Final = 4.0
"""Rests this many times as long as a round took, so that playing keeps the machine."""

_ENDED: Final = "stop_reason IS NOT NULL"


def judge_requests(rubrics: Sequence[str], model: str | None) -> list[JudgeRequest]:
    """What is asked of the judge: the engine, or a model.

    Raises:
        UsageError: there is no such rubric, or the model's name is incomplete.
    """
    if not rubrics:
        return []
    from judges.rubric_files.reading import find
    from judges.runs.job import JudgeRequest
    from providers.provider import ModelSettings

    settings = None if model is None else ModelSettings(model=model)
    return [JudgeRequest(rubric=find(name), settings=settings) for name in rubrics]


@contextmanager
def following(logs: Path, store: Store, requests: Sequence[JudgeRequest]) -> Iterator[None]:
    """Take in what the logs hold, again and again, until the block is left; what comes last is left to the caller."""
    over = threading.Event()
    thread = threading.Thread(target=_follow, args=(logs, store, requests, over), name="following")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _follow(logs: Path, store: Store, requests: Sequence[JudgeRequest], over: threading.Event) -> None:
    rest = _REST_S
    while not over.wait(rest):
        began = time.monotonic()
        with suppress(CotraceError):  # the store is held elsewhere, or there is no log yet: the next round or the caller's last one tells
            _round(logs, store, requests, over)
        rest = max(_REST_S, _REST_A_ROUND * (time.monotonic() - began))


def _round(logs: Path, store: Store, requests: Sequence[JudgeRequest], over: threading.Event) -> None:
    from analytics.installation import ensure_installed
    from ingest.files.run import ingest_paths
    from judges.runs.runner import run

    ingest_paths([logs], store, workers=1)
    ensure_installed(store)
    for request in requests:
        if not over.is_set():
            run(replace(request, where=_ENDED), store)
