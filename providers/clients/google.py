"""Google's client.

https://ai.google.dev/api/generate-content. Contents are lists of parts; thoughts are parts that are marked so; a signature that comes with
a part has to be sent back with it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import httpx
import instructor
import orjson
from google import genai
from google.genai import types
from instructor import AsyncInstructor
from instructor.processing.schema import generate_openai_schema
from pydantic import BaseModel

from providers.clients.client import Sheet, Turn, arguments_of, merged, system_text
from providers.clients.gate import HOOKS, gated, json_wish
from providers.messages import NO_TOKENS, Completion, Message, Tokens, ToolCall, UnreadableError, counted, told
from providers.provider import Mode, ModelSettings, address_of, key_of
from providers.wire import Wire

__all__ = ["Connected", "completion_of"]

_VERSION: Final = "v1beta"
_STOPPED: Final = {"STOP": "stop", "MAX_TOKENS": "length"}
_OWN_ID: Final = "#"
_FILTERED: Final = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"})
_LOGPROBS: Final = "response_logprobs"


def _declared(tools: Iterable[Mapping[str, Any]]) -> list[types.Tool]:
    declared = [
        types.FunctionDeclaration(name=tool["name"], description=tool["description"], parameters_json_schema=tool["parameters"])
        for tool in tools
    ]
    return [types.Tool(function_declarations=declared)] if declared else []


@cache
def _tool(model: type[BaseModel]) -> dict[str, Any]:
    found = generate_openai_schema(model)
    calling = {"mode": "ANY", "allowed_function_names": [found["name"]]}
    return {"tools": _declared([found]), "tool_config": {"function_calling_config": calling}}


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def _asked(kwargs: dict[str, Any], **config: Any) -> dict[str, Any]:
    """The arguments of Google's client."""
    return {"model": kwargs["model"], "contents": kwargs["messages"], "config": {**kwargs["config"], **config}}


def _by_tool(model: type[BaseModel] | None, kwargs: dict[str, Any]) -> dict[str, Any]:
    return _asked(kwargs) if model is None else _asked(kwargs, **_tool(model))


def _in_json(model: type[BaseModel] | None, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Held to the schema, or asked for in words."""
    if model is None:
        return _asked(kwargs)
    if kwargs["in_words"]:
        wish = json_wish(kwargs["config"].get("system_instruction", ""), _schema(model))
        return _asked(kwargs, response_mime_type="application/json", system_instruction=wish)
    return _asked(kwargs, response_mime_type="application/json", response_json_schema=_schema(model))


gated(instructor.Provider.GENAI, instructor.Mode.TOOLS, _by_tool)
gated(instructor.Provider.GENAI, instructor.Mode.JSON, _in_json)


class Connected:
    """generateContent."""

    modes: Sequence[Mode] = ("tools", "json_schema", "json")

    def __init__(self, settings: ModelSettings, turn: Turn) -> None:
        self._settings = settings
        warnings.filterwarnings(
            "ignore", message=".* is not a valid FinishReason"
        )  # a newer word: `providers.messages` knows what it means
        base = (address_of(settings) or "").rstrip("/").removesuffix(f"/{_VERSION}").removesuffix("/v1")
        http = httpx.AsyncClient(transport=Wire(settings, turn), timeout=None)  # noqa: S113 - the wire has the time limit
        options = types.HttpOptions(
            base_url=base,
            api_version=_VERSION,
            headers=dict(settings.headers),
            httpx_async_client=http,
            retry_options=types.HttpRetryOptions(attempts=1),
            extra_body=dict(settings.request_fields) or None,
        )
        self._http = http
        self._sdk = genai.Client(api_key=key_of(settings), vertexai=False, http_options=options)
        self._by_mode: dict[instructor.Mode, AsyncInstructor] = {}

    def instructor(self, mode: Mode) -> AsyncInstructor:
        """The client that asks for forms in that way."""
        theirs = instructor.Mode.TOOLS if mode == "tools" else instructor.Mode.JSON
        if theirs not in self._by_mode:
            self._by_mode[theirs] = instructor.from_genai(self._sdk, mode=theirs, use_async=True, hooks=HOOKS)
        return self._by_mode[theirs]

    def arguments(self, sheet: Sheet) -> dict[str, Any]:
        """What `create` is called with."""
        settings = self._settings
        config = {
            "max_output_tokens": sheet.room * settings.limit,
            "temperature": settings.sampling_temperature,
            "top_p": settings.top_p,
            _LOGPROBS: settings.logprobs or None,
            "thinking_config": _thinking(settings),
            "system_instruction": system_text(sheet.messages) or None,
            "tools": _declared(tool._asdict() for tool in sheet.tools) or None,
        }
        refused = {"logprobs": _LOGPROBS}
        left_out = {refused.get(name, name) for name in sheet.refused}
        return {
            "model": settings.model_name.removeprefix("models/"),
            "messages": [types.Content.model_validate_json(orjson.dumps(content)) for content in _contents(sheet.messages)],
            "config": {name: value for name, value in config.items() if value is not None and name not in left_out},
            "in_words": sheet.mode == "json",
        }

    def completion(self, response: Any) -> Completion:
        """A reply in plain words."""
        return completion_of(response)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def _thinking(settings: ModelSettings) -> dict[str, Any] | None:
    if settings.reasoning_effort is None:
        return {"include_thoughts": True} if settings.reasons else None
    if settings.is_one_that("levels"):
        return {"include_thoughts": True, "thinking_level": "low" if settings.reasoning_effort == "none" else settings.reasoning_effort}
    return {"include_thoughts": settings.reasons, "thinking_budget": settings.reasoning_room}


def _contents(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages with their parts; a tool's result names the function, which the call before it tells."""
    names = {call.id: call.name for message in messages for call in message.get("tool_calls", ())}
    return merged(messages, lambda message: _parts(message, names), assistant="model", content="parts")


def _parts(message: Message, names: Mapping[str, str]) -> list[Any]:
    if message.get("echo") is not None:
        return list(message["echo"])
    if "tool_call_id" in message:
        call_id = message["tool_call_id"]
        named = {} if call_id.startswith(_OWN_ID) else {"id": call_id}
        return [{"functionResponse": {**named, "name": names.get(call_id, ""), "response": {"result": message["content"]}}}]
    text = [{"text": message["content"]}] if message["content"] else []
    calls = [{"functionCall": {"name": call.name, "args": arguments_of(call)}} for call in message.get("tool_calls", ())]
    return text + calls


def _called(call: Mapping[str, Any], number: int) -> ToolCall:
    """Where Google gives calls no ids, the place in the reply tells them apart."""
    return ToolCall(str(call.get("id") or f"{_OWN_ID}{number}"), str(call.get("name") or ""), orjson.dumps(call.get("args") or {}).decode())


def _text(parts: Iterable[Mapping[str, Any]]) -> str:
    return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def completion_of(response: Any) -> Completion:
    """A reply; a prompt that Google does not let through has none.

    Raises:
        UnreadableError: it is none.
    """
    reply = response.model_dump(mode="json", by_alias=True, exclude_none=True, warnings=False) if isinstance(response, BaseModel) else {}
    usage = reply.get("usageMetadata")
    tokens = _tokens(usage)
    if not reply.get("candidates"):
        if (reply.get("promptFeedback") or {}).get("blockReason"):
            return Completion("", "content_filter", tokens)
        raise UnreadableError("the reply is no completion: it has no candidates")
    candidate = reply["candidates"][0]
    stopped = _stopped(candidate.get("finishReason"))
    parts = (candidate.get("content") or {}).get("parts") or []
    calls = tuple(_called(part["functionCall"], number) for number, part in enumerate(parts) if isinstance(part.get("functionCall"), dict))
    return Completion(
        text=_text(part for part in parts if not part.get("thought")),
        finish_reason="tool_calls" if calls and stopped in {"stop", None} else stopped,
        tokens=tokens,
        reasoning=_text(part for part in parts if part.get("thought")),
        tool_calls=calls,
        probabilities=_probabilities(candidate.get("logprobsResult")),
        echo=parts if any("thoughtSignature" in part for part in parts) else None,
        served_model=told(reply.get("modelVersion")),
        unlisted=_unlisted(usage),
    )


def _stopped(reason: Any) -> str | None:
    if not isinstance(reason, str):
        return None
    return "content_filter" if reason in _FILTERED else _STOPPED.get(reason, reason.lower())


def _probabilities(found: Any) -> tuple[tuple[str, float], ...]:
    chosen = found.get("chosenCandidates") if isinstance(found, dict) else None
    tokens = chosen if isinstance(chosen, list) else []
    return tuple(
        (one["token"], one["logProbability"])
        for one in tokens
        if isinstance(one, dict) and isinstance(one.get("token"), str) and isinstance(one.get("logProbability"), int | float)
    )


def _unlisted(usage: Any) -> int:
    if not isinstance(usage, dict) or not (total := counted(usage.get("totalTokenCount"))):
        return 0
    listed = ("promptTokenCount", "toolUsePromptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    return total - sum(counted(usage.get(name)) for name in listed)


def _tokens(usage: Any) -> Tokens:
    if not isinstance(usage, dict):
        return NO_TOKENS
    thoughts = counted(usage.get("thoughtsTokenCount"))
    prompt = counted(usage.get("promptTokenCount")) + counted(usage.get("toolUsePromptTokenCount"))
    total = counted(usage.get("totalTokenCount"))
    return Tokens(
        input=prompt,
        output=max(counted(usage.get("candidatesTokenCount")) + thoughts, total - prompt),
        cached=counted(usage.get("cachedContentTokenCount")),
        reasoning=thoughts,
    )
