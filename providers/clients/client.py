"""What the server needs of a provider's client, whichever it is; the clients import instructor, this module does not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

from pydantic import BaseModel

from providers.forms import Form
from providers.provider import Mode, ModelSettings, provider_of
from schemas.chat.messages import Completion, Message, Tool
from schemas.common.extras import needed

if TYPE_CHECKING:
    from instructor import AsyncInstructor

Turn: TypeAlias = Callable[[], AbstractAsyncContextManager[None]]
"""Entered before each request goes out: pauses, limits, the budget."""


class Gate(Protocol):
    """One call, as instructor's steps see it."""

    def came(self, response: Any) -> None:
        """A reply came."""

    def failed(self, error: Exception) -> None:
        """The client gave no reply."""

    def answer_in(self, response: Any) -> BaseModel | None:
        """The form in the last reply.

        Raises:
            Unusable: the reply does not fill in the form.
            Fault: what came is not a reply.
        """

    def next_arguments(self) -> dict[str, Any]:
        """The arguments of the next request, after a reply that was not an answer."""


GATE: Final[ContextVar[Gate | None]] = ContextVar("gate", default=None)
"""The call that this task is asking for; None outside of one."""


class ChatRequest(NamedTuple):
    """What one request asks."""

    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    """Which the model may call."""
    form: Form | None = None
    """What the reply must fill in; None: the reply is free."""
    times_limit: int = 1
    """Factor of the longest reply of the settings: 2 after a reply was cut."""
    mode: Mode = "tools"
    """How the form is asked for."""
    refused: frozenset[str] = frozenset()
    """Fields of a request that the model does not take."""


class Client(ABC):
    """A provider's own asynchronous client, patched by instructor.

    Args:
        settings: of the model.
        turn: entered before each request goes out.
    """

    modes: Sequence[Mode] = ("tools", "json_schema", "json")
    """How a form can be asked for, the best first."""
    completion: Callable[[Any], Completion]
    """Gives a reply in the common form; raises ErrorCameError if an error came in its place, UnreadableError if it is not a reply."""

    def __init__(self, settings: ModelSettings, turn: Turn) -> None:
        self._settings, self._turn = settings, turn
        self._by_mode: dict[Mode, AsyncInstructor] = {}

    def instructor(self, mode: Mode) -> AsyncInstructor:
        """The client that asks for forms in that mode."""
        if mode not in self._by_mode:
            self._by_mode[mode] = self._patched(mode)
        return self._by_mode[mode]

    @abstractmethod
    def _patched(self, mode: Mode) -> AsyncInstructor: ...

    @abstractmethod
    def arguments(self, request: ChatRequest) -> dict[str, Any]:
        """The arguments of `create`, without the form."""

    @abstractmethod
    async def close(self) -> None:
        """Close the connections."""


def connect(settings: ModelSettings, turn: Turn) -> Client:
    """The client for a model, made as `Client`.

    Raises:
        UsageError: the model's name is incomplete, its key is missing, or a package that its provider needs is not installed.
    """
    provider = provider_of(settings)
    if provider.package is not None:
        needed(provider.package, f"{settings.provider}/")
    name = provider.protocol if provider.protocol in {"anthropic", "google", "bedrock"} else "openai"
    module = import_module(f"providers.clients.{name}")
    made: Client = module.Connected(settings, turn)
    made.completion = module.completion_of
    return made
