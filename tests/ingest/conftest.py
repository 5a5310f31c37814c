"""What tests of reading share: an empty store."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "test.duckdb")
