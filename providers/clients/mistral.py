"""Mistral's client.

https://docs.mistral.ai/api. Messages and replies are as OpenAI's; thoughts are parts of the content. The client sends only fields that
it knows.
"""

import inspect
from typing import Any, ClassVar, Final

import instructor
from instructor import AsyncInstructor, Provider
from instructor import Mode as TheirMode
from instructor.v2.providers.mistral import handlers  # noqa: F401 - registers the modes
from mistralai.client import Mistral
from mistralai.client.chat import Chat
from mistralai.client.errors import MistralError

from providers.clients.client import HOOKS, Client, Gated
from providers.clients.openai import by_schema, by_words, completion_of, request_of, response_in
from providers.forms import ChatRequest
from providers.provider import ModelSettings, address_of, key_of
from providers.wire import Turn
from schemas.common.errors import UsageError

__all__ = ["Connected", "completion_of"]

_FIELDS: Final = frozenset(inspect.signature(Chat.complete_async).parameters)
_OF_THE_CLIENT: Final = {"self", "model", "messages", "stream", "retries", "server_url", "timeout_ms", "http_headers"}


class Connected(Client):
    """Chat completions."""

    ways: ClassVar = {
        "tools": Gated(Provider.MISTRAL, TheirMode.TOOLS),
        "json_schema": Gated(Provider.MISTRAL, TheirMode.JSON_SCHEMA, by_schema),
        "json": Gated(Provider.MISTRAL, TheirMode.MD_JSON, by_words),
    }

    def __init__(self, settings: ModelSettings, turn: Turn) -> None:
        super().__init__(settings, turn)
        if unknown := next((name for name, _ in settings.request_fields if name not in _FIELDS), None):
            known = ", ".join(sorted(_FIELDS - _OF_THE_CLIENT))
            raise UsageError(f"--request-field {unknown}: Mistral's client does not send it; it sends {known}")
        address = (address_of(settings) or "").rstrip("/").removesuffix("/v1")
        self._sdk = Mistral(api_key=key_of(settings), server_url=address, async_client=self._http)
        ask: Any = self._sdk.chat.complete_async

        async def complete(**kwargs: Any) -> Any:
            try:
                return await ask(**kwargs)
            except MistralError as error:  # HTTP calls it a success: cotrace decides whether it is a reply
                return response_in(error.raw_response.content)

        self._sdk.chat.complete_async = complete  # type: ignore[method-assign]  # what instructor calls

    def _patched(self, mode: TheirMode) -> AsyncInstructor:
        return instructor.from_mistral(self._sdk, mode=mode, use_async=True, hooks=HOOKS)

    def arguments(self, request: ChatRequest) -> dict[str, Any]:
        """The arguments of `create`."""
        found = request_of(request, self._settings, limit="max_tokens") | dict(self._settings.request_fields)
        return {name: value for name, value in found.items() if name in _FIELDS} | {"http_headers": dict(self._settings.headers)}
