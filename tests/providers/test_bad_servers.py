"""Servers that misbehave in ways that no protocol foresees: each reply ends in the right answers or in one clear line, soon and for little.

The servers are bytes on a socket, since no library for servers would send most of them.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain, repeat
from typing import Any, Final

import pytest

from providers.asker import Asker, JobTerms, Reply, Request
from providers.faults import HopelessError
from providers.prices import Budget, Price
from providers.wire import Exchange
from tests.providers.test_asker import Sheet, numbered_prompt, settings

RIGHT: Final = ("yes", "no")
Bytes = bytes | Sequence[bytes]
"""What a server sends for a request; with pauses between several parts."""


def sheet(*answers: str) -> str:
    """The form, filled in."""
    return json.dumps({f"Q{n}": {"reason": "It is in the text.", "answer": answer} for n, answer in enumerate(answers or RIGHT, 1)})


def reply(
    content: object = None, /, *, calls: object = None, finish: object = "stop", usage: object = None, **more: object
) -> dict[str, Any]:
    """A chat completion; more fields are those of its message."""
    message = {"role": "assistant", "content": content, **({} if calls is None else {"tool_calls": calls}), **more}
    counted = {"prompt_tokens": 100, "completion_tokens": 20} if usage is None else usage
    return {"model": "fake", "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": counted}


def call(arguments: object, name: str = "Sheet") -> dict[str, Any]:
    """A call of a tool."""
    return {"id": "same", "type": "function", "function": {"name": name, "arguments": arguments}}


def http(body: object, status: str = "200 OK", *headers: str, kind: str | None = "application/json") -> bytes:
    """A response."""
    raw = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    lines = [f"HTTP/1.1 {status}", *([f"Content-Type: {kind}"] if kind else []), f"Content-Length: {len(raw)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + raw


GOOD: Final = reply(sheet())
WHOLE: Final = http(GOOD)
PACKED: Final = gzip.compress(json.dumps(GOOD).encode())


def changed(**fields: object) -> bytes:
    """A good reply with other fields."""
    return http({**GOOD, **fields})


ANSWERED: Final[dict[str, Bytes]] = {
    "blanks that keep the connection alive": http(b"\n \n  \n" + json.dumps(GOOD).encode()),
    "JSON under the type of a page": http(GOOD, kind="text/html; charset=utf-8"),
    "JSON without a type": http(GOOD, kind=None),
    "a byte order mark": http(b"\xef\xbb\xbf" + json.dumps(GOOD).encode()),
    "UTF-16": http(json.dumps(GOOD).encode("utf-16")),
    "the tool under another name": http(reply(calls=[call(sheet(), "get_weather")], finish="tool_calls")),
    "another tool, then the right one": http(reply(calls=[call('{"city": "Rome"}', "weather"), call(sheet())])),
    "the same call twice, by one id": http(reply(calls=[call(sheet()), call(sheet())])),
    "arguments that are an object": http(reply(calls=[call(json.loads(sheet()))])),
    "arguments encoded twice": http(reply(calls=[call(json.dumps(sheet()))])),
    "null among the calls": http(reply(sheet(), calls=[None])),
    "parts": http(reply([{"type": "text", "text": sheet()[:30]}, {"type": "text", "text": sheet()[30:]}])),
    "parts as the newer interface names them": http(reply([{"type": "output_text", "text": sheet()}])),
    "parts that are texts": http(reply([sheet()])),
    "content that is an object already": http(reply(json.loads(sheet()))),
    "other answers in its thoughts": http(reply(sheet(), reasoning_content=sheet("no", "yes"))),
    "an empty refusal": http(reply(sheet(), refusal="")),
    "a number for why it stopped": http(reply(sheet(), finish=0)),
    "an empty error next to the reply": changed(error={}),
    "the name of another model": changed(model="other-7b"),
    "a number for a model": changed(model=7),
    "tokens below 0": changed(usage={"prompt_tokens": -5, "completion_tokens": -9, "cost": -50}),
    "tokens as texts": changed(usage={"prompt_tokens": "100", "completion_tokens": "20"}),
    "tokens without end": changed(usage={"prompt_tokens": 10**30, "completion_tokens": 10**30}),
    "tokens as a list": changed(usage=[1, 2]),
    "created": http(GOOD, "201 Created"),
    "early hints": b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + WHOLE,
    "no phrase behind the status": http(GOOD, "200"),
    "the older HTTP": b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + json.dumps(GOOD).encode(),
    "a second reply that was not asked for": (WHOLE, http(reply(sheet("no", "no")))),
}
"""What answers in an odd way: two questions in a row get the right answers."""

FAILED: Final[dict[str, tuple[Bytes, str]]] = {
    "a stream of events": (http(f"data: {json.dumps(GOOD)}\n\ndata: [DONE]\n\n", kind="text/event-stream"), "not a chat completion: data:"),
    "a page to log in": (http(f"<p>Log in {sheet()}</p>", kind="text/html"), "not a chat completion: <p>Log in"),
    "a list": (http([GOOD]), "not a chat completion"),
    "two replies in one": (http(json.dumps(GOOD) + json.dumps(reply(sheet("no", "no")))), "not a chat completion"),
    "the request": (http({"model": "fake", "messages": numbered_prompt(1)}), "has no choices"),
    "a note of the gateway": (http({"detail": "Not authenticated"}), "Not authenticated"),
    "a place in a queue": (http({"status": "queued", "id": "j1"}, "202 Accepted"), "queued"),
    "choices under numbers": (changed(choices={"0": GOOD["choices"][0]}), "has no choices"),
    "a piece of a stream": (changed(choices=[{"delta": {"content": sheet()}, "finish_reason": "stop"}]), "has no choices"),
    "a text next to an error": (changed(error="shortly out of quota"), "shortly out of quota"),
    "the reply of a model that is not there": (http({"error": {"code": 404, "message": "no model fake"}}), "does not exist"),
    "a part that declines": (http(reply([{"type": "refusal", "refusal": "I cannot."}])), "refused: I cannot"),
    "a refusal next to the form": (http(reply(sheet(), refusal="I cannot.")), "refused: I cannot"),
    "a filter next to the form": (http(reply(sheet(), finish="content_filter")), "refused"),
    "a whole form at the longest length": (http(reply(sheet(), finish="length")), "cut at its longest length"),
    "the form in its thoughts alone": (http(reply(None, reasoning_content=f"I could say {sheet()}, or not")), "no final answer"),
    "thoughts without an end": (http(reply(f"<think>{sheet()}")), "thoughts have no end"),
    "two calls that differ": (http(reply(calls=[call(sheet()), call(sheet("no", "no"))])), "several answers"),
    "a call and a text that differ": (http(reply(sheet("no", "no"), calls=[call(sheet())])), "several answers"),
    "an answer written twice": (http(reply(sheet().replace('"yes"', '"yes", "answer": "no"'))), "written twice"),
    "a letter of another alphabet": (http(reply(sheet("\u0443es", "no"))), "Q1.answer"),
    "a mark that turns the line round": (http(reply(sheet("\u202eno", "no"))), "Q1.answer"),
    "truth values": (http(reply(sheet().replace('"yes"', "true"))), "Q1.answer"),
    "both answers": (http(reply(sheet("yes or no", "no"))), "Q1.answer"),
    "the schema": (http(reply(json.dumps(Sheet.model_json_schema()))), "no usable reply"),
    "the prompt": (http(reply(json.dumps(numbered_prompt(1)))), "no usable reply"),
    "calls without end": (http(reply(calls=[call("{}")] * 5000)), "no usable reply"),
    "nothing": (http(b""), "not a chat completion"),
    "no content": (b"HTTP/1.1 204 No Content\r\n\r\n", "not a chat completion"),
    "another protocol": (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", "HTTP 101"),
    "a status of no range": (http("denied", "999 Denied"), "HTTP 999"),
    "not changed": (b"HTTP/1.1 304 Not Modified\r\n\r\n", "HTTP 304"),
    "another place to look at": (http("", "303 See Other", "Location: http://elsewhere.example/"), "HTTP 303"),
    "another host": (http("", "307 Moved", "Location: http://elsewhere.example/v1"), "sends requests on to http://elsewhere.example"),
    "another port": (http("", "308 Moved", "Location: http://127.0.0.1:1/v1"), "sends requests on to"),
    "a model that was retired": (http({"error": "the model was retired"}, "410 Gone"), "the model was retired"),
    "the law": (http({"error": "not in your country"}, "451 Unavailable"), "not in your country"),
    "a bill": (http({"error": "Payment required"}, "402 Payment Required"), "no money left"),
    "too busy": (http({"error": {"type": "overloaded_error"}}, "529 Busy"), "HTTP 529"),
    "come back in 2099": (http("", "503 Closed", "Retry-After: Fri, 31 Dec 2099 23:59:59 GMT"), "asks to wait"),
    "come back in thirty years": (http("", "429 Limited", "Retry-After: 1e9"), "asks to wait"),
    "come back soon": (http("", "503 Closed", "Retry-After: soon"), "HTTP 503"),
    "come back at once": (http("", "429 Limited", "Retry-After: 0"), "HTTP 429"),
    "come back long ago": (http("", "429 Limited", "Retry-After: Fri, 31 Dec 1999 23:59:59 GMT"), "HTTP 429"),
    "a length below 0": (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "Content-Length"),
    "two lengths": (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding"),
    "a reply that ends in its head": (WHOLE[:30], "closed the connection"),
    "a reply that ends in its body": (WHOLE[:-100], "not completed"),
    "five thousand headers": (http(GOOD, "200 OK", *(f"X-{n}: {n}" for n in range(5000))), "Too many headers"),
    "a reply without an end": (WHOLE[:-100] + b" " * 50, "within 0.6 s"),
    "a reply a byte at a time": ([bytes([byte]) for byte in WHOLE], "within 0.6 s"),
    "packed twice": (http(gzip.compress(PACKED), "200 OK", "Content-Encoding: gzip"), "not a chat completion"),
    "packed in part": (http(PACKED[:-20], "200 OK", "Content-Encoding: gzip"), "not a chat completion"),
    "packed by another rule": (http(PACKED, "200 OK", "Content-Encoding: br"), "packed as 'br'"),
    "packed small": (http(zlib.compress(b"[" * 2**24, 9), "200 OK", "Content-Encoding: deflate"), "more than"),
    "another program": (b"SSH-2.0-OpenSSH_9.0\r\n", "Bad status line"),
}
"""What does not answer, and what the one line about it holds."""
OPEN: Final = frozenset({"a reply without an end", "a second reply that was not asked for"})
"""Whose connection stays open after what was sent."""
MOST_REQUESTS: Final = 12
MOST_COST: Final = 0.5


def asked(name: str, sent: Bytes, questions: int = 1, model: str = "local/fake") -> tuple[list[Reply | HopelessError], int]:
    """What comes of questions that are asked one after the other, and the number of requests; no request may last longer than 0.6 s."""
    requests = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        parts = [sent] if isinstance(sent, bytes) else sent
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                await reader.readexactly(int(length.partition(b":")[2]))
                requests += 1
                for pause, part in zip(chain([0.0], repeat(0.01)), parts, strict=False):
                    await asyncio.sleep(pause)
                    writer.write(part)
                    await writer.drain()
                if name not in OPEN:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def ask() -> list[Reply | HopelessError]:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        found: list[Reply | HopelessError] = []
        endpoint = settings(url.removesuffix("/v1" if model != "local/fake" else ""), model=model, timeout_s=0.6, tries=2, patience_s=1.0)
        async with server, Asker([endpoint], Price(3, 15), JobTerms(budget=Budget(MOST_COST))) as asker:
            for number in range(questions):
                try:
                    found.append(await asker.ask(Request(messages=numbered_prompt(number), form=Sheet)))
                except HopelessError as error:
                    found.append(error)
                await asyncio.sleep(0.02)
        return found

    return asyncio.run(ask()), requests


@pytest.mark.parametrize("name", ANSWERED)
def test_an_odd_reply_is_read_right(name: str) -> None:
    """And so is the next one, which gets no reply to the first."""
    replies, _ = asked(name, ANSWERED[name], 2)

    for one in replies:
        assert isinstance(one, Reply)
        assert isinstance(one.filled, Sheet), one.call.error
        assert (one.filled.Q1.answer, one.filled.Q2.answer) == RIGHT


@pytest.mark.parametrize("name", FAILED)
def test_what_does_not_answer_ends_in_one_line(name: str) -> None:
    """Never in answers, never in more than a few requests."""
    sent, holds = FAILED[name]
    (one,), requests = asked(name, sent)

    line = str(one) if isinstance(one, HopelessError) else one.call.error or ""
    assert isinstance(one, HopelessError) or one.call.status == "failed"
    assert holds in line
    assert len(line.splitlines()) == 1
    assert requests <= MOST_REQUESTS


@pytest.mark.parametrize("status", ["405 Method Not Allowed", "410 Gone", "451 Unavailable"])
def test_a_server_that_refuses_everything_is_not_asked_a_thousand_times(status: str) -> None:
    """Whatever its status: the run stops."""
    replies, requests = asked("", http("no", status), 8)

    assert requests < 8
    assert "turns every request down" in str(replies[-1])


@pytest.mark.parametrize("name", ["created", "JSON under the type of a page", "parts", "a list", "a page to log in", "another host"])
def test_a_client_that_takes_its_own_protocol_alone_makes_no_difference(name: str) -> None:
    """Mistral's refuses what lacks an id or has another status than 200; cotrace reads what came as it reads other servers' replies."""
    pytest.importorskip("mistralai")
    sent, holds = FAILED.get(name) or (ANSWERED[name], None)
    (one,), _ = asked(name, sent, model="mistral/m")

    assert (isinstance(one, Reply) and one.answered) is (holds is None)
    assert (holds or "") in (str(one) if isinstance(one, HopelessError) else one.call.error or "")


ODD_TYPES: Final = {
    "google: a list for why it stopped": (
        "google/m",
        {"candidates": [{"content": {"parts": [{"text": sheet()}]}, "finishReason": [None]}]},
    ),
    "google: a text for a candidate": ("google/m", {"candidates": ["x"]}),
    "bedrock: a text for its output": ("bedrock/m", {"output": "x", "stopReason": "end_turn"}),
    "bedrock: a number among the blocks": ("bedrock/m", {"output": {"message": {"content": [3.5]}}, "stopReason": "end_turn"}),
    "anthropic: a text for its content": ("anthropic/m", {"content": "x", "stop_reason": "end_turn"}),
    "anthropic: a list for a text": ("anthropic/m", {"content": [{"type": "text", "text": [1]}], "usage": "x"}),
}


@pytest.mark.parametrize("name", ODD_TYPES)
def test_a_reply_with_parts_of_other_types_ends_in_one_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the protocols whose clients do not check what comes."""
    model, body = ODD_TYPES[name]
    pytest.importorskip({"google/m": "google.genai", "bedrock/m": "aiobotocore", "anthropic/m": "anthropic"}[model])
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "none")
    (one,), requests = asked(name, http(body), model=model)

    assert isinstance(one, Reply)
    assert (one.call.status, one.filled) == ("failed", None)
    assert len((one.call.error or "").splitlines()) == 1
    assert requests <= MOST_REQUESTS


def test_a_reply_that_waits_unread_is_not_the_next_answer() -> None:
    """Nor where the event loop is late: what no request asked for is in the socket, not yet read, when the next one goes out."""
    came: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(http(b"asked for"))
        writer.close()

    async def bodies() -> list[bytes]:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        exchange = Exchange(5.0, 1000)
        async with server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
            first = await exchange.send("GET", url, {}, b"")
            came[0].write(http(b"unasked"))
            second = await exchange.send("GET", url, {}, b"")
            await exchange.close()
        return [first.body, second.body]

    assert asyncio.run(bodies()) == [b"asked for"] * 2
