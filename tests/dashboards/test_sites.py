"""The servers that page tests visit."""

from __future__ import annotations

import logging
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from dashboards.server import ServedAt
from dashboards.server import serve as serve_for_good
from schemas.common.errors import CotraceError
from schemas.store.store import Store
from tests.dashboards.sites import serve


def test_a_server_goes_with_a_test_that_fails(tmp_path: Path) -> None:
    """It stayed, and its socket was told of in whichever test came next."""
    with pytest.raises(ZeroDivisionError), serve(Store(tmp_path / "gone.duckdb")) as address:
        raise ZeroDivisionError
    with socket.socket() as asked:
        assert asked.connect_ex(("127.0.0.1", urlsplit(address).port or 0)) != 0


def test_a_page_that_asks_for_much_at_once_is_no_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminal was told `Task queue depth is 2` by a page with more cards than the server has threads."""

    def refused(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr("dashboards.server.create_server", refused)
    with pytest.raises(CotraceError):
        serve_for_good(Store(tmp_path / "gone.duckdb"), ServedAt("127.0.0.1", 0), on_ready=lambda _: None)
    assert not logging.getLogger("waitress.queue").isEnabledFor(logging.WARNING)
