"""Chat messages as a conversation: who speaks, messages and thoughts, which tools are called and what came of them.

Who speaks is found in this order: `speaker`, `agent` or `name` in the message's metadata; the agent in whose span a model wrote it, where
the log tells; its `name`; a name before a colon that all of the models' messages begin with (`Director: ...`); else its role.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from ingest.conversation.messages import AGENTS, MessageParts, called_tool, calls_of, chat_messages, keys_with_content, parts_of, text_of
from ingest.conversation.rows import LoggedMessage, ToolUse
from ingest.conversation.usage import ModelCall, inner_message, usage_of
from ingest.reading.text import dumps
from schemas.common.errors import BadInputError

_NAMES: Final = ("speaker", "agent", "name")
_SPEAKERS: Final = 2
"""The fewest whose names are taken for speakers."""
_PREFIX: Final = re.compile(r"\A\s*\**([A-Z][\w .'-]{0,40}?)\**:\s")
_NO_SPEAKERS: Final = frozenset({
    "thought", "action", "observation", "answer", "reason", "reasoning", "explanation", "question", "step", "note", "plan", "result",
    "response", "input", "output", "final", "analysis",
})  # fmt: skip
"""Words that programs write before a colon, and that are not names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedMessage:
    """A message of a log, in any of the common forms, with what the log tells around it."""

    raw: Mapping[str, Any]
    """`role`, `content`, and `name`, `metadata`, `tool_calls`, `tool_call_id`, `error` where there are any."""
    agent: str | None = None
    """The agent in whose span it was written."""
    audience: Sequence[str] | None = None
    """Who is known to have read it; None: not known, so all."""
    at: datetime | None = None
    call: ModelCall | None = None
    turn: int | None = None
    """The turn to which it belongs, from 0 or 1; None: it is a turn of its own."""
    source: Mapping[str, Any] | None = None
    """The message as the log has it, where `raw` was made from it."""
    read: Collection[str] = ()
    """Its keys that a mapping names."""


def logged_messages(messages: Sequence[ParsedMessage]) -> list[LoggedMessage]:
    """The messages as turns, in order.

    Raises:
        BadInputError: one of them is not a message.
    """
    for index, message in enumerate(messages):
        if not isinstance(message.raw, Mapping):
            raise BadInputError("a message is not an object with role and content: the log is damaged", locator=f".messages[{index}]")
        if not isinstance(message.raw.get("tool_calls") or [], list):
            raise BadInputError("tool_calls is not a list: the log is damaged", locator=f".messages[{index}].tool_calls")
    forms = [_forms(message) for message in _with_calls(messages)]
    flat = [form for found in forms for form in found]
    who = speakers(flat)
    parts = [parts_of(form.raw.get("content")) for form in flat]
    outcomes = _outcomes(flat, parts)
    logged = iter([_logged(index, form, who[index], parts[index], outcomes) for index, form in enumerate(flat)])
    return [one for message, found in zip(messages, forms, strict=True) for one in _with_unread(message, [next(logged) for _ in found])]


def _forms(message: ParsedMessage) -> list[ParsedMessage]:
    """The chat messages that a message holds; the request that it came from goes with the first that is not a result of a tool."""
    found = [replace(message, raw=raw) for raw in chat_messages(message.raw)]
    first = next((index for index, form in enumerate(found) if _role(form.raw) != "tool"), 0)
    return [form if index == first else replace(form, call=None) for index, form in enumerate(found)]


def _with_calls(messages: Sequence[ParsedMessage]) -> Iterator[ParsedMessage]:
    """With the request that a message itself tells of; where several hold parts of one reply, the last does."""
    held = [one.raw if one.source is None else one.source for one in messages]
    ids = [found if isinstance(found := inner_message(raw).get("id"), str) else None for raw in held]
    last = {found: index for index, found in enumerate(ids)}
    for index, one in enumerate(messages):
        if one.call is None and (ids[index] is None or last[ids[index]] == index):
            usage = usage_of(held[index])
            if usage is not None:
                yield replace(one, call=usage._replace(asked_at=one.at))
                continue
        yield one


def _with_unread(message: ParsedMessage, logged: list[LoggedMessage]) -> list[LoggedMessage]:
    """Where nothing was read of a message, the keys that hold something; many tools return nothing."""
    if not logged or any(one.text or one.thought or one.tools for one in logged) or logged[0].role == "tool":
        return logged
    keys = keys_with_content(message.raw if message.source is None else message.source)
    return [replace(logged[0], unread=[key for key in keys if key not in message.read])]


def speakers(messages: Sequence[ParsedMessage]) -> list[str]:
    """The agent of each message."""
    several = {key for key in AGENTS if len({str(one.raw[key]) for one in messages if one.raw.get(key) is not None}) > 1}
    names = [_named(message, several) for message in messages]
    prefixes = _prefixes([message for message, name in zip(messages, names, strict=True) if name is None])
    return [name or prefixes.get(id(message)) or _role(message.raw) for message, name in zip(messages, names, strict=True)]


def _named(message: ParsedMessage, several: Collection[str]) -> str | None:
    """The name that a message states; under `several` keys more than one agent is named, so that a user is an agent, too."""
    metadata = _metadata(message.raw)
    named = next((metadata[key] for key in _NAMES if isinstance(metadata.get(key), str) and metadata[key].strip()), None)
    if named is not None:
        return str(named).strip()
    if _role(message.raw) == "assistant":
        named = message.agent or message.raw.get("agent")
        if isinstance(named, str) and named.strip():
            return named.strip()
    role, name = _role(message.raw), message.raw.get("name")
    if isinstance(name, str) and name.strip() and role != "tool":
        return name.strip()
    keys = (key for key in AGENTS if role == "assistant" or (role == "user" and key in several))
    key = next((key for key in keys if _is_name(message.raw.get(key))), None)
    if key is None:
        return None
    found = message.raw[key]
    return f"{key.removesuffix('_id')} {found}" if isinstance(found, int) else str(found).strip()


def _is_name(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip() != ""


def _prefixes(messages: Sequence[ParsedMessage]) -> dict[int, str]:
    """Names before a colon, if all of the models' messages begin with one, two or more agents do, and each speaks twice on average."""
    written = [message for message in messages if _role(message.raw) == "assistant"]
    found = [_PREFIX.match(parts_of(message.raw.get("content")).text) for message in written]
    names = [match[1].strip() for match in found if match]
    each_speaks_twice = _SPEAKERS <= len(set(names)) <= len(names) / 2
    if len(names) < len(written) or not each_speaks_twice or any(name.lower().split()[0] in _NO_SPEAKERS for name in names):
        return {}
    return {id(message): name for message, name in zip(written, names, strict=True)}


def _role(raw: Mapping[str, Any]) -> str:
    return str(raw.get("role") or "unknown")


class _Outcome(NamedTuple):
    """The outcome of a call, and its message; code and text are None if it went well."""

    place: int
    code: str | None
    text: str | None


_Outcomes = Mapping[str, Sequence[_Outcome]]
"""Id of a call -> its outcomes in order: some programs use an id again."""


def _outcomes(messages: Sequence[ParsedMessage], parts: Sequence[MessageParts]) -> _Outcomes:
    found: dict[str, list[_Outcome]] = defaultdict(list)
    for index, (message, part) in enumerate(zip(messages, parts, strict=True)):
        for called, error in part.results.items():
            found[called].append(_Outcome(index, None, error))
        if _role(message.raw) == "tool":
            for answered in _answered(message.raw):
                found[answered].append(_Outcome(index, *_error(message.raw)))
    return found


def _answered(raw: Mapping[str, Any]) -> list[str]:
    """Ids of the calls whose results a tool's message holds."""
    named = raw.get("tool_call_id") or raw.get("tool_call_ids") or raw.get("call_id") or raw.get("id")
    return [str(one) for one in (named if isinstance(named, list) else [named]) if isinstance(one, str)]


def _error(raw: Mapping[str, Any]) -> tuple[str | None, str | None]:
    error = raw.get("error")
    if isinstance(error, Mapping):
        return str(error.get("type") or "error"), str(error.get("message") or "")
    if error is True:
        return "error", parts_of(raw.get("content")).text
    return ("error", str(error)) if error else (None, None)


def _logged(index: int, message: ParsedMessage, agent: str, found: MessageParts, outcomes: _Outcomes) -> LoggedMessage:
    raw = message.raw
    calls = calls_of(raw)
    if isinstance(raw.get("function_call"), Mapping):
        calls.append(called_tool(raw["function_call"]))
    thoughts = dict.fromkeys([found.thought, *_apart(raw)])
    code, text = _error(raw)
    logged = _metadata(message.raw).get("audience")
    heard = logged if isinstance(logged, list) else message.audience
    return LoggedMessage(
        agent=agent,
        text=found.text or (text or "" if _role(raw) == "tool" else ""),
        turn=message.turn,
        role=_role(raw),
        thought="\n".join(filter(None, thoughts)) or None,
        private=_metadata(raw).get("channel") == "private",
        audience=None if heard is None else list(dict.fromkeys([agent, *map(str, heard)])),
        tools=[
            _with_outcome(call.use, next((one for one in outcomes.get(call.id or "", ()) if one.place > index), None)) for call in calls
        ],
        tokens=None if message.call is None else message.call.tokens_out,
        error=f"{code}: {text}" if code else None,
        at=message.at,
        call=message.call,
    )


def _apart(raw: Mapping[str, Any]) -> list[str]:
    """Thoughts outside of the content, some of which repeat others as parts."""
    held = [raw[key] for key in ("reasoning_content", "reasoning") if raw.get(key)]
    held = held or [next((raw[key] for key in ("thinking", "thinking_blocks", "reasoning_details") if raw.get(key)), "")]
    parts = [MessageParts([one]) if isinstance(one, str) else parts_of(one) for one in held]
    return ["\n".join(filter(None, (one.thought, one.text))) for one in parts]


def _metadata(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    found = raw.get("metadata")
    return found if isinstance(found, Mapping) else {}


def _with_outcome(use: ToolUse, outcome: _Outcome | None) -> ToolUse:
    if outcome is None or use.succeeded is not None:
        return use
    return replace(use, succeeded=outcome.code is None and outcome.text is None, error_code=outcome.code, error_text=outcome.text)


_READER: Final = "assistant"
"""Who reads what a model is sent, where the log names no agent."""

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A request to a model, in the order of time."""

    inputs: Sequence[Raw]
    answers: Sequence[Raw]
    """What the model wrote; empty where it failed."""
    agent: str | None
    """The agent that asked; None: the log does not say."""
    call: ModelCall | None = None
    at: datetime | None = None


_STOPS: Final = re.compile(r"\s*<end_\w+>$")
"""Stop sequences of smolagents."""


@dataclass(slots=True, eq=False)
class _Entry:
    """A message, and what the requests tell of it."""

    raw: Raw
    agent: str | None = None
    readers: dict[str, None] = field(default_factory=dict)
    is_answer: bool = False
    at: datetime | None = None
    call: ModelCall | None = None


def thread_of(messages: Sequence[Raw], requests: Sequence[ModelRequest]) -> list[ParsedMessage]:
    """All messages in order: those of the conversation as it is logged, and those that only requests hold, where they came up."""
    thread = _Thread(messages)
    for request in requests:
        thread.add(request)
    is_team = len({request.agent for request in requests}) > 1
    return [
        ParsedMessage(
            raw=entry.raw,
            agent=entry.agent,
            audience=list(entry.readers) if is_team and entry.readers else None,
            at=entry.at,
            call=entry.call,
        )
        for entry in thread.entries()
    ]


class _Thread:
    def __init__(self, messages: Sequence[Raw]) -> None:
        self._main = [_Entry(raw) for raw in messages]
        self._place = {id(entry): index for index, entry in enumerate(self._main)}
        self._after: dict[int, list[_Entry]] = defaultdict(list)
        self._by_id: dict[str, _Entry] = {}
        self._by_words: dict[str, list[_Entry]] = defaultdict(list)
        self._by_text: dict[str, list[_Entry]] = defaultdict(list)
        self._here = -1
        for entry in self._main:
            self._know(entry)

    def entries(self) -> Iterator[_Entry]:
        """All messages in order."""
        yield from self._after[-1]
        for index, entry in enumerate(self._main):
            yield entry
            yield from self._after[index]

    def add(self, request: ModelRequest) -> None:
        """Take what a request holds that is not there yet, and what it tells of the rest."""
        times: Counter[str] = Counter()
        taken: set[int] = set()
        for raw in request.inputs:
            words = _words(raw)
            times[words] += 1
            entry = self._at(raw, self._named(raw) or self._nth(words, times[words]) or self._answered(raw, taken))
            entry.readers[request.agent or _READER] = None
            taken.add(id(entry))
        said = next((raw for raw in request.answers if text_of(raw.get("content"))), None) or next(iter(request.answers), None)
        for raw in request.answers:
            free = (entry for entry in self._by_words[_words(raw)] if not entry.is_answer)
            entry = self._at(raw, self._named(raw) or next(free, None))
            entry.agent, entry.at, entry.is_answer = request.agent, request.at, True
            if raw is said:  # a request counts once, however many items its reply has
                entry.call = request.call
            text, calls = parts_of(raw.get("content")).text.strip(), _calls_without_ids(raw)
            self._by_text[text if calls == "[]" else f"{text} {calls}"].append(entry)

    def _at(self, raw: Raw, known: _Entry | None) -> _Entry:
        """The message, which is put here where it is new; the next new one follows it."""
        entry = known
        if entry is None:
            entry = _Entry(raw)
            self._after[self._here].append(entry)
            self._know(entry)
        self._here = self._place.get(id(entry), self._here)
        return entry

    def _named(self, raw: Raw) -> _Entry | None:
        return self._by_id.get(str(raw.get("id") or ""))

    def _nth(self, words: str, times: int) -> _Entry | None:
        same = self._by_words[words]
        return same[times - 1] if times <= len(same) else None

    def _answered(self, raw: Raw, taken: set[int]) -> _Entry | None:
        """What another agent wrote, read by this one as a user's words; or the calls of a reply, under other ids."""
        text = parts_of(raw.get("content")).text.strip()
        if raw.get("role") == "assistant" and (calls := _calls_without_ids(raw)) != "[]":
            return next((entry for entry in self._by_text[f"{text} {calls}"] if id(entry) not in taken), None)
        if raw.get("role") not in ("user", "assistant") or not text:
            return None
        shorter = _STOPS.sub("", text)
        found = next((entry for one in (text, shorter) for entry in self._by_text[one] if id(entry) not in taken), None)
        if found is not None and shorter != text:  # the history has the stop sequence that the reply ended before
            found.raw = {**found.raw, "content": raw["content"]}
        return found

    def _know(self, entry: _Entry) -> None:
        named = entry.raw.get("id")
        if named:
            self._by_id.setdefault(str(named), entry)
        self._by_words[_words(entry.raw)].append(entry)


def _words(raw: Raw) -> str:
    """What makes two messages the same; thoughts are cut out of some requests."""
    parts = parts_of(raw.get("content"))
    used = [[call.use.name, call.use.arguments, call.id] for call in calls_of(raw)]
    return dumps([raw.get("role"), parts.text.strip(), used, raw.get("tool_call_id"), sorted(parts.results)])


def _calls_without_ids(raw: Raw) -> str:
    return dumps([[call.use.name, call.use.arguments] for call in calls_of(raw)])
