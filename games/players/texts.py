"""Texts of prompts: data beside the code that fills them in."""

from __future__ import annotations

from functools import cache
from typing import Any

from schemas.packaged import packaged_yaml


@cache
def texts_of(package: str) -> dict[str, Any]:
    """Give the texts that lie in a package, in `prompts.yaml`; `{name}` in them stands for what a game fills in."""
    texts: dict[str, Any] = packaged_yaml(package, "prompts.yaml")
    return texts
