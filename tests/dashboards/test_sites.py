"""The servers that page tests visit."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from schemas.store import Store
from tests.dashboards.sites import serve


def test_a_server_goes_with_a_test_that_fails(tmp_path: Path) -> None:
    """It stayed, and its socket was told of in whichever test came next."""
    with pytest.raises(ZeroDivisionError), serve(Store(tmp_path / "gone.duckdb")) as address:
        raise ZeroDivisionError
    with socket.socket() as asked:
        assert asked.connect_ex(("127.0.0.1", urlsplit(address).port or 0)) != 0
