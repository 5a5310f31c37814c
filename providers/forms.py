"""Forms that replies fill in: as instructor's clients take them, as JSON schemas, tools and words, and as the model is shown them again.

Schemas are built once a class, since a request would take longer to write than to send.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import orjson
from pydantic import BaseModel

from providers.provider import Mode
from schemas.chat.messages import Message, Tool

_LONGEST_REPLY_SHOWN_AGAIN: Final = 4_000
_DEEPEST: Final = 8
"""Levels of a form that an example shows."""


class Form:
    """A Pydantic model that a reply has to fill in."""

    def __init__(self, model: type[BaseModel]) -> None:
        from instructor.v2.core.response_model import prepare_response_model

        self.model = model
        self.wrapped: Any = prepare_response_model(model)
        """As instructor's clients take it. Wrapping it for each call would take longer than the call."""
        self.tool = Tool(**tool_of(model))
        self.length = len(json.dumps(self.tool.parameters))
        """Bytes of its JSON schema."""

    @property
    def example(self) -> str:
        """The form as JSON with a description in each place; such a text is never an answer (`schemas.chat.answers.PLACEHOLDER`)."""
        return json.dumps(_example(self.tool.parameters, self.tool.parameters.get("$defs", {})), ensure_ascii=False)


def _example(schema: Mapping[str, Any], defs: Mapping[str, Any], depth: int = 0) -> Any:
    """A value of the shape that a JSON schema describes."""
    if "$ref" in schema:
        schema = {**defs[schema["$ref"].rpartition("/")[2]], **{name: part for name, part in schema.items() if name != "$ref"}}
    for choice in ("anyOf", "oneOf", "allOf"):
        if schema.get(choice):
            return _example(schema[choice][0], defs, depth)
    if isinstance(schema.get("properties"), dict) and depth < _DEEPEST:
        return {name: _example(part, defs, depth + 1) for name, part in schema["properties"].items()}
    if schema.get("type") == "array" and depth < _DEEPEST:
        return [_example(schema.get("items", {}), defs, depth + 1)]
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return f"<<one of: {', '.join(map(str, schema['enum']))}>>"
    return f"<<{schema.get('description') or schema.get('type', 'a value')}>>"


def reask(form: Form, reply: str, why_not: str, mode: Mode) -> list[Message]:
    """What is added to the chat: the model's reply, what is wrong with it, and the form that is due.

    Args:
        form: what the reply must fill in.
        reply: what the model wrote.
        why_not: why it is not an answer.
        mode: how the form is asked for.
    """
    due = f"Call the tool {form.tool.name} once, with arguments" if mode == "tools" else "Reply with one JSON object and nothing else, "
    shown = reply[:_LONGEST_REPLY_SHOWN_AGAIN] or "(nothing)"
    text = (
        f"That reply is not an answer: {why_not}.\n{due} of this form. Write your own answer in each place that is marked << >>; "
        f"do not repeat the marks:\n{form.example}"
    )
    return [{"role": "assistant", "content": shown}, {"role": "user", "content": text}]


@cache
def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a form."""
    return model.model_json_schema()


@cache
def closed_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema with all properties of each object required and no others allowed, as servers want it that hold replies to it."""
    found: dict[str, Any] = _closed(schema_of(model))
    return found


def _closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _closed(part) for name, part in schema.items()}
    if isinstance(schema.get("properties"), Mapping):
        found |= {"additionalProperties": False, "required": list(schema["properties"])}
    return found


@cache
def tool_of(model: type[BaseModel]) -> dict[str, Any]:
    """A form as a tool: name, description and parameters."""
    from instructor.processing.schema import generate_openai_schema

    return generate_openai_schema(model)


def in_words(head: str, model: type[BaseModel]) -> str:
    """A system text that asks last for the form's JSON."""
    return f"{head}\n\n{_wish(model)}" if head else _wish(model)


@cache
def _wish(model: type[BaseModel]) -> str:
    schema = orjson.dumps(schema_of(model)).decode()
    return f"Reply with one JSON object and nothing else, no text around it. It has to fit this JSON schema:\n{schema}"
