"""A local server that behaves like llama.cpp's: it states its slots, works on so many calls at once, and lets the others wait in a queue.

It takes no tool calls (a request for one is answered in prose), holds replies to a schema, and puts a fence around JSON that no schema
asks for. `speed` is how many tokens a second each slot writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

from tests.servers.dialects import OpenAI
from tests.servers.faults import answers
from tests.servers.serving import application, json_reply, served

_TOKENS_A_REPLY = 20
_BYTES_A_TOKEN = 4


@dataclass(slots=True, kw_only=True)
class LlamaServer:
    """What it can do, and what it was asked."""

    slots: int = 2
    context: int = 8192
    speed: float = 2_000.0
    """Tokens a second of each slot; a reply has 20."""
    name: str = "little"
    requests: list[dict[str, Any]] = field(default_factory=list)
    """Bodies of the requests for completions."""
    peak: int = 0
    """Most requests that were there at once."""
    _there: int = 0

    async def props(self, request: web.Request) -> web.Response:  # noqa: ARG002 - aiohttp's signature
        """GET /props."""
        return json_reply({"default_generation_settings": {"n_ctx": self.context}, "total_slots": self.slots})

    async def listed(self, request: web.Request) -> web.Response:  # noqa: ARG002 - aiohttp's signature
        """GET /v1/models."""
        return json_reply({"object": "list", "data": [{"id": self.name, "owned_by": "llamacpp"}]})

    async def complete(self, request: web.Request) -> web.Response:
        """POST /v1/chat/completions."""
        body = orjson.loads(await request.read())
        self.requests.append(body)
        tokens = sum(len(message["content"].encode()) for message in body["messages"]) // _BYTES_A_TOKEN
        if tokens > self.context:
            error = {
                "code": 400,
                "message": f"the request exceeds the available context size ({self.context})",
                "type": "exceed_context_size_error",
            }
            return web.json_response({"error": error}, status=400)
        self._there += 1
        self.peak = max(self.peak, self._there)
        try:
            async with request.app[_SLOTS]:
                await asyncio.sleep(_TOKENS_A_REPLY / self.speed)
        finally:
            self._there -= 1
        return json_reply(self._reply(body, tokens))

    def _reply(self, body: dict[str, Any], tokens: int) -> dict[str, Any]:
        kind = body.get("response_format", {}).get("type")
        text = "Certainly! Here is what I think of it."
        if kind == "json_schema":
            asked = OpenAI().asked(body, None)
            text = orjson.dumps(answers(asked)).decode()
        elif kind == "json_object":
            text = '```json\n{"red": "yes"'
        message = {"role": "assistant", "content": text}
        logprobs = {"content": [{"token": text, "logprob": -0.1}]} if body.get("logprobs") else None
        choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": logprobs}
        usage = {"prompt_tokens": max(1, tokens), "completion_tokens": _TOKENS_A_REPLY, "total_tokens": max(1, tokens) + _TOKENS_A_REPLY}
        return {"object": "chat.completion", "model": self.name, "choices": [choice], "usage": usage}


_SLOTS: web.AppKey[asyncio.Semaphore] = web.AppKey("slots", asyncio.Semaphore)


@contextmanager
def llama_server(server: LlamaServer) -> Iterator[str]:
    """Serve it on a thread of the test's process; gives its base URL."""
    app = application()
    app[_SLOTS] = asyncio.Semaphore(server.slots)
    app.router.add_get("/props", server.props)
    app.router.add_get("/v1/models", server.listed)
    app.router.add_post("/v1/chat/completions", server.complete)
    with served(app) as url:
        yield url
