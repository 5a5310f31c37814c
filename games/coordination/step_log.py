"""Step logs: JSON Lines, one game a file, one line a turn, flushed line by line; the last one is marked as terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

__all__ = ["is_complete", "write_steps"]


def is_complete(path: Path) -> bool:
    """A file holds a whole game.

    Raises:
        OSError: it is there and cannot be read.
    """
    if not path.exists():
        return False
    last = path.read_bytes().rstrip(b"\n").rpartition(b"\n")[2]
    try:
        return bool(orjson.loads(last).get("terminal"))
    except (orjson.JSONDecodeError, AttributeError):
        return False


def write_steps(path: Path, steps: Iterator[Mapping[str, Any]]) -> int:
    """Write a game anew while it is played; gives its number of turns.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    turns = 0
    with path.open("wb") as file:
        for turns, step in enumerate(steps, start=1):  # noqa: B007
            file.write(orjson.dumps(step, option=orjson.OPT_APPEND_NEWLINE))
            file.flush()
    return turns
