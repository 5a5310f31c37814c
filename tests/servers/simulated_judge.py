"""A local server that plays a judge of known quality: it reads what it is asked about, and errs as often as its confusion matrix says.

So the numbers of reports have a truth. The same question about the same evidence gets a new draw each time that it is asked, and the same
draws in every run.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import orjson
from aiohttp import web
from pydantic import BaseModel, ConfigDict

from tests.servers.dialects import completion, form_of, tool_call
from tests.servers.serving import application, json_reply, served

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


class SimulatedJudge(_Strict):
    """A judge of known quality."""

    defect: str
    """Regular expression, looked for in the evidence: where it is found the truth is no, elsewhere yes."""
    confusion: Mapping[str, Shares]
    """Truth -> what the judge says."""
    biases: list[Bias] = []
    """The first one that is found counts, before the confusion."""
    drift: Drift | None = None
    seed: int = 0


class _Server:
    def __init__(self, judge: SimulatedJudge) -> None:
        self._judge = judge
        self._requests = 0
        self._asked: Counter[str] = Counter()

    async def completions(self, request: web.Request) -> web.Response:
        """POST /v1/chat/completions."""
        body = orjson.loads(await request.read())
        self._requests += 1
        evidence = re.sub(r"(?m)^\[(BEGIN|END) (\w+) \w+\]$", r"[\1 \2]", body["messages"][1]["content"])
        questions = form_of(body)[1]["properties"]
        said = {name: {"reason": "so it seems", "answer": self._answer(evidence, name)} for name in questions}
        return json_reply(completion(tool_call(said)))

    def _answer(self, evidence: str, question: str) -> str:
        judge = self._judge
        number = self._asked[f"{question} {evidence}"]
        self._asked[f"{question} {evidence}"] += 1
        key = f"{judge.seed} {question} {number} {evidence}"
        bias = next((b.answers for b in judge.biases if re.search(b.pattern, evidence)), {})
        truth = "no" if re.search(judge.defect, evidence) else "yes"
        drifted = judge.drift is not None and self._requests > judge.drift.after
        confusion = judge.drift.confusion if judge.drift and drifted else judge.confusion
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
def simulated_judge(judge: SimulatedJudge) -> Iterator[str]:
    """A server that plays this judge; gives its base URL."""
    app = application()
    app.router.add_post("/v1/chat/completions", _Server(judge).completions)
    with served(app) as url:
        yield url
