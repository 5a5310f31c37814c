"""Which kind of store a name stands for: a DuckDB file, or with `lake:` in front a folder in Delta Lake's format."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl

from schemas.errors import UsageError
from schemas.store import Store

__all__ = ["store_at"]

_LAKE: Final = "lake:"
_PARTS: Final = ("benchmark", "run")


def store_at(name: str | Path) -> Store:
    """The store of a name, such as `cotrace.duckdb`, `lake:FOLDER` or `lake:FOLDER?benchmark=craft`; it need not exist.

    Raises:
        UsageError: the name of a lake asks for something that there is not, or the package that lakes need is not installed.
    """
    text = str(name)
    if not text.startswith(_LAKE):
        return Store(Path(name))
    from schemas.lake.store import LakeStore

    folder, _, asked = text.removeprefix(_LAKE).partition("?")
    parts = dict(parse_qsl(asked, keep_blank_values=True))
    if not folder or "://" in folder:
        raise UsageError(f"--store {text}: write lake:FOLDER, a folder of this machine or of a file system that it has mounted")
    if unknown := parts.keys() - set(_PARTS):
        raise UsageError(f"--store {text}: a lake is cut by {' and '.join(_PARTS)}, not by {', '.join(sorted(unknown))}")
    return LakeStore(folder, benchmark=parts.get("benchmark"), run=parts.get("run"))
