"""Requests that a server refuses for good: a prompt that is too long, a name for the longest reply that the model does not know."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from providers.asker import Request
from providers.faults import HopelessError, TooLarge, of_response
from tests.providers.test_asker import Verdict, ask_all, numbered_prompt, paused, settings
from tests.providers.test_forms import YES, text
from tests.servers.serving import application, json_reply, served

TOO_LARGE_FOR_A_MINUTE = (
    "Request too large for m in organization o on tokens per min (TPM): Limit 30,000, Requested 41,212. Visit the page."
)


@contextmanager
def refusing(refuses: Callable[[dict[str, Any]], tuple[int, object] | None]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that refuses some requests, with a status and a body; and what it was asked."""
    asked: list[dict[str, Any]] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(await request.json())
        refusal = refuses(asked[-1])
        if refusal is None:
            return json_reply(text("Action: C"))
        status, body = refusal
        return web.Response(status=status, body=json.dumps(body).encode() if not isinstance(body, bytes) else body)

    app = application()
    app.router.add_post("/v1/chat/completions", answer)
    with served(app) as url:
        yield url, asked


def error(message: str, **facts: object) -> dict[str, object]:
    """OpenAI's form of an error."""
    return {"error": {"message": message, **facts}}


TOO_LARGE: Mapping[str, tuple[int, object]] = {
    "OpenAI, a minute": (429, error(TOO_LARGE_FOR_A_MINUTE, type="tokens", code="rate_limit_exceeded")),
    "OpenAI, a minute, without numbers": (429, error("Request too large for m.")),
    "Groq, a minute": (413, error("Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 7409, reduce it.")),
    "OpenAI": (400, error("This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.")),
    "OpenAI, by its code": (400, error("Your input is not accepted.", code="context_length_exceeded")),
    "OpenAI, a text": (400, error("Invalid 'messages[1].content': string too long.", code="string_above_max_length")),
    "vLLM": (400, {"object": "error", "message": "The decoder prompt (length 9001) is longer than the maximum model length of 8192."}),
    "vLLM, the reply does not fit": (
        400,
        error("'max_tokens' or 'max_completion_tokens' is too large: 1500. This model's maximum context length is 4096 tokens."),
    ),
    "SGLang": (400, {"message": "The input (9001 tokens) is longer than the model's context length (8192 tokens)."}),
    "TGI": (422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 and 1500"}),
    "llama.cpp": (400, error("request (9001 tokens) exceeds the available context size (8192 tokens)", type="exceed_context_size_error")),
    "LM Studio": (400, {"error": "Trying to keep the first 9001 tokens when context the overflows. It is loaded with context length 4096"}),
    "Ollama": (500, {"error": "the input length exceeds the context length"}),
    "Anthropic": (
        400,
        {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000"}},
    ),
    "Anthropic, the body": (413, {"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}),
    "Google": (400, error("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).")),
    "Bedrock": (400, {"message": "Input is too long for requested model."}),
    "Mistral": (400, {"message": "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"}),
    "Cohere": (400, {"message": "too many tokens: total number of tokens in the prompt cannot exceed 4081"}),
    "xAI": (400, {"error": "This model's maximum prompt length is 131072 but the request contains 150000 tokens."}),
    "Cerebras": (400, {"message": "Please reduce the length of the messages or completion. Current length is 9001 while limit is 8192"}),
    "a proxy": (413, b"<html>Request Entity Too Large</html>"),
    "in place of a reply": (200, error("This endpoint's maximum context length is 8192 tokens.", code="context_length_exceeded")),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", TOO_LARGE)
def test_a_prompt_that_is_too_long_fails_alone_and_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fifth one does: each costs one request and says what to do; nothing around it fails, waits or is stopped."""

    def refuses(body: dict[str, Any]) -> tuple[int, object] | None:
        return TOO_LARGE[name] if int(body["messages"][-1]["content"].split()[-1].strip(".")) % 5 == 0 else None

    pauses = paused(monkeypatch)
    with refusing(refuses) as (url, asked):
        replies = ask_all(settings(url), [Request(messages=numbered_prompt(n)) for n in range(60)])
    assert [reply.answered for reply in replies] == [n % 5 != 0 for n in range(60)]
    assert len(asked) == 60
    assert all("lower --max-tokens" in (one.call.error or "") for one in replies if not one.answered)
    assert pauses == []


@pytest.mark.parametrize(
    "message",
    [
        "Range of input length should be [1, 30720]",
        "tokens in request more than max tokens allowed",
        "Total tokens of image and text exceed max message tokens",
        "Invalid request: Your request exceeded model token limit: 8192",
        "max_tokens must be at least 1, got -200.",
        "payload: messages content exceeds 100000 characters",
        "The total length of messages exceeds the limit",
    ],
)
def test_more_wordings_for_a_prompt_that_is_too_long(message: str) -> None:
    """As JSON, as an event of a stream, and in a page."""
    for body in (json.dumps(error(message)), f"data: {json.dumps(error(message))}\n\n", f"<html><body>{message}</body></html>"):
        assert isinstance(of_response(400, {}, body.encode()), TooLarge)


def test_a_run_in_which_every_prompt_is_too_long_ends_by_itself() -> None:
    """Each is a failed call of its own."""
    with refusing(lambda _: TOO_LARGE["llama.cpp"]) as (url, asked):
        replies = ask_all(settings(url), [Request(messages=numbered_prompt(n)) for n in range(20)])
    assert [reply.call.status for reply in replies] == ["failed"] * 20
    assert len(asked) == 20


ORDINARY = {
    "a full minute": (429, "Rate limit reached for m on tokens per min (TPM): Limit 10000, Used 9800, Requested 1200. Try again in 6s."),
    "too many requests": (429, "Too many requests"),
    "a limit of input tokens": (429, "This request would exceed your organization's rate limit of 40,000 input tokens per minute."),
    "a slow server": (500, "the request took too long"),
    "many connections": (500, "request failed: too many connections"),
    "a wrong number": (400, "Invalid request: temperature must be between 0 and 1"),
    "a reply that is too long": (400, "max_tokens is too large: 99999. This model supports at most 16384 completion tokens."),
    "a prompt of a wrong type": (400, "Invalid type for 'input': expected a string"),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_another_refusal_is_not_taken_for_a_prompt_that_is_too_long(name: str) -> None:
    """Those of a moment are tried again."""
    status, message = ORDINARY[name]
    fault = of_response(status, {}, json.dumps(error(message)).encode())
    assert not isinstance(fault, TooLarge)
    assert fault.again is (status != 400)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "message",
    [
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "max_tokens is deprecated for this model, please use `max_completion_tokens`",
        "Unknown parameter: max_tokens",
        "Unrecognized request argument supplied: max_tokens",
        "[{'type': 'extra_forbidden', 'loc': ['body', 'max_tokens'], 'msg': 'Extra inputs are not permitted'}]",
    ],
)
def test_the_name_of_the_longest_reply_is_learned(message: str) -> None:
    """From the first refusal, for all calls of that model: those under way are sent again once, later ones go out right."""

    def refuses(body: dict[str, Any]) -> tuple[int, object] | None:
        return (400, error(message, param="max_tokens")) if "max_tokens" in body else None

    with refusing(refuses) as (url, asked):
        first = ask_all(settings(url), [Request(messages=numbered_prompt(n)) for n in range(40)])
    assert all(reply.answered for reply in first)
    assert {request["max_completion_tokens"] for request in asked if "max_tokens" not in request} == {1500}
    assert {reply.call.attempts for reply in first} <= {1, 2}


def test_the_older_name_is_learned_too() -> None:
    """Where a model that reasons is behind a server that knows only that one."""
    with refusing(lambda body: (422, error("Unknown field max_completion_tokens")) if "max_completion_tokens" in body else None) as (
        url,
        asked,
    ):
        replies = ask_all(settings(url, reasoning_effort="low"), [Request(messages=numbered_prompt(n)) for n in range(3)])
    assert all(reply.answered for reply in replies)
    assert "max_tokens" in asked[-1]


def test_a_model_that_takes_neither_name_says_so() -> None:
    """Once each, and not for ever."""

    def refuses(body: dict[str, Any]) -> tuple[int, object]:
        name = "max_tokens" if "max_tokens" in body else "max_completion_tokens"
        return 400, error(f"Unsupported parameter: '{name}' is not supported with this model.", param=name)

    with refusing(refuses) as (url, asked):
        (reply,) = ask_all(settings(url), [Request(messages=numbered_prompt(1))])
    assert (reply.answered, len(asked)) == (False, 2)


HINTS = {
    "'temperature' does not support 0.0 with this model": "--temperature none",
    "max_tokens is too large: 99999. This model supports at most 16384 completion tokens.": "lower --max-tokens",
    "m does not support tools": "--mode json_schema",
    "tool_choice is not supported": "--mode json_schema",
    "This model does not support response_format json_schema": "--mode tools",
    "reasoning_effort is not supported by m": "leave out --reasoning-effort",
    "logprobs are not supported with reasoning models": "leave out --logprobs",
    "Missing `reasoning_content` field in the assistant message at message index 2.": "without --provider-tool",
    "Function call is missing a thought_signature in functionCall parts.": "without --provider-tool",
    "This model only supports streaming": "",
    "The toolbox of Tempe is closed": "",
}


@pytest.mark.parametrize("message", HINTS)
def test_a_hint_matches_its_cause(message: str) -> None:
    """And none is better than a wrong one."""
    reason = of_response(400, {}, json.dumps(error(message)).encode()).reason
    assert HINTS[message] in reason
    assert HINTS[message] or "--" not in reason


@pytest.mark.shared
@pytest.mark.parametrize("name", ["08-request-too-large-429", "10-max-completion-tokens"])
def test_refusals_of_public_reports(shared: Path, name: str) -> None:
    """The one fails alone; the other is answered."""
    body = json.loads((shared / "cases/replies" / name / "body.json").read_bytes())
    if name.startswith("08"):
        fault = of_response(429, {}, json.dumps(body).encode())
        assert isinstance(fault, TooLarge)
        assert not fault.again
        return
    with refusing(lambda asked: (400, body) if "max_tokens" in asked else None) as (url, _):
        (reply,) = ask_all(settings(url, model="x/house-judge"), [Request(messages=numbered_prompt(1))])
    assert (reply.answered, reply.call.attempts) == (True, 2)


def test_a_server_that_turns_every_request_down_still_stops_the_run() -> None:
    """Where it is not for their length."""
    with refusing(lambda _: (400, error("no such field"))) as (url, _), pytest.raises(HopelessError, match="turns every request down"):
        ask_all(settings(url), [Request(messages=numbered_prompt(n)) for n in range(20)])


def test_late_429s_of_requests_sent_together_name_one_pause() -> None:
    """A server's queue turns six requests down one after the other: calls go out after the pause of the first."""
    again: list[str] = []
    seen: set[str] = set()
    asked_again_by_then: list[int] = []

    async def answer(request: web.Request) -> web.Response:
        prompt = (await request.json())["messages"][-1]["content"]
        if prompt in seen:
            again.append(prompt)
            return json_reply(text("Action: C"))
        seen.add(prompt)
        await asyncio.sleep(0.2 * len(seen))
        asked_again_by_then.append(len(again))
        return web.Response(status=429, headers={"Retry-After-Ms": "300"}, body=json.dumps(error("Too many requests.")).encode())

    app = application()
    app.router.add_post("/v1/chat/completions", answer)
    with served(app) as url:
        replies = ask_all(settings(url), [Request(messages=numbered_prompt(n)) for n in range(6)])
    assert all(reply.answered for reply in replies)
    assert asked_again_by_then[-1] >= 3, "the last 429 came before anybody had asked again"


@pytest.mark.parametrize("message", ["Loading model", "server busy, please try again. maximum pending requests exceeded"])
def test_a_server_that_takes_no_request_yet_is_waited_for(message: str) -> None:
    """As after a 429: however many tries it takes, up to the patience."""
    refusals = iter(range(4))

    async def answer(_: web.Request) -> web.Response:
        if next(refusals, None) is not None:
            return web.json_response({"error": {"message": message, "code": 503}}, status=503)
        return json_reply(text(YES))

    app = application()
    app.router.add_post("/v1/chat/completions", answer)
    with served(app) as url:
        (reply,) = ask_all(settings(url, tries=2, patience_s=30.0), [Request(messages=numbered_prompt(1), form=Verdict)])
    assert (reply.answered, reply.call.attempts) == (True, 5)
