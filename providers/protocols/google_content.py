"""Google's generateContent.

https://ai.google.dev/api/generate-content. Contents are lists of parts; thoughts are parts that are marked so; a signature that comes with
a part has to be sent back with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
import orjson

from providers.completion import NO_TOKENS, Completion, Tokens, UnreadableError, counted, told
from providers.messages import Message, Tool, ToolCall
from providers.protocols.protocol import Sheet, arguments_of, asked_for_json, decoded, system_text, without_system
from providers.provider import Mode, ModelSettings

__all__ = ["GoogleContent"]

_VERSION: Final = "v1beta"
_STOPPED: Final = {"STOP": "stop", "MAX_TOKENS": "length"}
_OWN_ID: Final = "#"
_FILTERED: Final = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"})


class _Content(msgspec.Struct):
    parts: list[dict[str, Any]] | None = None


class _Candidate(msgspec.Struct, rename="camel"):
    content: _Content = msgspec.field(default_factory=_Content)
    finish_reason: Any = None
    logprobs_result: Any = None


class _Reply(msgspec.Struct, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: Any = None
    usage_metadata: Any = None
    model_version: Any = None


_REPLY: Final = msgspec.json.Decoder(_Reply)


class GoogleContent:
    """generateContent."""

    def url(self, base: str, settings: ModelSettings) -> str:
        """Where requests go: the model is part of the address."""
        base = base.rstrip("/").removesuffix(f"/{_VERSION}").removesuffix("/v1")
        return f"{base}/{_VERSION}/models/{settings.model_name.removeprefix('models/')}:generateContent"

    def headers(self, key: str) -> dict[str, str]:
        """A header of its own."""
        return {"x-goog-api-key": key}

    def body(self, sheet: Sheet, settings: ModelSettings) -> Mapping[str, Any]:
        """The request."""
        mode = settings.form_mode or "tools"
        messages = asked_for_json(sheet) if mode == "json" else sheet.messages
        system = system_text(messages)
        found = {
            "contents": _contents(without_system(messages)),
            "systemInstruction": {"parts": [{"text": system}]} if system else None,
            "generationConfig": _config(sheet, settings, mode),
            **_tools(sheet, mode),
        }
        return {name: value for name, value in found.items() if value is not None}

    def read(self, body: bytes) -> Completion:
        """The reply; a prompt that Google does not let through has none."""
        reply = decoded(body, _REPLY)
        tokens = _tokens(reply.usage_metadata)
        if not reply.candidates:
            if isinstance(reply.prompt_feedback, dict) and reply.prompt_feedback.get("blockReason"):
                return Completion("", "content_filter", tokens)
            raise UnreadableError("the reply is no completion: it has no candidates")
        candidate = reply.candidates[0]
        stopped = _stopped(candidate.finish_reason)
        parts = candidate.content.parts or []
        calls = tuple(
            _called(part["functionCall"], number) for number, part in enumerate(parts) if isinstance(part.get("functionCall"), dict)
        )
        return Completion(
            text=_text(part for part in parts if not part.get("thought")),
            finish_reason="tool_calls" if calls and stopped in {"stop", None} else stopped,
            tokens=tokens,
            reasoning=_text(part for part in parts if part.get("thought")),
            tool_calls=calls,
            probabilities=_probabilities(candidate.logprobs_result),
            echo=parts if any("thoughtSignature" in part for part in parts) else None,
            served_model=told(reply.model_version),
            unlisted=_unlisted(reply.usage_metadata),
        )


def _config(sheet: Sheet, settings: ModelSettings, mode: Mode) -> dict[str, Any]:
    found: dict[str, Any] = {
        "maxOutputTokens": sheet.room * settings.limit,
        "temperature": settings.sampling_temperature,
        "topP": settings.top_p,
        "responseLogprobs": settings.logprobs or None,
        "thinkingConfig": _thinking(settings),
    }
    if sheet.form is not None and mode != "tools":
        found["responseMimeType"] = "application/json"
        found["responseJsonSchema"] = sheet.form.parameters if mode == "json_schema" else None
    return {name: value for name, value in found.items() if value is not None}


def _thinking(settings: ModelSettings) -> dict[str, Any] | None:
    if settings.reasoning_effort is None:
        return {"includeThoughts": True} if settings.reasons else None
    if settings.is_one_that("levels"):
        return {"includeThoughts": True, "thinkingLevel": "low" if settings.reasoning_effort == "none" else settings.reasoning_effort}
    return {"includeThoughts": settings.reasons, "thinkingBudget": settings.reasoning_room}


def _tools(sheet: Sheet, mode: Mode) -> dict[str, Any]:
    offered = sheet.tools if sheet.form is None else [sheet.form] if mode == "tools" else []
    if not offered:
        return {}
    found: dict[str, Any] = {"tools": [{"functionDeclarations": [_tool(tool) for tool in offered]}]}
    if sheet.form is not None:
        found["toolConfig"] = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [sheet.form.name]}}
    return found


def _tool(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}


def _contents(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages with their parts; a tool's result names the function, which the call before it tells."""
    names: dict[str, str] = {}
    found: list[dict[str, Any]] = []
    for message in messages:
        names |= {call.id: call.name for call in message.get("tool_calls", ())}
        role = "model" if message["role"] == "assistant" else "user"
        parts = _parts(message, names)
        if found and found[-1]["role"] == role:
            found[-1]["parts"] += parts
        else:
            found.append({"role": role, "parts": parts})
    return found


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
