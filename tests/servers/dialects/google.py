"""Google's generateContent."""

from __future__ import annotations

import re
from typing import Any, Final

from aiohttp import web

from tests.servers.dialects.dialect import Asked, BadRequestError, Billed, Said, object_of, only, schema_in

_GOOGLE: Final = "contents systemInstruction generationConfig tools toolConfig safetySettings"
_GOOGLE_CONFIG: Final = (
    "maxOutputTokens temperature topP responseMimeType responseJsonSchema responseLogprobs thinkingConfig candidateCount stopSequences"
)


class Google:
    """generateContent."""

    def asked(self, body: Any, request: web.Request | None) -> Asked:
        """Read a request."""
        only(body, _GOOGLE)
        config = body.get("generationConfig", {})
        only(config, _GOOGLE_CONFIG)
        if request is not None and not request.headers.get("x-goog-api-key"):
            raise BadRequestError("API key not valid. Please pass a valid API key.")
        if not body["contents"] or any(content["role"] not in {"user", "model"} or not content["parts"] for content in body["contents"]):
            raise BadRequestError("contents.parts must not be empty.")
        declared = [tool for group in body.get("tools", ()) for tool in group["functionDeclarations"]]
        forced = body.get("toolConfig", {}).get("functionCallingConfig", {}).get("mode") == "ANY"
        system = "".join(part["text"] for part in body.get("systemInstruction", {}).get("parts", ()))
        schema = config.get("responseJsonSchema")
        if forced:
            schema = declared[0].get("parametersJsonSchema") or declared[0]["parameters_json_schema"]  # Google takes both spellings
        elif schema is None and config.get("responseMimeType") == "application/json":
            schema = schema_in(system)
        after_tool = "functionResponse" in body["contents"][-1]["parts"][-1]
        if after_tool and not body["contents"][-1]["parts"][-1]["functionResponse"]["name"]:
            raise BadRequestError("GenerateContentRequest.contents.parts.function_response.name: cannot be empty.")
        names = [] if forced else [tool["name"] for tool in declared]
        thinking = config.get("thinkingConfig", {})
        thinks = thinking.get("includeThoughts", thinking.get("include_thoughts", False))
        return Asked([system, *body["contents"]], schema, forced, names, after_tool, config.get("responseLogprobs", False), thinks)

    def reply(self, said: Said, asked: Asked, billed: Billed) -> dict[str, Any]:
        """Write a reply; Google filters where others refuse, and signs calls that were thought about."""
        if said.finish == "refusal":
            return {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": billed.prompt}}
        arguments = object_of(said.text) if said.calls else None
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
            "modelVersion": "fake-2026-01-01",
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
