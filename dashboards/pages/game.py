"""A game, turn by turn: messages, state, what happened."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from analytics.losses.lost import amount, of_unit
from dashboards.address import FILTERS, GAME, Address, game_at
from dashboards.boards import about, drawing_of
from dashboards.figures import OTHER, SERIES
from dashboards.filters import thing_of
from dashboards.grid import Grid, GridColumn, TableRows, grid, table_links
from dashboards.parts import Later, Part, aria, card, data, html, note, svg
from dashboards.playback.conversation import conversation, part_of_conversation
from dashboards.playback.facts import GameFacts, cost_in_words, facts_of, legend, timeline
from dashboards.playback.messages import register_notes, said_column, words_of
from dashboards.playback.turn_outcome import objections_of, outcome_column, tried
from dashboards.reader import Reader
from judges.evidence.transcript import Transcript, TurnView
from schemas.common.text import printable
from schemas.common.wording import NOTHING, in_words, score
from schemas.families import module, title_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dash import Dash

    from schemas.store.store import Store

_CURVE = """
    SELECT turn, sum(greatest(cost, 0)) OVER (ORDER BY turn) AS lost_so_far, unit FROM turn_costs
    WHERE episode_id = $episode AND isfinite(cost) ORDER BY turn
    """
_WIDTH, _HEIGHT = 300, 90
_DECISIVE = "SELECT unnest(equal_turns) FROM decisive_turns WHERE episode_id = $episode"


def loss_curve(read: Reader, episode: str, turn: int) -> Part:
    """What the game had lost up to each turn, with the turn that is shown and the decisive one marked; None where nothing was lost."""
    rows = read.rows(_CURVE, {"episode": episode})
    if rows.is_empty() or not rows["lost_so_far"][-1]:
        return None
    decisive = {found for (found,) in read.rows(_DECISIVE, {"episode": episode}).rows()}
    return html.Details(
        [html.Summary("When it was lost"), _steps(rows["turn"].to_list(), rows["lost_so_far"].to_list(), rows["unit"][0], turn, decisive)],
        className="loss-curve",
    )


def _steps(turns: Sequence[int], lost: Sequence[float], unit: str, shown: int, decisive: Collection[int]) -> Part:
    """Stairs, one a turn; what is in the column of a turn is marked."""
    across, up = _WIDTH / len(turns), _HEIGHT / lost[-1]
    tops = [_HEIGHT - value * up for value in lost]
    points = [f"{place * across:.1f},{top:.1f} {(place + 1) * across:.1f},{top:.1f}" for place, top in enumerate(tops)]
    marks = [
        svg("rect", x=place * across, y=0, width=across, height=_HEIGHT, fill=color, opacity=0.35)
        for place, number in enumerate(turns)
        for color, is_marked in ((SERIES[1], number in decisive), (OTHER, number == shown))
        if is_marked
    ]
    said = f"{of_unit(amount(lost[-1], unit), unit)} were lost over {len(turns)} turns; marked: the turn shown, and the decisive one"
    line = svg("polyline", points=f"0,{_HEIGHT} {' '.join(points)}", fill="none", stroke=SERIES[0], stroke_width=2)
    box = f"0 0 {_WIDTH} {_HEIGHT + 4}"
    drawn: Part = svg("svg", *marks, line, viewBox=box, role="img", aria_label=said, width="100%")
    return html.Div([drawn, html.P(f"{said}.", className="hint")])


PATH = GAME
TITLE = "Games"
IN_MENU = True
ORDER = 90

_HASH: Final = 32
_HASH_SHOWN: Final = 10
_DIGIT: Final = re.compile(r"\d")
"""Characters from which on a name of one word is a hash, and how many of it are shown."""

_GAMES: Final = """
    SELECT games.task_id, games.model, games.condition, games.level, games.turns_taken, games.score, games.success, games.stop_reason,
        games.episode_id, games.benchmark, decisive, notes
    FROM games LEFT JOIN (SELECT episode_id, turn AS decisive FROM decisive_turns) AS decided USING (episode_id)
    LEFT JOIN (SELECT episode_id, count(*) AS notes FROM notes GROUP BY ALL) AS noted USING (episode_id)
    WHERE {filters} ORDER BY games.benchmark, games.score DESC NULLS LAST, games.episode_id
"""


def filters_of(address: Address) -> Sequence[str]:
    """The list of games can be narrowed; a game is what it is."""
    return () if address.one("episode") else FILTERS


def title(read: Reader) -> str:
    """The tab: the turn first."""
    episode_id = read.address.one("episode")
    found = read.rows("SELECT task_id, model FROM episodes WHERE episode_id = $id", {"id": episode_id}).rows() if episode_id else []
    return f"{read.address.number('turn', 1)} · {printable(found[0][0])} · {printable(found[0][1])}" if found else TITLE


def content(read: Reader) -> Part:
    """The turn that the address names: `?episode=...&turn=...`; without an episode, the list of games."""
    episode_id = read.address.one("episode")
    if not episode_id:
        return _games(read)
    game = read.game(episode_id)
    if game is None:
        return note(f"The store has no game {printable(episode_id)}.", html.A("Show all games", href=PATH))
    if not game.turns:
        error = read.rows("SELECT error FROM episodes WHERE episode_id = $id", {"id": episode_id}).item()
        return note(f"This game has no turns: {printable(error or 'it was not played')}.", html.A("Show all games", href=PATH))
    asked = read.address.number("turn", 0) if read.address.one("turn") else 1
    if not 1 <= asked <= len(game.turns):
        return note(f"This game has turns 1 to {len(game.turns)}.", html.A("Show the first", href=_href(read, 1)))
    if is_conversation(game) and not read.address.one("view"):
        return _conversation(read, game)
    return _stage(read, game, game.turns[asked - 1])


def is_conversation(game: Transcript) -> bool:
    """Whether it is read as one text: no board draws it, and it has no states."""
    has_messages = any(turn.utterances for turn in game.turns)
    has_states = any(turn.state_before or turn.state_after for turn in game.turns)
    return has_messages and not has_states and module(game.benchmark, "dashboards", "board") is None


def _conversation(read: Reader, game: Transcript) -> Part:
    facts = facts_of(read, game.episode_id)
    row = read.rows("SELECT condition, level, success FROM games WHERE episode_id = $id", {"id": game.episode_id})
    names = _names(game, row["level"][0] if len(row) else None)
    stages = html.A("one turn at a time", href=read.address.to(view="turn"), className="choice", title="With costs and notes")
    keys = html.Span("keys: j next, k before, n next mark, p mark before, f find", className="hint keys")
    copy = html.Button("copy link", className="choice", type="button", **data(copy=""))
    head = html.Div(
        [
            html.Div([html.H1(" · ".join(names), title=game.episode_id)], className="stage-title"),
            html.Div(_verdict_on_game(read, facts, row["success"][0] if len(row) else None), className="stage-verdict"),
            html.Div([_find(read, game.turns[read.address.number("turn", 1) - 1]), stages, copy, keys], className="stage-tools"),
        ],
        className="stage-head",
    )
    return html.Div([head, conversation(read, game, facts, _PART)], className="talk-page")


def _part(read: Reader, part: str) -> Part:
    game = read.game(read.address.one("episode") or "")
    return None if game is None else part_of_conversation(read, game, facts_of(read, game.episode_id), part)


_PART: Final = Later("game-part", _part, 16_000)
LATER = (_PART,)


def _games(read: Reader) -> Part:
    benchmarks = read.rows("SELECT DISTINCT benchmark FROM games WHERE {filters}")["benchmark"].to_list()
    if not benchmarks:
        return note("No games under these filters.", html.A("Show all games", href=PATH))
    order = "Best first." if len(benchmarks) == 1 else "Family by family, the best first: scores of two families have no common unit."
    things = f"{thing_of(benchmarks)}s".capitalize()
    listing = card(
        things, grid(read, GAMES, fills=True), hint=f"{order} Choose one to step through its turns.", menu=table_links(read, GAMES)
    )
    return html.Div([html.H1(things), listing])


def _rows(read: Reader, _: str) -> TableRows:
    has_notes = not read.rows("SELECT 1 FROM notes LIMIT 1").is_empty()
    noted = {"notes": GridColumn(heading="Notes", kind="count")} if has_notes else {}
    apart = {} if read.address.all("benchmark") else {"benchmark": GridColumn(heading="Family", kind="family")}
    return TableRows(
        sql=_GAMES,
        columns={
            "task_id": GridColumn(heading="Task", kind="name"),
            **apart,
            "model": GridColumn(heading="Team", kind="team"),
            "condition": GridColumn(heading="Condition", kind="condition"),
            "level": GridColumn(heading="Tier"),
            "turns_taken": GridColumn(heading="Turns", kind="count"),
            "score": GridColumn(heading="Score", kind="score"),
            "success": GridColumn(heading="Won", kind="truth", hint="reached the goal"),
            "decisive": GridColumn(heading="Decisive turn", kind="count"),
            "stop_reason": GridColumn(heading="Ended because", kind="name"),
            **noted,
        },
        link=lambda row: game_at(row["episode_id"], 1),
    )


def _stage(read: Reader, game: Transcript, turn: TurnView) -> Part:
    facts = facts_of(read, game.episode_id)
    draw = drawing_of(game.benchmark)
    objections, verdicts = objections_of(read, game.episode_id, turn.turn)
    words = words_of(read.address.one("find"))
    said = said_column(game, turn, objections, words)
    goal = draw.goal(game)
    losses = [loss_curve(read, game.episode_id, turn.turn)]
    known = about(game)
    state = html.Section(
        [
            html.P(known, className="about") if known else None,
            html.H2(["Turn ", html.Span(str(turn.turn), className="turn-number"), f" of {len(game.turns)}"]),
            tried(turn, facts.at(turn.turn), draw) if facts.acts or turn.error else None,
            draw.turn(game, turn),
            html.Div(goal, className="goal") if goal else None,
        ],
        className="card state",
        tabIndex=0,
    )
    return html.Div(
        [
            _head(read, game, facts, turn),
            timeline(facts, turn.turn, lambda number: _href(read, number), _found(game, words)),
            html.Div([said, state, outcome_column(turn, facts, draw, verdicts, losses)], className=_columns(game)),
        ],
        className="stage",
    )


def _columns(game: Transcript) -> str:
    """A game without a word leaves the room to its boards, a conversation without boards to what was said."""
    if not any(turn.utterances for turn in game.turns):
        return "stage-columns silent"
    is_talk = not any(turn.state_before or turn.state_after for turn in game.turns)
    return "stage-columns talk" if is_talk else "stage-columns"


def _found(game: Transcript, words: Sequence[str]) -> set[int]:
    """Turns on which every word stands in something that was said or thought."""
    if not words:
        return set()
    texts = {turn.turn: "\n".join(u.text for u in turn.utterances).lower() for turn in game.turns}
    return {turn for turn, text in texts.items() if all(word.lower() in text for word in words)}


def _href(read: Reader, turn: int) -> str:
    return Address(PATH, {key: read.address.all(key) for key in ("episode", "find", "view") if read.address.all(key)}).to(turn=turn)


def _head(read: Reader, game: Transcript, facts: GameFacts, turn: TurnView) -> Part:
    row = read.rows("SELECT condition, level, score, success FROM games WHERE episode_id = $id", {"id": game.episode_id})
    condition = read.condition_in_words(row["condition"][0]) if len(row) else NOTHING
    level = row["level"][0] if len(row) else None
    names = _names(game, level)
    said = html.Span(condition, className="condition", title=game.episode_id) if condition not in names else None
    return html.Div(
        [
            html.Div([html.H1(" · ".join(names), title=game.episode_id), said], className="stage-title"),
            html.Div(_verdict_on_game(read, facts, row["success"][0] if len(row) else None), className="stage-verdict"),
            _tools(read, game, facts, turn),
        ],
        className="stage-head",
    )


def _names(game: Transcript, level: str | None) -> list[str]:
    """Task and team; before a task that is a bare number or a hash, what it is a task of."""
    task = _task(game.task_id)
    tells = any(map(str.isalpha, task)) and not task.endswith("…")
    kind = f"{title_of(game.benchmark)}{f', {printable(level)}' if level else ''}"
    return [*([] if tells else [kind]), task, *([] if game.model == "unknown" else [printable(game.model)])]


def _task(task_id: str) -> str:
    """A name in words; a number stays as it is; of a hash, what tells it from others."""
    name = printable(in_words(task_id) if any(map(str.isalpha, task_id)) else task_id)
    return f"{name[:_HASH_SHOWN]}…" if len(name) >= _HASH and name.replace("-", "").isalnum() and _DIGIT.search(name) else name


def _verdict_on_game(read: Reader, facts: GameFacts, success: bool | None) -> list[Part]:  # noqa: FBT001 - a value of the store
    unknown = "its end is not known" if facts.score is None else f"ended with a score of {score(facts.score)}"
    ended = {True: "reached the goal", False: "did not reach the goal", None: unknown}[success]
    decisive = facts.decisive
    if decisive is None and facts.blamed:
        agent, turn = facts.blamed[0]
        return [f"{ended}; by people's labels {printable(agent)}'s mistake: ", html.A(f"turn {turn}", href=_href(read, turn))]
    if decisive is None:
        return [ended]
    link = html.A(f"turn {decisive.turn}", href=_href(read, decisive.turn))
    if decisive.lost_in_game == float("inf"):
        return [f"{ended}; lost at ", link]
    return [f"{ended}; lost {cost_in_words(decisive.lost_in_game, decisive.unit)}; decisive: ", link]


def _tools(read: Reader, game: Transcript, facts: GameFacts, turn: TurnView) -> Part:
    ways = [
        ("←", "turn before", "ArrowLeft", turn.turn - 1 or None),
        ("→", "turn after", "ArrowRight", turn.turn + 1 if turn.turn < len(game.turns) else None),
        ("⇤ failure", "failure before", "p", facts.failure_before(turn.turn)),
        ("failure ⇥", "next failure", "n", facts.failure_after(turn.turn)),
    ]
    steps = [_step(read, *way) for way in ways]
    play = html.Button("play", className="choice play", type="button", title="Step through the game", **data(play=""))
    copy = html.Button("copy link", className="choice", type="button", **data(copy=""))
    return html.Div([*steps, play, _find(read, turn), copy, legend(facts)], className="stage-tools")


def _step(read: Reader, text: str, label: str, key: str, turn: int | None) -> Part:
    if turn is None:
        return html.Span(text, className="choice off", **aria(hidden="true"))
    return html.A(text, href=_href(read, turn), className="choice", title=f"{label} ({key})", **data(key=key), **aria(label=label))


def _find(read: Reader, turn: TurnView) -> Part:
    """A plain form: what is looked for in this game stands in the address."""
    hidden: list[Part] = [svg("input", type="hidden", name=name, value=value) for name, value in _here(read, turn).items()]
    words: Part = svg("input", type="search", name="find", value=read.address.one("find"), placeholder="find a message", data_focus="f")
    return html.Form(
        [*hidden, html.Label([html.Span("Find a message", className="unseen"), words])], action=PATH, className="find", role="search"
    )


def _here(read: Reader, turn: TurnView) -> dict[str, str]:
    return {"episode": read.address.one("episode"), "turn": str(turn.turn)}


def register(app: Dash, store: Store, _: Sequence[Path]) -> None:
    """Make the notes work."""
    register_notes(app, store)


GAMES: Final = Grid("games", _rows, "Games")
TABLES = (GAMES,)
