"""Past one machine: a lake against a DuckDB file, and a Ray cluster of two nodes with a core each against two processes.

The same logs, read into a new store each time and judged by the engine. Nodes are processes of this machine, so what a cluster costs
shows, and not what it brings. Ray's part is left out where Ray is not installed (`make test-scale` installs it).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from benchmarks.figures import Figure, seconds
from benchmarks.timing import medians
from benchmarks.workload import craft_games, fresh, ingest, judge, scratch
from ingest.files.run import ingest_paths
from schemas import cluster
from schemas.lake.store import LakeStore

__all__ = ["run"]

_GAMES: Final = int(os.environ.get("COTRACE_BENCH_GAMES", "1000"))
_ROUNDS: Final = 3
_MOST: Final = 1.2
_CORES: Final = 2


def run() -> list[Figure]:
    """Measure."""
    paths = craft_games(_GAMES)
    figures = [_held("ingest into a lake", partial(_into_lake, paths), partial(_into_file, paths))]
    if find_spec("ray") is None:
        return figures
    store, _ = ingest(paths, "judged.duckdb")
    with _two_nodes():
        for name, action in (("ingest", partial(_into_file, paths)), ("engine judge", partial(judge, store, ("spatial_grounding",)))):
            figures.append(_held(f"{name} on Ray", partial(_on_ray, action), action))
    return figures


def _held(name: str, action: Callable[[], object], base: Callable[[], object]) -> Figure:
    taken = medians(_ROUNDS, {"base": base, "action": action})
    ours, theirs = taken["action"].wall_s, taken["base"].wall_s
    return Figure(f"{name}, {_GAMES:,} games", seconds(ours), seconds(theirs), ours / theirs, f"<= {_MOST}", ours / theirs <= _MOST)


def _into_file(paths: list[Path]) -> None:
    ingest(paths, "base.duckdb")


def _into_lake(paths: list[Path]) -> None:
    folder = fresh("nothing").with_name("lake")
    shutil.rmtree(folder, ignore_errors=True)
    assert ingest_paths(paths, LakeStore(folder)).is_clean


def _on_ray(action: Callable[[], object]) -> None:
    with cluster.using("ray"):
        action()


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
