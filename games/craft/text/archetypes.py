"""Director personalities and how a game draws them (paper, appendix; draw as in the released code)."""

import random
from typing import Final, Literal, get_args

from games.craft.engine.blocks import DIRECTORS, Director

Archetype = Literal["assertive", "cautious", "observant", "skeptical", "synthesizer"]
ARCHETYPES: Final[tuple[Archetype, ...]] = get_args(Archetype)


def archetypes(structure_index: int, run: int) -> dict[Director, Archetype]:
    """Draw the three personalities of a game.

    The draw depends on the structure's index (from 0) and the run index alone: CPython hashes a
    tuple of integers the same way in every process.
    """
    return {
        director: random.Random(hash((structure_index, number, run)) % 2**32).choice(ARCHETYPES)
        for number, director in enumerate(DIRECTORS)
    }
