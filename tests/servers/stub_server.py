"""A local server that speaks the protocols of OpenAI, Anthropic, Google and Bedrock, and misbehaves on purpose.

`stub_server(...)` serves it to a test, `python -m tests.servers.stub_server --port 0` to other processes (the port is its first line).
It fills in the form that it is asked for, calls the first tool that it may call, or says a line of text. Each kind of fault
(`tests.servers.faults`) hits a request by what it asks for: `--fault KIND[:SHARE[:TIMES]]` gives that share (default 1) of the different
prompts the fault, on their first TIMES (default 1) attempts. `GET /stats` counts requests, answers, faults and how often each prompt was
answered.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import itertools
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import orjson
from aiohttp import web

from tests.servers.batches import BatchServer
from tests.servers.dialects import DIALECTS, Asked, BadRequestError, Billed, Dialect, OpenAI, Said
from tests.servers.faults import ODD_LINES, REPLIES, Planned, answers, bomb, misbehave, stream
from tests.servers.serving import application, json_reply, serve_until_killed, served

BATCH_FAULTS = ("batch-refused", "batch-cut", "content-endless", "content-bomb", "content-odd")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_OPENAI = OpenAI()


class MisbehavingServer(BatchServer):
    """State of one server."""

    def __init__(
        self,
        faults: list[Planned],
        latency_s: float,
        options: frozenset[str] = frozenset(),
        *,
        says: str | None = None,
        billed: Billed | None = None,
    ) -> None:
        super().__init__()
        self.faults = faults
        self.latency_s = latency_s
        self.attempts: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.faulted: Counter[str] = Counter()
        self.in_flight = self.peak = 0
        self.last_bodies: list[Any] = []
        self.options = options
        self.says, self.billed = says, billed or Billed()
        self.last_requests: list[dict[str, Any]] = []

    def route(self, dialect: Dialect) -> Handler:
        """What answers requests in that protocol."""

        async def answer(request: web.Request) -> web.StreamResponse:
            body = orjson.loads(await request.read())
            self.in_flight += 1
            self.peak = max(self.peak, self.in_flight)
            self.last_bodies = [*self.last_bodies[-4:], body]
            headers = {name.lower(): value for name, value in request.headers.items()}
            self.last_requests = [*self.last_requests[-4:], {"path": request.path_qs, "headers": headers}]
            try:
                return await self._answer(request, dialect, body)
            finally:
                self.in_flight -= 1

        return answer

    async def _answer(self, request: web.Request, dialect: Dialect, body: Any) -> web.StreamResponse:
        try:
            asked = dialect.asked(body, request)
        except (BadRequestError, KeyError, TypeError) as error:
            self.attempts["bad"] += 1
            return web.json_response(dialect.error(400, str(error) or type(error).__name__, None), status=400)
        prompt = hashlib.sha256(orjson.dumps(asked.messages[:2])).hexdigest()[:16]  # a re-ask is another attempt at the same prompt
        self.attempts[prompt] += 1
        await asyncio.sleep(self.latency_s)
        for fault in self.faults:
            if fault.hits(prompt) and self.attempts[prompt] <= fault.times:
                self.faulted[fault.kind] += 1
                return await misbehave(fault.kind, request, dialect, asked)
        self.answered[prompt] += 1
        reply = dialect.reply(self._said(asked), asked, self.billed)
        return json_reply(reply)

    def _said(self, asked: Asked) -> Said:
        """The form filled in where one must be; where tools may be used, a call of the first, and after its result text."""
        thought = "It seems clear." if asked.reasons else ""
        if asked.schema is not None:
            return _filled(asked, self.says)._replace(thought=thought)
        if asked.tools and not asked.after_tool:
            return Said("{}", calls=asked.tools[0], thought=thought)
        return Said(self.says or "Action: C", thought=thought)

    async def content(self, request: web.Request) -> web.StreamResponse:
        """GET /v1/files/{id}/content."""
        if "content-endless" in self.options:
            return await stream(request, {}, itertools.repeat(b" " * 2**16))
        if "content-bomb" in self.options:
            return await stream(request, {"Content-Encoding": "gzip"}, [bomb()])
        if "content-odd" in self.options:
            return web.Response(body=ODD_LINES + self.files[request.match_info["id"]])
        return await super().content(request)

    async def submit(self, request: web.Request) -> web.Response:
        """POST /v1/batches: answered at once, but said to be in progress when first asked about."""
        if "batch-refused" in self.options:
            return web.json_response(_OPENAI.error(400, "no batches today", None), status=400)
        taken = await super().submit(request)
        if "batch-cut" in self.options and request.transport is not None:
            request.transport.abort()
        return taken

    def batched(self, line: Any) -> dict[str, Any]:
        """A reply, or what its fault makes of it."""
        asked = _OPENAI.asked(line["body"], None)
        prompt = hashlib.sha256(orjson.dumps(asked.messages)).hexdigest()[:16]
        self.attempts[prompt] += 1
        said = _filled(asked, self.says)
        for fault in self.faults:
            if self.attempts[prompt] <= fault.times and fault.hits(prompt):
                self.faulted[fault.kind] += 1
                if fault.kind not in REPLIES:
                    return {"custom_id": line["custom_id"], "response": None, "error": {"code": fault.kind, "message": "internal"}}
                said = REPLIES[fault.kind](asked)
        self.answered[prompt] += 1
        body = _OPENAI.reply(said, asked, self.billed)
        return {"custom_id": line["custom_id"], "response": {"status_code": 200, "body": body}}

    async def stats(self, request: web.Request) -> web.Response:  # noqa: ARG002 - aiohttp's signature
        """GET /stats."""
        return json_reply(
            {
                "requests": self.attempts.total(),
                "answers": self.answered.total(),
                "prompts": len(self.attempts),
                "answered": dict(self.answered),
                "faults": dict(self.faulted),
                "peak": self.peak,
                "last_bodies": self.last_bodies,
                "last_requests": self.last_requests,
            }
        )


def _filled(asked: Asked, says: str | None) -> Said:
    return Said(orjson.dumps(answers(asked, says=says)).decode(), calls="Answers" if asked.by_tool else None)


def application_of(options: Sequence[str]) -> tuple[web.Application, int]:
    """The app that the options of the command line ask for, and its port."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--fault", type=Planned.parse, action="append", default=[])
    parser.add_argument("--batches", choices=BATCH_FAULTS, action="append", default=[])
    parser.add_argument("--says", help="answer every question with this text")
    parser.add_argument("--bills", type=int, nargs="+", metavar="TOKENS", help="prompt, reply, cached and reasoning tokens of every answer")
    given = parser.parse_args(options)
    batches = frozenset(given.batches)
    billed = Billed(*given.bills) if given.bills else None
    return _routed(MisbehavingServer(given.fault, given.latency_ms / 1000, batches, says=given.says, billed=billed)), given.port


def _routed(server: MisbehavingServer) -> web.Application:
    app = application()
    for path, dialect in DIALECTS.items():
        app.router.add_post(path, server.route(dialect))
    server.add_routes(app)
    app.router.add_get("/stats", server.stats)
    return app


@contextmanager
def stub_server(*options: str) -> Iterator[str]:
    """The server on a thread of the test's process, with options as on the command line; gives its base URL."""
    app, _ = application_of(options)
    with served(app) as url:
        yield url


if __name__ == "__main__":
    serve_until_killed(*application_of(sys.argv[1:]))
