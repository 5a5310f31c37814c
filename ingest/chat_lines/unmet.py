"""Columns that a mapping names and a file does not have: a slip of the pen there would leave texts empty and outcomes unknown, silently."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as AnyMapping
from typing import Any, Final

from ingest.chat_lines.mapping import Mapping
from schemas.errors import BadInputError

__all__ = ["Unmet"]

_EVER: Final = frozenset({"conversation.id", "message.speaker", "message.text", "message.order"})
"""Entries without which not even one conversation can be read as it was meant."""
_TOLD_BY_ITSELF: Final = frozenset({"conversation.messages", "message.turn"})
_RARE: Final = frozenset({"outcome.error"})
"""Entries whose column only some conversations have, by what they mean."""
_LISTED: Final = 12


class Unmet:
    """The entries of a mapping whose columns have not been met yet, in any conversation of a file."""

    def __init__(self, mapping: Mapping) -> None:
        self._of_rows = _named(mapping, ("conversation", "outcome"))
        self._of_messages = _named(mapping, ("message",))
        self._keys: dict[str, list[str]] = {}
        self._conversations = 0

    def look(self, facts: AnyMapping[str, Any], messages: Iterable[Any]) -> None:
        """Take note of the columns that a conversation has."""
        self._conversations += 1
        self._of_rows = self._left(self._of_rows, facts)
        for message in messages:
            if not self._of_messages:
                return
            if isinstance(message, AnyMapping):
                self._of_messages = self._left(self._of_messages, message)

    def rejects(self) -> list[BadInputError]:
        """What to tell of the file; that one conversation alone lacks an outcome is no mistake of the mapping."""
        left = {**self._of_rows, **self._of_messages}
        return [self._told(entry, column) for entry, column in left.items() if entry in _EVER or self._conversations > 1]

    def _left(self, entries: dict[str, str], values: AnyMapping[str, Any]) -> dict[str, str]:
        left = {entry: column for entry, column in entries.items() if _is_missing(values, column)}
        self._keys |= {entry: list(_reached(values)) for entry in left}
        return left

    def _told(self, entry: str, column: str) -> BadInputError:
        whose = "message" if entry.startswith("message.") else "row"
        keys = self._keys.get(entry, [])
        near = difflib.get_close_matches(column, keys, n=1)
        mend = f"did you mean {near[0]}?" if near else f"there are {', '.join(keys[:_LISTED])}; mend the mapping, or leave the entry out"
        return BadInputError(f"no {whose} has {column}, which the mapping names as {entry}: {mend}")


def _named(mapping: Mapping, parts: tuple[str, ...]) -> dict[str, str]:
    """Entry, such as `message.text` -> the column that the file itself names for it."""
    named = {
        f"{part}.{entry}": getattr(getattr(mapping, part), entry) for part in parts for entry in getattr(mapping, part).model_fields_set
    }
    return {entry: column for entry, column in named.items() if column and entry not in _TOLD_BY_ITSELF | _RARE}


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
