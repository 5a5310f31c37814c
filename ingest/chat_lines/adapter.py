"""Reads chat lines: lists of messages in JSON Lines or JSON by themselves, any other columns, CSV's too, with `cotrace ingest --map`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from ingest.chat_lines.conversations import Group, conversation_of, grouped
from ingest.chat_lines.mapping import DEFAULT, FILE, MESSAGES, Mapping, mapping_of
from ingest.chat_lines.rows import PARQUET, csv_columns, rows_of
from ingest.chat_lines.unmet import Unmet
from ingest.conversation.rows import reading_of, settled
from ingest.reading.adapter_types import Place, Reading
from ingest.reading.json_lines import is_whole
from ingest.reading.top_keys import top_keys
from schemas.errors import BadInputError, UsageError

__all__ = ["FORMAT", "KEYS", "PATH_PARTS", "VERSION", "MappedChat", "read", "read_mapped", "reader_for", "sniff"]

FORMAT: Final = "chat_lines"
VERSION: Final = 5
PATH_PARTS: Final = 0

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
    """Read a file of conversations with a column `messages`, or of messages.

    Raises:
        BadInputError: it is damaged as a whole, or one message alone.
    """
    keys = top_keys(data)
    if "messages" in keys or not any(needed <= keys for needed in KEYS):
        return read_mapped(data, place, DEFAULT)
    if data.lstrip()[:1] == b"{" and is_whole(data):
        raise BadInputError("one message alone: a conversation is a list of messages, or one message a line")
    return read_mapped(data, place, MESSAGES)


def read_mapped(data: bytes, place: Place, mapping: Mapping) -> Reading:
    """Read a file by a mapping; a conversation that cannot be read is told and costs no other.

    Raises:
        BadInputError: it is damaged as a whole, or holds no row.
    """
    reading = Reading()
    rejects: list[BadInputError] = []
    unmet = Unmet(mapping)
    found = rows_of(data, rejects, mapping.conversation.rows)
    for group in grouped(found, mapping, place.file):
        reading.take(group.locator, partial(_conversation, group, place, unmet))
    reading.rejects += rejects + unmet.rejects()
    reading.notes += unmet.notes()
    if not reading.episodes and not reading.rejects:
        raise BadInputError("no row: the file is empty")
    return settled(reading)


def _conversation(group: Group, place: Place, unmet: Unmet) -> Reading:
    return reading_of(conversation_of(group, place.file, unmet), place, group.name)


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
        UsageError: the mapping is none, or stands beside another format.
    """
    if mapping is None:
        return log_format
    if log_format not in {None, FORMAT}:
        raise UsageError(f"a mapping says which column of chat lines is what, it does not go with format {log_format}: leave one out")
    return MappedChat.of(mapping)
