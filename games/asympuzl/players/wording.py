"""How scripted players put things: alternatives that say the same."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from games.asympuzl.puzzle import Entry

_ORDER_HEADS: Final = ("Order of shapes:", "My positions:", "From position 1 on I have", "Here is the right order:")
_NUMBERED: Final = ("{place} {shape}", "{place}: {shape}", "position {place} is the {shape}", "position {place} = {shape}")
_COLOR_HEADS: Final = ("The pairs are", "Colors:", "What I know:", "These belong together:")
_PAIRED: Final = ("{shape} {color}", "{color} {shape}", "{shape} = {color}", "the {shape} is {color}", "{shape}: {color}")
_QUESTIONS: Final = ("Which colors do they have?", "What are the colors?", "Please tell me the color of each shape.")


def tell_order(shapes: Sequence[tuple[int, str]], rng: random.Random) -> str:
    """Positions, from 1, with their shapes."""
    form = rng.choice(_NUMBERED)
    return f"{rng.choice(_ORDER_HEADS)} {', '.join(form.format(place=place, shape=shape) for place, shape in shapes)}."


def tell_colors(entries: Sequence[Entry], rng: random.Random) -> str:
    """Shapes with their colors, places left out."""
    form = rng.choice(_PAIRED)
    return f"{rng.choice(_COLOR_HEADS)} {', '.join(form.format(shape=entry.shape, color=entry.color) for entry in entries)}."


def ask_for_colors(rng: random.Random) -> str:
    """A question that states nothing."""
    return rng.choice(_QUESTIONS)
