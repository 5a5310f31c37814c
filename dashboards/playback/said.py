"""What was said and thought on a turn, and what judges found wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from dash import html

from dashboards.parts import Part, data
from judges.evidence.transcript import Transcript, TurnView, UtteranceView
from schemas.text import printable
from schemas.wording import in_words

__all__ = ["highlighted", "said_column"]

_LONG: Final = 2_500
"""Characters of a message that are shown unfolded."""
_GIST: Final = 110
"""Characters of a thought that stand in its fold."""


def said_column(game: Transcript, turn: TurnView, objections: Sequence[Mapping[str, Any]], words: Sequence[str] = ()) -> Part:
    """Messages in their order, each with its author's thoughts folded before it; where nobody spoke, thoughts are open.

    Args:
        game: the game.
        turn: the turn.
        objections: verdicts of the turn that object: agent, question, ask.
        words: what is looked for, and marked.
    """
    alone = all(utterance.channel == "private" for utterance in turn.utterances)
    speeches = [_speech(game, utterance, objections, words, alone=alone) for utterance in turn.utterances]
    return html.Section(
        [html.H2("Said and thought"), *(speeches or [html.P("Nobody spoke.", className="hint")])], className="card said", tabIndex=0
    )


def _speech(
    game: Transcript, utterance: UtteranceView, objections: Sequence[Mapping[str, Any]], words: Sequence[str], *, alone: bool
) -> Part:
    persona = game.agents[utterance.agent].persona if utterance.agent in game.agents else None
    is_thought = utterance.channel == "private"
    marks: list[Part] = []
    if utterance.superseded:
        marks.append(html.Span("replaced later in this turn: not received by all", className="pill warn"))
    if not is_thought:
        own = [objection for objection in objections if objection["agent"] == utterance.agent]
        marks += [html.Span(f"✕ {in_words(one['question'])}", className="pill bad", title=one["ask"] or one["question"]) for one in own]
    who = [html.B(printable(utterance.agent)), *([html.Span(f" {printable(persona)}", className="persona")] if persona else [])]
    if is_thought:
        return _thought(utterance, who, words, is_open=alone)
    return html.Div([html.Div([html.Span(who, className="who"), *marks]), _folded(utterance.text or "(empty)", words)], className="speech")


def _thought(utterance: UtteranceView, who: Part, words: Sequence[str], *, is_open: bool) -> Part:
    text = utterance.text or "(empty)"
    gist = printable(" ".join(text[: 2 * _GIST].split())[:_GIST])
    is_open = is_open or any(word.lower() in text.lower() for word in words)
    summary = html.Summary([html.Span(who, className="who"), html.Span(" thinks ", className="channel"), html.Span(gist, className="gist")])
    fold = html.Details([summary, _folded(text, words)], open=is_open, **data(fold=f"thought-{utterance.agent}"))
    return html.Div(fold, className="speech thought", title="Private: only its author could read it")


def _folded(text: str, words: Sequence[str]) -> Part:
    """The text; of a very long one the beginning, the rest behind a fold: a browser needs seconds for 100,000 characters in a box."""
    if len(text) <= _LONG:
        return html.Div(highlighted(text, words), className="text")
    more = html.Details([html.Summary(f"all {len(text)} characters"), html.Div(highlighted(text, words), className="text")])
    return html.Div([html.Div([*highlighted(text[:_LONG], words), " …"], className="text"), more])


def highlighted(text: str, words: Sequence[str]) -> list[Part]:
    """The text with the words marked wherever they stand, in any case."""
    return list(_pieces(text, words)) if words else [text]


def _pieces(text: str, words: Sequence[str]) -> Iterator[Part]:
    place = 0
    for found in re.finditer("|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)), text, re.IGNORECASE):
        yield text[place : found.start()]
        yield html.Mark(found.group())
        place = found.end()
    yield text[place:]
