"""AsymPuzl: success by feedback mode and size, success by turn, where and when positions are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dash import html

from dashboards.address import Address
from dashboards.figures.theme import MODEL_COLORS, plain, styled
from dashboards.pages import game
from dashboards.parts import Part, card, figure, link_choices, note, rate, stat, table
from dashboards.reader import Reader
from games.asympuzl.feedback import FEEDBACK_MODES, PAPER_NAMES

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

__all__ = ["BENCHMARK", "IN_MENU", "ORDER", "PATH", "TITLE", "by_turn", "content", "report_figure", "success", "writes"]

PATH = "/asympuzl"
TITLE = "AsymPuzl"
IN_MENU = True
BENCHMARK = "asympuzl"
ORDER = 80

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_CONFIGURATIONS = """
    SELECT
        model, size, feedback_mode, tokenizer,
        count(*) AS games,
        count(*) FILTER (solved) AS wins,
        100 * wins / games AS success_pct,
        100 * wilson_low(wins, games) AS low,
        100 * wilson_high(wins, games) AS high,
        avg(writes_per_position_a) AS writes_a,
        avg(writes_per_position_b) AS writes_b,
        sum(overcorrections)::BIGINT AS overcorrections,
        sum(repeated_messages)::BIGINT AS repeated,
        sum(no_json)::BIGINT AS no_json,
        sum(answers)::BIGINT AS answers
    FROM asympuzl_games WHERE {filters} AND complete GROUP BY model, size, feedback_mode, tokenizer
    ORDER BY model, size, feedback_mode, tokenizer
"""
_TOKENS = """
    SELECT
        model, size, feedback_mode, tokenizer,
        avg(output_tokens) FILTER (agent = 'A') AS output_a,
        avg(output_tokens) FILTER (agent = 'B') AS output_b,
        100 * avg(message_tokens) FILTER (agent = 'A') / output_a AS share_a,
        100 * avg(message_tokens) FILTER (agent = 'B') / output_b AS share_b
    FROM asympuzl_turns
    WHERE {filters} AND episode_id IN (SELECT episode_id FROM asympuzl_games WHERE complete)
    GROUP BY model, size, feedback_mode, tokenizer
"""
_BY_TURN = """
    WITH finished AS (SELECT * FROM asympuzl_games WHERE {filters} AND complete AND size = $size),
    longest AS (SELECT unnest(range(1, max(coalesce(max_turns, turns)) + 1)) AS k FROM finished)
    SELECT
        model, feedback_mode, k,
        count(*) AS games,
        count(*) FILTER (solved AND solved_turn <= k) AS wins,
        100 * wins / games AS success_pct,
        100 * wilson_low(wins, games) AS low,
        100 * wilson_high(wins, games) AS high
    FROM finished CROSS JOIN longest GROUP BY model, feedback_mode, k ORDER BY model, feedback_mode, k
"""
_WRITES = """
    SELECT agent, turn, position, sum(writes)::BIGINT AS writes, sum(undoing_actions)::BIGINT AS undoing
    FROM asympuzl_positions
    WHERE {filters} AND size = $size AND episode_id IN (SELECT episode_id FROM asympuzl_games WHERE complete)
    GROUP BY agent, turn, position ORDER BY ALL
"""


def content(read: Reader) -> Part:
    """Every configuration under the filters; the curves and the heat map for one size: `?size=5`."""
    rows = read.rows(_CONFIGURATIONS)
    if rows.is_empty():
        return note("No finished AsymPuzl game under these filters.", html.Pre("cotrace play asympuzl --out logs/\ncotrace ingest logs/"))
    sizes = sorted(rows["size"].unique())
    wanted = read.address.number("size", 0)
    size = wanted if wanted in sizes else sizes[0]
    cut = read.rows("SELECT count(*) AS cut FROM asympuzl_games WHERE {filters} AND NOT complete").item()
    choices = link_choices("positions", [(str(one), read.address.to(size=one), one == size) for one in sizes])
    return html.Div(
        [
            html.H1("AsymPuzl"),
            html.P("Two agents with different clues complete one puzzle; each keeps a hypothesis of its own.", className="lead"),
            _stats(rows, cut),
            card(
                "Success by feedback mode and size",
                figure("asympuzl-success", success(rows)),
                hint="Share of games solved within the limit, with 95 % Wilson intervals. With 30 games an interval is about 34 points "
                "wide at 50 %: smaller differences are no effects. Click a point to see its games.",
            ),
            choices,
            card(
                "Success by turn",
                figure("asympuzl-by-turn", by_turn(read.rows(_BY_TURN, {"size": size}))),
                hint=f"Puzzles with {size} positions: share of all games solved in at most that many turns. With full sharing it takes 2.",
            ),
            card(
                "Actions per position",
                figure("asympuzl-writes", writes(read.rows(_WRITES, {"size": size}), _games(rows, size), size)),
                hint=f"Puzzles with {size} positions: valid actions on a position in a turn, mean over all games under the filters.",
            ),
            card("Configurations", _table(rows, read.rows(_TOKENS))),
        ]
    )


def report_figure(read: Reader) -> go.Figure | None:
    """Success by mode and size; None without games."""
    rows = read.rows(_CONFIGURATIONS)
    return None if rows.is_empty() else success(rows)


def success(rows: pl.DataFrame) -> go.Figure:
    """Success in percent with Wilson intervals: modes side by side, one series for each model and size."""
    import plotly.graph_objects as go

    drawn = go.Figure()
    order = {mode: place for place, mode in enumerate(FEEDBACK_MODES)}
    series = list(rows.group_by("model", "size", maintain_order=True))
    for number, ((model, size), part) in enumerate(series):
        shift = 0.7 * ((number + 0.5) / len(series) - 0.5)
        drawn.add_scatter(
            x=[order[mode] + shift for mode in part["feedback_mode"]],
            y=part["success_pct"].to_list(),
            mode="markers",
            name=f"{plain(model)}, {size} positions",
            marker={"size": 10, "color": MODEL_COLORS[number % len(MODEL_COLORS)]},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": (part["high"] - part["success_pct"]).to_list(),
                "arrayminus": (part["success_pct"] - part["low"]).to_list(),
                "thickness": 1.5,
            },
            customdata=[[_games_of(row), row["wins"], row["games"], row["low"], row["high"]] for row in part.iter_rows(named=True)],
            hovertemplate="%{fullData.name}: %{y:.1f} % (%{customdata[1]} of %{customdata[2]}), "
            "%{customdata[3]:.1f} to %{customdata[4]:.1f}<extra></extra>",
        )
    drawn.update_xaxes(
        tickvals=list(order.values()), ticktext=[PAPER_NAMES[mode] for mode in FEEDBACK_MODES], range=[-0.5, len(order) - 0.5]
    )
    drawn.update_yaxes(title="solved (%)", range=[-3, 103])
    return styled(drawn, height=420)


def by_turn(rows: pl.DataFrame) -> go.Figure:
    """Share of games solved in at most k turns: a colour for each model, a dash for each feedback mode."""
    import plotly.graph_objects as go

    drawn = go.Figure()
    models = sorted(rows["model"].unique())
    for (model, mode), part in rows.group_by("model", "feedback_mode", maintain_order=True):
        drawn.add_scatter(
            x=part["k"].to_list(),
            y=part["success_pct"].to_list(),
            mode="lines+markers",
            name=f"{plain(model)}, {PAPER_NAMES[mode]}",
            line={
                "shape": "hv",
                "color": MODEL_COLORS[models.index(model) % len(MODEL_COLORS)],
                "dash": _DASHES[FEEDBACK_MODES.index(mode)],
            },
            customdata=[[row["wins"], row["games"], row["low"], row["high"]] for row in part.iter_rows(named=True)],
            hovertemplate="%{fullData.name}, turn %{x}: %{y:.1f} % (%{customdata[0]} of %{customdata[1]}), "
            "%{customdata[2]:.1f} to %{customdata[3]:.1f}<extra></extra>",
        )
    drawn.update_xaxes(title="turn", dtick=1, rangemode="tozero")
    drawn.update_yaxes(title="solved so far (%)", range=[-3, 103])
    return styled(drawn, height=420)


def writes(rows: pl.DataFrame, games: int, size: int) -> go.Figure:
    """Mean number of valid actions on each position in each turn, A and B side by side."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    drawn = make_subplots(rows=1, cols=2, subplot_titles=("A (Alice)", "B (Bob)"), shared_yaxes=True, horizontal_spacing=0.06)
    longest = rows["turn"].max()
    turns = longest if isinstance(longest, int) else 1
    counts = {agent: [[0.0] * turns for _ in range(size)] for agent in ("A", "B")}
    undone = {agent: [[0] * turns for _ in range(size)] for agent in ("A", "B")}
    for row in rows.iter_rows(named=True):
        place = row["position"] - 1, row["turn"] - 1
        counts[row["agent"]][place[0]][place[1]] = row["writes"] / games
        undone[row["agent"]][place[0]][place[1]] = row["undoing"]
    for column, agent in enumerate(counts, start=1):
        drawn.add_trace(
            go.Heatmap(
                z=counts[agent],
                x=list(range(1, turns + 1)),
                y=list(range(1, size + 1)),
                customdata=undone[agent],
                coloraxis="coloraxis",
                xgap=2,
                ygap=2,
                hovertemplate="turn %{x}, position %{y}: %{z:.2f} a game; %{customdata} actions took earlier work back<extra></extra>",
            ),
            row=1,
            col=column,
        )
    drawn.update_xaxes(title="turn", dtick=1, showgrid=False)
    drawn.update_yaxes(autorange="reversed", dtick=1, showgrid=False)
    drawn.update_yaxes(title="position", col=1)
    drawn.update_layout(coloraxis={"colorscale": "Blues", "cmin": 0, "colorbar": {"title": "actions<br>a game"}})
    return styled(drawn, height=160 + 26 * max(size, 5), legend=False)


def _games_of(row: Mapping[str, Any]) -> str:
    return Address(game.PATH).to(model=str(row["model"]), level=str(row["size"]))


def _games(rows: pl.DataFrame, size: int) -> int:
    import polars as pl

    return int(rows.filter(pl.col("size") == size)["games"].sum())


def _stats(rows: pl.DataFrame, cut: int) -> Part:
    games, solved, answers = (int(rows[name].sum()) for name in ("games", "wins", "answers"))
    return html.Div(
        [
            stat(
                "games solved",
                f"{100 * solved / games:.0f} %",
                f"{solved} of {games}" + (f", {cut} without an end left out" if cut else ""),
            ),
            stat("right entries made wrong", f"{int(rows['overcorrections'].sum())}", f"in {answers} answers"),
            stat("repeated messages", rate(int(rows["repeated"].sum()), answers)),
            stat("answers without JSON", rate(int(rows["no_json"].sum()), answers)),
        ],
        className="stats",
    )


def _table(rows: pl.DataFrame, tokens: pl.DataFrame) -> Part:
    columns = {
        "model": "Model",
        "size": "Positions",
        "feedback_mode": "Feedback",
        "wins": "Solved",
        "games": "of",
        "success_pct": "Success %",
        "low": "95 % from",
        "high": "to",
        "writes_a": "Actions/position A",
        "writes_b": "B",
        "overcorrections": "Right made wrong",
        "repeated": "Repeated messages",
        "output_a": "Output tokens A",
        "output_b": "B",
        "share_a": "Message % A",
        "share_b": "B",
        "tokenizer": "Tokenizer",
    }
    joined = rows.join(tokens, on=["model", "size", "feedback_mode", "tokenizer"], how="left", nulls_equal=True)
    percents = dict.fromkeys(("success_pct", "low", "high", "output_a", "output_b", "share_a", "share_b"), _tenths)
    return table(joined, columns, link=_games_of, show=percents)


def _tenths(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
