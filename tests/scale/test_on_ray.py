"""On a Ray cluster of several nodes, of which some are killed, the same comes out as in one process, row by row and byte by byte."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="Ray is not installed here: make test-scale")

from ingest.files.run import ingest_paths
from judges.attribution.job import attribute_games
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.common import cluster
from schemas.store.store import Store
from schemas.store.stores import store_at
from tests.games.seats import cotrace, seat_server, stats, turns
from tests.games.seats import play as play_seats
from tests.ingest.craft.craft_logs import published, write
from tests.judges.judged_games import ask_model, counted, store_of, verdict_counts
from tests.played import played_store
from tests.schemas.lake.test_lake import contents
from tests.scripted import CraftRequest as PlayRequest
from tests.scripted import play
from tests.servers.stub_server import stub_server

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning", "ignore::DeprecationWarning")


_AT_ONCE = 32
"""Calls; half of them are lost with one of two nodes, more than failures after which a server is taken for ill."""


class Nodes:
    """The nodes of a real cluster on this machine: one for the job itself, one that is lost again and again."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        sizes = {"num_cpus": 1, "object_store_memory": 80 << 20}
        self._sizes = sizes
        self._cluster = Cluster(initialize_head=True, head_node_args=sizes | {"include_dashboard": False})
        self.address: str = self._cluster.address
        self._second = self._cluster.add_node(**sizes)
        self.killed = 0

    def kill_one(self) -> None:
        """SIGKILL for the second node, workers included."""
        self.killed += 1
        self._cluster.remove_node(self._second, allow_graceful=False)

    def be_two(self) -> None:
        """Start a node in the place of one that was killed."""
        if self.killed:
            self._second = self._cluster.add_node(**self._sizes)
            self.killed = 0

    def shut_down(self) -> None:
        """End all nodes."""
        self._cluster.shutdown()


@pytest.fixture(scope="module")
def running() -> Iterator[Nodes]:
    import ray

    before = os.environ.get("RAY_ADDRESS")
    nodes = Nodes()
    os.environ["RAY_ADDRESS"] = nodes.address
    yield nodes
    ray.shutdown()
    nodes.shut_down()
    if before is None:
        del os.environ["RAY_ADDRESS"]


@pytest.fixture
def nodes(running: Nodes) -> Nodes:
    running.be_two()
    return running


def once(work: Callable[[], None]) -> Callable[[Any], None]:
    """Do something the first time that a job tells how far it is."""
    done: list[object] = []

    def told(progress: Any) -> None:
        if not done:
            done.append(progress)
            work()

    return told


def test_files_read_on_a_cluster_make_the_same_store(nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node is killed when the first portion has come back; every file is in the lake once."""
    monkeypatch.setattr("ingest.files.run._PORTION_FILES", 2)
    for number in range(24):
        write(tmp_path / "logs" / f"{number:02}.json", published(timestamp=f"20260406_1348{number:02}"))
    (tmp_path / "logs" / "bad.json").write_text("{")
    here, there = Store(tmp_path / "here.duckdb"), store_at(f"lake:{tmp_path / 'lake'}")
    ingest_paths([tmp_path / "logs"], here, workers=1)
    with cluster.using("ray"):
        assert cluster.cores() == 2
        report = ingest_paths([tmp_path / "logs"], there, on_progress=once(nodes.kill_one))
    assert (report.ingested, len(report.rejected), nodes.killed) == (24, 1, 1)
    assert contents(there) == contents(here)


def test_the_engine_judges_on_a_cluster_as_it_does_here(nodes: Nodes, tmp_path: Path) -> None:
    """A node is killed after the first game; the verdicts are the same rows."""
    here, there = (store_of(tmp_path / name, games=60, turns=4) for name in ("here.duckdb", "there.duckdb"))
    request = JudgeRequest(rubric=find("spatial_grounding"))
    run(request, here)
    with cluster.using("ray"):
        run(request, there, once(nodes.kill_one))
    assert nodes.killed == 1
    assert contents(there)["verdicts"] == contents(here)["verdicts"]
    assert len(contents(there)["verdicts"]) > 100


def test_costs_are_put_down_to_links_on_a_cluster_as_here(nodes: Nodes, tmp_path: Path) -> None:
    """A node is killed after the first game; findings and requests are the same rows."""
    here, there = (played_store(tmp_path / name, judged=False) for name in ("here", "there"))
    attribute_games(here)
    with cluster.using("ray"):
        attribute_games(there, on_progress=lambda done, _: nodes.kill_one() if done == 1 else None)
    assert nodes.killed == 1
    for table in ("attributions", "requests"):
        assert contents(there)[table] == contents(here)[table]
        assert len(contents(here)[table]) > 10


def test_a_model_judges_from_all_nodes_once_and_within_one_budget(nodes: Nodes, tmp_path: Path) -> None:
    """A node is killed while calls are under way: only they are asked again, each verdict stands once, the server is well."""
    here, there = (store_of(tmp_path / name, games=6, turns=10) for name in ("here.duckdb", "there.duckdb"))
    with stub_server("--latency-ms", "30") as url:
        run(ask_model(url), here)
        once_each = counted(url)["answers"]
    with stub_server("--latency-ms", "30") as url, cluster.using("ray"):
        killer = threading.Thread(target=_kill_when, args=(nodes, lambda: counted(url)["answers"] >= once_each // 3))
        killer.start()
        report = run(ask_model(url, concurrency=_AT_ONCE), there)
        killer.join()
        asked = counted(url)["answers"]
    assert (report.first_error, report.failed, nodes.killed) == (None, 0, 1)
    assert verdict_counts(there) == verdict_counts(here)
    assert once_each <= asked <= once_each + _AT_ONCE
    assert contents(there)["verdicts"] == contents(here)["verdicts"]


def _kill_when(nodes: Nodes, is_time: Callable[[], bool]) -> None:
    last = time.monotonic() + 60
    while not is_time() and time.monotonic() < last:
        time.sleep(0.01)
    nodes.kill_one()


def test_limits_hold_for_all_nodes_together(nodes: Nodes, tmp_path: Path) -> None:
    """A limit of requests a minute is not multiplied by the nodes."""
    store = store_of(tmp_path / "s.duckdb", games=1, turns=6)
    with stub_server() as url, cluster.using("ray"):
        assert nodes.killed == 0
        began = time.monotonic()
        run(ask_model(url, requests_per_minute=120), store)
        calls, seconds = counted(url)["answers"], time.monotonic() - began
    assert calls > 3
    assert seconds >= (calls - 1) * 60 / 120


def test_games_are_played_on_a_cluster_byte_by_byte(nodes: Nodes, tmp_path: Path) -> None:
    """Scripts' games whole on the nodes."""
    for name, on in (("here", None), ("there", "ray")):
        with cluster.using(on):
            play(PlayRequest(out=tmp_path / name, builders=("literal",), structures=20, turns=3))
    logs = [{path.name: path.read_bytes() for path in (tmp_path / name).rglob("*.jsonl")} for name in ("here", "there")]
    assert len(logs[0]) == 20
    assert logs[0] == logs[1]
    assert nodes.killed == 0


def test_models_play_from_all_nodes(nodes: Nodes, tmp_path: Path) -> None:
    """A node is killed while they play; turn by turn it is the game that the script itself plays."""
    options = ("--games", "2", "--turns", "8", "--reachable")
    assert play_seats("craft", tmp_path / "script", ["all=script:plain"], *options).returncode == 0
    with seat_server("script") as address:
        before = stats(address)["requests"]
        killer = threading.Thread(target=_kill_when, args=(nodes, lambda: stats(address)["requests"] > before + 10))
        killer.start()
        done = play_seats("craft", tmp_path / "model", ["all=openai/stub"], *options, "--base-url", f"{address}/v1", "--on", "ray")
        killer.join()
    assert done.returncode == 0, done.stderr
    assert nodes.killed == 1
    assert turns(tmp_path / "model") == turns(tmp_path / "script")


def test_work_that_is_given_up_ends_at_once(nodes: Nodes) -> None:
    """As after Ctrl-C: nobody waits for it."""
    with cluster.using("ray"):
        pool = cluster.ClusterPool()
        waiting = pool.submit(time.sleep, 600)
        pool.cancel()
        with pytest.raises(CancelledError):
            waiting.result(timeout=60)
    assert nodes.killed == 0


def test_an_address_that_is_none_is_told(tmp_path: Path) -> None:
    done = cotrace("ingest", str(tmp_path), "--store", str(tmp_path / "s.duckdb"), "--on", "spark")
    assert done.returncode == 2
    assert "write ray" in done.stderr
