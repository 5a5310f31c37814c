"""What every protocol offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from providers.completion import Completion
from providers.messages import Message, Tool
from providers.provider import ModelSettings

__all__ = ["Sheet", "WireProtocol"]


class Sheet(NamedTuple):
    """What one HTTP request asks."""

    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    """Which the model may call."""
    form: Tool | None = None
    """What the reply must fill in: name, description, and the JSON schema of it; None: the reply is free."""


class WireProtocol(Protocol):
    """How a request is written and a reply is read."""

    def url(self, base: str, settings: ModelSettings) -> str:
        """Where requests for the model go."""

    def headers(self, key: str) -> dict[str, str]:
        """How the key is shown."""

    def body(self, sheet: Sheet, settings: ModelSettings) -> Mapping[str, Any]:
        """The request."""

    def read(self, body: bytes, sheet: Sheet) -> Completion:
        """The reply.

        Raises:
            UnreadableError: it is none of this protocol.
        """
