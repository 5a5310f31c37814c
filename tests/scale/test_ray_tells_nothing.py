"""A cluster that `--on ray` starts reports no usage to Ray's makers; in their place stands a server of ours that would hear it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

pytest.importorskip("ray", reason="Ray is not installed here: make test-scale")

from tests.scale.test_ray_client import RAY, free_port

START = """
import sys, time
from schemas.common import cluster
with cluster.using("ray"):
    assert cluster.cores() == 2, "this is a cluster that somebody else has started"
    time.sleep(float(sys.argv[1]))
"""
SOON_S = 8.0
"""Seconds after which a cluster whose statistics are on, and sent each second, has told some."""


class Makers:
    """Where reports would arrive."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        heard = self.heard

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                heard.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Quiet."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)


@pytest.fixture
def makers() -> Iterator[Makers]:
    one = Makers()
    thread = threading.Thread(target=one.server.serve_forever)
    thread.start()
    yield one
    one.server.shutdown()
    thread.join()
    one.server.server_close()


def surroundings(makers: Makers, **wished: str) -> dict[str, str]:
    """Without what is set here for Ray; reports are due each second, and go to ours."""
    unset = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    address = f"http://127.0.0.1:{makers.server.server_port}/"
    return unset | {"RAY_USAGE_STATS_REPORT_URL": address, "RAY_USAGE_STATS_REPORT_INTERVAL_S": "1"} | wished


def test_a_cluster_of_ours_tells_nothing(makers: Makers) -> None:
    """Not even that the statistics are off."""
    subprocess.run([sys.executable, "-c", START, str(SOON_S)], env=surroundings(makers), check=True, timeout=120)
    assert makers.heard == []


def test_one_that_was_started_with_statistics_is_heard(makers: Makers) -> None:
    """So the silence above is not for want of ears."""
    sizes = ("--port", str(free_port()), "--num-cpus", "1", "--object-store-memory", str(80 << 20), "--include-dashboard", "false")
    environment = surroundings(makers, RAY_USAGE_STATS_ENABLED="1")
    with subprocess.Popen(
        [*RAY, "start", "--head", "--block", *sizes], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    ) as head:
        try:
            deadline = time.monotonic() + 60
            while not makers.heard and time.monotonic() < deadline:
                time.sleep(0.1)
        finally:
            head.terminate()
    assert makers.heard
