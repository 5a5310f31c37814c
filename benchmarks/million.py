"""One machine to its end: `python -m benchmarks.million --share 0.1` goes towards 1,000,000 turns in games of 100 and of 20 turns.

At 1 there are 10,000 games of 100 turns, and 50,000 of 20; a tenth of each share is measured before all of it, so that growth shows: the
exponent e is that of CPU time ~ turns^e between the two. Every step runs in a process of its own, whose memory is told (its workers'
apart); what is compiled or imported once has been so by a few games before. With `--keep FOLDER` logs, stores and the figures of each step
stay there, and the same command goes on where it was stopped. `--write` puts the table into docs/dev/scale.md.
"""

import argparse
import json
import math
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Final, NamedTuple

from analytics.installation import ensure_installed
from analytics.reports import report
from benchmarks.marked import written
from benchmarks.timing import Measured, held_mb, measured
from benchmarks.workload import scratch
from games.craft.players.directors import PERSONAS
from games.experiments.plan import play
from ingest.files.run import ingest_paths
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.store.store import Store

_TURNS: Final = 1_000_000
_LENGTHS: Final = (100, 20)
_HEAD: Final = "| games of | step | turns | clock, s | CPU, s | CPU, ms a turn | memory, MB | bytes a turn | e |"
_PERSONAS: Final = tuple(PERSONAS)[:10]
_REPORTS: Final = ("leaderboard", "failures", "spirals", "judges")


class Step(NamedTuple):
    """What one step took."""

    turns: int
    taken: Measured
    peak_mb: float
    bytes: int
    """Of the store after it."""


class Steps:
    """What every step took, on record as soon as it is through."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "steps.jsonl"
        lines = self._path.read_text(encoding="utf-8").splitlines() if self._path.exists() else []
        self._done = {key: Step(turns, Measured(*taken), peak, size) for key, (turns, taken, peak, size) in map(json.loads, lines)}

    def of(self, key: str, measure: Callable[[], Step]) -> Step:
        """What a step took when it was done, now or before."""
        if key not in self._done:
            self._done[key] = measure()
            with self._path.open("a", encoding="utf-8") as out:
                out.write(json.dumps([key, self._done[key]]) + "\n")
        return self._done[key]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.million", description=__doc__)
    parser.add_argument("--share", type=float, default=0.01, help="of 1,000,000 turns")
    parser.add_argument("--judged", type=float, default=1.0, help="of the games, which the engine judges")
    parser.add_argument("--length", type=int, choices=_LENGTHS, action="append", help="turns of a game; may be given again; all by default")
    parser.add_argument("--keep", type=Path, help="a folder: work goes on there where it was stopped")
    parser.add_argument("--write", action="store_true", help="put the table into docs/dev/scale.md")
    asked = parser.parse_args()
    folder: Path = asked.keep or scratch()
    folder.mkdir(parents=True, exist_ok=True)
    steps, load = Steps(folder), os.getloadavg()[0]
    lengths = asked.length or _LENGTHS
    for length in lengths:
        _measured(folder / "warm", steps, length, 2 * len(_PERSONAS), 1.0)
    print(_HEAD, flush=True)
    lines = [_HEAD, "| --- " * _HEAD.count(" | ") + "| --- |"]
    for length in lengths:
        before: dict[str, Step] = {}
        for share in (asked.share / 10, asked.share):
            taken = _measured(folder, steps, length, round(_TURNS * share / length), asked.judged)
            for name, step in taken.items():
                lines.append(_told(length, name, step, before.get(name)))
                print(lines[-1], flush=True)
            before = taken
    if asked.write:
        machine = f"(`python -m benchmarks.million --share {asked.share:g}`; {os.cpu_count()} cores, load average {load:.1f} before)"
        written(Path("docs/dev/scale.md"), "million", "\n".join([*lines, "", machine]))


def _measured(folder: Path, steps: Steps, length: int, games: int, judged: float) -> dict[str, Step]:
    """One size of a store, step by step."""
    out = folder / f"{length}-{games}"
    structures = -(-games // len(_PERSONAS))
    store = Store(folder / f"{length}-{games}.duckdb")
    actions: dict[str, Callable[[], object]] = {
        "ingest": partial(_ingest, out, store),
        "views": partial(ensure_installed, store),
        "engine judge": partial(_judge, store, judged),
        **{f"report {name}": partial(_report, store, name) for name in _REPORTS},
    }

    def measure(action: Callable[[], object]) -> Step:
        players = [*(f"directors=script:{persona}" for persona in _PERSONAS), "builder=script:literal"]
        play("craft", out, players=players, games=structures, turns=length)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            taken, peak = alone.submit(_alone, action).result()
        return Step(_turns(store), taken, peak, store.size())

    return {name: steps.of(f"{folder.name} {length} {games} {judged} {name}", partial(measure, action)) for name, action in actions.items()}


def _ingest(out: Path, store: Store) -> None:
    ingest_paths([out], store)


def _judge(store: Store, share: float) -> None:
    run(JudgeRequest(rubric=find("spatial_grounding"), where=None if share == 1 else f"hash(episode_id) % 1000 < {share * 1000}"), store)


def _report(store: Store, name: str) -> None:
    report(store, name)


def _alone(action: Callable[[], object]) -> tuple[Measured, float]:
    return measured(action), held_mb() or math.nan


def _turns(store: Store) -> int:
    with store.reading() as connection:
        row = connection.execute("SELECT count(*) FROM turns").fetchone()
    return int(row[0]) if row else 0


def _told(length: int, name: str, step: Step, before: Step | None) -> str:
    grown = "" if before is None else f"{math.log(step.taken.cpu_s / before.taken.cpu_s) / math.log(step.turns / before.turns):.2f}"
    size = f"{step.bytes / step.turns:,.0f}" if name in {"ingest", "engine judge"} else ""
    each = 1000 * step.taken.cpu_s / step.turns
    taken = f"{step.taken.wall_s:.1f} | {step.taken.cpu_s:.1f} | {each:.3f}"
    return f"| {length} | {name} | {step.turns:,} | {taken} | {step.peak_mb:.0f} | {size} | {grown} |"


if __name__ == "__main__":
    main()
