"""Two games side by side, stepping together, with the first turn on which they part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from dashboards.address import game_at
from dashboards.boards import drawing_of
from dashboards.parts import Part, aria, data, note
from dashboards.playback.facts import facts_of
from dashboards.playback.happened import tried, what_went_wrong
from dashboards.playback.timeline import timeline
from judges.evidence.transcript import Transcript, read_games
from schemas.text import printable
from schemas.wording import in_words

if TYPE_CHECKING:
    from dashboards.reader import Reader

__all__ = ["first_divergence", "side_by_side"]


def side_by_side(read: Reader) -> Part:
    """`?left=...&right=...&turn=...`; without a turn, the one on which the games part."""
    address = read.address
    ids = [address.one("left"), address.one("right")]
    games = read_games(read.connection, ids)
    if not all(found in games and games[found].turns for found in ids):
        return note("The store has not both of these games, or one has no turns.", html.A("Compare teams", href=address.path))
    left, right = (games[found] for found in ids)
    parting = first_divergence(left, right)
    last = max(len(left.turns), len(right.turns))
    turn = min(max(address.number("turn", parting or 1), 1), last)
    said = f"They part on turn {parting}." if parting else "They do the same on every turn."
    steps = [_step(read, *way) for way in (("←", "ArrowLeft", turn - 1, last), ("→", "ArrowRight", turn + 1, last))]
    jump = html.A(f"turn {parting}, where they part", href=address.to(turn=parting), className="choice") if parting else None
    return html.Div(
        [
            html.Div(
                [
                    html.H1(f"{printable(in_words(left.task_id))}: turn {turn} of {last}"),
                    html.Span(said, className="stage-verdict"),
                    html.Div([*steps, jump], className="stage-tools"),
                ],
                className="stage-head",
            ),
            html.Div([_game(read, left, turn), _game(read, right, turn)], className="pair"),
        ],
        className="stage free",
    )


def first_divergence(left: Transcript, right: Transcript) -> int | None:
    """The first turn on which what was tried or the state after it differs, or one game is over; None if there is none."""
    for ours, theirs in zip(left.turns, right.turns, strict=False):
        tried_ = [[(action.agent, action.verb, action.arguments) for action in turn.actions] for turn in (ours, theirs)]
        if tried_[0] != tried_[1] or ours.state_after != theirs.state_after:
            return ours.turn
    shorter = min(len(left.turns), len(right.turns))
    return shorter + 1 if len(left.turns) != len(right.turns) else None


def _step(read: Reader, text: str, key: str, turn: int, last: int) -> Part:
    if not 1 <= turn <= last:
        return html.Span(text, className="choice off", **aria(hidden="true"))
    label = f"turn {turn}"
    return html.A(text, href=read.address.to(turn=turn), className="choice", title=f"{label} ({key})", **data(key=key), **aria(label=label))


def _game(read: Reader, game: Transcript, turn: int) -> Part:
    facts = facts_of(read, game.episode_id)
    head = html.H2(html.A(printable(game.model), href=game_at(game.episode_id, min(turn, len(game.turns)))))
    line = timeline(facts, turn, lambda number: read.address.to(turn=number))
    if turn > len(game.turns):
        return html.Section([head, line, html.P("This game was over.", className="hint")], className="card")
    shown = game.turn(turn)
    draw = drawing_of(game.benchmark)
    said = [html.Div([html.B(printable(u.agent)), " ", html.Span(u.text, className="text")], className="speech") for u in shown.received()]
    return html.Section(
        [head, line, tried(shown, facts.at(turn), draw), html.P(what_went_wrong(shown, facts, draw)), draw.turn(game, shown), *said],
        className="card",
    )
