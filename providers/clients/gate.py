"""instructor's modes, with `providers.answers` as the step that decides what counts as an answer.

instructor prepares the request of a mode, calls the provider's client, keeps its hooks and asks again. For a call of ours (`GATE`), its
parser hands the reply to our gate, and its re-ask is ours: it shows the form with places to be filled in. All other users of instructor in
the process see what they always saw.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

import orjson
from instructor import Mode, Provider
from instructor.v2.core.errors import ResponseParsingError
from instructor.v2.core.hooks import Hooks
from instructor.v2.core.registry import mode_registry
from pydantic import BaseModel

from providers.answers import Answer
from providers.clients.client import GATE
from providers.faults import Unusable

__all__ = ["HOOKS", "NoAnswerError", "gated", "json_wish"]


class NoAnswerError(Unusable, ResponseParsingError):
    """A reply came that is no answer; instructor asks again after it, as long as the policy of the call allows."""

    def __init__(self, answer: Answer) -> None:
        Unusable.__init__(self, answer.why_not or "", cut=answer.reading == "cut")


def _of_ours() -> bool:
    return GATE.get() is not None


def _came(response: Any) -> None:
    if (call := GATE.get()) is not None:
        call.came(response)


def _failed(error: Exception) -> None:
    if (call := GATE.get()) is not None:
        call.failed(error)


HOOKS: Final = Hooks()
"""Of the clients: each reply and each failure is told to the call that it belongs to."""
HOOKS.on("completion:response", _came)
HOOKS.on("completion:error", _failed)
logging.getLogger("instructor.v2.retry").addFilter(lambda _: not _of_ours())  # what failed is stored with the call


def gated(provider: Provider, mode: Mode, write: Callable[[type[BaseModel] | None, dict[str, Any]], dict[str, Any]]) -> None:
    """Have calls of ours in that mode pass our gate.

    Args:
        provider: as instructor calls it.
        mode: of instructor.
        write: gives the arguments of the provider's client for a form, or for a free reply, and the arguments of ours.
    """
    usual: Any = mode_registry.get_handlers(provider, mode)

    def prepare(response_model: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        if _of_ours():
            return response_model, write(response_model, kwargs)
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
        if usual.message_converter is None or _of_ours():  # ours hold no images
            return messages
        return usual.message_converter(messages, autodetect_images=autodetect_images)

    register: Any = mode_registry.register
    extract, extract_later = usual.stream_extractor, usual.stream_extractor_async
    register(provider, mode, prepare, reask, parse, extract, extract_later, convert, usual.template_handler)


def json_wish(head: str, schema: Any) -> str:
    """A system text that says last that the form's JSON is wanted."""
    wish = (
        f"Reply with one JSON object and nothing else, no text around it. It has to fit this JSON schema:\n{orjson.dumps(schema).decode()}"
    )
    return f"{head}\n\n{wish}" if head else wish
