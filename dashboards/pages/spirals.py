"""Correction spirals: a row an episode, a cell a turn, spirals marked; a click opens the game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dashboards.address import GAME, game_at
from dashboards.figures import SPIRALS, mark_of, numbered, plain, short, styled
from dashboards.filters import OTHER_FILTERS, benchmark_choices, group_of, narrowed, shown_benchmark, thing_of
from dashboards.grid import Grid, TableRows, columns_of, fold
from dashboards.parts import Later, Part, card, figure, html, note, pager
from dashboards.reader import Reader
from dashboards.team_figures import drawn_twice
from dashboards.teams import teams_of
from schemas.common import wording
from schemas.families import can_spiral, title_of

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl


PATH = "/spirals"
TITLE = "Spirals"
IN_MENU = True
ORDER = 40

_ROWS = 24
"""Games a page: what two screens hold."""
_ROW = 29
"""Pixels of a game: two lines of its label."""
_LONGEST = 400
"""Turns of a game that are drawn, as many as a kitchen's game has: beside one of thousands the cells of all others could not be seen."""
_WIDE = 60
"""Turns from which on cells are too narrow for gaps between them."""
_PLAYED = "rgba(138, 143, 156, 0.17)"
"""A turn outside spirals: there, and quiet."""

_LETTERS = 20
"""Letters of a task or a team that a label has room for."""


_GAMES = """
    SELECT episode_id, model, task_id, condition, turns_taken, score, episode_id IN (SELECT episode_id FROM spiral_games) AS is_seen
    FROM games WHERE {filters}
"""
_SPIRALS = "SELECT episode_id, start_turn, end_turn, kind FROM correction_spirals WHERE {filters}"
_BESIDE: Final = ("score", "spiral")
"""Panels of a team: the end-to-end metric next to the share of turns in spirals."""
_BY_KIND = """
    SELECT model, condition, kind, count(*) AS spirals, count(DISTINCT episode_id) AS games, sum(turns_wasted)::BIGINT AS turns_wasted
    FROM correction_spirals WHERE {filters} AND benchmark = $benchmark GROUP BY ALL ORDER BY ALL
"""


def content(read: Reader) -> Part:
    """Games with the most turns inside spirals first, `?from=0`."""
    return html.Div([html.H1(TITLE), _BODY(read)])


def _body(read: Reader, _: str) -> Part:
    start = read.address.number("from", 0)
    played = _benchmarks(read)
    benchmark = shown_benchmark(read, played)
    if benchmark is None:
        return note("No game of two turns or more under these filters: a spiral needs them.")
    choices = benchmark_choices(read, played, benchmark, "from")
    read = narrowed(read, benchmark)
    if not can_spiral(benchmark):
        none = f"{title_of(benchmark)} has no correction spirals: every turn makes a new state, and none comes back."
        failures = html.A("What goes wrong there", href=read.address.narrowed("/failures", benchmark=benchmark))
        return html.Div([*choices, note(none, failures)])
    if _played(read).is_empty():
        unknown = "These logs record neither states nor actions, so it is not known whether there are correction spirals in them."
        return html.Div([*choices, note(unknown)])
    episodes = _episodes(read, start)
    if episodes.is_empty():
        return note("There is no such page of games.", html.A("Show the first", href=read.address.to(**{"from": None})))
    total, thing, group = len(_played(read)), thing_of([benchmark]), group_of(benchmark)
    cut = (
        f" Of {thing}s with more than {_LONGEST} turns the first {_LONGEST} are drawn."
        if (episodes["turns_taken"] > _LONGEST).any()
        else ""
    )
    return html.Div(
        [
            html.P(_answer(read, thing), className="lead"),
            *choices,
            card(
                f"{group}s".title(), *drawn_twice("spirals-teams", read, teams_of(read, benchmark), label="score and spirals", only=_BESIDE)
            ),
            card(
                f"{thing.capitalize()}s, turn by turn",
                figure("spirals", _map(read, episodes), label=f"turns of every {thing}, those inside spirals coloured by kind"),
                pager(read.address, start, _ROWS, total, f"{thing}s"),
                _legend(),
                hint="Stretches of turns spent on correcting without getting anywhere; most turns inside them first. A cell is a turn; "
                f"colour is the kind of spiral. Click a cell to open the {thing} there.{cut}",
            ),
            card("By kind", fold(read, KINDS, benchmark)),
        ]
    )


def _legend() -> Part:
    """Each kind in words, folded: the figure names them by their codes."""
    kinds = [html.Li([html.B(wording.in_words(name)), f": {mark_of(name).words}"]) for name in SPIRALS]
    return html.Details([html.Summary("What the kinds mean"), html.Ul(kinds, className="plain")], className="hint few")


def _answer(read: Reader, thing: str) -> str:
    """How much is spent in spirals, and in which kind most, in a sentence."""
    games, spirals, inside = _played(read), read.rows(_SPIRALS), _inside(read)
    with_some = len(games.join(inside, on="episode_id", how="semi"))
    every = read.rows(_GAMES)
    turns = int(every.filter("is_seen")["turns_taken"].sum())
    unseen = len(every) - int(every["is_seen"].sum())
    left_out = f" Not known for {wording.counted(unseen, thing)} without states or actions." if unseen else ""
    most = spirals.group_by("kind").len().sort("len", "kind", descending=[True, False]).head(1).rows()
    kind = f" The commonest: {wording.in_words(most[0][0])}, {wording.count(most[0][1])} times." if most else ""
    return (
        f"{wording.share_of(int(inside['turns_inside'].sum()), turns, 'turns')} are inside spirals, in "
        f"{wording.share_of(with_some, len(games), f'{thing}s')} with two turns or more.{kind}{left_out}"
    )


def _played(read: Reader) -> pl.DataFrame:
    """Games in which a spiral could be seen."""
    import polars as pl

    return read.rows(_GAMES).filter(pl.col("turns_taken") > 1, pl.col("is_seen"))


def _inside(read: Reader) -> pl.DataFrame:
    """Games with spirals, and how many of their turns are inside: the view is asked once for all that the page says of it."""
    import polars as pl

    turns = read.rows(_SPIRALS).select("episode_id", turn=pl.int_ranges("start_turn", pl.col("end_turn") + 1)).explode("turn").unique()
    return turns.group_by("episode_id").agg(turns_inside=pl.len())


def report_figure(read: Reader) -> go.Figure | None:
    """The games with the most turns inside spirals; None without games."""
    benchmark = shown_benchmark(read, _benchmarks(read))
    if benchmark is None:
        return None
    read = narrowed(read, benchmark)
    episodes = _episodes(read, 0)
    return None if episodes.is_empty() else _map(read, episodes)


def _benchmarks(read: Reader) -> list[str]:
    """Those with a game of two turns or more (a spiral needs them), under the other filters."""
    return read.rows("SELECT DISTINCT benchmark FROM games WHERE {filters} AND turns_taken > 1", filter_on=OTHER_FILTERS)[
        "benchmark"
    ].to_list()


def _episodes(read: Reader, start: int) -> pl.DataFrame:
    import polars as pl

    played = _played(read).join(_inside(read), on="episode_id", how="left").with_columns(pl.col("turns_inside").fill_null(0))
    order = ["turns_inside", "model", "task_id", "episode_id"]
    return played.sort(order, descending=[True, False, False, False]).slice(start, _ROWS)


def _map(read: Reader, episodes: pl.DataFrame) -> go.Figure:
    import polars as pl

    called = [read.team_in_words(model, condition) for model, condition in episodes.select("model", "condition").rows()]
    episodes = episodes.with_columns(model=pl.Series(called, dtype=pl.String))
    shown = {"ids": episodes["episode_id"].to_list()}
    cells = read.rows("SELECT episode_id, turn, outcome FROM outcomes WHERE episode_id IN (SELECT unnest($ids)) ORDER BY turn", shown)
    spirals = read.rows(_SPIRALS).join(episodes, on="episode_id", how="semi").sort("episode_id", "start_turn", "kind")
    return heat_map(episodes, cells, spirals)


def heat_map(episodes: pl.DataFrame, cells: pl.DataFrame, spirals: pl.DataFrame) -> go.Figure:
    """Every turn of the given games as a quiet cell, those inside a spiral in the colour of its kind; kinds that overlap share the cell."""
    import plotly.graph_objects as go

    place = {episode: row for row, episode in enumerate(episodes["episode_id"])}
    cells = cells.filter(cells["turn"] <= _LONGEST)
    longest = cells["turn"].max()
    width = int(longest) if isinstance(longest, int) else 0
    played: list[list[int | None]] = [[None] * width for _ in place]
    for episode, turn in cells.select("episode_id", "turn").iter_rows():
        played[place[episode]][turn - 1] = 0
    gaps = {"xgap": 2 if width <= _WIDE else 0, "ygap": 7}
    x, y = list(range(1, width + 1)), list(range(len(place)))
    quiet = [[0, _PLAYED], [1, _PLAYED]]
    drawn = go.Figure(go.Heatmap(z=played, x=x, y=y, colorscale=quiet, showscale=False, hoverinfo="skip", **gaps))
    own = {episode: [kind for kind in SPIRALS if kind in set(rows["kind"])] for (episode,), rows in spirals.group_by("episode_id")}
    shapes = [_lane(row, place[row["episode_id"]], own[row["episode_id"]]) for row in spirals.iter_rows(named=True)]
    drawn.add_scatter(  # shapes have no clicks: points that nobody sees carry the addresses
        x=cells["turn"].to_list(),
        y=[place[episode] for episode in cells["episode_id"]],
        mode="markers",
        marker={"symbol": "square", "size": 22, "color": "rgba(0,0,0,0)"},
        customdata=[[game_at(e, t), wording.in_words(o)] for e, t, o in cells.select("episode_id", "turn", "outcome").rows()],
        hovertemplate="turn %{x}: %{customdata[1]}<extra></extra>",
        showlegend=False,
    )
    for kind in (kind for kind in SPIRALS if kind in set(spirals["kind"])):
        marker = {"symbol": "square", "size": 11, "color": mark_of(kind).color}
        drawn.add_scatter(x=[None], y=[None], mode="markers", marker=marker, name=wording.in_words(kind))
    drawn.update_layout(shapes=shapes)
    labels = [_label(row) for row in episodes.iter_rows(named=True)]
    drawn.update_yaxes(tickvals=list(range(len(labels))), ticktext=labels, range=[len(labels) - 0.5, -0.5], showgrid=False, zeroline=False)
    drawn.update_xaxes(title="turn", **numbered(width), range=[0.5, width + 0.5], showgrid=False, zeroline=False)
    return styled(drawn, height=130 + _ROW * len(labels))


def _lane(spiral: dict[str, Any], row: int, kinds: list[str]) -> dict[str, Any]:
    """The turns of a spiral; kinds of one game have lanes, so that those that overlap stay apart."""
    tall = 0.76 / len(kinds)
    top = row - 0.38 + kinds.index(spiral["kind"]) * tall
    edges = {"x0": spiral["start_turn"] - 0.46, "x1": spiral["end_turn"] + 0.46, "y0": top, "y1": top + tall}
    return {"type": "rect", **edges, "fillcolor": mark_of(spiral["kind"]).color, "line": {"width": 0}}


def _label(row: dict[str, Any]) -> str:
    """Two short lines, what is left of a narrow screen belongs to the turns: the task, and the team with the game's score."""
    score = f" · {wording.score(row['score'])}" if row.get("score") is not None else ""
    team = f"<span style='font-size: 10.5px'>{plain(short(row['model'], _LETTERS))}{score}</span>"
    return f"{plain(short(wording.in_words(row['task_id']), _LETTERS))}<br>{team}"


def _kinds(read: Reader, benchmark: str) -> TableRows:
    return TableRows(
        sql=_BY_KIND,
        parameters={"benchmark": benchmark},
        filter_on=OTHER_FILTERS,
        columns=columns_of("spirals", "kinds"),
        link=lambda row: read.address.narrowed(GAME, benchmark=benchmark, model=row["model"], condition=row["condition"]),
    )


_BODY: Final = Later("spirals-body", _body, 900)
LATER = (_BODY,)
KINDS: Final = Grid("spirals", _kinds, "Spirals in numbers")
TABLES = (KINDS,)
FIGURES: Final = {"spirals": report_figure}
