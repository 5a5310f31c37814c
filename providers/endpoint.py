"""One server and key for one model: a request goes out, a completion or a fault comes back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import orjson

from providers.completion import Completion, UnreadableError
from providers.faults import Fault, of_response
from providers.protocols.openai_chat import OpenAIChat
from providers.protocols.protocol import Sheet, WireProtocol
from providers.provider import ModelSettings, key_of
from providers.transport import Transport
from schemas.errors import UsageError

__all__ = ["Endpoint", "connect_to"]

_BASE_URLS: Mapping[str, str] = {"openai": "https://api.openai.com/v1"}


class Endpoint(Protocol):
    """Where requests go."""

    async def send(self, sheet: Sheet) -> Completion:
        """One request.

        Raises:
            Fault: no completion came.
            HopelessError: no request can succeed.
        """

    async def close(self) -> None:
        """Close the connections."""


def connect_to(settings: ModelSettings) -> Endpoint:
    """The endpoint of a model.

    Raises:
        UsageError: the model's name is incomplete, or its key is missing.
    """
    if not settings.model_name:
        raise UsageError(f"--model {settings.model} names no provider: write provider/model, such as openai/gpt-4o-mini")
    base = settings.base_url or _BASE_URLS.get(settings.provider)
    if base is None:
        raise UsageError(f"--model {settings.model}: there is no provider {settings.provider}; known are {', '.join(_BASE_URLS)}")
    return _HttpEndpoint(OpenAIChat(), base, settings)


class _HttpEndpoint:
    """A server that is spoken to directly."""

    def __init__(self, protocol: WireProtocol, base: str, settings: ModelSettings) -> None:
        self._protocol, self._settings = protocol, settings
        headers = protocol.headers(key_of(settings))
        self._transport = Transport(protocol.url(base, settings), headers, timeout_s=settings.timeout_s, most_bytes=settings.most_bytes)

    async def send(self, sheet: Sheet) -> Completion:
        """One request."""
        response = await self._transport.post(orjson.dumps(self._protocol.body(sheet, self._settings)))
        if response.status >= 300:  # noqa: PLR2004 - where HTTP's successes end
            raise of_response(response.status, response.headers, response.body)
        try:
            return self._protocol.read(response.body, sheet)
        except UnreadableError as error:
            raise Fault(str(error), status=None, retry_after_s=None, again=True, came=True) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()
