"""Turns: the turns behind a bar, with what was said, tried and possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dashboards.address import game_at
from dashboards.boards import drawing_of
from dashboards.parts import Part, card, html, note, pager
from dashboards.playback.messages import note_lines
from dashboards.reader import Reader
from judges.evidence.transcript import Transcript, TurnView, read_games
from schemas.common.text import printable
from schemas.common.wording import counted, in_words
from schemas.families import family

if TYPE_CHECKING:
    import polars as pl


PATH = "/turns"
TITLE = "Turns"
IN_MENU = False
ORDER = 70

_TONES = {"followed": "good", "refused": "bad", "no_oracle": "quiet", "no_move": "quiet"}
_ONLY: Final = {"removed": "removals", "spiral": "inside correction spirals", "failure": "with a failure", "lost": "with attributed regret"}
"""What `?only=` asks for -> its words."""
_SHOWN = 6
"""Turns a page: what two screens hold."""
_MATCHING = """
FROM outcomes ANTI JOIN repeated_episodes USING (episode_id)
WHERE {filters}
    AND ($outcome = '' OR outcome = $outcome)
    AND ($turn = 0 OR turn = $turn)
    AND ($category = '' OR (episode_id, turn) IN (
        SELECT (episode_id, turn) FROM failures WHERE taxonomy = $taxonomy AND category = $category))
    AND ($kind = '' OR (episode_id, turn) IN (
        SELECT (episode_id, turn) FROM failure_turns INNER JOIN failure_map USING (taxonomy, category)
        WHERE counted AND $kind IN (common, common_before)))
    AND ($only <> 'removed' OR (episode_id, turn) IN (SELECT (episode_id, turn) FROM actions WHERE undoes))
    AND ($only <> 'spiral' OR (episode_id, turn) IN (
        SELECT (episode_id, unnest(range(start_turn, end_turn + 1))) FROM correction_spirals))
    AND ($only <> 'failure' OR (episode_id, turn) IN (SELECT (episode_id, turn) FROM shown_failures WHERE wrong))
    AND ($only <> 'lost' OR (episode_id, turn) IN (
        SELECT (episode_id, turn) FROM attributed_costs
        WHERE cost > 0 AND ($agent = '' OR agent = $agent) AND ($link = '' OR link = $link)
            AND ($step = '' OR link IN (SELECT link FROM failure_steps WHERE step = $step))))
"""
_COUNT = f"SELECT count(*) AS turns {_MATCHING}"
_PAGE = f"""
SELECT episode_id, turn, model, condition, task_id, outcome, accepted
{_MATCHING}
ORDER BY CASE WHEN outcome = 'not_followed' THEN 0 WHEN NOT accepted THEN 1 WHEN outcome = 'no_move' THEN 3 ELSE 2 END,
    model, task_id, episode_id, turn
LIMIT {_SHOWN} OFFSET $start
"""


def content(read: Reader) -> Part:
    """The turns that the address asks for: by outcome, by category of a taxonomy or kind of failure, by turn number, by `?only=`."""
    address = read.address
    asked = {
        "outcome": address.one("outcome"),
        "category": address.one("category"),
        "taxonomy": address.one("taxonomy", "craft_published"),
        "kind": address.one("kind"),
        "turn": address.number("turn", 0),
        "only": address.one("only") if address.one("only") in _ONLY else "",
        "agent": address.one("agent"),
        "step": address.one("step"),
        "link": address.one("link"),
    }
    found = read.rows(_COUNT, asked)["turns"].item()
    named = [
        str(value).replace("_", " ")
        for key, value in asked.items()
        if value and key in {"outcome", "category", "kind", "agent", "step", "link"}
    ]
    named = [*([_ONLY[str(asked["only"])]] if asked["only"] else []), *named, *([f"turn {asked['turn']}"] if asked["turn"] else [])]
    title = f"Turns: {', '.join(named)}" if named else "Turns"
    if not found:
        return note("No turn fits this address.", html.A("Back to the failure breakdown", href=address.filters().to("/failures")))
    start = min(address.number("from", 0), found - 1)
    shown = read.rows(_PAGE, {**asked, "start": start})
    games = read_games(read.connection, shown["episode_id"].unique().to_list())
    notes = read.rows("SELECT * FROM turn_notes ORDER BY written_at, note_id").partition_by("episode_id", "turn", as_dict=True)
    cards = [_turn_card(read, games[row["episode_id"]], row, notes.get((row["episode_id"], row["turn"]))) for row in shown.to_dicts()]
    steps = pager(address, start, _SHOWN, found, "turns") if found > _SHOWN else None
    order = ": those that failed first, those without an action last" if not named else ""
    lead = html.P(f"{counted(found, 'turn')}{order}", className="lead")
    return html.Div([html.H1(printable(title)), lead, steps, *cards, steps if len(shown) == _SHOWN else None])


def _turn_card(read: Reader, played: Transcript, row: dict[str, Any], notes: pl.DataFrame | None) -> Part:
    turn = played.turn(row["turn"])
    draw = drawing_of(played.benchmark)
    said = [
        html.Div([html.Span(f"{u.agent}: ", className="who"), html.Span(u.text, className="text")], className="speech")
        for u in turn.by_channel("public")
    ]
    tried = [draw.action(action.verb, action.arguments) + _answer(action.accepted, action.error_text) for action in turn.actions]
    possible = [draw.action(found.verb, found.arguments) for found in turn.oracle if found.listed]
    head = html.A(
        f"{printable(in_words(played.task_id))} · {read.team_in_words(row['model'], row['condition'])} · turn {turn.turn}",
        href=game_at(played.episode_id, turn.turn),
    )
    return card(
        "",
        html.H2(
            [
                head,
                " ",
                _pill(played, turn, "refused" if row["accepted"] is False else row["outcome"]),
            ],
            className="turn-head",
        ),
        *said,
        _listed("Tried", tried),
        _listed("Verified actions listed", possible),
        note_lines(list(notes.iter_rows(named=True))) if notes is not None else None,
    )


def _pill(played: Transcript, turn: TurnView, outcome: str) -> Part:
    """What became of the turn; of a log without actions, who speaks."""
    if outcome == "no_move" and family(played.benchmark) is None:
        roles = {found.role for utterance in turn.utterances if (found := played.agents.get(utterance.agent)) is not None and found.role}
        return html.Span(f"message of {printable(', '.join(sorted(roles)))}" if roles else "message", className="pill quiet")
    return html.Span(in_words(outcome), className=f"pill {_TONES.get(outcome, 'warn')}")


def _answer(accepted: bool | None, error: str | None) -> str:  # noqa: FBT001 - the three answers of an engine
    if accepted is None:
        return ""
    return " (accepted)" if accepted else f" (refused: {error})"


def _listed(title: str, entries: list[str]) -> Part | None:
    return html.Div([html.H3(title), html.Ul([html.Li(entry) for entry in entries], className="plain")]) if entries else None
