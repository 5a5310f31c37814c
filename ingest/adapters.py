"""The formats that can be read. A new one is a module with `FORMAT`, `VERSION`, `sniff` and `read`, and an entry here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from ingest.asympuzl import adapter as asympuzl
from ingest.coordination import adapter as coordination
from ingest.coordination import console as coordination_console
from ingest.coordination import player_files as coordination_players
from ingest.coordination.qa import adapter as coordqa
from ingest.cotrace_log import adapter as cotrace_log
from ingest.craft import adapter as craft
from ingest.einstein import adapter as einstein
from ingest.overcooked import adapter as overcooked
from ingest.reading.adapter_types import Adapter
from schemas.errors import UsageError

__all__ = ["ADAPTERS", "adapter", "companions", "recognise"]

ADAPTERS: Final[tuple[Adapter, ...]] = (
    cotrace_log,
    craft,
    asympuzl,
    einstein,
    coordqa,
    coordination,
    coordination_console,
    coordination_players,
    overcooked,
)

_COMPANIONS: Final[Mapping[str, Callable[[Path], tuple[Path, ...]]]] = {
    coordqa.FORMAT: coordqa.companions,
    coordination_players.FORMAT: coordination_players.companions,
}
"""Format -> the files that a file of it is read together with."""


def adapter(name: str) -> Adapter:
    """The adapter of a format.

    Raises:
        UsageError: there is none; names those there are.
    """
    for known in ADAPTERS:
        if name == known.FORMAT:
            return known
    raise UsageError(f"no log format {name!r}: give one of {', '.join(known.FORMAT for known in ADAPTERS)}, or leave it out")


def companions(log_format: str, path: Path) -> tuple[Path, ...]:
    """Files beside a log without which it cannot be read whole: when they change, it is read again."""
    return _COMPANIONS[log_format](path) if log_format in _COMPANIONS else ()


def recognise(head: bytes) -> Adapter | None:
    """The adapter that reads files with these first bytes; None if no format is known to begin so."""
    return next((known for known in ADAPTERS if known.sniff(head)), None)
