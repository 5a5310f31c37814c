"""Past one machine: a lake against a DuckDB file, and a Ray cluster of two nodes with a core each against two processes.

The same logs, read into a new store each time and judged by the engine. Nodes are processes of this machine, so what a cluster costs
shows, and not what it brings; the base is a pool of as many processes. Both are warm: what they need has been imported in a round before
those that count. CPU is that of all processes, those of Ray itself included. Ray's part is left out where Ray is not installed (`make
test-scale` installs it). `python -m benchmarks.scale --write` puts the table into docs/dev/scale.md.
"""

import argparse
import os
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Final
from unittest import mock

from benchmarks.figures import Figure, markdown, seconds, table
from benchmarks.marked import written
from benchmarks.timing import Measured, medians
from benchmarks.workload import craft_games, fresh, ingest, judge, scratch
from ingest.files.run import ingest_paths
from ingest.files.worker import start_reader
from schemas.common import cluster
from schemas.store.lake.store import LakeStore
from schemas.store.store import Store

__all__ = ["run"]

_GAMES: Final = int(os.environ.get("COTRACE_BENCH_GAMES", "1000"))
_ROUNDS: Final = 3
_MOST: Final = 1.2
_CORES: Final = 2
_RUBRIC: Final = ("spatial_grounding",)


def run() -> list[Figure]:
    """Measure."""
    paths = craft_games(_GAMES)
    taken = medians(_ROUNDS, {"base": partial(_into_file, paths), "action": partial(_into_lake, paths)})
    figures = [_held("ingest into a lake", taken["action"].wall_s, taken["base"].wall_s)]
    if find_spec("ray") is None:
        return figures
    file, _ = ingest(paths, "judged.duckdb")
    lake = _into_lake(paths, "judged")
    actions: dict[str, Callable[[], object]] = {
        "ingest": partial(_into_file, paths),
        "ingest into a lake": partial(_into_lake, paths),
        "engine judge": partial(judge, file, _RUBRIC),
        "engine judge of a lake": partial(judge, lake, _RUBRIC),
    }
    with _two_nodes(), _two_processes() as pooled:
        for name, action in actions.items():
            figures += _beside(name, partial(_on_ray, action), partial(pooled, action))
    return figures


def _beside(name: str, action: Callable[[], object], base: Callable[[], object]) -> list[Figure]:
    """Clock and CPU time of both, in turns, after a round that does not count."""
    rounds = [(_taken(base), _taken(action)) for _ in range(_ROUNDS + 1)][1:]
    clocks, cpus = ([statistics.median(pair[which][kind] for pair in rounds) for which in (1, 0)] for kind in (0, 1))
    return [_held(f"{name} on Ray", *clocks), _held(f"{name} on Ray, CPU", *cpus)]


def _held(name: str, ours: float, theirs: float) -> Figure:
    return Figure(f"{name}, {_GAMES:,} games", seconds(ours), seconds(theirs), ours / theirs, f"<= {_MOST}", ours / theirs <= _MOST)


def _taken(action: Callable[[], object]) -> Measured:
    wall, cpu = time.perf_counter(), _cpu_of_all()
    action()
    return Measured(time.perf_counter() - wall, _cpu_of_all() - cpu)


def _cpu_of_all() -> float:
    """User and system time of this process and of all that come from it and live, in seconds (`man proc_pid_stat`)."""
    parents: dict[int, int] = {}
    used: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        process = int(path.parent.name)
        parents[process], used[process] = int(fields[1]), int(fields[11]) + int(fields[12])
    return sum(used[process] for process in used if os.getpid() in _ancestry(process, parents)) / os.sysconf("SC_CLK_TCK")


def _ancestry(process: int, parents: dict[int, int]) -> Iterator[int]:
    while process in parents:
        yield process
        process = parents[process]


def _into_file(paths: list[Path]) -> Store:
    return ingest(paths, "base.duckdb")[0]


def _into_lake(paths: list[Path], name: str = "lake") -> Store:
    folder = fresh("nothing").with_name(name)
    shutil.rmtree(folder, ignore_errors=True)
    lake = LakeStore(folder)
    assert ingest_paths(paths, lake).is_clean
    return lake


def _on_ray(action: Callable[[], object]) -> None:
    with cluster.using("ray"):
        action()


@contextmanager
def _two_processes() -> Iterator[Callable[[Callable[[], object]], None]]:
    """Has work done in a pool of processes that stays, as a cluster's do."""
    with ProcessPoolExecutor(_CORES, mp_context=get_context("spawn"), initializer=start_reader) as pool:

        @contextmanager
        def kept(*_: object, **__: object) -> Iterator[ProcessPoolExecutor]:
            yield pool

        def pooled(action: Callable[[], object]) -> None:
            reading = mock.patch.multiple("ingest.files.run", worker_pool=kept, _POOL_FROM_BYTES=0)
            with reading, mock.patch("judges.runs.engine_run.worker_pool", kept):
                action()

        yield pooled


@contextmanager
def _two_nodes() -> Iterator[None]:
    from ray.cluster_utils import Cluster

    sizes = {"num_cpus": _CORES // 2, "object_store_memory": 200 << 20}
    nodes = Cluster(initialize_head=True, head_node_args=sizes | {"include_dashboard": False})
    nodes.add_node(**sizes)
    os.environ["RAY_ADDRESS"] = nodes.address
    try:
        _on_ray(scratch)  # connects
        yield
    finally:
        import ray

        ray.shutdown()
        nodes.shutdown()


def main() -> None:
    """Measure and print; with `--write`, into the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description="Lake and Ray beside a file and a pool.")
    parser.add_argument("--write", action="store_true", help="put the table into docs/dev/scale.md")
    asked = parser.parse_args()
    load = os.getloadavg()[0]
    figures = run()
    print(table(figures))
    if asked.write:
        written(Path("docs/dev/scale.md"), "ray", f"{markdown(figures)}\n\n({_CORES} cores, load average {load:.1f} before)")


if __name__ == "__main__":
    main()
