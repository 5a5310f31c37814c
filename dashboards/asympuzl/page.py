"""AsymPuzl: success by feedback mode and size, success by turn, where and when positions are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from dash import html

from dashboards.figures import FULLER, MODEL_COLORS, Axis, Dot, dot_plot, numbered, plain, styled
from dashboards.grid import Grid, GridColumn, TableRows, fold
from dashboards.pages import game
from dashboards.parts import Part, card, figure, link_choices, note, stat, stat_of
from dashboards.reader import Reader
from games.asympuzl.game import FEEDBACK_MODES, PAPER_NAMES
from schemas.common.wording import count, counted, share, share_interval, share_of

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl


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
        wins / games AS success_rate,
        wilson_low(wins, games) AS low,
        wilson_high(wins, games) AS high,
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
        avg(message_tokens) FILTER (agent = 'A') / output_a AS share_a,
        avg(message_tokens) FILTER (agent = 'B') / output_b AS share_b
    FROM asympuzl_turns
    WHERE {filters} AND episode_id IN (SELECT episode_id FROM asympuzl_games WHERE complete)
    GROUP BY model, size, feedback_mode, tokenizer
"""
_TABLE = f"""
    SELECT configurations.*, used.* EXCLUDE (model, size, feedback_mode, tokenizer) FROM ({_CONFIGURATIONS}) AS configurations
    LEFT JOIN ({_TOKENS}) AS used
        ON configurations.model = used.model AND configurations.size = used.size AND configurations.feedback_mode = used.feedback_mode
        AND configurations.tokenizer IS NOT DISTINCT FROM used.tokenizer
    ORDER BY configurations.model, configurations.size, configurations.feedback_mode
"""
_BY_TURN = """
    WITH finished AS (SELECT * FROM asympuzl_games WHERE {filters} AND complete AND size = $size),
    longest AS (SELECT unnest(range(1, max(coalesce(max_turns, turns)) + 1)) AS k FROM finished)
    SELECT
        model, feedback_mode, k,
        count(*) AS games,
        count(*) FILTER (solved AND solved_turn <= k) AS wins,
        wins / games AS success_rate,
        wilson_low(wins, games) AS low,
        wilson_high(wins, games) AS high
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
    choices = link_choices("Positions", [(str(one), read.address.to(size=one), one == size) for one in sizes]) if len(sizes) > 1 else None
    return html.Div(
        [
            html.H1("AsymPuzl"),
            html.P("Two agents with different clues complete one puzzle; each keeps a hypothesis of its own.", className="lead"),
            _stats(rows, cut),
            card(
                "Success by feedback mode and size",
                figure("asympuzl-success", success(read, rows), label="share of games solved"),
                fold(read, CONFIGURATIONS),
                hint="Share of games solved within the limit, with 95 % Wilson intervals. With 30 games an interval is about 34 points "
                "wide at 50 %: smaller differences are no effects. Click a point to see its games.",
            ),
            choices,
            html.Div(
                [
                    card(
                        "Success by turn",
                        figure("asympuzl-by-turn", by_turn(read.rows(_BY_TURN, {"size": size})), label="share solved by turn"),
                        hint=f"Puzzles with {size} positions: share of all games solved in at most that many turns. With full sharing "
                        "it takes 2.",
                    ),
                    card(
                        "Actions per position",
                        figure("asympuzl-writes", writes(read.rows(_WRITES, {"size": size}), _games(rows, size), size), label="actions"),
                        hint=f"Puzzles with {size} positions: valid actions on a position in a turn, mean over all games.",
                    ),
                ],
                className="columns",
            ),
        ]
    )


def report_figure(read: Reader) -> go.Figure | None:
    """Success by mode and size; None without games."""
    rows = read.rows(_CONFIGURATIONS)
    return None if rows.is_empty() else success(read, rows)


def success(read: Reader, rows: pl.DataFrame) -> go.Figure:
    """Success with 95 % Wilson intervals: a line a mode, one series for each team and size."""
    dots = [
        Dot(
            line=PAPER_NAMES[row["feedback_mode"]],
            series=f"{row['model']}, {row['size']} positions",
            value=row["success_rate"],
            low=row["low"],
            high=row["high"],
            n=row["games"],
            link=_games_of(read, row),
        )
        for row in sorted(rows.iter_rows(named=True), key=lambda row: FEEDBACK_MODES.index(row["feedback_mode"]))
    ]
    return dot_plot(dots, Axis(title="solved", is_share=True))


def by_turn(rows: pl.DataFrame) -> go.Figure:
    """Share of games solved in at most k turns: a colour for each model, a dash for each feedback mode."""
    import plotly.graph_objects as go

    drawn = go.Figure()
    models = sorted(rows["model"].unique())
    for (model, mode), part in rows.group_by("model", "feedback_mode", maintain_order=True):
        drawn.add_scatter(
            x=part["k"].to_list(),
            y=part["success_rate"].to_list(),
            mode="lines+markers",
            name=f"{plain(model)}, {PAPER_NAMES[mode]}",
            line={
                "shape": "hv",
                "color": MODEL_COLORS[models.index(model) % len(MODEL_COLORS)],
                "dash": _DASHES[FEEDBACK_MODES.index(mode)],
            },
            customdata=[
                f"{share_of(row['wins'], row['games'])} {share_interval(row['low'], row['high'])}" for row in part.iter_rows(named=True)
            ],
            hovertemplate="%{fullData.name}, turn %{x}: %{customdata}<extra></extra>",
        )
    drawn.update_xaxes(title="turn", **numbered(max(rows["k"].to_list(), default=1)), rangemode="tozero")
    drawn.update_yaxes(title="solved so far", range=[-0.03, 1.03], tickformat=".0%")
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
    drawn.update_xaxes(title="turn", **numbered(turns), showgrid=False)
    drawn.update_yaxes(autorange="reversed", dtick=1, showgrid=False)
    drawn.update_yaxes(title="position", col=1)
    drawn.update_layout(coloraxis={"colorscale": FULLER, "cmin": 0, "colorbar": {"title": "actions<br>a game"}})
    return styled(drawn, height=160 + 26 * max(size, 5), legend=False)


def _games_of(read: Reader, row: Mapping[str, Any]) -> str:
    return read.address.narrowed(game.PATH, benchmark="asympuzl", model=row["model"], level=row["size"])


def _games(rows: pl.DataFrame, size: int) -> int:
    import polars as pl

    return int(rows.filter(pl.col("size") == size)["games"].sum())


def _stats(rows: pl.DataFrame, cut: int) -> Part:
    games, solved, answers = (int(rows[name].sum()) for name in ("games", "wins", "answers"))
    left = f", {cut} without an end left out" if cut else ""
    return html.Div(
        [
            stat("games solved", share(solved / games), f"{count(solved)} of {count(games)}{left}"),
            stat("right entries made wrong", count(int(rows["overcorrections"].sum())), f"in {counted(answers, 'answer')}"),
            stat_of("repeated messages", int(rows["repeated"].sum()), answers),
            stat_of("answers without JSON", int(rows["no_json"].sum()), answers),
        ],
        className="stats",
    )


def _configurations(read: Reader, _: str) -> TableRows:
    return TableRows(
        sql=_TABLE,
        columns={
            "model": GridColumn(heading="Team"),
            "size": GridColumn(heading="Positions", kind="count"),
            "feedback_mode": GridColumn(heading="Feedback", kind="name"),
            "success_rate": GridColumn(heading="Solved", kind="share", part="wins", whole="games"),
            "low": GridColumn(heading="95 % from", kind="share"),
            "high": GridColumn(heading="to", kind="share"),
            "writes_a": GridColumn(heading="Actions/position A", kind="number"),
            "writes_b": GridColumn(heading="B", kind="number"),
            "overcorrections": GridColumn(heading="Right made wrong", kind="count"),
            "repeated": GridColumn(heading="Repeated messages", kind="count"),
            "output_a": GridColumn(heading="Output tokens A", kind="number"),
            "output_b": GridColumn(heading="B", kind="number"),
            "share_a": GridColumn(heading="Message share A", kind="share"),
            "share_b": GridColumn(heading="B", kind="share"),
            "tokenizer": GridColumn(heading="Tokenizer"),
        },
        link=lambda row: _games_of(read, row),
    )


CONFIGURATIONS: Final = Grid("asympuzl-configurations", _configurations, "Configurations")
TABLES = (CONFIGURATIONS,)
