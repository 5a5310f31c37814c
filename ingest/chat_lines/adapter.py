"""Reads chat lines: OpenAI's chat form in JSON Lines or JSON by itself, any other columns, CSV's too, with `cotrace ingest --map`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ingest.chat_lines.conversations import conversations
from ingest.chat_lines.mapping import DEFAULT, Mapping, mapping_of
from ingest.chat_lines.rows import PARQUET, csv_columns, rows_of
from ingest.chat_lines.unmet import Unmet
from ingest.conversation.rows import reading_of, settled
from ingest.reading.adapter_types import Place, Reading
from schemas.errors import BadInputError, UsageError

__all__ = ["FORMAT", "PATH_PARTS", "VERSION", "MappedChat", "read", "read_mapped", "reader_for", "sniff"]

FORMAT: Final = "chat_lines"
VERSION: Final = 3
PATH_PARTS: Final = 0

_BEGINNING: Final = re.compile(rb'\A\s*(?:\[\s*)?\{.*?"messages"\s*:\s*\[\s*\{(?P<first>.*)', re.DOTALL)
_MESSAGE: Final = (re.compile(rb'"(?:role|name)"\s*:'), re.compile(rb'"(?:content|tool_calls)"\s*:'))


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether this is chat in OpenAI's form."""
    found = _BEGINNING.match(head)
    return found is not None and all(mark.search(found["first"]) for mark in _MESSAGE)


def read(data: bytes, place: Place) -> Reading:
    """Read a file in OpenAI's chat form.

    Raises:
        BadInputError: it is damaged as a whole.
    """
    return read_mapped(data, place, DEFAULT)


def read_mapped(data: bytes, place: Place, mapping: Mapping) -> Reading:
    """Read a file by a mapping; a conversation that cannot be read is told and costs no other.

    Raises:
        BadInputError: it is damaged as a whole, or holds no row.
    """
    reading = Reading()
    rejects: list[BadInputError] = []
    unmet = Unmet(mapping)
    for found in conversations(rows_of(data, rejects), mapping, place.file, unmet):
        if isinstance(found.conversation, BadInputError):
            rejects.append(found.conversation)
        else:
            reading.add(reading_of(found.conversation, place, found.name))
    reading.rejects += rejects + unmet.rejects()
    if not reading.episodes and not rejects:
        raise BadInputError("no row: the file is empty")
    return settled(reading)


@dataclass(frozen=True, slots=True)
class MappedChat:
    """The adapter of one mapping file, which is part of what tells whether a log has changed."""

    mapping: Mapping
    path: Path
    FORMAT: str = FORMAT
    VERSION: int = VERSION
    PATH_PARTS: int = PATH_PARTS

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
        return {columns.id, columns.messages} - {None} <= set(csv_columns(head))

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
        UsageError: the mapping is none, or stands beside another format.
    """
    if mapping is None:
        return log_format
    if log_format not in {None, FORMAT}:
        raise UsageError(f"a mapping says which column of chat lines is what, it does not go with format {log_format}: leave one out")
    return MappedChat.of(mapping)
