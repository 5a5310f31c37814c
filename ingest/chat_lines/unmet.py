"""Columns that a mapping names and a file does not have, or has with other values: texts would be empty, and outcomes unknown, silently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as AnyMapping
from typing import Any, Final

from ingest.chat_lines.mapping import FILE, Mapping
from ingest.conversation.dialects import is_item, keys_with_content
from schemas.errors import BadInputError
from schemas.text import excerpt, near

__all__ = ["Unmet"]

_EVER: Final = frozenset({"conversation.id", "message.speaker", "message.text", "message.order"})
"""Entries without which not even one conversation can be read as it was meant."""
_TOLD_BY_ITSELF: Final = frozenset({"conversation.messages", "conversation.rows", "message.turn"})
_WHOLE_FILE: Final = ("conversation.id", FILE)
_RARE: Final = frozenset({"outcome.error"})
"""Entries whose column only some conversations have, by what they mean."""
_OUTCOMES: Final = {"success": "not yes or no, true or false, 1 or 0", "score": "no number"}
_READ: Final = frozenset({
    "content", "parts", "refusal", "reasoning", "reasoning_content", "function_call", "error", "arguments", "input", "args", "output",
    "summary", "observation", "kwargs", "data", "additional_kwargs", "audio", "thinking", "thinking_blocks", "reasoning_details",
    "tool_responses",
})  # fmt: skip
"""Keys of messages that are read in whatever form they are in, beside those that hold facts about a message."""
_LISTED: Final = 12
_KEPT: Final = 1_000
"""Columns; a file whose objects have names for keys has any number of them."""


class Unmet:
    """The entries of a mapping whose columns have not been met yet, in any conversation of a file."""

    def __init__(self, mapping: Mapping) -> None:
        self._left = {"row": _named(mapping, ("conversation", "outcome")), "message": _named(mapping, ("message",))}
        self._columns: dict[str, dict[str, None]] = {"row": {}, "message": {}}
        """What there is, in the order in which it was met."""
        self._conversations = 0
        named = [column for part in (mapping.conversation, mapping.message, mapping.outcome) for column in part.model_dump().values()]
        self._read = _READ | {str(column).partition(".")[0] for column in named if column} | set(named)
        self._unread_keys: Counter[str] = Counter()
        self._unread: dict[tuple[str, str], list[Any]] = {}
        """Entry and column of an outcome -> what stands there and cannot be read."""

    def look(self, rows: Iterable[Any], messages: Iterable[Any]) -> None:
        """Take note of the columns that the rows and the messages of a conversation have."""
        self._conversations += 1
        messages = list(messages)
        for message in messages:
            if isinstance(message, AnyMapping) and not is_item(message):
                self._unread_keys.update(key for key in keys_with_content(message) if key not in self._read)
        for whose, found in (("row", rows), ("message", messages)):
            for values in found:
                if not self._left[whose]:
                    break
                if isinstance(values, AnyMapping):
                    self._look_at(whose, values)

    def unread(self, entry: str, column: str, value: Any) -> None:
        """Take note of a success or score that stands in a conversation's row, if it says anything."""
        if value is not None:
            self._unread.setdefault((entry, column), []).append(value)

    def notes(self) -> Iterator[str]:
        """Keys of messages that hold something and are not read."""
        if self._unread_keys:
            listed = ", ".join(f"{excerpt(key, 40)} ({count})" for key, count in self._unread_keys.most_common(_LISTED))
            yield f"keys of messages that are not read, and in how many: {listed}; a mapping can name them (docs/formats/chat_lines.md)"

    def rejects(self) -> list[BadInputError]:
        """What to tell of the file; that one conversation alone lacks an outcome is no mistake of the mapping."""
        return [
            self._told(whose, entry, column)
            for whose, left in self._left.items()
            for entry, column in left.items()
            if self._columns[whose] and (entry in _EVER or self._conversations > 1)
        ] + [_not_read(entry, column, values) for (entry, column), values in self._unread.items()]

    def _look_at(self, whose: str, values: AnyMapping[str, Any]) -> None:
        self._left[whose] = {entry: column for entry, column in self._left[whose].items() if _is_missing(values, column)}
        if self._left[whose] and len(self._columns[whose]) < _KEPT:
            self._columns[whose] |= dict.fromkeys(_reached(values))

    def _told(self, whose: str, entry: str, column: str) -> BadInputError:
        columns = list(self._columns[whose])
        mend = near(column, columns, f"there are {', '.join(columns[:_LISTED])}; mend the mapping, or leave the entry out")
        return BadInputError(f"no {whose} has {column}, which the mapping names as {entry}{mend}")


def _not_read(entry: str, column: str, values: list[Any]) -> BadInputError:
    whose = "1 conversation has" if len(values) == 1 else f"{len(values)} conversations have"
    return BadInputError(
        f"{whose} a {column} that is {_OUTCOMES[entry]} (such as {excerpt(repr(values[0]), 40)}), which the mapping names as "
        f"outcome.{entry}: it is not known there"
    )


def _named(mapping: Mapping, parts: tuple[str, ...]) -> dict[str, str]:
    """Entry, such as `message.text` -> the column that the file itself names for it."""
    named = {
        f"{part}.{entry}": getattr(getattr(mapping, part), entry) for part in parts for entry in getattr(mapping, part).model_fields_set
    }
    return {
        entry: column
        for entry, column in named.items()
        if column and entry not in _TOLD_BY_ITSELF | _RARE and (entry, column) != _WHOLE_FILE
    }


def _reached(values: AnyMapping[str, Any]) -> Iterator[str]:
    """The columns, and with a point what stands in those that are objects."""
    for key, value in values.items():
        yield str(key)
        yield from (f"{key}.{inner}" for inner in value) if isinstance(value, AnyMapping) else ()


def _is_missing(values: AnyMapping[str, Any], column: str) -> bool:
    """Whether there is neither such a column nor one that a name with points leads to; one without a value is there."""
    if column in values:
        return False
    here: Any = values
    for part in column.split("."):
        if not isinstance(here, AnyMapping) or part not in here:
            return True
        here = here[part]
    return False
