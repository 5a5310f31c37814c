"""The providers' own clients, patched by instructor, with `schemas.chat.answers` as the step that decides what counts as an answer.

instructor calls the provider's client and its hooks, and asks again. For a call of cotrace (`providers.forms.CALL`), its parser hands the
reply to the call, and the re-ask shows the form with places to be filled in. Other users of instructor in the process get its own handlers.
"""

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, Final, TypeAlias

import orjson
from instructor import AsyncInstructor, Provider
from instructor import Mode as TheirMode
from instructor.v2.core.errors import ResponseParsingError
from instructor.v2.core.hooks import Hooks
from instructor.v2.core.registry import mode_registry

from providers.faults import Unusable
from providers.forms import CALL, ChatRequest, Form
from providers.provider import Mode, ModelSettings, provider_of
from providers.wire import Turn, http_client
from schemas.chat.messages import Completion, Message, ToolCall, counted
from schemas.common.packages import needed

# -- instructor -------------------------------------------------------------------------------------------


def _came(response: Any) -> None:
    if (call := CALL.get()) is not None:
        call.came(response)


def _failed(error: Exception) -> None:
    if (call := CALL.get()) is not None:
        call.failed(error)


HOOKS: Final = Hooks()
"""Of the clients: each reply and each failure goes to its call."""
HOOKS.on("completion:response", _came)
HOOKS.on("completion:error", _failed)
logging.getLogger("instructor.v2.retry").addFilter(lambda _: CALL.get() is None)  # the call's row holds what failed


Write: TypeAlias = Callable[[Form, dict[str, Any]], dict[str, Any]]
"""Adds a form to the arguments of a provider's client."""


class Gated:
    """instructor's steps in one mode of a provider, registered in place of its own: calls of cotrace pass the gate.

    Args:
        provider: as instructor names it.
        mode: of instructor.
        write: how the form is asked for; None: as instructor does it.
        last: changes the arguments after that; also those of a free reply.
    """

    def __init__(self, provider: Provider, mode: TheirMode, write: Write | None = None, last: Callable[[Any], Any] = dict) -> None:
        self.mode = mode
        self._usual: Any = mode_registry.get_handlers(provider, mode)
        self._write, self._last = write, last
        streams = self._usual.stream_extractor, self._usual.stream_extractor_async
        register: Any = mode_registry.register
        register(provider, mode, self._prepare, self._reask, self._parse, *streams, self._convert, self._usual.template_handler)

    def written(self, form: Form | None, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of the provider's client, with a form."""
        if form is not None:
            usual = self._usual.request_handler
            kwargs = usual(response_model=form.wrapped, kwargs=kwargs)[1] if self._write is None else self._write(form, kwargs)
        found: dict[str, Any] = self._last(kwargs)
        return found

    def _prepare(self, response_model: Any, kwargs: dict[str, Any]) -> Any:
        if (call := CALL.get()) is None:
            return self._usual.request_handler(response_model=response_model, kwargs=kwargs)
        return response_model, self.written(call.form, kwargs)

    def _parse(self, response: Any, response_model: Any, **more: Any) -> Any:
        if (call := CALL.get()) is None:
            return self._usual.response_parser(response=response, response_model=response_model, **more)
        try:
            return call.filled()
        except Unusable as error:
            raise ResponseParsingError(str(error)) from error  # after which instructor asks again, as the policy of the call allows

    def _reask(self, kwargs: dict[str, Any], response: Any, exception: Exception) -> Any:
        if (call := CALL.get()) is None:
            return self._usual.reask_handler(kwargs=kwargs, response=response, exception=exception)
        return self.written(call.form, call.next_arguments())

    def _convert(self, messages: Any, *, autodetect_images: bool = False) -> Any:
        if self._usual.message_converter is None or CALL.get() is not None:  # calls of cotrace hold no images
            return messages
        return self._usual.message_converter(messages, autodetect_images=autodetect_images)


def unchanged(_form: Form, kwargs: dict[str, Any]) -> dict[str, Any]:
    """A `Write` for forms that the messages ask for in words."""
    return kwargs


class Client(ABC):
    """A provider's own asynchronous client, patched by instructor.

    Args:
        settings: of the model.
        turn: entered before each request goes out: pauses, limits, the budget.
    """

    ways: ClassVar[Mapping[Mode, Gated]]
    """How a form can be asked for, the best first."""
    completion: Callable[[Any], Completion]
    """Gives a reply in the common form; raises ErrorCameError if an error came in its place, UnreadableError if it is not a reply."""

    def __init__(self, settings: ModelSettings, turn: Turn) -> None:
        self._settings = settings
        self._http = http_client(turn, settings.timeout_s, settings.most_bytes())
        self.modes: Sequence[Mode] = tuple(self.ways)
        """As `ways`, for this model."""
        self._by_mode: dict[Mode, AsyncInstructor] = {}

    def instructor(self, mode: Mode) -> AsyncInstructor:
        """The client that asks for forms in that mode."""
        if mode not in self._by_mode:
            self._by_mode[mode] = self._patched(self.ways[mode].mode)
        return self._by_mode[mode]

    @abstractmethod
    def _patched(self, mode: TheirMode) -> AsyncInstructor: ...

    @abstractmethod
    def arguments(self, request: ChatRequest) -> dict[str, Any]:
        """The arguments of `create`, without the form."""

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def connect(settings: ModelSettings, turn: Turn) -> Client:
    """The client for a model, made as `Client`.

    Raises:
        UsageError: the model's name is incomplete, its key is missing, or a package that its provider needs is not installed.
    """
    provider = provider_of(settings)
    if provider.package is not None:
        needed(provider.package, f"{settings.provider}/")
    name = provider.protocol if provider.protocol in {"anthropic", "google", "bedrock", "mistral"} else "openai"
    module = import_module(f"providers.clients.{name}")
    made: Client = module.Connected(settings, turn)
    made.completion = module.completion_of
    return made


# -- messages, tools and replies of several providers -----------------------------------------------------


def merged(messages: Sequence[Message], parts: Callable[[Message], list[Any]], *, assistant: str, content: str) -> list[dict[str, Any]]:
    """The other messages; those of one role that follow each other, such as results of several tools, are one.

    Args:
        messages: all of them.
        parts: of a message without `echo`.
        assistant: the provider's word for the model's role.
        content: its word for the parts.
    """
    found: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "system":
            continue
        role = assistant if message["role"] == "assistant" else "user"
        if not found or found[-1]["role"] != role:
            found.append({"role": role, content: []})
        found[-1][content] += parts(message) if message.get("echo") is None else list(message["echo"])
    return found


def arguments_of(call: ToolCall) -> Any:
    """A tool call's arguments as an object; empty where the model has not written one."""
    try:
        return orjson.loads(call.arguments)
    except orjson.JSONDecodeError:
        return {}


def called(call_id: Any, name: Any, arguments: Any) -> ToolCall:
    """A tool call whose arguments came as an object."""
    return ToolCall(str(call_id or ""), str(name or ""), json.dumps(arguments or {}, ensure_ascii=False))


def unlisted(usage: Any, total: str, *listed: str) -> int:
    """Tokens of a server's total that it does not list; 0 if it states no total."""
    whole = counted(usage, total)
    return whole - sum(counted(usage, name) for name in listed) if whole else 0


def given(fields: Mapping[str, Any], left_out: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The fields that have a value, without those that the model does not take."""
    return {name: value for name, value in fields.items() if value is not None and name not in left_out}
