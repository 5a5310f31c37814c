"""Guesses the mapping of a file of conversations: where its messages are, and which key is what, by names and by what the keys hold."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from ingest.adapters import LAST_FORMAT, recognise
from ingest.conversation.messages import text_of
from ingest.files.recognition import by_contents
from ingest.foreign.chat_lines import read_mapped, rows_of
from ingest.foreign.mapping_file import ChatMapping, ConversationColumns, MessageColumns, OutcomeColumns
from ingest.reading.adapter_types import Place, Reading
from ingest.reading.text import dumps, read_any_time, utf8
from ingest.receipts import receipts
from schemas.common.errors import BadInputError, UsageError
from schemas.common.text import excerpt, printable
from schemas.common.wording import counted
from schemas.records import Receipt, Utterance

_SAMPLED: Final = 200
_SHOWN: Final = 3
_DEEP: Final = 3
_MOST_SPEAKERS: Final = 20

_MESSAGE: Final[Mapping[str, str]] = {
    "speaker": "name|speaker|agent|agent_name|agent_id|from|sender|author|source|player|by|who|speaker_id|participant|user|role",
    "text": r"content|text|message|utterance|sa[yi][sd]|value|body|msg|response|reply|speech|completion|answer|"
    r"\w+_response|\w+_reply|\w+_answer",
    "prompt": "prompt|question|query|user_input|user_message|user_query|user_prompt|request|instruction",
    "role": "role|type|kind",
    "to": "to|recipients?|audience|receiver|addressee|listener",
    "turn": "turn|turn_idx|turn_id|round|iteration",
    "order": "order|seq|index|idx|position|step|step_id",
    "thought": "thoughts?|reasoning|reasoning_content|thinking|rationale|thinks",
    "time": "time|timestamp|created_at|ts|date|sent_at",
    "tool": "tool|tool_name|function|function_name|uses|action_name",
    "action": "action|tool_input|tool_args|arguments|args|does|move",
    "success": "success|succeeded|accepted|action_success|ok|valid",
    "observation": "observation|tool_output|tool_result|sees|feedback",
}
"""Entry -> names that keys of messages have, the likeliest first."""
_OUTCOME: Final[Mapping[str, str]] = {
    "task": "task_id|instance_id|problem_id|question_id|task|scenario|environment",
    "attempt": "attempt|trial|epoch|repeat|replicate|sample_id",
    "seed": "seed",
    "score": "score|reward|points|utility|final_score|overall_score",
    "success": "success|won|solved|resolved|passed|is_correct|correct",
    "model": "model|model_name|llm|agent_model",
    "level": "level|difficulty|tier",
    "stop": "stop_reason|exit_status|termination_reason|finish_reason|ending",
    "error": "error|exception",
}
_IDS: Final = (
    "conversation_id|run_id|simulation_id|dialogue_id|dialog_id|session_id|thread_id|episode_id|game_id|trace_id|conversation|dialogue|game|"
    "episode|id|uuid|pk"
)
_OWN_IDS: Final = frozenset({"id", "uuid", "pk"})
"""Of a row that is a message, its own."""
_SCORES: Final = re.compile(r"(?:.*_)?(?:score|reward|rating|utility)s?")
_ROLES: Final = frozenset({"user", "assistant", "system", "tool", "human", "ai", "developer", "function", "agent", "environment"})
_ANYTHING: Final = frozenset({"success", "error", "to", "tool", "thought", "action", "observation"})
"""Entries whose column may hold any kind of value."""


class Guess(NamedTuple):
    """What a file seems to be."""

    format: str | None
    """The format that reads it without a mapping; None: none does."""
    mapping: ChatMapping | None
    held: Mapping[str, str]
    """Entry of the mapping -> what its column holds in the file, such as `message.text`; `left`: keys of messages that none names."""
    reading: Reading
    receipt: Sequence[Receipt]

    @property
    def first(self) -> list[tuple[str, str]]:
        """Agent and text of the first messages."""
        messages = [row for row in self.reading.rows["utterances"] if isinstance(row, Utterance)]
        return [(row.agent, row.text) for row in messages[:_SHOWN]]

    def lines(self, path: Path) -> Iterator[str]:
        """A mapping file with comments: what was found, three messages, and what would be lost."""
        if self.mapping is None:
            yield f"# {path.name} is read without a mapping, as {self.format} (`cotrace formats`)"
        else:
            yield f"# guessed from {path.name}: correct it, then cotrace ingest {path.name} --map THIS_FILE"
            yield f"benchmark: {self.mapping.benchmark}"
            for part in ("conversation", "message", "outcome"):
                entries = getattr(self.mapping, part).model_dump(exclude_unset=True)
                yield from [f"{part}:"] if entries else []
                for entry, column in entries.items():
                    held = self.held.get(f"{part}.{entry}", "")
                    yield f"  {entry}: {_yaml(column)}" + (f"  # such as {held}" if held else "")
            if self.held["left"]:
                yield f"# no entry names these keys of messages, numbers go into message.scores: {self.held['left']}"
        yield f"# {counted(len(self.reading.episodes), 'game')} with {counted(self.reading.turns, 'turn')}; the first messages:"
        yield from (f"#   {agent}: {excerpt(text, 100)}" for agent, text in self.first)
        for row in self.receipt:
            if row.counted:
                missing = f"; not stored: {', '.join(row.missing)}" if row.missing else ""
                yield f"# {row.kind.replace('_', ' ')}: {row.stored or 0:,} of {row.counted:,} would be stored{missing}"
        yield from (f"# rejected: {one.locator} {one.reason}" for one in self.reading.rejects[:_SHOWN])


def _yaml(column: Any) -> str:
    if isinstance(column, Mapping):
        return "{" + ", ".join(f"{_yaml(key)}: {_yaml(value)}" for key, value in column.items()) + "}"
    text = str(column)
    return text if re.fullmatch(r"[A-Za-z_][\w.]*", text) and text.lower() not in {"on", "off", "yes", "no", "y", "n"} else f'"{text}"'


def guess(path: Path) -> Guess:
    """Guess how a file is to be read.

    Raises:
        UsageError: it cannot be read, or nothing in it looks like messages; one line states what there is.
    """
    try:
        data = utf8(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}: name a file of logs") from error
    except BadInputError as error:
        raise UsageError(f"{path}: {error.reason}") from error
    place = Place(path=str(path.absolute()), file=path.name, source_id="guess")
    found, inner = by_contents(data)
    known = found or recognise(data[: 1 << 16])
    if known is not None:
        try:
            reading = known.read(data if inner is None else inner, place)
        except BadInputError:
            reading = Reading()
        is_whole = not reading.rejects and reading.messages > reading.empty
        if reading.episodes and (known.FORMAT != LAST_FORMAT or is_whole):
            return Guess(known.FORMAT, None, {}, reading, receipts(data, reading, "guess", place.path))
    mapping, held = _mapping(data, path)
    reading = read_mapped(data, place, mapping)
    return Guess(None, mapping, held, reading, receipts(data, reading, "guess", place.path))


def _mapping(data: bytes, path: Path) -> tuple[ChatMapping, dict[str, str]]:
    rejects: list[BadInputError] = []
    try:
        rows = [dict(row.values) for row in islice(rows_of(data, rejects), _SAMPLED)]
    except BadInputError as error:
        raise UsageError(f"{path}: {error.reason}") from error
    if not rows:
        raise UsageError(f"{path}: no rows of JSON, Parquet or CSV were found: a mapping reads only these")
    within, facts, column, messages = _where(rows)
    held: dict[str, str] = {}
    message = _columns(messages, _MESSAGE, "message", held)
    if "text" not in message:
        longest = _longest(messages)
        if longest is None:
            raise UsageError(
                f"{path}: nothing in it looks like messages; its keys are {excerpt(', '.join(map(str, rows[0])))}: write a mapping by "
                "hand (docs/formats/chat_lines.md)"
            )
        message["text"] = longest
        held["message.text"] = _shown(messages, longest)
    if column is not None or "speaker" in message or "role" in message:  # a question beside a message of its own is a fact
        message.pop("prompt", None)
    if message.get("role") == message.get("speaker") or not _are_roles(messages, message.get("role")):
        message.pop("role", None)
    if message.get("order") and message.get("turn"):
        message.pop("order")
    scores = {key: key for key in _keys(messages) if _SCORES.fullmatch(key) and _is_number(messages, key)}
    outcome = _columns(facts, _OUTCOME, "outcome", held)
    conversation: dict[str, Any] = {name: value for name, value in (("rows", within), ("messages", column)) if value}
    ids = [key for key in _keys(facts) if not any(isinstance(_at(one, key), list | Mapping) for one in facts)]
    named = _first(ids, _IDS, frozenset() if column else _OWN_IDS)
    if named is not None:
        conversation["id"] = named
        held["conversation.id"] = _shown(facts, named)
    elif column is None:
        conversation["id"] = "file"
    used = {*message.values(), *conversation.values()}
    entries = {part for key in (*used, *scores, *outcome.values()) for part in (key, str(key).partition(".")[0])}
    held["left"] = ", ".join(key for key in _keys(messages) if not {key, key.partition(".")[0]} & entries)
    ended: dict[str, Any] = {entry: one for entry, one in outcome.items() if column is not None or one not in used}
    parts: dict[str, Any] = {**message, **({"scores": scores} if scores else {})}
    mapping = ChatMapping(
        benchmark=re.sub(r"\W+", "_", printable(path.name.partition(".")[0])).strip("_").lower() or "chat",
        conversation=ConversationColumns(**conversation),
        message=MessageColumns(**parts),
        outcome=OutcomeColumns(**ended),
    )
    return mapping, held


_Rows = Sequence[Mapping[str, Any]]


def _where(rows: list[dict[str, Any]]) -> tuple[str | None, _Rows, str | None, _Rows]:
    """The path of the rows in a document, the rows, the column of their messages, and messages: no column where rows are messages."""
    lists = list(_lists(rows[:_SHOWN], ""))
    if not lists:
        return None, rows, None, rows
    best = max(lists, key=lambda one: (_likeness(one[1]), -one[0].count(".")))
    if _likeness(rows) >= _likeness(best[1]):
        return None, rows, None, rows
    path = best[0]
    outer = [name for name, _ in lists if path.startswith(f"{name}[].")]
    if not outer:
        return None, rows, path, best[1]
    within = outer[0]
    facts = [one for row in rows for one in _at(row, within) or [] if isinstance(one, Mapping)]
    return within, facts, path.removeprefix(f"{within}[]."), best[1]


def _lists(rows: _Rows, path: str, depth: int = _DEEP) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Path of each list of objects, and what the lists there hold."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        for key, value in row.items():
            inner = f"{path}{key}"
            if isinstance(value, list):
                found.setdefault(inner, []).extend(one for one in value[:_SAMPLED] if isinstance(one, Mapping))
            elif isinstance(value, Mapping) and depth:
                for name, held in _lists([value], f"{inner}.", depth - 1):
                    found.setdefault(name, []).extend(held)
    for name, held in found.items():
        if held:
            yield name, held
            if depth and "[]" not in name:
                yield from _lists(held[:_SHOWN], f"{name}[].", depth - 1)


def _likeness(messages: _Rows) -> float:
    """How much objects look like messages: names of speaker and words, and words."""
    keys = _keys(messages)
    named = sum(2.0 for entry in ("speaker", "text") if _first(keys, _MESSAGE[entry]) is not None)
    text = _first(keys, _MESSAGE["text"]) or _longest(messages)
    words = [len(text_of(_at(one, text)).split()) for one in messages[:_SAMPLED]] if text else [0]
    return named + min(sum(words) / max(len(words), 1), 20) / 20


def _keys(messages: _Rows) -> list[str]:
    """Keys, and with a point those of objects, the most frequent first."""
    found: Counter[str] = Counter()
    for one in messages[:_SAMPLED]:
        for key, value in one.items():
            found[str(key)] += 1
            found.update(f"{key}.{inner}" for inner in (value if isinstance(value, Mapping) else ()))
    return [key for key, _ in found.most_common()]


def _first(keys: Sequence[str], names: str, without: frozenset[str] = frozenset()) -> str | None:
    """The key that has the likeliest of the names."""
    for name in names.split("|"):
        for key in keys:
            if re.fullmatch(name, key.rpartition(".")[2], re.IGNORECASE) and key not in without:
                return key
    return None


def _columns(found: _Rows, names: Mapping[str, str], part: str, held: dict[str, str]) -> dict[str, str]:
    """Entry -> column whose name fits, with a value that fits too; no column serves two entries but the speaker's."""
    columns: dict[str, str] = {}
    keys = _keys(found)
    for entry, likely in names.items():
        taken = frozenset(columns.values()) - ({columns.get("speaker", "")} if entry == "role" else set())
        column = _first([key for key in keys if _fits(entry, found, key)], likely, taken)
        if column is not None:
            columns[entry] = column
            held[f"{part}.{entry}"] = _shown(found, column)
    return columns


def _fits(entry: str, found: _Rows, column: str) -> bool:
    values = [value for one in found[:_SAMPLED] if (value := _at(one, column)) not in (None, "", [], {})]
    if not values:
        return False
    if entry in {"turn", "order", "attempt", "seed"}:
        fits = all(re.fullmatch(r"\d+(?:\.0)?", str(value)) for value in values)
    elif entry == "time":
        fits = all(read_any_time(value) is not None for value in values)
    elif entry == "score":
        fits = _is_number(found, column)
    elif entry == "text":
        fits = all(isinstance(value, str | list) for value in values)
    elif entry == "speaker":
        fits = all(isinstance(value, str) for value in values) and len(set(values)) <= _MOST_SPEAKERS
    else:
        fits = entry in _ANYTHING or all(isinstance(value, str | int) for value in values)
    return fits


def _is_number(found: _Rows, column: str) -> bool:
    values = [value for one in found[:_SAMPLED] if (value := _at(one, column)) is not None]
    return bool(values) and all(re.fullmatch(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", str(value)) for value in values)


def _are_roles(found: _Rows, column: str | None) -> bool:
    return column is not None and all(str(value).lower() in _ROLES for one in found if (value := _at(one, column)) is not None)


def _longest(found: _Rows) -> str | None:
    """The key with the most words, if it has two in the mean."""
    counts: Counter[str] = Counter()
    for one in found[:_SAMPLED]:
        counts.update({str(key): len(value.split()) for key, value in one.items() if isinstance(value, str)})
    (key, words), *_ = counts.most_common(1) or [("", 0)]
    return key if words >= 2 * min(len(found), _SAMPLED) > 0 else None


def _shown(found: _Rows, column: str) -> str:
    value = next((value for one in found if (value := _at(one, column)) not in (None, "")), "")
    return excerpt(printable(value if isinstance(value, str) else dumps(value)).replace("\n", " "), 40)


def _at(values: Any, column: str | None) -> Any:
    here = values
    for part in (column or "").split("."):
        here = here.get(part) if isinstance(here, Mapping) else None
    return values.get(column) if here is None and isinstance(values, Mapping) else here
