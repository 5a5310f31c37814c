"""What servers do wrong, as a table, and a server that deals it out to any client: it stands in front of one that answers well.

Every prompt meets one misbehaviour, the next of those that are dealt, and only at first; what then comes is answered by the server behind.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Literal, NamedTuple

import aiohttp
import orjson
from aiohttp import web

from tests.servers.dialects import DIALECTS
from tests.servers.faults import misbehave
from tests.servers.serving import application, served

Must = Literal["ask again", "follow", "stop"]
_PATH: Final = "/v1/chat/completions"


class Misbehaviour(NamedTuple):
    """A line of the table."""

    name: str
    """As in `tests.servers.faults`."""
    does: str
    must: Must
    """What a client must do: ask again and go on as if nothing had been; follow; or stop with one line that says what to mend."""
    says: str = ""
    """What that line holds."""


MISBEHAVIOURS: Final = (
    Misbehaviour("429", "too many requests", "ask again"),
    Misbehaviour("429-after", "too many requests, come back in a second", "ask again"),
    Misbehaviour("429-date", "too many requests, come back at a time of day", "ask again"),
    Misbehaviour("500", "an error of its own", "ask again"),
    Misbehaviour("529", "too busy", "ask again"),
    Misbehaviour("cut", "the connection breaks in the middle of the reply", "ask again"),
    Misbehaviour("empty", "an empty body", "ask again"),
    Misbehaviour("html", "a gateway's page in place of a reply", "ask again"),
    Misbehaviour("deep", "brackets nested half a million deep", "ask again"),
    Misbehaviour("null", "null in place of a reply", "ask again"),
    Misbehaviour("no-choices", "a reply without an answer in it", "ask again"),
    Misbehaviour("429-nan", "too many requests, come back in `nan` seconds", "ask again"),
    Misbehaviour("closed", "the connection is closed without a word", "ask again"),
    Misbehaviour("no-http", "something else than HTTP", "ask again"),
    Misbehaviour("unpacked", "a body that is not packed as its header says", "ask again"),
    Misbehaviour("half", "half of the reply, as if it were all", "ask again"),
    Misbehaviour("200-error", "an error with the status of success", "ask again"),
    Misbehaviour("200-limited", "too many requests, with the status of success", "ask again"),
    Misbehaviour("failed-behind", "an empty reply, since the server behind it failed", "ask again"),
    Misbehaviour("stream", "a stream of events in place of a reply", "ask again"),
    Misbehaviour("no-utf-8", "bytes that are no UTF-8 in the reply", "ask again"),
    Misbehaviour("here", "a redirect within the server", "follow"),
    Misbehaviour("401", "refuses the key", "stop", "refuses the API key"),
    Misbehaviour("quota", "says that there is no money left", "stop", "no money left"),
    Misbehaviour("402", "says that the balance is used up", "stop", "no money left"),
    Misbehaviour("503-hour", "is closed for an hour", "stop", "asks to wait"),
    Misbehaviour("elsewhere", "a redirect to another server", "stop", "sends requests on to"),
    Misbehaviour("file", "a redirect to a file", "stop", "sends requests on to"),
    Misbehaviour("nowhere", "a redirect to what is no address", "stop", "sends requests on to"),
    Misbehaviour("429-year", "too many requests, come back in a year", "stop", "asks to wait"),
)


class Dealt:
    """What was dealt out."""

    def __init__(self, names: Sequence[str], target: str) -> None:
        self._names, self._target = names, target
        self._of_prompt: dict[str, str] = {}
        self.requests: Counter[str] = Counter()
        """By prompt."""
        self.faults: Counter[str] = Counter()
        """By misbehaviour."""

    async def post(self, request: web.Request) -> web.StreamResponse:
        """POST, whatever is asked."""
        raw = await request.read()
        body: Any = orjson.loads(raw)
        prompt = hashlib.sha256(orjson.dumps(body["messages"])).hexdigest()
        self.requests[prompt] += 1
        name = self._of_prompt.setdefault(prompt, self._names[len(self._of_prompt) % len(self._names)])
        if self.requests[prompt] == 1:
            self.faults[name] += 1
            dialect = DIALECTS[_PATH]
            return await misbehave(name, request, dialect, dialect.asked(body, None))
        headers = {"Authorization": request.headers.get("Authorization", "")}
        address = f"{self._target}/chat/completions"
        async with aiohttp.ClientSession() as session, session.post(address, data=raw, headers=headers) as reply:
            return web.Response(body=await reply.read(), status=reply.status, content_type="application/json")


@contextmanager
def dealing(names: Sequence[str], target: str) -> Iterator[tuple[str, Dealt]]:
    """A server that deals these misbehaviours out in front of the target; gives its base URL."""
    dealt, app = Dealt(names, target), application()
    app.router.add_post(_PATH, dealt.post)
    with served(app) as url:
        yield url, dealt
