"""Amazon Bedrock's Converse.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html. The key is a bearer token, or each request is signed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

import msgspec
import orjson

from providers.completion import NO_TOKENS, Completion, Tokens, counted
from providers.messages import Message, Tool, ToolCall
from providers.protocols.protocol import Sheet, arguments_of, asked_for_json, decoded, system_text, without_system
from providers.provider import ModelSettings

__all__ = ["BedrockConverse"]

_STOPPED: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
}


class _Message(msgspec.Struct):
    content: list[dict[str, Any]] = msgspec.field(default_factory=list)


class _Output(msgspec.Struct):
    message: _Message


class _Reply(msgspec.Struct, rename="camel"):
    output: _Output
    stop_reason: Any = None
    usage: Any = None


_REPLY: Final = msgspec.json.Decoder(_Reply)


class BedrockConverse:
    """Converse."""

    def url(self, base: str, settings: ModelSettings) -> str:
        """Where requests go: the model is part of the address."""
        return f"{base.rstrip('/')}/model/{quote(settings.model_name, safe='')}/converse"

    def headers(self, key: str) -> dict[str, str]:
        """A bearer token; without one, requests are signed."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(self, sheet: Sheet, settings: ModelSettings) -> Mapping[str, Any]:
        """The request."""
        as_tool = settings.mode in {None, "tools"}
        messages = sheet.messages if as_tool else asked_for_json(sheet)
        system = system_text(messages)
        found = {
            "messages": _turns(without_system(messages)),
            "system": [{"text": system}] if system else None,
            "inferenceConfig": _config(sheet, settings),
            "toolConfig": _tools(sheet) if as_tool else None,
            "additionalModelRequestFields": _thinking(settings),
        }
        return {name: value for name, value in found.items() if value is not None}

    def read(self, body: bytes) -> Completion:
        """The reply."""
        reply = decoded(body, _REPLY)
        blocks = reply.output.message.content
        uses = [block["toolUse"] for block in blocks if isinstance(block.get("toolUse"), dict)]
        calls = tuple(
            ToolCall(str(use.get("toolUseId")), str(use.get("name")), orjson.dumps(use.get("input") or {}).decode()) for use in uses
        )
        thoughts = [block["reasoningContent"] for block in blocks if isinstance(block.get("reasoningContent"), dict)]
        text = "".join(block["text"] for block in blocks if isinstance(block.get("text"), str))
        return Completion(
            text=text,
            finish_reason=_STOPPED.get(reply.stop_reason, reply.stop_reason) if isinstance(reply.stop_reason, str) else None,
            tokens=_tokens(reply.usage),
            reasoning="".join(_thought(thought) for thought in thoughts),
            tool_calls=calls,
            echo=blocks if thoughts else None,
        )


def _config(sheet: Sheet, settings: ModelSettings) -> dict[str, Any]:
    found = {"maxTokens": sheet.room * settings.limit, "temperature": settings.sampling_temperature, "topP": settings.top_p}
    return {name: value for name, value in found.items() if value is not None}


def _thinking(settings: ModelSettings) -> dict[str, Any] | None:
    if settings.reasoning_effort in {None, "none"}:
        return None
    return {"thinking": {"type": "enabled", "budget_tokens": settings.reasoning_room}}


def _tools(sheet: Sheet) -> dict[str, Any] | None:
    offered = sheet.tools if sheet.form is None else [sheet.form]
    if not offered:
        return None
    found: dict[str, Any] = {"tools": [_tool(tool) for tool in offered]}
    if sheet.form is not None:
        found["toolChoice"] = {"tool": {"name": sheet.form.name}}
    return found


def _tool(tool: Tool) -> dict[str, Any]:
    return {"toolSpec": {"name": tool.name, "description": tool.description, "inputSchema": {"json": tool.parameters}}}


def _turns(messages: Sequence[Message]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message["role"] == "assistant" else "user"
        if found and found[-1]["role"] == role:
            found[-1]["content"] += _blocks(message)
        else:
            found.append({"role": role, "content": _blocks(message)})
    return found


def _blocks(message: Message) -> list[Any]:
    if message.get("echo") is not None:
        return list(message["echo"])
    if "tool_call_id" in message:
        return [{"toolResult": {"toolUseId": message["tool_call_id"], "content": [{"text": message["content"]}]}}]
    text = [{"text": message["content"]}] if message["content"] else []
    calls = [{"toolUse": {"toolUseId": call.id, "name": call.name, "input": arguments_of(call)}} for call in message.get("tool_calls", ())]
    return text + calls


def _thought(content: Mapping[str, Any]) -> str:
    found = content.get("reasoningText")
    return str(found.get("text") or "") if isinstance(found, dict) else ""


def _tokens(usage: Any) -> Tokens:
    if not isinstance(usage, dict):
        return NO_TOKENS
    read, written = counted(usage.get("cacheReadInputTokens")), counted(usage.get("cacheWriteInputTokens"))
    prompt = counted(usage.get("inputTokens")) + read + written
    output = max(counted(usage.get("outputTokens")), counted(usage.get("totalTokens")) - prompt)
    return Tokens(prompt, output, read, written)
