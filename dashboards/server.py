"""Serves the dashboard: waitress, made for being reached by others, and not Flask's server for development."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from logging import ERROR, getLogger
from pathlib import Path
from typing import Any, Final, NamedTuple

from flask import Flask
from waitress.server import create_server
from waitress.task import ThreadedTaskDispatcher

from dashboards.access import Access, is_loopback, new_token
from dashboards.ahead import keeping_ahead
from dashboards.app import create_app
from dashboards.foreign_sql import stop as stop_queries
from dashboards.playing.app import create_play_app
from dashboards.playing.tables import Tables
from schemas.errors import CotraceError
from schemas.store import Store

__all__ = ["ServedAt", "serve", "serve_tables"]

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
    """What a browser has to bring; None: nothing on this machine's own address, elsewhere a new one."""


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
        _serve(place, lambda access: create_app(store, rubric_folders, access=access).server, on_ready)


def serve_tables(tables: Tables, place: ServedAt, *, on_ready: Callable[[str], None]) -> None:
    """Serve tables for people until interrupted, and nothing else.

    Raises:
        CotraceError: the address is taken or not ours.
    """
    _serve(place, lambda access: create_play_app(tables, access=access), on_ready)


def _serve(place: ServedAt, make: Callable[[Access], Flask], on_ready: Callable[[str], None]) -> None:
    host, port, token = place
    local = is_loopback(host)
    access = Access(token if local else token or new_token(), any_host=not local)
    app = make(access)
    getLogger("waitress.queue").setLevel(ERROR)  # it warns whenever a page asks for more cards at once than there are threads
    threads = _Threads()
    threads.set_thread_count(_THREADS)
    try:
        server = create_server(app, host=host, port=port, _dispatcher=threads, ident="cotrace", max_request_body_size=_MOST_BYTES)
    except (OSError, ValueError) as error:
        raise CotraceError(f"cannot serve on {host}:{port} ({error}): is the port taken? name another with --port") from error
    with closing(server), suppress(KeyboardInterrupt):  # waitress takes it for the ordinary end too, once it runs
        on_ready(_link(host, server, access.token))
        server.run()


def _link(host: str, server: Any, token: str | None) -> str:
    port = server.effective_listen[0][1] if hasattr(server, "effective_listen") else server.effective_port
    name = socket.gethostname() if host in _EVERYWHERE else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/" + (f"?token={token}" if token else "")
