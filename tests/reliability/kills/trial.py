"""One command, run whole once, then killed at chosen moments: what it leaves after a second start must be what the whole run left."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.reliability.kills.phases import Phases
from tests.reliability.kills.scenarios import Scenario
from tests.reliability.kills.state import state_of

_PATIENCE_S: Final = 300.0


class Killed(NamedTuple):
    """A kill, and what came of the second start."""

    command: str
    moment: str
    broken: str | None
    """What was not as after an unbroken run; None: nothing."""


class Broken(Exception):  # noqa: N818 - what a trial finds
    """The command does not work even when nobody kills it."""


class _Ended(NamedTuple):
    status: int
    phases: list[str]
    seconds: float
    said: str


def kill_everywhere(scenario: Scenario, home: Path, moments: int, at_random: int, seed: int) -> Iterator[Killed]:
    """Kill the command at so many of its moments (of every kind the first and the last, the rest spread), and so often at any time."""
    before, work = home / "before", home / "work"
    _in_child(before, scenario, None)
    with scenario.served(before) as url:
        whole = _fresh(before, work, scenario, url, None)
        if whole.status != 0:
            raise Broken(f"{scenario.name}: {whole.said[-1000:]}")
        expected, requests = state_of(work), _requests(url)
        chosen: list[int | float] = list(_chosen(whole.phases, moments))
        chosen += [random.Random(seed).uniform(0.0, whole.seconds) for _ in range(at_random)]
        for moment in chosen:
            started = _requests(url)
            killed = _fresh(before, work, scenario, url, moment)
            named = whole.phases[moment] if isinstance(moment, int) else "at any time"
            if killed.status != -signal.SIGKILL and isinstance(moment, int):
                named += " (not reached)"
            again = _in_child(work, _words(scenario, work, url), None)
            why = _difference(expected, state_of(work)) or _told(again) or _paid_twice(_requests(url) - started, requests, scenario)
            yield Killed(scenario.name, named, why)


def _fresh(before: Path, work: Path, scenario: Scenario, url: str, kill: float | None) -> _Ended:
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(before, work)
    return _in_child(work, _words(scenario, work, url), kill)


def _words(scenario: Scenario, work: Path, url: str) -> list[str]:
    episode = work / "episode"
    known = {"url": url, "episode": episode.read_text("utf-8") if episode.exists() else ""}
    return [word.format(**known) if "{" in word else word for word in scenario.words]


def _chosen(phases: Sequence[str], moments: int) -> list[int]:
    """Of every kind of moment the first and the last, and others between them at equal distances."""
    ends = {place for kind in set(phases) for place in (phases.index(kind), len(phases) - 1 - phases[::-1].index(kind))}
    between = {round(one * (len(phases) - 1) / max(1, moments - 1)) for one in range(moments)} if phases else set()
    return sorted(sorted(ends)[:moments] if moments <= len(ends) else ends | set(sorted(between)[: moments - len(ends)]))


def _in_child(folder: Path, what: Scenario | list[str], kill: float | None) -> _Ended:
    """Run a command, or a scenario's preparation, in a fork: all that is imported here need not be imported again."""
    folder.mkdir(parents=True, exist_ok=True)
    told = folder.with_name("told")
    told.unlink(missing_ok=True)
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os._exit(_run(folder, what, kill if isinstance(kill, int) else None, told))
    if isinstance(kill, float):
        time.sleep(kill)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    status = _awaited(child)
    phases = json.loads(told.read_text("utf-8")) if told.exists() else []
    return _Ended(status, phases, time.monotonic() - began, folder.with_name("said").read_text("utf-8", "replace"))


def _awaited(child: int) -> int:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise Broken(f"it does not end within {_PATIENCE_S:.0f} s")


def _run(folder: Path, what: Scenario | list[str], last: int | None, told: Path) -> int:
    said = os.open(folder.with_name("said"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.chdir(folder)
    os.environ["OPENAI_API_KEY"] = "x"
    import ingest.files.writer
    from cotrace.cli import main

    if isinstance(what, Scenario):
        what.prepare()
        return 0
    ingest.files.writer._BATCH_ROWS = 200  # type: ignore[misc] # several transactions
    phases = Phases(folder, last)
    phases.watch()
    code: Any = 0
    try:
        main(what)
    except SystemExit as ended:
        code = ended.code or 0
    told.write_text(json.dumps(phases.seen), encoding="utf-8")
    return int(code)


def _difference(expected: dict[str, Any], found: dict[str, Any]) -> str | None:
    for name in sorted(expected.keys() | found.keys()):
        if name not in found or name not in expected:
            return f"{name} is {'missing' if name not in found else 'left over'}"
        if found[name] != expected[name]:
            return f"{name} is not the same{_counted(expected[name], found[name])}"
    return None


def _counted(expected: Any, found: Any) -> str:
    if not isinstance(expected, list):
        return ""
    lost, more = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    return f": {lost.total()} rows lost, {more.total()} more, such as {next(iter([*lost, *more]))[:200]}"


def _told(again: _Ended) -> str | None:
    return f"the second start ended with a traceback: {again.said[-300:]}" if "Traceback" in again.said else None


def _requests(url: str) -> int:
    if not url:
        return 0
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/stats") as reply:  # noqa: S310 - our own server
        return int(json.load(reply)["requests"])


def _paid_twice(asked: int, needed: int, scenario: Scenario) -> str | None:
    return f"{asked} requests in place of {needed}" if asked > needed + scenario.in_flight else None
