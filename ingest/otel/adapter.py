"""Reads OpenTelemetry's spans of generative AI as OTLP JSON: one document, or one a line; a conversation is a game, a message a turn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from ingest.conversation.rows import reading_of, settled
from ingest.otel.conversations import conversation_of, grouped
from ingest.otel.spans import Span, spans_of
from ingest.reading.adapter_types import Place, Reading
from ingest.reading.json_lines import is_whole, lines_of
from ingest.reading.json_text import loads
from schemas.errors import BadInputError

__all__ = ["FORMAT", "KEYS", "PATH_PARTS", "VERSION", "read", "sniff"]

FORMAT: Final = "otel"
VERSION: Final = 6
PATH_PARTS: Final = 0

_BEGINNING: Final = re.compile(rb'\A\s*\{\s*"resource(Spans|Logs|Metrics)"\s*:')


_OTHERS: Final[Mapping[str, str]] = {"resourceLogs": "log records", "resourceMetrics": "metrics"}
"""OTLP's other signals: key -> what it holds."""
KEYS: Final = tuple(frozenset({key}) for key in ("resourceSpans", *_OTHERS))
"""Of a document whose beginning does not say what it is."""


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether this is OTLP JSON."""
    return _BEGINNING.match(head) is not None


def read(data: bytes, place: Place) -> Reading:
    """Read a file of spans.

    Raises:
        BadInputError: no document of it can be used.
    """
    reading = Reading()
    spans: list[Span] = []
    for locator, document in _documents(data, reading):
        try:
            _refuse_other_signals(document)
            spans += spans_of(document)
        except BadInputError as error:
            reading.rejects.append(BadInputError(error.reason, locator=f"{locator}{error.locator}"))
    for name, group in grouped(spans).items():
        reading.take(name, partial(_conversation, name, group, place))
    if not spans and not reading.rejects:
        raise BadInputError("OTLP JSON without spans: nothing was recorded")
    return settled(reading)


def _conversation(name: str, group: list[Span], place: Place) -> Reading:
    return reading_of(conversation_of(name, group), place, name)


def _refuse_other_signals(document: Any) -> None:
    for key, held in _OTHERS.items():
        if isinstance(document, Mapping) and key in document:
            raise BadInputError(
                f"OTLP {held}, of which nothing is read: export spans (resourceSpans), with the messages on them", locator=f".{key}"
            )


def _documents(data: bytes, reading: Reading) -> Iterator[tuple[str, Any]]:
    """Place and value of each document: one in the whole file, or one a line; a line that is none is told."""
    if is_whole(data.lstrip().partition(b"\n")[0]) and b"\n" in data.strip():
        for found in lines_of(data):
            if isinstance(found.value, BadInputError):
                reading.rejects.append(found.value)
            else:
                yield found.locator, found.value
    else:
        yield "", loads(data)
