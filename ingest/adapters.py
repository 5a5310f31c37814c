"""The formats that can be read. A new one is a module with `FORMAT`, `VERSION`, `sniff` and `read`, and an entry here."""

from __future__ import annotations

from typing import Final

from ingest.asympuzl import adapter as asympuzl
from ingest.coordination import adapter as coordination
from ingest.coordination import console as coordination_console
from ingest.coordqa import adapter as coordqa
from ingest.cotrace_log import adapter as cotrace_log
from ingest.craft import adapter as craft
from ingest.einstein import adapter as einstein
from ingest.overcooked import adapter as overcooked
from ingest.reading import Adapter
from schemas.errors import UsageError

__all__ = ["ADAPTERS", "adapter", "recognise"]

ADAPTERS: Final[tuple[Adapter, ...]] = (cotrace_log, craft, asympuzl, einstein, coordqa, coordination, coordination_console, overcooked)


def adapter(name: str) -> Adapter:
    """The adapter of a format.

    Raises:
        UsageError: there is none; names those there are.
    """
    for known in ADAPTERS:
        if name == known.FORMAT:
            return known
    raise UsageError(f"no log format {name!r}: give one of {', '.join(known.FORMAT for known in ADAPTERS)}, or leave it out")


def recognise(head: bytes) -> Adapter | None:
    """The adapter that reads files with these first bytes; None if no format is known to begin so."""
    return next((known for known in ADAPTERS if known.sniff(head)), None)
