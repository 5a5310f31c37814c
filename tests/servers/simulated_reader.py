"""A local server that plays a model which reads texts, of known quality.

It knows what the scripted players of a store meant, and errs as often as its spec says, so that what readers of known quality make of
verdicts can be seen. The same text gets the same answer in every run.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web
from pydantic import BaseModel, ConfigDict

from judges.claims.extraction import messages_for
from judges.claims.readers import read_by
from judges.claims.texts import texts
from judges.evidence.transcript import PLANTED, reader_named
from schemas.claims import written
from schemas.store.store import Store
from tests.servers.batches import BatchServer
from tests.servers.dialects import completion, form_of, tool_call
from tests.servers.serving import application, json_reply, served
from tests.servers.tunable_judge import Writer

Claims = list[dict[str, Any]]

_OTHERS: Mapping[str, tuple[Any, ...]] = {
    "verb": ("place", "remove"),
    "color": ("g", "b", "r", "y", "o"),
    "size": ("s", "l"),
    "layer": (0, 1, 2),
    "cell": ("(0,0)", "(1,1)", "(2,2)", "(0,2)", "(2,0)"),
    "seen_by": ("speaker", "shared", "seat"),
    "director": ("D1", "D2", "D3"),
}
"""What a field is mistaken for."""


class SimulatedReader(BaseModel):
    """A reader of known quality."""

    model_config = ConfigDict(extra="forbid")

    store: Path
    """Whose scripted players' claims it knows."""
    misses: float = 0.0
    """Probability that a claim is left out."""
    mistakes: float = 0.0
    """Probability that one field of a claim is read as something else."""
    unsure: float = 0.0
    """Probability that a text is said not to have been understood, and nothing is claimed."""
    learns_from: str = "(?!)"
    """Regular expression, looked for in the system message: where it is found, the reader makes no mistake."""
    proposals: list[str] = ["Take your time."]
    """Instructions that it proposes when it is asked to write some."""
    silent: bool = False
    """Whether its replies say nothing that can be used."""
    latency_s: float = 0.0
    seed: int = 0


def garbled(claims: Claims, reader: SimulatedReader, key: str) -> Claims:
    """The claims as this reader tells them; never a claim that is no change of one."""
    draw = random.Random(f"{reader.seed} {key}")
    return [_mistaken(claim, draw) if draw.random() < reader.mistakes else claim for claim in claims if draw.random() >= reader.misses]


def _mistaken(claim: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    fields = [name for name in claim if name in _OTHERS and claim[name] is not None and not (claim["kind"] == "remark" and name == "verb")]
    if not fields:
        return claim
    name = draw.choice(sorted(fields))
    return claim | {name: draw.choice([value for value in _OTHERS[name] if value != claim[name]])}


class _Server(BatchServer):
    def __init__(self, reader: SimulatedReader) -> None:
        super().__init__()
        self._reader = reader
        self._meant = dict(_meant(reader.store))
        self._writer = Writer(reader.proposals)
        self.requests = 0

    async def completions(self, request: web.Request) -> web.Response:
        """POST /v1/chat/completions."""
        body = orjson.loads(await request.read())
        await asyncio.sleep(self._reader.latency_s)
        return json_reply(self._answer(body))

    def batched(self, line: Any) -> dict[str, Any]:
        """The same answer as asked directly."""
        return {"custom_id": line["custom_id"], "response": {"status_code": 200, "body": self._answer(line["body"])}}

    def _answer(self, body: Any) -> dict[str, Any]:
        self.requests += 1
        if form_of(body)[0] == "Written":
            return completion(tool_call(self._writer.reply(body)))
        system, asked = (message["content"] for message in body["messages"][:2])
        claims = self._meant.get(asked, [])
        if re.search(self._reader.learns_from, system) is None:
            claims = garbled(claims, self._reader, asked)
        said: dict[str, Any] = {"claims": claims, "not_understood": []}
        if random.Random(f"unsure {self._reader.seed} {asked}").random() < self._reader.unsure:
            said = {"claims": [], "not_understood": [{"words": claim["words"], "why": "not clear"} for claim in claims[:1]]}
        return completion(tool_call({"nothing": said} if self._reader.silent else said))

    async def stats(self, _: web.Request) -> web.Response:
        """GET /stats."""
        return web.json_response({"requests": self.requests})


def _meant(path: Path) -> Iterator[tuple[str, Claims]]:
    """What a model is asked about each text -> what its author meant."""
    reader = reader_named(PLANTED)
    for text in texts(Store(path), None, reader):
        read = read_by(text.game, text.turn, text.message, reader)
        if read is not None:
            claims = [written(told.claim) | {"words": text.message.text} for told in read.claims]
            frame = text.family.frame(text.game, text.turn, text.message)
            yield messages_for("", frame, text.message.text, form=text.family.prompt["form"])[1]["content"], claims


@contextmanager
def simulated_reader(reader: SimulatedReader) -> Iterator[str]:
    """A server that plays this reader; gives its base URL."""
    server, app = _Server(reader), application()
    app.router.add_post("/v1/chat/completions", server.completions)
    app.router.add_get("/stats", server.stats)
    server.add_routes(app)
    with served(app) as url:
        yield url
