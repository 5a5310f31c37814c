"""Typed replies: the JSON schema that a model has to fill in, and what it is shown when its reply was not an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from providers.messages import Message, Tool
from providers.provider import Mode

__all__ = ["Form", "reask"]

_LONGEST_REPLY_SHOWN_AGAIN: Final = 4_000
_DEEPEST: Final = 8
"""Levels of a form that an example shows."""


class Form:
    """A Pydantic model that a reply has to fill in."""

    def __init__(self, model: type[BaseModel]) -> None:
        from instructor.processing.schema import generate_openai_schema
        from instructor.v2.core.response_model import prepare_response_model

        self.model = model
        self.wrapped: Any = prepare_response_model(model)
        """As instructor's clients take it; wrapping it anew for each call would take longer than the call."""
        self.tool = Tool(**generate_openai_schema(model))
        self.length = len(json.dumps(self.tool.parameters))
        """Bytes of its JSON schema."""

    @property
    def example(self) -> str:
        """The form as JSON with a description in each place; no such text is ever an answer (`providers.answers.PLACEHOLDER`)."""
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
    """What is added to the chat so that the model sees what was wrong with its reply, and which form is due.

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
