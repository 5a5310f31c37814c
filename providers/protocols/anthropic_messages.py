"""Anthropic's messages.

https://platform.claude.com/docs/en/api/messages. System text stands apart, replies are lists of blocks, and reasoning comes signed: where
tools are used it has to be sent back word for word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import orjson

from providers.completion import NO_TOKENS, Completion, Tokens, counted, told
from providers.messages import Message, Tool, ToolCall
from providers.protocols.protocol import Sheet, arguments_of, asked_for_json, closed, decoded, system_text, without_system
from providers.provider import Mode, ModelSettings

__all__ = ["AnthropicMessages"]

_VERSION: Final = "2023-06-01"
_STOPPED: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
}
_REFUSED: Final = "refusal"
_KEPT: Final = {"cache_control": {"type": "ephemeral"}}
"""Marks what the provider's cache keeps: judges put the same long system text before every unit."""


class _Block(msgspec.Struct):
    type: str = ""
    text: Any = ""
    thinking: Any = ""
    id: Any = ""
    name: Any = ""
    input: Any = None


class _Reply(msgspec.Struct):
    content: msgspec.Raw
    stop_reason: Any = None
    usage: Any = None
    model: Any = None


_REPLY: Final = msgspec.json.Decoder(_Reply)
_BLOCKS: Final = msgspec.json.Decoder(list[_Block])


class AnthropicMessages:
    """Messages."""

    def url(self, base: str, settings: ModelSettings) -> str:  # noqa: ARG002 - the model stands in the body
        """Where requests go."""
        return f"{base.rstrip('/').removesuffix('/v1')}/v1/messages"

    def headers(self, key: str) -> dict[str, str]:
        """A header of its own, and the version of the protocol."""
        return {"x-api-key": key, "anthropic-version": _VERSION}

    def body(self, sheet: Sheet, settings: ModelSettings) -> Mapping[str, Any]:
        """The request."""
        mode = _mode(settings)
        messages = asked_for_json(sheet) if mode == "json" else sheet.messages
        system = system_text(messages)
        found = {
            "model": settings.model_name,
            "max_tokens": sheet.room * settings.limit,
            "system": [{"type": "text", "text": system, **_KEPT}] if system else None,
            "messages": _turns(without_system(messages)),
            "temperature": settings.sampling_temperature,
            "top_p": settings.top_p,
            "thinking": _thinking(settings),
            "output_config": _output(sheet, settings, mode),
            **_tools(sheet, mode),
        }
        return {name: value for name, value in found.items() if value is not None}

    def read(self, body: bytes) -> Completion:
        """The reply."""
        reply = decoded(body, _REPLY)
        blocks = decoded(bytes(reply.content), _BLOCKS)
        calls = tuple(ToolCall(str(block.id), str(block.name), _json(block.input)) for block in blocks if block.type == "tool_use")
        text = "".join(str(block.text or "") for block in blocks if block.type == "text")
        thoughts = "".join(str(block.thinking or "") for block in blocks if block.type == "thinking")
        signed = any(block.type in {"thinking", "redacted_thinking"} for block in blocks)
        return Completion(
            text=text,
            finish_reason=_STOPPED.get(reply.stop_reason, reply.stop_reason) if isinstance(reply.stop_reason, str) else None,
            tokens=_tokens(reply.usage),
            reasoning=thoughts,
            tool_calls=calls,
            refusal=text or "the model declines" if reply.stop_reason == _REFUSED else None,
            echo=orjson.loads(bytes(reply.content)) if signed else None,
            served_model=told(reply.model),
        )


def _mode(settings: ModelSettings) -> Mode:
    """A model that reasons cannot be made to call a tool."""
    return settings.mode or ("json_schema" if settings.reasons else "tools")


def _thinking(settings: ModelSettings) -> dict[str, Any] | None:
    if settings.reasoning_effort is None:
        return None
    if settings.reasoning_effort == "none":
        return {"type": "disabled"}
    if settings.is_one_that("adaptive"):
        return {"type": "adaptive", "display": "summarized"}
    return {"type": "enabled", "budget_tokens": settings.reasoning_room}


def _output(sheet: Sheet, settings: ModelSettings, mode: Mode) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    if settings.reasoning_effort not in {None, "none"} and settings.is_one_that("adaptive"):
        found["effort"] = "low" if settings.reasoning_effort == "minimal" else settings.reasoning_effort
    if sheet.form is not None and mode == "json_schema":
        found["format"] = {"type": "json_schema", "schema": closed(sheet.form.parameters)}
    return found or None


def _tools(sheet: Sheet, mode: Mode) -> dict[str, Any]:
    if sheet.form is None:
        return {"tools": [_tool(tool) for tool in sheet.tools]} if sheet.tools else {}
    if mode != "tools":
        return {}
    return {"tools": [_tool(sheet.form)], "tool_choice": {"type": "tool", "name": sheet.form.name, "disable_parallel_tool_use": True}}


def _tool(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


def _turns(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages with their blocks; those of one role that follow each other, such as results of several tools, are one."""
    found: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message["role"] == "assistant" else "user"
        blocks = _blocks(message)
        if found and found[-1]["role"] == role:
            found[-1]["content"] += blocks
        else:
            found.append({"role": role, "content": blocks})
    return found


def _blocks(message: Message) -> list[Any]:
    if message.get("echo") is not None:
        return list(message["echo"])
    if "tool_call_id" in message:
        return [{"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}]
    text = [{"type": "text", "text": message["content"]}] if message["content"] else []
    calls = [{"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_of(call)} for call in message.get("tool_calls", ())]
    return text + calls


def _json(value: Any) -> str:
    return orjson.dumps({} if value is None else value).decode()


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
