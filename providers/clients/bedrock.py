"""Amazon Bedrock's Converse, through its client for asyncio (aiobotocore).

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html. The key is a bearer token, or each request is signed. The
client builds, signs and reads; our wire sends, in place of the client's own HTTP (the event `before-send`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

import instructor
import instructor.v2.providers.bedrock.handlers  # registers the modes
import orjson
from aiobotocore.awsrequest import AioAWSResponse
from aiobotocore.config import AioConfig
from aiobotocore.session import AioSession, get_session
from botocore import UNSIGNED
from instructor import AsyncInstructor
from instructor.processing.schema import generate_openai_schema
from instructor.v2.core.patch import patch_v2
from pydantic import BaseModel

from providers.clients.client import Sheet, Turn, arguments_of, merged, system_text
from providers.clients.gate import HOOKS, gated, json_wish
from providers.faults import Fault
from providers.messages import NO_TOKENS, Completion, Message, Tokens, ToolCall, UnreadableError, counted
from providers.provider import Mode, ModelSettings, address_of, key_in
from providers.wire import Wire
from schemas.errors import UsageError
from schemas.secrets import use_secret

__all__ = ["Connected", "completion_of"]

_STOPPED: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
}
_REGION: Final = "us-east-1"
_TOKEN: Final = "AWS_BEARER_TOKEN_BEDROCK"  # noqa: S105 - its name


@cache
def _tool(model: type[BaseModel]) -> dict[str, Any]:
    found = generate_openai_schema(model)
    return _config([{"name": found["name"], "description": found["description"], "parameters": found["parameters"]}]) | {
        "toolChoice": {"tool": {"name": found["name"]}}
    }


def _config(tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "tools": [
            {"toolSpec": {"name": tool["name"], "description": tool["description"], "inputSchema": {"json": tool["parameters"]}}}
            for tool in tools
        ]
    }


def _by_tool(model: type[BaseModel] | None, kwargs: dict[str, Any]) -> dict[str, Any]:
    return kwargs if model is None else kwargs | {"toolConfig": _tool(model)}


def _in_json(model: type[BaseModel] | None, kwargs: dict[str, Any]) -> dict[str, Any]:
    if model is None:
        return kwargs
    head = "\n\n".join(block["text"] for block in kwargs.get("system", ()))
    return kwargs | {"system": [{"text": json_wish(head, model.model_json_schema())}]}


gated(instructor.Provider.BEDROCK, instructor.Mode.TOOLS, _by_tool)
gated(instructor.Provider.BEDROCK, instructor.Mode.MD_JSON, _in_json)


class Connected:
    """Converse."""

    modes: Sequence[Mode] = ("tools", "json")

    def __init__(self, settings: ModelSettings, turn: Turn) -> None:
        self._settings = settings
        self._wire = Wire(settings, turn)
        self._token = key_in(settings.key_variable or _TOKEN)
        self._region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or _REGION
        self._address = (address_of(settings) or f"https://bedrock-runtime.{self._region}.amazonaws.com").rstrip("/")
        self._opened: Any = None
        if self._token is None:
            _see_credentials()
        self._by_mode: dict[instructor.Mode, AsyncInstructor] = {}

    def instructor(self, mode: Mode) -> AsyncInstructor:
        """The client that asks for forms in that way, made as `instructor.from_bedrock` does, whose calls would hold the event loop."""
        theirs = instructor.Mode.TOOLS if mode == "tools" else instructor.Mode.MD_JSON
        if theirs not in self._by_mode:
            provider = instructor.Provider.BEDROCK
            create: Any = patch_v2(func=self._converse, provider=provider, mode=theirs)
            self._by_mode[theirs] = AsyncInstructor(client=None, create=create, provider=provider, mode=theirs, hooks=HOOKS)
        return self._by_mode[theirs]

    async def _converse(self, **kwargs: Any) -> Any:
        if self._opened is None:
            self._opened = self._client(get_session())
        client = await self._opened if not hasattr(self._opened, "converse") else self._opened
        self._opened = client
        return await client.converse(**kwargs)

    async def _client(self, session: AioSession) -> Any:
        config = AioConfig(retries={"total_max_attempts": 1}, **({"signature_version": UNSIGNED} if self._token else {}))
        client = await session.create_client(
            "bedrock-runtime", region_name=self._region, endpoint_url=self._address, config=config
        ).__aenter__()
        client.meta.events.register("before-send.bedrock-runtime.Converse", self._send)
        return client

    async def _send(self, request: Any, **_more: object) -> AioAWSResponse:
        headers = {name: value.decode() if isinstance(value, bytes) else value for name, value in request.headers.items()}
        headers |= dict(self._settings.headers) | ({"Authorization": f"Bearer {self._token}"} if self._token else {})
        body = request.body.encode() if isinstance(request.body, str) else bytes(request.body)
        found = await self._wire.send(request.method, request.url, headers, body)
        if not found.body.lstrip().startswith(b"{"):
            raise Fault("the reply is no message", status=None, retry_after_s=None, again=True, came=True)
        return AioAWSResponse(request.url, found.status, dict(found.headers), _Whole(found.body))

    def arguments(self, sheet: Sheet) -> dict[str, Any]:
        """What `create` is called with."""
        settings, system = self._settings, system_text(sheet.messages)
        inference = {"maxTokens": sheet.room * settings.limit, "temperature": settings.sampling_temperature, "topP": settings.top_p}
        more = _thinking(settings) | dict(settings.request_fields)
        found = {
            "modelId": settings.model_name,
            "messages": merged(sheet.messages, _blocks, assistant="assistant", content="content"),
            "system": [{"text": system}] if system else None,
            "inferenceConfig": {
                name: value
                for name, value in inference.items()
                if value is not None and (name != "temperature" or name not in sheet.refused)
            },
            "toolConfig": _config([tool._asdict() for tool in sheet.tools]) if sheet.tools else None,
            "additionalModelRequestFields": more or None,
        }
        return {name: value for name, value in found.items() if value is not None}

    def completion(self, response: Any) -> Completion:
        """A reply in plain words."""
        return completion_of(response)

    async def close(self) -> None:
        """Close the connections."""
        if hasattr(self._opened, "converse"):
            await self._opened.close()
        await self._wire.aclose()


class _Whole:
    """A body that has come, as the client reads one."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def read(self) -> bytes:
        return self._body


def _see_credentials() -> None:
    """See that there is something to sign with.

    Raises:
        UsageError: there is nothing.
    """
    from botocore.session import get_session as session

    found = session().get_credentials()
    if found is None:
        raise UsageError(f"bedrock/ needs credentials: set {_TOKEN}, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")
    for secret in found.get_frozen_credentials():
        use_secret(secret)


def _thinking(settings: ModelSettings) -> dict[str, Any]:
    if settings.reasoning_effort in {None, "none"}:
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": settings.reasoning_room}}


def _blocks(message: Message) -> list[Any]:
    if message.get("echo") is not None:
        return list(message["echo"])
    if "tool_call_id" in message:
        return [{"toolResult": {"toolUseId": message["tool_call_id"], "content": [{"text": message["content"]}]}}]
    text = [{"text": message["content"]}] if message["content"] else []
    calls = [{"toolUse": {"toolUseId": call.id, "name": call.name, "input": arguments_of(call)}} for call in message.get("tool_calls", ())]
    return text + calls


def completion_of(response: Any) -> Completion:
    """A reply.

    Raises:
        UnreadableError: it is none.
    """
    content = ((response.get("output") or {}).get("message") or {}).get("content") if isinstance(response, dict) else None
    if not isinstance(content, list):
        raise UnreadableError("the reply is no message: it has no output")
    uses = [block["toolUse"] for block in content if isinstance(block.get("toolUse"), dict)]
    calls = tuple(ToolCall(str(use.get("toolUseId")), str(use.get("name")), orjson.dumps(use.get("input") or {}).decode()) for use in uses)
    thoughts = [block["reasoningContent"] for block in content if isinstance(block.get("reasoningContent"), dict)]
    stopped = response.get("stopReason")
    return Completion(
        text="".join(block["text"] for block in content if isinstance(block.get("text"), str)),
        finish_reason=_STOPPED.get(stopped, stopped) if isinstance(stopped, str) else None,
        tokens=_tokens(response.get("usage")),
        reasoning="".join(_thought(thought) for thought in thoughts),
        tool_calls=calls,
        echo=content if thoughts else None,
    )


def _thought(content: Mapping[str, Any]) -> str:
    found = content.get("reasoningText")
    return str(found.get("text") or "") if isinstance(found, dict) else ""


def _tokens(usage: Any) -> Tokens:
    if not isinstance(usage, dict):
        return NO_TOKENS
    read, written = counted(usage.get("cacheReadInputTokens")), counted(usage.get("cacheWriteInputTokens"))
    prompt = counted(usage.get("inputTokens")) + read + written
    output = max(counted(usage.get("outputTokens")), counted(usage.get("totalTokens")) - prompt)
    return Tokens(prompt, output, read, written)
