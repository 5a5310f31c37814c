"""The timeline of a game: a mark a turn, a bar for what it cost, lines under the turns of a spiral, an arrow at the turn that decided."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from math import isfinite
from typing import Final

from dash import html

from dashboards.costs import cost_in_words
from dashboards.figures.palette import OUTCOMES, SPIRALS, mark_of
from dashboards.parts import Part, aria, data
from dashboards.playback.facts import GameFacts, Spiral, TurnFacts
from schemas.wording import in_words, number

__all__ = ["TONES", "legend", "timeline"]

TONES: Final = {
    "followed": "good",
    "accepted": "good",
    "not_followed": "lost",
    "wrong": "lost",
    "refused": "bad",
    "clarify": "ask",
    "no_move": "still",
    "no_oracle": "still",
}
"""What became of a turn -> its colour in the style sheet."""

_HIGHEST: Final = 22
"""Pixels of the largest cost."""


def timeline(facts: GameFacts, turn: int, href: Callable[[int], str], found: Collection[int] = ()) -> Part:
    """All turns in a row.

    Args:
        facts: of the game.
        turn: the one that is shown.
        href: the address of a turn.
        found: turns with a hit of the search inside the game.
    """
    most = max((one.cost or 0 for one in facts.turns if isfinite(one.cost or 0)), default=0)
    ticks = [_tick(facts, one, href(one.turn), most, _marks(one, turn, found)) for one in facts.turns]
    return html.Nav(ticks, className="timeline", **aria(label="Turns of the game"))


def _tick(facts: GameFacts, one: TurnFacts, href: str, most: float, marks: Sequence[str]) -> Part:
    decisive = facts.decisive is not None and facts.decisive.turn == one.turn
    spirals = facts.around(one.turn)
    height = round(_HIGHEST * min((one.cost or 0) / most, 1)) if most and one.has_cost else 0
    lines = [html.Span(className=f"tick-line {kind}" if any(s.kind == kind for s in spirals) else "tick-line") for kind in _kinds(facts)]
    return html.A(
        [
            html.Span("▼" if decisive else "", className="tick-decisive", **aria(hidden="true")),
            html.Span(html.Span(className="tick-cost", style={"height": f"{height}px"}), className="tick-bar"),
            html.Span(one.mark.shape, className="tick-mark", **aria(hidden="true")),
            html.Span([str(one.turn), html.Sup("✎") if facts.noted(one.turn) else None], className="tick-turn"),
            *lines,
        ],
        href=href,
        className=" ".join(marks),
        title=_title(one, spirals, len(facts.noted(one.turn)), decisive=decisive),
        **(aria(current="true") if "current" in marks else {}),
    )


def _marks(one: TurnFacts, turn: int, found: Collection[int]) -> list[str]:
    """Its classes of the style sheet."""
    marks = ["tick", TONES.get(one.name, "still")]
    return marks + ["current"] * (one.turn == turn) + ["hit"] * (one.turn in found)


def _kinds(facts: GameFacts) -> list[str]:
    """The kinds of spiral that the game has: a line each."""
    return [kind for kind in SPIRALS if any(spiral.kind == kind for spiral in facts.spirals)]


def _title(one: TurnFacts, spirals: Sequence[Spiral], notes: int, *, decisive: bool) -> str:
    said = [f"turn {one.turn}: {one.mark.words or in_words(one.outcome)}"]
    if one.has_cost:
        said.append(f"cost {cost_in_words(one.cost, one.unit or '')}")
    if one.progress is not None:
        said.append(f"progress {number(one.progress)}")
    said += [f"{notes} notes" if notes > 1 else "a note"] if notes else []
    said += [f"in a {in_words(spiral.kind)}" for spiral in spirals]
    return "; ".join([*said, *(["the decisive turn"] if decisive else [])])


def legend(facts: GameFacts) -> Part:
    """What the signs of this game's timeline stand for, and the keys."""
    by_shape = groupby(sorted(OUTCOMES.items(), key=lambda entry: list(OUTCOMES).index(entry[0])), key=lambda entry: entry[1].shape)
    shown = {one.mark.shape for one in facts.turns}
    signs = [
        html.Li([html.Span(shape, className=f"sign {TONES[group[0][0]]}"), " or ".join(mark.words for _, mark in group)])
        for shape, group in ((shape, list(group)) for shape, group in by_shape)
        if shape in shown
    ]
    kinds = [html.Li([html.Span(className=f"sign-line {kind}"), f"{in_words(kind)}: {mark_of(kind).words}"]) for kind in _kinds(facts)]
    keys = [html.Li([html.Kbd(key), f" {what}"]) for key, what in _KEYS.items()]
    drawn = [html.Li("bar: what the turn cost; ▼ the turn that decided the game; ✎ a note")]
    return html.Details(
        [html.Summary("legend and keys"), html.Div([html.Ul([*signs, *kinds, *drawn]), html.Ul(keys)], className="legend-box")],
        className="menu legend",
        **data(fold="legend"),
    )


_KEYS: Final = {
    "← →": "turn before, turn after",
    "n  p": "next failure, failure before",
    "/": "search",
    "f": "find in this game",
    "c": "write a note",
}
