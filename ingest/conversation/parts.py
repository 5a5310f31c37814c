"""What a chat message holds, part by part: text, thoughts, tools that are called, and media, which stand in the text by name.

The forms are those of OpenAI's chat messages and Responses items, Anthropic's and Bedrock's content blocks, Gemini's and the AI SDK's
parts, Inspect's content, AutoGen's lists and OpenTelemetry's message parts. A part of an unknown kind becomes its JSON text, so that it is
not lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ingest.conversation.rows import ToolUse
from ingest.reading.json_text import dumps, loads
from schemas.errors import BadInputError

__all__ = ["CalledTool", "MessageParts", "called_tool", "is_result", "is_text_part", "parts_of", "text_of"]

_TEXT_KEYS: Final = ("text", "content", "refusal", "input_text", "output_text", "value")
_THOUGHT_KEYS: Final = ("reasoning", "thinking", "content", "text", "reasoningText", "summary")
_NAME_KEYS: Final = ("name", "toolName", "tool_name", "function_name")
_ARGUMENT_KEYS: Final = ("arguments", "input", "args", "parameters", "action", "code", "queries")
_CALL_IDS: Final = ("call_id", "tool_call_id", "toolCallId", "toolUseId", "id")
_RESULT_IDS: Final = ("tool_use_id", "tool_call_id", "call_id", "toolCallId", "toolUseId", "source_call_id", "id")
_RESULT_KEYS: Final = ("response", "result", "output", "content")
_ABOUT_RESULTS: Final = frozenset({"type", "name", "is_error", "isError", "status", "cache_control", *_RESULT_IDS})
"""Keys of a result that hold facts about it."""
_BESIDE_WORDS: Final = frozenset({
    "text", "content", "thought", "thoughtSignature", "thought_signature", "annotations", "citations", "cache_control", "metadata",
    "mime_type", "id", "index",
})  # fmt: skip
"""Keys of an object without a type that holds words; one with other keys is data."""
_INNER: Final[Mapping[str, str]] = {
    "functionCall": "tool_call",
    "function_call": "tool_call",
    "toolUse": "tool_call",
    "functionResponse": "tool_result",
    "function_response": "tool_result",
    "executableCode": "tool_call",
    "executable_code": "tool_call",
    "codeExecutionResult": "tool_result",
    "code_execution_result": "tool_result",
    "toolResult": "tool_result",
    "reasoningContent": "reasoning",
}
"""Key of a part without a type (Gemini, Bedrock) -> the kind of the object under it."""
_MEDIA: Final = (
    "image", "image_url", "input_image", "audio", "input_audio", "output_audio", "video", "document", "file", "input_file", "blob", "uri",
)  # fmt: skip
_DATA: Final = re.compile(r"(?:data:[^,\s]{0,100},)?[A-Za-z0-9+/=_-]+")
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


def is_result(part: Any) -> bool:
    """Tell whether a part is what came of a call."""
    return isinstance(part, Mapping) and _kind(part)[0] == "tool_result"


def is_text_part(part: Mapping[str, Any]) -> bool:
    """Tell whether an object is a part that holds words, and no data of its own."""
    return _kind(part)[0] in _KINDS


def _add(found: MessageParts, part: Any) -> None:
    if isinstance(part, str):
        found.texts.append(part)
    elif not isinstance(part, Mapping):
        found.texts.append(dumps(part))
    else:
        kind, inner = _kind(part)
        _KINDS.get(kind, _unknown)(found, inner)


def _kind(part: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The kind of a part, and the object that holds it; a part without a type is recognised by its keys."""
    if "type" in part:
        kind = re.sub(r"[-.]", "_", str(part["type"]))
        if kind.endswith(("_output", "_result", "_response")):
            return "tool_result", part
        if kind.startswith("tool_") and "toolCallId" in part and kind not in _KINDS:
            return "tool_use", {**part, "name": kind.removeprefix("tool_")}
        if kind == "dynamic_tool":
            return "tool_use", part
        return "tool_use" if kind.endswith("_call") and kind != "tool_call" else kind, part
    for key, kind in _INNER.items():
        inner = part.get(key)
        if isinstance(inner, Mapping):
            return kind, {"name": key, **inner}
    return _kind_by_keys(part), part


def _kind_by_keys(part: Mapping[str, Any]) -> str:
    if isinstance(part.get("text"), str) and set(part) <= _BESIDE_WORDS:
        return "reasoning" if part.get("thought") is True else "text"
    if "arguments" in part and _first_value(part, _NAME_KEYS) is not None:
        return "tool_call"
    if "content" in part and _first_value(part, _RESULT_IDS[:-1]) is not None:
        return "tool_result"
    return "text" if "content" in part and set(part) <= _BESIDE_WORDS else ""


def _text(found: MessageParts, part: Mapping[str, Any]) -> None:
    text = _first(part, _TEXT_KEYS)
    rest = {key: value for key, value in part.items() if key != "type" and value}
    found.texts.append(dumps(rest) if text is None and rest else text or "")


def _thought(found: MessageParts, part: Mapping[str, Any]) -> None:
    if part.get("redacted"):
        found.thoughts.append(f"[redacted] {part.get('summary') or ''}".strip())
    else:
        found.thoughts.append(_first(part, _THOUGHT_KEYS) or "[redacted]")


def _tool_call(found: MessageParts, part: Mapping[str, Any]) -> None:
    found.tools.append(called_tool(part))


def _tool_used(found: MessageParts, part: Mapping[str, Any]) -> None:
    """A tool of the provider's own: the call, and in the same part its result where there is one."""
    result = next((part[key] for key in ("result", "results", "output", "outputs") if part.get(key) is not None), None)
    error = _first_value(part, ("error", "errorText"))
    if result is None and error is None:
        _tool_call(found, part)
        return
    used = called_tool(part).use
    found.tools.append(CalledTool(None, _finished(used, None if error is None else str(error))))
    if result is not None:
        found.texts.append(f"[{used.name}: {_without_data(result if isinstance(result, str) else dumps(result))}]")


def _finished(used: ToolUse, error: str | None) -> ToolUse:
    return ToolUse(name=used.name, arguments=used.arguments, raw=used.raw, succeeded=error is None, error_text=error)


def _tool_result(found: MessageParts, part: Mapping[str, Any]) -> None:
    given = _first_value(part, _RESULT_KEYS)
    if given is None:  # such as a hit of a search, with title and address
        given = {key: value for key, value in part.items() if value and key not in _ABOUT_RESULTS} or None
    is_words = isinstance(given, str | list) or (isinstance(given, Mapping) and is_text_part(given))
    text = text_of(given) if is_words else "" if given is None else dumps(_without_data(given))
    found.texts.append(text)
    called = _first_value(part, _RESULT_IDS)
    failed = part.get("is_error") or part.get("isError") or part.get("status") == "error"
    if called is not None:
        found.results[str(called)] = text if failed else None


def _media(found: MessageParts, part: Mapping[str, Any]) -> None:
    kind = str(part["type"])
    transcript = next((one["transcript"] for one in (part, part.get(kind)) if isinstance(one, Mapping) and one.get("transcript")), None)
    if isinstance(transcript, str):
        found.texts.append(transcript)
        return
    shown = part.get(kind) or part.get("source") or {key: value for key, value in part.items() if key != "type"}
    while isinstance(shown, Mapping) and isinstance(shown.get(kind), Mapping):
        shown = shown[kind]
    if isinstance(shown, Mapping):
        shown = shown.get("url") or shown.get("uri") or dumps(shown)
    name = part.get("filename") or part.get("name")
    found.texts.append(f"[{kind}{f' {name}' if name else ''}: {_shortened(str(shown))}]")


def _shortened(data: str) -> str:
    return data if len(data) <= _MOST_OF_A_LINK else f"{data[:40]}... ({len(data)} characters of data, left in the log)"


def _without_data(value: Any) -> Any:
    """The same, with the length of embedded data in its place; words are none, however long."""
    if isinstance(value, Mapping):
        return {key: _without_data(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_data(inner) for inner in value]
    return _shortened(value) if isinstance(value, str) and _DATA.fullmatch(value) else value


def _unknown(found: MessageParts, part: Mapping[str, Any]) -> None:
    text = part.get("text")
    if set(part) == {"type"}:  # a mark between parts
        return
    found.texts.append(text if isinstance(text, str) and set(part) <= {"type", "text"} else dumps(_without_data(part)))


def _first(part: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        value = part.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value:
            return text_of(value)
        if isinstance(value, Mapping) and value:
            return _first(value, keys) or dumps(value)
    return None


def _first_value(part: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((part[key] for key in keys if part.get(key) is not None), None)


_KINDS: Final[Mapping[str, Callable[[MessageParts, Mapping[str, Any]], None]]] = {
    **dict.fromkeys(("text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"), _text),
    **dict.fromkeys(("reasoning", "thinking", "redacted_thinking", "reasoning_summary", "reasoning_encrypted"), _thought),
    **dict.fromkeys(("tool_call", "server_tool_use"), _tool_call),
    "tool_use": _tool_used,
    "tool_result": _tool_result,
    **dict.fromkeys(_MEDIA, _media),
}


def called_tool(call: Mapping[str, Any]) -> CalledTool:
    """A call in any of the forms: `function` a name, or an object with name and arguments; arguments an object or JSON text."""
    function = call.get("function") or call.get("custom")
    inner: Mapping[str, Any] = function if isinstance(function, Mapping) else call
    name = _first_value(inner, _NAME_KEYS) or (function if isinstance(function, str) else None) or call.get("type") or "tool"
    given: Any = _first_value(inner, _ARGUMENT_KEYS)
    given = {} if given is None else given
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
    called = _first_value(call, _CALL_IDS)
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
