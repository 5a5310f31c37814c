"""Patterns of `patterns.yaml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from schemas.packaged import packaged_yaml

__all__ = ["any_of"]

_PATTERNS: Final[Mapping[str, Sequence[str]]] = packaged_yaml(__package__, "patterns.yaml")


def any_of(name: str) -> str:
    """The alternatives of that name as one part of a regular expression, without a group around it."""
    return "|".join(_PATTERNS[name])
