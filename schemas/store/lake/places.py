"""The place that a lake's name stands for: a folder, or a bucket."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from schemas.common.errors import UsageError
from schemas.store.lake.bucket import bucket_at
from schemas.store.lake.place import Place

__all__ = ["place_of"]

_REMOTE: Final = re.compile(r"^(\w+):/+(?=[^/])")
_UNUSABLE: Final = re.compile(r"[%\\\x00-\x1f\x7f]")
"""What deltalake takes for an escape or a separator, or refuses."""


def place_of(name: str | Path) -> Place:
    """The place that a folder's name or an address stands for (`games`, `s3://bucket/games`; `s3:/bucket/games` is the same).

    Raises:
        UsageError: no such addresses are known, the package that they need is not installed, or the folder's name cannot be used.
    """
    if _REMOTE.match(str(name)) is None:
        place = Place(os.path.expanduser(name))  # noqa: PTH111 - no shell does behind `lake:`; pathlib raises where there is no such user
        if found := _UNUSABLE.search(place.uri):
            raise UsageError(
                f"lake:{name}: deltalake cannot write to a path with {found.group()!r} in it: name another folder with --store"
            )
        if Path(place.uri).is_file():
            raise UsageError(f"lake:{name} is a file, and a lake is a folder: name a folder, or leave out lake: for a DuckDB file")
        if place.uri == place.disk.root:
            raise UsageError(f"lake:{name}: the root of all folders is no place for a lake: name a folder in it")
        return place
    return bucket_at(_REMOTE.sub(r"\1://", str(name)).rstrip("/"))
