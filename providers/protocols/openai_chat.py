"""OpenAI's chat completions, which most providers and local servers speak too.

https://platform.openai.com/docs/api-reference/chat. Others add fields of their own, which are read where they come: reasoning as
`reasoning_content` (DeepSeek, vLLM) or `reasoning` (Groq, OpenRouter, Ollama), content as a list of parts (Mistral).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeGuard

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
_OTHER_LIMIT: Final = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""The two names of the longest reply: what a model refuses under the one, it takes under the other."""
_UNKNOWN: Final = re.compile(
    r"not supported|unsupported|not permitted|extra[ _](?:inputs|fields|forbidden)|un(?:known|recognized|recognised|expected)|deprecated"
    r"|\buse ['\"`]?max_(?:completion_)?tokens\b",
    re.IGNORECASE,
)
_OF_CALLS: Final = frozenset({"id", "type", "function", "index", "name", "arguments"})
_OF_THOUGHTS: Final = re.compile(r"reason|think|thought|signature|extra_content|provider_specific")
"""Names under which servers send thoughts and their signatures beside text and calls."""
_MOST_COST: Final = 1e15
_TICKS_A_DOLLAR: Final = 1e10
"""https://docs.x.ai/developers/cost-tracking"""


class _Choice(msgspec.Struct):
    message: dict[str, Any] | None = None
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

    def __init__(self) -> None:
        self._refused: set[str] = set()
        """Names of the longest reply that this model does not take."""

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
            **self._limits(sheet, settings),
            **_wanted(sheet, mode),
        }

    def read(self, body: bytes) -> Completion:
        """The reply."""
        return completion_of(decoded(body, _REPLY))

    def adapt(self, sent: Mapping[str, Any], refusal: str) -> bool:
        """Learn from a refusal under which name the model takes its longest reply.

        Args:
            sent: the request that was refused.
            refusal: the server's message.

        Returns:
            Whether the same request can be sent again, under the other name.
        """
        name = next(filter(sent.__contains__, _OTHER_LIMIT), None)
        if name is None or not re.search(rf"\b{name}\b", refusal) or not _UNKNOWN.search(refusal):
            return False
        self._refused.add(name)
        return _OTHER_LIMIT[name] not in self._refused

    def _limits(self, sheet: Sheet, settings: ModelSettings) -> dict[str, Any]:
        """How the reply is sampled and how long it may be; models that reason, and OpenAI itself, count the reasoning in."""
        own = settings.provider in _OWN and settings.base_url is None
        limit = "max_completion_tokens" if own or settings.reasons else "max_tokens"
        found = {
            _OTHER_LIMIT[limit] if limit in self._refused else limit: sheet.room * settings.limit,
            "temperature": settings.sampling_temperature,
            "top_p": settings.top_p,
            "reasoning_effort": settings.reasoning_effort,
            "logprobs": settings.logprobs or None,
        }
        return {name: value for name, value in found.items() if value is not None}


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


def completion_of(reply: ChatReply) -> Completion:
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
    found = message.get("tool_calls")
    calls = [call for call in found if isinstance(call, dict)] if isinstance(found, list) else []
    if not calls and isinstance(message.get("function_call"), dict):
        calls = [{"function": message["function_call"]}]  # the older name, which gateways still send
    text, thought = _parts(message.get("content"))
    return Completion(
        text=text,
        finish_reason=told(choice.finish_reason),
        tokens=_tokens(reply.usage),
        reasoning=thought or _text(message.get("reasoning_content")) or _text(message.get("reasoning")),
        tool_calls=tuple(map(_called, calls)),
        refusal=told(message.get("refusal")),
        probabilities=_probabilities(choice.logprobs),
        echo=_echo(message, calls),
        served_model=told(reply.model),
        cost=_cost(reply.usage),
        unlisted=_unlisted(reply.usage),
    )


def _echo(message: Mapping[str, Any], calls: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """What belongs to calls of tools besides text and arguments, thoughts and signatures above all: servers that send it want it back."""
    more = {name: value for name, value in message.items() if _OF_THOUGHTS.search(name) and value not in (None, "", [])}
    signed = any({*call, *(call["function"] if isinstance(call.get("function"), dict) else ())} - _OF_CALLS for call in calls)
    if not calls or not (more or signed or isinstance(message.get("content"), list)):
        return None
    plain = [{name: value for name, value in call.items() if name != "index"} for call in calls]
    return {"content": message.get("content"), "tool_calls": plain, **more}


def _written(message: Message) -> dict[str, Any]:
    if message.get("echo") is not None:
        return {"role": message["role"], **message["echo"]}
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


def _called(call: Mapping[str, Any]) -> ToolCall:
    function = call.get("function")
    named = function if isinstance(function, dict) else {}
    arguments = named.get("arguments")
    return ToolCall(str(call.get("id") or ""), str(named.get("name") or ""), arguments if isinstance(arguments, str) else _json(arguments))


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
    """Tokens as billed. Some servers count reasoning beside `completion_tokens`, which their own total shows."""
    cached = _number(usage, "prompt_tokens_details", "cached_tokens") or _number(usage, "prompt_cache_hit_tokens")
    prompt, total = _number(usage, "prompt_tokens"), _number(usage, "total_tokens")
    written = _number(usage, "completion_tokens")
    reasoning = _number(usage, "completion_tokens_details", "reasoning_tokens") or _number(usage, "reasoning_tokens")
    beside = written + reasoning if reasoning > written else written  # a part is never more than the whole
    return Tokens(input=prompt, output=max(beside, total - prompt if prompt else 0), cached=cached, reasoning=reasoning)


def _unlisted(usage: Any) -> int:
    total = _number(usage, "total_tokens")
    return total - _number(usage, "prompt_tokens") - _number(usage, "completion_tokens") if total else 0


def _cost(usage: Any) -> float | None:
    """What the server says it has charged, in USD: as a number, as parts with their sum, or in xAI's ticks."""
    if not isinstance(usage, dict):
        return None
    ticks, cost = usage.get("cost_in_usd_ticks"), usage.get("cost")
    if _is_amount(ticks):
        return float(ticks) / _TICKS_A_DOLLAR
    amount = cost.get("total_cost") if isinstance(cost, dict) else cost
    if not _is_amount(amount):
        return None
    details = usage.get("cost_details")
    behind = details.get("upstream_inference_cost") if usage.get("is_byok") is True and isinstance(details, dict) else None
    return float(amount) + (float(behind) if _is_amount(behind) else 0.0)  # with a key of one's own, the gateway's fee comes on top


def _is_amount(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST_COST


def _number(found: Any, *path: str) -> int:
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return counted(found)
