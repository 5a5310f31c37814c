"""Time stamps of logs."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

__all__ = ["read_any_time", "read_time"]

_SECONDS = (1e8, 1e11)
"""From 1973 on; numbers above are milliseconds, smaller ones count something else."""


def read_time(logged: object) -> datetime | None:
    """A logged time as the clock stood, ISO or ``YYYYMMDD_HHMMSS``; None if there is none, or what stands there is none."""
    return _read(logged) if isinstance(logged, str) else None


def read_any_time(logged: object) -> datetime | None:
    """The same, or Unix time in seconds or milliseconds, a number or digits: as UTC has it."""
    text = str(logged)
    found = _read(text)
    if found is not None:
        return found
    try:
        number = float(text)
        seconds = number if number < _SECONDS[1] else number / 1000
        return datetime.fromtimestamp(seconds, tz=UTC).replace(tzinfo=None) if seconds >= _SECONDS[0] else None
    except (ValueError, OverflowError, OSError):
        return None


@lru_cache(maxsize=256)  # a turn's time is asked for with the turn, and with the one after it
def _read(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.replace("_", "T")).replace(tzinfo=None)
    except ValueError:
        return None
