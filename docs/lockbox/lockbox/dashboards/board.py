"""Draws a lock: the code, and what was tried."""

from collections.abc import Mapping
from typing import Any

from dash import html

from dashboards.parts import Part
from judges.evidence.transcript import Transcript, TurnView

__all__ = ["DRAWING"]


class LockDrawing:
    """The lock of a game."""

    def turn(self, game: Transcript, turn: TurnView) -> Part:
        """The code beside what was tried."""
        return html.P(f"Code {(game.goal or {}).get('code')}, tried {turn.state_after.get('tried')}")

    def goal(self, game: Transcript) -> Part:
        """The code, and the halves that each agent knows."""
        return html.P(f"Code {(game.goal or {}).get('code')}")

    def action(self, verb: str, arguments: Mapping[str, Any]) -> str:
        """A try in words."""
        return f"{verb} {arguments.get('code')}"


DRAWING = LockDrawing()
