"""What pages need, found out before somebody opens them: when the dashboard starts, and when the store has changed and come to rest."""

from __future__ import annotations

import ctypes
import math
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from typing import TYPE_CHECKING, Final

from dash.development.base_component import Component

from dashboards.address import Address
from dashboards.drawing import draw_page, draw_part
from dashboards.pages import pages
from dashboards.reader import reader
from schemas.errors import CotraceError
from schemas.stores import state_of

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from dashboards.parts import Part
    from schemas.store import Store

__all__ = ["addresses", "draw_ahead", "keeping_ahead"]

_LOOK_S: Final = 1.0
_SOON_S: Final = 0.05
_REST_S: Final = 60.0
"""How long a store has to stay as it is: runs that write every second, and people who label, are not to wait for what is being read."""


@contextmanager
def keeping_ahead(store: Store, rubric_folders: Sequence[Path] = ()) -> Iterator[None]:
    """Draw every page ahead now, and again whenever the store has changed and come to rest; what is under way on leaving is broken off.

    Args:
        store: what is shown.
        rubric_folders: folders with rubrics of the user's own.
    """
    ended = threading.Event()
    opened: list[duckdb.DuckDBPyConnection] = []
    thread = threading.Thread(target=_watch, args=(_noted(store, opened, ended), rubric_folders), name="ahead", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        _break_off(thread, opened)


def _break_off(thread: threading.Thread, opened: Sequence[duckdb.DuckDBPyConnection]) -> None:
    """End a thread wherever it is: one that is inside DuckDB when Python ends takes the process down with a message of C++."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit))
    while thread.is_alive():
        for connection in list(opened):
            connection.interrupt()
        thread.join(_SOON_S)


def _watch(store: Store, rubric_folders: Sequence[Path]) -> None:
    done: object = None
    seen: object = None
    changed = -math.inf
    with suppress(SystemExit):
        while True:
            with suppress(CotraceError):  # it may be back in a moment, and pages say themselves what is wrong with it
                now = state_of(store.path)
                if now != seen:
                    changed = time.monotonic() if seen else -math.inf  # what was there before the start is at rest
                    seen = now
                if seen != done and time.monotonic() - changed >= _REST_S and store.exists():
                    draw_ahead(store, addresses(store), rubric_folders)
                    done = seen
            time.sleep(_LOOK_S)


def _noted(store: Store, opened: list[duckdb.DuckDBPyConnection], ended: threading.Event) -> Store:
    """The same store; its connections stand in the list while they are open, and what is interrupted at the end ends the thread."""

    @contextmanager
    def reading() -> Iterator[duckdb.DuckDBPyConnection]:
        import duckdb

        with store.reading() as connection:
            opened.append(connection)
            try:
                yield connection
            except (duckdb.Error, RuntimeError):
                if ended.is_set():
                    raise SystemExit from None
                raise
            finally:
                opened.remove(connection)

    noted = copy(store)
    noted.reading = reading  # type: ignore[method-assign]  # a subclass would have to be made for each kind of store
    return noted


def draw_ahead(store: Store, wanted: Sequence[Address], rubric_folders: Sequence[Path] = ()) -> bool:
    """Draw pages and their cards once, and so keep what they ask of the store; ends early where the store changes meanwhile.

    Args:
        store: what is shown.
        wanted: the pages.
        rubric_folders: folders with rubrics of the user's own.

    Returns:
        Whether all were drawn.
    """
    draw_page(store, Address("/"), rubric_folders, is_whole=False)  # makes the views where they are those of another cotrace
    state = state_of(store.path)
    for address in wanted:
        drawn = draw_page(store, address, rubric_folders, is_whole=False)
        for href, name, part in _left_for_later(drawn.content):
            if state_of(store.path) != state:
                return False
            path, _, search = href.partition("?")
            draw_part(store, Address.parse(path, search), name, part, rubric_folders)
    return True


def addresses(store: Store) -> list[Address]:
    """What the menu leads to, then what pages themselves name (`ahead`), such as the sections of one."""
    found = [Address(page.PATH) for page in pages()]
    try:
        with reader(store, Address("/")) as read:
            return found + [address for page in pages() if hasattr(page, "ahead") for address in page.ahead(read)]
    except CotraceError:
        return found  # pages say themselves what is wrong with the store


def _left_for_later(part: Part) -> Iterator[tuple[str, str, str]]:
    """Address, name and part of each card that a page leaves for later."""
    if isinstance(part, list | tuple):
        for child in part:
            yield from _left_for_later(child)
    elif isinstance(part, Component):
        place = getattr(part, "id", None)
        if isinstance(place, dict) and place.get("type") == "ask":
            yield getattr(part, "data", ""), place["name"], place["part"]
        else:
            yield from _left_for_later(getattr(part, "children", None))
