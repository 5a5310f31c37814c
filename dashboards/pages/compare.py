"""Compare: two sides of the same tasks, their paired difference, and two games side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from analytics.comparison.compare import compare
from analytics.comparison.game_values import game_values
from dashboards.address import game_at
from dashboards.boards import drawing_of
from dashboards.figures import Looks, look, plain, short, styled
from dashboards.filters import benchmark_choices, shown_benchmark
from dashboards.grid import Grid, GridColumn, Kind, TableRows, few, fold, grid
from dashboards.parts import Later, Part, aria, card, data, figure, html, link_choices, note
from dashboards.playback.facts import facts_of, timeline
from dashboards.playback.turn_outcome import tried, what_went_wrong
from dashboards.reader import UNKNOWN, Reader, kept, looks_of_teams, names_of_teams
from judges.evidence.transcript import Transcript, read_games
from schemas.common.text import printable
from schemas.common.wording import count, in_words, number, score
from schemas.families import can_spiral

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl


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


PATH = "/compare"
TITLE = "Compare"
IN_MENU = True
ORDER = 55
FILTERS: Final = ("benchmark",)

_METRICS: Final[Mapping[str, str]] = {
    "score": "score",
    "turns": "turns",
    "spirals": "spirals",
    "turns_wasted": "turns wasted",
    "messages": "messages",
}
_OF_SPIRALS: Final = ("spirals", "turns_wasted")
_SIDES: Final = ("team", "condition", "max_turns")
_MOST_TASKS: Final = 8
"""Of the figure: with the table of all tasks and that of all pairs it stays below two screens."""
_COMPARED: Final = """
    SELECT benchmark FROM (SELECT DISTINCT benchmark, team_name, condition, max_turns FROM compared_games WHERE ending = 'ended')
    GROUP BY benchmark HAVING count(*) > 1
    """
_WRITERS: Final[Mapping[Kind, Callable[[float | None], str]]] = {"score": score, "number": number}


def content(read: Reader) -> Part:
    """The pairs of teams, `?metric=&pair=`, or two games, `?left=&right=&turn=`."""
    address = read.address
    if address.one("left") and address.one("right"):
        return side_by_side(read)
    names = read.rows(_COMPARED, filter_on=())["benchmark"].to_list()
    if not names:
        return html.Div([html.H1(TITLE), note("There is nothing to compare: it takes two teams, or experiments, of one family.")])
    benchmark = shown_benchmark(read, names)
    if benchmark is None:
        return html.Div([html.H1(TITLE), note("There is nothing to compare under these filters.", html.A("Show all families", href=PATH))])
    metric = _metric(read)
    metrics = {name: text for name, text in _METRICS.items() if can_spiral(benchmark) or name not in _OF_SPIRALS}
    choices = [
        *benchmark_choices(read, names, benchmark, "pair"),
        link_choices("By", [(text, address.to(metric=name, pair=None), name == metric) for name, text in metrics.items()]),
    ]
    return html.Div([html.H1(TITLE), html.Div(choices), _PAIR(read, benchmark)])


def _body(read: Reader, benchmark: str) -> Part:
    if _report(read, benchmark).is_empty():
        return note(f"No two of this family can be compared by {_METRICS[_metric(read)]}.")
    return html.Div(
        [
            _pair_card(read, _pair(read, benchmark), benchmark),
            card(
                "All pairs",
                grid(read, PAIRS, benchmark),
                few(_report(read, benchmark), "compare"),
                hint="Shared tasks first, the largest difference first. Choose one to see it above.",
            ),
        ]
    )


def _metric(read: Reader) -> str:
    return read.address.one("metric") if read.address.one("metric") in _METRICS else "score"


def _kind(read: Reader) -> Kind:
    """How values of the metric are written."""
    return "score" if _metric(read) == "score" else "number"


def _report(read: Reader, benchmark: str) -> pl.DataFrame:
    """Every pair of the family, with a number that names it in addresses."""
    metric = _metric(read)
    return kept(
        read.store.path,
        ("compare", metric, benchmark),
        lambda: _named(read, compare(read.store, metric=metric, benchmark=benchmark, games=_values(read))),
    )


def _values(read: Reader) -> pl.DataFrame:
    """Of every game the number that teams are compared by."""
    metric = _metric(read)
    return kept(read.store.path, ("compared games", metric), lambda: game_values(read.store, metric))


def _named(read: Reader, report: pl.DataFrame) -> pl.DataFrame:
    """With a number for each pair, and its teams named as shortly as tells these two apart."""
    import polars as pl

    pairs = report.select("team_a", "team_b").rows()
    called = [names_of_teams(read, pair) for pair in pairs]
    names = [
        pl.Series(f"short_{side}", [found[pair[place]] for found, pair in zip(called, pairs, strict=True)], dtype=pl.String)
        for place, side in enumerate("ab")
    ]
    return report.with_row_index("pair", 1).with_columns(names)


def _pair(read: Reader, benchmark: str) -> dict[str, Any]:
    """The pair that the address names; without one, the first of the benchmark."""
    rows = list(_report(read, benchmark).iter_rows(named=True))
    return next((row for row in rows if row["pair"] == read.address.number("pair", 0)), rows[0])


def _side(row: Mapping[str, Any], side: str) -> str:
    """The team, and of condition and turn limit what differs."""
    details = ", ".join(str(row[f"{name}_{side}"]) for name in row["differs"].split(" and ") if name != "team")
    name = printable(str(row[f"short_{side}"]))
    return printable(in_words(details)) if name == UNKNOWN and details else f"{name} ({details})" if details else name


def _pair_card(read: Reader, row: Mapping[str, Any], benchmark: str) -> Part:
    write = _WRITERS[_kind(read)]
    ends = f" [{write(row['low'])}, {write(row['high'])}]" if row["low"] is not None else ""
    on = (
        f"{count(row['tasks'])} shared tasks: {row['wins']} won, {row['ties']} even, {row['losses']} lost"
        if row["paired"]
        else "different tasks"
    )
    lead = f"{_side(row, 'a')} is {write(row['difference'])}{ends} ahead of {_side(row, 'b')}, on {on}."
    drawn = []
    if row["paired"]:
        tasks = tasks_of(read, row)
        drawn = [
            figure(
                "compare-tasks",
                _dumbbells(tasks.head(_MOST_TASKS), row, _METRICS[_metric(read)], looks_of_teams(read, benchmark)),
                label="both sides on each shared task",
            ),
            html.P(f"The {_MOST_TASKS} tasks with the largest differences, of {len(tasks)}.", className="hint")
            if len(tasks) > _MOST_TASKS
            else None,
            fold(read, TASKS, f"{benchmark}/{row['pair']}", is_open=True),
        ]
    return card(f"{_METRICS[_metric(read)].capitalize()}", *drawn, lead=lead, hint=_sentence(row["advice"].partition("; ")[2]))


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def tasks_of(read: Reader, row: Mapping[str, Any]) -> pl.DataFrame:
    """The shared tasks of a pair: task, value_a, value_b, difference, and a game of each; what differs most first."""
    import polars as pl

    values = _values(read)
    sides = []
    for side in "ab":
        wanted = [
            pl.col(name).eq_missing(pl.lit(row[f"{key}_{side}"]))
            for key, name in zip(_SIDES, ("team_name", "condition", "max_turns"), strict=True)
        ]
        own = values.filter(pl.col("benchmark") == row["benchmark"], *wanted)
        sides.append(
            own.group_by("task").agg(pl.col("value").mean().alias(f"value_{side}"), pl.col("episode_id").min().alias(f"game_{side}"))
        )
    joined = sides[0].join(sides[1], on="task").with_columns(difference=pl.col("value_a") - pl.col("value_b"))
    return joined.sort(pl.col("difference").abs(), "task", descending=[True, False])


def _dumbbells(tasks: pl.DataFrame, row: Mapping[str, Any], title: str, looks: Looks) -> go.Figure:
    import plotly.graph_objects as go

    shown = tasks.sort("difference", "task")
    names = [plain(in_words(task)) for task in shown["task"]]
    drawn = go.Figure()
    for name, a, b in zip(names, shown["value_a"], shown["value_b"], strict=True):
        drawn.add_scatter(x=[a, b], y=[name, name], mode="lines", line={"color": "#b9bdc6", "width": 3}, showlegend=False, hoverinfo="skip")
    looks = {side: looks[team] for side in "ab" if (team := row[f"team_{side}"]) in looks}
    if len({color for color, _ in looks.values()}) < len("ab"):  # one team under two conditions, or teams whose colours are alike
        looks = {side: look(place) for place, side in enumerate("ab")}
    for side, (color, symbol) in looks.items():
        drawn.add_scatter(
            x=shown[f"value_{side}"].to_list(),
            y=names,
            mode="markers",
            name=plain(_side(row, side)),
            marker={"size": 10, "color": color, "symbol": symbol},
            customdata=[_games_href(found) for found in shown.iter_rows(named=True)],
            hovertemplate="%{y}: %{x:.3g}<extra>%{fullData.name}</extra>",
        )
    drawn.update_yaxes(type="category", tickvals=names, ticktext=[short(name, 28) for name in names])
    drawn.update_xaxes(title=title)
    return styled(drawn, height=124 + 22 * len(shown))


def _games_href(row: Mapping[str, Any]) -> str:
    return f"{PATH}?left={row['game_a']}&right={row['game_b']}"


def _pairs(read: Reader, benchmark: str) -> TableRows:
    import polars as pl

    found = _report(read, benchmark)
    named = found.with_columns(
        pl.Series("a", [_side(row, "a") for row in found.iter_rows(named=True)], dtype=pl.String),
        pl.Series("b", [_side(row, "b") for row in found.iter_rows(named=True)], dtype=pl.String),
    )
    return TableRows(
        frame=named,
        source=f"cotrace report compare --metric {_metric(read)}",
        columns={
            "a": GridColumn(heading="Ahead", kind="team"),
            "b": GridColumn(heading="Of", kind="team"),
            "tasks": GridColumn(heading="Tasks", kind="count"),
            "difference": GridColumn(heading="By (95 %)", kind=_kind(read), low="low", high="high"),
            "mean_a": GridColumn(heading="Mean", kind=_kind(read)),
            "mean_b": GridColumn(heading="Other's", kind=_kind(read), hint="mean of the other"),
            "wins": GridColumn(heading="Won", kind="count"),
            "ties": GridColumn(heading="Even", kind="count"),
            "losses": GridColumn(heading="Lost", kind="count"),
            "p_holm": GridColumn(heading="p (Holm)", kind="p", hint="corrected for all pairs of the family"),
        },
        link=lambda row: read.address.to(pair=row["pair"], benchmark=benchmark),
    )


def _tasks(read: Reader, part: str) -> TableRows:
    benchmark, _, _ = part.partition("/")
    row = _pair(read, benchmark)
    return TableRows(
        frame=tasks_of(read, row),
        source=f"cotrace report compare --metric {_metric(read)}",
        columns={
            "task": GridColumn(heading="Task", kind="name"),
            "value_a": GridColumn(heading=_side(row, "a"), kind=_kind(read)),
            "value_b": GridColumn(heading=_side(row, "b"), kind=_kind(read)),
            "difference": GridColumn(heading="Difference", kind=_kind(read)),
        },
        link=_games_href,
    )


_PAIR: Final = Later("compare-pair", _body, 900)
LATER = (_PAIR,)
PAIRS: Final = Grid("compare-pairs", _pairs, "All pairs")
TASKS: Final = Grid("compare-tasks", _tasks, "Tasks: a click opens both sides")
TABLES = (PAIRS, TASKS)
