"""Losses and broken links in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from schemas.wording import without_zero

__all__ = ["LINK_WORDS", "amount", "of_link"]

LINK_WORDS: Final[Mapping[str, str]] = {
    "not_seen": "what nobody could see",
    "not_said": "not asking for, or not telling, what it saw",
    "said_wrong": "asking for, or telling, what its own view contradicts",
    "said_unclear": "asking for what can be read in more than one way",
    "said_too_late": "telling after it was needed",
    "not_heard": "not doing what it was clearly asked for",
    "misread": "doing what it was asked for with another block, place or order",
    "acted_alone": "actions that nobody asked for while nobody knew better",
    "conflict": "two who asked for, or did, what does not fit together, both right by what they see",
    "rule_forgotten": "actions that the rules refuse",
    "verifier": "the verifier, which turned better answers down",
    "needless_question": "asking back although it had been told",
    "format": "answers that cannot be read",
    "acted_wrong": "acting against what it could know",
    "idle": "doing nothing where it could know what to do",
    "luck": "luck",
    "harness": "calls that failed and replies that were cut",
    "not_understood": "unattributed: message not understood",
    "undecided": "what cannot be decided",
}
"""Link -> what somebody lost something by."""

_SMALLEST: Final = 0.0005


def amount(cost: float, unit: str) -> str:
    """`.47`, `2 steps`, `0.5 points`: progress and probability without a unit, below one without a leading zero."""
    if unit in ("progress", "probability"):
        shown = f"{cost:.2f}" if abs(cost) >= 0.1 or abs(cost) < _SMALLEST else f"{cost:.3f}"  # noqa: PLR2004 - two digits that count
        return without_zero(shown) if float(shown) else "0"
    whole = f"{cost:.0f}" if abs(cost - round(cost)) < 0.05 else f"{cost:.1f}"  # noqa: PLR2004 - a tenth is shown
    return f"{whole} {unit.removesuffix('s') if whole == '1' else unit}"


def of_link(link: str) -> str:
    """A link in words."""
    return LINK_WORDS.get(link, link.replace("_", " "))
