"""What the tests share: where the published data lies, and what happens when it does not."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from schemas.store.store import SEALED
from tests.masters import keep_in
from tests.open_files import staying_open
from tests.places import SHARED

SEALED["threads"] = 1  # of DuckDB, as of other libraries: as many processes as cores test already
gc.disable()  # imports and tests found stay: to look through them for cycles is a third of the time that collecting takes

if not os.environ.get("CI"):  # there the profile that hypothesis brings for CI counts, which has no deadline either
    settings.register_profile("untimed", deadline=None)
    settings.load_profile("untimed")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with published logs and reference numbers; skips where it is absent, except in CI."""
    if SHARED.is_dir():
        return SHARED
    if os.environ.get("CI"):
        pytest.fail(f"CI must have the published data beside the project, at {SHARED.name}/")
    pytest.skip("the published data (folder `shared` beside the project) is not here")


@pytest.fixture(scope="session", autouse=True)
def _masters(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> None:
    """Where stores that many tests copy are kept: beside the folders of all processes of the run."""
    base = tmp_path_factory.getbasetemp()
    keep_in(base if worker_id == "master" else base.parent)


@pytest.fixture(scope="session", autouse=True)
def _staying_open() -> Iterator[None]:
    with staying_open():
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as `long` what a `sampled(n)` test has beyond n of its parameter sets, which are spread evenly over them.

    The lake's files take longest of all: they come first, so that no process is left with one at the end.
    """
    items.sort(key=lambda item: "schemas/lake" not in item.nodeid)
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for found in cases.values():
        (wanted,) = found[0].get_closest_marker("sampled").args  # type: ignore[union-attr]
        chosen = {round(i * (len(found) - 1) / max(wanted - 1, 1)) for i in range(wanted)}
        for at, item in enumerate(found):
            if at not in chosen:
                item.add_marker("long")


def pytest_collection_finish() -> None:
    """Look for cycles from now on, but not among the modules and tests that stay until the end."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)  # rather memory than time
    gc.enable()


def pytest_sessionfinish() -> None:
    """Let everything be collected, so that libraries in C++ report no leaks."""
    gc.unfreeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why a test was run again: one that passes the second time is not forgotten."""
    for report in terminalreporter.stats.get("rerun", ()):
        terminalreporter.section(f"first try of {report.nodeid}", sep="-")
        terminalreporter.write_line(report.longreprtext)
