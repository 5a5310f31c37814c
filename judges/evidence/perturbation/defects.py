"""What families add to the perturbations: defects that can be planted into a text so that the right answer after it is known.

A family offers them in its module `judges.<family>.perturbations`, a `Planter`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Protocol, cast

from judges.evidence.pieces import UnitContext
from judges.evidence.transcript import UtteranceView
from schemas.families import module, modules


class Planter(Protocol):
    """A module of a family that plants defects."""

    @property
    def DEFECTS(self) -> Mapping[str, str]:  # noqa: N802
        """Name -> what is planted."""
        ...

    @property
    def DEFECTS_OF(self) -> Mapping[str, Mapping[str, str]]:  # noqa: N802
        """Rubric -> planted defect -> the question whose right answer turns from yes to no."""
        ...

    @property
    def NAMES(self) -> Sequence[str]:  # noqa: N802
        """Names of agents that rubrics' own texts use."""
        ...

    @property
    def UNNAMED_ROLES(self) -> frozenset[str]:  # noqa: N802
        """Roles whose agents are called by the role, so that they have no name to change."""
        ...

    def planted(self, kind: str, context: UnitContext, said: UtteranceView) -> str | None:
        """The text with that defect in it; None where it cannot be planted, or the truth would not be known."""
        ...

    def planted_in_turn(self, kind: str, context: UnitContext, messages: Sequence[UtteranceView], question: str) -> Mapping[int, str]:
        """Number of the message -> its text with that defect in it; empty where the answer would not be known."""
        ...


def planter_of(benchmarks: Sequence[str]) -> Planter | None:
    """What plants defects into the games of those benchmarks; None if no family of theirs does."""
    return next((cast("Planter", found) for name in benchmarks if (found := module(name, "judges", "perturbations"))), None)


@cache
def defects() -> Mapping[str, str]:
    """Name of a defect -> what is planted, of all families."""
    return {name: doc for planter in _planters() for name, doc in planter.DEFECTS.items()}


def defects_of(rubric: str) -> Mapping[str, str]:
    """Defect that can be planted for the rubric of that name -> the question whose right answer turns from yes to no."""
    return {defect: question for planter in _planters() for defect, question in planter.DEFECTS_OF.get(rubric, {}).items()}


def rubrics_of(defect: str) -> list[str]:
    """Names of the rubrics for which that defect can be planted."""
    return [rubric for planter in _planters() for rubric, known in planter.DEFECTS_OF.items() if defect in known]


def _planters() -> Iterator[Planter]:
    return (cast("Planter", found) for _, found in modules("judges", "perturbations"))
