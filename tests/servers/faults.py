"""What can go wrong, in every protocol: one table for all stub servers.

A fault is a reply that cannot be used, an error with a status, a body that is none, or a connection that breaks.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import itertools
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from email.utils import formatdate
from functools import cache
from time import time
from typing import Any, NamedTuple

import orjson
from aiohttp import web

from tests.servers.dialects import Asked, Billed, Dialect, Said


class Planned(NamedTuple):
    """A fault and whom it hits."""

    kind: str
    share: float
    times: int

    @classmethod
    def parse(cls, text: str) -> Planned:
        """Read `KIND[:SHARE[:TIMES]]`."""
        kind, share, times = (*text.split(":"), "1", "1")[:3] if ":" in text else (text, "1", "1")
        if kind not in KINDS:
            raise argparse.ArgumentTypeError(f"there is no fault {kind}: known are {', '.join(KINDS)}")
        return cls(kind, float(share), int(times))

    def hits(self, prompt: str) -> bool:
        """Whether that prompt is among the share."""
        return int(hashlib.sha256(f"{self.kind} {prompt}".encode()).hexdigest()[:8], 16) / 2**32 < self.share


def answers(asked: Asked, *, says: str | None = None) -> dict[str, Any]:
    """A value for the form's schema: for every question a reason and one of its answers, the same for the same prompt; or what is said."""
    schema: Any = asked.schema
    seed = int(hashlib.sha256(orjson.dumps(list(asked.messages))).hexdigest()[:8], 16)
    found: dict[str, Any] = {}
    for number, (name, field) in enumerate(schema["properties"].items()):
        kind = schema["$defs"][re.sub(r".*/", "", field["$ref"] if "$ref" in field else field["allOf"][0]["$ref"])]
        found[name] = {"reason": "the evidence says so", "answer": says or _chosen(kind["properties"]["answer"], seed + number)}
    return found


def _chosen(answer: Mapping[str, Any], number: int) -> str | list[str]:
    """One of the allowed answers; where several may be given, any choice of them."""
    if "enum" in answer:
        allowed: list[str] = answer["enum"]
        return allowed[number % len(allowed)]
    return [one for place, one in enumerate(answer["items"]["enum"]) if number >> place & 1]


def _form(asked: Asked, value: Any, finish: str = "stop") -> Said:
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return Said(text, calls="Answers" if asked.by_tool else None, finish=finish)


def _no_first_question(asked: Asked) -> dict[str, Any]:
    return dict(list(answers(asked).items())[1:])


def _whole(asked: Asked) -> str:
    return orjson.dumps(answers(asked)).decode()


REPLIES: Mapping[str, Callable[[Asked], Said]] = {
    "prose": lambda asked: Said(f"Gladly! Here is my verdict:\n```json\n{_whole(asked)}\n```\nAnything else?"),
    "wrong-keys": lambda asked: _form(asked, {f"x{name}": answer for name, answer in answers(asked).items()}),
    "missing": lambda asked: _form(asked, _no_first_question(asked)),
    "not-allowed": lambda asked: _form(asked, {name: {**answer, "answer": "perhaps"} for name, answer in answers(asked).items()}),
    "broken-json": lambda asked: _form(asked, _whole(asked)[:-20]),
    "too-long": lambda asked: _form(asked, _whole(asked)[:30], "length"),
    "refusal": lambda _: Said("I cannot judge this.", finish="refusal"),
}
"""Replies that came and are not as they should be."""


class _Error(NamedTuple):
    status: int
    message: str
    headers: Callable[[], dict[str, str]] = dict
    code: str | None = None


_ERRORS: Mapping[str, _Error] = {
    "429": _Error(429, "slow down"),
    "429-after": _Error(429, "slow down", lambda: {"Retry-After": "1"}),
    "429-nan": _Error(429, "slow down", lambda: {"Retry-After": "nan"}),
    "429-year": _Error(429, "slow down", lambda: {"Retry-After": "31536000"}),
    "429-date": _Error(429, "slow down", lambda: {"Retry-After": formatdate(time() + 1.5, usegmt=True)}),
    "500": _Error(500, "internal"),
    "529": _Error(529, "overloaded"),
    "503-hour": _Error(503, "maintenance", lambda: {"Retry-After": "3600"}),
    "401": _Error(401, "no such key"),
    "402": _Error(402, "Insufficient Balance"),
    "403-flagged": _Error(403, "Your chosen model requires moderation and your input was flagged"),
    "400": _Error(400, "unsupported parameter"),
    "400-temperature": _Error(400, "Unsupported value: 'temperature' does not support 0.0 with this model"),
    "quota": _Error(429, "you exceeded your quota", code="insufficient_quota"),
}
"""Errors of HTTP."""

_HALF_A_PAIR = rb'{"choices": [{"message": {"role": "assistant", "content": "fine \ud83d done"}, "finish_reason": "stop"}]}'

_FAILED_BEHIND = (
    b'{"choices": [{"error": {"code": 502, "message": "provider is down"}, "message": {"content": ""}, "finish_reason": "error"}]}'
)

_BODIES: Mapping[str, tuple[bytes, str]] = {
    "empty": (b"", "application/json"),
    "html": (b"<html>gateway</html>", "text/html"),
    "deep": (b"[" * 500_000, "application/json"),
    "null": (b"null", "application/json"),
    "half": (b'{"id": "chatcmpl-1", "choices": [{"message": {"role": "assistant", "content": "', "application/json"),
    "200-error": (b'{"error": {"message": "overloaded", "type": "server_error"}}', "application/json"),
    "200-limited": (b'{"error": {"message": "rate limited upstream", "code": 429}}', "application/json"),
    "failed-behind": (_FAILED_BEHIND, "application/json"),
    "stream": (b'data: {"choices": [{"delta": {"content": "yes"}}]}\n\ndata: [DONE]\n\n', "text/event-stream"),
    "no-utf-8": (b'{"choices": [{"message": {"role": "assistant", "content": "\xff\xfe"}, "finish_reason": "stop"}]}', "application/json"),
    "surrogate": (_HALF_A_PAIR, "application/json"),
}
"""Bodies that are no reply."""


@cache
def bomb() -> bytes:
    """200 MiB in 200 KB."""
    mebibyte, packer = bytes(2**20), zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    return b"".join([*(packer.compress(mebibyte) for _ in range(200)), packer.flush()])


ODD_LINES = b"\n".join([b"[" * 2000, b"null", b"{}", b'{"custom_id": "-1"}', b'{"custom_id": "999"}', b"\xff", b'{"custom_id": []}', b""])
"""Lines of a batch that are replies to nothing."""

_PACKED = {"bomb": "gzip", "brotli": "br"}


def _nowhere() -> web.HTTPException:
    """A redirect whose location is no address; the class itself takes none such."""
    redirect = web.HTTPTemporaryRedirect("/")
    redirect.headers["Location"] = "http://[::1"
    return redirect


_ON_THE_WIRE: Mapping[str, bytes] = {"closed": b"", "no-http": b"\x16\x03\x01 is no HTTP\r\n\r\n"}
"""What comes in place of a response."""

_REDIRECTS: Mapping[str, Callable[[web.Request], web.HTTPException]] = {
    "elsewhere": lambda request: web.HTTPTemporaryRedirect(f"http://localhost:{request.url.port}{request.path}"),
    "here": lambda request: web.HTTPTemporaryRedirect(request.path),
    "file": lambda _: web.HTTPTemporaryRedirect("file:///etc/passwd"),
    "nowhere": lambda _: _nowhere(),
}

KINDS = (*_ERRORS, *_BODIES, "no-choices", *REPLIES, *_PACKED, *_REDIRECTS, "unpacked", "closed", "no-http", "endless", "hang", "cut")
"""All of them."""


async def misbehave(kind: str, request: web.Request, dialect: Dialect, asked: Asked) -> web.StreamResponse:
    """Do what the fault is."""
    if kind in _ERRORS:
        error = _ERRORS[kind]
        return web.json_response(dialect.error(error.status, error.message, error.code), status=error.status, headers=error.headers())
    if kind in _BODIES:
        body, content_type = _BODIES[kind]
        return web.Response(body=body, content_type=content_type)
    if kind == "no-choices":
        return web.json_response(dialect.nothing())
    if kind in REPLIES:
        return web.Response(body=orjson.dumps(dialect.reply(REPLIES[kind](asked), asked, Billed())), content_type="application/json")
    if kind in _REDIRECTS:
        raise _REDIRECTS[kind](request)
    return await _break(kind, request)


async def _break(kind: str, request: web.Request) -> web.StreamResponse:
    if kind == "hang":
        await asyncio.sleep(3600)
    if kind == "endless":
        return await stream(request, {}, itertools.repeat(b" " * 2**16))
    if kind in _PACKED:
        return await stream(request, {"Content-Encoding": _PACKED[kind]}, [bomb()])
    if kind == "unpacked":
        return await stream(request, {"Content-Encoding": "gzip"}, [b'{"choices": []}'])
    if kind in _ON_THE_WIRE:
        assert request.transport is not None
        request.transport.write(_ON_THE_WIRE[kind])
        request.transport.abort()
        return web.Response()
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "5000"})
    await response.prepare(request)
    await response.write(b'{"id": "chatcmpl-1", "choices": [')
    assert request.transport is not None
    request.transport.abort()
    return response


async def stream(request: web.Request, headers: dict[str, str], chunks: Iterable[bytes]) -> web.StreamResponse:
    """A body without end, or one that grows when it is unpacked; the client may close the connection."""
    response = web.StreamResponse(headers={"Content-Type": "application/json", **headers})
    await response.prepare(request)
    with contextlib.suppress(ConnectionError):
        for chunk in chunks:
            await response.write(chunk)
        await response.write_eof()
    return response
