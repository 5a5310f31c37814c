"""What tells that a store has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.store.stores import state_of


def test_a_log_that_goes_between_two_looks_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that has just finished takes its log away; pages ended with FileNotFoundError then."""
    store = tmp_path / "s.duckdb"
    store.touch()
    before = state_of(store)
    monkeypatch.setattr(Path, "exists", lambda _: True)
    assert state_of(store) == before
