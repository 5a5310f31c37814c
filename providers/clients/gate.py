"""instructor's modes, with `schemas.chat.answers` as the step that decides what counts as an answer, and what all clients share.

instructor prepares the request of a mode, calls the provider's client and its hooks, and asks again. For a call of cotrace (`GATE`), its
parser hands the reply to the gate, and the re-ask shows the form with places to be filled in. Other users of instructor in the process
get instructor's own handlers.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import httpx
import orjson
from instructor import Mode, Provider
from instructor.v2.core.errors import ResponseParsingError
from instructor.v2.core.hooks import Hooks
from instructor.v2.core.registry import mode_registry
from pydantic import BaseModel

from providers.clients.client import GATE, Turn
from providers.faults import Unusable
from providers.provider import ModelSettings
from providers.wire import Wire
from schemas.chat.answers import Answer
from schemas.chat.messages import Message, ToolCall


class NoAnswerError(Unusable, ResponseParsingError):
    """A reply came that is not an answer; instructor asks again, as long as the policy of the call allows."""

    def __init__(self, answer: Answer) -> None:
        Unusable.__init__(self, answer.why_not or "")


def _came(response: Any) -> None:
    if (call := GATE.get()) is not None:
        call.came(response)


def _failed(error: Exception) -> None:
    if (call := GATE.get()) is not None:
        call.failed(error)


HOOKS: Final = Hooks()
"""Of the clients: each reply and each failure goes to its call."""
HOOKS.on("completion:response", _came)
HOOKS.on("completion:error", _failed)
logging.getLogger("instructor.v2.retry").addFilter(lambda _: GATE.get() is None)  # the call's row holds what failed


def gated(
    provider: Provider,
    mode: Mode,
    write: Callable[[type[BaseModel], dict[str, Any]], dict[str, Any]],
    last: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> None:
    """Have calls of cotrace in that mode pass the gate.

    Args:
        provider: as instructor names it.
        mode: of instructor.
        write: adds a form to the arguments of the provider's client.
        last: changes the arguments after that; also those of a free reply.
    """
    usual: Any = mode_registry.get_handlers(provider, mode)

    def prepare(response_model: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        if GATE.get() is not None:
            return response_model, last(kwargs if response_model is None else write(response_model, kwargs))
        found: tuple[Any, dict[str, Any]] = usual.request_handler(response_model=response_model, kwargs=kwargs)
        return found

    def parse(response: Any, response_model: Any, **more: Any) -> Any:
        gate = GATE.get()
        if gate is None:
            return usual.response_parser(response=response, response_model=response_model, **more)
        return gate.answer_in(response)

    def reask(kwargs: dict[str, Any], response: Any, exception: Exception) -> Any:
        gate = GATE.get()
        if gate is None:
            return usual.reask_handler(kwargs=kwargs, response=response, exception=exception)
        arguments = gate.next_arguments()
        return prepare(arguments.pop("response_model"), arguments)[1]

    def convert(messages: Any, *, autodetect_images: bool = False) -> Any:
        if usual.message_converter is None or GATE.get() is not None:  # calls of cotrace hold no images
            return messages
        return usual.message_converter(messages, autodetect_images=autodetect_images)

    register: Any = mode_registry.register
    extract, extract_later = usual.stream_extractor, usual.stream_extractor_async
    register(provider, mode, prepare, reask, parse, extract, extract_later, convert, usual.template_handler)


# -- messages, tools and replies of several providers -----------------------------------------------------


def http_client(settings: ModelSettings, turn: Turn) -> httpx.AsyncClient:
    """The HTTP client of an SDK, over the one transport (`providers.wire`), which has the time limit."""
    return httpx.AsyncClient(transport=Wire(settings, turn), timeout=None)  # noqa: S113


def system_text(messages: Sequence[Message]) -> str:
    """The system messages together, for providers to which they are a field of their own."""
    return "\n\n".join(message["content"] for message in messages if message["role"] == "system")


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
    return ToolCall(str(call_id or ""), str(name or ""), orjson.dumps(arguments or {}).decode())


def given(fields: Mapping[str, Any], left_out: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The fields that have a value, without those that the model does not take."""
    return {name: value for name, value in fields.items() if value is not None and name not in left_out}
