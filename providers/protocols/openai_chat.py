"""OpenAI's chat completions, which most providers and local servers speak too.

https://platform.openai.com/docs/api-reference/chat. Others add fields of their own, which are read where they come: reasoning as
`reasoning_content` (DeepSeek, vLLM) or `reasoning` (Groq, OpenRouter, Ollama), content as a list of parts (Mistral).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
import orjson

from providers.catalogue import provider_of
from providers.completion import Completion, ErrorCameError, Tokens, UnreadableError, counted, told
from providers.messages import Message, Tool, ToolCall
from providers.protocols.protocol import Sheet, asked_for_json, closed, decoded
from providers.provider import Mode, ModelSettings

__all__ = ["AzureChat", "ChatReply", "OpenAIChat", "completion_of"]

_OWN: Final = frozenset({"openai", "azure_openai"})
"""Providers that know the newer name of the limit."""
_ACCOUNT: Final = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
_FAILED: Final = "error"
"""Why a reply stopped, where a gateway says that the server behind it has failed at it."""
_AZURE_VERSION: Final = "2024-12-01-preview"


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
    message: _Message | None = None
    finish_reason: Any = None
    logprobs: Any = None
    error: Any = None


class ChatReply(msgspec.Struct):
    """A reply as it comes, as far as it is read."""

    choices: list[_Choice] | None = None
    usage: Any = None
    error: Any = None
    model: Any = None


_REPLY: Final = msgspec.json.Decoder(ChatReply)


class OpenAIChat:
    """Chat completions."""

    def url(self, base: str, settings: ModelSettings) -> str:  # noqa: ARG002 - the model stands in the body
        """Where requests go."""
        return f"{base.rstrip('/')}/chat/completions"

    def headers(self, key: str) -> dict[str, str]:
        """A bearer token; organisation and project out of the environment, as OpenAI's own client has it."""
        named = {header: os.environ.get(variable, "") for header, variable in _ACCOUNT.items()}
        return {"Authorization": f"Bearer {key}"} | {header: value for header, value in named.items() if value}

    def body(self, sheet: Sheet, settings: ModelSettings) -> Mapping[str, Any]:
        """The request."""
        mode = settings.form_mode or provider_of(settings).mode or "tools"
        return {
            "model": settings.model_name,
            "messages": [_written(message) for message in (asked_for_json(sheet) if mode == "json" else sheet.messages)],
            **_limits(settings),
            **_wanted(sheet, mode),
        }

    def read(self, body: bytes, *, typed: bool) -> Completion:
        """The reply."""
        return completion_of(decoded(body, _REPLY), typed=typed)


class AzureChat(OpenAIChat):
    """The same at Azure, where a model is a deployment with an address of its own.

    https://learn.microsoft.com/azure/ai-foundry/openai/reference. A base that ends in /v1 is taken for the newer address without versions.
    """

    def url(self, base: str, settings: ModelSettings) -> str:
        """Where requests go."""
        if base.rstrip("/").endswith("/v1"):
            return super().url(base, settings)
        version = os.environ.get("OPENAI_API_VERSION", _AZURE_VERSION)
        return f"{base.rstrip('/')}/openai/deployments/{settings.model_name}/chat/completions?api-version={version}"

    def headers(self, key: str) -> dict[str, str]:
        """A header of its own."""
        return {"api-key": key}


def _limits(settings: ModelSettings) -> dict[str, Any]:
    """How the reply is sampled and how long it may be; models that reason, and OpenAI itself, count the reasoning in."""
    own = settings.provider in _OWN and settings.base_url is None
    found = {
        "max_completion_tokens" if own or settings.reasons else "max_tokens": settings.limit,
        "temperature": settings.sampling_temperature,
        "top_p": settings.top_p,
        "reasoning_effort": settings.reasoning_effort,
        "logprobs": settings.logprobs or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _wanted(sheet: Sheet, mode: Mode) -> dict[str, Any]:
    """The form that is to be filled in, or the tools that may be called."""
    form = sheet.form
    if form is None:
        return {"tools": [_tool(tool) for tool in sheet.tools]} if sheet.tools else {}
    if mode == "tools":
        return {"tools": [_tool(form)], "tool_choice": {"type": "function", "function": {"name": form.name}}}
    if mode == "json":
        return {"response_format": {"type": "json_object"}}
    schema = {"name": form.name, "description": form.description, "schema": closed(form.parameters), "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def completion_of(reply: ChatReply, *, typed: bool) -> Completion:
    """The first choice of a reply.

    Raises:
        ErrorCameError: an error came in its place, as gateways send it when the server behind them fails.
        UnreadableError: there is none.
    """
    choice = reply.choices[0] if reply.choices else _Choice()
    if error := reply.error or choice.error:
        raise ErrorCameError(error)
    if choice.finish_reason == _FAILED:
        raise ErrorCameError("the server behind it failed")
    message = choice.message
    if message is None:
        raise UnreadableError("the reply is no chat completion: it has no choices with a message")
    calls = tuple(_called(call) for call in message.tool_calls or ())
    text, thought = _parts(message.content)
    thought = thought or _text(message.reasoning_content) or _text(message.reasoning)
    if typed and calls:
        text = calls[0].arguments or text
    elif typed and not text:
        text, thought = thought, ""  # some servers take all that a model writes for its thoughts
    return Completion(
        text=text,
        finish_reason=told(choice.finish_reason),
        tokens=_tokens(reply.usage),
        reasoning=thought,
        tool_calls=() if typed else calls,
        refusal=told(message.refusal),
        probabilities=_probabilities(choice.logprobs),
        served_model=told(reply.model),
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


def _probabilities(found: Any) -> tuple[tuple[str, float], ...]:
    content = found.get("content") if isinstance(found, dict) else None
    tokens = content if isinstance(content, list) else []
    return tuple((one["token"], one["logprob"]) for one in tokens if isinstance(one, dict) and _is_probable(one))


def _is_probable(one: Mapping[str, Any]) -> bool:
    return isinstance(one.get("token"), str) and isinstance(one.get("logprob"), int | float)


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
