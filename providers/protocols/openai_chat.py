"""OpenAI's chat completions, which most providers and local servers speak too.

https://platform.openai.com/docs/api-reference/chat. Others add fields of their own, which are read where they come: reasoning as
`reasoning_content` (DeepSeek, vLLM) or `reasoning` (Groq, OpenRouter, Ollama), content as a list of parts (Mistral).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
import orjson

from providers.completion import Completion, Tokens, UnreadableError, counted
from providers.messages import Message, Tool, ToolCall
from providers.protocols.protocol import Sheet, decoded
from providers.provider import ModelSettings

__all__ = ["OpenAIChat", "completion_of"]

_JSON_WISH: Final = "Reply with one JSON object and nothing else. It has to fit this JSON schema:\n"


class _Function(msgspec.Struct):
    name: Any = ""
    arguments: Any = ""


class _Call(msgspec.Struct):
    id: Any = ""
    function: _Function = msgspec.field(default_factory=_Function)


class _Message(msgspec.Struct):
    content: Any = None
    refusal: Any = None
    reasoning: Any = None
    reasoning_content: Any = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: Any = None
    logprobs: Any = None


class _Reply(msgspec.Struct):
    choices: list[_Choice]
    usage: Any = None


_REPLY: Final = msgspec.json.Decoder(_Reply)


class OpenAIChat:
    """Chat completions."""

    def url(self, base: str, settings: ModelSettings) -> str:  # noqa: ARG002 - the model stands in the body
        """Where requests go."""
        return f"{base.rstrip('/')}/chat/completions"

    def headers(self, key: str) -> dict[str, str]:
        """A bearer token."""
        return {"Authorization": f"Bearer {key}"}

    def body(self, sheet: Sheet, settings: ModelSettings) -> Mapping[str, Any]:
        """The request."""
        own = settings.provider == "openai" and settings.base_url is None
        found: dict[str, Any] = {
            "model": settings.model_name,
            "messages": [_written(message) for message in sheet.messages],
            "max_completion_tokens" if own else "max_tokens": settings.max_tokens,
        }
        if settings.temperature is not None:
            found["temperature"] = settings.temperature
        if sheet.tools:
            found["tools"] = [_tool(tool) for tool in sheet.tools]
        if sheet.form is not None:
            found["tools"] = [_tool(sheet.form)]
            found["tool_choice"] = {"type": "function", "function": {"name": sheet.form.name}}
        return found

    def read(self, body: bytes, *, typed: bool) -> Completion:
        """The reply."""
        return completion_of(decoded(body, _REPLY), typed=typed)


def completion_of(reply: _Reply, *, typed: bool) -> Completion:
    """The first choice of a reply.

    Raises:
        UnreadableError: there is none.
    """
    if not reply.choices:
        raise UnreadableError("the reply is no chat completion: it has no choices")
    choice = reply.choices[0]
    message = choice.message
    calls = tuple(_called(call) for call in message.tool_calls or ())
    text, thought = _parts(message.content)
    if typed and calls:
        text = calls[0].arguments
    return Completion(
        text=text,
        finish_reason=choice.finish_reason if isinstance(choice.finish_reason, str) else None,
        tokens=_tokens(reply.usage),
        reasoning=thought or _text(message.reasoning_content) or _text(message.reasoning),
        tool_calls=() if typed else calls,
        refusal=message.refusal if isinstance(message.refusal, str) and message.refusal else None,
    )


def _written(message: Message) -> dict[str, Any]:
    found: dict[str, Any] = {"role": message["role"], "content": message["content"]}
    if message.get("tool_calls"):
        found["tool_calls"] = [_call(call) for call in message["tool_calls"]]
    if "tool_call_id" in message:
        found["tool_call_id"] = message["tool_call_id"]
    return found


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _tool(tool: Tool) -> dict[str, Any]:
    return {"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters}}


def _called(call: _Call) -> ToolCall:
    arguments = call.function.arguments
    return ToolCall(str(call.id or ""), str(call.function.name or ""), arguments if isinstance(arguments, str) else _json(arguments))


def _json(value: Any) -> str:
    return "" if value is None else orjson.dumps(value).decode()


def _parts(content: Any) -> tuple[str, str]:
    """Text and reasoning of a message's content, which is text or a list of parts."""
    if not isinstance(content, list):
        return _text(content), ""
    parts = [part for part in content if isinstance(part, dict)]
    said = "".join(_text(part.get("text")) for part in parts if part.get("type") == "text")
    return said, "".join(_thoughts(part.get("thinking") for part in parts if part.get("type") == "thinking"))


def _thoughts(found: Iterator[Any]) -> Iterator[str]:
    for thinking in found:
        yield _parts(thinking)[0] if isinstance(thinking, list) else _text(thinking)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _tokens(usage: Any) -> Tokens:
    cached = _number(usage, "prompt_tokens_details", "cached_tokens") or _number(usage, "prompt_cache_hit_tokens")
    return Tokens(
        input=_number(usage, "prompt_tokens"),
        output=_number(usage, "completion_tokens"),
        cached=cached,
        reasoning=_number(usage, "completion_tokens_details", "reasoning_tokens"),
    )


def _number(found: Any, *path: str) -> int:
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return counted(found)
