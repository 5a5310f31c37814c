"""Kinds of JSON files that belong to games and are no logs; a family lists its own in `ingest.<family>.kinds`."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FileKind"]


class FileKind(NamedTuple):
    """A kind of JSON file that belongs to the games and is no log."""

    name: str
    marks: tuple[bytes, ...]
    """Regular expressions; all of them are found near the beginning."""
