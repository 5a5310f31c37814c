"""Anthropic's client.

https://platform.claude.com/docs/en/api/messages. System text is a field of its own, replies are lists of blocks, and reasoning comes
signed: where tools are used it has to be sent back word for word.
"""

from typing import Any, ClassVar, Final

import anthropic
import instructor
from instructor import AsyncInstructor, Provider
from instructor import Mode as TheirMode
from pydantic import BaseModel

from providers.clients.client import HOOKS, Client, Gated, arguments_of, called, given, merged, unchanged
from providers.forms import ChatRequest, Form, system_text
from providers.provider import ModelSettings, address_of, key_of
from providers.wire import Turn
from schemas.chat.messages import Completion, Message, Tokens, UnreadableError, counted, text_or_none

_STOPPED: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
}
_CACHED: Final = {"cache_control": {"type": "ephemeral"}}
"""Marks what the provider's cache holds: judges put the same long system text before every unit."""


def _by_schema(form: Form, kwargs: dict[str, Any]) -> dict[str, Any]:
    output = kwargs["extra_body"].get("output_config", {}) | {"format": {"type": "json_schema", "schema": form.closed_schema}}
    return kwargs | {"extra_body": kwargs["extra_body"] | {"output_config": output}}


class Connected(Client):
    """Messages."""

    ways: ClassVar = {
        "tools": Gated(Provider.ANTHROPIC, TheirMode.TOOLS),
        "json_schema": Gated(Provider.ANTHROPIC, TheirMode.JSON_SCHEMA, _by_schema),
        "json": Gated(Provider.ANTHROPIC, TheirMode.JSON, unchanged),
    }

    def __init__(self, settings: ModelSettings, turn: Turn) -> None:
        super().__init__(settings, turn)
        if settings.reasons:  # a model that reasons cannot be made to call a tool
            self.modes = ("json_schema", "tools", "json")
        self._sdk = anthropic.AsyncAnthropic(
            base_url=(address_of(settings) or "").rstrip("/").removesuffix("/v1"),
            api_key=key_of(settings),
            auth_token=None,
            http_client=self._http,
            max_retries=0,
            default_headers=dict(settings.headers),
        )

    def _patched(self, mode: TheirMode) -> AsyncInstructor:
        return instructor.from_anthropic(self._sdk, mode=mode, hooks=HOOKS)

    def arguments(self, request: ChatRequest) -> dict[str, Any]:
        """The arguments of `create`; the client's own time limit never comes first."""
        settings, system = self._settings, system_text(request.with_wish)
        tools = [{"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in request.tools]
        found = {
            "model": settings.model_name,
            "max_tokens": request.limit,
            "system": [{"type": "text", "text": system, **_CACHED}] if system else None,
            "messages": merged(request.messages, _blocks, assistant="assistant", content="content"),
            "temperature": settings.sampling_temperature,
            "top_p": settings.top_p,
            "timeout": settings.timeout_s * 2,
        }
        more = {**_reasoning(settings), "tools": tools or None, **dict(settings.request_fields)}
        return given(found, request.refused) | {"extra_body": given(more)}


def _reasoning(settings: ModelSettings) -> dict[str, Any]:
    effort = settings.reasoning_effort
    if effort is None:
        return {}
    if effort == "none":
        return {"thinking": {"type": "disabled"}}
    if settings.is_one_that("adaptive"):
        thinking = {"type": "adaptive", "display": "summarized"}
        return {"thinking": thinking, "output_config": {"effort": "low" if effort == "minimal" else effort}}
    return {"thinking": {"type": "enabled", "budget_tokens": settings.reasoning_tokens}}


def _blocks(message: Message) -> list[Any]:
    if "tool_call_id" in message:
        return [{"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}]
    text = [{"type": "text", "text": message["content"]}] if message["content"] else []
    calls = [{"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_of(call)} for call in message.get("tool_calls", ())]
    return text + calls


def completion_of(response: Any) -> Completion:
    """A reply in the common form.

    Raises:
        UnreadableError: it is not a reply.
    """
    reply = response.model_dump(exclude_unset=True, warnings=False) if isinstance(response, BaseModel) else {}
    content = reply.get("content")
    if not isinstance(content, list):
        raise UnreadableError("the reply is not a message: it has no content")
    blocks = [block for block in content if isinstance(block, dict)]
    text, thoughts = ("".join(str(block.get(name) or "") for block in blocks if block.get("type") == name) for name in ("text", "thinking"))
    stopped = text_or_none(reply.get("stop_reason"))
    return Completion(
        text=text,
        finish_reason=_STOPPED.get(stopped, stopped) if stopped else None,
        tokens=_tokens(reply.get("usage")),
        reasoning=thoughts,
        tool_calls=tuple(
            called(block.get("id"), block.get("name"), block.get("input")) for block in blocks if block.get("type") == "tool_use"
        ),
        refusal=text or "the model declines" if stopped == "refusal" else None,
        echo=content if any(block.get("type") in {"thinking", "redacted_thinking"} for block in blocks) else None,
        served_model=text_or_none(reply.get("model")),
    )


def _tokens(usage: Any) -> Tokens:
    read, written = (counted(usage, name) for name in ("cache_read_input_tokens", "cache_creation_input_tokens"))
    return Tokens(
        input=counted(usage, "input_tokens") + read + written,
        output=counted(usage, "output_tokens"),
        cached=read,
        written=written,
        reasoning=counted(usage, "output_tokens_details", "thinking_tokens"),
    )
