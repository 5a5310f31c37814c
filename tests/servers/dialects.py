"""How each provider's protocol puts a request, a reply and an error; strict where the providers are strict."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import orjson
from aiohttp import web

__all__ = ["DIALECTS", "Asked", "BadRequestError", "Billed", "Dialect", "Said", "completion", "tool_call"]


class BadRequestError(Exception):
    """The provider would turn the request down."""


class Asked(NamedTuple):
    """A request, as far as replies depend on it."""

    messages: Sequence[Any]
    """As they were sent."""
    schema: Mapping[str, Any] | None
    """Of the form to be filled in; None: text is wanted."""
    by_tool: bool
    """Whether the form is a tool."""
    tools: Sequence[str]
    """Names of tools that may be called."""
    after_tool: bool
    """Whether the last message is a tool's result."""
    logprobs: bool = False
    reasons: bool = False


class Said(NamedTuple):
    """What the model says."""

    text: str = ""
    """Of a form: its JSON."""
    calls: str | None = None
    """The tool that it calls; None: it only talks."""
    finish: str = "stop"
    """stop, length or refusal."""
    thought: str = ""


class Billed(NamedTuple):
    """Token counts."""

    prompt: int = 1000
    reply: int = 100
    cached: int = 0
    reasoning: int = 0


class Dialect(Protocol):
    """A protocol, seen from the server."""

    def asked(self, body: Any, request: web.Request | None) -> Asked:
        """Read a request.

        Raises:
            BadRequestError: the provider would turn it down.
        """

    def reply(self, said: Said, asked: Asked, billed: Billed) -> dict[str, Any]:
        """Write a reply."""

    def nothing(self) -> dict[str, Any]:
        """A reply in which there is none."""

    def error(self, status: int, message: str, code: str | None) -> dict[str, Any]:
        """Write an error."""


def _dumps(value: Any) -> str:
    return orjson.dumps(value).decode()


def _only(body: Mapping[str, Any], allowed: str) -> None:
    unknown = set(body) - set(allowed.split())
    if unknown:
        raise BadRequestError(f"unknown field {min(unknown)}")


def tool_call(arguments: Any, name: str = "Answers") -> dict[str, Any]:
    """OpenAI's message that calls a tool."""
    text = arguments if isinstance(arguments, str) else _dumps(arguments)
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": text}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def completion(message: dict[str, Any], finish_reason: str = "stop", billed: Billed | None = None) -> dict[str, Any]:
    """OpenAI's completion, by default of 1,000 prompt and 100 completion tokens."""
    billed = billed or Billed()
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {
            "prompt_tokens": billed.prompt,
            "completion_tokens": billed.reply,
            "total_tokens": billed.prompt + billed.reply,
            "prompt_tokens_details": {"cached_tokens": billed.cached},
            "completion_tokens_details": {"reasoning_tokens": billed.reasoning},
        },
    }


_OPENAI: Final = (
    "model messages max_tokens max_completion_tokens temperature top_p tools tool_choice response_format logprobs reasoning_effort n stream"
)
_REASONS: Final = re.compile(r"o\d|gpt-5")


class OpenAI:
    """Chat completions, of OpenAI itself and of all who copy it."""

    def asked(self, body: Any, request: web.Request | None) -> Asked:
        """Read a request; models that reason take no temperature and no `max_tokens`."""
        _only(body, _OPENAI)
        reasons = _REASONS.match(body.get("model", "")) is not None
        for field in ("temperature", "max_tokens") if reasons else ():
            if field in body:
                raise BadRequestError(f"Unsupported parameter: '{field}' is not supported with this model.")
        if request is not None and "Authorization" not in request.headers and "api-key" not in request.headers:
            raise BadRequestError("no key")
        tools = [tool["function"] for tool in body.get("tools", ())]
        form = body.get("response_format", {})
        schema = form["json_schema"]["schema"] if form.get("type") == "json_schema" else None
        if schema is not None and form["json_schema"].get("strict"):
            _closed(schema)
        if form.get("type") == "json_object":
            schema = _schema_in(body["messages"][0]["content"])
        if "tool_choice" in body:
            schema = tools[0]["parameters"]
        last = body["messages"][-1]["role"]
        names = [] if "tool_choice" in body else [tool["name"] for tool in tools]
        return Asked(body["messages"], schema, "tool_choice" in body, names, last == "tool", body.get("logprobs", False), reasons)

    def reply(self, said: Said, asked: Asked, billed: Billed) -> dict[str, Any]:
        """Write a reply."""
        if said.finish == "refusal":
            return completion({"role": "assistant", "content": None, "refusal": said.text}, billed=billed)
        message = tool_call(said.text, said.calls) if said.calls else {"role": "assistant", "content": said.text}
        if said.thought:
            message["reasoning_content"] = said.thought
        found = completion(message, "tool_calls" if said.calls and not asked.by_tool else said.finish, billed)
        if asked.logprobs and not said.calls:
            tokens = re.findall(r"\w+|\W", said.text)
            found["choices"][0]["logprobs"] = {"content": [{"token": token, "logprob": -0.25, "bytes": None} for token in tokens]}
        return found

    def nothing(self) -> dict[str, Any]:
        """No choices."""
        return {"id": "x", "object": "chat.completion", "created": 0, "model": "fake", "choices": []}

    def error(self, status: int, message: str, code: str | None) -> dict[str, Any]:  # noqa: ARG002 - the same face for all
        """Write an error."""
        return {"error": {"message": message, "type": "fake", "code": code}}


def _closed(schema: Any) -> None:
    """OpenAI holds replies only to schemas that leave nothing open."""
    for part in [schema, *schema.get("$defs", {}).values()]:
        if part.get("type") == "object" and (
            part.get("additionalProperties") is not False or set(part["required"]) != set(part["properties"])
        ):
            raise BadRequestError("Invalid schema for response_format: additionalProperties is required to be false")


def _schema_in(text: str) -> dict[str, Any]:
    """The schema that a system message tells of."""
    found: dict[str, Any] = orjson.loads(text[text.index("{") :])
    return found


_ANTHROPIC: Final = "model max_tokens system messages temperature top_p thinking output_config tools tool_choice metadata stop_sequences"


class Anthropic:
    """Messages."""

    def asked(self, body: Any, request: web.Request | None) -> Asked:
        """Read a request; thinking goes with no temperature and no tool that has to be called."""
        _only(body, _ANTHROPIC)
        if request is not None and not (request.headers.get("x-api-key") and request.headers.get("anthropic-version")):
            raise BadRequestError("no key or no version")
        if not isinstance(body.get("max_tokens"), int):
            raise BadRequestError("max_tokens: Field required")
        roles = [message["role"] for message in body["messages"]]
        if roles[0] != "user" or any(one == other for one, other in itertools.pairwise(roles)):
            raise BadRequestError("messages: roles must alternate")
        thinking = body.get("thinking", {}).get("type") in {"enabled", "adaptive"}
        forced = body.get("tool_choice", {}).get("type") == "tool"
        if thinking and ("temperature" in body or forced):
            raise BadRequestError("thinking may not be enabled with temperature or when tool_choice forces tool use")
        if body.get("thinking", {}).get("budget_tokens", 0) >= body["max_tokens"]:
            raise BadRequestError("max_tokens must be greater than thinking.budget_tokens")
        schema = body.get("output_config", {}).get("format", {}).get("schema")
        tools = body.get("tools", ())
        if forced:
            schema = tools[0]["input_schema"]
        system = "".join(block["text"] for block in body.get("system", ()))
        if schema is None and "JSON schema" in system:
            schema = _schema_in(system)
        last = body["messages"][-1]["content"]
        after_tool = isinstance(last, list) and last[-1].get("type") == "tool_result"
        names = [] if forced else [tool["name"] for tool in tools]
        return Asked([system, *body["messages"]], schema, forced, names, after_tool, reasons=thinking)

    def reply(self, said: Said, asked: Asked, billed: Billed) -> dict[str, Any]:  # noqa: ARG002 - the same face for all
        """Write a reply; thoughts are signed."""
        thought = [{"type": "thinking", "thinking": said.thought, "signature": "c2lnbmVk"}] if said.thought else []
        arguments = _object(said.text) if said.calls else None
        if arguments is None:
            said_last: dict[str, Any] = {"type": "text", "text": said.text}
        else:
            said_last = {"type": "tool_use", "id": "toolu_1", "name": said.calls, "input": arguments}
        stopped = {"stop": "tool_use" if arguments is not None else "end_turn", "length": "max_tokens"}
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "fake",
            "content": [*thought, said_last],
            "stop_reason": stopped.get(said.finish, said.finish),
            "usage": {
                "input_tokens": billed.prompt - billed.cached,
                "cache_read_input_tokens": billed.cached,
                "cache_creation_input_tokens": 0,
                "output_tokens": billed.reply,
                "output_tokens_details": {"thinking_tokens": billed.reasoning},
            },
        }

    def nothing(self) -> dict[str, Any]:
        """No content at all."""
        return {"id": "msg_1", "type": "message", "role": "assistant"}

    def error(self, status: int, message: str, code: str | None) -> dict[str, Any]:
        """Write an error."""
        text = "Your credit balance is too low" if code == "insufficient_quota" else message
        return {"type": "error", "error": {"type": f"error_{status}", "message": text}}


_GOOGLE: Final = "contents systemInstruction generationConfig tools toolConfig safetySettings"
_GOOGLE_CONFIG: Final = (
    "maxOutputTokens temperature topP responseMimeType responseJsonSchema responseLogprobs thinkingConfig candidateCount stopSequences"
)


class Google:
    """generateContent."""

    def asked(self, body: Any, request: web.Request | None) -> Asked:
        """Read a request."""
        _only(body, _GOOGLE)
        config = body.get("generationConfig", {})
        _only(config, _GOOGLE_CONFIG)
        if request is not None and not request.headers.get("x-goog-api-key"):
            raise BadRequestError("API key not valid. Please pass a valid API key.")
        if not body["contents"] or any(content["role"] not in {"user", "model"} or not content["parts"] for content in body["contents"]):
            raise BadRequestError("contents.parts must not be empty.")
        declared = [tool for group in body.get("tools", ()) for tool in group["functionDeclarations"]]
        forced = body.get("toolConfig", {}).get("functionCallingConfig", {}).get("mode") == "ANY"
        system = "".join(part["text"] for part in body.get("systemInstruction", {}).get("parts", ()))
        schema = config.get("responseJsonSchema")
        if forced:
            schema = declared[0]["parametersJsonSchema"]
        elif schema is None and config.get("responseMimeType") == "application/json":
            schema = _schema_in(system)
        after_tool = "functionResponse" in body["contents"][-1]["parts"][-1]
        if after_tool and not body["contents"][-1]["parts"][-1]["functionResponse"]["name"]:
            raise BadRequestError("GenerateContentRequest.contents.parts.function_response.name: cannot be empty.")
        names = [] if forced else [tool["name"] for tool in declared]
        thinks = config.get("thinkingConfig", {}).get("includeThoughts", False)
        return Asked([system, *body["contents"]], schema, forced, names, after_tool, config.get("responseLogprobs", False), thinks)

    def reply(self, said: Said, asked: Asked, billed: Billed) -> dict[str, Any]:
        """Write a reply; Google filters where others refuse, and signs calls that were thought about."""
        if said.finish == "refusal":
            return {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": billed.prompt}}
        arguments = _object(said.text) if said.calls else None
        last: dict[str, Any] = {"text": said.text} if arguments is None else {"functionCall": {"name": said.calls, "args": arguments}}
        if said.thought:
            last["thoughtSignature"] = "c2lnbmVk"
        thought = [{"text": said.thought, "thought": True}] if said.thought else []
        candidate: dict[str, Any] = {
            "content": {"role": "model", "parts": [*thought, last]},
            "finishReason": {"stop": "STOP", "length": "MAX_TOKENS"}[said.finish],
        }
        if asked.logprobs and arguments is None:
            tokens = [{"token": token, "logProbability": -0.25} for token in re.findall(r"\w+|\W", said.text)]
            candidate["logprobsResult"] = {"chosenCandidates": tokens}
        return {
            "candidates": [candidate],
            "usageMetadata": {
                "promptTokenCount": billed.prompt,
                "cachedContentTokenCount": billed.cached,
                "candidatesTokenCount": billed.reply - billed.reasoning,
                "thoughtsTokenCount": billed.reasoning,
            },
        }

    def nothing(self) -> dict[str, Any]:
        """No candidates."""
        return {"usageMetadata": {}}

    def error(self, status: int, message: str, code: str | None) -> dict[str, Any]:
        """Write an error; with 429 it says in the body how long to wait."""
        details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.3s"}] if status == 429 else []
        return {"error": {"code": status, "message": message, "status": code or "FAKE", "details": details}}


class Bedrock:
    """Converse."""

    def asked(self, body: Any, request: web.Request | None) -> Asked:
        """Read a request: with a bearer token, or signed."""
        _only(body, "messages system inferenceConfig toolConfig additionalModelRequestFields")
        shown = request.headers.get("Authorization", "") if request is not None else "Bearer"
        if not shown.startswith(("Bearer ", "AWS4-HMAC-SHA256 ")):
            raise BadRequestError("Missing Authentication Token")
        config = body.get("toolConfig", {})
        tools = [tool["toolSpec"] for tool in config.get("tools", ())]
        forced = "toolChoice" in config
        system = "".join(block["text"] for block in body.get("system", ()))
        schema = tools[0]["inputSchema"]["json"] if forced else _schema_in(system) if "JSON schema" in system else None
        after_tool = "toolResult" in body["messages"][-1]["content"][-1]
        names = [] if forced else [tool["name"] for tool in tools]
        thinks = "thinking" in body.get("additionalModelRequestFields", {})
        return Asked([system, *body["messages"]], schema, forced, names, after_tool, reasons=thinks)

    def reply(self, said: Said, asked: Asked, billed: Billed) -> dict[str, Any]:  # noqa: ARG002 - the same face for all
        """Write a reply."""
        thought = [{"reasoningContent": {"reasoningText": {"text": said.thought, "signature": "c2lnbmVk"}}}] if said.thought else []
        arguments = _object(said.text) if said.calls else None
        last = {"text": said.text} if arguments is None else {"toolUse": {"toolUseId": "tooluse_1", "name": said.calls, "input": arguments}}
        stopped = {"stop": "tool_use" if arguments is not None else "end_turn", "length": "max_tokens", "refusal": "content_filtered"}
        return {
            "output": {"message": {"role": "assistant", "content": [*thought, last]}},
            "stopReason": stopped[said.finish],
            "usage": {"inputTokens": billed.prompt - billed.cached, "cacheReadInputTokens": billed.cached, "outputTokens": billed.reply},
        }

    def nothing(self) -> dict[str, Any]:
        """No output."""
        return {"stopReason": "end_turn"}

    def error(self, status: int, message: str, code: str | None) -> dict[str, Any]:  # noqa: ARG002 - the same face for all
        """Write an error."""
        return {"message": f"{code}: {message}" if code else message}


def _object(text: str) -> dict[str, Any] | None:
    """The object that the text is; None for broken JSON, which providers that give objects cannot show."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


DIALECTS: Final[Mapping[str, Dialect]] = {
    "/v1/chat/completions": OpenAI(),
    "/openai/deployments/{model}/chat/completions": OpenAI(),
    "/v1/messages": Anthropic(),
    "/v1beta/models/{model}:generateContent": Google(),
    "/model/{model}/converse": Bedrock(),
}
"""Path -> what is spoken there."""
