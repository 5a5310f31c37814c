"""Machines that send requests are lost, many at once: that says nothing of the model's server, and costs no call."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from judges.runs.runner import run
from providers.faults import Fault, NodeLost
from providers.wire import Exchange, Response
from tests.judges.judged_games import ask_model, store_of, verdict_counts
from tests.servers.stub_server import stub_server


def test_lost_nodes_cost_no_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than tries of a call, and than failures in a row after which a server is taken for ill."""
    losses: list[Fault] = [NodeLost("a node was lost") for _ in range(40)]
    sending = Exchange.send

    async def losing(self: Exchange, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Response:
        """The first requests go out and their senders are lost; later ones reach the server."""
        if losses:
            raise losses.pop()
        return await sending(self, method, url, headers, body)

    monkeypatch.setattr(Exchange, "send", losing)
    store = store_of(tmp_path / "store.duckdb", games=2, turns=5)
    with stub_server() as url:
        report = run(ask_model(url, tries=2), store)
    assert losses == []
    assert (report.first_error, report.failed) == (None, 0)
    assert verdict_counts(store).keys() == {"answered"}
