"""Texts of prompts: data beside the code that fills them in."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import yaml

__all__ = ["texts_of"]


@cache
def texts_of(package: str, name: str = "prompts.yaml") -> dict[str, Any]:
    """Give the texts that lie in a package; `{name}` in them stands for what a game fills in."""
    texts: dict[str, Any] = yaml.safe_load(files(package).joinpath(name).read_text(encoding="utf-8"))
    return texts
