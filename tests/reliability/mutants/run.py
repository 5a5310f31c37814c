"""Runs the tests against mutants: each in a copy of the project, in a child of a process that has the heavy libraries loaded already.

What was tried is kept in a journal, so that the work can be stopped and taken up again.
"""

from __future__ import annotations

import argparse
import compileall
import hashlib
import importlib
import json
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from queue import SimpleQueue
from typing import Final, NamedTuple

import click
import pytest

from tests.places import ROOT, SHARED
from tests.reliability.mutants.changes import Mutant, as_it_is, mutant, number_of_mutants
from tests.reliability.mutants.explained import why_it_survives
from tests.reliability.mutants.lines import Recorder, Runs, likeliest
from tests.reliability.mutants.subjects import SUBJECTS, Subject
from tests.reliability.page import put

__all__ = ["Tried", "sample", "try_mutants", "try_sample"]

_LOADED: Final = (
    "duckdb",
    "hypothesis",
    "numpy",
    "pandas",
    "pandera.polars",
    "polars",
    "pyarrow",
    "pytest",
    "scipy.stats",
    "sklearn",
    "statsmodels.api",
)
JOURNAL: Final = ROOT / "build" / "mutants.jsonl"
_OPTIONS: Final = ("-p", "no:unraisableexception", "-p", "no:threadexception")
"""What the garbage collector finds in whichever test comes next says nothing about the mutant."""

_LEFT_OUT: Final = shutil.ignore_patterns(".git", ".venv", "__pycache__", "site", "build", "*.egg-info")
_PASSED: Final = 0
_NO_TESTS: Final = 5
_ENOUGH: Final = 0.85
_RECORDING_S: Final = 1800.0
_TEST_S: Final = 60.0
"""A test that takes longer hangs, and so has noticed the mutant; while its lines are noted, it may take all the time there is."""
_MOST_S: Final = 240.0
"""Of tests a mutant, as they take while their lines are noted, some ten times as long as otherwise: one that lives would take minutes."""
_PATIENCE_S: Final = 20.0
_TIMES_LONGER: Final = 4


class Tried(NamedTuple):
    """A mutant, and whether a test noticed."""

    subject: str
    mutant: Mutant
    outcome: str
    """caught, timeout (caught too: it never ends) or survived."""
    seconds: float


class _Only:
    """A plugin of pytest: these tests and no others, in this order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._place = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Take out the others."""
        items[:] = sorted((item for item in items if item.nodeid in self._place), key=lambda item: self._place[item.nodeid])


def sample(number: int, seed: int, subjects: Sequence[Subject] = SUBJECTS) -> list[tuple[Subject, Mutant]]:
    """So many mutants, each possible change as likely as any other of its subject; every subject gets an equal share."""
    chosen = random.Random(seed)
    found: list[tuple[Subject, Mutant]] = []
    for place, subject in enumerate(subjects):
        share = number * (place + 1) // len(subjects) - number * place // len(subjects)
        files = sorted({path for pattern in subject.files for path in ROOT.glob(pattern)})
        sources = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in files}
        places = [(path, one) for path, source in sources.items() for one in range(number_of_mutants(path, source))]
        drawn = (mutant(path, sources[path], one) for path, one in chosen.sample(places, len(places)))
        viable = (one for one in drawn if one is not None and one.source != as_it_is(one.path, sources[one.path]))
        found += [(subject, one) for one, _ in zip(viable, range(share), strict=False)]
    return found


def try_mutants(chosen: Sequence[tuple[Subject, Mutant]], processes: int) -> Iterator[Tried]:
    """Run them, several at once; a subject whose tests fail without any change is an error."""
    for name in _LOADED:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory(prefix="cotrace-mutants-") as folder:
        if SHARED.exists():
            (Path(folder) / SHARED.name).symlink_to(SHARED)  # the published data, beside each copy as beside the project
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(processes):
            copies.put(_copy(Path(folder) / str(number)))
        runs = {subject.name: _recorded(copies, subject) for subject in dict.fromkeys(subject for subject, _ in chosen)}
        pool = ThreadPoolExecutor(processes)
        try:
            yield from pool.map(lambda one: _try(copies, one[0], one[1], runs[one[0].name]), chosen)
        finally:
            pool.shutdown(cancel_futures=True)


def _copy(to: Path) -> Path:
    shutil.copytree(ROOT, to, ignore=_LEFT_OUT, symlinks=True)
    compileall.compile_dir(to, quiet=2)
    return to


def _recorded(copies: SimpleQueue[Path], subject: Subject) -> Runs:
    """Which test runs which lines; kept until the subject's code or tests change."""
    files = sorted({path.relative_to(ROOT).as_posix() for pattern in subject.files for path in ROOT.glob(pattern)})
    kept = JOURNAL.parent / f"mutants-{_digest(*files, *subject.tests)}.json"
    if not kept.exists():
        copy = copies.get()
        outcome = _tests(copy, subject.tests, Recorder(copy, files, copy / "lines.json"), _RECORDING_S, _RECORDING_S)
        if outcome != _PASSED:
            raise SystemExit(f"the tests of {subject.name} fail without any change: {(copy / 'output').read_text('utf-8')[-2000:]}")
        JOURNAL.parent.mkdir(exist_ok=True)
        shutil.copyfile(copy / "lines.json", kept)
        copies.put(copy)
    return Runs.read(kept)


def _digest(*files: str) -> str:
    return hashlib.sha256(b"\0".join((ROOT / file).read_bytes() for file in files)).hexdigest()[:16]


def _try(copies: SimpleQueue[Path], subject: Subject, one: Mutant, runs: Runs) -> Tried:
    """The tests that run the line, as many as the time of a mutant allows; the subject's where none is known to."""
    if why_it_survives(ROOT, one) is not None:
        return Tried(subject.name, one, "survived", 0.0)
    copy = copies.get()
    began = time.monotonic()
    found = likeliest(runs, one.path, (ROOT / one.path).read_text("utf-8"), one.line) or list(runs.seconds)
    takes = accumulate(runs.seconds[test] for test in found)
    tests = [test for place, (test, after_s) in enumerate(zip(found, takes, strict=True)) if after_s <= _MOST_S or place == 0]
    with _changed(copy / one.path, one.source):
        told = _outcome(copy, tests, runs)
    copies.put(copy)
    return Tried(subject.name, one, told, time.monotonic() - began)


def _outcome(copy: Path, tests: Sequence[str], runs: Runs) -> str:
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    patience_s = _PATIENCE_S + _TIMES_LONGER * sum(runs.seconds[test] for test in tests)
    code = _tests(copy, files, _Only(tests), patience_s, _TEST_S)
    return "timeout" if code is None else "survived" if code in {_PASSED, _NO_TESTS} else "caught"


@contextmanager
def _changed(path: Path, source: str) -> Iterator[None]:
    """What was compiled of the file before is told by its time, and counts again when that is back."""
    kept, times = path.read_bytes(), path.stat()
    path.write_text(source, encoding="utf-8")
    try:
        yield
    finally:
        path.write_bytes(kept)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def _tests(copy: Path, files: Sequence[str], plugin: object, patience_s: float, test_s: float) -> int | None:
    """The exit code of pytest; None if it had to be killed.

    Args:
        copy: where.
        files: with tests.
        plugin: of pytest.
        patience_s: for all of them.
        test_s: for one.
    """
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os._exit(_in_child(copy, files, plugin, test_s))
    with suppress(OSError):
        os.setpgid(child, child)
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _in_child(copy: Path, files: Sequence[str], plugin: object, test_s: float) -> int:
    """Everything of the project is imported anew, from the copy."""
    try:
        output = os.open(copy / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(copy)
        own = {path.stem for path in ROOT.iterdir()}
        for name in [name for name in sys.modules if name.partition(".")[0] in own]:
            del sys.modules[name]
        sys.path[:] = [str(copy), *(place for place in sys.path if Path(place).resolve() != ROOT and place)]
        sys.dont_write_bytecode = True
        os.environ.update(PYTHONPATH=str(copy), PYTHONDONTWRITEBYTECODE="1")
        told = ["-q", "-x", "-n", "0", "--assert=plain", f"--basetemp={copy / 'tmp'}", f"--timeout={test_s:.0f}", *_OPTIONS, *files]
        return int(pytest.main(told, plugins=[plugin]))
    except BaseException:  # noqa: BLE001 - a child must not come back
        traceback.print_exc()
        return 3


def try_sample(asked: argparse.Namespace) -> int:
    """Draw, run what the journal does not know yet, and report; 1 if fewer than 85 of 100 were caught."""
    subjects = [subject for subject in SUBJECTS if not asked.only or subject.name in asked.only]
    chosen = sample(asked.number, asked.seed, subjects)
    random.Random(asked.seed).shuffle(chosen)  # ended early, it has tried some of each
    names = [_name(*one) for one in chosen]
    known = _known()
    deadline = time.monotonic() + 60 * asked.minutes
    left = [one for name, one in zip(names, chosen, strict=True) if name not in known]
    for one, (subject, _) in zip(try_mutants(left, asked.processes) if left else (), left, strict=False):
        known[_name(subject, one.mutant)] = _note(subject, one)
        if one.outcome == "survived":
            click.echo(f"survived: {one.mutant.path}:{one.mutant.line}: {one.mutant.change}")
        if time.monotonic() > deadline:
            break
    tried = [
        Tried(subject.name, one, known[name].outcome, known[name].seconds)
        for name, (subject, one) in zip(names, chosen, strict=True)
        if name in known
    ]
    return _report(tried, len(chosen), subjects, write=asked.write)


class _Noted(NamedTuple):
    """A line of the journal."""

    name: str
    outcome: str
    seconds: float
    mutant: str
    """For whoever reads it."""


def _name(subject: Subject, one: Mutant) -> str:
    """The same for the same change of the same code under the same tests."""
    return hashlib.sha256(f"{one.path} {one.source} {_digest(*subject.tests)}".encode()).hexdigest()[:16]


def _known() -> dict[str, _Noted]:
    lines = JOURNAL.read_text("utf-8").splitlines() if JOURNAL.exists() else []
    return {noted.name: noted for noted in (_Noted(*json.loads(line)) for line in lines)}


def _note(subject: Subject, one: Tried) -> _Noted:
    noted = _Noted(_name(subject, one.mutant), one.outcome, one.seconds, f"{one.mutant.path}:{one.mutant.line}: {one.mutant.change}")
    with JOURNAL.open("a", encoding="utf-8") as journal:
        journal.write(f"{json.dumps(noted)}\n")
    return noted


def _report(tried: Sequence[Tried], drawn: int, subjects: Sequence[Subject], *, write: bool) -> int:
    caught = sum(one.outcome != "survived" for one in tried)
    median_s = statistics.median(one.seconds for one in tried) if tried else 0.0
    told = f"{caught} of {len(tried)} caught, {drawn} drawn; median {median_s:.1f} s each"
    click.echo(told)
    if write:
        rows: list[tuple[object, ...]] = [("part", "mutants tried", "caught", "of these by never ending")]
        for subject in subjects:
            outcomes = [one.outcome for one in tried if one.subject == subject.name]
            rows.append((subject.name, len(outcomes), len(outcomes) - outcomes.count("survived"), outcomes.count("timeout")))
        survived = [_told(one.mutant) for one in tried if one.outcome == "survived"]
        notes = [
            f"{told}. Only quick tests of each part are run, and of them those that run the line, the quickest first, for half a minute.",
            "\n".join(["Survivors:", "", *survived]) if survived else "No survivors.",
        ]
        put("mutants", "python -m tests.reliability mutants", rows, notes)
    return 0 if caught >= _ENOUGH * len(tried) else 1


def _told(survivor: Mutant) -> str:
    why = why_it_survives(ROOT, survivor)
    return f"- `{survivor.path}:{survivor.line}`: {survivor.change}{f' ({why})' if why else ''}"
