"""Calls of models as logs hold them, as rows of the table."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from typing import Any, Final

from ingest.reading.times import read_time
from schemas.game import CallEntry
from schemas.records import Call

__all__ = ["call_row"]

_UNKNOWN_TIME: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - times in the store have no zone


def call_row(call: CallEntry, purpose: str, *, run: str, episode: str, turn: int) -> Call:
    """Give the row of a call in a turn of an episode."""
    facts: dict[str, Any] = {field.name: getattr(call, field.name) for field in fields(call) if field.name != "asked_at"}
    return Call(**facts, purpose=purpose, run=run, episode_id=episode, turn=turn, asked_at=read_time(call.asked_at) or _UNKNOWN_TIME)
