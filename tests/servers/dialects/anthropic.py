"""Anthropic's messages, strict where Anthropic is strict."""

from __future__ import annotations

import itertools
from typing import Any, Final

from aiohttp import web

from tests.servers.dialects.dialect import Asked, BadRequestError, Billed, Said, object_of, only, schema_in

_ANTHROPIC: Final = "model max_tokens system messages temperature top_p thinking output_config tools tool_choice metadata stop_sequences"


class Anthropic:
    """Messages."""

    def asked(self, body: Any, request: web.Request | None) -> Asked:
        """Read a request; thinking goes with no temperature and no tool that has to be called."""
        only(body, _ANTHROPIC)
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
            schema = schema_in(system)
        last = body["messages"][-1]["content"]
        after_tool = isinstance(last, list) and last[-1].get("type") == "tool_result"
        names = [] if forced else [tool["name"] for tool in tools]
        return Asked([system, *body["messages"]], schema, forced, names, after_tool, reasons=thinking)

    def reply(self, said: Said, asked: Asked, billed: Billed) -> dict[str, Any]:  # noqa: ARG002 - the same face for all
        """Write a reply; thoughts are signed."""
        thought = [{"type": "thinking", "thinking": said.thought, "signature": "c2lnbmVk"}] if said.thought else []
        arguments = object_of(said.text) if said.calls else None
        if arguments is None:
            said_last: dict[str, Any] = {"type": "text", "text": said.text}
        else:
            said_last = {"type": "tool_use", "id": "toolu_1", "name": said.calls, "input": arguments}
        stopped = {"stop": "tool_use" if arguments is not None else "end_turn", "length": "max_tokens"}
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "fake-2026-01-01",
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
