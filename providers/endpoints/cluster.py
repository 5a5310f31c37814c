"""A model's server that is spoken to from the nodes of a cluster; whoever asks keeps limits, pauses, retries and budget."""

from __future__ import annotations

import os
from typing import Any, Final

from providers.catalogue import keys_of
from providers.completion import Completion
from providers.endpoints.endpoint import Endpoint, connect_here
from providers.faults import Fault, HopelessError, NodeLost
from providers.protocols.protocol import Sheet
from providers.provider import ModelSettings
from schemas.cluster import connected
from schemas.errors import CotraceError

__all__ = ["ClusterEndpoint"]

_CALLS_A_NODE: Final = 1_000
"""Under way at once; the one who asks bounds them already."""


class ClusterEndpoint:
    """Sends each request from the next node. One that is lost takes the replies with it that were on their way: they are asked for again.

    A lost node is not asked again, since the cluster lists it for a while yet; where none is left, requests go out from here.

    Raises:
        UsageError: as `connect_here`; keys are taken from the environment of this process.
    """

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._here = connect_here(settings)  # says what is missing before anything is sent; asks nothing
        self._senders: dict[str, Any] = {}
        self._lost: set[str] = set()
        self._has_answered = False

    async def send(self, sheet: Sheet) -> Completion:
        """One request, from one of the nodes.

        Raises:
            NodeLost: that node was lost.
            HopelessError: all were, before one of them had answered.
        """
        node = self._next()
        if node is None:
            return await self._here.send(sheet)
        try:
            outcome = await self._senders[node].send.remote(sheet)
        except connected().exceptions.RayError as error:
            self._senders.pop(node, None)
            self._lost.add(node)
            raise NodeLost(f"a node of the cluster was lost ({type(error).__name__})") from error
        self._has_answered = True
        if isinstance(outcome, Completion):
            return outcome
        raise _told(*outcome)

    def _next(self) -> str | None:
        """The node that has waited longest; where none is left, or at the beginning, each that is new gets a sender."""
        if not self._senders:
            self._senders = self._started()
        if not self._senders:
            if self._has_answered:
                return None
            raise HopelessError("no node of the cluster can send a request: is this version of cotrace installed on all of them?")
        node = next(iter(self._senders))
        self._senders[node] = self._senders.pop(node)
        return node

    def _started(self) -> dict[str, Any]:
        ray = connected()
        keys = {name: value for name in keys_of(self._settings) if (value := os.environ.get(name))}
        sender = ray.remote(num_cpus=0, max_concurrency=_CALLS_A_NODE)(_Sender)
        at = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"] and node["NodeID"] not in self._lost]
        return {node: sender.options(scheduling_strategy=at(node, soft=False)).remote(self._settings, keys) for node in nodes}

    async def close(self) -> None:
        """Close the connections of all nodes."""
        for sender in self._senders.values():
            connected().kill(sender)
        await self._here.close()


class _Sender:
    """One node's connections to the server."""

    def __init__(self, settings: ModelSettings, keys: dict[str, str]) -> None:
        os.environ.update(keys)
        self._settings = settings
        self._endpoint: Endpoint | None = None

    async def send(self, sheet: Sheet) -> Completion | tuple[type[Exception], tuple[object, ...], dict[str, Any]]:
        """The completion, or what the exception was that came instead: its class, arguments and attributes."""
        try:
            if self._endpoint is None:
                self._endpoint = connect_here(self._settings)
            return await self._endpoint.send(sheet)
        except (Fault, HopelessError, CotraceError) as error:
            return type(error), error.args, error.__dict__


def _told(kind: type[Exception], arguments: tuple[object, ...], attributes: dict[str, Any]) -> Exception:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(attributes)
    return error
