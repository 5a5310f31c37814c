"""What a model is asked, and forms that replies fill in: for instructor's clients, as JSON schemas, tools and words, and shown again.

Schemas are built once a class, since a request would take longer to write than to send.
"""

import json
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final, NamedTuple

import orjson
from pydantic import BaseModel

from providers.provider import Mode, ModelSettings
from schemas.chat.answers import Answer, read_answer
from schemas.chat.messages import Completion, Message, Tool

_LONGEST_REPLY_SHOWN_AGAIN: Final = 4_000
_DEEPEST: Final = 8
"""Levels of a form that an example shows."""


class Form:
    """A Pydantic model that a reply has to fill in."""

    def __init__(self, model: type[BaseModel]) -> None:
        from instructor.v2.core.response_model import prepare_response_model
        from instructor.v2.providers.openai.schema import generate_openai_schema

        self.model = model
        self.wrapped: Any = prepare_response_model(model)
        """As instructor's clients take it. Wrapping it for each call would take longer than the call."""
        self.tool = Tool(**generate_openai_schema(model))
        self.length = len(json.dumps(self.tool.parameters))
        """Bytes of its JSON schema."""

    @cached_property
    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        return self.model.model_json_schema()

    @cached_property
    def closed_schema(self) -> dict[str, Any]:
        """All properties of each object are required and no others allowed, as servers want it that hold replies to a schema.

        As OpenAI's client makes it, which would write what several questions share once for each of them.
        """
        found: dict[str, Any] = _closed(self.schema)
        return found

    @cached_property
    def may_leave_out(self) -> bool:
        """Whether there are fields that need no value: left out, they cost no tokens, and a small model makes nothing up."""
        return '"default":' in orjson.dumps(self.schema).decode()

    @cached_property
    def wish(self) -> str:
        """The last part of a system text that asks for the form in words."""
        schema = orjson.dumps(self.schema).decode()
        return f"Reply with one JSON object and nothing else, no text around it. It has to fit this JSON schema:\n{schema}"

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
    due = f"Call the tool {form.tool.name} once, with arguments" if mode == "tools" else "Reply with one JSON object and nothing else,"
    shown = reply[:_LONGEST_REPLY_SHOWN_AGAIN] or "(nothing)"
    text = (
        f"That reply is not an answer: {why_not}.\n{due} of this form. Write your own answer in each place that is marked << >>; "
        f"do not repeat the marks:\n{form.example}"
    )
    return [{"role": "assistant", "content": shown}, {"role": "user", "content": text}]


form_of = cache(Form)
"""The form of a model, made once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelQuestion:
    """What a model is asked."""

    messages: Sequence[Message]
    form: type[BaseModel] | None = None
    """What the reply must fill in; None: the reply is text."""
    asks_for_thoughts: bool = False
    """Whether the messages ask for thoughts in tags that the caller reads itself; they are then part of the text."""
    tools: Sequence[Tool] = ()
    """What the model may call; of a question without a form."""
    longest: int | None = None
    """Tokens of the longest reply, reasoning apart, where it is less than that of the settings; None: as these say."""

    def limit(self, settings: ModelSettings) -> int:
        """Longest reply with its reasoning, in tokens."""
        return settings.limit if self.longest is None else min(settings.limit, self.longest + settings.reasoning_tokens)

    def answer(self, completion: Completion) -> Answer:
        """Whether a reply is an answer to it, and which."""
        return read_answer(completion, self.form, asks_for_thoughts=self.asks_for_thoughts)


class ChatRequest(NamedTuple):
    """What one request asks."""

    messages: Sequence[Message]
    limit: int
    """Longest reply, in tokens."""
    tools: Sequence[Tool] = ()
    """Which the model may call."""
    form: Form | None = None
    """What the reply must fill in; None: the reply is free."""
    mode: Mode = "tools"
    """How the form is asked for."""
    refused: frozenset[str] = frozenset()
    """Fields of a request that the model does not take."""

    @property
    def with_wish(self) -> Sequence[Message]:
        """The messages; where a form is asked for in words, the system message ends in that wish."""
        if self.form is None or self.mode != "json":
            return self.messages
        head = "\n\n".join(filter(None, [system_text(self.messages), self.form.wish]))
        return [{"role": "system", "content": head}, *(message for message in self.messages if message["role"] != "system")]


CALL: Final[ContextVar[Any]] = ContextVar("call", default=None)
"""The call (`providers.server`) that this task is asking for, for steps and hooks of instructor; None outside of one."""


def system_text(messages: Sequence[Message]) -> str:
    """The system messages together, for providers to which they are a field of their own."""
    return "\n\n".join(message["content"] for message in messages if message["role"] == "system")


def _closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _closed(part) for name, part in schema.items()}
    if isinstance(schema.get("properties"), Mapping):
        found |= {"additionalProperties": False, "required": list(schema["properties"])}
    return found
