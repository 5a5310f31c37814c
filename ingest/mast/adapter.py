"""Reads MAST-Data (arXiv 2503.13657): traces of multi-agent systems; the failure modes found in them become labels of the rubric `mast`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from ingest.chat_lines.rows import rows_of
from ingest.conversation.rows import Conversation, reading_of
from ingest.mast.annotations import labels
from ingest.mast.trajectory import said_in
from ingest.reading.adapter_types import Place, Reading

__all__ = ["FORMAT", "KEYS", "PATH_PARTS", "VERSION", "read", "sniff"]

FORMAT: Final = "mast"
VERSION: Final = 3
PATH_PARTS: Final = 0

BENCHMARK: Final = "mast"
_BEGINNING: Final = re.compile(
    rb'\A\s*(?:\[\s*)?\{\s*"(?:mas_name|llm_name|round|benchmark_name|trace_id|trace|mast_annotation|annotations)"\s*:'
)
_MARK: Final = re.compile(rb'"mas_name"\s*:')


KEYS: Final = (frozenset({"mas_name", "trace"}),)
"""Of a document whose beginning does not say what it is."""


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether these are traces of MAST."""
    return _BEGINNING.match(head) is not None and _MARK.search(head) is not None


def read(data: bytes, place: Place) -> Reading:
    """Read a file of traces: a list of objects, one object, or one a line.

    Raises:
        BadInputError: it is damaged as a whole.
    """
    reading = Reading()
    for index, row in enumerate(rows_of(data, reading.rejects)):
        reading.take(row.locator, partial(_trace, row.values, index, place))
    return reading


def _trace(row: Mapping[str, Any], index: int, place: Place) -> Reading:
    found = reading_of(_conversation(row, index), place, index)
    found.rows["labels"] += labels(row, place.path, found.episodes[0])
    return found


def _conversation(row: Mapping[str, Any], index: int) -> Conversation:
    system = str(row.get("mas_name") or BENCHMARK)
    trace = row.get("trace")
    inner = trace if isinstance(trace, Mapping) else {}
    model = row.get("llm_name")
    said = said_in(inner.get("trajectory", trace), system)
    task = "/".join(str(part) for part in (row.get("benchmark_name"), row.get("trace_id", inner.get("index", index))) if part is not None)
    return Conversation(
        benchmark=BENCHMARK,
        run=system,
        task=task,
        messages=said,
        models={one.agent: str(model) for one in said} if model else {},
        model=str(model) if model else None,
        level=None if row.get("round") is None else str(row["round"]),
        details={"key": inner.get("key"), "mas_name": system, "mast_annotation": row.get("mast_annotation")},
    )
