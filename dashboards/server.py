"""Serves the dashboard with waitress, and prefetches what takes long to compute."""

from __future__ import annotations

import ctypes
import math
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from copy import copy
from logging import ERROR, getLogger
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dash import dcc
from flask import Flask
from waitress.server import create_server
from waitress.task import ThreadedTaskDispatcher

from dashboards.address import Address
from dashboards.app import create_app
from dashboards.drawing import draw_page, draw_part
from dashboards.foreign_sql import stop as stop_queries
from dashboards.pages import pages
from dashboards.parts import Element
from dashboards.playing.app import create_play_app
from dashboards.playing.tables import Tables
from dashboards.reader import reader
from dashboards.requests import Access, is_loopback, new_token
from schemas.common.errors import CotraceError
from schemas.store.store import Store
from schemas.store.stores import state_of

if TYPE_CHECKING:
    import duckdb

    from dashboards.parts import Part

_LOOK_S: Final = 1.0
_SOON_S: Final = 0.05
_SLEEP_S: Final = 60.0
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
                if seen != done and time.monotonic() - changed >= _SLEEP_S and store.exists():
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
        for href, name, part in left_for_later(drawn.content):
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


def left_for_later(part: Part) -> Iterator[tuple[str, str, str]]:
    """Address, name and part of each card that a page leaves for later."""
    if isinstance(part, list | tuple):
        for child in part:
            yield from left_for_later(child)
    elif isinstance(part, Element):
        yield from left_for_later(part.children)
    elif isinstance(part, dcc.Store) and getattr(part, "id", {}).get("type") == "ask":
        asked: Any = part
        yield asked.data, asked.id["name"], asked.id["part"]


_THREADS: Final = 8
_EVERYWHERE: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - to tell that it is
_LAST_S: Final = 3
"""How long pages under way are waited for when the server ends."""
_MOST_BYTES: Final = 4 * 2**20
"""Of a request; the largest that a page sends is a few KB."""


class _Threads(ThreadedTaskDispatcher):
    """Those that answer requests. The server's end ends queries of visitors first: threads that wait for them would not end."""

    def shutdown(self, cancel_pending: bool = True, timeout: int = _LAST_S) -> bool:  # noqa: FBT001, FBT002 - waitress' signature
        """End the threads, those that draw a page after some seconds."""
        stop_queries()
        return bool(super().shutdown(cancel_pending, timeout))


class ServedAt(NamedTuple):
    """Where the dashboard is served, and to whom."""

    host: str
    """Wherever others can reach it, a token is needed."""
    port: int
    """0: any free one."""
    token: str | None = None
    """What a browser has to bring; None: nothing on this machine's own address, elsewhere and behind a proxy a new one."""
    base_path: str = ""
    """Path under which a proxy serves the dashboard, such as `/cotrace`."""


def serve(store: Store, place: ServedAt, rubric_folders: Sequence[Path] = (), *, on_ready: Callable[[str], None]) -> None:
    """Serve the dashboard until interrupted.

    Args:
        store: what to show.
        place: where, and to whom.
        rubric_folders: folders with rubrics of the user's own.
        on_ready: told the address to open, token included, as soon as it is served.

    Raises:
        CotraceError: the address is taken or not ours.
    """
    with keeping_ahead(store, rubric_folders):
        _serve(place, lambda access: create_app(store, rubric_folders, access=access, base_path=place.base_path).server, on_ready)


def serve_tables(tables: Tables, place: ServedAt, *, on_ready: Callable[[str], None]) -> None:
    """Serve tables for people until interrupted, and nothing else.

    Raises:
        CotraceError: the address is taken or not ours.
    """
    _serve(place, lambda access: create_play_app(tables, access=access), on_ready)


def _serve(place: ServedAt, make: Callable[[Access], Flask], on_ready: Callable[[str], None]) -> None:
    host, port, token, base_path = place
    local = is_loopback(host) and not base_path
    access = Access(token if local else token or new_token(), any_host=not local)
    app = make(access)
    getLogger("waitress.queue").setLevel(ERROR)  # it warns whenever a page asks for more cards at once than there are threads
    threads = _Threads()
    threads.set_thread_count(_THREADS)
    try:
        settings: dict[str, Any] = {"ident": "cotrace", "max_request_body_size": _MOST_BYTES, "url_prefix": base_path}
        server = create_server(app, host=host, port=port, _dispatcher=threads, **settings)
    except (OSError, ValueError) as error:
        raise CotraceError(f"cannot serve on {host}:{port} ({error}): is the port taken? name another with --port") from error
    with closing(server), suppress(KeyboardInterrupt):  # waitress takes it for the ordinary end too, once it runs
        on_ready(_link(host, server, base_path, access.token))
        server.run()


def _link(host: str, server: Any, base_path: str, token: str | None) -> str:
    port = server.effective_listen[0][1] if hasattr(server, "effective_listen") else server.effective_port
    name = socket.gethostname() if host in _EVERYWHERE else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}{base_path}/" + (f"?token={token}" if token else "")
