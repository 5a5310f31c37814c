"""A local server that plays a judge whose quality depends on its instructions, and the model that writes such instructions.

How much which instructions help is set by the test, so that the true gain is known. The same prompt always gets the same answer.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import orjson
from aiohttp import web
from pydantic import BaseModel, ConfigDict

from tests.servers.dialects import completion, form_of, tool_call
from tests.servers.serving import application, json_reply, served


class TunableJudge(BaseModel):
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


class Writer:
    """Plays the model that writes instructions: proposes one text after the other."""

    def __init__(self, proposals: Sequence[str]) -> None:
        self._proposals = itertools.cycle(proposals)

    def reply(self, body: Any) -> dict[str, str]:
        """The form `Written`, filled in with the fields that DSPy asks for."""
        wanted = body["messages"][-1]["content"].rpartition("Respond with the corresponding output fields")[2]
        names = dict.fromkeys(re.findall(r"\[\[ ## (\w+) ## \]\]", wanted))
        return {"text": "\n\n".join(f"[[ ## {name} ## ]]\n{self._text(name)}" for name in names)}

    def _text(self, field: str) -> str:
        if "instruction" not in field:
            return "" if field == "completed" else "They are messages."
        return next(self._proposals)


class _Server:
    def __init__(self, spec: TunableJudge) -> None:
        self._spec = spec
        self._asked: Counter[str] = Counter()
        self._seen = 0
        self._writer = Writer(spec.proposals)
        self._kinds: Counter[str] = Counter()

    async def completions(self, request: web.Request) -> web.Response:
        """POST /v1/chat/completions."""
        body = orjson.loads(await request.read())
        name, schema = form_of(body)
        self._asked[hashlib.sha256(orjson.dumps(body["messages"])).hexdigest()] += 1
        self._kinds[name] += 1
        watched = body["messages"] if name == "Written" else body["messages"][:1]
        self._seen += any(re.search(self._spec.watches, message["content"]) for message in watched)
        await asyncio.sleep(self._spec.latency_s)
        said = self._writer.reply(body) if name == "Written" else self._judged(body, schema)
        return json_reply(completion(tool_call(said)))

    def _judged(self, body: Any, schema: Any) -> dict[str, Any]:
        system, user = (message["content"] for message in body["messages"][:2])
        evidence = user.partition("\n\nFill in this form.")[0]
        knows = re.search(self._spec.learns_from, system) is not None
        share = self._spec.right_after if knows else self._spec.right_before
        said = {}
        for question in schema["properties"]:
            truth = re.search(self._spec.yes, evidence) is not None
            at = int(hashlib.sha256(f"{knows} {question} {evidence}".encode()).hexdigest()[:12], 16) / 16**12
            said[question] = {"reason": "the evidence says so", "answer": "yes" if truth == (at < share) else "no"}
        return said

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
def tunable_judge(spec: TunableJudge) -> Iterator[str]:
    """The server; gives its base URL."""
    server, app = _Server(spec), application()
    app.router.add_post("/v1/chat/completions", server.completions)
    app.router.add_get("/stats", server.stats)
    with served(app) as url:
        yield url
