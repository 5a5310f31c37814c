"""Reads chat lines: lists of messages in JSON Lines or JSON by themselves, any other columns, CSV's too, with `cotrace ingest --map`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from datetime import time as clock
from decimal import Decimal
from functools import partial
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, Literal

from ingest.conversation.messages import chat_messages, is_message, plain_keys, text_of
from ingest.conversation.rows import completed, reading_of
from ingest.conversation.usage import inner_message
from ingest.foreign.chat_mapping import IDS, TELL_APART, Group, Row, conversation_of, grouped
from ingest.foreign.mapping_file import DEFAULT, FILE, MESSAGES, ChatMapping, Unmet, mapping_of
from ingest.reading.adapter_types import Place, Reading
from ingest.reading.text import csv_rows, dumps, header_of, is_whole, lines_of, loads, parsed, top_keys
from schemas.common.errors import BadInputError, UsageError
from schemas.common.text import excerpt

PARQUET: Final = b"PAR1"

_BATCH_ROWS: Final = 256
_ALWAYS_READ: Final = 256 * 2**20
_TIMES: Final = 100
"""A Parquet file may unpack to 256 MiB, or to a hundred times its size: a few kilobytes can stand for more than any memory holds."""


def rows_of(data: bytes, rejects: list[BadInputError], within: str | None = None, *, or_whole: bool = False) -> Iterator[Row]:
    """The rows of a file; one that is not an object goes to `rejects`.

    Args:
        data: the file.
        rejects: takes what is not a row.
        within: name, with points, under which objects of the file hold their rows; None: the objects are the rows.
        or_whole: an object that holds none there is a row itself.

    Raises:
        BadInputError: the file is damaged as a whole.
    """
    found = _rows(data, rejects)
    return _objects(found if within is None else _inner(found, within, rejects, or_whole=or_whole), rejects)


def _objects(rows: Iterable[Row], rejects: list[BadInputError]) -> Iterator[Row]:
    for row in rows:
        if isinstance(row.values, Mapping):
            yield row
        else:
            rejects.append(BadInputError("no object: a row has columns", locator=row.locator, excerpt=excerpt(str(row.values))))


def _inner(outer: Iterator[Row], within: str, rejects: list[BadInputError], *, or_whole: bool) -> Iterator[Row]:
    for row in outer:
        held: Any = row.values
        for name in within.split("."):
            held = held.get(name) if isinstance(held, Mapping) else None
        held = parsed(list(held.values()) if isinstance(held, Mapping) else held)
        if not isinstance(held, list) and or_whole:
            yield row
            continue
        if not isinstance(held, list):
            reason = f"no list under {within}, which the mapping names as conversation.rows: name where the rows are"
            rejects.append(BadInputError(reason, locator=row.locator))
            continue
        for index, values in enumerate(held):
            yield Row(f"{row.locator} {within}[{index}]".strip(), values, row.values)


def csv_columns(data: bytes) -> list[str]:
    """The columns that a file's first line names, if it may be CSV: text that begins as no JSON does, with several names."""
    if data.startswith(PARQUET) or data.lstrip()[:1] in {b"{", b"["}:
        return []
    names = header_of(data.decode(errors="replace"))
    return names if len(names) > 1 else []


def _rows(data: bytes, rejects: list[BadInputError]) -> Iterator[Row]:
    if data.startswith(PARQUET):
        return parquet_rows(data)
    return _csv_rows(data, rejects) if csv_columns(data) else _json_rows(data, rejects)


def _csv_rows(data: bytes, rejects: list[BadInputError]) -> Iterator[Row]:
    """One row after the other; a field without text holds nothing."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadInputError(f"byte {error.start} is not UTF-8: convert the file first (iconv -f latin1 -t utf-8)") from error
    for number, fields in csv_rows(text):
        if isinstance(fields, BadInputError):
            rejects.append(BadInputError(fields.reason, locator=f"line {number}"))
        else:
            yield Row(f"line {number}", {name: field or None for name, field in fields.items()})


def _json_rows(data: bytes, rejects: list[BadInputError]) -> Iterator[Row]:
    """One object a line; or a whole document: an object, or a list of them."""
    if is_whole(data.lstrip().partition(b"\n")[0]) and b"\n" in data.strip():
        for line in lines_of(data):
            if isinstance(line.value, BadInputError):
                rejects.append(line.value)
            else:
                yield Row(line.locator, line.value)
        return
    document = loads(data)
    entries: list[Any] = document if isinstance(document, list) else [document]
    for index, entry in enumerate(entries):
        yield Row(f"[{index}]" if isinstance(document, list) else "", entry)


def parquet_rows(data: bytes) -> Iterator[Row]:
    """The rows of a Parquet file, with plain values, some at a time.

    Raises:
        BadInputError: it is damaged, or unpacks to far more than it is.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        number, unpacked = 0, 0
        for batch in pq.ParquetFile(BytesIO(data)).iter_batches(_BATCH_ROWS):
            unpacked += batch.nbytes
            if unpacked > max(_ALWAYS_READ, _TIMES * len(data)):
                raise BadInputError(
                    f"it unpacks to more than {unpacked // 2**20} MiB, {_TIMES} times its size: split it into smaller files"
                )
            for values in batch.to_pylist():
                number += 1
                yield Row(f"row {number}", {key: _plain(value) for key, value in values.items() if value is not None})
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:  # the latter two: values beyond what Python has for them
        raise BadInputError(f"the Parquet file cannot be read ({excerpt(str(error))}): it was cut or damaged, copy it again") from error


def _plain(value: Any) -> Any:
    """A value of Parquet as JSON has it."""
    if isinstance(value, str | bool | int | float | None):
        return value
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if isinstance(value, date | clock) else str(value)


FORMAT: Final = "chat_lines"
VERSION: Final = 8

_BEGINNING: Final = re.compile(rb'\A\s*(?:\[\s*)?\{.*?"messages"\s*:\s*\[\s*\{(?P<first>.*)', re.DOTALL)
_MESSAGE: Final = (re.compile(rb'"(?:role|name|source|type)"\s*:'), re.compile(rb'"(?:content|tool_calls|parts)"\s*:'))
KEYS: Final = (
    frozenset({"role", "content"}),
    frozenset({"role", "parts"}),
    frozenset({"source", "content", "type", "models_usage"}),
    frozenset({"content", "type", "additional_kwargs"}),
)
"""Of rows that are messages: OpenAI's or Anthropic's, Gemini's, AutoGen's, LangChain's."""


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether this is chat in OpenAI's form."""
    found = _BEGINNING.match(head)
    return found is not None and all(mark.search(found["first"]) for mark in _MESSAGE)


def read(data: bytes, place: Place) -> Reading:
    """Read a file of conversations with a column `messages`, of messages, or of lists of messages wherever they are.

    Raises:
        BadInputError: it is damaged as a whole, or one message alone.
    """
    if data.lstrip()[:1] == b"{" and any(needed <= top_keys(data) for needed in KEYS) and is_whole(data):
        raise BadInputError("one message alone: a conversation is a list of messages, or one message a line")
    rejects: list[BadInputError] = []
    read = _rows(data, rejects)
    first = list(islice(read, _LOOKED_AT))
    has_column = any(isinstance(row.values, Mapping) and _are_messages(parsed(row.values.get("messages"))) for row in first)
    if has_column and not _are_messages([row.values for row in first]):
        states = _continued(map(_with_reply, _objects(chain(first, read), rejects)))
        return _read_rows(states, rejects, place, DEFAULT, "mapping")
    rows = _of_updates([*first, *read])
    if _are_messages([row.values for row in rows]):
        is_dialect = any(needed <= top_keys(data) for needed in KEYS)
        return _read_rows(_without_repeats(rows), rejects, place, MESSAGES, "mapping" if is_dialect else "search")
    found = list(_found(rows))
    return _read_rows(found or list(_objects(rows, rejects)), rejects, place, DEFAULT, "search" if found else "mapping")


_LOOKED_AT: Final = 50
"""So many rows tell whether a file has the column `messages`; then it is read row by row."""


def _of_updates(rows: list[Row]) -> list[Row]:
    """The messages of a graph's updates (LangGraph), by the node that wrote them; other rows as they are."""
    held = [next(iter(row.values.items())) for row in rows if isinstance(row.values, Mapping) and len(row.values) == 1]
    if (
        len(held) < len(rows)
        or len(rows) == 1
        or not all(isinstance(one, Mapping) and _are_messages(one.get("messages")) for _, one in held)
    ):
        return rows
    return [Row(row.locator, {"agent": node, **said}) for row, (node, one) in zip(rows, held, strict=True) for said in one["messages"]]


def _without_repeats(rows: list[Row]) -> list[Row]:
    """With the facts alone of a last row that lists messages which rows are, as AutoGen's streams end."""
    held = rows[-1].values.get("messages") if len(rows) > 1 else None
    known = {dumps(row.values) for row in rows[:-1]} if isinstance(held, list) and held else set()
    if not known or any(dumps(one) not in known for one in held or []):
        return rows
    facts = {key: value for key, value in rows[-1].values.items() if key != "messages"}
    return [*rows[:-2], rows[-2]._replace(values={**facts, **rows[-2].values})]


def holds_messages(data: bytes) -> bool:
    """Tell whether a JSON or Parquet file that no format claims has messages, or lists of them, in whatever objects."""
    try:
        rows = list(_rows(data, []))
    except BadInputError:
        return False
    return _are_messages([row.values for row in rows]) or any(True for _ in _found(rows))


def _are_messages(given: Any) -> bool:
    return isinstance(given, list) and len(given) <= 2 * sum(map(is_message, given)) > 0 and all(isinstance(one, Mapping) for one in given)


def _found(rows: Iterable[Row]) -> Iterator[Row]:
    """A row for each list of messages in whatever objects, with what these objects tell of it."""
    return _continued(chain.from_iterable(map(_of_row, rows)))


def _continued(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows; what the next one repeats and continues is in that, as where each state of a conversation is logged, or each request."""
    last: Row | None = None
    for row in rows:
        joined = None if last is None else _joined(last, row)
        if joined is None and last is not None:
            yield last
        last = joined or row
    yield from () if last is None else (last,)


def _joined(last: Row, row: Row) -> Row | None:
    """Two rows as one where they are states of one conversation; the ids of the first stay, so that its own stays when the log grows."""
    before, now = (parsed(one.values.get("messages")) for one in (last, row))
    if not (isinstance(before, list) and isinstance(now, list) and _are_messages(now[-1:])) or _are_apart(last, row):
        return None
    if not (before and all(map(_is_same, before, now))):
        return None
    if len(now) > len(before):
        apart, named = ({name: last.values[name] for name in names if name in last.values} for names in (TELL_APART, IDS))
        return last._replace(values={**apart, **row.values, **named, "messages": [*before, *now[len(before) :]]})
    ids, known = ([inner_message(one).get("id") for one in messages] for messages in (now, before))
    return last if all(isinstance(one, str) for one in ids) and ids == known[: len(now)] else None  # a game played twice has other ids


def _are_apart(last: Row, row: Row) -> bool:
    """Whether two rows state that they are of different conversations: by what tells games apart, or since the first has an outcome."""
    facts = [
        {name: found for name in TELL_APART if isinstance(found := one.values.get(name), str | int | float) and found != one.locator}
        for one in (last, row)
    ]
    return any(facts[1].get(name, one) != one for name, one in facts[0].items()) or any(
        last.values.get(name) is not None for name in _OUTCOMES
    )


_OUTCOMES: Final = ("success", "resolved", "passed", "score", "reward")


def _with_reply(row: Row) -> Row:
    """A row with the reply of a model next to its messages, where these end before it: a request as it is logged."""
    messages = parsed(row.values.get("messages"))
    if not _are_messages(messages) or any(one.get("role") == "assistant" for one in chat_messages(plain_keys(messages[-1]))):
        return row
    key = next((key for key in _REPLIES if row.values.get(key)), None)
    given = None if key is None else parsed(row.values[key])
    if isinstance(given, str):
        reply: list[Any] = [{"role": "assistant", "content": given}] if key in _WORDS_OF_REPLIES else []
    else:
        reply = [given] if is_message(given) else next((facts["messages"] for _, facts in _lists(given)), [])
    if not reply:
        return row
    usage = (given.get("usage") if isinstance(given, Mapping) else None) or row.values.get("usage")
    *others, last = _new(messages, reply)
    written = [*others, {"usage": usage, **last} if usage else last]
    facts = {name: one for name, one in row.values.items() if name not in (key, "usage")}
    return row._replace(values={**facts, "messages": [*messages, *written]})


def _new(asked: list[Any], answered: list[Any]) -> list[Any]:
    """What is written in answer to messages, which some programs repeat before it."""
    return answered[len(asked) :] if len(answered) > len(asked) and all(map(_is_same, asked, answered)) else answered


_WORDS_OF_REPLIES: Final = ("response", "completion", "reply")
_REPLIES: Final = (*_WORDS_OF_REPLIES, "output", "outputs")
"""Columns of what a model wrote; a text by itself under the latter may be what it should have written."""


def _of_row(row: Row) -> Iterator[Row]:
    held = list(_lists(row.values))
    if len(held) == len(_SIDES) and all(path.partition(".")[0] in side for (path, _), side in zip(held, _SIDES, strict=True)):
        (path, asked), (_, answered) = held
        *others, last = _new(asked["messages"], answered["messages"])
        replies = [*others, {"usage": answered.get("usage"), **last} if isinstance(last, Mapping) else last]
        held = [(path, {**asked, **answered, "messages": [*asked["messages"], *replies]})]
    for path, facts in held:
        is_named = not path or any(facts.get(name) is not None for name in IDS)
        named = {} if is_named else {"conversation_id": f"{row.locator} {path}".strip()}
        yield Row(f"{row.locator} {path}".strip(), {**named, **facts})


_SIDES: Final = (frozenset({"request", "input", "inputs", "prompt"}), frozenset({"response", "output", "outputs", "completion", "answer"}))
"""Keys of what a model was sent, and of what it wrote: one conversation."""


def _is_same(one: Any, other: Any) -> bool:
    if not (isinstance(one, Mapping) and isinstance(other, Mapping)):
        return False
    return one == other or [_words(message) for message in chat_messages(plain_keys(one))] == [
        _words(message) for message in chat_messages(plain_keys(other))
    ]


def _words(message: Mapping[str, Any]) -> list[Any]:
    return [message.get("role"), text_of(message.get("content")), message.get("tool_calls") or None]


def _lists(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Path of each list of messages, and facts: it as `messages`, all values of the object around it, and what those further out name."""
    value = parsed(value)
    if _are_messages(value):
        yield "", {"messages": value}
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from ((f"[{index}]{path}", facts) for path, facts in _lists(one))
    elif isinstance(value, Mapping):
        lists = {key: held for key, one in value.items() if _are_messages(held := parsed(one))}
        inner = {key: found for key, one in value.items() if key not in lists and (found := list(_lists(one)))}
        facts = {key: one for key, one in value.items() if key not in lists and key not in inner}
        own = facts if len(lists) == 1 else {key: one for key, one in facts.items() if key not in IDS}
        yield from ((str(key), {**own, "messages": one}) for key, one in lists.items())
        is_only = not lists and sum(map(len, inner.values())) == 1
        short = {key: one for key, one in facts.items() if (is_only or key not in IDS) and len(dumps(one)) <= _SHORT}
        yield from (
            (f"{key}{path if path.startswith('[') else f'.{path}'}", short | held) for key, found in inner.items() for path, held in found
        )


_SHORT: Final = 500
"""Characters, as JSON, of what an object further out tells of each list in it."""


def read_mapped(data: bytes, place: Place, mapping: ChatMapping, *, is_of_format: bool = False) -> Reading:
    """Read a file by a mapping; a conversation that cannot be read is reported and costs no other.

    Args:
        data: the file.
        place: where it is.
        mapping: which column is what.
        is_of_format: the mapping is that of a format, of which a file need not have every column.

    Raises:
        BadInputError: it is damaged as a whole, or holds no row.
    """
    rejects: list[BadInputError] = []
    rows = rows_of(data, rejects, mapping.conversation.rows, or_whole=is_of_format)
    return _read_rows(rows, rejects, place, mapping, "format" if is_of_format else "mapping")


def _read_rows(
    rows: Iterable[Row],
    rejects: list[BadInputError],
    place: Place,
    mapping: ChatMapping,
    by: Literal["mapping", "format", "search"],
) -> Reading:
    reading = Reading()
    unmet = Unmet(mapping)
    for group in grouped(rows, mapping, place.file):
        reading.take(group.locator, partial(_conversation, group, place, unmet))
    reading.rejects += rejects + ([] if by == "format" else unmet.rejects()) + (unmet.acts() if by == "search" else [])
    reading.notes += () if by == "format" else unmet.notes()
    if not reading.episodes and not reading.rejects:
        raise BadInputError("no row: the file is empty")
    return completed(reading)


def _conversation(group: Group, place: Place, unmet: Unmet) -> Reading:
    return reading_of(conversation_of(group, place.file, unmet), place, group.name)


@dataclass(frozen=True, slots=True)
class MappedChat:
    """The adapter of one mapping file, which is part of what tells whether a log has changed."""

    mapping: ChatMapping
    path: Path
    FORMAT: str = FORMAT
    VERSION: int = VERSION

    @classmethod
    def of(cls, path: Path) -> MappedChat:
        """The adapter that reads by the mapping of a file.

        Raises:
            UsageError: the file holds no mapping.
        """
        return cls(mapping_of(path), path)

    def sniff(self, head: bytes) -> bool:
        """Tell whether the file could hold rows: JSON, Parquet, or CSV that has the column of the conversation."""
        if head.startswith(PARQUET) or head.lstrip()[:1] in {b"{", b"["}:
            return True
        columns = self.mapping.conversation
        return {columns.id, columns.messages} - {None, FILE} <= set(csv_columns(head))

    def companions(self, path: Path) -> tuple[Path, ...]:  # noqa: ARG002 - the face of `companions`
        """The mapping: when it changes, logs are read again."""
        return (self.path,)

    def read(self, data: bytes, place: Place) -> Reading:
        """Read a file by the mapping.

        Raises:
            BadInputError: it is damaged as a whole.
        """
        return read_mapped(data, place, self.mapping)


def reader_for(log_format: str | None, mapping: Path | None) -> str | MappedChat | None:
    """What `ingest_paths` takes for its `log_format`, where there may be a mapping file.

    Raises:
        UsageError: it is not a mapping, or another format is given too.
    """
    if mapping is None:
        return log_format
    if log_format not in {None, FORMAT}:
        raise UsageError(f"a mapping names the columns of chat lines and does not go with format {log_format}: leave one out")
    return MappedChat.of(mapping)
