"""Machines that send requests are lost, many at once: that says nothing of the model's server, and costs no call."""

from __future__ import annotations

from pathlib import Path

import pytest

from judges.runs.runner import run
from providers import server
from providers.completion import Completion
from providers.endpoints.connection import connect_to
from providers.endpoints.endpoint import Endpoint
from providers.faults import Fault, NodeLost
from providers.protocols.protocol import Sheet
from providers.provider import ModelSettings
from tests.judges.judged_games import ask_model, store_of, verdict_counts
from tests.servers.stub_server import stub_server


class Losing:
    """The first requests go out and their senders are lost; later ones reach the server."""

    def __init__(self, endpoint: Endpoint, losses: list[Fault]) -> None:
        self._endpoint = endpoint
        self._losses = losses

    async def send(self, sheet: Sheet) -> Completion:
        """One request, or the loss of it."""
        if self._losses:
            raise self._losses.pop()
        return await self._endpoint.send(sheet)

    async def close(self) -> None:
        """As the endpoint."""
        await self._endpoint.close()


def test_lost_nodes_cost_no_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than tries of a call, and than failures in a row after which a server is taken for ill."""
    losses: list[Fault] = [NodeLost("a node was lost") for _ in range(40)]

    def losing(settings: ModelSettings) -> Losing:
        return Losing(connect_to(settings), losses)

    monkeypatch.setattr(server, "connect_to", losing)
    store = store_of(tmp_path / "store.duckdb", games=2, turns=5)
    with stub_server() as url:
        report = run(ask_model(url, tries=2), store)
    assert losses == []
    assert (report.first_error, report.failed) == (None, 0)
    assert verdict_counts(store).keys() == {"answered"}
