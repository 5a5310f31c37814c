"""Anthropic's client.

https://platform.claude.com/docs/en/api/messages. System text is a field of its own, replies are lists of blocks, and reasoning comes
signed: where tools are used it has to be sent back word for word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

import anthropic
import httpx
import instructor
import orjson
from instructor import AsyncInstructor
from instructor.processing.schema import generate_openai_schema
from pydantic import BaseModel

from providers.clients.client import Sheet, Turn, arguments_of, closed, merged, system_text
from providers.clients.gate import HOOKS, gated, json_wish
from providers.messages import NO_TOKENS, Completion, Message, Tokens, ToolCall, UnreadableError, counted, told
from providers.provider import Mode, ModelSettings, address_of, key_of
from providers.wire import Wire

__all__ = ["Connected", "completion_of"]

_STOPPED: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
}
_REFUSED: Final = "refusal"
_CACHED: Final = {"cache_control": {"type": "ephemeral"}}
"""Marks what the provider's cache holds: judges put the same long system text before every unit."""
_MODES: Final[Mapping[Mode, instructor.Mode]] = {
    "tools": instructor.Mode.TOOLS,
    "json_schema": instructor.Mode.JSON_SCHEMA,
    "json": instructor.Mode.JSON,
}


@cache
def _tool(model: type[BaseModel]) -> dict[str, Any]:
    found = generate_openai_schema(model)
    tool = {"name": found["name"], "description": found["description"], "input_schema": found["parameters"]}
    return {"tools": [tool], "tool_choice": {"type": "tool", "name": found["name"], "disable_parallel_tool_use": True}}


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def _by_tool(model: type[BaseModel] | None, kwargs: dict[str, Any]) -> dict[str, Any]:
    return kwargs if model is None else kwargs | {"extra_body": kwargs["extra_body"] | _tool(model)}


def _held_to_schema(model: type[BaseModel] | None, kwargs: dict[str, Any]) -> dict[str, Any]:
    if model is None:
        return kwargs
    output = kwargs["extra_body"].get("output_config", {}) | {"format": {"type": "json_schema", "schema": closed(_schema(model))}}
    return kwargs | {"extra_body": kwargs["extra_body"] | {"output_config": output}}


def _in_json(model: type[BaseModel] | None, kwargs: dict[str, Any]) -> dict[str, Any]:
    if model is None:
        return kwargs
    head = "\n\n".join(block["text"] for block in kwargs.get("system", ()))
    return kwargs | {"system": [{"type": "text", "text": json_wish(head, _schema(model)), **_CACHED}]}


for _mode, _write in (("tools", _by_tool), ("json_schema", _held_to_schema), ("json", _in_json)):
    gated(instructor.Provider.ANTHROPIC, _MODES[_mode], _write)  # type: ignore[index]


class Connected:
    """Messages."""

    def __init__(self, settings: ModelSettings, turn: Turn) -> None:
        self._settings = settings
        first: Mode = "json_schema" if settings.reasons else "tools"  # a model that reasons cannot be made to call a tool
        self.modes: Sequence[Mode] = (first, *(mode for mode in _MODES if mode != first))
        base = (address_of(settings) or "").rstrip("/").removesuffix("/v1")
        http = httpx.AsyncClient(transport=Wire(settings, turn), timeout=None)  # noqa: S113 - the wire has the time limit
        self._sdk = anthropic.AsyncAnthropic(
            base_url=base,
            api_key=key_of(settings),
            auth_token=None,
            http_client=http,
            max_retries=0,
            default_headers=dict(settings.headers),
        )
        self._by_mode: dict[Mode, AsyncInstructor] = {}

    def instructor(self, mode: Mode) -> AsyncInstructor:
        """The client that asks for forms in that way."""
        if mode not in self._by_mode:
            self._by_mode[mode] = instructor.from_anthropic(self._sdk, mode=_MODES[mode], hooks=HOOKS)
        return self._by_mode[mode]

    def arguments(self, sheet: Sheet) -> dict[str, Any]:
        """What `create` is called with; the client knows no time limit but ours."""
        settings, system = self._settings, system_text(sheet.messages)
        tools = [{"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in sheet.tools]
        found = {
            "model": settings.model_name,
            "max_tokens": sheet.room * settings.limit,
            "system": [{"type": "text", "text": system, **_CACHED}] if system else None,
            "messages": merged(sheet.messages, _blocks, assistant="assistant", content="content"),
            "temperature": settings.sampling_temperature,
            "top_p": settings.top_p,
            "timeout": settings.timeout_s * 2,
        }
        body = {
            "thinking": _thinking(settings),
            "output_config": _effort(settings),
            "tools": tools or None,
            **dict(settings.request_fields),
        }
        more = {name: value for name, value in body.items() if value is not None}
        return {name: value for name, value in found.items() if value is not None and name not in sheet.refused} | {"extra_body": more}

    def completion(self, response: Any) -> Completion:
        """A reply in plain words."""
        return completion_of(response)

    async def close(self) -> None:
        """Close the connections."""
        await self._sdk.close()


def _thinking(settings: ModelSettings) -> dict[str, Any] | None:
    if settings.reasoning_effort is None:
        return None
    if settings.reasoning_effort == "none":
        return {"type": "disabled"}
    if settings.is_one_that("adaptive"):
        return {"type": "adaptive", "display": "summarized"}
    return {"type": "enabled", "budget_tokens": settings.reasoning_room}


def _effort(settings: ModelSettings) -> dict[str, Any] | None:
    if settings.reasoning_effort in {None, "none"} or not settings.is_one_that("adaptive"):
        return None
    return {"effort": "low" if settings.reasoning_effort == "minimal" else settings.reasoning_effort}


def _blocks(message: Message) -> list[Any]:
    if message.get("echo") is not None:
        return list(message["echo"])
    if "tool_call_id" in message:
        return [{"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}]
    text = [{"type": "text", "text": message["content"]}] if message["content"] else []
    calls = [{"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_of(call)} for call in message.get("tool_calls", ())]
    return text + calls


def completion_of(response: Any) -> Completion:
    """A reply.

    Raises:
        UnreadableError: it is none.
    """
    reply = response.model_dump(exclude_unset=True, warnings=False) if isinstance(response, BaseModel) else {}
    content = reply.get("content")
    if not isinstance(content, list):
        raise UnreadableError("the reply is no message: it has no content")
    blocks = [block for block in content if isinstance(block, dict)]
    calls = tuple(
        ToolCall(str(block.get("id") or ""), str(block.get("name") or ""), orjson.dumps(block.get("input") or {}).decode())
        for block in blocks
        if block.get("type") == "tool_use"
    )
    text = "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text")
    thoughts = "".join(str(block.get("thinking") or "") for block in blocks if block.get("type") == "thinking")
    stopped = told(reply.get("stop_reason"))
    return Completion(
        text=text,
        finish_reason=_STOPPED.get(stopped, stopped) if stopped else None,
        tokens=_tokens(reply.get("usage")),
        reasoning=thoughts,
        tool_calls=calls,
        refusal=text or "the model declines" if stopped == _REFUSED else None,
        echo=content if any(block.get("type") in {"thinking", "redacted_thinking"} for block in blocks) else None,
        served_model=told(reply.get("model")),
    )


def _tokens(usage: Any) -> Tokens:
    if not isinstance(usage, dict):
        return NO_TOKENS
    read, written = (counted(usage.get(name)) for name in ("cache_read_input_tokens", "cache_creation_input_tokens"))
    details = usage.get("output_tokens_details")
    return Tokens(
        input=counted(usage.get("input_tokens")) + read + written,
        output=counted(usage.get("output_tokens")),
        cached=read,
        written=written,
        reasoning=counted(details.get("thinking_tokens")) if isinstance(details, dict) else 0,
    )
