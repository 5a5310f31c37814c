"""One machine to its end: `python -m benchmarks.million --share 0.1` goes towards 1,000,000 turns in games of 100 and of 20 turns.

At 1 there are 10,000 games of 100 turns, and 50,000 of 20; each share is measured after half of it, so that growth shows: the exponent e is
that of CPU time ~ turns^e between the two. Every step runs in a process of its own, whose memory is told (its workers' apart).
"""

from __future__ import annotations

import argparse
import math
import resource
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Final, NamedTuple

from analytics.reports import report
from analytics.views import ensure_installed
from benchmarks.timing import Measured, measured
from benchmarks.workload import fresh, scratch
from games.craft.play import PlayRequest, play
from games.craft.players.personas import PERSONAS
from ingest.files.run import ingest_paths
from judges.rubric.files import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.store import Store

_TURNS: Final = 1_000_000
_PERSONAS: Final = tuple(PERSONAS)[:10]
_REPORTS: Final = ("leaderboard", "failures", "spirals", "judges")


class Step(NamedTuple):
    """What one step took."""

    turns: int
    taken: Measured
    peak_mb: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.million", description=__doc__)
    parser.add_argument("--share", type=float, default=0.01, help="of 1,000,000 turns")
    parser.add_argument("--judged", type=float, default=1.0, help="of the games, which the engine judges")
    asked = parser.parse_args()
    print("games of step                       turns   wall s    CPU s CPU ms a turn     MB bytes a turn     e")
    for length in (100, 20):
        before: dict[str, Step] = {}
        for share in (asked.share / 2, asked.share):
            before = _measured(length, round(_TURNS * share / length), asked.judged, before)


def _measured(length: int, games: int, judged: float, before: dict[str, Step]) -> dict[str, Step]:
    out = scratch() / f"{length}-{games}"
    structures = -(-games // len(_PERSONAS))
    play(PlayRequest(out=out, personas=_PERSONAS, builders=("literal",), structures=structures, turns=length))
    store = Store(fresh(f"{length}-{games}.duckdb"))
    steps: dict[str, Step] = {}
    actions: dict[str, Callable[[], object]] = {
        "ingest": partial(_ingest, out, store),
        "views": partial(ensure_installed, store),
        "engine judge": partial(_judge, store, judged),
        **{f"report {name}": partial(_report, store, name) for name in _REPORTS},
    }
    for name, action in actions.items():
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            taken, peak = alone.submit(_alone, action).result()
        turns = _turns(store)
        steps[name] = Step(turns, taken, peak)
        _tell(length, name, steps[name], before.get(name), store.size() / turns if name in {"ingest", "engine judge"} else None)
    return steps


def _ingest(out: Path, store: Store) -> None:
    ingest_paths([out], store)


def _judge(store: Store, share: float) -> None:
    run(JudgeRequest(rubric=find("spatial_grounding"), where=None if share == 1 else f"hash(episode_id) % 1000 < {share * 1000}"), store)


def _report(store: Store, name: str) -> None:
    report(store, name)


def _alone(action: Callable[[], object]) -> tuple[Measured, float]:
    return measured(action), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _turns(store: Store) -> int:
    with store.reading() as connection:
        row = connection.execute("SELECT count(*) FROM turns").fetchone()
    return int(row[0]) if row else 0


def _tell(length: int, name: str, step: Step, before: Step | None, size: float | None) -> None:
    grown = "" if before is None else f"{math.log(step.taken.cpu_s / before.taken.cpu_s) / math.log(step.turns / before.turns):.2f}"
    each = 1000 * step.taken.cpu_s / step.turns
    told = "" if size is None else f"{size:,.0f}"
    print(
        f"{length:>8} {name:<22} {step.turns:>9,} {step.taken.wall_s:>8.1f} {step.taken.cpu_s:>8.1f} {each:>13.3f} "
        f"{step.peak_mb:>6.0f} {told:>12} {grown:>5}",
        flush=True,
    )


if __name__ == "__main__":
    main()
