"""Which kind of store a name denotes: a DuckDB file, or with `lake:` in front a folder or bucket in Delta Lake's format."""

import os
import re
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl

from schemas.common.errors import UsageError
from schemas.store.store import Store

_LAKE: Final = "lake:"
_ELSEWHERE: Final = re.compile(r":memory:|\w+:")
"""How names begin for which DuckDB would load an extension, from the network if need be, or keep nothing."""
_NOWHERE: Final = re.compile(r"(?:\w+:/*)?")
"""A lake without a place, or in no bucket."""
_PARTS: Final = ("benchmark", "run")


def store_at(name: str | Path) -> Store:
    """The store of a name: `cotrace.duckdb`, `lake:FOLDER`, `lake:s3://BUCKET/PREFIX` or `lake:FOLDER?benchmark=craft`; it need not exist.

    Raises:
        UsageError: it is not the name of a file, the name of a lake has an unknown part, or the package that lakes need is not
            installed.
    """
    text = str(name)
    if not text.startswith(_LAKE):
        if _ELSEWHERE.match(text):
            raise UsageError(f"--store {text}: a store is a DuckDB file on this machine, or lake:FOLDER or lake:s3://BUCKET/PREFIX")
        return Store(Path(name))
    from schemas.store.lake.store import LakeStore

    folder, parts = _asked(text)
    if _NOWHERE.fullmatch(folder):
        raise UsageError(f"--store {text}: write lake:FOLDER or lake:s3://BUCKET/PREFIX")
    if unknown := parts.keys() - set(_PARTS):
        raise UsageError(f"--store {text}: a lake is cut by {' and '.join(_PARTS)}, not by {', '.join(sorted(unknown))}")
    return LakeStore(folder, benchmark=parts.get("benchmark"), run=parts.get("run"))


def state_of(path: Path) -> tuple[object, ...]:
    """What changes with every write to the store of that path: DuckDB writes to the file, or first to the log next to it.

    Raises:
        StoreError: the lake's object store cannot be reached.
    """
    if str(path).startswith(_LAKE):
        from schemas.store.lake.place import place_of

        return path, *place_of(_asked(str(path))[0]).state()
    stats = [stat for file in (path, path.with_name(f"{path.name}.wal")) if (stat := _stat(file))]
    return tuple((stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size) for stat in stats) or (path.resolve(),)


def _stat(file: Path) -> os.stat_result | None:
    """None where there is none; DuckDB takes its log away whenever a writer has finished, also between two looks at it."""
    try:
        return file.stat()
    except FileNotFoundError:
        return None


def _asked(text: str) -> tuple[str, dict[str, str]]:
    """Where a lake lies, and which part of it is asked for."""
    folder, _, asked = text.removeprefix(_LAKE).partition("?")
    return folder, dict(parse_qsl(asked, keep_blank_values=True))
