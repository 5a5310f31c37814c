"""What the server needs of a provider's own client, whichever it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

import orjson
from pydantic import BaseModel

from providers.messages import Completion, Form, Message, Tool, ToolCall
from providers.provider import Mode, ModelSettings, provider_of
from schemas.extras import needed

if TYPE_CHECKING:
    from instructor import AsyncInstructor

__all__ = ["GATE", "Client", "Gate", "Sheet", "Turn", "arguments_of", "closed", "connect", "merged", "system_text"]

Turn: TypeAlias = Callable[[], AbstractAsyncContextManager[None]]
"""What is entered before each request goes out: pauses, limits, the budget."""


class Gate(Protocol):
    """One call, as instructor's steps see it."""

    def came(self, response: Any) -> None:
        """A reply came."""

    def failed(self, error: Exception) -> None:
        """The client gave none."""

    def answer_in(self, response: Any) -> BaseModel | None:
        """The form in the reply that came last.

        Raises:
            Unusable: it fills in none.
            Fault: what came is no reply.
        """

    def next_arguments(self) -> dict[str, Any]:
        """What instructor's client is called with next, after a reply that was no answer."""


GATE: Final[ContextVar[Gate | None]] = ContextVar("gate", default=None)
"""The call that this task is asking for; None outside of one."""


class Sheet(NamedTuple):
    """What one request asks."""

    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    """Which the model may call."""
    form: Form | None = None
    """What the reply must fill in; None: the reply is free."""
    room: int = 1
    """By how much the longest reply of the settings is multiplied: 2 after a reply was cut."""
    mode: Mode = "tools"
    """How the form is asked for."""
    refused: frozenset[str] = frozenset()
    """Fields of a request that the model does not take."""


class Client(Protocol):
    """A provider's own asynchronous client, patched by instructor."""

    modes: Sequence[Mode]
    """How a form can be asked for, the best first."""

    def instructor(self, mode: Mode) -> AsyncInstructor:
        """The client that asks for forms in that way."""

    def arguments(self, sheet: Sheet) -> dict[str, Any]:
        """What its `create` is called with, the form apart."""

    def completion(self, response: Any) -> Completion:
        """A reply in plain words.

        Raises:
            ErrorCameError: an error came in its place.
            UnreadableError: it is none.
        """

    async def close(self) -> None:
        """Close the connections."""


def connect(settings: ModelSettings, turn: Turn) -> Client:
    """The client for a model.

    Args:
        settings: of the model.
        turn: entered before each request goes out.

    Raises:
        UsageError: the model's name is incomplete, its key is missing, or a package that its provider needs is not installed.
    """
    provider = provider_of(settings)
    if provider.package is not None:
        needed(provider.package, f"{settings.provider}/")
    name = provider.protocol if provider.protocol in {"anthropic", "google", "bedrock"} else "openai"
    made: Client = import_module(f"providers.clients.{name}").Connected(settings, turn)
    return made


def system_text(messages: Sequence[Message]) -> str:
    """The system messages together, for providers to which they are a field of their own."""
    return "\n\n".join(message["content"] for message in messages if message["role"] == "system")


def merged(messages: Sequence[Message], parts: Callable[[Message], list[Any]], *, assistant: str, content: str) -> list[dict[str, Any]]:
    """The other messages; those of one role that follow each other, such as results of several tools, are one.

    Args:
        messages: all of them.
        parts: of a message.
        assistant: what the provider calls the model's role.
        content: what it calls the parts.
    """
    found: list[dict[str, Any]] = []
    for message in messages:
        role = assistant if message["role"] == "assistant" else "user"
        if message["role"] == "system":
            continue
        if found and found[-1]["role"] == role:
            found[-1][content] += parts(message)
        else:
            found.append({"role": role, content: parts(message)})
    return found


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
    if isinstance(schema.get("properties"), Mapping):
        found |= {"additionalProperties": False, "required": list(schema["properties"])}
    return found
