"""Commands that are told to end, by Ctrl-C or a signal: soon, in one line that says how far they were, and with nothing lost."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from judges.runs.job import plan
from schemas.store.store import Store
from tests.command_line import called
from tests.judges.judged_games import ask_model, counted, store_of, verdict_counts
from tests.servers.stub_server import stub_server

ENDINGS = [
    pytest.param(signal.SIGINT, 130, "interrupted", id="Ctrl-C"),
    pytest.param(signal.SIGTERM, 143, "ended by SIGTERM", id="SIGTERM"),
]
LONG = "SELECT count(*) FROM range(100000) a, range(1000000) b WHERE a.range * b.range % 7 = 3"
UNDER_WAY_S = 0.3
"""Seconds of computing since the store was opened: by then it is the query that runs."""
QUESTIONS = 6


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """So many games that planning a run takes its time."""
    return store_of(tmp_path_factory.mktemp("large") / "s.duckdb", games=120, turns=40)


_PROGRAM = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from cotrace.cli import main; main()"
"""As on a terminal: what a shell starts in the background does not hear Ctrl-C, and neither does what that starts."""


class _Running:
    """A command in a process group of its own."""

    def __init__(self, *arguments: str, store: Store) -> None:
        command = [sys.executable, "-c", _PROGRAM, *arguments, "--store", str(store.path)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def wait_for(self, what: Callable[[], object]) -> None:
        """Until it is so; the command must not end before."""
        deadline = time.monotonic() + 120
        while not what():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def end(self, number: signal.Signals) -> tuple[int, str, float]:
        """Send the signal to the command alone; gives exit code, last words, and seconds."""
        began = time.monotonic()
        self.process.send_signal(number)
        told = self.process.communicate(timeout=100)[1].strip()
        return self.process.returncode, told, time.monotonic() - began

    def seconds_of_cpu(self) -> float:
        """What it has used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def has_opened(self, store: Store) -> bool:
        """Whether it holds the store open."""
        with suppress(OSError):
            return any(link.readlink() == store.path for link in Path(f"/proc/{self.process.pid}/fd").iterdir())
        return False

    def children(self) -> list[int]:
        """Processes that it has started."""
        return [pid for pid in _processes() if _parent(pid) == self.process.pid]


def _processes() -> Iterator[int]:
    return (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())


def _parent(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return None


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize(("number", "code", "words"), ENDINGS)
def test_a_run_that_is_being_planned_ends_at_once(large: Store, number: signal.Signals, code: int, words: str) -> None:
    """Not when all is planned."""
    journal = large.path.with_name(f"{large.path.name}.journal")
    (journal / "lock").unlink(missing_ok=True)
    with stub_server() as url:
        began = time.monotonic()
        plan(ask_model(url), large)
        planning_s = time.monotonic() - began
        command = _Running("judge", "--rubric", "pragmatic_sufficiency", "--model", "openai/x", "--base-url", url, store=large)
        command.wait_for((journal / "lock").exists)
        ended, told, seconds = command.end(number)
        asked = counted(url)["requests"]
    assert (ended, asked) == (code, 0)
    assert told.startswith(f"cotrace: {words} (pragmatic_sufficiency by llm:openai/x: not begun); finished work is stored")
    assert seconds < max(1.0, planning_s / 2)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("number", "code", "words"), ENDINGS)
def test_a_run_that_is_ended_says_how_far_it_was_and_goes_on(tmp_path: Path, number: signal.Signals, code: int, words: str) -> None:
    """What was answered is stored, and asked only once."""
    store = store_of(tmp_path / "s.duckdb", turns=15)
    arguments = ("judge", "--rubric", "pragmatic_sufficiency", "--model", "openai/x", "--concurrency", "2", "--base-url")
    with stub_server("--latency-ms", "60") as url:
        command = _Running(*arguments, url, store=store)
        # two at once: the sixth answer comes after the first four were taken in
        command.wait_for(lambda: counted(url)["answers"] >= 6)
        ended, told, _ = command.end(number)
        stored = verdict_counts(store)["answered"]
        with store.reading() as connection:
            assert connection.execute("SELECT status FROM judge_runs").fetchall() == [("interrupted",)]
        again = called(*arguments, url, store=store)
        answers = counted(url)["answers"]
    assert ended == code
    found = re.fullmatch(rf"cotrace: {words} \(.*: (\d+) of 15 done\); finished work is stored, start the same .*", told)
    assert found, told
    assert int(found[1]) * QUESTIONS == stored > 0
    assert again.returncode == 0
    assert verdict_counts(store) == {"answered": 15 * QUESTIONS}
    assert answers <= 15 + 2  # the two that were under way are asked again


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("number", "code", "words"), ENDINGS)
def test_a_long_query_ends_at_once(large: Store, number: signal.Signals, code: int, words: str) -> None:
    """DuckDB is stopped in the middle of it."""
    command = _Running("sql", LONG, store=large)
    command.wait_for(lambda: command.has_opened(large))
    began = command.seconds_of_cpu()
    command.wait_for(lambda: command.seconds_of_cpu() > began + UNDER_WAY_S and command.has_opened(large))
    ended, told, _ = command.end(number)  # the query would take hours
    assert ended == code
    assert told.startswith(f"cotrace: {words}")


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("number", "code", "words"), ENDINGS)
def test_the_engine_leaves_no_process_behind(large: Store, number: signal.Signals, code: int, words: str) -> None:
    """Its workers end with it, without a word of their own; games that are through are stored."""
    command = _Running("judge", "--rubric", "spatial_grounding", "--judge", "engine", store=large)
    command.wait_for(lambda: len(command.children()) >= 2 or (os.cpu_count() or 1) == 1)
    time.sleep(1)
    workers = command.children()
    ended, told, _ = command.end(number)
    assert ended == code, told
    done = re.fullmatch(rf"cotrace: {words} \(spatial_grounding by engine: (not begun|\d+ of 120 done)\); finished work is stored.*", told)
    assert done, told
    assert not done[1].startswith("120")
    deadline = time.monotonic() + 10  # they end with it, not before it
    while left := [pid for pid in workers if _is_running(pid)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        pytest.param(signal.SIGINT, 0, "", id="Ctrl-C"),
        pytest.param(signal.SIGTERM, 143, "cotrace: ended by SIGTERM", id="SIGTERM"),
    ],
)
def test_the_dashboard_says_that_it_was_ended(large: Store, number: signal.Signals, code: int, words: str) -> None:
    """Ctrl-C is its ordinary end (as in `tests.dashboards.test_access.dash`); SIGTERM is told."""
    command = _Running("dash", "--port", "0", store=large)
    assert command.process.stderr is not None
    assert "dashboard over" in command.process.stderr.readline()
    ended, told, _ = command.end(number)
    assert ended == code
    assert told.startswith(words)
    assert bool(told) is bool(words)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_the_exit_code_tells_the_signal_wherever_it_comes(tmp_path: Path, name: str) -> None:
    """Also as `python -m` in the middle of an import, where libraries run code that they have as text."""
    kill = f"import os, signal; os.kill(os.getpid(), signal.{name})"
    (tmp_path / "started.py").write_text(
        "from cotrace import cli\n"
        f"cli.cli.main = lambda **_: exec({kill!r})\n"
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"signal.signal(signal.{name}, signal.SIG_DFL)\n"
        "cli.main()\n"
    )
    paths = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
    command = [sys.executable, "-m", "started"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=os.environ | {"PYTHONPATH": paths})
    assert (done.returncode, done.stderr.count("\n")) == (128 + signal.Signals[name], 1)
    assert done.stderr.startswith(f"cotrace: ended by {name}; ")
