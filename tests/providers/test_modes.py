"""How forms are asked for at a server that nobody knows: found out by the first call, recorded, and the same for all others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import instructor
import openai
import pytest
from aiohttp import web
from instructor.v2.core.client import AsyncInstructor
from pydantic import BaseModel

from judges.runs.runner import run
from providers.asker import Asker, JobTerms, Request
from providers.prices import Price
from tests.judges.judged_games import ask_model, store_of
from tests.providers.test_asker import Verdict, ask_all, numbered_prompt, settings
from tests.providers.test_forms import YES, replying, text
from tests.servers.dialects import completion, tool_call
from tests.servers.serving import application, json_reply, served

Answers = Callable[[dict[str, Any]], web.Response]


def mode_of(body: Mapping[str, Any]) -> str:
    """In which a request asks for its form."""
    kind = body.get("response_format", {}).get("type")
    return "tools" if "tools" in body else {"json_schema": "json_schema", "json_object": "json"}.get(kind, "none")


@contextmanager
def answering(answers: Answers) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that answers each request so, and what it was asked."""
    asked: list[dict[str, Any]] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(await request.json())
        return answers(asked[-1])

    app = application()
    app.router.add_post("/v1/chat/completions", answer)
    with served(app) as url:
        yield url, asked


def refusing(field: str) -> Answers:
    """A server that takes forms in the other modes."""

    def answers(body: dict[str, Any]) -> web.Response:
        if field in body:
            return web.json_response({"error": {"message": f"{field} is not supported by this server"}}, status=400)
        return json_reply(completion(tool_call(json.loads(YES), "Verdict")) if "tools" in body else text(YES))

    return answers


def prose_unless(mode: str) -> Answers:
    """A server that holds to the form in one mode alone."""

    def answers(body: dict[str, Any]) -> web.Response:
        if mode_of(body) != mode:
            return json_reply(text("Let me think about it: it seems clear to me."))
        return json_reply(completion(tool_call(json.loads(YES), "Verdict")) if mode == "tools" else text(YES))

    return answers


SERVERS = {
    "holds to schemas": (prose_unless("json_schema"), ["json_schema"]),
    "calls tools": (prose_unless("tools"), ["json_schema", "tools"]),
    "writes JSON": (prose_unless("json"), ["json_schema", "tools", "json"]),
    "refuses schemas": (refusing("response_format"), ["json_schema", "tools"]),
    "refuses tools": (refusing("tools"), ["json_schema"]),
}


@pytest.mark.parametrize("name", SERVERS)
def test_the_first_call_finds_the_mode_and_the_others_use_it(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """It goes alone; each way costs one request; a line says what was found."""
    answers, tried = SERVERS[name]
    with answering(answers) as (url, asked):
        replies = ask_all(settings(url), [Request(messages=numbered_prompt(n), form=Verdict) for n in range(8)])
    assert [reply.answered for reply in replies] == [True] * 8
    assert [mode_of(body) for body in asked] == [*tried, *([tried[-1]] * 7)]
    assert (f"--mode {tried[-1]} from now on" in caplog.text) is (len(tried) > 1)


def test_a_run_records_the_mode_that_was_found(tmp_path: Path) -> None:
    """And what the server does not take."""
    store = store_of(tmp_path / "store.duckdb", turns=3)

    def answers(body: dict[str, Any]) -> web.Response:
        refused = next((field for field in ("response_format", "temperature") if field in body), None)
        if refused:
            return web.json_response({"error": {"message": f"Unsupported parameter: {refused}"}}, status=400)
        schema = body["tools"][0]["function"]["parameters"]
        verdicts = {name: {"reason": "so", "answer": "no"} for name in schema["properties"]}
        return json_reply(completion(tool_call(verdicts)))

    with answering(answers) as (url, asked):
        report = run(ask_model(url), store)
    assert (report.failed, len(asked)) == (0, 5)
    with store.reading() as connection:
        (parameters,) = connection.execute("SELECT parameters ->> '$.learned' FROM judge_runs").fetchone() or ("",)
    assert json.loads(parameters) == {"mode": "tools", "left_out": ["temperature"]}


def test_a_mode_that_was_chosen_is_the_only_one() -> None:
    """And the advice names the others."""
    with answering(prose_unless("json_schema")) as (url, asked):
        (reply,) = ask_all(settings(url, mode="tools"), [Request(messages=numbered_prompt(1), form=Verdict)])
    assert not reply.answered
    assert {mode_of(body) for body in asked} == {"tools"}
    assert "--mode json_schema" in (reply.call.error or "")


def test_a_reply_that_comes_again_is_asked_for_in_another_mode() -> None:
    """Where the mode is known: the first re-ask shows the form, the second asks otherwise; no request is sent twice."""
    replies = [text(YES), text('{"reason": "so", "answer": "perhaps"}'), text('{"reason": "so", "answer": "perhaps"}'), text(YES)]
    with replying(*replies) as (url, asked):
        first, second = ask_all(
            settings(url), [Request(messages=numbered_prompt(n), form=Verdict) for n in (1, 2)], JobTerms(concurrency=1)
        )
    assert (first.call.attempts, second.call.attempts, second.answered) == (1, 3, True)
    assert [mode_of(body) for body in asked] == ["json_schema", "json_schema", "json_schema", "tools"]
    assert len({json.dumps(body, sort_keys=True) for body in asked}) == len(asked)


def test_every_attempt_is_counted_and_paid() -> None:
    """Those that were no answer, and those in another mode."""
    with answering(prose_unless("json")) as (url, _):
        (reply,) = ask_all(settings(url), [Request(messages=numbered_prompt(1), form=Verdict)], price=Price(3, 15))
    assert (reply.call.attempts, reply.call.tokens_in, reply.call.tokens_out) == (3, 3000, 300)
    assert reply.call.cost == pytest.approx(3 * (1000 * 3 + 100 * 15) / 1e6)


def test_fields_and_headers_of_ones_own_go_with_each_request() -> None:
    """A field may hold anything that JSON does."""
    headers: list[str | None] = []

    async def answer(request: web.Request) -> web.Response:
        headers.append(request.headers.get("X-Team"))
        bodies.append(await request.json())
        return json_reply(text(YES))

    bodies: list[dict[str, Any]] = []
    app = application()
    app.router.add_post("/v1/chat/completions", answer)
    given = {"request_fields": (("seed", 7), ("chat_template_kwargs", {"enable_thinking": False})), "headers": (("X-Team", "judges"),)}
    with served(app) as url:
        ask_all(settings(url, **given), [Request(messages=numbered_prompt(1)), Request(messages=numbered_prompt(2), form=Verdict)])
    assert headers == ["judges"] * 2
    assert [(body["seed"], body["chat_template_kwargs"]) for body in bodies] == [(7, {"enable_thinking": False})] * 2


def test_typed_and_free_replies_come_through_instructors_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the form as its `response_model`; free text without one."""
    models: list[type[BaseModel] | None] = []
    create = AsyncInstructor.create

    async def watched(self: AsyncInstructor, response_model: Any, *args: Any, **kwargs: Any) -> Any:
        models.append(response_model)
        return await create(self, response_model, *args, **kwargs)

    monkeypatch.setattr(AsyncInstructor, "create", watched)
    with replying(text(YES)) as (url, _):
        ask_all(settings(url), [Request(messages=numbered_prompt(1)), Request(messages=numbered_prompt(2), form=Verdict)])
    assert sorted(model is not None and issubclass(model, Verdict) for model in models) == [False, True]


def test_other_users_of_instructor_see_no_change() -> None:
    """In the same process, while ours are asked: a client of one's own parses and asks again as instructor does."""

    async def both(url: str) -> tuple[Verdict, str | None]:
        sdk = openai.AsyncOpenAI(base_url=url, api_key="none")
        theirs = instructor.from_openai(sdk, mode=instructor.Mode.JSON)
        async with Asker([settings(url)]) as asker:
            reply = await asker.ask(Request(messages=numbered_prompt(1), form=Verdict))
            found = await theirs.create(model="m", messages=[{"role": "user", "content": "Judge."}], response_model=Verdict, max_retries=1)
        await sdk.close()
        return found, reply.call.read_as

    with replying(text(YES), text("no JSON"), text(YES)) as (url, asked):
        found, read_as = asyncio.run(both(url))
    assert (found.answer, read_as) == ("yes", "as asked")
    assert "Correct your JSON ONLY RESPONSE" in asked[2]["messages"][-1]["content"]


REFUSALS = {
    "type not available": (400, "This response_format type is unavailable now", "response_format"),
    "other types": (400, "Invalid value: 'json_schema'. Supported values are: 'json_object' and 'text'.", "response_format"),
    "type must be": (400, "'response_format.type' must be 'text'", "response_format"),
    "grammar of the schema": (400, "failed to parse grammar", "response_format"),
    "schema not converted": (400, 'JSON schema conversion failed: unrecognized schema {"const": 1}', "response_format"),
    "backend of the schema": (400, "Guided decoding backend error: the schema is too complex", "response_format"),
    "not implemented": (501, "structured outputs are not implemented", "response_format"),
    "option of the server": (500, "tools param requires --jinja flag", "tools"),
    "parser of the server": (400, "tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set", "tools"),
    "tools switched off": (400, "Tool calling is disabled for this model", "tools"),
    "no temperature of 0": (400, "temperature must be strictly positive", "temperature"),
    "one temperature": (400, "`temperature` may only be set to 1 when thinking is enabled", "temperature"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_whatever_words_refuse_a_field_it_is_not_sent_again(name: str) -> None:
    """A form is then asked for in another way, in the same call and in all that follow; nothing is retried as it was."""
    status, message, field = REFUSALS[name]

    def answers(body: dict[str, Any]) -> web.Response:
        if field in body or (field == "tools" and "response_format" in body and mode_of(body) == "json_schema"):
            return web.json_response({"error": {"message": message, "code": status}}, status=status)
        return json_reply(completion(tool_call(json.loads(YES), "Verdict")) if "tools" in body else text(YES))

    with answering(answers) as (url, asked):
        replies = ask_all(settings(url), [Request(messages=numbered_prompt(n), form=Verdict) for n in range(3)], JobTerms(concurrency=1))
    assert [reply.answered for reply in replies] == [True] * 3
    assert [reply.call.attempts for reply in replies][1:] == [1, 1]
    assert len(asked) <= len({mode_of(body) for body in asked}) + 3


def test_a_model_that_fills_in_no_form_has_the_modes_tried_by_its_first_call_alone(caplog: pytest.LogCaptureFixture) -> None:
    """Then the first way is asked for again, instead of one after the other by each call."""
    with answering(prose_unless("none")) as (url, asked):
        replies = ask_all(settings(url, reasks=2), [Request(messages=numbered_prompt(n), form=Verdict) for n in range(6)])
    assert not any(reply.answered for reply in replies)
    assert [mode_of(body) for body in asked][:3] == ["json_schema", "tools", "json"]
    assert len([line for line in caplog.messages if "from now on" in line]) == 2
    firsts = [next(body for body in asked if body["messages"][1]["content"] == numbered_prompt(n)[1]["content"]) for n in range(6)]
    assert {mode_of(body) for body in firsts} == {"json_schema"}
