"""A transcript of Inspect Scout (a row of its database) as a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Final

from ingest.conversation.chat import ParsedMessage, said_by
from ingest.conversation.rows import Conversation
from ingest.conversation.scores import number, numbers, outcome
from ingest.reading.json_text import loads
from ingest.reading.times import read_time
from schemas.errors import BadInputError

__all__ = ["BENCHMARK", "is_transcript", "transcript"]

BENCHMARK: Final = "scout"

_HEAVY: Final = frozenset({"messages", "events", "events_data", "timelines"})
_NO_MODEL: Final = frozenset({"user", "system", "tool"})


def is_transcript(columns: list[str]) -> bool:
    """Tell by a file's columns."""
    return {"transcript_id", "messages"} <= set(columns)


def transcript(row: Mapping[str, Any]) -> Conversation:
    """One transcript; what only its events hold is read where inspect_ai is installed.

    Raises:
        BadInputError: it has no messages, or they are damaged.
    """
    if "transcript_id" not in row:
        raise BadInputError("no transcript_id: nothing tells this transcript from others, write the row again", locator=".transcript_id")
    found, lost = _messages(row)
    said = said_by(found)
    if not said:
        raise BadInputError("no messages", locator=".messages")
    scores = {"score": _json(row.get("score"))}
    ended = outcome(scores if row.get("success") is None else {"success": row["success"]})
    score = next(iter(numbers(scores).values()), None) if not isinstance(scores["score"], Mapping) else None
    model = row.get("model")
    models = {one.agent: one.call.model for one in said if one.call is not None}
    if not models and isinstance(model, str):
        models = {one.agent: model for one in said if one.agent not in _NO_MODEL}
    limit, error = row.get("limit"), row.get("error")
    return Conversation(
        benchmark=BENCHMARK,
        run=str(row.get("task_set") or row.get("source_type") or BENCHMARK),
        task=str(row.get("task_id") or row["transcript_id"]),
        messages=said,
        models=models,
        model=model if isinstance(model, str) else None,
        success=ended.success,
        score=score if score is not None else ended.score,
        by_number=ended.by_number and row.get("success") is None,
        metrics=numbers(scores),
        condition={key: value for key in ("agent", "agent_args", "model_options") if (value := _json(row.get(key))) not in (None, {}, "")},
        seed=_whole(row.get("task_repeat")),
        attempt=_whole(row.get("task_repeat")),
        stop_reason=f"limit: {limit}" if limit else "error" if error else None,
        error=None if error is None else str(error),
        started_at=read_time(row.get("date")),
        details={key: value for key, value in row.items() if key not in _HEAVY},
        lost=lost,
    )


def _whole(value: Any) -> int | None:
    """A whole number; None for anything else, which stays in the details."""
    found = number(value)
    return int(found) if found is not None and found.is_integer() else None


def _messages(row: Mapping[str, Any]) -> tuple[list[ParsedMessage], list[str]]:
    """The messages, and what of the events could not be read."""
    messages = _json(row.get("messages")) or []
    events = _json(row.get("events")) or []
    if not isinstance(messages, list):
        raise BadInputError("messages is no list", locator=".messages")
    if not events or find_spec("inspect_ai") is None:
        return [ParsedMessage(raw=message) for message in messages], []
    from ingest.inspect_logs.sample import sample_of
    from ingest.inspect_logs.transcript import messages_of

    pools = _json(row.get("events_data"))
    whole = {"id": str(row["transcript_id"]), "epoch": 1, "input": "", "target": "", "messages": messages, "events": events}
    return messages_of(sample_of(whole | ({"events_data": pools} if pools else {})))


def _json(value: Any) -> Any:
    """What a column holds: JSON as text, or text that is none."""
    if not isinstance(value, str) or not value.strip():
        return value
    try:
        return loads(value.encode(errors="replace"))
    except BadInputError:
        return value
