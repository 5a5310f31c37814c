"""Time stamps of logs."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

__all__ = ["read_time"]


def read_time(logged: object) -> datetime | None:
    """A logged time as the clock stood, ISO or ``YYYYMMDD_HHMMSS``; None if there is none, or what stands there is none."""
    return _read(logged) if isinstance(logged, str) else None


@lru_cache(maxsize=256)  # a turn's time is asked for with the turn, and with the one after it
def _read(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.replace("_", "T")).replace(tzinfo=None)
    except ValueError:
        return None
