"""Dashboards that tests visit."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from werkzeug.serving import make_server

from dashboards.app import create_app
from schemas.store import Store

__all__ = ["serve"]


def serve(store: Store) -> Iterator[str]:
    """Serve a store on a free port; gives the address."""
    server = make_server("127.0.0.1", 0, create_app(store).server, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()
