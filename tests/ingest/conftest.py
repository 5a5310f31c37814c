"""What tests of reading share: an empty store, which has no views where none are asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Final

import pytest

from schemas.store.store import Store
from tests.masters import beginning_without_views, with_views

__all__ = ["with_views"]

WITH_VIEWS: Final = ("test_coordination_scripts", "test_cut_games", "test_public_files")
"""Files whose tests ask views, or call commands, which make them."""


@pytest.fixture(scope="module", autouse=True)
def _begun(request: pytest.FixtureRequest) -> Iterator[None]:
    with nullcontext() if request.module.__name__.endswith(WITH_VIEWS) else beginning_without_views():
        yield


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "test.duckdb")
