"""Amazon Bedrock's Converse, through its client for asyncio (aiobotocore).

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html. The key is a bearer token, or each request is signed. The
client builds, signs and reads; `providers.wire` sends, in place of the client's own HTTP (the event `before-send`).
"""

import asyncio
import os
from types import SimpleNamespace
from typing import Any, ClassVar, Final

import instructor.v2.providers.bedrock.handlers  # noqa: F401 - registers the modes
import orjson
from aiobotocore.awsrequest import AioAWSResponse
from aiobotocore.config import AioConfig
from aiobotocore.session import get_session
from botocore import UNSIGNED
from instructor import AsyncInstructor, Provider
from instructor import Mode as TheirMode
from instructor.v2.core.patch import patch_v2

from providers.clients.client import HOOKS, Client, Gated, arguments_of, called, given, merged, unchanged
from providers.faults import Fault
from providers.forms import ChatRequest, Form, system_text
from providers.provider import ModelSettings, address_of, key_in
from providers.wire import Turn
from schemas.chat.messages import Completion, Message, Tokens, UnreadableError, counted
from schemas.common.errors import UsageError
from schemas.common.text import use_secret

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


def _by_schema(form: Form, kwargs: dict[str, Any]) -> dict[str, Any]:
    schema = {"name": form.tool.name, "schema": orjson.dumps(form.closed_schema).decode()}
    return kwargs | {"outputConfig": {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": schema}}}}


class Connected(Client):
    """Converse."""

    ways: ClassVar = {
        "tools": Gated(Provider.BEDROCK, TheirMode.TOOLS),
        "json_schema": Gated(Provider.BEDROCK, TheirMode.JSON_SCHEMA, _by_schema),
        "json": Gated(Provider.BEDROCK, TheirMode.MD_JSON, unchanged),
    }

    def __init__(self, settings: ModelSettings, turn: Turn) -> None:
        super().__init__(settings, turn)
        self._token = key_in(settings.key_variable or _TOKEN)
        self._region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or _REGION
        self._address = (address_of(settings) or f"https://bedrock-runtime.{self._region}.amazonaws.com").rstrip("/")
        self._opening = asyncio.Lock()
        self._sdk: Any = None
        if self._token is None:
            _see_credentials()

    def _patched(self, mode: TheirMode) -> AsyncInstructor:
        """Made as `instructor.from_bedrock` does, whose calls would block the event loop."""
        create: Any = patch_v2(func=self._converse, provider=Provider.BEDROCK, mode=mode)
        return AsyncInstructor(client=None, create=create, provider=Provider.BEDROCK, mode=mode, hooks=HOOKS)

    async def _converse(self, **kwargs: Any) -> Any:
        async with self._opening:
            if self._sdk is None:
                config = AioConfig(retries={"total_max_attempts": 1}, **({"signature_version": UNSIGNED} if self._token else {}))
                made = get_session().create_client("bedrock-runtime", self._region, endpoint_url=self._address, config=config)
                self._sdk = await made.__aenter__()
                self._sdk.meta.events.register("before-send.bedrock-runtime.Converse", self._send)
        return await self._sdk.converse(**kwargs)

    async def _send(self, request: Any, **_more: object) -> AioAWSResponse:
        headers = {name: value.decode() if isinstance(value, bytes) else value for name, value in request.headers.items()}
        headers |= dict(self._settings.headers) | ({"Authorization": f"Bearer {self._token}"} if self._token else {})
        body = request.body.encode() if isinstance(request.body, str) else bytes(request.body)
        found = await self._http.request(request.method, request.url, headers=headers, content=body)
        if not found.content.lstrip().startswith(b"{"):
            raise Fault("the reply is not a message", came=True)
        return AioAWSResponse(request.url, found.status_code, dict(found.headers), SimpleNamespace(read=found.aread))

    def arguments(self, request: ChatRequest) -> dict[str, Any]:
        """The arguments of `create`."""
        settings, system = self._settings, system_text(request.with_wish)
        specs = [{"name": tool.name, "description": tool.description, "inputSchema": {"json": tool.parameters}} for tool in request.tools]
        tools = [{"toolSpec": spec} for spec in specs]
        thinking = {"thinking": {"type": "enabled", "budget_tokens": settings.reasoning_tokens}}
        more = ({} if settings.reasoning_effort in {None, "none"} else thinking) | dict(settings.request_fields)
        inference = {"maxTokens": request.limit, "topP": settings.top_p}
        if "temperature" not in request.refused:
            inference["temperature"] = settings.sampling_temperature
        found = {
            "modelId": settings.model_name,
            "messages": merged(request.messages, _blocks, assistant="assistant", content="content"),
            "system": [{"text": system}] if system else None,
            "inferenceConfig": given(inference),
            "toolConfig": {"tools": tools} if tools else None,
            "additionalModelRequestFields": more or None,
        }
        return given(found)

    async def close(self) -> None:
        """Close the connections."""
        if self._sdk is not None:
            await self._sdk.close()
        await super().close()


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


def _blocks(message: Message) -> list[Any]:
    if "tool_call_id" in message:
        return [{"toolResult": {"toolUseId": message["tool_call_id"], "content": [{"text": message["content"]}]}}]
    text = [{"text": message["content"]}] if message["content"] else []
    calls = [{"toolUse": {"toolUseId": call.id, "name": call.name, "input": arguments_of(call)}} for call in message.get("tool_calls", ())]
    return text + calls


def completion_of(response: Any) -> Completion:
    """A reply in the common form.

    Raises:
        UnreadableError: it is not a reply.
    """
    content = ((response.get("output") or {}).get("message") or {}).get("content") if isinstance(response, dict) else None
    if not isinstance(content, list):
        raise UnreadableError("the reply is not a message: it has no output")
    uses, thoughts = ([block[name] for block in content if isinstance(block.get(name), dict)] for name in ("toolUse", "reasoningContent"))
    texts = [thought["reasoningText"] for thought in thoughts if isinstance(thought.get("reasoningText"), dict)]
    stopped = response.get("stopReason")
    return Completion(
        text="".join(block["text"] for block in content if isinstance(block.get("text"), str)),
        finish_reason=_STOPPED.get(stopped, stopped) if isinstance(stopped, str) else None,
        tokens=_tokens(response.get("usage")),
        reasoning="".join(str(text.get("text") or "") for text in texts),
        tool_calls=tuple(called(use.get("toolUseId"), use.get("name"), use.get("input")) for use in uses),
        echo=content if thoughts else None,
    )


def _tokens(usage: Any) -> Tokens:
    read, written = counted(usage, "cacheReadInputTokens"), counted(usage, "cacheWriteInputTokens")
    prompt = counted(usage, "inputTokens") + read + written
    output = max(counted(usage, "outputTokens"), counted(usage, "totalTokens") - prompt)
    return Tokens(prompt, output, read, written)
