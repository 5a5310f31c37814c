"""Runs the tests against mutants: each in a copy of the project, in a child of a process that has the heavy libraries loaded already."""

from __future__ import annotations

import argparse
import compileall
import importlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Final, NamedTuple

import click

from tests.places import ROOT
from tests.reliability.mutants.changes import Mutant, mutant, number_of_mutants
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
_LEFT_OUT: Final = shutil.ignore_patterns(".git", ".venv", "__pycache__", "site", "build", "*.egg-info")
_PASSED: Final = 0
_PATIENCE_S: Final = 30.0
_TIMES_LONGER: Final = 4


class Tried(NamedTuple):
    """A mutant, and whether a test noticed."""

    subject: str
    mutant: Mutant
    outcome: str
    """caught, timeout (caught too: it never ends) or survived."""
    seconds: float


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
        viable = (one for one in drawn if one is not None and one.source != sources[one.path])
        found += [(subject, one) for one, _ in zip(viable, range(share), strict=False)]
    return found


def try_mutants(chosen: Sequence[tuple[Subject, Mutant]], processes: int) -> Iterator[Tried]:
    """Run them, several at once; a subject whose tests fail without any change is an error."""
    for name in _LOADED:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory(prefix="cotrace-mutants-") as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(processes):
            copies.put(_copy(Path(folder) / str(number)))
        patience = {subject.name: _patience(copies, subject) for subject in dict.fromkeys(subject for subject, _ in chosen)}
        pool = ThreadPoolExecutor(processes)
        try:
            yield from pool.map(lambda one: _try(copies, one[0], one[1], patience[one[0].name]), chosen)
        finally:
            pool.shutdown(cancel_futures=True)


def _copy(to: Path) -> Path:
    shutil.copytree(ROOT, to, ignore=_LEFT_OUT, symlinks=True)
    compileall.compile_dir(to, quiet=2)
    return to


def _patience(copies: SimpleQueue[Path], subject: Subject) -> float:
    copy = copies.get()
    began = time.monotonic()
    outcome = _tests(copy, subject, 900.0)
    copies.put(copy)
    if outcome != _PASSED:
        raise SystemExit(f"the tests of {subject.name} fail without any change: {(copy / 'output').read_text('utf-8')[-2000:]}")
    return _PATIENCE_S + _TIMES_LONGER * (time.monotonic() - began)


def _try(copies: SimpleQueue[Path], subject: Subject, one: Mutant, patience_s: float) -> Tried:
    copy = copies.get()
    began = time.monotonic()
    with _changed(copy / one.path, one.source):
        outcome = _tests(copy, subject, patience_s)
    copies.put(copy)
    told = "timeout" if outcome is None else "survived" if outcome == _PASSED else "caught"
    return Tried(subject.name, one, told, time.monotonic() - began)


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


def _tests(copy: Path, subject: Subject, patience_s: float) -> int | None:
    """The exit code of pytest; None if it had to be killed."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os._exit(_in_child(copy, subject))
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


def _in_child(copy: Path, subject: Subject) -> int:
    """Everything of the project is imported anew, from the copy."""
    import pytest

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
        return int(pytest.main(["-q", "-x", "-n", "0", "--assert=plain", *subject.tests]))
    except BaseException:  # noqa: BLE001 - a child must not come back
        traceback.print_exc()
        return 3


def try_sample(asked: argparse.Namespace) -> int:
    """Draw, run and report; 1 if fewer than 85 of 100 were caught."""
    subjects = [subject for subject in SUBJECTS if not asked.only or subject.name in asked.only]
    chosen = sample(asked.number, asked.seed, subjects)
    random.Random(asked.seed).shuffle(chosen)  # ended early, it has tried some of each
    tried: list[Tried] = []
    deadline = time.monotonic() + 60 * asked.minutes
    for one in try_mutants(chosen, asked.processes):
        tried.append(one)
        if one.outcome == "survived":
            click.echo(f"survived: {one.mutant.path}:{one.mutant.line}: {one.mutant.change}")
        if time.monotonic() > deadline:
            break
    caught = sum(one.outcome != "survived" for one in tried)
    click.echo(f"{caught} of {len(tried)} caught, {len(chosen)} drawn")
    if asked.write:
        rows: list[tuple[object, ...]] = [("part", "mutants tried", "caught", "of these by never ending")]
        for subject in subjects:
            own = [one for one in tried if one.subject == subject.name]
            outcomes = [one.outcome for one in own]
            rows.append((subject.name, len(own), len(own) - outcomes.count("survived"), outcomes.count("timeout")))
        survived = [f"- `{one.mutant.path}:{one.mutant.line}`: {one.mutant.change}" for one in tried if one.outcome == "survived"]
        told = f"{caught} of {len(tried)} caught; {len(chosen)} had been drawn. Only quick tests of each part are run."
        put(
            "mutants",
            "python -m tests.reliability mutants",
            rows,
            [told, "\n".join(["Survivors:", "", *survived]) if survived else "No survivors."],
        )
    return 0 if caught >= 0.85 * len(tried) else 1
