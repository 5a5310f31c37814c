"""Folders that take long to fill and that many tests look at: filled once a test run, then copied."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from analytics.installation import blank, ensure_installed
from ingest.files.run import ingest_paths
from schemas.store.store import Store

_KEPT: list[Path] = []


def keep_in(folder: Path) -> None:
    """Where the folders of this test run lie, the same for all of its processes."""
    _KEPT.append(folder)


def new_folder() -> Path:
    """An empty folder that lasts as long as the test run."""
    return Path(tempfile.mkdtemp(dir=_home()))


def copied(name: str, fill: Callable[[Path], object], folder: Path) -> None:
    """Copy into a folder what `fill` writes into an empty one; only the first process of a run that asks for the name fills it."""
    home = _home()
    master = home / f"master-{name}"
    with (home / f"master-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = master.with_suffix(".done")
        if not done.exists():
            shutil.rmtree(master, ignore_errors=True)
            master.mkdir()
            fill(master)  # where it stays: stores know their logs by their paths
            done.touch()
    shutil.copytree(master, folder, dirs_exist_ok=True)


def begun(path: Path) -> Store:
    """A new store with the views, as `Store.create` begins one, but without opening it: that takes DuckDB as long as many a test."""
    store, beginning = Store(path), Store.blank()
    if beginning is None:
        store.create()
        ensure_installed(store)
    else:
        shutil.copyfile(beginning, path)
    return store


@contextmanager
def beginning_without_views() -> Iterator[None]:
    """Meanwhile new stores have no views, and take half the time to open and to write to; whoever needs views makes them in two seconds."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Store, "blank", staticmethod(_bare))
        yield


@pytest.fixture
def with_views(monkeypatch: pytest.MonkeyPatch) -> None:
    """New stores of this test have the views."""
    monkeypatch.setattr(Store, "blank", staticmethod(blank))


@cache
def _bare() -> Path:
    """An empty store without views."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Store, "blank", staticmethod(lambda: None))
        (store := Store(new_folder() / "s.duckdb")).create()
    return store.path


def held_open(store: Store) -> Iterator[Store]:
    """A store that no test changes, for a fixture to yield: while one connection is open, others to the same file cost next to nothing."""
    with store.reading():
        yield store


def published_store(shared: Path, folder: Path, *logs: str) -> Store:
    """A store of one's own with published logs and the views.

    Args:
        shared: the published data, as the fixture of that name gives it.
        folder: where the store comes to lie.
        logs: files or folders below its `data`.
    """

    def fill(growing: Path) -> None:
        store = Store(growing / "s.duckdb")
        with pytest.MonkeyPatch.context() as patched:  # also where other new stores have no views
            patched.setattr(Store, "blank", staticmethod(blank))
            ingest_paths([shared / "data" / log for log in logs], store, workers=1)
        ensure_installed(store)
        Store.settle(store)

    copied(hashlib.sha256("\n".join(logs).encode()).hexdigest()[:12], fill, folder)
    return Store(folder / "s.duckdb")


def _home() -> Path:
    return _KEPT[-1] if _KEPT else _own()


@cache
def _own() -> Path:
    """Outside of pytest."""
    return Path(tempfile.mkdtemp(prefix="cotrace-masters-"))
