"""A batch's file of replies, line by line: what a provider writes there may be anything, and is never held as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from pydantic import BaseModel, Field, ValidationError

from providers.provider import counted
from schemas.errors import CotraceError
from schemas.text import excerpt

__all__ = ["BatchReply", "read"]


class BatchReply(NamedTuple):
    """What came of one request."""

    number: int
    """The request's place in the batch."""
    text: str
    """What the model wrote; empty if it wrote nothing."""
    why_not: str
    """What to say if the text is no answer."""
    usage: tuple[int, int]
    """Tokens in and out."""


class _Function(BaseModel):
    arguments: str | None = None


class _Call(BaseModel):
    function: _Function = Field(default_factory=_Function)


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(BaseModel):
    message: _Message = Field(default_factory=_Message)


class _Usage(BaseModel):
    prompt_tokens: Any = None
    completion_tokens: Any = None


class _Body(BaseModel):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None


class _Response(BaseModel):
    body: _Body | None = None


class _Line(BaseModel):
    custom_id: str = Field(pattern="^[0-9]{1,18}$")
    response: _Response | None = None
    error: Any = None


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
            yield _reply(_Line.model_validate_json(line))
        except ValidationError:
            continue


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
    body = (line.response and line.response.body) or _Body()
    message = body.choices[0].message if body.choices else _Message()
    arguments = message.tool_calls[0].function.arguments if message.tool_calls else None
    text = arguments or message.content or ""
    usage = body.usage or _Usage()
    tokens = counted(usage.prompt_tokens), counted(usage.completion_tokens)
    return BatchReply(int(line.custom_id), text, _why_not(message, line.error or body.error, text), tokens)


def _why_not(message: _Message, error: object, text: str) -> str:
    if message.refusal:
        return f"refused: {excerpt(message.refusal)}"
    if error:
        return f"the provider failed: {excerpt(str(error))}"
    return f"no usable reply: {excerpt(text) or 'it is empty'}"
