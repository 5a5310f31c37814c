"""Which tests run which lines, found once: a mutant meets the tests that run its line first, the quickest before the others."""

from __future__ import annotations

import ast
import json
import re
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest

from benchmarks.timing import forget
from tests.places import ROOT

__all__ = ["Recorder", "Runs", "likeliest"]


class Runs(NamedTuple):
    """What one run of a subject's tests showed."""

    seconds: dict[str, float]
    """How long each test took, in the order in which they ran."""
    lines: dict[str, dict[int, set[str]]]
    """File, from the project's folder -> line -> the tests that run it; where a fixture did, which other tests share, their file."""

    @classmethod
    def read(cls, path: Path) -> Runs:
        """As `Recorder` wrote it."""
        seconds, lines = json.loads(path.read_text("utf-8"))
        return cls(seconds, {file: {int(line): set(tests) for line, tests in found.items()} for file, found in lines.items()})


class Recorder:
    """A plugin of pytest: notes the lines that each test and its fixtures run, threads included, and writes them down at the end.

    Args:
        root: the project's folder.
        files: those that matter, from that folder.
        out: where to write.
    """

    def __init__(self, root: Path, files: Iterable[str], out: Path) -> None:
        self._files = {str(root / file): file for file in files}
        self._out = out
        self._test = ""
        self._seconds: dict[str, float] = {}
        self._lines: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Watch one test, which finds nothing worked out by another."""
        self._test = item.nodeid
        forget(*(file.split("/", 1)[0] for file in self._files.values()))
        began = time.monotonic()
        if any(file.endswith(".py") for file in self._files.values()):
            threading.settrace(self._entered)
            sys.settrace(self._entered)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            self._seconds[item.nodeid] = time.monotonic() - began

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """What fixtures run, all tests of the file may look at."""
        self._test = _file(item.nodeid)
        try:
            return (yield)
        finally:
            self._test = item.nodeid

    def pytest_sessionfinish(self) -> None:
        """Write."""
        lines = {file: {line: sorted(tests) for line, tests in found.items()} for file, found in self._lines.items()}
        self._out.write_text(json.dumps([self._seconds, lines]), encoding="utf-8")

    def _entered(self, frame: FrameType, _event: str, _of: Any) -> Any:
        file = self._files.get(frame.f_code.co_filename)
        if file is None:
            return None
        found = self._lines[file]
        found[frame.f_lineno].add(self._test)

        def ran(inner: FrameType, event: str, _of: Any) -> Any:
            if event == "line":
                found[inner.f_lineno].add(self._test)
            return ran

        return ran


def likeliest(runs: Runs, path: str, source: str, line: int) -> list[str]:
    """The tests that run the statement of that line, the quickest files first; of SQL, those whose file names it or what stands on it."""
    ran = _naming(runs, path) if path.endswith(".sql") else _run(runs, path, source, line)
    found = [test for test in runs.seconds if test in ran or _file(test) in ran]
    takes: defaultdict[str, float] = defaultdict(float)
    for test in found:
        takes[_file(test)] += runs.seconds[test]
    return sorted(found, key=lambda test: (takes[_file(test)], _file(test), runs.seconds[test]))


def _file(test: str) -> str:
    return test.partition("::")[0]


def _run(runs: Runs, path: str, source: str, line: int) -> set[str]:
    lines = runs.lines.get(path, {})
    return set().union(*(lines.get(one, set()) for one in _statement(ast.parse(source), line)))


def _naming(runs: Runs, path: str) -> set[str]:
    names = re.compile(rf"\b({'|'.join(_built_on(Path(path).stem))})\b")
    return {file for file in map(_file, runs.seconds) if names.search((ROOT / file).read_text("utf-8"))}


@cache
def _built_on(view: str) -> frozenset[str]:
    """The view, those that read it, those that read them, ..."""
    texts = {path.stem: path.read_text("utf-8") for path in (ROOT / "analytics").rglob("*.sql")}
    found = {view}
    while more := {name for name, text in texts.items() if name not in found and any(re.search(rf"\b{one}\b", text) for one in found)}:
        found |= more
    return frozenset(found)


def _statement(tree: ast.Module, line: int) -> Sequence[int]:
    """The lines of the innermost statement at a line; of one with a body, of what stands before the body."""
    found: Sequence[int] = (line,)
    for node in ast.walk(tree):  # outer ones before inner ones
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            if node.lineno <= line <= max(last, node.lineno):
                found = range(node.lineno, max(last, node.lineno) + 1)
    return found
