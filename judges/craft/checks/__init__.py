"""Engine checks of CRAFT: answers to the three rubrics that can be proved by reading the text against the replayed board.

One module for each rubric (formats, sections 8 and 12.2). A check gives None, with the reason, wherever a proof is missing.
"""

from collections.abc import Mapping
from typing import Final

from judges.checks import Check
from judges.craft.checks import mind_modeling, pragmatic_sufficiency, spatial_grounding

CHECKS: Final[Mapping[str, Check]] = {**spatial_grounding.CHECKS, **mind_modeling.CHECKS, **pragmatic_sufficiency.CHECKS}
"""Check name, such as ``craft.SG1`` -> check."""

TAXONOMIES: Final[Mapping[str, str | None]] = {"craft_repaired": None}
"""Taxonomy of the rules -> its category for a turn in which several could hold and none does (`judges.checks`)."""
