"""`cotrace lake`: stores in a folder that many machines can read and write at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cotrace.options.shared import Number, say, store_option
from schemas.common.errors import UsageError
from schemas.store.store import Store

if TYPE_CHECKING:
    from schemas.store.lake.store import LakeStore

_A_WEEK = 168.0


@click.group()
def command() -> None:
    """Fill a lake from a store, copy it into one, and keep it in shape; docs/scale.md tells when one is worth it.

    Every other command works on a lake that it is given as `--store lake:FOLDER`.

    \b
    Example:
      cotrace lake from cotrace.duckdb --store lake:games
      cotrace report leaderboard --store lake:games
    """


@command.command("from")
@click.argument("other", metavar="STORE", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@store_option
def from_(other: Path, store: Store) -> None:
    """Put all of a DuckDB store into a new lake.

    \b
    Example:
      cotrace lake from cotrace.duckdb --store lake:games
    """
    from schemas.store.lake.store import copy_from

    lake = _lake(store)
    rows = copy_from(lake, Store(other))
    say(f"{rows} rows of {other} in {lake.path}")


@command.command("to")
@click.argument("other", metavar="STORE", type=click.Path(dir_okay=False, path_type=Path))
@store_option
def to(other: Path, store: Store) -> None:
    """Put all of a lake, or a part of it, into a new DuckDB store.

    \b
    Example:
      cotrace lake to craft.duckdb --store "lake:games?benchmark=craft"
    """
    from schemas.store.lake.store import copy_to

    if str(other).startswith("lake:"):
        raise UsageError(f"{other} is a lake, and `lake to` writes a DuckDB store: name a file, or copy the folder for another lake")
    lake, target = _lake(store), Store(other)
    rows = copy_to(lake, target)
    say(f"{rows} rows of {lake.path} in {other}")


@command.command("compact", short_help="Make large files of small ones, delete old ones.")
@click.option(
    "--keep-hours",
    type=Number(min=0),
    default=_A_WEEK,
    show_default=True,
    help="Retain what versions younger than this need; 0 only while no one else reads or writes.",
)
@store_option
def compact(keep_hours: float, store: Store) -> None:
    """Make large files of small ones and delete those that have been out of use for long; others may read and write meanwhile.

    \b
    Example:
      cotrace lake compact --store lake:games
    """
    from schemas.store.lake.store import compact as compacted

    lake = _lake(store)
    found = compacted(lake, keep_hours=keep_hours)
    say(f"{lake.path}: {found.before} files before, {found.after} now; {found.deleted} deleted that are no longer needed")


def _lake(store: Store) -> LakeStore:
    if not str(store.path).startswith("lake:"):
        raise UsageError(f"--store {store.path} is no lake: write --store lake:FOLDER")
    from schemas.store.lake.store import LakeStore

    assert isinstance(store, LakeStore)
    return store
