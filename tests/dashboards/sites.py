"""Dashboards, and tables at which people play, that tests visit."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from wsgiref.types import WSGIApplication

from werkzeug.serving import make_server

from dashboards.app import create_app
from schemas.store import Store

__all__ = ["serve", "serve_app"]


def serve(store: Store) -> Iterator[str]:
    """Serve a store on a free port; gives the address."""
    return serve_app(create_app(store).server)


def serve_app(app: WSGIApplication) -> Iterator[str]:
    """Serve an application on a free port; gives the address."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()
