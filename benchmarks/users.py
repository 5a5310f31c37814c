"""Users: 20 browsers stepping through games, one step a second each, while another runs a heavy query on the page SQL.

A step is the request that a browser sends when a key leads to the next turn. `cotrace dash` is a process of its own over CRAFT games under
the engine judge; each browser has a game of its own, so that nothing but the process is shared. The base is one browser alone, without
the query.
"""

from __future__ import annotations

import json
import os
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlencode

from analytics.installation import ensure_installed
from benchmarks.figures import Figure, seconds
from benchmarks.workload import RUBRICS, craft_games, ingest, judge
from judges.attribution.job import attribute_games

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schemas.store.store import Store

__all__ = ["run"]

_USERS: Final = 20
_GAMES: Final = 24
_STEPS: Final = 16
_EVERY_S: Final = 1.0
_REST_S: Final = 0.1
_GOAL_S: Final = 0.3
_HEAVY: Final = "SELECT count(*) AS n FROM range(1000000) AS a, range(1000000) AS b WHERE hash(a.range, b.range) % 7 = 0"


def run() -> list[Figure]:
    """Measure."""
    store, _ = ingest(craft_games(_GAMES), "users.duckdb")
    judge(store, RUBRICS[:1])
    attribute_games(store)
    ensure_installed(store)  # or the first page only waits for the views
    with store.reading() as connection:
        games = [game for (game,) in connection.execute("SELECT episode_id FROM episodes ORDER BY episode_id").fetchall()]
    with _served(store) as site:
        _measured(site, games[:1])  # what is imported or compiled once
        site.come_to_rest()
        alone = _measured(site, games[1:2])
        query = threading.Thread(target=site.ask, args=("GET", f"/-/table.csv?{urlencode({'table': 'sql', 'query': _HEAVY})}"), daemon=True)
        query.start()
        time.sleep(1)
        together = _measured(site, games[2 : 2 + _USERS])
        assert query.is_alive(), "the query was no heavy one"
    many, one = f"{_USERS} browsers and a heavy query", "one browser alone"
    p95 = statistics.quantiles(together.steps, n=20)[-1]
    return [
        Figure(f"a step, p95, {many}", seconds(p95), f"{seconds(_GOAL_S)}: the goal", p95 / _GOAL_S, "<= 1", p95 <= _GOAL_S),
        Figure(
            f"a step, median, {many}",
            seconds(statistics.median(together.steps)),
            f"{seconds(statistics.median(alone.steps))}: {one}",
            statistics.median(together.steps) / statistics.median(alone.steps),
        ),
        Figure(
            f"a game opened, median, {many} at once",
            seconds(statistics.median(together.opened)),
            f"{seconds(alone.opened[0])}: {one}",
            statistics.median(together.opened) / alone.opened[0],
        ),
        Figure(f"server CPU per step, {many}", seconds(together.cpu_s), f"{seconds(alone.cpu_s)}: {one}", together.cpu_s / alone.cpu_s),
    ]


class _Measured(NamedTuple):
    opened: list[float]
    """Seconds that the first page of each game takes, all asked for at once."""
    steps: list[float]
    """Seconds from request to answer."""
    cpu_s: float
    """Of the server's process, per step."""


class _Site(NamedTuple):
    port: int
    process: int

    def step(self, game: str, turn: int) -> float:
        """Seconds that the page of a turn takes."""
        outputs = ["head.children", "filters.children", "page.children", "title.data"]
        values: dict[str, str | None] = {
            "address.pathname": "/game",
            "address.search": f"?{urlencode({'episode': game, 'turn': turn})}",
            "redraw.data": None,
        }
        asked = {
            "output": f"..{'...'.join(outputs)}..",
            "outputs": [dict(zip(("id", "property"), output.split("."), strict=True)) for output in outputs],
            "inputs": [{"id": name.split(".")[0], "property": name.split(".")[1], "value": value} for name, value in values.items()],
            "changedPropIds": ["address.search"],
        }
        began = time.perf_counter()
        text = self.ask("POST", "/_dash-update-component", json.dumps(asked))
        assert "could not be drawn" not in text
        assert f"turn {turn}" in text
        return time.perf_counter() - began

    def come_to_rest(self) -> None:
        """Wait until it has drawn its pages ahead."""
        used = -1.0
        while (now := self.cpu_s()) - used > _REST_S:
            used = now
            time.sleep(1)

    def ask(self, method: str, path: str, body: str | None = None) -> str:
        """What it answers."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=120)) as connection:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            return connection.getresponse().read().decode()

    def cpu_s(self) -> float:
        """What the server has taken so far, its child processes apart."""
        fields = Path(f"/proc/{self.process}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _served(store: Store) -> Iterator[_Site]:
    command = [sys.executable, "-m", "cotrace", "dash", "--store", str(store.path), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            port = next(int(found[1]) for line in process.stderr if (found := re.search(r"http://[\w.]+:(\d+)/", line)))
            yield _Site(port, process.pid)
        finally:
            process.send_signal(signal.SIGINT)


def _measured(site: _Site, games: Sequence[str]) -> _Measured:
    """One browser for each game, all at once; they begin at different times within the first second."""

    def walk(place: int) -> list[float]:
        begun = time.perf_counter() + place / len(games) * _EVERY_S
        steps = []
        for turn in range(2, _STEPS + 2):
            time.sleep(max(0, begun + turn * _EVERY_S - time.perf_counter()))
            steps.append(site.step(games[place], turn))
        return steps

    with ThreadPoolExecutor(len(games)) as browsers:
        opened = list(browsers.map(lambda game: site.step(game, 1), games))
        before = site.cpu_s()
        steps = [step for walked in browsers.map(walk, range(len(games))) for step in walked]
    return _Measured(opened, steps, (site.cpu_s() - before) / len(steps))
