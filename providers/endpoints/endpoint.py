"""One server and key for one model: a request goes out, a completion or a fault comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

import orjson

from providers.catalogue import address_of, key_in, key_of, provider_of
from providers.completion import Completion, ErrorCameError, UnreadableError
from providers.faults import Adapted, Fault, of_error, of_response
from providers.protocols.anthropic_messages import AnthropicMessages
from providers.protocols.bedrock_converse import BedrockConverse
from providers.protocols.google_content import GoogleContent
from providers.protocols.openai_chat import AzureChat, OpenAIChat
from providers.protocols.protocol import Sheet, WireProtocol
from providers.provider import ModelSettings
from providers.wire.transport import Headers, Transport
from schemas.errors import UsageError

__all__ = ["Endpoint", "connect_here", "endpoints"]


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


def connect_here(settings: ModelSettings) -> Endpoint:
    """The endpoint of a model, spoken to from this process.

    Raises:
        UsageError: the model's name is incomplete, its key is missing, or a package that its provider needs is not installed.
    """
    provider = provider_of(settings)
    if provider.protocol == "litellm":
        from providers.endpoints.litellm import LiteLlmEndpoint

        return LiteLlmEndpoint(settings)
    if provider.protocol == "bedrock":
        return _bedrock(settings)
    base = address_of(settings)
    if base is None:
        raise UsageError(f"--model {settings.model} needs an address: set {provider.url_variable}, or give it with --base-url")
    protocol = _PROTOCOLS[provider.protocol]()
    return _HttpEndpoint(protocol, protocol.url(base, settings), protocol.headers(key_of(settings)), settings)


def _bedrock(settings: ModelSettings) -> Endpoint:
    from providers.wire.bedrock import address_in_region, signer

    protocol = BedrockConverse()
    url = protocol.url(address_of(settings) or address_in_region(), settings)
    token = key_in(settings.key_variable or "AWS_BEARER_TOKEN_BEDROCK")
    return _HttpEndpoint(protocol, url, protocol.headers(token) if token else signer(url), settings)


_PROTOCOLS: Final[Mapping[str, type[WireProtocol]]] = {
    "openai": OpenAIChat,
    "azure": AzureChat,
    "anthropic": AnthropicMessages,
    "google": GoogleContent,
}


class _HttpEndpoint:
    """A server that is spoken to directly."""

    def __init__(self, protocol: WireProtocol, url: str, headers: Headers, settings: ModelSettings) -> None:
        self._protocol, self._settings = protocol, settings
        self._transport = Transport(url, headers, timeout_s=settings.timeout_s, most_bytes=settings.most_bytes)

    async def send(self, sheet: Sheet) -> Completion:
        """One request."""
        body = self._protocol.body(sheet, self._settings)
        response = await self._transport.post(orjson.dumps(body))
        if response.status >= 300:  # noqa: PLR2004 - where HTTP's successes end
            fault = of_response(response.status, response.headers, response.body)
            raise Adapted(fault) if isinstance(self._protocol, OpenAIChat) and self._protocol.adapt(body, fault.reason) else fault
        try:
            return self._protocol.read(response.body)
        except ErrorCameError as came:
            raise of_error(came.error) from came
        except UnreadableError as error:
            raise Fault(str(error), status=None, retry_after_s=None, again=True, came=True) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()
