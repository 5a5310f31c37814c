"""Models that think and call tools: what came with a call goes back with it, or their servers refuse the next request."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from providers.asker import Asker, JobTerms, JournalEntry, Request
from schemas.chat.messages import Message
from schemas.store.journal import Journal
from tests.games.seats import ingested, play
from tests.providers.test_asker import LOOK, numbered_prompt, settings
from tests.servers.dialects import completion
from tests.servers.serving import application, json_reply, served


def calling(function: dict[str, Any] | None = None, **call: Any) -> dict[str, Any]:
    """A message that calls the tool."""
    called = {"index": 0, "id": "c1", "type": "function", "function": function or {"name": "look", "arguments": '{"cell": "(0,0)"}'}}
    return {"role": "assistant", "content": "", "tool_calls": [called | call]}


THOUGHTS = {
    "reasoning_content": calling() | {"reasoning_content": "I look first."},
    "reasoning": calling() | {"reasoning": "I look first."},
    "reasoning_details": calling() | {"reasoning_details": [{"type": "reasoning.encrypted", "data": "c2lnbmVk", "index": 0}]},
    "a signature of the call": calling(extra_content={"google": {"thought_signature": "c2lnbmVk"}}),
    "a signature beside the arguments": calling({"name": "look", "arguments": "{}", "thought_signature": "c2lnbmVk"}),
    "thoughts in parts": calling() | {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "I look first."}]}]},
    "blocks of thoughts": calling() | {"thinking_blocks": [{"type": "thinking", "thinking": "I look.", "signature": "c2lnbmVk"}]},
}


@contextmanager
def wanting_back(message: dict[str, Any], last: str = "Action: C") -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server whose model calls a tool once and wants all that it sent with the call back."""
    asked: list[dict[str, Any]] = []
    wanted = copy.deepcopy(message)
    for call in wanted["tool_calls"]:
        del call["index"]

    async def answer(request: web.Request) -> web.Response:
        body = await request.json()
        asked.append(body)
        own = [one for one in body["messages"] if one["role"] == "assistant" and one.get("tool_calls")]
        if any(one.get(name) != part for one in own for name, part in wanted.items()):
            return web.json_response({"error": {"message": "Missing `reasoning_content` field in the assistant message."}}, status=400)
        return json_reply(completion({"role": "assistant", "content": last} if own else message, "stop" if own else "tool_calls"))

    app = application()
    app.router.add_post("/v1/chat/completions", answer)
    with served(app) as url:
        yield url, asked


@pytest.mark.parametrize("name", THOUGHTS)
def test_what_came_with_a_call_goes_back_with_it(name: str, tmp_path: Path) -> None:
    """Word for word, also where the first reply comes out of a journal."""

    async def talk(url: str, keep: Path) -> str:
        journal: Journal[dict[str, str], JournalEntry] = Journal(keep, {"job": "x"}, JournalEntry)
        async with Asker([settings(url)], terms=JobTerms(journal=journal)) as asker:
            first = await asker.ask(Request(messages=numbered_prompt(1), tools=[LOOK], key="first"))
            assert first.completion is not None
            result: Message = {"role": "tool", "content": "nothing", "tool_call_id": first.completion.tool_calls[0].id}
            chat = [*numbered_prompt(1), first.completion.message(), result]
            reply = await asker.ask(Request(messages=chat, tools=[LOOK]))
        await journal.close()
        return reply.text or str(reply.call.error)

    with wanting_back(THOUGHTS[name]) as (url, asked):
        assert asyncio.run(talk(url, tmp_path / "j.jsonl")) == "Action: C"
        assert asyncio.run(talk(url, tmp_path / "j.jsonl")) == "Action: C"
    assert len(asked) == 3


def test_a_call_without_thoughts_goes_back_as_before() -> None:
    """Nothing is added that the server did not send."""
    with wanting_back(calling()) as (url, asked):

        async def talk() -> None:
            async with Asker([settings(url)]) as asker:
                first = await asker.ask(Request(messages=numbered_prompt(1), tools=[LOOK]))
                assert first.completion is not None
                assert first.completion.echo is None
                await asker.ask(Request(messages=[*numbered_prompt(1), first.completion.message()], tools=[LOOK]))

        asyncio.run(talk())
    assert asked[1]["messages"][-1].keys() == {"role", "content", "tool_calls"}


@pytest.mark.long
@pytest.mark.parametrize("name", ["reasoning_content", "a signature of the call"])
def test_a_game_with_tools_is_played_to_its_end(name: str, tmp_path: Path) -> None:
    """By a builder that thinks before it tries a move: no call fails."""
    move = {"action": "place", "block": "rs", "position": "(0,0)", "layer": 0}
    message = copy.deepcopy(THOUGHTS[name])
    message["tool_calls"][0]["function"] = {"name": "simulate_move", "arguments": json.dumps({"move": move})}
    with wanting_back(message, "CLARIFY:Which one?") as (url, asked):
        options = ("--games", "1", "--turns", "2", "--simulations", "2", "--provider-tool", "--base-url", url)
        done = play("craft", tmp_path / "logs", ["directors=script:plain", "builder=x/m"], *options)
    assert done.returncode == 0, done.stderr
    assert len(asked) >= 4
    with ingested(tmp_path).reading() as connection:
        failed = connection.execute("SELECT count(*), count(*) FILTER (status <> 'answered') FROM calls").fetchone()
    assert failed == (len(asked), 0)
