"""A batch's file of replies, line by line: what a provider writes there may be anything, and is never held as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from providers.completion import Completion, UnreadableError
from schemas.errors import CotraceError
from schemas.secrets import strike_bytes
from schemas.text import excerpt

__all__ = ["BatchReply", "read"]


class BatchReply(NamedTuple):
    """What came of one request."""

    number: int
    """The request's place in the batch."""
    completion: Completion | None
    """None if none came."""
    why_not: str | None
    """Why none came; None if one did."""


class _Response(msgspec.Struct):
    body: msgspec.Raw = msgspec.Raw(b"null")


class _Line(msgspec.Struct):
    custom_id: str
    response: _Response | None = None
    error: Any = None


_LINE = msgspec.json.Decoder(_Line)
_DIGITS = 18


def read(chunks: Iterable[bytes], most_bytes: int) -> Iterator[BatchReply]:
    """The replies in a file's bytes; lines that are none are left out.

    Args:
        chunks: the file, in pieces.
        most_bytes: the longest line that a reply can have.

    Raises:
        CotraceError: a line is longer.
    """
    for line in _lines(chunks, most_bytes):
        try:
            found = _LINE.decode(strike_bytes(line))
        except (msgspec.DecodeError, RecursionError):
            continue
        if found.custom_id.isdecimal() and found.custom_id.isascii() and len(found.custom_id) <= _DIGITS:
            yield _reply(found)


def _lines(chunks: Iterable[bytes], most_bytes: int) -> Iterator[bytes]:
    begun = bytearray()
    for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for end in ended:
            yield bytes(begun + end)
            begun.clear()
        begun += rest
        if len(begun) > most_bytes:
            raise CotraceError(f"the provider's file of replies has a line of more than {most_bytes:,} bytes, which no answer takes")
    yield bytes(begun)


def _reply(line: _Line) -> BatchReply:
    from providers.clients.openai import read_body

    number = int(line.custom_id)
    body = bytes(line.response.body) if line.response else b"null"
    try:
        return BatchReply(number, read_body(body), None)
    except UnreadableError as error:
        what = line.error or excerpt(body.decode("utf-8", "replace")) or error
        return BatchReply(number, None, f"the provider failed: {excerpt(str(what))}")
