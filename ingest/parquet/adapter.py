"""Reads Parquet: Inspect Scout's transcripts (a row each), and chat in OpenAI's form (column `messages`); others with `--map`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from io import BytesIO
from typing import Any, Final

from ingest.chat_lines.adapter import read_mapped
from ingest.chat_lines.mapping import DEFAULT
from ingest.chat_lines.rows import PARQUET, parquet_rows
from ingest.conversation.rows import reading_of, settled
from ingest.parquet.scout import is_transcript, transcript
from ingest.reading.adapter_types import Place, Reading
from schemas.errors import BadInputError
from schemas.text import excerpt

__all__ = ["FORMAT", "PATH_PARTS", "VERSION", "read", "sniff"]

FORMAT: Final = "parquet"
VERSION: Final = 5
PATH_PARTS: Final = 0


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether this is Parquet; what is in it is told by its columns."""
    return head.startswith(PARQUET)


def read(data: bytes, place: Place) -> Reading:
    """Read a file; one without conversations is left alone, and says so.

    Raises:
        BadInputError: it is damaged.
    """
    columns = _columns(data)
    if is_transcript(columns):
        return _transcripts(data, place)
    if DEFAULT.conversation.messages in columns:
        return read_mapped(data, place, DEFAULT)
    return Reading(note=f"Parquet without a column messages ({excerpt(', '.join(columns))}): say with --map which column is what")


def _transcript(row: Mapping[str, Any], place: Place, name: str) -> Reading:
    return reading_of(transcript(row), place, name)


def _columns(data: bytes) -> list[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return list(pq.ParquetFile(BytesIO(data)).schema_arrow.names)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadInputError(f"the Parquet file cannot be read ({excerpt(str(error))}): it was cut or damaged, copy it again") from error


def _transcripts(data: bytes, place: Place) -> Reading:
    reading = Reading()
    for row in parquet_rows(data):
        name = str(row.values.get("transcript_id", row.locator))
        reading.take(name, partial(_transcript, row.values, place, name))
    if not reading.episodes and not reading.rejects:
        return Reading(note="Scout's transcripts without a row")
    return settled(reading)
