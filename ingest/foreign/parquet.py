"""Reads Parquet: Inspect Scout's transcripts, rows of described formats, TRAIL's traces, lists of messages; others with `--map`."""

from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from io import BytesIO
from itertools import islice
from typing import Any, Final

from ingest.conversation.chat import ParsedMessage, logged_messages
from ingest.conversation.rows import Conversation, completed, numbers, outcome, reading_of, whole_number
from ingest.foreign import chat_lines, otel
from ingest.foreign.chat_lines import PARQUET, holds_messages, parquet_rows
from ingest.foreign.described import ADAPTERS as _DESCRIBED
from ingest.reading.adapter_types import Place, Reading
from ingest.reading.text import dumps, parsed, read_time
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt

BENCHMARK: Final = "scout"

_HEAVY: Final = frozenset({"messages", "events", "events_data", "timelines"})
_NO_MODEL: Final = frozenset({"user", "system", "tool"})


def transcript(row: Mapping[str, Any]) -> Conversation:
    """One transcript; what only its events hold is read where inspect_ai is installed.

    Raises:
        BadInputError: it has no messages, or they are damaged.
    """
    if "transcript_id" not in row:
        raise BadInputError("no transcript_id: nothing tells this transcript from others, write the row again", locator=".transcript_id")
    found, lost = _messages(row)
    messages = logged_messages(found)
    if not messages:
        raise BadInputError("no messages", locator=".messages")
    scores = {"score": parsed(row.get("score"))}
    ended = outcome(scores if row.get("success") is None else {"success": row["success"]})
    score = next(iter(numbers(scores).values()), None) if not isinstance(scores["score"], Mapping) else None
    model = row.get("model")
    models = {one.agent: one.call.model for one in messages if one.call is not None}
    if not models and isinstance(model, str):
        models = {one.agent: model for one in messages if one.agent not in _NO_MODEL}
    limit, error = row.get("limit"), row.get("error")
    return Conversation(
        benchmark=BENCHMARK,
        run=str(row.get("task_set") or row.get("source_type") or BENCHMARK),
        task=str(row.get("task_id") or row["transcript_id"]),
        messages=messages,
        models=models,
        model=model if isinstance(model, str) else None,
        success=ended.success,
        score=score if score is not None else ended.score,
        by_number=ended.by_number and row.get("success") is None,
        metrics=numbers(scores),
        condition={key: value for key in ("agent", "agent_args", "model_options") if (value := parsed(row.get(key))) not in (None, {}, "")},
        seed=whole_number(row.get("task_repeat")),
        attempt=whole_number(row.get("task_repeat")),
        stop_reason=f"limit: {limit}" if limit else "error" if error else None,
        error=None if error is None else str(error),
        started_at=read_time(row.get("date")),
        details={key: value for key, value in row.items() if key not in _HEAVY},
        lost=lost,
    )


def _messages(row: Mapping[str, Any]) -> tuple[list[ParsedMessage], list[str]]:
    """The messages, and what of the events could not be read."""
    messages = parsed(row.get("messages")) or []
    events = parsed(row.get("events")) or []
    if not isinstance(messages, list):
        raise BadInputError("messages is not a list", locator=".messages")
    if not events or find_spec("inspect_ai") is None:
        return [ParsedMessage(raw=message) for message in messages], []
    from ingest.foreign.inspect_logs import messages_of, sample_of

    pools = parsed(row.get("events_data"))
    whole = {"id": str(row["transcript_id"]), "epoch": 1, "input": "", "target": "", "messages": messages, "events": events}
    return messages_of(sample_of(whole | ({"events_data": pools} if pools else {})))


FORMAT: Final = "parquet"
VERSION: Final = 6


_LOOKED_AT: Final = 50
_PROSE_WORDS: Final = 3
"""A table with texts of so many words may be a log; one of names and numbers is left alone."""


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether this is Parquet; its columns show what is in it."""
    return head.startswith(PARQUET)


def read(data: bytes, place: Place) -> Reading:
    """Read a file; one without conversations is left alone, and reports it.

    Raises:
        BadInputError: it is damaged.
    """
    columns = _columns(data)
    if {"transcript_id", "messages"} <= set(columns):
        reading = Reading()
        for row in parquet_rows(data):
            name = str(row.values.get("transcript_id", row.locator))
            reading.take(name, partial(_transcript, row.values, place, name))
        if not reading.episodes and not reading.rejects:
            return Reading(note="Scout's transcripts without a row")
        return completed(reading)
    described = next((known for known in _DESCRIBED if not known.MARKS and any(keys <= set(columns) for keys in known.KEYS)), None)
    if described is not None:
        return described.read(data, place)
    if {"trace", "labels"} <= set(columns) or "resourceSpans" in columns:
        spans = ({key: parsed(value) for key, value in row.values.items()} for row in parquet_rows(data))
        return otel.read(b"\n".join(dumps(row).encode(errors="surrogatepass") for row in spans), place)
    if holds_messages(data):
        return chat_lines.read(data, place)
    reason = f"Parquet without a column messages ({excerpt(', '.join(columns))}): say with --map which column is what"
    texts = (value for row in islice(parquet_rows(data), _LOOKED_AT) for value in row.values.values() if isinstance(value, str))
    if any(len(text.split()) >= _PROSE_WORDS for text in texts):
        raise BadInputError(reason)
    return Reading(note=reason)


def _transcript(row: Mapping[str, Any], place: Place, name: str) -> Reading:
    return reading_of(transcript(row), place, name)


def _columns(data: bytes) -> list[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return list(pq.ParquetFile(BytesIO(data)).schema_arrow.names)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadInputError(f"the Parquet file cannot be read ({excerpt(str(error))}): it was cut or damaged, copy it again") from error
