"""Messages of any dialect as chat messages, and what they hold: text, thoughts, tools that are called, and media by name."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Final

from ingest.conversation.events import event_messages
from ingest.conversation.rows import ToolUse
from ingest.reading.text import dumps, loads, read_json
from schemas.common.errors import BadInputError

_TEXT_KEYS: Final = ("text", "content", "refusal", "input_text", "output_text", "value")
_THOUGHT_KEYS: Final = ("reasoning", "thinking", "content", "text", "reasoningText", "reasoning_text", "summary")
_NAME_KEYS: Final = ("name", "toolName", "tool_name", "function_name")
_ARGUMENT_KEYS: Final = ("arguments", "input", "args", "parameters", "action", "code", "queries")
_CALL_KINDS: Final = ("function", "tool_call", "tool_use", "function_call")
"""Types of a call that do not name its tool."""
_CALL_IDS: Final = ("call_id", "tool_call_id", "toolCallId", "toolUseId", "id")
_RESULT_IDS: Final = ("tool_use_id", "tool_call_id", "call_id", "toolCallId", "toolUseId", "source_call_id", "id")
_RESULT_KEYS: Final = ("response", "result", "output", "content")
_ABOUT_RESULTS: Final = frozenset({"type", "name", "is_error", "isError", "status", "cache_control", *_RESULT_IDS})
"""Keys of a result that hold facts about it."""
_PLAIN_KEYS: Final = frozenset({
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
    "tool_call": "tool_call",
    "tool_call_result": "tool_result",
    "reasoning": "reasoning",
}
"""Key of a part without a type (Gemini, Bedrock, Haystack) -> the kind of the object under it."""
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
        if isinstance(part, str):
            found.texts.append(part)
        elif not isinstance(part, Mapping):
            found.texts.append(dumps(part))
        else:
            kind, inner = _kind(part)
            _KINDS.get(kind, _unknown)(found, inner)
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


def _kind(part: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The kind of a part, and the object that holds it; a part without a type is recognised by its keys with a value."""
    part = _bare(part)
    if "type" in part:
        kind = re.sub(r"[-.]", "_", str(part["type"]))
        if kind.endswith(("_output", "_result", "_response", "_return")):
            return "tool_result", part
        if kind.startswith("tool_") and "toolCallId" in part and kind not in _KINDS:
            return "tool_use", {**part, "name": kind.removeprefix("tool_")}
        if kind == "dynamic_tool":
            return "tool_use", part
        return "tool_use" if kind.endswith("_call") and kind != "tool_call" else kind, part
    for key, kind in _INNER.items():
        inner = part.get(key)
        if isinstance(inner, Mapping):
            return kind, inner if _first_value(inner, _NAME_KEYS) else {"name": key, **inner}
    return _kind_by_keys(part), part


def _kind_by_keys(part: Mapping[str, Any]) -> str:
    if isinstance(part.get("text"), str) and set(part) <= _PLAIN_KEYS:
        return "reasoning" if part.get("thought") is True else "text"
    if "arguments" in part and _first_value(part, _NAME_KEYS) is not None:
        return "tool_call"
    if "content" in part and _first_value(part, _RESULT_IDS[:-1]) is not None:
        return "tool_result"
    return "text" if "content" in part and set(part) <= _PLAIN_KEYS else ""


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
    found.tools.append(CalledTool(None, replace(used, succeeded=error is None, error_text=None if error is None else str(error))))
    if result is not None:
        found.texts.append(f"[{used.name}: {_without_data(result if isinstance(result, str) else dumps(result))}]")


def _tool_result(found: MessageParts, part: Mapping[str, Any]) -> None:
    given = _first_value(part, _RESULT_KEYS)
    if given is None:  # such as a hit of a search, with title and address
        given = {key: value for key, value in part.items() if value and key not in _ABOUT_RESULTS} or None
    if isinstance(given, Mapping) and len(given) == 1:  # Gemini's results are objects
        given = _first_value(given, _RESULT_KEYS) or given
    is_words = isinstance(given, str | list) or (isinstance(given, Mapping) and is_text_part(given))
    text = text_of(given) if is_words else "" if given is None else dumps(_without_data(given))
    found.texts.append(text)
    origin = part.get("origin")
    called = _first_value(origin if isinstance(origin, Mapping) else part, _RESULT_IDS)
    failed = part.get("error") is True or part.get("is_error") or part.get("isError") or part.get("status") == "error"
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
    named = next((one for one in (function, call.get("tool")) if isinstance(one, str)), None)
    kind = None if call.get("type") in _CALL_KINDS else call.get("type")
    name = _first_value(inner, _NAME_KEYS) or named or kind or "tool"
    given: Any = _first_value(inner, _ARGUMENT_KEYS)
    given = {} if given is None else given
    arguments, raw = _arguments(given)
    wrong = call.get("parse_error")
    use = ToolUse(
        name=str(name),
        arguments=arguments,
        raw=raw,
        succeeded=False if wrong else call["succeeded"] if isinstance(call.get("succeeded"), bool) else None,
        error_code="parsing" if wrong else None,
        error_text=str(wrong) if wrong else None,
    )
    called = _first_value(call, _CALL_IDS)
    return CalledTool(None if called is None else str(called), use)


def calls_of(raw: Mapping[str, Any]) -> list[CalledTool]:
    """The tools that a message calls, in its content and next to it."""
    return [*parts_of(raw.get("content")).tools, *(called_tool(call) for call in raw.get("tool_calls") or [] if isinstance(call, Mapping))]


def _arguments(given: Any) -> tuple[Mapping[str, Any], str | None]:
    """An object, and the text as it was written where it is none."""
    if isinstance(given, Mapping):
        return given, None
    if not isinstance(given, str):
        return {"value": given}, None
    try:
        read = loads(given.encode(errors="replace"))
    except BadInputError:
        return {} if given.lstrip()[:1] in {"{", "[", ""} else {"value": given}, given  # free text, such as a patch
    return (read, None) if isinstance(read, Mapping) else ({"value": read}, given)


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
_CHAT_ROLES: Final = frozenset({"user", "assistant", "system", "developer", "tool", "function"})
_STRUCTURED: Final = (
    "parts", "tool_calls", "metadata", "function_call", "tool_responses", "usage", "models_usage", "usage_metadata", "usageMetadata",
)  # fmt: skip
"""Keys that a table may hold as JSON text."""
_TYPES: Final[Mapping[str, str]] = {"human": "user", "user": "user", "system": "system", "developer": "developer", "tool": "tool", **_ROLES}
"""`type` of a message without a role (LangChain) -> its role."""
_RESULT_ENDS: Final = ("_output", "_result")
_CALL_ENDS: Final = ("_call", "tool_use")
_RESULT_EVENTS: Final = frozenset({"ToolCallExecutionEvent", "FunctionExecutionResultMessage"})
_THOUGHT_EVENTS: Final = frozenset({"ThoughtEvent"})
SPEAKERS: Final = ("author", "from", "speaker", "sender")
"""Who speaks in messages without a role (ADK, ShareGPT, ChatGPT's export, logs of one's own)."""
AGENTS: Final = ("agent_name", "from_agent", "sender_name", "author_name", "player", "character", "agent_id")
"""Who wrote a message that a role calls a model's: other names for `agent`, in logs of one's own."""
WORDS: Final = ("text", "value", "message", "utterance", "body", "msg")
"""Words of messages without `content`."""
_ROLES_OF_SPEAKERS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("gpt", "chatgpt", "chatbot", "assistant", "bot", "model", "ai"), "assistant"),
    **dict.fromkeys(("tool", "observation", "function"), "tool"),
    "system": "system",
}
"""Names of speakers that are roles."""
_MORE: Final = ("tool_calls", "function_call", "reasoning_content", "refusal", "audio", "tool_call_id")
"""What LangChain and LlamaIndex store under `additional_kwargs` of a message."""
_TYPED_PARTS: Final[Mapping[str, str]] = {"blocks": "block_type", "items": "content_type"}
"""Key with the parts of a message -> that with the type of each (LlamaIndex, Semantic Kernel)."""
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
    several = raw.get("tool_messages")
    if raw.get("role") == "tool" and isinstance(several, list) and all(isinstance(one, Mapping) for one in several):  # tau2's
        return [message for one in several for message in chat_messages(one)]
    event = event_messages(raw)
    if event is not None:
        return event
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


def is_message(raw: Any) -> bool:
    """Tell whether a value looks like a message of any dialect: it has a role, or a speaker's name, and content, calls or some words."""
    if not isinstance(raw, Mapping):
        return False
    is_call_or_result = str(raw.get("type")).endswith((*_CALL_ENDS, *_RESULT_ENDS)) or raw.get("type") == "reasoning"
    if (raw.get("kind") in {"request", "response"} and event_messages(raw)) or (is_item(raw) and is_call_or_result):
        return True
    raw = _unwrapped(plain_keys(raw))
    words = next((raw[key] for key in ("content", "parts", *WORDS) if raw.get(key)), None)
    speaks = isinstance(raw.get("role"), str) or str(raw.get("type")) in _TYPES
    named = any(isinstance(raw.get(key), str | Mapping) for key in (*SPEAKERS, "source", "name", "agent"))
    is_part = isinstance(words, Mapping) and is_text_part(words)
    is_text = isinstance(words, list) or (is_part and speaks) or (isinstance(words, str) and (speaks or len(words.split()) > 1))
    return (speaks or named) and (is_text or bool(raw.get("tool_calls")))


def is_item(raw: Raw) -> bool:
    """Tell whether a message is an item of the Responses API, an event of OpenHands or the like: its type defines its other keys."""
    is_typed = isinstance(raw.get("type"), str) and not {"role", "content"} & set(raw)
    return (is_typed and not _is_of_a_person(raw)) or (event_messages(raw) is not None)


def _is_of_a_person(raw: Raw) -> bool:
    """Whether it is a message of a chat of people, such as of Telegram's export: its type is `message`, and a key says who wrote it."""
    return raw.get("type") == "message" and any(isinstance(raw.get(key), str | Mapping) for key in SPEAKERS)


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


def plain_keys(raw: Raw) -> Raw:
    """In the usual form: a message whose keys begin with capitals, that holds lists as JSON text, or that has names of its own for them."""
    if "role" not in raw and "content" not in raw and {"Role", "Content"} & set(raw):
        raw = {f"{key[:1].lower()}{key[1:]}": value for key, value in raw.items()}
    texts = [key for key in _STRUCTURED if isinstance(raw.get(key), str) and raw[key].lstrip()[:1] in {"[", "{"}]
    if raw.get("type") == "message" and "ts" in raw and "author" not in raw:  # Slack's export
        profile = raw.get("user_profile")
        names = profile if isinstance(profile, Mapping) else {}
        who = _first_value({**raw, **names}, ("real_name", "username", "user", "bot_id"))
        raw = {**raw, "author": who} if who else raw
    for parts, kind in _TYPED_PARTS.items():
        held = raw.get(parts)
        if isinstance(held, list) and held and all(isinstance(one, Mapping) and kind in one for one in held):
            raw = {**raw, "content": [{"type": one[kind], **one} for one in held]}
    content = raw.get("content")
    listed = read_json(content) if isinstance(content, str) and content.startswith('[{"') else None
    if isinstance(listed, list) and all(isinstance(one, Mapping) and _kind(one)[0] in _KINDS and "type" in one for one in listed):
        texts.append("content")
    return {**raw, **{key: found for key in texts if (found := read_json(raw[key])) is not None}} if texts else raw


def _unwrapped(raw: Raw) -> dict[str, Any]:
    """The message itself, where an object around it holds little more.

    LangChain has `data` and `kwargs`, session files `message`, ADK `content` with role and parts.
    """
    for key in ("data", "kwargs", "message", "content"):
        inner = raw.get(key)
        held = {"parts"} if key == "content" else {"content", "parts", "tool_calls"}
        if "role" not in raw and ("content" not in raw or key == "content") and isinstance(inner, Mapping) and held & set(inner):
            kind = raw.get("type") if key != "kwargs" else _class_of(raw.get("id"))
            outer = {name: value for name, value in raw.items() if name not in {key, "type", "id"}}
            return _unwrapped({"type": kind, **outer, **inner})
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
        role = str(role).lower() if str(role).lower() in _CHAT_ROLES else str(role)
        message["role"] = _ROLES.get(role) or (role if role in _CHAT_ROLES else _ROLES_OF_SPEAKERS.get(role.lower(), role))
        if role == "function":
            message.pop("name", None)
        if message["role"] == "tool":
            message["content"] = _several(message)
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
    return _with_speaker(message)


def _several(message: Raw) -> Any:
    """The content of a tool's message; of AutoGen's several results these, which it joins in the content."""
    responses = message.get("tool_responses")
    if not isinstance(responses, list) or not responses or not all(isinstance(one, Mapping) for one in responses):
        return message.get("content")
    held, rest = [{"type": "tool_result", **one} for one in responses], text_of(message.get("content"))
    for one in responses:
        rest = rest.replace(text_of(one.get("content")), "", 1)
    return [*held, {"type": "text", "text": message["content"]}] if re.search(r"\w", rest) else held


def _with_speaker(message: dict[str, Any]) -> dict[str, Any]:
    """Who speaks by name, where a key other than `name` names them; some names are roles."""
    who = next((message[key] for key in SPEAKERS if message.get(key)), None)
    if isinstance(who, Mapping):
        known, who = str(who.get("role") or message["role"]), who.get("name")
        message["role"] = _ROLES.get(known, known)
    if not isinstance(who, str) or message.get("name"):
        return message
    role = _ROLES_OF_SPEAKERS.get(who.lower())
    if message["role"] == "unknown":
        message["role"] = role or "assistant"
    return message if role is not None or message["role"] == "tool" else {**message, "name": who}


def _bare(message: Raw) -> dict[str, Any]:
    return {key: value for key, value in message.items() if value is not None}


def _content(message: Raw) -> dict[str, Any]:
    """What is the content where that is empty: parts, a refusal, or the transcript of what was spoken."""
    parts = message.get("parts")
    if isinstance(parts, list):
        return {"content": [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]}
    audio = message.get("audio")
    spoken = audio.get("transcript") if isinstance(audio, Mapping) else None
    has_words = "role" in message or "type" not in message or message["type"] in _TYPES or _is_of_a_person(message)
    others = [message.get(key) for key in WORDS] if has_words else []
    words = next((one for one in (message.get("refusal"), spoken, *others) if isinstance(one, str | list) and one), None)
    return {} if words is None else {"content": words}


def _of_autogen(message: Raw, kind: str) -> dict[str, Any]:
    """AutoGen's messages and events: `source` is who wrote it."""
    source, content = message["source"], message.get("content")
    if kind in _RESULT_EVENTS:
        return {"role": "tool"}
    found: dict[str, Any] = {"role": "user" if source == "user" else "assistant", "name": source}
    if kind in _THOUGHT_EVENTS and isinstance(content, str):
        found["content"] = [{"type": "reasoning", "text": content}]
    elif isinstance(content, Mapping) and not is_text_part(content):
        found["content"] = dumps(content)
    return found
