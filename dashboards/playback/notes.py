"""Notes on a turn: what people wrote about it, and the form to write another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import dash
from dash import ALL, Dash, Input, Output, State, dcc, html

from dashboards.address import GAME, Address
from dashboards.parts import Part, aria, data
from dashboards.requests import checked, saved, taken_back
from ingest.labels.load import LONGEST_NAME, LONGEST_NOTE, add_note, remove_note
from schemas.text import printable
from schemas.wording import count

if TYPE_CHECKING:
    from schemas.store import Store

__all__ = ["note_lines", "notes_on", "register_notes"]

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
        "×", id={"type": _REMOVE, "note": row["note_id"]}, className="quiet", **data(writes=""), **aria(label="take this note back")
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
