"""The intake receipt: what a file of conversations holds, counted by a walk that knows no reader, against what was stored of it.

The walk knows how programs name things, not where a format puts them. A message is an object with a speaker and words; a call has a name
and arguments; a result is a message of a tool. Requests to models repeat the history, so a message counts as often as one list has it.
A value counts as stored if any row of the file holds it; a message or call that a list repeats, as often as rows repeat it, unless its id
tells that it is the same one. Words are compared by lines: a message of several parts is stored as one text.
"""

import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from io import BytesIO
from typing import Any, Final, NamedTuple, TypeVar

from ingest.reading.adapter_types import Reading
from ingest.reading.text import csv_rows, documents_of, dumps, is_whole, lines_of, loads, number, parsed
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt
from schemas.records import Action, Agent, Call, Episode, EpisodeMetric, Json, Receipt, TurnMetric, Utterance

KINDS: Final = ("messages", "words", "tool_calls", "results", "scores", "tokens")

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
_OF_MESSAGES: Final = _WORDS | {"tool_calls", "action"}
"""Keys of which an object with a speaker has one, if it is a message."""
_OF_ITEMS: Final = _WORDS | {"data"}
_TYPES: Final = re.compile(r".*(_call|_output|_result|_use)|reasoning|message|human|ai|system|tool|.*\.Model(Request|Response)")
"""`type` of an object that is a message without a role."""
_RESULTS: Final = re.compile(r"tool|function|toolResult|tool_?result|.*(_output|_result|_response)")
"""Role of a message, or type of a part, that holds what a tool gave back."""
_ABOUT: Final = frozenset({
    "id", "type", "signature", "thoughtSignature", "thought_signature", "encrypted_content", "url", "uri", "media_type", "mime_type",
    "mimeType", "format", "data", "tool_use_id", "call_id", "tool_call_id", "source_call_id", "name", "status", "annotations", "logprobs",
    "finish_reason", "stop_reason", "role", "toolCallId", "toolUseId", "toolName", "tool_name", "state",
    "model", "cache_control", "timestamp", "citations", "detail",
})  # fmt: skip
"""Keys that hold facts about words, and none."""
_RESULT_IDS: Final = frozenset({"tool_use_id", "call_id", "tool_call_id", "toolCallId", "toolUseId", "source_call_id"})
"""Keys that name the call of which an object holds the result."""
_ARGUMENTS: Final = ("arguments", "input", "args", "kwargs")
_GIVEN: Final = frozenset(_ARGUMENTS)
_OF_CALLS: Final = _GIVEN | {"function", "custom"}
"""Keys of a call whose values are taken as a whole."""
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
_PROSE_WORDS: Final = 3
"""So many words make a text that is more than a name."""
_LISTED: Final = 12
_SEARCHED: Final = 300
"""So many texts that no stored line equals are looked for inside of lines."""
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
class _Raw:
    """What a file holds."""

    lists: dict[object, list[_Message]] = field(default_factory=lambda: defaultdict(list))
    """List -> its messages, in order."""
    prose: list[tuple[str, str]] = field(default_factory=list)
    """Path and text of what is not a message."""
    scores: Counter[float] = field(default_factory=Counter)
    tokens: dict[tuple[str, str], dict[object, int]] = field(default_factory=lambda: defaultdict(dict))
    """Type of the document and path of the object -> the tokens that it counts, once for each reply that has an id: programs write the same
    counts in several places, and with each part of a reply."""


def receipts(data: bytes, reading: Reading, source_id: str, path: str, left_out: Collection[str] = ()) -> list[Receipt]:
    """The receipt of a file of conversations: a row for each of `KINDS`, and one for its keys; none where the file cannot be walked.

    Args:
        data: the file.
        reading: what was read of it.
        source_id: of the file.
        path: of the file.
        left_out: keys whose values repeat what other keys have, in another form.
    """
    raw = _Raw()
    try:
        for index, document in enumerate(_documents(data)):
            within = ("document", index) if isinstance(document, list) else "rows"
            _Walk(raw, left_out, document if isinstance(document, dict) else {}).value(document, "", within, None, in_words=False)
    except (BadInputError, RecursionError, zipfile.BadZipFile, ImportError, NotImplementedError):
        return []
    stored = _Stored(reading)
    messages = _as_often_as_one_list_has_it(raw.lists.values())
    called: Counter[tuple[str, str]] = Counter()
    for listed in raw.lists.values():
        called |= Counter(call[:2] for call in {call if call.id else id(call): call for one in listed for call in one.calls}.values())
    results = [one for one in messages if one.is_result and one.texts]
    texts = [text for one in messages for text in one.texts]
    lost = [text for text in texts if not stored.has(text[1])]
    is_lost = {text for _, text in lost}
    no_calls = Counter({call: count for call, count in called.items() if not stored.has_call(*call)})
    whole = [
        one for one in messages if not any(call[:2] in no_calls for call in one.calls) and not any(text in is_lost for _, text in one.texts)
    ]
    merged = _merged(Counter(tuple(one.texts) for one in whole if one.texts), stored.times)
    lost += [text for one in merged for text in one]
    lost_calls = [*no_calls.elements(), *_merged(called, stored.times_called)]
    stored_scores = sum((raw.scores & stored.scores).values())
    keys = Counter({path: 0 for path, _ in raw.prose})
    unread = Counter(path for path, text in raw.prose if not stored.has(text, as_fact=True))
    unread.update(path for path, _ in lost)
    keys.update(unread)
    words = sum(len(text.split()) for _, text in texts)
    tokens = max((list(one.values()) for one in raw.tokens.values()), key=sum, default=[])
    is_detail = bool(tokens) and all(stored.scores[float(count)] for count in tokens)

    def row(kind: str, counted: int | None, held: int | None, missing: Sequence[str] = ()) -> Receipt:
        return Receipt(source_id, path, kind, counted, held, [excerpt(one, 80) for one in list(dict.fromkeys(missing))[:_LISTED]])

    return [
        row("messages", len(messages), len(whole) - len(merged)),
        row("words", words, words - sum(len(text.split()) for _, text in lost), [f"{path}: {text}" for path, text in lost]),
        row("tool_calls", called.total(), called.total() - len(lost_calls), [f"{name} {arguments}" for name, arguments in lost_calls]),
        row("results", len(results), sum(not any(text in is_lost for _, text in one.texts) for one in results)),
        row("scores", raw.scores.total() or None, stored_scores if raw.scores else None),
        row("tokens", sum(tokens) if raw.tokens else None, sum(tokens) if stored.tokens is None and is_detail else stored.tokens),
        row("keys", len(keys), len(keys) - len(unread), [f"{path} ({count})" for path, count in unread.most_common(_LISTED)]),
    ]


def family_receipts(data: bytes, reading: Reading, source_id: str, path: str) -> list[Receipt]:
    """The receipt of a published log of a family, which has messages in places of its own: a row for messages, words and keys.

    Texts of a key are messages if more than half of them are stored as such, word for word; of a list of tries one is enough. So a
    message is missed as long as the reader takes most of them from its key; a key that it never reads is listed. Names, moves and marks
    such as `[NOTHING]` are not counted: they have one word, or two.

    Args:
        data: the file.
        reading: what was read of it.
        source_id: of the file.
        path: of the file.
    """
    names = {row.agent for row in reading.rows["agents"] if isinstance(row, Agent)}
    texts: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    try:
        for document in _documents(data):
            _texts_of_keys(document, "", names, texts)
    except (BadInputError, RecursionError):
        return []
    held: Counter[str] = Counter()
    for row in (*reading.rows["utterances"], *reading.rows["actions"]):
        said = row.text if isinstance(row, Utterance) else row.raw if isinstance(row, Action) else None
        held.update([said.strip()] if said else [])
    alone = {key: Counter(one for one, *_ in found) for key, found in texts.items() if not key.endswith("|")}
    of_messages = {key for key, found in alone.items() if 2 * (found & held).total() > found.total()}
    of_messages |= {
        key
        for key, found in texts.items()
        if key not in alone
        and f"{key[:-1]}[]" not in of_messages
        and 2 * sum(not held.keys().isdisjoint(one) for one in found) > len(found)
    }
    counted: dict[tuple[str, ...], tuple[int, str]] = {}
    for key in filter(of_messages.__contains__, texts):  # in the order of the file, so that every reading lists the same
        for tries, count in Counter(texts[key]).items():
            counted[tries] = min((count, key), counted.get(tries, (count, key)))  # other keys repeat the history
    lost = [
        (key, tries[0])
        for tries, (count, key) in counted.items()
        for _ in range(count - (held[tries[0]] if key in alone else count * (not held.keys().isdisjoint(tries))))
    ]
    stored = _Stored(replace(reading, rows=defaultdict(list, {name: rows for name, rows in reading.rows.items() if name != "turns"})))
    others = {key: found for key, found in alone.items() if key not in of_messages}
    unread = +Counter({key: sum(not stored.has(one, as_fact=True) for one in found.elements()) for key, found in others.items()})
    messages, words = sum(count for count, _ in counted.values()), sum(len(one[0].split()) * count for one, (count, _) in counted.items())
    gone = sum(len(text.split()) for _, text in lost)
    rows: list[tuple[str, int | None, int | None, list[str]]] = [
        ("messages", messages or None, messages - len(lost) if messages else None, []),
        ("words", words or None, words - gone if words else None, [f"{key}: {text}" for key, text in lost]),
        ("keys", len(alone), len(alone) - len(unread), [f"{key} ({count})" for key, count in unread.most_common(_LISTED)]),
    ]
    return [Receipt(source_id, path, *row[:3], [excerpt(one, 80) for one in row[3][:_LISTED]]) for row in rows]


def _texts_of_keys(value: Any, key: str, names: Collection[str], texts: dict[str, list[tuple[str, ...]]]) -> None:
    """Key, with * for an agent or a number -> its texts, each alone, and with | at its end the tries of each list of texts."""
    if isinstance(value, str):
        if _is_prose(value):
            texts[key].append((value.strip(),))
    elif isinstance(value, dict):
        for name, inner in value.items():
            if isinstance(inner, str | dict | list):
                _texts_of_keys(inner, f"{key}.{'*' if name in names or str(name).isdecimal() else name}".lstrip("."), names, texts)
    elif isinstance(value, list):
        tries = [one.strip() for one in value if isinstance(one, str) and one.strip()]
        if len(tries) > 1 and any(map(_is_prose, tries)):
            texts[f"{key}|"].append(tuple(tries))
        for inner in value:
            if isinstance(inner, str | dict | list):
                _texts_of_keys(inner, f"{key}[]", names, texts)


def losses(rows: Sequence[Receipt]) -> Iterator[BadInputError]:
    """What a receipt shows to be lost. Logs repeat scores and tokens as means and totals: there a loss is that nothing was stored."""
    lost = [
        row
        for row in rows
        if row.counted
        and row.kind != "keys"
        and ((row.stored or 0) < row.counted if row.kind not in {"scores", "tokens"} else not row.stored and row.stored != row.counted)
    ]
    if lost:
        counts = ", ".join(f"{(row.stored or 0):,} of {row.counted:,} {row.kind.replace('_', ' ')}" for row in lost)
        missing = next((row.missing for row in lost if row.missing), [])
        first = f"; the first that is missing: {missing[0]}" if missing else ""
        yield BadInputError(
            f"not all was stored: {counts}{first}; name the keys in a mapping (cotrace ingest --guess FILE), or report it",
            locator="receipt",
        )


def _documents(data: bytes) -> Iterator[Any]:
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


class _Walk:
    """Looks at every value of a document once."""

    def __init__(self, raw: _Raw, left_out: Collection[str], document: Mapping[str, Any]) -> None:
        self._raw, self._left_out, self._kind, self._id = raw, left_out, str(document.get("type")), _id_of(document)
        self._reply: str | None = None
        self._holder: str | None = None

    def value(self, value: Any, path: str, within: object, message: _Message | None, *, in_words: bool) -> None:
        """Look at a value; `within`: the list that the message is in."""
        if isinstance(value, str):
            self._text(value, path, within, message, in_words=in_words)
        elif isinstance(value, dict | list):
            around = self._reply, self._holder
            named = value.get("id") if isinstance(value, dict) else None
            self._reply, self._holder = self._holder, named if isinstance(named, str) else None
            if isinstance(value, dict):
                self._object(value, path, within, message, in_words=in_words)
            elif value and all(map(_is_pair, value)):
                self._object(_of_pairs(value), path, within, message, in_words=in_words)
            else:
                self._list(value, path, within, message, in_words=in_words)
            self._reply, self._holder = around
        elif isinstance(value, int | float) and not in_words:
            self._number(value, path)

    def _list(self, value: list[Any], path: str, within: object, message: _Message | None, *, in_words: bool) -> None:
        if value and message is None and all(map(_is_tuple, value)):
            self._raw.lists[path] += [_Message([(path, max(one, key=len))]) for one in value]
            return
        inner = within if message is not None or not any(isinstance(one, dict) for one in value) else object()
        for one in value:
            self.value(one, f"{path}[]", inner, message, in_words=in_words)

    def _number(self, value: float, path: str) -> None:
        counts, scores = _counts_and_scores(path)
        if counts and not isinstance(value, bool) and value >= 0:
            around, _, name = path.rpartition(".")
            counted = self._raw.tokens[self._kind, around]
            counted[(self._reply, name) if self._reply else len(counted)] = int(value)
        elif scores and (found := number(value)) is not None:
            self._raw.scores[found] += 1

    def _object(self, found: Mapping[str, Any], path: str, within: object, message: _Message | None, *, in_words: bool) -> None:
        call = _call(found)
        is_message = _has_speaker(found, call) or (message is None and (_is_item(found, call) or ("kind" in found and "parts" in found)))
        if is_message and _OF_SCORES.search(path):
            in_words = True
        elif is_message and (not in_words or "role" in found):
            is_answer = found.get("role") in {"tool", "function"}
            message, in_words = _Message(id=_id_of(found) or (self._id if within == "rows" else None), of_tool=is_answer), False
            self._raw.lists[within].append(message)
        kind = str(found.get("role") or found.get("type") or "")
        if message is not None and call is None:
            message.is_result = message.is_result or _RESULTS.fullmatch(kind) is not None or not _RESULT_IDS.isdisjoint(found)
        if message is not None and call is not None and not message.of_tool and _ELSEWHERE not in call.arguments:
            message.calls.append(call)
        same = {again for other, again in _SAME_AS.items() if found.get(other)}
        if found.get("tool_responses") and set(re.findall(r"\w+", str(found.get("content")))) <= set(
            re.findall(r"\w+", dumps(found["tool_responses"]))
        ):
            same.add("content")  # AutoGen joins results there
        if "summary" in found and str(found.get("description")).startswith(str(found["summary"]).removesuffix("...")):
            same.add("summary")  # CrewAI cuts it out of the description
        for key, value in found.items():
            if key == "observation" and message is not None and value and call is None:
                of_tool = _Message(is_result=True)
                self._raw.lists[within].append(of_tool)
                self.value(value, f"{path}.{key}", within, of_tool, in_words=True)
                continue
            inner = f"{path}.{key}" if path and not path.endswith(".") else f"{path}{key}"
            if (call is not None and key in _OF_CALLS) or key in same or key in self._left_out:
                continue
            holds_words = (in_words and key not in _ABOUT) or (message is not None and key in _WORDS)
            self.value(value, inner, within, None if key == _EXTRA else message, in_words=holds_words)

    def _text(self, text: str, path: str, within: object, message: _Message | None, *, in_words: bool) -> None:
        if not text.strip() or _DATA.fullmatch(text) or _ELSEWHERE in text:
            return
        if in_words and message is not None:
            if path.rstrip("[]").rpartition(".")[2] in _WORDS or " " in text.strip():
                message.texts.append((path, text))
            return
        inner = _parsed(text)
        if inner is not None:
            self.value(inner, path, (path, within), message, in_words=False)
        elif _is_prose(text):
            self._raw.prose.append((path, text))


@lru_cache(maxsize=4096)
def _counts_and_scores(path: str) -> tuple[bool, bool]:
    """Whether numbers at a path count tokens, and whether they may be scores; cached, as a file has thousands of numbers at few paths."""
    key = path.replace("[]", "")
    return _TOKENS.search(key) is not None and not _SUMS.search(key) and not _CACHE.search(key), _SCORE.search(key) is not None


def _is_prose(text: str) -> bool:
    """Whether a text is more than a name."""
    return len(text.split(None, _PROSE_WORDS - 1)) == _PROSE_WORDS


def _has_speaker(found: Mapping[str, Any], call: _Called | None) -> bool:
    if call is not None or _OF_MESSAGES.isdisjoint(found):
        return False
    speaks = any(isinstance(found[key], str) for key in _SPEAKERS if key in found) or isinstance(found.get("author"), dict)
    return speaks and not any(_is_conversation(key, value) for key, value in found.items())


def _is_conversation(key: str, value: Any) -> bool:
    """Whether it is a list of messages, so that the object around it is none."""
    listed = isinstance(value, list) and bool(value) and key not in _WORDS
    return listed and all(isinstance(one, dict) and not _ROLES.isdisjoint(one) for one in value)


def _is_item(found: Mapping[str, Any], call: _Called | None) -> bool:
    kind = found.get("type")
    return isinstance(kind, str) and _TYPES.fullmatch(kind) is not None and (call is not None or not _OF_ITEMS.isdisjoint(found))


def _id_of(found: Mapping[str, Any]) -> str | None:
    return next((one for key in ("uuid", "call_id", "id") if isinstance(one := found.get(key), str) and one), None)


def _call(found: Mapping[str, Any]) -> _Called | None:
    """A call of a tool; None where the object is none."""
    if "role" in found or "content" in found:
        return None
    inner = next((found[key] for key in ("function", "custom") if isinstance(found.get(key), dict)), found)
    if "description" in inner or _GIVEN.isdisjoint(inner):
        return None
    name = next((inner[key] for key in _NAMES if isinstance(inner.get(key), str)), None)
    name = found["function"] if name is None and isinstance(found.get("function"), str) else name
    given = next((inner[key] for key in _ARGUMENTS if inner.get(key) is not None), None)
    if name is None or given is None:
        return None
    return _Called(name, _canonical(given), _id_of(found))


def _canonical(given: Any) -> str:
    read = _parsed(given) if isinstance(given, str) else given
    if isinstance(read, dict):
        return dumps(dict(sorted((str(key), value) for key, value in read.items())))
    return dumps({"value": given if read is None else read}) if given not in ("", None) else "{}"


def _parsed(text: str) -> Any:
    """What JSON text holds; None where it is none, or no object and no list."""
    found = parsed(text)
    return None if found is text else found


def _is_tuple(value: Any) -> bool:
    """Whether it is a message as a list: who speaks, to whom, words."""
    return isinstance(value, list) and len(value) in {2, 3} and all(isinstance(one, str) for one in value) and " " in max(value, key=len)


def _is_pair(value: Any) -> bool:
    """Whether it is a name and a value, such as an attribute of a span."""
    return isinstance(value, dict) and value.keys() == {"key", "value"} and isinstance(value["key"], str)


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
    if not isinstance(value, dict) or len(value) != 1:
        return value
    (kind, inner), *_ = value.items()
    if kind == "intValue" and isinstance(inner, str) and inner.lstrip("-").isdecimal():
        return int(inner)
    held = inner.get("values") if isinstance(inner, dict) else None
    if kind == "arrayValue" and isinstance(held, list):
        return [_plain(one) for one in held]
    return held if kind == "kvlistValue" else inner if str(kind).endswith("Value") else value


def _as_often_as_one_list_has_it(lists: Iterable[list[_Message]]) -> list[_Message]:
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


def _merged(counted: Counter[_Of], times: Callable[[_Of], int]) -> list[_Of]:
    """What rows hold less often than the file, as often as it is missing. What no row holds just so is stored in another form."""
    return [one for one, count in counted.items() if count > 1 and 0 < (held := times(one)) < count for _ in range(count - held)]


class _Stored:
    """What the rows of a file hold."""

    def __init__(self, reading: Reading) -> None:
        self.scores: Counter[float] = Counter()
        self._calls: dict[str, Counter[str]] = defaultdict(Counter)
        self._said: Counter[str] = Counter()
        self._lines: set[str] = set()
        self._facts: set[str] = set()
        self._searched = 0
        self._tokens: list[int] = []
        has_calls = bool(reading.rows.get("calls"))
        texts: set[str] = set()  # many rows have the same
        for row in (row for rows in reading.rows.values() for row in rows):
            said = row._replace(details=Json("{}")) if isinstance(row, Episode) else row  # facts of a game are no messages
            for value in said:
                if isinstance(value, str):
                    texts.add(value)
                elif isinstance(value, list | tuple | dict):
                    self._take(value, self._lines)
            self._count(row, has_calls=has_calls)
        self._take([*texts], self._lines)
        self.tokens = sum(self._tokens) if self._tokens else None
        self._all: str | None = None

    def _count(self, row: object, *, has_calls: bool) -> None:
        if isinstance(row, Action):
            self._calls[row.verb][_canonical(row.raw if row.arguments == "{}" and row.raw else row.arguments)] += 1
        elif isinstance(row, Utterance):
            self._said[row.text] += 1
            self._tokens += [] if has_calls or row.tokens is None else [row.tokens]
        elif isinstance(row, EpisodeMetric | TurnMetric):
            self.scores[float(row.value)] += 1
        elif isinstance(row, Episode):
            self._take(row.details, self._facts)
            self.scores.update(float(value) for value in (row.score, row.success) if value is not None)
            self._take_numbers(str(row.details))
        elif isinstance(row, Call):
            self._tokens += [count for count in (row.tokens_in, row.tokens_out) if count is not None]

    def _take(self, value: Any, lines: set[str]) -> None:
        if isinstance(value, str):
            lines.update(map(str.strip, value.split("\n")))
            inner = _parsed(value)
            if inner is not None:
                self._take(inner, lines)
        elif isinstance(value, dict):
            for one in value.values():
                self._take(one, lines)
        elif isinstance(value, list | tuple):
            for one in value:
                self._take(one, lines)

    def _take_numbers(self, value: Any) -> None:
        value = _parsed(value) if isinstance(value, str) else value
        if isinstance(value, dict | list):
            for one in value.values() if isinstance(value, dict) else value:
                self._take_numbers(one)
        elif (found := number(value)) is not None:
            self.scores[found] += 1

    def has(self, text: str, *, as_fact: bool = False) -> bool:
        """Whether rows hold every line of a text, or every text of what is JSON; `as_fact`: among the facts of a game, too."""
        lines = {line.strip() for line in text.split("\n")} - {""}
        if lines <= self._lines or (as_fact and lines <= self._facts):
            return True
        inner = _parsed(text)
        if inner is not None and all(self.has(one, as_fact=as_fact) for one in _texts(inner)):
            return True
        self._searched += 1
        if self._searched > _SEARCHED or len(text.split()) < _PROSE_WORDS:  # "yes" is a part of some other message, most likely
            return False
        if self._all is None:
            self._all = "\n".join(self._lines)
        return all(line in self._all for line in lines)

    def times(self, texts: tuple[tuple[str, str], ...]) -> int:
        """How many stored messages hold every line of some texts, which have paths."""
        lines = {line.strip() for _, text in texts for line in text.split("\n")}
        return sum(count for said, count in self._said.items() if lines <= set(map(str.strip, said.split("\n"))))

    def times_called(self, call: tuple[str, str]) -> int:
        """How many actions have this name and these arguments."""
        return self._calls[call[0]][call[1]]

    def has_call(self, name: str, arguments: str) -> bool:
        """Whether there is an action of this name with these arguments.

        A call that ends a game may be logged as the message that it hands in (Inspect's `submit`).
        """
        if arguments in self._calls.get(name, ()) or (not name and any(arguments in known for known in self._calls.values())):
            return True
        texts = list(_texts(_parsed(arguments))) if name in self._calls else []
        return bool(texts) and all(map(self.has, texts))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, one in value.items():
            if key not in _ABOUT:
                yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
