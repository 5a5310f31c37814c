"""What a chat message holds, part by part: text, thoughts, tools that are called, and media, which stand in the text by name.

The forms are those of OpenAI's chat messages, Anthropic's content blocks, Inspect's content and OpenTelemetry's message parts. A part of a
kind that is not known is kept as its JSON: nothing of a message is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ingest.conversation.rows import ToolUse
from ingest.reading.json_text import dumps, loads
from schemas.errors import BadInputError

__all__ = ["CalledTool", "MessageParts", "called_tool", "parts_of", "text_of"]

_TEXT_KEYS: Final = ("text", "content", "refusal", "input_text", "output_text")
_THOUGHT_KEYS: Final = ("reasoning", "thinking", "content", "text", "summary")
_MEDIA: Final = ("image", "image_url", "audio", "input_audio", "video", "document", "file", "blob", "uri")
_MOST_OF_A_LINK: Final = 300
"""Longer ones are data."""


@dataclass(frozen=True, slots=True)
class CalledTool:
    """A call of a tool, with the id under which its result comes back; None if the log gives none."""

    id: str | None
    use: ToolUse


@dataclass(slots=True)
class MessageParts:
    """What one message holds."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    tools: list[CalledTool] = field(default_factory=list)
    results: dict[str, str | None] = field(default_factory=dict)
    """Id of a call -> the error that came of it, None if it went well."""

    @property
    def text(self) -> str:
        """The words of the message, as they would be read."""
        return "\n".join(self.texts)

    @property
    def thought(self) -> str | None:
        """What its author thought; None if nothing is shown."""
        return "\n".join(self.thoughts) or None


def parts_of(content: Any) -> MessageParts:
    """The parts of a message's content: a text, a list of parts, one part, or nothing."""
    found = MessageParts()
    if content is None:
        return found
    for part in content if isinstance(content, list) else [content]:
        _add(found, part)
    return found


def text_of(content: Any) -> str:
    """The words of a content."""
    return parts_of(content).text


def _add(found: MessageParts, part: Any) -> None:
    if isinstance(part, str):
        found.texts.append(part)
    elif not isinstance(part, Mapping):
        found.texts.append(dumps(part))
    else:
        _KINDS.get(str(part.get("type")), _unknown)(found, part)


def _text(found: MessageParts, part: Mapping[str, Any]) -> None:
    found.texts.append(_first(part, _TEXT_KEYS) or "")


def _thought(found: MessageParts, part: Mapping[str, Any]) -> None:
    if part.get("redacted"):
        found.thoughts.append(f"[redacted] {part.get('summary') or ''}".strip())
    else:
        found.thoughts.append(_first(part, _THOUGHT_KEYS) or "[redacted]")


def _tool_call(found: MessageParts, part: Mapping[str, Any]) -> None:
    found.tools.append(called_tool(part))


def _tool_used(found: MessageParts, part: Mapping[str, Any]) -> None:
    """A tool of the provider's own: the call and its result in one part."""
    if "result" not in part:
        _tool_call(found, part)
        return
    error = part.get("error")
    used = called_tool(part).use
    found.tools.append(CalledTool(None, _finished(used, None if error is None else str(error))))
    found.texts.append(f"[{used.name}: {part['result']}]")


def _finished(used: ToolUse, error: str | None) -> ToolUse:
    return ToolUse(name=used.name, arguments=used.arguments, raw=used.raw, succeeded=error is None, error_text=error)


def _tool_result(found: MessageParts, part: Mapping[str, Any]) -> None:
    given = next((part[key] for key in ("response", "result", "content") if part.get(key) is not None), None)
    text = text_of(given) if isinstance(given, str | list) else "" if given is None else dumps(given)
    found.texts.append(text)
    called = part.get("tool_use_id") or part.get("id")
    if called is not None:
        found.results[str(called)] = text if part.get("is_error") else None


def _media(found: MessageParts, part: Mapping[str, Any]) -> None:
    kind = str(part["type"])
    shown = part.get(kind) or part.get("source") or {key: value for key, value in part.items() if key != "type"}
    if isinstance(shown, Mapping):
        shown = shown.get("url") or shown.get("uri") or dumps(shown)
    name = part.get("filename") or part.get("name")
    data = str(shown)
    told = data if len(data) <= _MOST_OF_A_LINK else f"{data[:40]}... ({len(data)} characters of data, left in the log)"
    found.texts.append(f"[{kind}{f' {name}' if name else ''}: {told}]")


def _unknown(found: MessageParts, part: Mapping[str, Any]) -> None:
    text = part.get("text")
    found.texts.append(text if isinstance(text, str) and set(part) <= {"type", "text"} else dumps(part))


def _first(part: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        value = part.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value:
            return text_of(value)
    return None


_KINDS: Final[Mapping[str, Callable[[MessageParts, Mapping[str, Any]], None]]] = {
    **dict.fromkeys(("text", "input_text", "output_text", "refusal"), _text),
    **dict.fromkeys(("reasoning", "thinking", "redacted_thinking"), _thought),
    **dict.fromkeys(("tool_call", "function_call", "server_tool_use"), _tool_call),
    "tool_use": _tool_used,
    **dict.fromkeys(("tool_result", "tool_call_response", "function_call_output"), _tool_result),
    **dict.fromkeys(_MEDIA, _media),
}


def called_tool(call: Mapping[str, Any]) -> CalledTool:
    """A call in any of the forms: `function` a name, or an object with name and arguments; arguments an object or JSON text."""
    function = call.get("function")
    inner: Mapping[str, Any] = function if isinstance(function, Mapping) else call
    name = inner.get("name") or (function if isinstance(function, str) else None) or call.get("type") or "tool"
    given: Any = next((inner[key] for key in ("arguments", "input", "args") if inner.get(key) is not None), {})
    arguments, raw = _arguments(given)
    wrong = call.get("parse_error")
    use = ToolUse(
        name=str(name),
        arguments=arguments,
        raw=raw,
        succeeded=False if wrong else None,
        error_code="parsing" if wrong else None,
        error_text=str(wrong) if wrong else None,
    )
    called = call.get("id") or call.get("call_id") or call.get("tool_call_id")
    return CalledTool(None if called is None else str(called), use)


def _arguments(given: Any) -> tuple[Mapping[str, Any], str | None]:
    """An object, and the text as it was written where it is none."""
    if isinstance(given, Mapping):
        return given, None
    if not isinstance(given, str):
        return {"value": given}, None
    try:
        read = loads(given.encode(errors="replace"))
    except BadInputError:
        return {}, given
    return (read, None) if isinstance(read, Mapping) else ({"value": read}, given)
