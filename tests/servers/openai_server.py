"""A local server that speaks the OpenAI chat protocol and misbehaves on purpose; run as `python -m tests.servers.openai_server --port 0`.

It answers with a value that satisfies the tool's JSON schema. Each kind of fault hits a request by what it asks for:
`--fault KIND[:SHARE[:TIMES]]` gives that share (default 1) of the different prompts the fault, on their first TIMES (default 1) attempts.
Prints its port on the first line; `GET /stats` counts requests, answers, faults and how often each prompt was answered.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import hashlib
import itertools
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from email.utils import formatdate
from time import time
from typing import Any, NamedTuple

import orjson
from aiohttp import web

KINDS = (
    "429",
    "429-after",
    "429-date",
    "500",
    "401",
    "400",
    "quota",
    "hang",
    "cut",
    "empty",
    "html",
    "null",
    "no-choices",
    "prose",
    "wrong-keys",
    "missing",
    "not-allowed",
    "broken-json",
    "too-long",
    "refusal",
    "surrogate",
    "endless",
    "bomb",
    "brotli",
    "deep",
    "elsewhere",
    "here",
)


BATCH_FAULTS = ("batch-refused", "batch-cut", "content-endless", "content-bomb", "content-odd")


class Planned(NamedTuple):
    """A fault and whom it hits."""

    kind: str
    share: float
    times: int

    @classmethod
    def parse(cls, text: str) -> Planned:
        """Read `KIND[:SHARE[:TIMES]]`."""
        kind, share, times = (*text.split(":"), "1", "1")[:3] if ":" in text else (text, "1", "1")
        if kind not in KINDS:
            raise argparse.ArgumentTypeError(f"there is no fault {kind}: known are {', '.join(KINDS)}")
        return cls(kind, float(share), int(times))

    def hits(self, prompt: str) -> bool:
        """Whether that prompt is among the share."""
        return int(hashlib.sha256(f"{self.kind} {prompt}".encode()).hexdigest()[:8], 16) / 2**32 < self.share


class MisbehavingServer:
    """State of one server."""

    def __init__(
        self,
        faults: list[Planned],
        latency_s: float,
        options: frozenset[str] = frozenset(),
        *,
        says: str | None = None,
        bills: tuple[int, int] | None = None,
    ) -> None:
        self.faults = faults
        self.latency_s = latency_s
        self.attempts: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.faulted: Counter[str] = Counter()
        self.in_flight = self.peak = 0
        self.last_bodies: list[Any] = []
        self.options = options
        self.says, self.bills = says, bills
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}

    async def completions(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/chat/completions."""
        body = orjson.loads(await request.read())
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        self.last_bodies = [*self.last_bodies[-4:], body]
        try:
            return await self._answer(request, body)
        finally:
            self.in_flight -= 1

    async def _answer(self, request: web.Request, body: Any) -> web.StreamResponse:
        prompt = hashlib.sha256(orjson.dumps(body["messages"][:2])).hexdigest()[:16]  # a re-ask is another attempt at the same prompt
        self.attempts[prompt] += 1
        await asyncio.sleep(self.latency_s)
        for fault in self.faults:
            if fault.hits(prompt) and self.attempts[prompt] <= fault.times:
                self.faulted[fault.kind] += 1
                return await _misbehave(fault.kind, request, body)
        self.answered[prompt] += 1
        reply = completion(_said(body, self.says))
        if self.bills is not None:
            reply["usage"] = dict(zip(("prompt_tokens", "completion_tokens", "total_tokens"), (*self.bills, sum(self.bills)), strict=True))
        return web.json_response(reply, dumps=_dumps)

    async def upload(self, request: web.Request) -> web.Response:
        """POST /v1/files."""
        form = await request.post()
        uploaded: Any = form["file"]
        name = f"file-{len(self.files)}"
        self.files[name] = uploaded.file.read()
        return web.json_response({"id": name, "object": "file", "bytes": 0, "created_at": 0, "filename": "x", "purpose": "batch"})

    async def content(self, request: web.Request) -> web.StreamResponse:
        """GET /v1/files/{id}/content."""
        if "content-endless" in self.options:
            return await _stream(request, {}, itertools.repeat(b" " * 2**16))
        if "content-bomb" in self.options:
            return await _stream(request, {"Content-Encoding": "gzip"}, [BOMB])
        if "content-odd" in self.options:
            return web.Response(body=ODD_LINES + self.files[request.match_info["id"]])
        return web.Response(body=self.files[request.match_info["id"]])

    async def submit(self, request: web.Request) -> web.Response:
        """POST /v1/batches: answered at once, but said to be in progress when first asked about."""
        body = orjson.loads(await request.read())
        if "batch-refused" in self.options:
            return _error(400, "no batches today")
        replies = [self._batched(orjson.loads(line)) for line in self.files[body["input_file_id"]].splitlines()]
        name = f"batch-{len(self.batches)}"
        self.files[f"{name}-out"] = b"\n".join(orjson.dumps(reply) for reply in replies)
        self.batches[name] = {
            "id": name,
            "object": "batch",
            "created_at": 0,
            "completion_window": "24h",
            "endpoint": body["endpoint"],
            "input_file_id": body["input_file_id"],
            "status": "in_progress",
            "request_counts": {"total": len(replies), "completed": 0, "failed": 0},
            "metadata": body.get("metadata"),
        }
        if "batch-cut" in self.options and request.transport is not None:
            request.transport.abort()
        return web.json_response(self.batches[name])

    def _batched(self, line: Any) -> dict[str, Any]:
        body = line["body"]
        prompt = hashlib.sha256(orjson.dumps(body["messages"])).hexdigest()[:16]
        self.attempts[prompt] += 1
        for fault in self.faults:
            if self.attempts[prompt] <= fault.times and fault.hits(prompt):
                self.faulted[fault.kind] += 1
                if fault.kind in _REPLIES:
                    return {"custom_id": line["custom_id"], "response": {"status_code": 200, "body": _REPLIES[fault.kind](body)}}
                return {"custom_id": line["custom_id"], "response": None, "error": {"code": fault.kind, "message": "internal"}}
        self.answered[prompt] += 1
        return {"custom_id": line["custom_id"], "response": {"status_code": 200, "body": completion(tool_call(answers(body)))}}

    async def batch(self, request: web.Request) -> web.Response:
        """GET /v1/batches/{id}: done from the second look on."""
        found = self.batches[request.match_info["id"]]
        told = dict(found)
        total = found["request_counts"]["total"]
        found.update(
            status="completed",
            output_file_id=f"{found['id']}-out",
            request_counts={"total": total, "completed": total, "failed": 0},
        )
        return web.json_response(told)

    async def all_batches(self, request: web.Request) -> web.Response:  # noqa: ARG002 - aiohttp's signature
        """GET /v1/batches."""
        return web.json_response({"object": "list", "data": list(self.batches.values()), "has_more": False})

    async def stats(self, request: web.Request) -> web.Response:  # noqa: ARG002 - aiohttp's signature
        """GET /stats."""
        return web.json_response(
            {
                "requests": self.attempts.total(),
                "answers": self.answered.total(),
                "prompts": len(self.attempts),
                "answered": dict(self.answered),
                "faults": dict(self.faulted),
                "peak": self.peak,
                "last_bodies": self.last_bodies,
            },
            dumps=_dumps,
        )


def _said(body: Any, says: str | None) -> dict[str, Any]:
    """The form filled in where one must be; where tools may be used, a call of the first, and after its result text."""
    if "tool_choice" in body:
        return tool_call(answers(body, says=says))
    if "tools" in body and body["messages"][-1]["role"] != "tool":
        return tool_call({}, name=body["tools"][0]["function"]["name"])
    return {"role": "assistant", "content": says or "Action: C"}


def answers(body: Any, *, says: str | None = None) -> dict[str, Any]:
    """A value for the tool's schema: for every question a reason and one of its answers, the same for the same prompt; or what is said."""
    schema = body["tools"][0]["function"]["parameters"]
    seed = int(hashlib.sha256(orjson.dumps(body["messages"])).hexdigest()[:8], 16)
    found: dict[str, Any] = {}
    for number, (name, field) in enumerate(schema["properties"].items()):
        kind = schema["$defs"][re.sub(r".*/", "", field["$ref"] if "$ref" in field else field["allOf"][0]["$ref"])]
        found[name] = {"reason": "the evidence says so", "answer": says or _chosen(kind["properties"]["answer"], seed + number)}
    return found


def _chosen(answer: dict[str, Any], number: int) -> str | list[str]:
    """One of the allowed answers; where several may be given, any choice of them."""
    if "enum" in answer:
        allowed: list[str] = answer["enum"]
        return allowed[number % len(allowed)]
    return [one for place, one in enumerate(answer["items"]["enum"]) if number >> place & 1]


def tool_call(arguments: Any, name: str = "Answers") -> dict[str, Any]:
    """An assistant message that calls the tool."""
    text = arguments if isinstance(arguments, str) else _dumps(arguments)
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": text}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def completion(message: dict[str, Any], finish_reason: str = "stop") -> dict[str, Any]:
    """A chat completion of 1,000 prompt and 100 completion tokens."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
    }


def _error(status: int, message: str, headers: dict[str, str] | None = None, code: str | None = None) -> web.Response:
    return web.json_response({"error": {"message": message, "type": "fake", "code": code}}, status=status, headers=headers)


def _no_first_question(body: Any) -> dict[str, Any]:
    return dict(list(answers(body).items())[1:])


def _not_allowed(body: Any) -> dict[str, Any]:
    return {name: {**answer, "answer": "perhaps"} for name, answer in answers(body).items()}


_REPLIES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "prose": lambda body: completion(
        {"role": "assistant", "content": f"Gladly! Here is my verdict:\n```json\n{_dumps(answers(body))}\n```\nAnything else?"}
    ),
    "wrong-keys": lambda body: completion(tool_call({f"x{name}": answer for name, answer in answers(body).items()})),
    "missing": lambda body: completion(tool_call(_no_first_question(body))),
    "not-allowed": lambda body: completion(tool_call(_not_allowed(body))),
    "broken-json": lambda body: completion(tool_call(_dumps(answers(body))[:-20])),
    "too-long": lambda body: completion(tool_call(_dumps(answers(body))[:30]), finish_reason="length"),
    "refusal": lambda _: completion({"role": "assistant", "content": None, "refusal": "I cannot judge this."}),
    "no-choices": lambda _: {"id": "x", "object": "chat.completion", "created": 0, "model": "fake", "choices": []},
}

BOMB = gzip.compress(bytes(200 * 2**20))
"""200 MiB in 200 KB."""

ODD_LINES = b"\n".join([b"[" * 2000, b"null", b"{}", b'{"custom_id": "-1"}', b'{"custom_id": "999"}', b"\xff", b'{"custom_id": []}', b""])
"""Lines that are replies to nothing."""

_PACKED = {"bomb": "gzip", "brotli": "br"}

_REDIRECTS: dict[str, Callable[[web.Request], web.HTTPException]] = {
    "elsewhere": lambda request: web.HTTPTemporaryRedirect(f"http://localhost:{request.url.port}{request.path}"),
    "here": lambda request: web.HTTPTemporaryRedirect(request.path),
}

_HALF_A_PAIR = rb'{"choices": [{"message": {"role": "assistant", "content": "fine \ud83d done"}, "finish_reason": "stop"}]}'

_ERRORS: dict[str, Callable[[], web.Response]] = {
    "429": lambda: _error(429, "slow down"),
    "429-after": lambda: _error(429, "slow down", {"Retry-After": "1"}),
    "429-date": lambda: _error(429, "slow down", {"Retry-After": formatdate(time() + 1.5, usegmt=True)}),
    "500": lambda: _error(500, "internal"),
    "401": lambda: _error(401, "no such key"),
    "400": lambda: _error(400, "unsupported parameter"),
    "quota": lambda: _error(429, "you exceeded your quota", code="insufficient_quota"),
    "empty": lambda: web.Response(body=b"", content_type="application/json"),
    "html": lambda: web.Response(text="<html>gateway</html>", content_type="text/html"),
    "deep": lambda: web.Response(body=b"[" * 500_000, content_type="application/json"),
    "null": lambda: web.Response(body=b"null", content_type="application/json"),
    "surrogate": lambda: web.Response(body=_HALF_A_PAIR, content_type="application/json"),
}


async def _misbehave(kind: str, request: web.Request, body: Any) -> web.StreamResponse:
    if kind in _ERRORS:
        return _ERRORS[kind]()
    if kind in _REPLIES:
        return web.json_response(_REPLIES[kind](body), dumps=_dumps)
    if kind in _REDIRECTS:
        raise _REDIRECTS[kind](request)
    if kind == "hang":
        await asyncio.sleep(3600)
    if kind == "endless":
        return await _stream(request, {}, itertools.repeat(b" " * 2**16))
    if kind in _PACKED:
        return await _stream(request, {"Content-Encoding": _PACKED[kind]}, [BOMB])
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "5000"})
    await response.prepare(request)
    await response.write(b'{"id": "chatcmpl-1", "choices": [')
    assert request.transport is not None
    request.transport.abort()
    return response


async def _stream(request: web.Request, headers: dict[str, str], chunks: Iterable[bytes]) -> web.StreamResponse:
    """A body without end, or one that grows when it is unpacked; the client may close the connection."""
    response = web.StreamResponse(headers={"Content-Type": "application/json", **headers})
    await response.prepare(request)
    with contextlib.suppress(ConnectionError):
        for chunk in chunks:
            await response.write(chunk)
        await response.write_eof()
    return response


def _dumps(value: Any) -> str:
    return orjson.dumps(value).decode()


async def _serve(port: int, server: MisbehavingServer) -> None:
    app = web.Application(client_max_size=64 * 2**20)
    app.router.add_post("/v1/chat/completions", server.completions)
    app.router.add_post("/v1/files", server.upload)
    app.router.add_get("/v1/files/{id}/content", server.content)
    app.router.add_post("/v1/batches", server.submit)
    app.router.add_get("/v1/batches", server.all_batches)
    app.router.add_get("/v1/batches/{id}", server.batch)
    app.router.add_get("/stats", server.stats)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, backlog=1024)
    await site.start()
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--fault", type=Planned.parse, action="append", default=[])
    parser.add_argument("--batches", choices=BATCH_FAULTS, action="append", default=[])
    parser.add_argument("--says", help="answer every question with this text")
    parser.add_argument("--bills", type=int, nargs=2, metavar=("IN", "OUT"), help="tokens that every answer is said to have taken")
    given = parser.parse_args()
    server = MisbehavingServer(given.fault, given.latency_ms / 1000, frozenset(given.batches), says=given.says, bills=given.bills)
    asyncio.run(_serve(given.port, server))


if __name__ == "__main__":
    main()
