"""How each benchmark's states are drawn on the game page: a module of its family, or as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from dashboards.boards import fallback
from dashboards.parts import Part
from games.players.player import Observation
from judges.evidence.transcript import Transcript, TurnView
from schemas.families import module

__all__ = ["Drawing", "about", "drawing_of", "prose"]


class Drawing(Protocol):
    """What a drawing module offers.

    It may have more: `about(game)` and `prose(text)`, see the functions of these names; CARRIED_OUT, the codes of errors that do not keep
    an action from being carried out; REFUSALS, code of an error -> what it says; STILL, the sentence for a turn without an action.
    """

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


def about(game: Transcript) -> str:
    """A sentence or two for somebody who has never seen the game: who plays, who knows what, what the goal is; empty if nobody says."""
    return getattr(drawing_of(game.benchmark), "about", lambda _: "")(game)


def prose(draw: Drawing, text: str) -> str:
    """What an engine writes as evidence, with words where it has names and calls."""
    return getattr(draw, "prose", str)(text)
