"""What agents wrote in a turn, what they were asked, and people's notes on it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

import dash
from dash import ALL, Dash, Input, Output, State, dcc

from dashboards.address import GAME, Address
from dashboards.parts import Part, aria, data, html
from dashboards.requests import checked, saved, taken_back
from ingest.labels.load import LONGEST_NAME, LONGEST_NOTE, add_note, remove_note
from judges.evidence.transcript import Transcript, TurnView, UtteranceView
from schemas.common.text import printable
from schemas.common.wording import count, in_words

if TYPE_CHECKING:
    from schemas.store.store import Store

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
        [html.H2("Said and thought"), *(speeches or [html.P("No agent spoke.", className="hint")])], className="card said", tabIndex=0
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
    return html.Div([html.Div([html.Span(who, className="who"), *marks]), folded(utterance.text or "(empty)", words)], className="speech")


def _thought(utterance: UtteranceView, who: Part, words: Sequence[str], *, is_open: bool) -> Part:
    text = utterance.text or "(empty)"
    gist = printable(" ".join(text[: 2 * _GIST].split())[:_GIST])
    is_open = is_open or any(word.lower() in text.lower() for word in words)
    summary = html.Summary([html.Span(who, className="who"), html.Span(" thinks ", className="channel"), html.Span(gist, className="gist")])
    fold = html.Details([summary, folded(text, words)], open=is_open, **data(fold=f"thought-{utterance.agent}"))
    return html.Div(fold, className="speech thought", title="Private: only its author could read it")


def folded(text: str, words: Sequence[str]) -> Part:
    """The text, words marked; of a very long one the beginning, the rest behind a fold: a browser needs seconds for 100,000 characters."""
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


def words_of(asked: str) -> list[str]:
    """The words and quoted phrases of what was asked for, in small letters."""
    try:
        found = shlex.split(asked.lower())
    except ValueError:  # a quote that does not end
        found = asked.lower().split()
    return [word for word in dict.fromkeys(found) if word.strip()]


_REMOVE = "note-remove"


def notes_on(notes: Sequence[Mapping[str, Any]]) -> list[Part]:
    """The notes of a turn, each with a button that takes it back, and a folded form."""
    title = f"Notes: {count(len(notes))}" if notes else "Notes"
    form = html.Details(
        [
            html.Summary("write a note", **data(key="c")),
            html.Label(
                [
                    html.Span("Note", className="unseen"),
                    dcc.Textarea(id="note-text", maxLength=LONGEST_NOTE, placeholder="what should others see here?", rows=3),
                ]
            ),
            html.Div(
                [
                    html.Label(
                        [
                            html.Span("Your name", className="unseen"),
                            dcc.Input(
                                id="note-author",
                                type="text",
                                maxLength=LONGEST_NAME,
                                placeholder="your name",
                                persistence="cotrace",
                                persistence_type="local",
                            ),
                        ]
                    ),
                    html.Button("Save note", id="note-save", className="choice chosen", **data(writes="")),
                ],
                className="note-line",
            ),
            html.P(id="note-problem", className="hint", role="status"),
        ],
        className="note-form",
        **data(fold="note"),
    )
    return [
        html.Div([html.H3(title), html.A("all notes", href="/notes")], className="note-head"),
        html.Ul([_line(row, is_mine=True) for row in notes], className="plain notes") if notes else None,
        form,
    ]


def note_lines(notes: Sequence[Mapping[str, Any]]) -> Part:
    """Notes in a list of turns."""
    return html.Ul([_line(row, is_mine=False) for row in notes], className="plain notes") if notes else None


def _line(row: Mapping[str, Any], *, is_mine: bool) -> Part:
    button = html.Button(
        "×", id={"type": _REMOVE, "note": row["note_id"]}, className="quiet", **data(writes=""), **aria(label="delete this note")
    )
    head = [html.B(printable(row["author"])), html.Span(f" {row['written_at']:%Y-%m-%d %H:%M}", className="source")]
    return html.Li([html.Div([html.Span(head), button if is_mine else None]), html.Div(row["note"], className="text")])


def register_notes(app: Dash, store: Store) -> None:
    """Make the form and the buttons work."""

    @app.callback(
        Output("redraw", "data", allow_duplicate=True),
        Output("note-problem", "children"),
        Input("note-save", "n_clicks"),
        State("note-text", "value"),
        State("note-author", "value"),
        State("address", "search"),
        prevent_initial_call=True,
    )
    @checked
    def save(clicks: int | None, text: str | None, author: str | None, search: str | None) -> tuple[Any, str]:
        if not clicks:
            return dash.no_update, ""
        address = Address.parse(GAME, search)
        episode, turn = address.one("episode"), address.number("turn", 1)
        problem = saved(lambda: add_note(store, episode, turn, author=author or "", text=text or ""))
        return dash.no_update if problem else token_hex(4), problem

    @app.callback(
        Output("redraw", "data", allow_duplicate=True),
        Output("note-problem", "children", allow_duplicate=True),
        Input({"type": _REMOVE, "note": ALL}, "n_clicks"),
        prevent_initial_call=True,
    )
    @checked
    def remove(clicks: list[int | None]) -> tuple[Any, str]:
        place = dash.ctx.triggered_id
        if not any(clicks) or not isinstance(place, dict) or not isinstance(note := place.get("note"), str):
            return dash.no_update, ""
        problem = taken_back(lambda: remove_note(store, note))
        return dash.no_update if problem else token_hex(4), problem
