"""Long work, compressed: very many verdicts against a server that answers at once, very many pages, and the memory meanwhile."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import cycle, islice
from multiprocessing import get_context
from pathlib import Path
from typing import Final, NamedTuple

import click

from benchmarks.judge_run import fill
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest, RunProgress
from judges.runs.runner import run
from providers.provider import ModelSettings
from schemas.store.store import Store
from tests.reliability.page import put

_RUBRIC: Final = "spatial_grounding"
_PARTS: Final = 10
_MOST_GROWTH: Final = 1.1
_MB: Final = 8
"""What Python's allocator may have taken by chance, in MB."""


class _Watched(NamedTuple):
    """What came of one kind of work."""

    done: int
    seconds: float
    held_mb: list[float]
    """After each tenth of the work."""
    wrong: int
    """Verdicts that are missing or twice, pages that were not drawn."""

    def is_flat(self) -> bool:
        """Whether the last tenth held no more than the third, by which everything is loaded."""
        return self.held_mb[-1] <= _MOST_GROWTH * self.held_mb[2] + _MB


def soak(verdicts: int, pages: int, *, write: bool) -> int:
    """Do it; 1 if something went wrong or memory grew."""
    with tempfile.TemporaryDirectory(prefix="cotrace-soak-") as name, ProcessPoolExecutor(1, mp_context=get_context("spawn")) as first:
        found = {"verdicts": first.submit(_score, Path(name), verdicts).result()}
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as second:
            found["page loads"] = second.submit(_look, Path(name), pages).result()
    rows: list[tuple[object, ...]] = [("work", "done", "wrong", "a second", "MB after each tenth", "flat")]
    for kind, one in found.items():
        held = ", ".join(f"{part:.0f}" for part in one.held_mb)
        rows.append((kind, f"{one.done:,}", one.wrong, f"{one.done / one.seconds:,.0f}", held, "yes" if one.is_flat() else "**no**"))
        click.echo(f"{kind}: {one.done:,}, {one.wrong} wrong, {one.done / one.seconds:,.0f} a second; MB after each tenth: {held}")
    if write:
        put("soak", f"python -m tests.reliability soak --verdicts {verdicts} --pages {pages}", rows, [_ABOUT])
    return 0 if all(one.is_flat() and not one.wrong for one in found.values()) else 1


_ABOUT: Final = f"""\
Verdicts: one judge run, 64 calls at once, against a local server that answers at once; each must stand in the store exactly once. Pages:
every page of the dashboard in turn, drawn as for the browser, from a store of played and judged games. Both in a process of their own.
Flat: after the last tenth no more than {_MOST_GROWTH:g} times what was held after the third, and {_MB} MB."""


def _score(folder: Path, verdicts: int) -> _Watched:
    store, rubric = Store(folder / "scored.duckdb"), find(_RUBRIC)
    questions = sum(len(group.questions) for group in rubric.groups())
    fill(store, verdicts // questions)
    held: list[float] = []

    def watch(progress: RunProgress) -> None:
        if progress.done >= (len(held) + 1) * (verdicts // questions) / _PARTS:
            held.append(_held_mb())

    with _server() as url:
        began = time.perf_counter()
        settings = ModelSettings(model="local/soak", base_url=url)
        report = run(JudgeRequest(rubric=rubric, settings=settings, repeats=1, concurrency=64), store, watch)
        seconds = time.perf_counter() - began
    with store.reading() as connection:
        ((rows, different),) = connection.execute(
            "SELECT count(*) FILTER (status = 'answered'), count(DISTINCT (unit_id, question, repeat)) FROM verdicts"
        ).fetchall()
    expected = report.units * questions
    return _Watched(rows, seconds, _ten(held), abs(expected - rows) + abs(expected - different))


def _look(folder: Path, pages: int) -> _Watched:
    from benchmarks.pages import addresses, as_sent
    from tests.played import played_store

    (folder / "played").mkdir()
    store = played_store(folder / "played")
    held: list[float] = []
    wrong, began = 0, time.perf_counter()
    for number, address in enumerate(islice(cycle(addresses(store).values()), pages), start=1):
        wrong += "could not be drawn" in as_sent(store, address)
        if number >= (len(held) + 1) * pages / _PARTS:
            held.append(_held_mb())
    return _Watched(pages, time.perf_counter() - began, _ten(held), wrong)


def _ten(held: Sequence[float]) -> list[float]:
    """One for each tenth, also where several tenths passed at once."""
    return [held[min(part, len(held) - 1)] for part in range(_PARTS)]


@contextmanager
def _server() -> Iterator[str]:
    with subprocess.Popen([sys.executable, "-m", "tests.servers.stub_server"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        process.kill()


def _held_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in status if line.startswith("VmRSS:")).split()[1]) / 1024
