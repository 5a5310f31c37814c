"""A local server that plays a judge of known quality; run as `python -m tests.servers.model_server SPEC`, SPEC being JSON as in `Player`.

It speaks the OpenAI chat protocol, reads what it is asked about, and errs as often as the spec says, so that the numbers of reports have a
truth. The same question about the same evidence gets a new draw each time that it is asked, and the same draws in every run.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from subprocess import PIPE, Popen

import orjson
from aiohttp import web
from pydantic import BaseModel, ConfigDict

from tests.places import ROOT
from tests.servers.openai_server import completion, tool_call

__all__ = ["Bias", "Drift", "Player", "played_model"]

Shares = Mapping[str, float]
"""Answer -> its probability."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Bias(_Strict):
    """What sways the judge."""

    pattern: str
    """Regular expression, looked for in the evidence."""
    answers: Shares
    """What it then says; the probability that is left goes to what it would have said anyway."""


class Drift(_Strict):
    """The judge turns into another."""

    after: int
    """Requests before it does."""
    confusion: Mapping[str, Shares]


class Player(_Strict):
    """A judge of known quality."""

    defect: str
    """Regular expression, looked for in the evidence: where it is found the truth is no, elsewhere yes."""
    confusion: Mapping[str, Shares]
    """Truth -> what the judge says."""
    biases: list[Bias] = []
    """The first one that is found counts, before the confusion."""
    drift: Drift | None = None
    seed: int = 0


class _PlayedModel:
    def __init__(self, player: Player) -> None:
        self._player = player
        self._requests = 0
        self._asked: Counter[str] = Counter()

    async def completions(self, request: web.Request) -> web.Response:
        """POST /v1/chat/completions."""
        body = orjson.loads(await request.read())
        self._requests += 1
        evidence = re.sub(r"(?m)^\[(BEGIN|END) (\w+) \w+\]$", r"[\1 \2]", body["messages"][1]["content"])
        questions = body["tools"][0]["function"]["parameters"]["properties"]
        said = {name: {"reason": "so it seems", "answer": self._answer(evidence, name)} for name in questions}
        return web.json_response(completion(tool_call(said)), dumps=lambda value: orjson.dumps(value).decode())

    def _answer(self, evidence: str, question: str) -> str:
        player = self._player
        number = self._asked[f"{question} {evidence}"]
        self._asked[f"{question} {evidence}"] += 1
        key = f"{player.seed} {question} {number} {evidence}"
        bias = next((b.answers for b in player.biases if re.search(b.pattern, evidence)), {})
        truth = "no" if re.search(player.defect, evidence) else "yes"
        drifted = player.drift is not None and self._requests > player.drift.after
        confusion = player.drift.confusion if player.drift and drifted else player.confusion
        return _drawn(bias, f"bias {key}") or _drawn(confusion[truth], key) or truth


def _drawn(shares: Shares, key: str) -> str | None:
    """One of the answers by its probability; None with the probability that is left."""
    at = int(hashlib.sha256(key.encode()).hexdigest()[:12], 16) / 16**12
    for answer, share in shares.items():
        if at < share:
            return answer
        at -= share
    return None


@contextmanager
def played_model(player: Player) -> Iterator[str]:
    """A server in a process of its own that plays this judge; gives its base URL."""
    process = Popen([sys.executable, "-m", "tests.servers.model_server", player.model_dump_json()], stdout=PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def _serve(player: Player) -> None:
    app = web.Application(client_max_size=64 * 2**20)
    app.router.add_post("/v1/chat/completions", _PlayedModel(player).completions)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(Player.model_validate_json(sys.argv[1])))
