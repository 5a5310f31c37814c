"""The folder of a store's journals (`providers.journal`)."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from schemas.errors import StoreError
from schemas.store import Store

__all__ = ["folder_of", "made", "starting"]


def folder_of(store: Store) -> Path:
    """Where the journals of runs on this store lie."""
    return store.journals


def made(folder: Path) -> Path:
    """A folder for journals, made if it is missing.

    Raises:
        StoreError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(folder, error) from error
    return folder


def _unusable(folder: Path, error: OSError) -> StoreError:
    return StoreError(f"journal folder {folder} cannot be used: {error.strerror}; make it writable, or move the store")


@contextmanager
def starting(store: Store) -> Iterator[Path]:
    """The journal folder, held so that only one run at a time looks for leftovers and starts.

    Raises:
        StoreError: the folder cannot be made.
    """
    folder = made(folder_of(store))
    try:
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise _unusable(folder, error) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        os.close(lock)
