"""Amazon Bedrock's Converse."""

from __future__ import annotations

from typing import Any

import orjson
from aiohttp import web

from tests.servers.dialects.dialect import Asked, BadRequestError, Billed, Said, object_of, only, schema_in


class Bedrock:
    """Converse."""

    def asked(self, body: Any, request: web.Request | None) -> Asked:
        """Read a request: with a bearer token, or signed."""
        only(body, "messages system inferenceConfig toolConfig outputConfig additionalModelRequestFields")
        shown = request.headers.get("Authorization", "") if request is not None else "Bearer"
        if not shown.startswith(("Bearer ", "AWS4-HMAC-SHA256 ")):
            raise BadRequestError("Missing Authentication Token")
        config = body.get("toolConfig", {})
        tools = [tool["toolSpec"] for tool in config.get("tools", ())]
        forced = "toolChoice" in config
        system = "".join(block["text"] for block in body.get("system", ()))
        schema = tools[0]["inputSchema"]["json"] if forced else schema_in(system) if "JSON schema" in system else None
        if "outputConfig" in body:
            schema = orjson.loads(body["outputConfig"]["textFormat"]["structure"]["jsonSchema"]["schema"])
        after_tool = "toolResult" in body["messages"][-1]["content"][-1]
        names = [] if forced else [tool["name"] for tool in tools]
        thinks = "thinking" in body.get("additionalModelRequestFields", {})
        return Asked([system, *body["messages"]], schema, forced, names, after_tool, reasons=thinks)

    def reply(self, said: Said, asked: Asked, billed: Billed) -> dict[str, Any]:  # noqa: ARG002 - the same face for all
        """Write a reply."""
        thought = [{"reasoningContent": {"reasoningText": {"text": said.thought, "signature": "c2lnbmVk"}}}] if said.thought else []
        arguments = object_of(said.text) if said.calls else None
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
