"""A model's server that is spoken to from the nodes of a cluster; whoever asks keeps limits, pauses, retries and budget."""

from __future__ import annotations

import os
from typing import Any, Final

from providers.catalogue import keys_of
from providers.completion import Completion
from providers.endpoints.endpoint import Endpoint, connect_here
from providers.faults import Fault, HopelessError
from providers.protocols.protocol import Sheet
from providers.provider import ModelSettings
from schemas.cluster import connected
from schemas.errors import CotraceError

__all__ = ["ClusterEndpoint"]

_CALLS_A_NODE: Final = 1_000
"""Under way at once; the one who asks bounds them already."""


class ClusterEndpoint:
    """Sends each request from the next node. One that is lost takes the replies with it that were on their way: they are asked for again.

    Raises:
        UsageError: as `connect_here`; keys are taken from the environment of this process.
    """

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._here = connect_here(settings)  # says what is missing before anything is sent; asks nothing
        self._senders: list[Any] = []

    async def send(self, sheet: Sheet) -> Completion:
        """One request, from one of the nodes."""
        sender = self._next()
        try:
            outcome = await sender.send.remote(sheet)
        except connected().exceptions.RayError as error:
            if sender in self._senders:
                self._senders.remove(sender)
            reason = f"a node of the cluster was lost ({type(error).__name__})"
            raise Fault(reason, status=None, retry_after_s=None, again=True, came=True) from error
        if isinstance(outcome, Completion):
            return outcome
        raise _told(*outcome)

    def _next(self) -> Any:
        """The one that has waited longest; where none is left, or at the beginning, each node of the cluster gets one."""
        if not self._senders:
            ray = connected()
            keys = {name: value for name in keys_of(self._settings) if (value := os.environ.get(name))}
            sender = ray.remote(num_cpus=0, max_concurrency=_CALLS_A_NODE)(_Sender)
            at = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
            nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
            self._senders = [sender.options(scheduling_strategy=at(node, soft=True)).remote(self._settings, keys) for node in nodes]
        self._senders.append(self._senders.pop(0))
        return self._senders[-1]

    async def close(self) -> None:
        """Close the connections of all nodes."""
        for sender in self._senders:
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
