"""How each benchmark's states are drawn on the game page: a module of its family, or as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from dashboards.boards import fallback
from dashboards.parts import Part
from games.players.player import Observation
from judges.evidence.transcript import Transcript, TurnView
from schemas.families import module

__all__ = ["Drawing", "drawing_of"]


class Drawing(Protocol):
    """What a drawing module offers."""

    def turn(self, game: Transcript, turn: TurnView) -> Part:
        """The states before and after the turn, side by side, with what the action touched marked."""

    def goal(self, game: Transcript) -> Part:
        """The goal, and what each agent alone was shown of it."""

    def seat(self, seen: Observation) -> Part:
        """What a person in a seat sees when it is asked: of the observation alone, so that nothing else can reach it."""

    def action(self, verb: str, arguments: Mapping[str, Any]) -> str:
        """An action in words."""


def drawing_of(benchmark: str) -> Drawing:
    """The drawing of a benchmark (`DRAWING` of its family's `dashboards.<family>.board`); states without one are shown as text."""
    drawing: Drawing = getattr(module(benchmark, "dashboards", "board"), "DRAWING", fallback.TextDrawing())
    return drawing
