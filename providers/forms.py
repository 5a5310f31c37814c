"""Typed replies: the JSON schema that a model has to fill in, and how what it wrote is read."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ValidationError

from providers.faults import Unusable
from providers.messages import Message, Tool
from schemas.text import excerpt

__all__ = ["Form", "parse_reply", "reask"]

_MOST_MISTAKES: Final = 10
_LONGEST_REASON: Final = 1_000
_LONGEST_REPLY_SHOWN_AGAIN: Final = 4_000


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
        try:
            return self.model.model_validate_json(text)
        except ValidationError as error:
            salvaged = parse_reply(self.model, text)
            if salvaged is None:
                raise Unusable(_explained(error), text) from error
            return salvaged


def parse_reply(model: type[BaseModel], text: str) -> BaseModel | None:
    """The filled model out of a reply in prose that contains the JSON object; None if no such object is in it.

    Some servers answer in prose around the JSON instead of a tool call; that is a complete answer and need not be paid twice.
    """
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return None
    try:
        return model.model_validate_json(text[start : end + 1])
    except ValidationError:
        return None


def _explained(error: ValidationError) -> str:
    """Why a reply did not fit, in words that a model can act on."""
    found = [f"{'.'.join(map(str, e['loc'])) or 'reply'}: {e['msg']}" for e in error.errors(include_url=False)[:_MOST_MISTAKES]]
    return excerpt("; ".join(found), _LONGEST_REASON)


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
