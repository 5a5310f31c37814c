"""What a model is asked after a reply that is no answer: never the same again, and with what was wrong."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from aiohttp import web

from providers.asker import JobTerms, Reply, Request
from providers.cache import ReplyCache
from providers.clients.client import connect
from providers.forms import ChatRequest
from providers.provider import ModelSettings
from schemas.chat.messages import NO_TOKENS, Completion
from tests.providers.test_asker import Verdict, ask_all, numbered_prompt, settings
from tests.servers.dialects import completion, tool_call
from tests.servers.serving import application, json_reply, served

YES: Final = '{"reason": "so it is", "answer": "yes"}'
NO: Final = '{"reason": "a first thought", "answer": "no"}'


@contextmanager
def replying(*replies: Mapping[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that gives these replies one after the other, the last one again and again; and what it was asked."""
    asked: list[dict[str, Any]] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(await request.json())
        return json_reply(replies[min(len(asked), len(replies)) - 1])

    app = application()
    app.router.add_post("/v1/chat/completions", answer)
    with served(app) as url:
        yield url, asked


def text(content: str, finish: str = "stop", **message: Any) -> dict[str, Any]:
    """A completion with that text."""
    return completion({"role": "assistant", "content": content, **message}, finish)


def ask(url: str, form: type[Verdict] | None = Verdict, **changes: object) -> Reply:
    """One question with a form."""
    (reply,) = ask_all(settings(url, **changes), [Request(messages=numbered_prompt(1), form=form)])
    return reply


@pytest.mark.parametrize("form", [Verdict, None])
@pytest.mark.parametrize("finish", ["length", "max_tokens"])
def test_a_cut_reply_is_asked_for_once_more_with_twice_the_room(form: type[Verdict] | None, finish: str) -> None:
    """The same request would be cut again; what was cut decides nothing, whole as it may look."""
    with replying(text(NO, finish), text(YES)) as (url, asked):
        reply = ask(url, form, max_tokens=700)
    assert reply.answered
    assert (reply.text, reply.call.attempts, reply.call.read_as) == (YES, 2, "as asked")
    assert [request["max_tokens"] for request in asked] == [700, 1400]
    assert asked[0]["messages"] == asked[1]["messages"]

    with replying(text(NO, finish)) as (url, asked):
        reply = ask(url, form, max_tokens=700)
    assert (reply.answered, reply.filled, reply.text, len(asked)) == (False, None, "", 2)
    assert reply.call.read_as == "refused: cut"
    assert "700 tokens, then 1400: raise --max-tokens" in (reply.call.error or "")


def test_a_server_that_allows_no_longer_reply_leaves_the_reason_of_the_first() -> None:
    """And is not taken for one that turns every request down."""
    asked = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(await request.json())
        if asked[-1]["max_tokens"] > 1500:
            return web.json_response({"error": {"message": "max_tokens is too large: this model takes 1500"}}, status=400)
        return json_reply(text(NO, "length"))

    app = application()
    app.router.add_post("/v1/chat/completions", answer)
    with served(app) as url:
        replies = ask_all(settings(url), [Request(messages=numbered_prompt(n), form=Verdict) for n in range(8)])
    assert len(asked) == 16
    assert all("longest length" in (one.call.error or "") and "takes 1500" in (one.call.error or "") for one in replies)


CLIENTS = {
    "openai/m": "openai",
    "anthropic/m": "anthropic",
    "google/m": "google.genai",
    "mistral/m": "mistralai",
    "bedrock/m": "aiobotocore",
    "litellm/openai/m": "litellm",
}


@pytest.mark.parametrize("model", [pytest.param(model, marks=pytest.mark.long if "litellm" in model else ()) for model in CLIENTS])
def test_every_client_asks_for_more_room(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under its own name."""
    pytest.importorskip(CLIENTS[model])
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "KEY")
    client = connect(ModelSettings(model=model, base_url="http://127.0.0.1:9/v1", max_tokens=700), nullcontext)
    once, twice = (str(client.arguments(ChatRequest(numbered_prompt(1), limit))) for limit in (700, 1400))
    assert once.replace("700", "1400") == twice != once


@pytest.mark.parametrize(
    ("mode", "wrong", "why"),
    [
        ("tools", completion(tool_call({"reason": "so it is"}, "Verdict")), "answer: Field required"),
        ("tools", text("I say yes."), "there is no JSON object in it"),
        ("json", text(f"{NO}\n{YES}"), "it holds several answers that differ"),
        ("json_schema", text(NO[:-9]), "Invalid JSON"),
        ("json", text("", reasoning_content=f"Perhaps {NO}. No."), "it has thoughts and no final answer"),
        ("json", text(""), "it is empty"),
    ],
)
def test_a_reask_states_what_was_wrong_and_shows_the_form(mode: str, wrong: Mapping[str, Any], why: str) -> None:
    """With places to be filled in: no copy of it is an answer."""
    with replying(wrong, text(YES)) as (url, asked):
        reply = ask(url, mode=mode)
    assert (reply.answered, reply.call.attempts) == (True, 2)
    more = asked[1]["messages"][len(asked[0]["messages"]) :]
    assert [message["role"] for message in more] == ["assistant", "user"]
    assert why in more[1]["content"]
    example = more[1]["content"].splitlines()[-1]
    assert json.loads(example).keys() == {"reason", "answer"}
    assert "yes, no" in example
    assert ("Call the tool Verdict" in more[1]["content"]) is (mode == "tools")

    with replying(wrong, text(example)) as (url, asked):
        parrot = ask(url, mode=mode)
    assert (parrot.filled, parrot.call.status, parrot.call.attempts) == (None, "failed", 3)
    assert "it repeats the example form" in (parrot.call.error or "") or "answer: Input should be" in (parrot.call.error or "")


@pytest.mark.parametrize("mode", ["tools", "json", "json_schema"])
def test_replies_of_a_wrong_form_name_another_way_of_asking(mode: str) -> None:
    """Once they have been shown back in vain."""
    with replying(text("I say yes.")) as (url, _):
        error = ask(url, mode=mode).call.error or ""
    assert "another way of asking may help: --mode" in error
    assert f"--mode {mode} " not in f"{error} "


def test_no_request_is_sent_twice() -> None:
    """Whatever comes, in whatever order."""
    wrong: Sequence[Mapping[str, Any]] = (text("yes"), text(NO, "length"), text(f"{NO}{YES}"), text(NO, "length"))
    with replying(*wrong) as (url, asked):
        ask(url, reasks=6)
    sent = [json.dumps(request, sort_keys=True) for request in asked]
    assert len(sent) == len(set(sent)) > 3


def test_a_reply_that_declines_costs_one_request() -> None:
    """Also where a text is asked for."""
    with replying(text("", refusal="I cannot play this.")) as (url, asked):
        reply = ask(url, None)
    assert (reply.answered, reply.text, len(asked)) == (False, "", 1)
    assert reply.call.error == "refused: I cannot play this."


def test_thoughts_are_no_text_of_a_player() -> None:
    """Neither apart nor in marks; they are on record as thoughts."""
    with replying(text("◁think▷Play it?◁/think▷Action: C", reasoning_content="I see.")) as (url, _):
        reply = ask(url, None)
    assert (reply.text, reply.thoughts) == ("Action: C", "I see.\nPlay it?")
    assert reply.call.reply == "◁think▷Play it?◁/think▷Action: C"


def test_a_stored_reply_that_counts_no_more_is_asked_for_again(tmp_path: Path) -> None:
    """Earlier versions took drafts for answers; the cache then holds the new reply."""
    path, request = tmp_path / "cache.sqlite", Request(messages=numbered_prompt(1), form=Verdict)

    def asked_with_cache(url: str) -> Reply:
        cache = ReplyCache(path)
        (reply,) = ask_all(settings(url), [request], JobTerms(cache=cache))
        cache.close()
        return reply

    with replying(text(NO)) as (url, _):
        asked_with_cache(url)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        draft = msgspec.json.encode(Completion(NO, "length", NO_TOKENS))
        connection.execute("UPDATE replies SET reply = ?", [draft])
    with replying(text(YES)) as (url, asked):
        replies = [asked_with_cache(url) for _ in range(2)]

    assert [one.filled for one in replies] == [Verdict(reason="so it is", answer="yes")] * 2
    assert ([one.source for one in replies], len(asked)) == (["model", "cache"], 1)


@pytest.mark.parametrize("finish", ["stop", None])
def test_a_reply_with_all_tokens_that_it_may_have_is_cut_whatever_the_server_states(finish: str | None) -> None:
    """It is asked for with more room, not in other ways that end at the same place."""
    begun = completion({"role": "assistant", "content": '{"reason": "so it'}, finish)  # of 100 tokens
    with replying(begun, text(YES)) as (url, asked):
        reply = ask(url, max_tokens=100)
    assert (reply.answered, [body["max_tokens"] for body in asked]) == (True, [100, 200])
    with replying(text(YES)) as (url, _):  # whole, and as long as it may be
        assert ask(url, max_tokens=100).answered
