"""What takes longer than a page should: computed when a page first asks for it, kept until the store changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from schemas.stores import state_of

if TYPE_CHECKING:
    import polars as pl

    from schemas.store import Store

__all__ = ["computed", "forget_kept", "kept", "kept_already"]

T = TypeVar("T")

_MOST_BYTES: Final = 256 * 2**20
_LOCK: Final = Lock()
_FOUND: Final[OrderedDict[Hashable, tuple[Any, int]]] = OrderedDict()
"""What was found, and its size in bytes."""
_UNDER_WAY: Final[dict[Hashable, Lock]] = {}


def computed(store: Store, compute: Callable[..., pl.DataFrame], *, rubric: str) -> pl.DataFrame:
    """What `compute(store, rubric=rubric)` gives: the very numbers of `cotrace report`.

    Args:
        store: whose report.
        compute: a report.
        rubric: which rubric's rows.
    """
    return kept(store.path, (compute.__module__, compute.__qualname__, rubric), lambda: compute(store, rubric=rubric))


def _size_of_rows(rows: Any) -> int:
    return int(rows.estimated_size())


def kept(path: Path, asked: Hashable, make: Callable[[], T], *, size_of: Callable[[T], int] = _size_of_rows) -> T:
    """What `make` gives, or gave since the store last changed. Two that ask for the same at once do not compute twice: the second waits.

    Args:
        path: of the store.
        asked: what the rows are.
        make: gives them.
        size_of: bytes of what is no table.
    """
    key = (asked, *state_of(path))
    with _LOCK:
        if key in _FOUND:
            _FOUND.move_to_end(key)
            return cast("T", _FOUND[key][0])
        mine = _UNDER_WAY.setdefault(key, Lock())
    with mine:
        with _LOCK:
            if key in _FOUND:
                return cast("T", _FOUND[key][0])
        try:
            found = make()
        finally:
            with _LOCK:
                _UNDER_WAY.pop(key, None)
        with _LOCK:
            _FOUND[key] = found, size_of(found)
            while len(_FOUND) > 1 and sum(size for _, size in _FOUND.values()) > _MOST_BYTES:
                _FOUND.popitem(last=False)
    return found


def kept_already(path: Path, asked: Hashable) -> pl.DataFrame | None:
    """What `kept` gives without making anything; None where it would have to."""
    with _LOCK:
        found: pl.DataFrame | None = _FOUND.get((asked, *state_of(path)), (None, 0))[0]
        return found


def forget_kept() -> None:
    """Let everything go, as a change of the store does: for measuring what the first visit takes."""
    with _LOCK:
        _FOUND.clear()
