"""`cotrace doctor`: what is installed, what the store holds, which keys are there, and what a run would need."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

import click

from cotrace import __version__
from cotrace.options.shared import say, store_option
from cotrace.terminal import echo
from providers.catalogue import PROVIDERS
from schemas.errors import CotraceError
from schemas.extras import EXTRAS
from schemas.store import Store

__all__ = ["Diagnosis", "command", "findings"]

_NEEDED: Final = ("duckdb", "polars", "pyarrow", "pandera", "pydantic", "orjson")
_COUNTS: Final = """
SELECT
    (SELECT count(*) FROM episodes), (SELECT count(*) FROM turns), (SELECT count(*) FROM verdicts), (SELECT count(*) FROM labels),
    (SELECT count(*) FROM rejects), (SELECT count(*) FROM judge_runs WHERE status = 'running')
"""

_FREE_BYTES: Final = 1 << 30


class Diagnosis(NamedTuple):
    """One line."""

    mark: str
    """`ok`, `-` (absent, needed only for what the line says) or `!` (to be mended)."""
    what: str
    said: str


@click.command()
@store_option
def command(store: Store) -> int:
    """Say what is installed, what the store holds, which keys are there (never shown), and what a run would need.

    Exit code 1 where something has to be mended.

    \b
    Example:
      cotrace doctor
    """
    found = list(findings(store))
    width = max(len(finding.what) for finding in found)
    for finding in found:
        echo(f"{finding.mark:>2}  {finding.what:<{width}}  {finding.said}")
    wrong = sum(finding.mark == "!" for finding in found)
    say(f"{wrong} to be mended" if wrong else "nothing to be mended")
    return 1 if wrong else 0


def findings(store: Store) -> Iterator[Diagnosis]:
    """What there is, from the ground up."""
    yield Diagnosis("ok", "cotrace", f"{__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}")
    for package in _NEEDED:
        found = _version(package)
        yield Diagnosis("ok" if found else "!", package, found or f"missing: pip install {package}")
    for extra in dict.fromkeys(EXTRAS.values()):
        missing = [package for package, brings in EXTRAS.items() if brings == extra and find_spec(package) is None]
        said = f"{', '.join(missing)} missing: pip install 'cotrace[{extra}]'" if missing else "all there"
        yield Diagnosis("-" if missing else "ok", f"[{extra}]", said)
    yield from _keys()
    yield _disk(store)
    yield from _store(store)


def _keys() -> Iterator[Diagnosis]:
    present = {name: [key for key in one.keys if os.environ.get(key)] for name, one in PROVIDERS.items()}
    for provider, keys in present.items():
        if keys:
            yield Diagnosis("ok", f"{provider}/", f"{keys[0]} is set")
    if not any(present.values()):
        yield Diagnosis("-", "keys", f"none set of {', '.join(key for one in PROVIDERS.values() for key in one.keys)}")
        yield Diagnosis("-", "models", "need a key, or --base-url of a local server; engine judges need neither")


def _disk(store: Store) -> Diagnosis:
    folder = next((place for place in (store.folder, Path.cwd()) if place.is_dir()), Path("/"))
    free = shutil.disk_usage(folder).free
    said = f"{free / (1 << 30):.1f} GB free in {folder}"
    if not os.access(folder, os.W_OK):
        return Diagnosis("!", "disk", f"{folder} cannot be written: choose another --store")
    return Diagnosis("ok" if free > _FREE_BYTES else "!", "disk", said)


def _store(store: Store) -> Iterator[Diagnosis]:
    if not store.exists():
        yield Diagnosis("-", "store", f"none at {store.path}: cotrace ingest PATH makes it, cotrace demo plays games first")
        return
    try:
        with store.reading() as connection:
            counts = connection.execute(_COUNTS).fetchone()
    except CotraceError as error:
        yield Diagnosis("!", "store", str(error))
        return
    games, turns, verdicts, labels, rejects, running = counts or (0,) * 6
    size = store.size() / (1 << 20)
    yield Diagnosis("ok", "store", f"{store.path}, {size:.1f} MB: {games} games, {turns} turns, {verdicts} verdicts, {labels} labels")
    if rejects:
        yield Diagnosis("-", "rejects", f"{rejects} parts of logs could not be used: cotrace report rejects")
    if running:
        yield Diagnosis(
            "-", "judge runs", f"{running} marked as running: under way, or killed; the same command again goes on where it stopped"
        )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
