"""How the states of a family are drawn: by the `board` module of its family, or as text."""

import json
from collections.abc import Mapping
from typing import Any, Protocol

from dashboards.parts import Part, html
from games.players.player import Observation
from judges.evidence.transcript import Transcript, TurnView
from schemas.common.wording import in_words
from schemas.families import module


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


class Drawing(Protocol):
    """What a drawing module offers.

    It may have more: `about(game)` and `prose(text)`, see the functions of these names; CARRIED_OUT, the codes of errors that do not keep
    an action from being carried out; ACCEPTED, the word next to an action that was carried out; REFUSALS, code of an error -> what it says;
    STILL, the sentence for a turn without an action.
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
    drawing: Drawing = getattr(module(benchmark, "dashboards", "board"), "DRAWING", TextDrawing())
    return drawing


def about(game: Transcript) -> str:
    """A sentence or two for readers new to the game: who plays, who knows what, what the goal is; empty if the family gives none."""
    return getattr(drawing_of(game.benchmark), "about", lambda _: "")(game)


def prose(draw: Drawing, text: str) -> str:
    """What an engine writes as evidence, with words where it has names and calls."""
    return getattr(draw, "prose", str)(text)
