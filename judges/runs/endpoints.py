"""Several servers, or keys, for one model: calls go to the least busy, and each keeps limits and pauses of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from judges.evidence.prompt import Message
from judges.rubric.model import Group
from judges.runs.llm import LlmJudge, Reply
from providers.faults import HopelessError
from providers.prices import Budget, Price
from providers.provider import ModelSettings
from schemas.errors import UsageError

__all__ = ["JudgePool", "endpoints"]


def endpoints(settings: ModelSettings, base_urls: Sequence[str], key_variables: Sequence[str]) -> tuple[ModelSettings, ...]:
    """The model's settings once for each server and key.

    Args:
        settings: without server and key.
        base_urls: servers; empty: the provider's own.
        key_variables: names of environment variables with keys; empty: the usual one.

    Raises:
        UsageError: several of both, but not equally many.
    """
    servers = [replace(settings, base_url=url) for url in base_urls] or [settings]
    if not key_variables:
        return tuple(servers)
    if len(servers) == 1:
        servers *= len(key_variables)
    keys = list(key_variables) * len(servers) if len(key_variables) == 1 else list(key_variables)
    if len(keys) != len(servers):
        raise UsageError(f"{len(servers)} times --base-url but {len(keys)} times --key-env: give one key for all, or one for each server")
    return tuple(replace(server, key_variable=key) for server, key in zip(servers, keys, strict=True))


@dataclass(slots=True)
class _Member:
    judge: LlmJudge
    busy: int = 0
    """Calls under way."""


class JudgePool:
    """The judges of one run, which share its budget."""

    def __init__(self, members: Sequence[ModelSettings], groups: Sequence[Group], *, price: Price | None, max_cost: float | None) -> None:
        budget = Budget(max_cost)
        self._members = [_Member(LlmJudge(settings, groups, price=price, budget=budget)) for settings in members]
        self._open = list(self._members)

    async def close(self) -> None:
        """Close all connections."""
        for member in self._members:
            await member.judge.close()

    async def ask(self, group: int, messages: Sequence[Message]) -> Reply:
        """Ask the least busy server; where one turns out hopeless, the others go on without it.

        Raises:
            HopelessError: no server is left.
        """
        while True:
            member = min(self._open, key=lambda one: one.busy)
            self._open.append(self._open.pop(self._open.index(member)))  # of equally busy ones, the next call goes to another
            member.busy += 1
            try:
                return await member.judge.ask(group, messages)
            except HopelessError:
                self._open = [one for one in self._open if one is not member]
                if not self._open:
                    raise
            finally:
                member.busy -= 1
