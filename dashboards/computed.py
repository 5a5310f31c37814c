"""Reports that take longer than a page should: computed when a page first asks for them, kept until the store changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import polars as pl

    from schemas.store import Store

__all__ = ["computed"]

_KEPT: Final = 32
_LOCK: Final = Lock()
_FOUND: Final[OrderedDict[tuple[object, ...], pl.DataFrame]] = OrderedDict()


def computed(store: Store, compute: Callable[..., pl.DataFrame], *, rubric: str) -> pl.DataFrame:
    """What `compute(store, rubric=rubric)` gives: the very numbers of `cotrace report`.

    Two pages that ask at once do not compute twice: the second one waits.

    Args:
        store: whose report.
        compute: a report.
        rubric: which rubric's rows.
    """
    with _LOCK:
        key = (compute.__module__, compute.__qualname__, rubric, *_state(store.path))
        if key in _FOUND:
            _FOUND.move_to_end(key)
        else:
            _FOUND[key] = compute(store, rubric=rubric)
            if len(_FOUND) > _KEPT:
                _FOUND.popitem(last=False)
        return _FOUND[key]


def _state(path: Path) -> tuple[object, ...]:
    """Changes with every write: DuckDB writes to the file, or first to the log beside it."""
    files = (path, path.with_name(f"{path.name}.wal"))
    stats = [file.stat() for file in files if file.exists()]
    return (path.resolve(), *((stat.st_ino, stat.st_mtime_ns, stat.st_size) for stat in stats))
