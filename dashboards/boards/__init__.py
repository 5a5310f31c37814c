"""How each benchmark's states are drawn on the game page: a module per benchmark, listed in `DRAWINGS`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from dashboards.asympuzl import board as asympuzl
from dashboards.boards import fallback
from dashboards.coordination import board as coordination
from dashboards.craft import board as craft
from dashboards.einstein import board as einstein
from dashboards.overcooked import board as overcooked
from dashboards.parts import Part
from judges.evidence.transcript import Transcript, TurnView

__all__ = ["Drawing", "drawing_of"]


class Drawing(Protocol):
    """What a drawing module offers."""

    def turn(self, game: Transcript, turn: TurnView) -> Part:
        """The states before and after the turn, side by side, with what the action touched marked."""

    def goal(self, game: Transcript) -> Part:
        """The goal, and what each agent alone was shown of it."""

    def action(self, verb: str, arguments: Mapping[str, Any]) -> str:
        """An action in words."""


DRAWINGS: dict[str, Drawing] = {
    "craft": craft.CraftDrawing(),
    "asympuzl": asympuzl.AsymPuzlDrawing(),
    "einstein": einstein.EinsteinDrawing(),
    "overcooked": overcooked.OvercookedDrawing(),
    "coordination": coordination.CoordinationDrawing(),
}


def drawing_of(benchmark: str) -> Drawing:
    """The drawing of a benchmark; states without one are shown as text."""
    return DRAWINGS.get(benchmark, fallback.TextDrawing())
