"""Thoughts that a model writes in tags before its answer, where its server does not tell the two apart."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

__all__ = ["Parted", "parted"]

_THOUGHT: Final = re.compile(r"\A\s*(?:<think(?:ing)?>)?(.*?)</think(?:ing)?>\s*", re.DOTALL | re.IGNORECASE)
"""Some models leave out the tag that opens, since their template has written it."""
_OPENED: Final = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)


class Parted(NamedTuple):
    """What a model wrote, in two parts."""

    thought: str
    """Without its tags; empty if there is none."""
    text: str
    """What follows; empty if the thoughts were cut off."""


def parted(written: str) -> Parted:
    """Part thoughts in tags from what follows."""
    thought = _THOUGHT.match(written)
    if thought is not None:
        return Parted(thought[1].strip(), written[thought.end() :])
    opened = _OPENED.match(written)
    return Parted("", written) if opened is None else Parted(written[opened.end() :].strip(), "")
