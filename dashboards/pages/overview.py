"""Overview: how far each team got, with intervals, and what its games are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from dashboards.address import Address
from dashboards.figures.theme import MODEL_COLORS, plain, styled
from dashboards.parts import Part, card, figure, note, number, rate, stat, table
from dashboards.reader import Reader

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

__all__ = ["IN_MENU", "ORDER", "PATH", "REPORT", "TITLE", "content", "leaderboard", "metric_profile", "report_figure"]

PATH = "/"
TITLE = "Overview"
IN_MENU = True
ORDER = 10
REPORT = "leaderboard"

_TEAMS = 30


def content(read: Reader) -> Part:
    """Leaderboard and end-to-end metrics under the filters."""
    totals = read.rows(
        """
        SELECT count(*) AS games, count(*) FILTER (success AND ending = 'ended') AS won,
            count(*) FILTER (ending = 'ended') AS ended, count(*) FILTER (ending = 'cut') AS cut,
            count(*) FILTER (ending = 'not_set_up') AS broken,
            coalesce(sum(turns_taken), 0)::BIGINT AS turns, count(DISTINCT (model, condition)) AS teams
        FROM games WHERE {filters}
        """
    ).row(0, named=True)
    if totals["games"] == 0:
        return note("No game under these filters.")
    verdicts = read.rows("SELECT count(*) AS n, count(*) FILTER (status = 'answered') AS answered FROM verdicts_latest").row(0, named=True)
    differing = read.rows("SELECT count(DISTINCT episode_id) AS games FROM log_disagreements").item()
    board = leaderboard_rows(read)
    return html.Div(
        [
            html.H1("Overview"),
            html.P("How far each team got. Filters above narrow every page and live in the address.", className="lead"),
            html.Div(
                [
                    stat("games", f"{totals['games']}", f"{totals['broken']} could not be set up, {totals['cut']} without a known end"),
                    stat("turns", f"{totals['turns']}"),
                    stat("reached the goal", rate(totals["won"], totals["ended"])),
                    stat("verdicts in the store", f"{verdicts['n']}", f"{verdicts['answered']} answered"),
                    stat("games whose log differs from its replay", f"{differing}", "table log_disagreements"),
                ],
                className="stats",
            ),
            *_families(read),
            *[part for benchmark in board["benchmark"].unique(maintain_order=True) for part in _benchmark(read, board, benchmark)],
        ]
    )


def _families(read: Reader) -> list[Part]:
    """The benchmarks side by side, where there is more than one."""
    rows = read.rows("SELECT * FROM families WHERE {filters} ORDER BY benchmark", filter_on=("benchmark",))
    if len(rows) < 2:  # noqa: PLR2004 - one family is its own leaderboard
        return []
    columns = {
        "benchmark": "Family",
        "games": "Games",
        "success_rate": "Goal reached",
        "success_low": "95 % from",
        "success_high": "to",
        "main_metric": "Main metric",
        "score_mean": "Mean",
        "score_low": "95 % from ",
        "score_high": "to ",
        "commonest_failure": "Commonest failure",
        "failing_turns": "on turns",
        "spiral_share": "Turns in spirals",
    }
    hint = "Main metrics have different units. Failures in common words: view failures_common. Narrowed by benchmark alone."
    return [card("Families", table(rows, columns, link=lambda row: f"/?benchmark={row['benchmark']}"), hint=hint)]


def _benchmark(read: Reader, board: pl.DataFrame, benchmark: str) -> list[Part]:
    """One benchmark's teams: scores of different benchmarks do not share an axis."""
    import polars as pl

    rows = board.filter(pl.col("benchmark") == benchmark)
    if benchmark == "coordination":
        return [part for game, own in _by_game(rows) for part in _board(own, f"coordination, {game}")]
    return [*_board(rows, benchmark), _metrics(read, benchmark)]


def _by_game(rows: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """LLM-Coordination is five games whose scores have different units; the condition begins with the game's name."""
    import polars as pl

    named = rows.with_columns(game=pl.col("condition").str.split("/").list.first())
    return [(str(key[0]), own) for key, own in named.group_by("game", maintain_order=True)]


def _board(rows: pl.DataFrame, title: str) -> list[Part]:
    cut = f" The best {_TEAMS} of {len(rows)} teams." if len(rows) > _TEAMS else ""
    ring = " A ring: what is reached of the ceiling that verified moves can reach." if rows["ceiling_n"].sum() else ""
    hint = f"Mean score of the games with its 95 % interval over tasks.{ring}{cut}"
    return [
        card(f"Leaderboard: {title}", figure(f"leaderboard-{title}", leaderboard(rows.head(_TEAMS))), hint=hint),
        card(f"In numbers: {title}", _table(rows)),
    ]


def report_figure(read: Reader) -> go.Figure | None:
    """The leaderboard of the first benchmark, as the report shows it; None without games."""
    rows = leaderboard_rows(read)
    return None if rows.is_empty() else leaderboard(rows.filter(rows["benchmark"] == rows["benchmark"][0]).head(_TEAMS))


def leaderboard_rows(read: Reader) -> pl.DataFrame:
    """The leaderboard view under the filters; with a tier filter, means over the games of these tiers."""
    return read.rows(
        "SELECT * FROM leaderboard_by(levels := $levels) WHERE {filters} ORDER BY benchmark, score_mean DESC NULLS LAST, model, condition",
        {"levels": list(read.address.all("level")) or None},
        filter_on=("benchmark", "condition", "model"),
    )


def leaderboard(rows: pl.DataFrame) -> go.Figure:
    """Teams from best to worst: mean score with its interval, and the share of the ceiling where one is known."""
    import plotly.graph_objects as go
    import polars as pl

    scored = rows.filter(pl.col("score_mean").is_not_null())
    labels = [_team(row) for row in scored.iter_rows(named=True)]
    places = list(range(len(labels)))
    drawn = go.Figure()
    bars = scored.select(
        up=(pl.col("score_high") - pl.col("score_mean")).fill_null(0), down=(pl.col("score_mean") - pl.col("score_low")).fill_null(0)
    )
    drawn.add_scatter(
        x=scored["score_mean"].to_list(),
        y=places,
        mode="markers",
        name="score",
        marker={"size": 11, "color": MODEL_COLORS[0]},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": bars["up"].to_list(),
            "arrayminus": bars["down"].to_list(),
            "color": MODEL_COLORS[0],
            "thickness": 1.6,
        },
        customdata=[[Address("/spirals").to(model=row["model"]), row["n"], plain(row["model"])] for row in scored.iter_rows(named=True)],
        hovertemplate="%{customdata[2]}: %{x:.3f}, n %{customdata[1]}<extra>score</extra>",
    )
    drawn.add_scatter(
        x=scored["ceiling_share_mean"].to_list(),
        y=places,
        mode="markers",
        name="share of the ceiling",
        marker={"size": 11, "symbol": "circle-open", "color": MODEL_COLORS[1], "line": {"width": 2}},
        hovertemplate="%{x:.3f}<extra>share of the ceiling</extra>",
    )
    drawn.update_yaxes(tickvals=places, ticktext=labels, range=[len(labels) - 0.4, -0.6], zeroline=False)
    drawn.update_xaxes(title="score", rangemode="tozero")
    return styled(drawn, height=130 + 38 * len(labels))


def _team(row: dict[str, object]) -> str:
    return f"{plain(row['model'])}<br><sup>{plain(row['condition'])}</sup>"


def _metrics(read: Reader, benchmark: str) -> Part:
    rows = read.rows(
        """
        WITH measured AS (
            SELECT
                games.model, games.condition, metric, value,
                CASE WHEN min(task_id) OVER row = max(task_id) OVER row THEN episode_id ELSE task_id END AS cluster
            FROM games INNER JOIN episode_metrics USING (episode_id)
            WHERE {filters} AND games.benchmark = $benchmark AND metric NOT LIKE '%.structure.%' AND metric NOT LIKE '%\\_t0' ESCAPE '\\'
            WINDOW row AS (PARTITION BY games.model, games.condition, metric)
        ),

        clusters AS (
            SELECT model, condition, metric, cluster, sum(value) AS k, count(*) AS n, min(value) AS least, max(value) AS most
            FROM measured GROUP BY ALL
        )

        SELECT
            model, condition, metric, sum(k) / sum(n) AS mean, sum(n)::BIGINT AS n,
            mean_low(sum(k), sum(n), count(*), sum(k * k), sum(k * n), sum(n * n)) AS low,
            mean_high(sum(k), sum(n), count(*), sum(k * k), sum(k * n), sum(n * n)) AS high
        FROM clusters GROUP BY ALL HAVING max(most) <= 1 AND min(least) >= 0 ORDER BY ALL
        """,
        {"benchmark": benchmark},
    )
    if rows.is_empty():
        return html.Div()
    return card(
        f"End-to-end metrics: {benchmark}",
        figure(f"metrics-{benchmark}", metric_profile(rows)),
        hint="Means over games with 95 % intervals over tasks. Metrics with values beyond 0 to 1: see the benchmark's own page.",
    )


def metric_profile(rows: pl.DataFrame) -> go.Figure:
    """Every end-to-end metric of every team, side by side."""
    import plotly.graph_objects as go

    drawn = go.Figure()
    for place, ((model, condition), team) in enumerate(rows.group_by("model", "condition", maintain_order=True)):
        ups, downs = ((team[end] - team["mean"]).abs().fill_null(0).to_list() for end in ("high", "low"))
        drawn.add_bar(
            x=[name.partition(".")[2].replace("_", " ") for name in team["metric"]],
            y=team["mean"].to_list(),
            name=plain(model),
            marker={"color": MODEL_COLORS[place % len(MODEL_COLORS)]},
            error_y={"type": "data", "symmetric": False, "array": ups, "arrayminus": downs, "color": "#5c6577", "thickness": 1.2},
            customdata=[[n, plain(condition)] for n in team["n"]],
            hovertemplate="%{fullData.name} (%{customdata[1]})<br>%{x}: %{y:.3f}, n %{customdata[0]}<extra></extra>",
        )
    drawn.update_layout(barmode="group")
    drawn.update_yaxes(title="mean")
    return styled(drawn, height=380)


def _table(rows: pl.DataFrame) -> Part:
    import polars as pl

    shown = rows.with_columns(
        won=pl.struct("successes", "n").map_elements(lambda r: rate(r["successes"], r["n"]), return_dtype=pl.String),
        refused=pl.struct("failed", "attempted").map_elements(lambda r: rate(r["failed"], r["attempted"]), return_dtype=pl.String),
        asked=pl.struct("clarify", "turns").map_elements(lambda r: rate(r["clarify"], r["turns"]), return_dtype=pl.String),
        obeyed=pl.struct("followed", "oracle_turns").map_elements(lambda r: rate(r["followed"], r["oracle_turns"]), return_dtype=pl.String),
    )
    columns = {
        "model": "Model",
        "condition": "Condition",
        "n": "Games",
        "score_mean": "Score",
        "score_sem": "SEM",
        "score_low": "95 % from",
        "score_high": "to",
        "ceiling_share_mean": "Of ceiling",
        "won": "Goal reached",
        "refused": "Refused actions",
        "asked": "Clarifications",
        "obeyed": "Followed the oracle",
    }
    return table(shown, columns, link=lambda row: f"/game?model={row['model']}", show={"score_sem": number})
