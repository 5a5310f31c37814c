"""The recorded games, in the store that other tests of them have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.store.store import Store
from tests.masters import held_open, published_store


@pytest.fixture(scope="module")
def recorded(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """With all views."""
    logs = ("coordination/hanabi", "coordination/overcooked", "coordination/collab_games")
    yield from held_open(published_store(shared, tmp_path_factory.mktemp("coordination"), *logs))
