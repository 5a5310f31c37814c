"""What a file of conversations holds, counted by a walk that knows no reader.

The walk knows how programs name things, not where a format puts them. A message is an object with a speaker and words; a call has a name
and arguments; a result is a message of a tool. Requests to models repeat the history, so a message counts as often as one list has it.
"""

import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, Final, NamedTuple, TypeVar

from ingest.reading.text import csv_rows, documents_of, dumps, is_whole, lines_of, loads, number, parsed
from schemas.common.errors import BadInputError

_SPEAKERS: Final = frozenset(
    {"role", "source", "from", "sender", "author", "speaker", "agent", "name", "agent_id", "agent_name", "current_agent"}
)
_ROLES: Final = frozenset({"role", "from", "sender", "author", "speaker"})
"""Of these keys, those that no call and no data has."""
_WORDS: Final = frozenset({
    "content", "contents", "text", "parts", "thinking", "reasoning", "reasoning_content", "thought", "refusal", "output", "result",
    "observation", "response", "message", "summary", "value", "utterance", "transcript", "results", "tool_responses", "body", "msg",
})  # fmt: skip
"""Keys under which a message has its words."""
_TYPES: Final = re.compile(r".*(_call|_output|_result|_use)|reasoning|message|human|ai|system|tool|.*\.Model(Request|Response)")
"""`type` of an object that is a message without a role."""
_RESULTS: Final = re.compile(r"tool|function|toolResult|tool_?result|.*(_output|_result|_response)")
"""Role of a message, or type of a part, that holds what a tool gave back."""
ABOUT: Final = frozenset({
    "id", "type", "signature", "thoughtSignature", "thought_signature", "encrypted_content", "url", "uri", "media_type", "mime_type",
    "mimeType", "format", "data", "tool_use_id", "call_id", "tool_call_id", "source_call_id", "name", "status", "annotations", "logprobs",
    "finish_reason", "stop_reason", "role", "toolCallId", "toolUseId", "toolName", "tool_name", "state",
    "model", "cache_control", "timestamp", "citations", "detail",
})  # fmt: skip
"""Keys that hold facts about words, and none."""
_RESULT_IDS: Final = frozenset({"tool_use_id", "call_id", "tool_call_id", "toolCallId", "toolUseId", "source_call_id"})
"""Keys that name the call of which an object holds the result."""
_ARGUMENTS: Final = ("arguments", "input", "args", "kwargs")
_NAMES: Final = ("name", "function_name", "tool_name", "toolName")
_SCORE: Final = re.compile(r"(?:^|[_ .])(?:score|reward|success|resolved|passed|correct|rating)s?(?:$|[_ .])", re.IGNORECASE)
_TOKENS: Final = re.compile(
    r"(?:^|\.)(?:cache_creation_|cache_read_)?(?:prompt|input|completion|output|candidates)_?token(?:s|_?count)$"
    r"|token_count\.(?:prompt|completion)$",
    re.IGNORECASE,
)
_SUMS: Final = re.compile(r"total|final|cumulative|model_stats|stats", re.IGNORECASE)
_CACHE: Final = re.compile(r"\.cache_(?:read|creation)\.")
"""OpenTelemetry's counts of what `input_tokens` counts already."""
_EXTRA: Final = "extra"
"""Key under which a message has what is no part of it."""
_OF_SCORES: Final = re.compile(r"(?:^|\.)(?:scores?|reductions)[.\[]")
"""Path of what a scorer logs, which is no message of the game."""
_SAME_AS: Final = {"args": "message", "extras": "message", "text": "blocks"}
"""Key -> one with the same content for display: OpenHands describes events, Slack lays texts out."""
_DATA: Final = re.compile(r"data:[\w/+.-]+;base64,.*|[A-Za-z0-9+/_-]{200,}={0,2}", re.DOTALL)
_ELSEWHERE: Final = "attachment://"
"""Text that another place of the file holds (Inspect)."""
PROSE_WORDS: Final = 3
"""So many words make a text that is more than a name."""
_REPEATS_SAMPLES: Final = re.compile(r"(?:_journal/|header|summaries|reductions).*")
"""Parts of an archive that say again what its samples say."""


class _Called(NamedTuple):
    """A call of a tool."""

    name: str
    arguments: str
    id: str | None


@dataclass(slots=True)
class _Message:
    """A message of the raw file."""

    texts: list[tuple[str, str]] = field(default_factory=list)
    """Path and text of each piece of words."""
    calls: list[_Called] = field(default_factory=list)
    is_result: bool = False
    id: str | None = None
    of_tool: bool = False
    """It is by a tool: a call in it is the one that it answers."""


@dataclass(slots=True)
class Raw:
    """What a file holds."""

    lists: dict[object, list[_Message]] = field(default_factory=lambda: defaultdict(list))
    """List -> its messages, in order."""
    prose: list[tuple[str, str]] = field(default_factory=list)
    """Path and text of what is not a message."""
    scores: Counter[float] = field(default_factory=Counter)
    tokens: dict[tuple[str, str], dict[object, int]] = field(default_factory=lambda: defaultdict(dict))
    """Type of the document and path of the object -> the tokens that it counts, once for each reply that has an id: programs write the same
    counts in several places, and with each part of a reply."""


def documents(data: bytes) -> Iterator[Any]:
    """The values of a file, whatever its container."""
    if data.startswith(b"PAR1"):
        from ingest.foreign.chat_lines import parquet_rows

        yield from (row.values for row in parquet_rows(data))
    elif data.startswith(b"PK"):
        import inspect_ai.log  # noqa: F401 - teaches zipfile the compression of newer logs

        with zipfile.ZipFile(BytesIO(data)) as archive:
            yield from (loads(archive.read(name)) for name in archive.namelist() if not _REPEATS_SAMPLES.fullmatch(name))
    elif data.lstrip()[:1] not in {b"{", b"["}:
        yield from (fields for _, fields in csv_rows(data.decode(errors="replace")) if isinstance(fields, dict))
    elif is_whole(data.lstrip().partition(b"\n")[0]) and b"\n" in data.strip():
        yield from (line.value for line in lines_of(data) if not isinstance(line.value, BadInputError))
    else:
        yield from documents_of(data)


class Walk:
    """Looks at every value of a document once."""

    def __init__(self, raw: Raw, left_out: Collection[str], document: Mapping[str, Any]) -> None:
        self._raw, self._left_out, self._kind, self._id = raw, left_out, str(document.get("type")), _id_of(document)
        self._reply: str | None = None
        self._holder: str | None = None

    def value(self, value: Any, path: str, within: object, message: _Message | None, *, in_words: bool) -> None:
        """Look at a value; `within`: the list that the message is in."""
        around = self._reply, self._holder
        if isinstance(value, Mapping | list):
            named = value.get("id") if isinstance(value, Mapping) else None
            self._reply, self._holder = self._holder, named if isinstance(named, str) else None
        self._value(value, path, within, message, in_words=in_words)
        self._reply, self._holder = around

    def _value(self, value: Any, path: str, within: object, message: _Message | None, *, in_words: bool) -> None:
        if isinstance(value, Mapping):
            self._object(value, path, within, message, in_words=in_words)
        elif isinstance(value, list) and value and all(map(_is_pair, value)):
            self._object(_of_pairs(value), path, within, message, in_words=in_words)
        elif isinstance(value, list):
            if value and message is None and all(map(_is_tuple, value)):
                self._raw.lists[path] += [_Message([(path, max(one, key=len))]) for one in value]
                return
            inner = within if message is not None or not any(isinstance(one, Mapping) for one in value) else object()
            for one in value:
                self.value(one, f"{path}[]", inner, message, in_words=in_words)
        elif isinstance(value, str):
            self._text(value, path, within, message, in_words=in_words)
        elif isinstance(value, bool | int | float) and not in_words:
            key = path.replace("[]", "")
            if _TOKENS.search(key) and not isinstance(value, bool) and not _SUMS.search(key) and not _CACHE.search(key) and value >= 0:
                around, _, name = path.rpartition(".")
                counted = self._raw.tokens[self._kind, around]
                counted[(self._reply, name) if self._reply else len(counted)] = int(value)
            elif _SCORE.search(key) and (found := number(value)) is not None:
                self._raw.scores[found] += 1

    def _object(self, found: Mapping[str, Any], path: str, within: object, message: _Message | None, *, in_words: bool) -> None:
        call = _call(found)
        is_message = _has_speaker(found) or (message is None and (_is_item(found, call) or {"kind", "parts"} <= set(found)))
        if is_message and _OF_SCORES.search(path):
            in_words = True
        elif is_message and (not in_words or "role" in found):
            is_answer = found.get("role") in {"tool", "function"}
            message, in_words = _Message(id=_id_of(found) or (self._id if within == "rows" else None), of_tool=is_answer), False
            self._raw.lists[within].append(message)
        kind = str(found.get("role") or found.get("type") or "")
        if message is not None and call is None:
            message.is_result = message.is_result or _RESULTS.fullmatch(kind) is not None or bool(_RESULT_IDS & set(found))
        if message is not None and call is not None and not message.of_tool and _ELSEWHERE not in call.arguments:
            message.calls.append(call)
        same = {again for other, again in _SAME_AS.items() if found.get(other)}
        if found.get("tool_responses") and set(re.findall(r"\w+", str(found.get("content")))) <= set(
            re.findall(r"\w+", dumps(found["tool_responses"]))
        ):
            same.add("content")  # AutoGen joins results there
        if str(found.get("description")).startswith(str(found.get("summary")).removesuffix("...")):
            same.add("summary")  # CrewAI cuts it out of the description
        for key, value in found.items():
            if key == "observation" and message is not None and value and call is None:
                of_tool = _Message(is_result=True)
                self._raw.lists[within].append(of_tool)
                self.value(value, f"{path}.{key}", within, of_tool, in_words=True)
                continue
            inner = f"{path}.{key}" if path and not path.endswith(".") else f"{path}{key}"
            if (call is not None and key in {*_ARGUMENTS, "function", "custom"}) or key in same or key in self._left_out:
                continue
            holds_words = (in_words and key not in ABOUT) or (message is not None and key in _WORDS)
            self.value(value, inner, within, None if key == _EXTRA else message, in_words=holds_words)

    def _text(self, text: str, path: str, within: object, message: _Message | None, *, in_words: bool) -> None:
        if not text.strip() or _DATA.fullmatch(text) or _ELSEWHERE in text:
            return
        is_word = path.rstrip("[]").rpartition(".")[2] in _WORDS or " " in text.strip()
        if in_words and message is not None:
            if not is_word:
                return
            message.texts.append((path, text))
            return
        inner = object_in(text)
        if inner is not None:
            self.value(inner, path, (path, within), message, in_words=False)
        elif len(text.split()) >= PROSE_WORDS:
            self._raw.prose.append((path, text))


def _has_speaker(found: Mapping[str, Any]) -> bool:
    speaks = any(isinstance(found.get(key), str) for key in _SPEAKERS) or isinstance(found.get("author"), Mapping)
    holds = any(_is_conversation(key, value) for key, value in found.items())
    return speaks and not holds and bool((_WORDS | {"tool_calls", "action"}) & set(found)) and _call(found) is None


def _is_conversation(key: str, value: Any) -> bool:
    """Whether it is a list of messages, so that the object around it is none."""
    listed = key not in _WORDS and isinstance(value, list) and bool(value)
    return listed and all(isinstance(one, Mapping) and bool(_ROLES & set(one)) for one in value)


def _is_item(found: Mapping[str, Any], call: _Called | None) -> bool:
    kind = found.get("type")
    return isinstance(kind, str) and _TYPES.fullmatch(kind) is not None and (call is not None or bool((_WORDS | {"data"}) & set(found)))


def _id_of(found: Mapping[str, Any]) -> str | None:
    return next((one for key in ("uuid", "call_id", "id") if isinstance(one := found.get(key), str) and one), None)


def _call(found: Mapping[str, Any]) -> _Called | None:
    """A call of a tool; None where the object is none."""
    inner = next((found[key] for key in ("function", "custom") if isinstance(found.get(key), Mapping)), found)
    name = next((inner[key] for key in _NAMES if isinstance(inner.get(key), str)), None)
    name = found["function"] if name is None and isinstance(found.get("function"), str) else name
    given = next((inner[key] for key in _ARGUMENTS if inner.get(key) is not None), None)
    if name is None or given is None or "role" in found or "content" in found or "description" in inner:
        return None
    return _Called(name, canonical(given), _id_of(found))


def canonical(given: Any) -> str:
    """Arguments of a call in one form, whether they were text or an object."""
    read = object_in(given) if isinstance(given, str) else given
    if isinstance(read, Mapping):
        return dumps(dict(sorted((str(key), value) for key, value in read.items())))
    return dumps({"value": given if read is None else read}) if given not in ("", None) else "{}"


def object_in(text: str) -> Any:
    """What JSON text holds; None where it is none, or no object and no list."""
    found = parsed(text)
    return None if found is text else found


def _is_tuple(value: Any) -> bool:
    """Whether it is a message as a list: who speaks, to whom, words."""
    return isinstance(value, list) and len(value) in {2, 3} and all(isinstance(one, str) for one in value) and " " in max(value, key=len)


def _is_pair(value: Any) -> bool:
    """Whether it is a name and a value, such as an attribute of a span."""
    return isinstance(value, Mapping) and set(value) == {"key", "value"} and isinstance(value["key"], str)


def _of_pairs(pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Pairs as an object; names with points and numbers are paths into objects and lists."""
    whole: dict[str, Any] = {}
    for pair in pairs:
        *around, last = pair["key"].split(".") if re.search(r"\.\d+\.", pair["key"]) else [pair["key"]]
        here = whole
        for part in around:
            inner = here.get(part)
            inner = inner if isinstance(inner, dict) else {}
            here[part] = inner
            here = inner
        here[last] = _plain(pair["value"])
    return {key: _with_lists(value) for key, value in whole.items()}


def _with_lists(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    inner = {key: _with_lists(one) for key, one in value.items()}
    return list(inner.values()) if inner and all(key.isdecimal() for key in inner) else inner


def _plain(value: Any) -> Any:
    """A value of OTLP, without what names its type."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    (kind, inner), *_ = value.items()
    if kind == "intValue" and isinstance(inner, str) and inner.lstrip("-").isdecimal():
        return int(inner)
    held = inner.get("values") if isinstance(inner, Mapping) else None
    if kind == "arrayValue" and isinstance(held, list):
        return [_plain(one) for one in held]
    return held if kind == "kvlistValue" else inner if str(kind).endswith("Value") else value


def as_often_as_one_list_has_it(lists: Iterable[list[_Message]]) -> list[_Message]:
    """The messages of lists that repeat one another, each as often as the list that has it most."""
    most: dict[tuple[Any, ...], list[_Message]] = {}
    for messages in lists:
        here: dict[tuple[Any, ...], dict[object, _Message]] = defaultdict(dict)
        for one in messages:
            if one.texts or one.calls:
                key = (*(text for _, text in one.texts), one.is_result, *(call[:2] for call in one.calls))
                here[key].setdefault(one.id or id(one), one)
        for key, same in here.items():
            if len(same) > len(most.get(key, ())):
                most[key] = list(same.values())
    return [one for same in most.values() for one in same]


_Of = TypeVar("_Of")


def merged_texts(counted: Counter[_Of], times: Callable[[_Of], int]) -> list[_Of]:
    """What rows hold less often than the file, as often as it is missing. What no row holds just so is stored in another form."""
    return [one for one, count in counted.items() if count > 1 and 0 < (held := times(one)) < count for _ in range(count - held)]
