"""What is sent to a model and what it may call, in one form for all providers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Required, TypedDict

__all__ = ["Message", "Tool", "ToolCall"]


class ToolCall(NamedTuple):
    """A tool that the model wants to be used."""

    id: str
    """As the provider calls it; the tool's result names it."""
    name: str
    arguments: str
    """As the model wrote them; meant to be a JSON object."""


class Tool(NamedTuple):
    """A function that the model may call."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of its arguments."""


class Message(TypedDict, total=False):
    """A chat message."""

    role: Required[str]
    """system, user, assistant, or tool: the result of a tool call."""
    content: Required[str]
    tool_calls: Sequence[ToolCall]
    """Of an assistant's message."""
    tool_call_id: str
    """Of a tool's message: the call that it answers."""
    echo: Any
    """Of an assistant's message: `Completion.echo`, which some providers want back word for word (signed reasoning)."""
