"""Spans of OTLP JSON, with their attributes as plain values, and the messages in them and in their events."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from ingest.conversation.messages import chat_messages
from ingest.reading.text import loads, parsed
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt

_ROLES: Final = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}
_CHOICE: Final = "gen_ai.choice"
_WHOLE_MESSAGES: Final = {"gen_ai.content.prompt": ("input", "user"), "gen_ai.content.completion": ("output", "assistant")}
_BEDROCK: Final = frozenset({"text", "toolUse", "toolResult", "reasoningContent", "image", "document", "video", "cachePoint"})
"""Keys of parts without a type."""
_BODY: Final = "gen_ai.event.content"

Side = str
"""`input` or `output`."""


def event_messages(event: str, attributes: Mapping[str, Any]) -> tuple[Side, list[dict[str, Any]]] | None:
    """The messages of an event by its name and attributes; None if it has none, or they were recorded without content."""
    if event in _WHOLE_MESSAGES:
        side, role = _WHOLE_MESSAGES[event]
        given = parsed(attributes.get("gen_ai.prompt" if side == "input" else "gen_ai.completion"))
        found = [_event_message(one, role) for one in (given if isinstance(given, list) else [given])]
    elif event == _CHOICE or event in _ROLES:
        body = parsed(attributes.get(_BODY))
        fields = {**attributes, **(body if isinstance(body, Mapping) else {"content": body} if body is not None else {})}
        side = "output" if event == _CHOICE else "input"
        found = [_event_message(_chosen(fields), "assistant") if event == _CHOICE else _event_message(fields, _ROLES[event])]
    else:
        return None
    return side, [one for one in found if one.get("content") or one.get("tool_calls") or one.get("refusal")]


def _chosen(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message of a choice; tools that it calls may be next to it."""
    message = parsed(fields.get("message"))
    chosen = message if isinstance(message, Mapping) else {"content": fields.get("content") if message is None else message}
    return {"tool_calls": fields.get("tool_calls")} | dict(chosen)


def _event_message(fields: Any, role: str) -> dict[str, Any]:
    if not isinstance(fields, Mapping):
        return {"role": role, "content": fields}
    message: dict[str, Any] = {"role": str(fields.get("role") or role), "content": as_content(fields.get("content"))}
    calls = parsed(fields.get("tool_calls"))
    if isinstance(calls, list) and calls:
        message["tool_calls"] = calls
    if message["role"] == "tool" and fields.get("id") is not None:
        message["tool_call_id"] = str(fields["id"])
    return message | {key: fields[key] for key in ("name", "refusal", "reasoning_content") if fields.get(key)}


def as_content(given: Any) -> Any:
    """Parts, where the text is a JSON list of objects; a text that happens to be other JSON is a message."""
    read = parsed(given)
    return (
        read
        if isinstance(read, list) and read and all(isinstance(part, Mapping) and ("type" in part or set(part) <= _BEDROCK) for part in read)
        else given
    )


_WHOLE: Final = re.compile(r"-?[0-9]{1,19}")
_MOST: Final = 2**63 - 1
_WRAPPERS: Final = frozenset({"message", "message_content", "tool_call", "function"})
"""Names that OpenInference puts around what it numbers."""
_NOT_READ_ENDS: Final = frozenset({
    "input", "output", "prompt", "prompts", "completion", "completions", "request", "response", "message", "messages", "content", "text",
    "events", "all_messages_events", "final_result", "value", "body", "data", "request_data", "response_data", "arguments", "result",
    "llm_request", "llm_response", "object", "toolCalls",
})  # fmt: skip
"""Last parts of names of attributes that hold messages, of instrumentations whose form is not read."""
_OLD_NAMES: Final = {"input": ("gen_ai.prompt", "llm.input_messages"), "output": ("gen_ai.completion", "llm.output_messages")}


@dataclass(slots=True)
class Span:
    """One span."""

    id: str
    trace: str
    parent: str | None
    name: str
    start_ns: int
    end_ns: int | None
    error: str | None
    attributes: dict[str, Any]
    """Attributes of the span and of its event that holds the messages."""
    service: str | None
    scope: str | None = None
    """The instrumentation that wrote it; None: the log does not say."""
    evaluations: list[dict[str, Any]] = field(default_factory=list)
    """Attributes of events `gen_ai.evaluation.result`."""
    events: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """`input` and `output` -> messages that stand in an event each."""
    read: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """`input` and `output` -> messages, once `messages` has read them."""

    @property
    def start(self) -> datetime:
        """When it began, UTC."""
        return datetime.fromtimestamp(self.start_ns / 1e9, tz=UTC).replace(tzinfo=None)

    @property
    def seconds(self) -> float | None:
        """How long it took; None if the log does not say."""
        return None if self.end_ns is None else (self.end_ns - self.start_ns) / 1e9


def spans_of(document: Any) -> Iterator[Span]:
    """The spans of one document.

    Raises:
        BadInputError: it is not laid out as OTLP JSON.
    """
    for resource in _list(document, "resourceSpans"):
        service = _plain(_list(_object(resource, "resource"), "attributes")).get("service.name")
        for scope in _list(resource, "scopeSpans", "instrumentationLibrarySpans"):
            names = (_object(scope, key).get("name") for key in ("scope", "instrumentationLibrary"))
            writer = next((name for name in names if isinstance(name, str)), None)
            for span in _list(scope, "spans"):
                yield replace(_span(span, service), scope=writer)


def _list(holder: Any, *names: str) -> list[Mapping[str, Any]]:
    if not isinstance(holder, Mapping):
        raise BadInputError("no OTLP JSON: an object is missing where the format has one")
    found: Any = next((holder[name] for name in names if holder.get(name) is not None), [])
    if not isinstance(found, list) or not all(isinstance(entry, Mapping) for entry in found):
        raise BadInputError(f"no OTLP JSON: {names[0]} is not a list of objects", locator=f".{names[0]}")
    return found


def _object(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found: Any = holder.get(name) or {}
    if not isinstance(found, Mapping):
        raise BadInputError(f"no OTLP JSON: {name} is not an object", locator=f".{name}")
    return found


def _whole(value: Any, name: str) -> int:
    """A whole number, which OTLP writes as a text."""
    found = int(value) if isinstance(value, int) or (isinstance(value, str) and _WHOLE.fullmatch(value)) else None
    if found is None or not -_MOST <= found <= _MOST:
        raise BadInputError(f"{name} is {excerpt(repr(value), 40)}, no whole number of 64 bits: the span is damaged", locator=f".{name}")
    return found


def _span(raw: Mapping[str, Any], service: Any) -> Span:
    missing = [name for name in ("traceId", "spanId", "startTimeUnixNano") if name not in raw]
    if missing:
        raise BadInputError(f"a span has no {' and no '.join(missing)}", locator=str(raw.get("spanId", "")))
    attributes = _plain(_list(raw, "attributes"))
    evaluations = []
    events: dict[str, list[dict[str, Any]]] = {}
    for event in _list(raw, "events"):
        of_event = _plain(_list(event, "attributes"))
        message = event_messages(str(event.get("name")), of_event)
        if message is not None:
            events.setdefault(message[0], []).extend(message[1])
        elif event.get("name") == "gen_ai.evaluation.result":
            evaluations.append(of_event)
        else:
            attributes = {key: value for key, value in of_event.items() if key.startswith("gen_ai.")} | attributes
    status = _object(raw, "status")
    failed = status.get("code") in (2, "STATUS_CODE_ERROR")
    ended = raw.get("endTimeUnixNano")
    return Span(
        id=str(raw["spanId"]),
        trace=str(raw["traceId"]),
        parent=str(raw["parentSpanId"]) if raw.get("parentSpanId") else None,
        name=str(raw.get("name", "")),
        start_ns=_whole(raw["startTimeUnixNano"], "startTimeUnixNano"),
        end_ns=None if ended is None else _whole(ended, "endTimeUnixNano"),
        error=str(status.get("message") or attributes.get("error.type") or "error") if failed else None,
        attributes=attributes,
        service=None if service is None else str(service),
        evaluations=evaluations,
        events=events,
    )


def _plain(attributes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Attributes as `{name: value}`."""
    return {str(entry["key"]): _value(entry.get("value")) for entry in attributes if "key" in entry}


def _value(wrapped: Any) -> Any:
    if not isinstance(wrapped, Mapping) or not wrapped:
        return wrapped or None
    kind, value = next(iter(wrapped.items()))
    if kind == "intValue":
        return _whole(value, kind)
    if kind == "arrayValue":
        return [_value(entry) for entry in _list(value, "values")]
    if kind == "kvlistValue":
        return _plain(_list(value, "values"))
    return value


def messages(span: Span, side: str) -> list[dict[str, Any]]:
    """The messages that a model was sent (`input`) or wrote (`output`), as chat messages.

    Raises:
        BadInputError: the attribute holds no messages.
    """
    if side not in span.read:
        found = _messages(span, side)
        forms = [form for message in found for form in chat_messages(message)]
        span.read[side] = [{**form, "role": "assistant"} if side == "output" and form["role"] == "unknown" else form for form in forms]
    return span.read[side]


def _messages(span: Span, side: str) -> list[dict[str, Any]]:
    given = span.attributes.get(f"gen_ai.{side}.messages")
    if given is not None:
        return [_chat(message) for message in _json(given, f"gen_ai.{side}.messages")]
    found = span.events.get(side) or next((found for name in _OLD_NAMES[side] if (found := _numbered(span.attributes, name))), [])
    return found or _in_own_words(span.attributes, side)


_OWN: Final[Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]] = {
    "input": (
        ("request_data", ("messages", "input", "prompt")),  # Logfire
        ("ai.prompt.messages", ()),  # AI SDK
        ("ai.prompt", ("messages", "prompt")),
        ("gcp.vertex.agent.llm_request", ("contents",)),  # ADK
    ),
    "output": (
        ("response_data", ("message", "output", "text")),
        ("gcp.vertex.agent.llm_response", ("content",)),
    ),
}
"""Side -> attribute of an instrumentation, and under which keys of its JSON the messages are; none: it is they."""
_VALUES: Final = {"input": ("input.value", "traceloop.entity.input"), "output": ("output.value", "traceloop.entity.output")}
"""Attributes of a request that hold the words alone, or a whole request or response."""
_IN_VALUES: Final = {"input": ("messages", "contents", "prompt", "input"), "output": ("choices", "message", "content", "output", "text")}


def _in_own_words(attributes: Mapping[str, Any], side: str) -> list[dict[str, Any]]:
    """Messages under attributes that one instrumentation has."""
    role = "user" if side == "input" else "assistant"
    events = parsed(attributes.get("events"))
    if isinstance(events, list):
        named = [event_messages(str(one.get("event.name")), one) for one in events if isinstance(one, Mapping)]
        return [message for found in named if found is not None and found[0] == side for message in found[1]]
    if side == "output" and (attributes.get("ai.response.text") or attributes.get("ai.response.toolCalls")):
        calls = parsed(attributes.get("ai.response.toolCalls"))
        return [{"role": role, "content": attributes.get("ai.response.text"), "tool_calls": calls if isinstance(calls, list) else []}]
    for name, keys in _OWN[side]:
        held = parsed(attributes.get(name))
        if held is not None:
            inner = next((held[key] for key in keys if isinstance(held, Mapping) and held.get(key) is not None), None if keys else held)
            return _as_messages(inner, role)
    kind = str(attributes.get("openinference.span.kind") or attributes.get("traceloop.span.kind") or "").lower()
    given = next((attributes[name] for name in _VALUES[side] if attributes.get(name)), None) if kind == "llm" else None
    held = parsed(given)
    inner = next((held[key] for key in _IN_VALUES[side] if isinstance(held, Mapping) and held.get(key)), None)
    return _as_messages(given if inner is None else inner, role)


def _as_messages(given: Any, role: str) -> list[dict[str, Any]]:
    if given is None:
        return []
    found = given if isinstance(given, list) else [given]
    messages = [one["message"] if isinstance(one, Mapping) and isinstance(one.get("message"), Mapping) else one for one in found]
    return [{"role": role, **one} if isinstance(one, Mapping) else {"role": role, "content": one} for one in messages]


def with_content(span: Span) -> list[str]:
    """Names of attributes that hold words of the conversation, whether or not they are read."""
    return [name for name, value in span.attributes.items() if value and name.rpartition(".")[2] in _NOT_READ_ENDS]


def _json(given: Any, name: str) -> list[Any]:
    found = loads(given.encode(errors="replace")) if isinstance(given, str) else given
    found = [found] if isinstance(found, Mapping) else found
    if not isinstance(found, list):
        raise BadInputError(f"{name} is not a list of messages", locator=f".{name}")
    return found


def _chat(message: Any) -> dict[str, Any]:
    """A message of the conventions (role, parts) as a chat message."""
    if not isinstance(message, Mapping):
        return {"role": "unknown", "content": message}
    chat = {key: value for key, value in message.items() if key != "parts"}
    chat["content"] = message.get("parts", message.get("content"))
    return chat


def _numbered(attributes: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Messages of attributes such as `gen_ai.prompt.0.role`, whose parts and calls may be numbered in turn."""
    found: dict[str, Any] = {}
    for key, value in attributes.items():
        if key.startswith(f"{name}."):
            _put(found, [part for part in key.removeprefix(f"{name}.").split(".") if part not in _WRAPPERS], value)
    return [_message(message) for message in _listed(found) if isinstance(message, dict)]


def _put(holder: dict[str, Any], path: Sequence[str], value: Any) -> None:
    """Put a value where its path leads; what is in the way of a longer path gives way."""
    *around, last = path or ("",)
    for name in around:
        inner = holder.get(name)
        if not isinstance(inner, dict):
            inner = holder[name] = {}
        holder = inner
    if not isinstance(holder.get(last), dict):
        holder[last] = value


def _listed(value: Any) -> Any:
    """Objects whose keys are all numbers as lists, in order, at any depth."""
    if not isinstance(value, dict):
        return value
    if value and all(key.isdecimal() for key in value):
        return [_listed(value[key]) for key in sorted(value, key=int)]
    return {key: _listed(inner) for key, inner in value.items()}


def _message(found: dict[str, Any]) -> dict[str, Any]:
    parts = found.pop("contents", None)
    content = as_content(found.get("content"))
    message = {**found, "content": parts if isinstance(parts, list) and not content else content}
    if message.get("function_call_name"):
        message["function_call"] = {"name": message["function_call_name"], "arguments": message.get("function_call_arguments_json") or {}}
    return message
