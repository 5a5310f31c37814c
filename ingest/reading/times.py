"""Time stamps of logs."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

__all__ = ["read_time"]


@lru_cache(maxsize=256)  # a turn's time is asked for with the turn, and with the one after it
def read_time(text: str | None) -> datetime | None:
    """A logged time as the clock stood, ISO or ``YYYYMMDD_HHMMSS``; None if there is none or it cannot be read."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text.replace("_", "T")).replace(tzinfo=None)
    except ValueError:
        return None
