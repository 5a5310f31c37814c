"""Forms that models fill in: how a prompt shows one, and why a reply that copies its prompt is not an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from pydantic import BaseModel, model_validator
from pydantic_core import PydanticCustomError

from providers.messages import Form
from schemas.replies import is_echo

EXAMPLE: Final = "<<example: {}>>"
"""How a prompt writes an example: nobody who answers would write these marks."""
_MARKED: Final = re.compile(r"<<\s*example\b", re.IGNORECASE)


@lru_cache(maxsize=64)
def asked_in(form: type[BaseModel]) -> str:
    """The last part of a prompt: the form, with marks in each place. A text between such marks is never an answer."""
    return f"Fill in this form. Write your own answer in each place between << and >>, without the marks:\n{Form(form).example}"


def own_words(*examples: str) -> Any:
    """A validator of forms: it refuses a reply that repeats a part of its prompt, in any field, asked for or not.

    Args:
        examples: what the prompt shows besides the form, whose descriptions count too.
    """
    shown: dict[type[BaseModel], tuple[str, ...]] = {}

    def refuse_copies(cls: type[BaseModel], reply: Any) -> Any:
        if cls not in shown:
            shown[cls] = (*examples, *_descriptions(cls.model_json_schema()))
        for where, text in _texts(reply):
            if _MARKED.search(text) or is_echo(text, shown[cls]):
                raise PydanticCustomError("echo", "{where} repeats an example of the prompt, which is not an answer", {"where": where})
        return reply

    return model_validator(mode="before")(refuse_copies)


def _texts(value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """All texts in a value, each with its place."""
    if isinstance(value, str):
        yield where or "it", value
    elif isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(part, f"{where}.{key}" if where else str(key))


def _descriptions(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for part in schema:
            yield from _descriptions(part)
    elif isinstance(schema, dict):
        for key, part in schema.items():
            if key == "description" and isinstance(part, str):
                yield part
            else:
                yield from _descriptions(part)
