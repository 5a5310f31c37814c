"""A cluster at another address, through Ray's client: the same rows come out."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is not installed here: make test-scale")
pytest.importorskip("grpc", reason="Ray's client needs grpcio: make test-scale")

from schemas.store.store import Store
from tests.ingest.craft.craft_logs import published, write
from tests.schemas.lake.test_lake import contents

RAY = (sys.executable, "-m", "ray.scripts.scripts")


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(params=["open", "token"])
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Address of a cluster that another process has started, on ports that Ray's workers do not use, and the environment of its user.

    Where a token lies in the user's home, Ray 2.59 and later ask for it.
    """
    environment = {**os.environ, "HOME": str(tmp_path / "home")}
    (tmp_path / "home" / ".ray").mkdir(parents=True)
    if request.param == "token":
        (tmp_path / "home" / ".ray" / "auth_token").write_text(secrets.token_hex(32), encoding="utf-8")
    ports = ("--port", str(free_port()), "--ray-client-server-port", str(port := free_port()))
    sizes = ("--num-cpus", "2", "--object-store-memory", str(80 << 20), "--include-dashboard", "false", "--disable-usage-stats")
    told = tmp_path / "ray.log"
    command = [*RAY, "start", "--head", "--block", *ports, *sizes]
    with told.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment) as head:
        try:
            _wait_for(port, told)
            yield f"ray://127.0.0.1:{port}", environment
        finally:
            head.terminate()


def _wait_for(port: int, told: Path) -> None:
    """The port is open some seconds before the cluster takes anybody."""
    last = time.monotonic() + 60
    while time.monotonic() < last:
        if "Ray runtime started" in told.read_text(encoding="utf-8", errors="replace"):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        time.sleep(0.1)


def test_files_are_read_and_games_judged_through_rays_client(cluster: tuple[str, Mapping[str, str]], tmp_path: Path) -> None:
    """By command, as a user does; beside the same without a cluster."""
    address, environment = cluster
    for number in range(4):
        write(tmp_path / "logs" / f"{number}.json", published(timestamp=f"20260406_1348{number:02}"))
    stores = {name: tmp_path / f"{name}.duckdb" for name in ("here", "there")}
    for name, on in (("here", ()), ("there", ("--on", address))):
        for command in (("ingest", str(tmp_path / "logs")), ("judge", "--rubric", "spatial_grounding", "--judge", "engine")):
            words = (*command, "--store", str(stores[name]), *on)
            done = subprocess.run([sys.executable, "-m", "cotrace", *words], capture_output=True, text=True, env=environment, check=False)
            assert done.returncode == 0, (words, done.stderr)
    assert contents(Store(stores["here"])) == contents(Store(stores["there"]))


def test_a_cluster_that_is_not_there_is_told_in_one_line(tmp_path: Path) -> None:
    """Without Ray's own warnings."""
    words = ("ingest", str(tmp_path), "--store", str(tmp_path / "s.duckdb"), "--on", f"ray://127.0.0.1:{free_port()}")
    done = subprocess.run([sys.executable, "-m", "cotrace", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "no Ray cluster can be reached there" in line
    assert "RAY_AUTH_TOKEN" in line


def test_a_cluster_that_was_killed_is_not_waited_for(tmp_path: Path) -> None:
    """Ray remembers where it was; the command starts one of its own."""
    write(tmp_path / "logs" / "0.json", published())
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        (Path(folder) / "ray").mkdir()
        (Path(folder) / "ray" / "ray_current_cluster").write_text(f"127.0.0.1:{free_port()}", encoding="utf-8")
        words = ("ingest", str(tmp_path / "logs"), "--store", str(tmp_path / "s.duckdb"), "--on", "ray")
        environment = {**os.environ, "RAY_TMPDIR": folder}
        done = subprocess.run(
            [sys.executable, "-m", "cotrace", *words], capture_output=True, text=True, env=environment, check=False, timeout=60
        )
    assert done.returncode == 0, done.stderr
