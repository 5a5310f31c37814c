"""Game: one turn at a time, with the states, what was said and thought, what was tried, and what the judges say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dash import dcc, html

from dashboards.boards import Drawing, drawing_of
from dashboards.figures.palette import mark_of
from dashboards.parts import Part, card, note, number, pager, table
from dashboards.reader import Reader
from judges.evidence.transcript import Transcript, TurnView, read_games
from schemas.text import printable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["IN_MENU", "ORDER", "PATH", "TITLE", "content"]

PATH = "/game"
TITLE = "Game"
IN_MENU = True
ORDER = 90

_ROWS = 100

_LONG = 4_000
"""Characters of a message that are shown unfolded."""


def content(read: Reader) -> Part:
    """The turn that the address names: `?episode=...&turn=...`; without an episode, the list of games."""
    episode_id = read.address.one("episode")
    if not episode_id:
        return _games(read)
    games = read_games(read.connection, [episode_id])
    if episode_id not in games:
        return note(f"The store has no game {printable(episode_id)}.", dcc.Link("Show all games", href=PATH))
    game = games[episode_id]
    if not game.turns:
        error = read.rows("SELECT error FROM episodes WHERE episode_id = $id", {"id": episode_id}).item()
        return note(f"This game has no turns: {printable(error or 'it was not played')}.", dcc.Link("Show all games", href=PATH))
    asked = read.address.number("turn", 0) if read.address.one("turn") else 1
    if not 1 <= asked <= len(game.turns):
        last = len(game.turns)
        return note(f"This game has turns 1 to {last}.", dcc.Link("Show the first", href=_href(game, 1)))
    return _turn_page(read, game, game.turns[asked - 1])


def _games(read: Reader) -> Part:
    start = read.address.number("from", 0)
    rows = read.rows(
        """
        SELECT episode_id, model, condition, task_id, level, turns_taken, score, success, stop_reason, count(*) OVER () AS games
        FROM games WHERE {filters} ORDER BY score DESC NULLS LAST, episode_id LIMIT $rows OFFSET $start
        """,
        {"rows": _ROWS, "start": start},
    )
    if rows.is_empty():
        return note(
            "No games under these filters, or no such page of them.", dcc.Link("Show the first", href=read.address.to(**{"from": None}))
        )
    columns = {
        "task_id": "Task",
        "model": "Model",
        "condition": "Condition",
        "level": "Tier",
        "turns_taken": "Turns",
        "score": "Score",
        "success": "Success",
        "stop_reason": "Ended because",
    }
    listing = table(rows, columns, link=lambda row: f"{PATH}?episode={row['episode_id']}&turn=1")
    place = pager(read.address, start, _ROWS, rows["games"][0], "games")
    return card("Games", listing, place, hint="Best first. Choose one to step through its turns.")


def _turn_page(read: Reader, game: Transcript, turn: TurnView) -> Part:
    draw = drawing_of(game.benchmark)
    facts = read.rows(
        "SELECT turn, outcome, accepted, progress FROM outcomes WHERE episode_id = $id ORDER BY turn",
        {"id": game.episode_id},
    )
    title = f"{game.task_id} · {game.model}"
    return html.Div(
        [
            html.H1(printable(title)),
            html.P(f"turn {turn.turn} of {len(game.turns)}, episode {game.episode_id}", className="lead"),
            _timeline(game, turn, facts),
            _stepper(game, turn),
            html.Div(
                [_said(game, turn), html.Div([_tried(read, game, turn, draw, facts), _verdicts(read, game, turn)])], className="columns"
            ),
            card("State", draw.turn(game, turn)),
            card("Goal and private views", draw.goal(game)),
        ]
    )


def _href(game: Transcript, turn: int) -> str:
    return f"{PATH}?episode={game.episode_id}&turn={turn}"


def _timeline(game: Transcript, turn: TurnView, facts: pl.DataFrame) -> Part:
    ticks = [
        dcc.Link(
            str(row["turn"]),
            href=_href(game, row["turn"]),
            className="tick current" if row["turn"] == turn.turn else "tick",
            style={"background": _tick_color(row)},
            title=f"turn {row['turn']}: {row['outcome'].replace('_', ' ')}, progress {number(row['progress'])}",
        )
        for row in facts.iter_rows(named=True)
    ]
    return html.Div(ticks, className="timeline")


def _tick_color(row: dict[str, Any]) -> str:
    """The outcome's colour; where no candidate was listed, whether the engine refused the action."""
    if row["outcome"] == "no_oracle" and row["accepted"] is not None:
        return mark_of("accepted" if row["accepted"] else "refused").color
    return mark_of(row["outcome"]).color


def _stepper(game: Transcript, turn: TurnView) -> Part:
    steps = [("← previous turn", turn.turn - 1), ("next turn →", turn.turn + 1)]
    return html.Div(
        [dcc.Link(text, href=_href(game, to), className="choice") for text, to in steps if 1 <= to <= len(game.turns)],
        className="stepper",
    )


def _said(game: Transcript, turn: TurnView) -> Part:
    speeches = [
        _speech(game, utterance.agent, utterance.channel, utterance.text, superseded=utterance.superseded) for utterance in turn.utterances
    ]
    return card(
        "Said and thought",
        *(speeches or [html.P("Nobody spoke.", className="hint")]),
        hint="Private reasoning in italics: only its author could read it.",
    )


def _speech(game: Transcript, agent: str, channel: str, text: str, *, superseded: bool) -> Part:
    persona = game.agents[agent].persona if agent in game.agents else None
    marks = [html.Span(channel, className="pill quiet")]
    if persona:
        marks.append(html.Span(printable(persona), className="pill quiet"))
    if superseded:
        marks.append(html.Span("said earlier in this turn", className="pill warn"))
    body = _folded(text or "(empty)", "thought" if channel == "private" else "text")
    return html.Div([html.Div([html.Span(agent, className="who"), " ", *marks]), body], className="speech")


def _folded(text: str, kind: str) -> Part:
    """The text; of a very long one the beginning, the rest behind a fold: a browser needs seconds for 100,000 characters in a box."""
    if len(text) <= _LONG:
        return html.Div(text, className=kind)
    more = html.Details([html.Summary(f"all {len(text)} characters"), html.Div(text, className=kind)])
    return html.Div([html.Div(text[:_LONG] + " …", className=kind), more])


def _tried(read: Reader, game: Transcript, turn: TurnView, draw: Drawing, facts: pl.DataFrame) -> Part:
    here = facts.row(by_predicate=_is_turn(turn.turn), named=True)
    outcome = here["outcome"]
    parts: list[Part] = [
        html.P(
            [
                html.Span(outcome.replace("_", " "), className="pill good" if outcome == "followed" else "pill warn"),
                f"progress after this turn {number(here['progress'])}",
            ]
        )
    ]
    if turn.error:
        parts.append(html.P(f"The turn broke off: {printable(turn.error)}"))
    for action in turn.actions:
        answer = {True: "accepted", False: f"refused: {action.error_text}", None: ""}[action.accepted]
        kind = "pill good" if action.accepted else "pill bad"
        parts.append(
            html.P(
                [
                    html.B(f"{action.agent}: "),
                    draw.action(action.verb, action.arguments),
                    " ",
                    html.Span(answer, className=kind) if answer else None,
                ]
            )
        )
    parts.append(html.H3("Verified actions" if turn.oracle else "No verified action on this turn"))
    parts.append(
        html.Ul([html.Li(draw.action(found.verb, found.arguments) + ("" if found.listed else " (not listed)")) for found in turn.oracle])
    )
    rules = read.rows(
        "SELECT agent, taxonomy, category, evidence FROM failures WHERE episode_id = $id AND turn = $turn "
        "ORDER BY taxonomy, agent, category",
        {"id": game.episode_id, "turn": turn.turn},
    )
    if not rules.is_empty():
        parts.append(table(rules, {"agent": "About", "taxonomy": "Taxonomy", "category": "Category by rule", "evidence": "Evidence"}))
    return card("Tried", *parts)


def _is_turn(turn: int) -> Any:
    import polars as pl

    return pl.col("turn") == turn


def _verdicts(read: Reader, game: Transcript, turn: TurnView) -> Part:
    rows = read.rows(
        "SELECT agent, question, judge, answer, status, reason FROM verdicts_latest WHERE episode_id = $id AND turn = $turn "
        "ORDER BY rubric, question, agent, judge, repeat",
        {"id": game.episode_id, "turn": turn.turn},
    )
    if rows.is_empty():
        return card(
            "Verdicts",
            html.P("No judge has looked at this turn yet:", className="hint"),
            html.Pre("cotrace rubric list\ncotrace judge --rubric NAME --judge engine"),
        )
    return card("Verdicts", _verdict_table(rows), hint="Undecided: the judge could not tell. Failed: no usable reply came.")


def _verdict_table(rows: pl.DataFrame) -> Part:
    columns: Sequence[tuple[str, str]] = (
        ("question", "Question"),
        ("agent", "About"),
        ("judge", "Judge"),
        ("answer", "Answer"),
        ("reason", "Reason"),
    )
    import polars as pl

    shown = rows.with_columns(answer=pl.coalesce(pl.col("answer"), pl.col("status")), agent=pl.col("agent").fill_null("group"))
    return table(shown, dict(columns))
