"""What every protocol offers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from providers.completion import Completion, UnreadableError
from providers.messages import Message, Tool
from providers.provider import ModelSettings

__all__ = ["Sheet", "WireProtocol", "decoded"]

T = TypeVar("T")


class Sheet(NamedTuple):
    """What one HTTP request asks."""

    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    """Which the model may call."""
    form: Tool | None = None
    """What the reply must fill in: name, description, and the JSON schema of it; None: the reply is free."""


class WireProtocol(Protocol):
    """How a request is written and a reply is read."""

    def url(self, base: str, settings: ModelSettings) -> str:
        """Where requests for the model go."""

    def headers(self, key: str) -> dict[str, str]:
        """How the key is shown."""

    def body(self, sheet: Sheet, settings: ModelSettings) -> Mapping[str, Any]:
        """The request."""

    def read(self, body: bytes, *, typed: bool) -> Completion:
        """The reply; `typed` if it was to fill in a form, whose JSON is then the completion's text.

        Raises:
            UnreadableError: it is none of this protocol.
        """


def decoded(body: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """A reply's content; halves of surrogate pairs, which models write now and then and no table takes, become question marks.

    Raises:
        UnreadableError: it is none of the decoder's kind.
    """
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        if b"\\ud" not in body.lower():
            raise UnreadableError(f"the reply is no chat completion ({error})") from error
    try:
        mended = json.dumps(json.loads(body), ensure_ascii=False).encode("utf-8", "replace")
        return decoder.decode(mended)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise UnreadableError(f"the reply is no chat completion ({error})") from error
