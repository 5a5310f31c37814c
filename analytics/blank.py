"""A store without rows, with all tables and views: new stores begin as a copy of it."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from analytics.views import FINGERPRINT, comments, fingerprint, install
from schemas.errors import StoreError
from schemas.store import SCHEMA_VERSION, Store

__all__ = ["blank"]


@cache
def blank() -> Path | None:
    """A store with all views and no rows, made once on a machine and kept in the user's cache; None where no cache can be written.

    Ninety views and what is said of two thousand columns take DuckDB one to two seconds, a copy some milliseconds.
    """
    key = hashlib.sha256(f"{fingerprint()}{comments()}{SCHEMA_VERSION}{version('duckdb')}".encode()).hexdigest()[:16]
    kept = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cotrace" / f"blank-{key}.duckdb"
    try:
        if not _is_whole(kept):
            kept.parent.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(dir=kept.parent) as scratch:
                made = _FromNothing(Path(scratch) / "blank.duckdb")
                made.create()
                made.define(install)
                made.path.replace(kept)
    except (OSError, RuntimeError, StoreError):  # RuntimeError: nobody's home
        return None
    return kept


class _FromNothing(Store):
    blank = staticmethod(lambda: None)


def _is_whole(kept: Path) -> bool:
    if not kept.exists():
        return False
    try:
        with Store(kept).reading() as connection:
            return bool(connection.execute("select value from store_info where name = ?", [FINGERPRINT]).fetchone() == (fingerprint(),))
    except StoreError:
        return False
