"""A local server that plays a judge which can learn, and the model that writes its instructions.

`python -m tests.servers.pupil_server SPEC`:

SPEC is JSON as in `Pupil`. It speaks the OpenAI chat protocol. What the judge says depends on the instructions it is given, in a way that
the test sets, so that the true gain is known. The same prompt always gets the same answer.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import PIPE, Popen
from typing import Any

import orjson
from aiohttp import web
from pydantic import BaseModel, ConfigDict

from tests.places import ROOT
from tests.servers.openai_server import completion, tool_call

__all__ = ["Pupil", "pupil"]


class Pupil(BaseModel):
    """A judge that can learn."""

    model_config = ConfigDict(extra="forbid")
    yes: str
    """Regular expression, looked for in the evidence: where it is found the truth is yes, elsewhere no."""
    learns_from: str = "(?!)"
    """Regular expression, looked for in the system message: where it is found the judge knows what it needs."""
    right_before: float = 0.5
    """Share of right answers without it; which ones depends on the evidence alone."""
    right_after: float = 0.95
    """Share of right answers with it."""
    proposals: list[str] = ["Take your time."]
    """Instructions that the writer proposes, one after the other and again from the first."""
    watches: str = "(?!)"
    """Regular expression that is counted where no evidence stands: in system messages, and in all that the writer is sent."""
    latency_s: float = 0.0


class _Server:
    def __init__(self, spec: Pupil) -> None:
        self._spec = spec
        self._asked: Counter[str] = Counter()
        self._proposed = self._seen = 0
        self._kinds: Counter[str] = Counter()

    async def completions(self, request: web.Request) -> web.Response:
        """POST /v1/chat/completions."""
        body = orjson.loads(await request.read())
        function = body["tools"][0]["function"]
        self._asked[hashlib.sha256(orjson.dumps(body["messages"])).hexdigest()] += 1
        self._kinds[function["name"]] += 1
        watched = body["messages"] if function["name"] == "Written" else body["messages"][:1]
        self._seen += any(re.search(self._spec.watches, message["content"]) for message in watched)
        await asyncio.sleep(self._spec.latency_s)
        said = self._written(body) if function["name"] == "Written" else self._judged(body, function)
        return web.json_response(completion(tool_call(said)), dumps=lambda value: orjson.dumps(value).decode())

    def _judged(self, body: Any, function: Any) -> dict[str, Any]:
        system, evidence = (message["content"] for message in body["messages"][:2])
        knows = re.search(self._spec.learns_from, system) is not None
        share = self._spec.right_after if knows else self._spec.right_before
        said = {}
        for question in function["parameters"]["properties"]:
            truth = re.search(self._spec.yes, evidence) is not None
            at = int(hashlib.sha256(f"{knows} {question} {evidence}".encode()).hexdigest()[:12], 16) / 16**12
            said[question] = {"reason": "the evidence says so", "answer": "yes" if truth == (at < share) else "no"}
        return said

    def _written(self, body: Any) -> dict[str, str]:
        wanted = body["messages"][-1]["content"].rpartition("Respond with the corresponding output fields")[2]
        names = dict.fromkeys(re.findall(r"\[\[ ## (\w+) ## \]\]", wanted))
        return {"text": "\n\n".join(f"[[ ## {name} ## ]]\n{self._text(name)}" for name in names)}

    def _text(self, field: str) -> str:
        if "instruction" not in field:
            return "" if field == "completed" else "They are messages."
        self._proposed += 1
        return self._spec.proposals[(self._proposed - 1) % len(self._spec.proposals)]

    async def stats(self, request: web.Request) -> web.Response:  # noqa: ARG002 - aiohttp's signature
        """GET /stats."""
        told = {
            "requests": self._asked.total(),
            "prompts": len(self._asked),
            "twice": sum(n > 1 for n in self._asked.values()),
            "seen": self._seen,
        }
        return web.json_response(told | self._kinds)


@contextmanager
def pupil(spec: Pupil) -> Iterator[str]:
    """The server in a process of its own; gives its base URL."""
    process = Popen([sys.executable, "-m", "tests.servers.pupil_server", spec.model_dump_json()], stdout=PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def _serve(spec: Pupil) -> None:
    server = _Server(spec)
    app = web.Application(client_max_size=64 * 2**20)
    app.router.add_post("/v1/chat/completions", server.completions)
    app.router.add_get("/stats", server.stats)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(Pupil.model_validate_json(sys.argv[1])))
