"""What every protocol offers, and what several of them need."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import msgspec
import orjson

from providers.completion import Completion, UnreadableError
from providers.messages import Message, Tool, ToolCall
from providers.provider import ModelSettings
from schemas.text import without_half_pairs

__all__ = ["Sheet", "WireProtocol", "arguments_of", "asked_for_json", "closed", "decoded", "system_text", "without_system"]

T = TypeVar("T")

_JSON_WISH: Final = "Reply with one JSON object and nothing else, no text around it. It has to fit this JSON schema:\n"


class Sheet(NamedTuple):
    """What one HTTP request asks."""

    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    """Which the model may call."""
    form: Tool | None = None
    """What the reply must fill in: name, description, and the JSON schema of it; None: the reply is free."""
    room: int = 1
    """By how much the longest reply of the settings is multiplied: 2 after a reply was cut."""


class WireProtocol(Protocol):
    """How a request is written and a reply is read."""

    def url(self, base: str, settings: ModelSettings) -> str:
        """Where requests for the model go."""

    def headers(self, key: str) -> dict[str, str]:
        """How the key is shown."""

    def body(self, sheet: Sheet, settings: ModelSettings) -> Mapping[str, Any]:
        """The request."""

    def read(self, body: bytes) -> Completion:
        """The reply: text, thoughts, tool calls and how it ended, as they came; `providers.answers` decides what counts.

        Raises:
            UnreadableError: it is none of this protocol.
        """


def decoded(body: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """A reply's content; halves of surrogate pairs, which models write now and then and no table takes, become U+FFFD.

    Raises:
        UnreadableError: it is none of the decoder's kind.
    """
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if b"\\ud" not in body.lower():
            raise UnreadableError(f"the reply is no chat completion ({error})") from error
    try:
        return decoder.decode(json.dumps(without_half_pairs(json.loads(body)), ensure_ascii=False).encode())
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise UnreadableError(f"the reply is no chat completion ({error})") from error


def system_text(messages: Sequence[Message]) -> str:
    """The system messages together, for protocols in which they stand apart."""
    return "\n\n".join(message["content"] for message in messages if message["role"] == "system")


def without_system(messages: Sequence[Message]) -> list[Message]:
    """The other messages."""
    return [message for message in messages if message["role"] != "system"]


def asked_for_json(sheet: Sheet) -> list[Message]:
    """The messages, the last system message (or one of its own) saying that the form's JSON is wanted."""
    if sheet.form is None:
        return list(sheet.messages)
    wish = _JSON_WISH + orjson.dumps(sheet.form.parameters).decode()
    head = system_text(sheet.messages)
    return [{"role": "system", "content": f"{head}\n\n{wish}" if head else wish}, *without_system(sheet.messages)]


def arguments_of(call: ToolCall) -> Any:
    """A tool call's arguments as an object; empty where the model has not written one."""
    try:
        return orjson.loads(call.arguments)
    except orjson.JSONDecodeError:
        return {}


def closed(schema: Any) -> Any:
    """The JSON schema with all properties of each object required and no others allowed, as servers want it that hold replies to it."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: closed(part) for name, part in schema.items()}
    if isinstance(schema.get("properties"), dict):
        found |= {"additionalProperties": False, "required": list(schema["properties"])}
    return found
