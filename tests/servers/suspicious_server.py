"""A local server that plays a model which looks for one word: the turn that says it is the decisive error.

It speaks the OpenAI chat protocol and fills in each of the forms of `judges.attribution.asking` from what it is
shown, and from nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson
from aiohttp import web

from tests.servers.dialects import completion, form_of, tool_call
from tests.servers.serving import application, json_reply, served

_ENTRY = re.compile(r"^turn (\d+), (.+) (?:said|tried \([a-z ]+\)):\n((?:\| .*\n?)*)", re.MULTILINE)


def _filled(shown: str, word: str, fields: dict[str, Any]) -> dict[str, Any]:
    entries = [(int(turn), agent, text.replace("| ", "").strip()) for turn, agent, text in _ENTRY.findall(shown)]
    hits = [(turn, agent, text) for turn, agent, text in entries if word in text]
    turn, agent, words = hits[0] if hits else (*entries[-1][:2], "words that stand nowhere")
    parts = re.search(r"first: turns \d+ to (\d+)", shown)
    judged = re.search(r"The turn to be judged: turn (\d+)", shown)
    answers = {
        "reason": "so it seems",
        "agent": agent,
        "turn": turn,
        "decisive": bool(hits) and turn == entries[-1][0],
        "part": "first" if parts and turn <= int(parts[1]) else "second",
        "suspects": [{"turn": turn, "agent": agent, "words": words}, {"turn": 1, "agent": entries[0][1], "words": "invented words"}],
        "likelihood": 90 if judged and int(judged[1]) == turn else 10,
    }
    return {name: answers[name] for name in fields}


@contextmanager
def suspicious_model(word: str, answers: int = 1_000_000) -> Iterator[str]:
    """A server that plays this model, until it has given so many answers and refuses the key; gives its base URL."""
    left = iter(range(answers))

    async def completions(request: web.Request) -> web.Response:
        if next(left, None) is None:
            return web.json_response({"error": {"message": "no such key"}}, status=401)
        body = orjson.loads(await request.read())
        filled = _filled(body["messages"][1]["content"], word, form_of(body)[1]["properties"])
        return json_reply(completion(tool_call(filled)))

    app = application()
    app.router.add_post("/v1/chat/completions", completions)
    with served(app) as url:
        yield url
