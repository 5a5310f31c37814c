"""States of a benchmark that has no drawing: as indented JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dash import html

from dashboards.parts import Part
from games.players.player import Observation
from judges.evidence.transcript import Transcript, TurnView
from schemas.wording import in_words

__all__ = ["TextDrawing"]


class TextDrawing:
    """Shows any state as text."""

    def turn(self, game: Transcript, turn: TurnView) -> Part:  # noqa: ARG002 - the same face for every benchmark
        """Both states; a note where the log has none."""
        if not turn.state_before and not turn.state_after:
            return html.P("This game's log holds no states: what was said and tried is all there is.", className="hint")
        return html.Div([_text("Before", turn.state_before), _text("After", turn.state_after)], className="columns")

    def goal(self, game: Transcript) -> Part:
        """The goal as stored; nothing where there is none."""
        if game.goal is None:
            return html.Div()
        if all(isinstance(value, str) for value in game.goal.values()):
            return html.Div([html.Div([html.H3(in_words(name)), html.P(value, className="prose")]) for name, value in game.goal.items()])
        return _text("Goal", game.goal)

    def seat(self, seen: Observation) -> Part:
        """The scene, if there is one; the messages say the rest."""
        return html.Div() if seen.scene is None else _text("What you see", seen.scene())

    def action(self, verb: str, arguments: Mapping[str, Any]) -> str:
        """Verb and arguments."""
        return f"{verb} " + ", ".join(f"{key}={value}" for key, value in arguments.items() if value is not None)


def _text(title: str, state: object) -> Part:
    return html.Div([html.H3(title), html.Pre(json.dumps(state, indent=1, ensure_ascii=False))])
