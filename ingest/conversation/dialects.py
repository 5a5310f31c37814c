"""Messages of any dialect as chat messages: role, content, name, tool_calls, tool_call_id, metadata.

The dialects are OpenAI's chat messages and Responses items, Anthropic's and Bedrock's messages, LangChain's, AutoGen's, Gemini's contents
and OpenTelemetry's parts. A dialect is recognised by its keys, message by message, so that any file can hold any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, Final

from ingest.conversation.parts import is_result, is_text_part
from ingest.reading.json_text import dumps

__all__ = ["chat_messages", "is_item", "keys_with_content"]

Raw = Mapping[str, Any]

_ROLES: Final[Mapping[str, str]] = {
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "model": "assistant",
    "function": "tool",
    "tool_result": "tool",
    "toolResult": "tool",
}
"""Role as a dialect has it -> role of a chat message."""
_TYPES: Final[Mapping[str, str]] = {"human": "user", "user": "user", "system": "system", "developer": "developer", "tool": "tool", **_ROLES}
"""`type` of a message without a role (LangChain) -> its role."""
_RESULT_ENDS: Final = ("_output", "_result")
_CALL_ENDS: Final = ("_call", "tool_use")
_RESULT_EVENTS: Final = frozenset({"ToolCallExecutionEvent", "FunctionExecutionResultMessage"})
_THOUGHT_EVENTS: Final = frozenset({"ThoughtEvent"})
_MORE: Final = ("tool_calls", "function_call", "reasoning_content", "refusal", "audio")
"""What LangChain keeps under `additional_kwargs` of a message."""
_ABOUT: Final = frozenset({
    "role", "name", "type", "id", "uid", "uuid", "guid", "index", "metadata", "source", "agent", "speaker", "author", "sender", "recipient",
    "to", "from", "model", "time", "date", "at", "lc", "channel", "audience", "provider", "usage", "models_usage", "response_metadata",
    "finish_reason", "stop_reason", "stop_sequence", "requestor", "tool_calls", "error", "cache_control", "version", "logprobs",
})  # fmt: skip
"""Keys that hold facts about a message and no words of it."""
_ABOUT_ENDS: Final = ("_id", "_ids", "_idx", "_at", "_index", "_time", "_tokens", "_usage", "_type", "Id", "timestamp", "Timestamp")
_ABOUT_BY_A_WORD: Final = frozenset({"turn", "step", "seq", "phase", "status", "object", "language", "event", "function"})
"""Keys that hold such a fact where it is one word."""


def chat_messages(raw: Raw) -> list[dict[str, Any]]:
    """The chat messages that one message of a log holds: one, or more where results of tools are between its other parts."""
    items = raw.get("output")
    if "role" not in raw and "type" not in raw and isinstance(items, list) and items and all("type" in item for item in items):
        return [message for item in items for message in chat_messages(item)]  # a whole response of OpenAI's
    message = _roled(_unwrapped(raw))
    content = message.get("content")
    if not isinstance(content, list) or message["role"] == "tool" or not any(map(is_result, content)):
        if isinstance(content, Mapping) and is_result(content):
            return [{"role": "tool", "content": [content]}]
        return [message]
    found = list(_split(message, content))
    if message.get("tool_calls") and all(one["role"] == "tool" for one in found):
        found.insert(0, {**message, "content": None})
    return found


def is_item(raw: Raw) -> bool:
    """Tell whether a message is an item of the Responses API or the like: its type says what its other keys are."""
    return isinstance(raw.get("type"), str) and not {"role", "content"} & set(raw)


def _split(message: dict[str, Any], content: list[Any]) -> Iterator[dict[str, Any]]:
    """Runs of parts: results are of the tool, others of who wrote the message, whose other keys go with the first of them."""
    rest = message
    for of_tool, parts in groupby(content, is_result):
        if of_tool:
            yield {"role": "tool", "content": list(parts)}
        else:
            yield {**rest, "content": list(parts)}
            rest = {key: message[key] for key in ("role", "name", "agent", "metadata") if key in message}


def keys_with_content(raw: Raw) -> list[str]:
    """Keys under which a message holds texts, lists or objects that are more than facts about it."""
    return [str(key) for key, value in raw.items() if isinstance(value, str | list | Mapping) and value and not _is_about(str(key), value)]


def _is_about(key: str, value: Any) -> bool:
    is_word = isinstance(value, str) and len(value.split()) <= 1
    return key in _ABOUT or key.endswith(_ABOUT_ENDS) or (is_word and key in _ABOUT_BY_A_WORD)


def _unwrapped(raw: Raw) -> dict[str, Any]:
    """The message itself, where an object around it holds little more: LangChain's `data` and `kwargs`, `message` of session files."""
    for key in ("data", "kwargs", "message"):
        inner = raw.get(key)
        if "role" not in raw and "content" not in raw and isinstance(inner, Mapping) and {"content", "parts", "tool_calls"} & set(inner):
            kind = raw.get("type") if key != "kwargs" else _class_of(raw.get("id"))
            return {"type": kind, **{name: value for name, value in raw.items() if name not in {key, "type", "id"}}, **inner}
    return dict(raw)


def _class_of(path: Any) -> str | None:
    """`human` of LangChain's `[..., "HumanMessage"]`."""
    return str(path[-1]).removesuffix("Message").lower() if isinstance(path, list) and path else None


def _roled(message: dict[str, Any]) -> dict[str, Any]:
    """With a role; items that are a call, a result or a thought alone become messages with that as their content."""
    kind = str(message.get("type"))
    role = message.get("role")
    more = message.get("additional_kwargs")
    if isinstance(more, Mapping):
        message = {**{key: more[key] for key in _MORE if more.get(key)}, **{key: value for key, value in message.items() if value}}
    if message.get("content") in (None, "", []):
        message |= _content(message)
    if role is not None:
        message["role"] = _ROLES.get(str(role), str(role))
        if message["role"] == "tool" and str(role) == "function":
            message.pop("name", None)
        responses = message.get("tool_responses")  # AutoGen's: several results, joined in the content
        if message["role"] == "tool" and isinstance(responses, list) and responses and all(isinstance(one, Mapping) for one in responses):
            message["content"] = [{"type": "tool_result", **one} for one in responses]
    elif kind == "reasoning":
        message |= {
            "role": "assistant",
            "content": [{key: value for key, value in message.items() if key not in {"role", "content"} or value}],
        }
    elif "source" in message and isinstance(message["source"], str):
        message |= _of_autogen(message, kind)
    elif kind.endswith(_RESULT_ENDS):
        message = {"role": "tool", "content": [_bare(message)]}
    elif kind.endswith(_CALL_ENDS):
        message = {"role": "assistant", "content": [_bare(message)]}
    else:
        message["role"] = _TYPES.get(kind, "assistant" if message.get("name") else "unknown")
    return message


def _bare(message: Raw) -> dict[str, Any]:
    return {key: value for key, value in message.items() if value is not None}


def _content(message: Raw) -> dict[str, Any]:
    """What is the content where that is empty: parts, a refusal, or the transcript of what was spoken."""
    parts = message.get("parts")
    if isinstance(parts, list):
        return {"content": [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]}
    audio = message.get("audio")
    spoken = audio.get("transcript") if isinstance(audio, Mapping) else None
    words = message.get("refusal") or spoken
    return {"content": words} if isinstance(words, str) and words else {}


def _of_autogen(message: Raw, kind: str) -> dict[str, Any]:
    """AutoGen's messages and events: `source` is who wrote it."""
    source, content = message["source"], message.get("content")
    if kind in _RESULT_EVENTS:
        return {"role": "tool"}
    told: dict[str, Any] = {"role": "user" if source == "user" else "assistant", "name": source}
    if kind in _THOUGHT_EVENTS and isinstance(content, str):
        told["content"] = [{"type": "reasoning", "text": content}]
    elif isinstance(content, Mapping) and not is_text_part(content):
        told["content"] = dumps(content)
    return told
