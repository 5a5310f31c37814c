"""A cluster at another address, through Ray's client: the same rows come out."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is not installed here: make test-scale")
pytest.importorskip("grpc", reason="Ray's client needs grpcio: make test-scale")

from schemas.store import Store
from tests.games.seats import cotrace
from tests.ingest.craft.craft_logs import published, write
from tests.schemas.lake.test_lake import contents

RAY = (sys.executable, "-m", "ray.scripts.scripts")


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def address() -> Iterator[str]:
    """Of a cluster that another process has started, on ports that Ray's workers do not use."""
    ports = ("--port", str(free_port()), "--ray-client-server-port", str(port := free_port()))
    sizes = ("--num-cpus", "2", "--object-store-memory", str(80 << 20), "--include-dashboard", "false", "--disable-usage-stats")
    with subprocess.Popen(
        [*RAY, "start", "--head", "--block", *ports, *sizes], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    ) as head:
        try:
            yield f"ray://127.0.0.1:{port}"
        finally:
            head.terminate()


def test_files_are_read_and_games_judged_through_rays_client(address: str, tmp_path: Path) -> None:
    """By command, as a user does; beside the same without a cluster."""
    for number in range(4):
        write(tmp_path / "logs" / f"{number}.json", published(timestamp=f"20260406_1348{number:02}"))
    stores = {name: tmp_path / f"{name}.duckdb" for name in ("here", "there")}
    for name, on in (("here", ()), ("there", ("--on", address))):
        for command in (("ingest", str(tmp_path / "logs")), ("judge", "--rubric", "spatial_grounding", "--judge", "engine")):
            done = cotrace(*command, "--store", str(stores[name]), *on)
            assert done.returncode == 0, done.stderr
    assert contents(Store(stores["here"])) == contents(Store(stores["there"]))
