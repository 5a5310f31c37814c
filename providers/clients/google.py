"""Google's client.

https://ai.google.dev/api/generate-content. Contents are lists of parts; thoughts are parts that are marked so; a signature that comes with
a part has to be sent back with it.
"""

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

import instructor
import orjson
from google import genai
from google.genai import types
from instructor import AsyncInstructor, Provider
from instructor import Mode as TheirMode
from pydantic import BaseModel

from providers.clients.client import HOOKS, Client, Gated, arguments_of, called, given, merged, unlisted
from providers.forms import ChatRequest, Form, system_text
from providers.provider import ModelSettings, address_of, key_of
from providers.wire import Turn
from schemas.chat.messages import Completion, Message, Tokens, Tool, UnreadableError, counted, probabilities_in, text_or_none

_VERSION: Final = "v1beta"
_STOPPED: Final = {"STOP": "stop", "MAX_TOKENS": "length"}
_FILTERED: Final = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"})
_NUMBERED: Final = "#"
"""Begins the id of a call to which Google gives none: its place in the reply."""
_LISTED: Final = ("promptTokenCount", "toolUsePromptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
_LOGPROBS: Final = "response_logprobs"


def _declared(tools: Iterable[Tool]) -> list[types.Tool] | None:
    declared = [
        types.FunctionDeclaration(name=tool.name, description=tool.description, parameters_json_schema=tool.parameters) for tool in tools
    ]
    return [types.Tool(function_declarations=declared)] if declared else None


def _configured(kwargs: dict[str, Any], **config: Any) -> dict[str, Any]:
    return {**kwargs, "config": {**kwargs["config"], **config}}


def _by_tool(form: Form, kwargs: dict[str, Any]) -> dict[str, Any]:
    calling = {"mode": "ANY", "allowed_function_names": [form.tool.name]}
    return _configured(kwargs, tools=_declared([form.tool]), tool_config={"function_calling_config": calling})


def _by_json(form: Form, kwargs: dict[str, Any]) -> dict[str, Any]:
    """By the schema that the server holds replies to, or by words, which the system text has."""
    more = {} if kwargs["in_words"] else {"response_json_schema": form.schema}
    return _configured(kwargs, response_mime_type="application/json", **more)


def _last(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {"model": kwargs["model"], "contents": kwargs["messages"], "config": kwargs["config"]}


_JSON: Final = Gated(Provider.GENAI, TheirMode.JSON, _by_json, _last)


class Connected(Client):
    """generateContent."""

    ways: ClassVar = {"tools": Gated(Provider.GENAI, TheirMode.TOOLS, _by_tool, _last), "json_schema": _JSON, "json": _JSON}

    def __init__(self, settings: ModelSettings, turn: Turn) -> None:
        super().__init__(settings, turn)
        # a newer word for why a reply ended: `Completion.ending` knows what it means
        warnings.filterwarnings("ignore", message=".* is not a valid FinishReason")
        options = types.HttpOptions(
            base_url=(address_of(settings) or "").rstrip("/").removesuffix(f"/{_VERSION}").removesuffix("/v1"),
            api_version=_VERSION,
            headers=dict(settings.headers),
            httpx_async_client=self._http,
            retry_options=types.HttpRetryOptions(attempts=1),
            extra_body=dict(settings.request_fields) or None,
        )
        self._sdk = genai.Client(api_key=key_of(settings), vertexai=False, http_options=options)

    def _patched(self, mode: TheirMode) -> AsyncInstructor:
        return instructor.from_genai(self._sdk, mode=mode, use_async=True, hooks=HOOKS)

    def arguments(self, request: ChatRequest) -> dict[str, Any]:
        """The arguments of `create`."""
        settings = self._settings
        config = {
            "max_output_tokens": request.limit,
            "temperature": settings.sampling_temperature,
            "top_p": settings.top_p,
            _LOGPROBS: settings.logprobs or None,
            "thinking_config": _thinking(settings),
            "system_instruction": system_text(request.with_wish) or None,
            "tools": _declared(request.tools),
        }
        names = {call.id: call.name for message in request.messages for call in message.get("tool_calls", ())}
        contents = merged(request.messages, lambda message: _parts(message, names), assistant="model", content="parts")
        return {
            "model": settings.model_name.removeprefix("models/"),
            "messages": [types.Content.model_validate_json(orjson.dumps(content)) for content in contents],
            "config": given(config, frozenset(_LOGPROBS if name == "logprobs" else name for name in request.refused)),
            "in_words": request.mode == "json",
        }


def _thinking(settings: ModelSettings) -> dict[str, Any] | None:
    if settings.reasoning_effort is None:
        return {"include_thoughts": True} if settings.reasons else None
    if settings.is_one_that("levels"):
        return {"include_thoughts": True, "thinking_level": "low" if settings.reasoning_effort == "none" else settings.reasoning_effort}
    return {"include_thoughts": settings.reasons, "thinking_budget": settings.reasoning_tokens}


def _parts(message: Message, names: Mapping[str, str]) -> list[Any]:
    """A message's parts; a tool's result names the function, which only the call before it names."""
    if "tool_call_id" in message:
        call_id = message["tool_call_id"]
        named = {} if call_id.startswith(_NUMBERED) else {"id": call_id}
        return [{"functionResponse": {**named, "name": names.get(call_id, ""), "response": {"result": message["content"]}}}]
    text = [{"text": message["content"]}] if message["content"] else []
    calls = [{"functionCall": {"name": call.name, "args": arguments_of(call)}} for call in message.get("tool_calls", ())]
    return text + calls


def _text(parts: Iterable[Mapping[str, Any]], *, thought: bool) -> str:
    return "".join(part["text"] for part in parts if bool(part.get("thought")) is thought and isinstance(part.get("text"), str))


def completion_of(response: Any) -> Completion:
    """A reply in the common form; a prompt that Google's filter stops has no candidates.

    Raises:
        UnreadableError: it is not a reply.
    """
    reply = response.model_dump(mode="json", by_alias=True, exclude_none=True, warnings=False) if isinstance(response, BaseModel) else {}
    usage = reply.get("usageMetadata")
    tokens = _tokens(usage)
    if not reply.get("candidates"):
        if (reply.get("promptFeedback") or {}).get("blockReason"):
            return Completion("", "content_filter", tokens)
        raise UnreadableError("the reply is not a completion: it has no candidates")
    candidate = reply["candidates"][0]
    stopped = _stopped(candidate.get("finishReason"))
    parts = (candidate.get("content") or {}).get("parts") or []
    numbered = [(number, part["functionCall"]) for number, part in enumerate(parts) if isinstance(part.get("functionCall"), dict)]
    calls = tuple(called(call.get("id") or f"{_NUMBERED}{number}", call.get("name"), call.get("args")) for number, call in numbered)
    return Completion(
        text=_text(parts, thought=False),
        finish_reason="tool_calls" if calls and stopped in {"stop", None} else stopped,
        tokens=tokens,
        reasoning=_text(parts, thought=True),
        tool_calls=calls,
        probabilities=probabilities_in(candidate.get("logprobsResult"), "chosenCandidates", "logProbability"),
        echo=parts if any("thoughtSignature" in part for part in parts) else None,
        served_model=text_or_none(reply.get("modelVersion")),
        unlisted=unlisted(usage, "totalTokenCount", *_LISTED),
    )


def _stopped(reason: Any) -> str | None:
    if not isinstance(reason, str):
        return None
    return "content_filter" if reason in _FILTERED else _STOPPED.get(reason, reason.lower())


def _tokens(usage: Any) -> Tokens:
    thoughts = counted(usage, "thoughtsTokenCount")
    prompt = counted(usage, "promptTokenCount") + counted(usage, "toolUsePromptTokenCount")
    return Tokens(
        input=prompt,
        output=max(counted(usage, "candidatesTokenCount") + thoughts, counted(usage, "totalTokenCount") - prompt),
        cached=counted(usage, "cachedContentTokenCount"),
        reasoning=thoughts,
    )
