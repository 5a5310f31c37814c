"""Patterns of `patterns.yaml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Final

import yaml

__all__ = ["any_of"]

_PATTERNS: Final[Mapping[str, Sequence[str]]] = yaml.safe_load(
    resources.files(__package__).joinpath("patterns.yaml").read_text(encoding="utf-8")
)


def any_of(name: str) -> str:
    """The alternatives of that name as one part of a regular expression, without a group around it."""
    return "|".join(_PATTERNS[name])
