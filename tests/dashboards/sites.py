"""Dashboards, and tables at which people play, that tests visit."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from wsgiref.types import WSGIApplication

from werkzeug.serving import make_server

from dashboards.app import create_app
from schemas.store.store import Store


@contextmanager
def serve(store: Store) -> Iterator[str]:
    """The dashboard over a store; gives its address."""
    with served(create_app(store).server) as address:
        yield address


@contextmanager
def served(app: WSGIApplication) -> Iterator[str]:
    """Serve an app on a free port; gives the address. It goes when the block is left, also by a test that fails."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
