"""What every protocol offers, seen from the server, and what several of them need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import orjson
from aiohttp import web


class BadRequestError(Exception):
    """The provider would turn the request down."""


class Asked(NamedTuple):
    """A request, as far as replies depend on it."""

    messages: Sequence[Any]
    """As they were sent."""
    schema: Mapping[str, Any] | None
    """Of the form to be filled in; None: text is wanted."""
    by_tool: bool
    """Whether the form is a tool."""
    tools: Sequence[str]
    """Names of tools that may be called."""
    after_tool: bool
    """Whether the last message is a tool's result."""
    logprobs: bool = False
    reasons: bool = False


class Said(NamedTuple):
    """What the model says."""

    text: str = ""
    """Of a form: its JSON."""
    calls: str | None = None
    """The tool that it calls; None: it only talks."""
    finish: str = "stop"
    """stop, length or refusal."""
    thought: str = ""


class Billed(NamedTuple):
    """Token counts."""

    prompt: int = 1000
    reply: int = 100
    cached: int = 0
    reasoning: int = 0


class Dialect(Protocol):
    """A protocol, seen from the server."""

    def asked(self, body: Any, request: web.Request | None) -> Asked:
        """Read a request.

        Raises:
            BadRequestError: the provider would turn it down.
        """

    def reply(self, said: Said, asked: Asked, billed: Billed) -> dict[str, Any]:
        """Write a reply."""

    def nothing(self) -> dict[str, Any]:
        """A reply in which there is none."""

    def error(self, status: int, message: str, code: str | None) -> dict[str, Any]:
        """Write an error."""


def only(body: Mapping[str, Any], allowed: str) -> None:
    unknown = set(body) - set(allowed.split())
    if unknown:
        raise BadRequestError(f"unknown field {min(unknown)}")


def schema_in(text: str) -> dict[str, Any]:
    """The schema that a system message tells of."""
    found: dict[str, Any] = orjson.loads(text.splitlines()[-1])
    return found


def object_of(text: str) -> dict[str, Any] | None:
    """The object that the text is; None for broken JSON, which providers that give objects cannot show."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None
