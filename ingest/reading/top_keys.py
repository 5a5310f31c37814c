"""The keys of a JSON document, in whatever order they stand: for files whose beginning does not say what they are."""

from __future__ import annotations

from typing import Any, Final

from ingest.reading.json_text import loads
from schemas.errors import BadInputError

__all__ = ["top_keys"]

_MOST_BYTES: Final = 1 << 26
"""Larger documents are told by their beginning alone."""


def top_keys(data: bytes) -> frozenset[str]:
    """Keys of the object, of the first of a list, or of the first line of JSON Lines; none where it is no JSON, or large."""
    if data.lstrip()[:1] not in (b"{", b"["):
        return frozenset()
    for part in (data.lstrip().split(b"\n", 1)[0], data):
        if len(part) <= _MOST_BYTES:
            try:
                return _keys(loads(part))
            except BadInputError:
                continue
    return frozenset()


def _keys(value: Any) -> frozenset[str]:
    first = value[0] if isinstance(value, list) and value else value
    return frozenset(first) if isinstance(first, dict) else frozenset()
