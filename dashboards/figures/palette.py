"""Colours: few, each with one meaning, told apart with every common colour vision and on both papers; always beside a shape or a word.

All have a contrast of at least 3:1 to both papers. Between any two of one set the CIEDE2000 distance is at least 12 as seen with
full colour vision, with protanopia, deuteranopia and tritanopia (simulated; a test measures it).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

__all__ = ["DARK_PAPER", "FULLER", "LIGHT_PAPER", "OTHER", "OUTCOMES", "SERIES", "SPIRALS", "SYMBOLS", "Mark", "look", "mark_of"]

LIGHT_PAPER: Final = "#ffffff"
DARK_PAPER: Final = "#191c22"

SERIES: Final[tuple[str, ...]] = ("#5267b2", "#be856b", "#499b9b", "#a34b6a", "#706b31", "#ad74ff")
"""Series and categories; what is beyond them is grouped as "other"."""

OTHER: Final = "#8a8f9c"
"""What is grouped; always hatched."""

FULLER: Final = ((0, "rgba(73, 153, 155, 0.06)"), (1, "rgba(73, 153, 155, 0.62)"))
"""A scale from little to much; the paper shines through, so that texts keep the page's colour on it."""

SYMBOLS: Final[tuple[str, ...]] = ("circle", "diamond", "square", "triangle-up", "cross", "star")
"""The shape that goes with each colour of a series."""


class Mark(NamedTuple):
    """How one kind of thing is shown."""

    color: str
    shape: str
    """A sign that says it without colour."""
    words: str


OUTCOMES: Final[Mapping[str, Mark]] = {
    "followed": Mark("#27786b", "●", "lost nothing: a verified action"),
    "accepted": Mark("#27786b", "●", "carried out"),
    "not_followed": Mark("#e67339", "◆", "a verified action was there, another was taken"),
    "refused": Mark("#bb3f30", "✕", "refused by the engine"),
    "wrong": Mark("#e67339", "◆", "carried out, but wrong"),
    "clarify": Mark("#7990de", "?", "asked instead of acting"),
    "no_move": Mark("#9f8e9d", "–", "nobody acted"),
    "no_oracle": Mark("#9f8e9d", "○", "no verified action was listed"),
}
"""What became of a turn."""

SPIRALS: Final[Mapping[str, Mark]] = {
    "repeated_failure": Mark(SERIES[3], "↻", "an action refused before is tried again while nothing has changed"),
    "undo_loop": Mark(SERIES[0], "⟲", "the state returns to one that was left"),
    "over_removal": Mark(SERIES[1], "⌫", "undone twice or more where no verified action undoes"),
    "stall": Mark(SERIES[2], "⋯", "three turns or more without a change"),
}
"""Kinds of correction spiral."""

_UNKNOWN: Final = Mark(OTHER, "·", "")


def look(place: int) -> tuple[str, str]:
    """Colour and shape of the series of that place, from 0; no two of the first 36 are alike."""
    return SERIES[place % len(SERIES)], SYMBOLS[(place + place // len(SERIES)) % len(SYMBOLS)]


def mark_of(name: str) -> Mark:
    """The mark of an outcome or a kind of spiral; a grey dot for what has none."""
    return OUTCOMES.get(name) or SPIRALS.get(name) or _UNKNOWN
