"""OpenAI's chat completions, strict where OpenAI is strict."""

from __future__ import annotations

import re
from typing import Any, Final

import orjson
from aiohttp import web

from tests.servers.dialects.dialect import Asked, BadRequestError, Billed, Said, only, schema_in


def _dumps(value: Any) -> str:
    return orjson.dumps(value).decode()


def tool_call(arguments: Any, name: str = "Answers") -> dict[str, Any]:
    """OpenAI's message that calls a tool."""
    text = arguments if isinstance(arguments, str) else _dumps(arguments)
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": text}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def form_of(body: Any) -> tuple[str, Any]:
    """The name and the JSON schema of the form that a request asks for, in whichever mode."""
    if "tools" in body:
        function = body["tools"][0]["function"]
        return function["name"], function["parameters"]
    held = body["response_format"]["json_schema"]
    return held["name"], held["schema"]


def completion(message: dict[str, Any], finish_reason: str | None = "stop", billed: Billed | None = None) -> dict[str, Any]:
    """OpenAI's completion, by default of 1,000 prompt and 100 completion tokens."""
    billed = billed or Billed()
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "fake-2026-01-01",
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
        only(body, _OPENAI)
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
            schema = schema_in(body["messages"][0]["content"])
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
        return {"id": "x", "object": "chat.completion", "created": 0, "model": "fake-2026-01-01", "choices": []}

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
