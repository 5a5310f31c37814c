"""Rows of chat lines as conversations, by a mapping."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Mapping as AnyMapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from ingest.chat_lines.mapping import Mapping
from ingest.chat_lines.unmet import Unmet
from ingest.conversation.chat import ParsedMessage, said_by
from ingest.conversation.parts import text_of
from ingest.conversation.rows import Conversation, LoggedMessage
from ingest.conversation.scores import number, outcome
from ingest.reading.json_text import loads
from ingest.reading.times import read_any_time
from schemas.errors import BadInputError

__all__ = ["Row", "conversations"]

_THOUGHTS: Final = ("reasoning_content", "reasoning")
_IDS: Final = ("conversation_id", "id", "trace_id", "session_id", "uuid")
_MESSAGE_KEYS: Final = ("tool_calls", "tool_call_id", "function_call", "metadata", "error", "id")


class Row(NamedTuple):
    """A row, and where it stands."""

    locator: str
    values: AnyMapping[str, Any]


class FoundConversation(NamedTuple):
    """A conversation and its name in the file, or why there is none."""

    name: str
    conversation: Conversation | BadInputError


def conversations(rows: Iterable[Row], mapping: Mapping, file: str, unmet: Unmet) -> Iterator[FoundConversation]:
    """The conversations of a file, in order of their first rows; one that cannot be read costs no other. `unmet` sees them all."""
    grouped = _by_row(rows, mapping) if mapping.conversation.messages else _by_id(rows, mapping)
    for name, locator, first, messages in grouped:
        try:
            raw = messages()
            unmet.look([first] if mapping.conversation.messages else raw, raw)  # of rows that are messages `first` has what holds a value
            found = _conversation(name, first, raw, mapping, file)
            _look_at_outcome(first, mapping, unmet)
            yield FoundConversation(name, found)
        except BadInputError as error:
            yield FoundConversation(name, BadInputError(error.reason, locator=f"{locator}{error.locator}", excerpt=error.excerpt))


def _look_at_outcome(facts: AnyMapping[str, Any], mapping: Mapping, unmet: Unmet) -> None:
    success, score = mapping.outcome.success, mapping.outcome.score
    if success and outcome({"success": (told := _get(facts, success))}).success is None:
        unmet.unread("success", success, told)
    if score and number(told := _get(facts, score)) is None:
        unmet.unread("score", score, told)


class _Later:
    """Messages that are taken apart when it is their turn, where what is wrong with them can be told."""

    def __init__(self, given: Any, column: str) -> None:
        self._given, self._column = given, column

    def __call__(self) -> list[Any]:
        given = self._given
        if isinstance(given, str):
            given = loads(given.encode(errors="replace"))
        if isinstance(given, AnyMapping) and len(given) == 1:
            (given,) = given.values()
        if not isinstance(given, list):
            raise BadInputError(f"{self._column} is no list of messages: name the right column in the mapping", locator=f".{self._column}")
        return given


_Group = tuple[str, str, AnyMapping[str, Any], Any]


def _by_row(rows: Iterable[Row], mapping: Mapping) -> Iterator[_Group]:
    """One conversation a row."""
    column = mapping.conversation.messages or ""
    seen: dict[str, int] = {}
    for index, row in enumerate(rows):
        name = _name(row.values, mapping) or str(index)
        seen[name] = seen.get(name, 0) + 1
        unique = name if seen[name] == 1 else f"{name} ({seen[name]})"
        yield unique, row.locator, row.values, _Later(_get(row.values, column), column)


def _by_id(rows: Iterable[Row], mapping: Mapping) -> Iterator[_Group]:
    """One message a row."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        name = _name(row.values, mapping)
        groups.setdefault("" if name is None else name, []).append(row)
    for name, group in groups.items():
        yield name, group[0].locator, _facts(group), _Later([dict(row.values) for row in group], "")


def _facts(group: list[Row]) -> dict[str, Any]:
    """What the rows of a conversation say of it: the last value of each column that says anything."""
    return {key: value for row in group for key, value in row.values.items() if value is not None}


def _name(values: AnyMapping[str, Any], mapping: Mapping) -> str | None:
    columns = [mapping.conversation.id] if mapping.conversation.id else _IDS
    found = next((value for column in columns if column and (value := _get(values, column)) is not None), None)
    return None if found is None else str(found)


def _conversation(name: str, facts: AnyMapping[str, Any], raw: list[Any], mapping: Mapping, file: str) -> Conversation:
    if not name and mapping.conversation.messages is None:
        raise BadInputError(f"no value in {mapping.conversation.id}: the rows do not say to which conversation they belong")
    said = _said(raw, mapping)
    if not said:
        raise BadInputError("no messages")
    columns = mapping.outcome
    told = {
        "success": _get(facts, columns.success or "success"),
        "score": _get(facts, columns.score or "score"),
        "model": _get(facts, columns.model or "model"),
    }
    says_success = columns.success is not None or told["success"] is not None
    ended = outcome({"success": told["success"]} if says_success else {"score": told["score"]})
    score = number(told["score"])
    kept = {mapping.conversation.messages, *([] if mapping.conversation.messages else _used(mapping))}
    return Conversation(
        benchmark=mapping.benchmark,
        run=str(_get(facts, columns.run) if columns.run else file.rpartition("/")[2].partition(".")[0]),
        task=str(_told(facts, columns.task) or name),
        level=_told(facts, columns.level),
        messages=said,
        models={one.agent: str(told["model"]) for one in said if isinstance(told["model"], str) and one.agent not in _NO_MODEL},
        model=told["model"] if isinstance(told["model"], str) else None,
        success=ended.success,
        score=score if score is not None else ended.score,
        by_number=ended.by_number and not says_success,
        error=_told(facts, columns.error),
        details={key: value for key, value in facts.items() if key not in kept},
    )


_NO_MODEL: Final = frozenset({"user", "system", "tool", "human"})


def _used(mapping: Mapping) -> set[str]:
    return {column for column in mapping.message.model_dump().values() if column}


def _told(facts: AnyMapping[str, Any], column: str | None) -> str | None:
    value = None if column is None else _get(facts, column)
    return None if value is None else str(value)


def _said(raw: list[Any], mapping: Mapping) -> list[LoggedMessage]:
    columns = mapping.message
    if columns.order is not None:
        raw = sorted(raw, key=lambda message: _order(message, columns.order or ""))
    said = said_by([_message(message, index, mapping) for index, message in enumerate(raw)])
    if columns.turn is None:
        return said
    return [replace(one, turn=_turn(message, index, columns.turn)) for index, (one, message) in enumerate(zip(said, raw, strict=True))]


def _message(raw: Any, index: int, mapping: Mapping) -> ParsedMessage:
    if not isinstance(raw, AnyMapping):
        raise BadInputError("a message is no object", locator=f".messages[{index}]")
    columns = mapping.message
    chat = {key: raw[key] for key in _MESSAGE_KEYS if raw.get(key) is not None}
    chat["role"] = _get(raw, columns.role) or ("unknown" if _get(raw, columns.speaker) is None else "assistant")
    chat["content"] = _get(raw, columns.text)
    speaker = _get(raw, columns.speaker)
    if speaker is not None:
        chat["name"] = str(speaker)
        chat["role"] = "assistant" if chat["role"] == "tool" and columns.speaker != "name" else chat["role"]
    thought = next((value for column in (columns.thought, *_THOUGHTS) if column and (value := _get(raw, column))), None)
    if thought is not None:
        chat["reasoning_content"] = thought if isinstance(thought, str) else text_of(thought)
    to = _get(raw, columns.to) if columns.to else None
    at = _get(raw, columns.time) if columns.time else None
    return ParsedMessage(raw=chat, audience=_audience(to), at=read_any_time(at))


def _audience(to: Any) -> list[str] | None:
    """A name, several with commas between, or a list; `all` is everybody."""
    names = to.split(",") if isinstance(to, str) else to if isinstance(to, list) else []
    found = [str(name).strip() for name in names if str(name).strip()]
    return None if not found or "all" in (name.lower() for name in found) else found


def _turn(message: AnyMapping[str, Any], index: int, column: str) -> int:
    value = number(_get(message, column))
    if value is None or value != int(value) or value < 0:
        raise BadInputError(f"{column} is {_get(message, column)!r}: a turn is a whole number from 0 or 1", locator=f".messages[{index}]")
    return int(value)


def _order(message: Any, column: str) -> tuple[bool, float, str]:
    """Numbers by size, everything else by its text, what is missing last."""
    value = _get(message, column) if isinstance(message, AnyMapping) else None
    as_number = number(value)
    return value is None, as_number if as_number is not None else 0.0, "" if as_number is not None else str(value)


def _get(values: AnyMapping[str, Any], column: str) -> Any:
    """A column, or what a name with points leads to."""
    if column in values:
        return values[column]
    here: Any = values
    for part in column.split("."):
        if not isinstance(here, AnyMapping) or part not in here:
            return None
        here = here[part]
    return here
