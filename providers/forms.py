"""Typed replies: the JSON schema that a model has to fill in, and how what it wrote is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from providers.faults import Unusable
from providers.messages import Message, Tool
from providers.thoughts import parted
from schemas.text import excerpt

__all__ = ["Form", "parse_reply", "reask"]

_MOST_MISTAKES: Final = 10
_LONGEST_REASON: Final = 1_000
_LONGEST_REPLY_SHOWN_AGAIN: Final = 4_000
_MOST_OBJECTS: Final = 200
"""Of a reply that are looked at."""
_DECODER: Final = json.JSONDecoder(strict=False)


class Form:
    """A Pydantic model that a reply has to fill in."""

    def __init__(self, model: type[BaseModel]) -> None:
        from instructor.processing.schema import generate_openai_schema

        self.model = model
        self.tool = Tool(**generate_openai_schema(model))

    def read(self, text: str) -> BaseModel:
        """The filled model.

        Raises:
            Unusable: the text does not fit.
        """
        filled = parse_reply(self.model, text)
        if filled is None:
            raise Unusable(self._explained(text), text)
        return filled

    def _explained(self, text: str) -> str:
        """Why a reply did not fit, in words that a model can act on."""
        try:
            self.model.model_validate_json(text)
        except ValidationError as error:
            found = [f"{'.'.join(map(str, e['loc'])) or 'reply'}: {e['msg']}" for e in error.errors(include_url=False)[:_MOST_MISTAKES]]
            return excerpt("; ".join(found), _LONGEST_REASON)
        return "it does not fit"


def parse_reply(model: type[BaseModel], text: str) -> BaseModel | None:
    """The filled model out of a reply that contains the JSON object; None if no such object is in it, or several that differ.

    Some models write prose, a fence or their thoughts around the JSON: that is a complete answer and need not be paid twice.
    """
    whole = _filled(model, text)
    if whole is not None:
        return whole
    filled = [one for content in _objects(parted(text).text) if (one := _filled(model, _written(content))) is not None]
    return filled[0] if filled and all(one == filled[0] for one in filled) else None


def _objects(text: str) -> Iterator[Any]:
    """JSON objects in a text, one after the other."""
    at = 0
    for _ in range(_MOST_OBJECTS):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            found, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
        else:
            yield found


def _written(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")


def _filled(model: type[BaseModel], text: str | bytes) -> BaseModel | None:
    try:
        return model.model_validate_json(text)
    except ValidationError:
        return None


def reask(unusable: Unusable) -> list[Message]:
    """What is added to the chat so that the model sees what was wrong with its reply."""
    shown = unusable.reply[:_LONGEST_REPLY_SHOWN_AGAIN] or "(nothing)"
    return [
        {"role": "assistant", "content": shown},
        {
            "role": "user",
            "content": f"That reply cannot be used: {unusable.reason}. Answer again, completely, in the form that was asked for.",
        },
    ]
