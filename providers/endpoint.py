"""One server and key for one model: a request goes out, a completion or a fault comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import orjson

from providers.completion import Completion, UnreadableError
from providers.faults import Fault, of_response
from providers.protocols.openai_chat import OpenAIChat
from providers.protocols.protocol import Sheet, WireProtocol
from providers.provider import ModelSettings, key_of
from providers.transport import Transport
from schemas.errors import UsageError

__all__ = ["Endpoint", "connect_to", "endpoints"]

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
            return self._protocol.read(response.body, typed=sheet.form is not None)
        except UnreadableError as error:
            raise Fault(str(error), status=None, retry_after_s=None, again=True, came=True) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()
