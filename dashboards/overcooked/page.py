"""Collab-Overcooked: success and progress by level, initiating and responding, what goes wrong and where in the task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import html

from dashboards.address import Address
from dashboards.figures.theme import MODEL_COLORS, color_of, plain, styled
from dashboards.pages import game
from dashboards.parts import Part, card, figure, note, rate, stat, table
from dashboards.reader import Reader
from games.overcooked.measures.taxonomy import INITIATING, RESPONDING

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

__all__ = ["BENCHMARK", "IN_MENU", "ORDER", "PATH", "TITLE", "confusion", "content", "mix", "rates", "report_figure"]

PATH = "/overcooked"
TITLE = "Collab-Overcooked"
IN_MENU = True
BENCHMARK = "overcooked"
ORDER = 82

_LEVELS = """
    WITH numbers AS (
        SELECT
            episode_id,
            max(value) FILTER (metric = 'overcooked.pc') AS pc,
            max(value) FILTER (metric = 'overcooked.pc_all_references') AS pc_fair,
            max(value) FILTER (metric = 'overcooked.n_communications') AS communications,
            max(value) FILTER (metric = 'overcooked.n_initiate_ok') AS initiated,
            max(value) FILTER (metric = 'overcooked.n_respond_ok') AS responded,
            max(value) FILTER (metric = 'overcooked.initiate_collaboration') AS ic,
            max(value) FILTER (metric = 'overcooked.respond_collaboration') AS rc
        FROM episode_metrics WHERE starts_with(metric, 'overcooked.') GROUP BY episode_id
    )
    SELECT
        model, level, count(*) AS n_games, count(*) FILTER (success) AS wins,
        100 * wins / n_games AS sr, 100 * wilson_low(wins, n_games) AS sr_low, 100 * wilson_high(wins, n_games) AS sr_high,
        100 * avg(pc) AS pc_mean,
        100 * mean_low(sum(pc), n_games, n_games, sum(pc * pc), sum(pc), n_games) AS pc_low,
        100 * mean_high(sum(pc), n_games, n_games, sum(pc * pc), sum(pc), n_games) AS pc_high,
        100 * avg(pc_fair) AS pc_fair_mean,
        count(*) FILTER (communications > 0) AS talked,
        sum(communications)::BIGINT AS conversations, sum(initiated)::BIGINT AS initiated_n, sum(responded)::BIGINT AS responded_n,
        100 * initiated_n / nullif(conversations, 0) AS ic_code,
        100 * clustered_low(initiated_n, nullif(conversations, 0), talked,
            sum(initiated ** 2), sum(initiated * communications), sum(communications ** 2)) AS ic_low,
        100 * clustered_high(initiated_n, nullif(conversations, 0), talked,
            sum(initiated ** 2), sum(initiated * communications), sum(communications ** 2)) AS ic_high,
        100 * responded_n / nullif(conversations, 0) AS rc_code,
        100 * clustered_low(responded_n, nullif(conversations, 0), talked,
            sum(responded ** 2), sum(responded * communications), sum(communications ** 2)) AS rc_low,
        100 * clustered_high(responded_n, nullif(conversations, 0), talked,
            sum(responded ** 2), sum(responded * communications), sum(communications ** 2)) AS rc_high,
        100 * avg(ic) AS ic_paper, 100 * avg(rc) AS rc_paper
    FROM games INNER JOIN numbers USING (episode_id)
    WHERE {filters} AND benchmark = 'overcooked' AND ending = 'ended' GROUP BY model, level ORDER BY model, level
"""
_CONFUSION = """
    SELECT initiate_ok, respond_ok, count(*) AS n FROM overcooked_collaborations
    WHERE {filters} AND opener = 'Chef' GROUP BY ALL
"""
_MIX = """
    SELECT position, {category} AS category, count(*) AS n FROM overcooked_collaborations
    WHERE {filters} AND opener = 'Chef' AND {category} IS NOT NULL GROUP BY ALL ORDER BY ALL
"""
_DECLINE = "SELECT * FROM overcooked_decline WHERE {filters} ORDER BY model, condition, capability, scale"
_COLLABORATION_FILTERS = ("condition", "model", "level")


def content(read: Reader) -> Part:
    """Everything under the filters."""
    rows = read.rows(_LEVELS)
    if rows.is_empty():
        return note("No Collab-Overcooked game under these filters.", html.Pre("cotrace play overcooked --out logs/\ncotrace ingest logs/"))
    asked = read.rows(_MIX.replace("{category}", "initiating"), filter_on=_COLLABORATION_FILTERS)
    answered = read.rows(_MIX.replace("{category}", "responding"), filter_on=_COLLABORATION_FILTERS)
    return html.Div(
        [
            html.H1("Collab-Overcooked"),
            html.P(
                "A Chef with the recipe and an Assistant at the ingredients cook one order over three shared counters.", className="lead"
            ),
            _stats(rows),
            card(
                "Success rate by level",
                figure("overcooked-sr", rates(rows, "sr", "sr_low", "sr_high", "delivered in time (%)")),
                hint="Share of games whose order is delivered within 1.5 times the published optimal time; 95 % Wilson intervals.",
            ),
            card(
                "Progress completeness by level",
                figure("overcooked-pc", rates(rows, "pc_mean", "pc_low", "pc_high", "PC (%)")),
                hint="Mean trajectory score of both agents against the published references; 95 % intervals over games, none for one. "
                "The table has it against all references too: the published ones leave legal orders out.",
            ),
            card(
                "Initiating by level",
                figure("overcooked-ic", rates(rows, "ic_code", "ic_low", "ic_high", "right requests (%)")),
                hint="Right requests of all conversations that the Chef opened, as the published code counts; intervals over games.",
            ),
            card(
                "Responding by level",
                figure("overcooked-rc", rates(rows, "rc_code", "rc_low", "rc_high", "right answers (%)")),
                hint="Right answers of the same conversations.",
            ),
            card("Request and answer", figure("overcooked-confusion", confusion(read.rows(_CONFUSION, filter_on=_COLLABORATION_FILTERS)))),
            card("Requests by position in the task", figure("overcooked-asked", mix(asked, INITIATING)), hint=_POSITION),
            card("Answers by position in the task", figure("overcooked-answered", mix(answered, RESPONDING)), hint=_POSITION),
            card("Levels", _table(rows)),
            card("Decline", _decline(read.rows(_DECLINE, filter_on=("condition", "model"))), hint=_SLOPE),
        ]
    )


_POSITION = "Quarters of the task by the progress before the conversation; the numbers are conversations."
_SLOPE = (
    "Change of the share that goes right over the whole task (course) or with each level; below zero is a decline. "
    "Small groups swing widely: read the counts first."
)


def report_figure(read: Reader) -> go.Figure | None:
    """Success by level; None without games."""
    rows = read.rows(_LEVELS)
    return None if rows.is_empty() else rates(rows, "sr", "sr_low", "sr_high", "delivered in time (%)")


def rates(rows: pl.DataFrame, value: str, low: str, high: str, title: str) -> go.Figure:
    """A number in percent by level with its interval, models side by side."""
    import plotly.graph_objects as go

    drawn = go.Figure()
    models = rows["model"].unique(maintain_order=True).to_list()
    for number, model in enumerate(models):
        part = rows.filter(model=model)
        shift = 0.7 * ((number + 0.5) / len(models) - 0.5)
        drawn.add_scatter(
            x=[int(level) + shift for level in part["level"]],
            y=part[value].to_list(),
            mode="markers",
            name=plain(model),
            marker={"size": 9, "color": MODEL_COLORS[number % len(MODEL_COLORS)]},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": (part[high] - part[value]).fill_null(0).to_list(),
                "arrayminus": (part[value] - part[low]).fill_null(0).to_list(),
                "thickness": 1.5,
            },
            customdata=[
                [Address(game.PATH).to(model=str(row["model"]), level=str(row["level"])), row["n_games"], row["conversations"]]
                for row in part.iter_rows(named=True)
            ],
            hovertemplate="%{fullData.name}: %{y:.1f} %, %{customdata[1]} games, %{customdata[2]} conversations<extra></extra>",
        )
    drawn.update_xaxes(title="level", dtick=1, range=[0.5, 6.5])
    drawn.update_yaxes(title=title, range=[-3, 103])
    return styled(drawn, height=400)


def confusion(rows: pl.DataFrame) -> go.Figure:
    """Conversations by whether request and answer were right."""
    import plotly.graph_objects as go

    counts = {(row["initiate_ok"], row["respond_ok"]): row["n"] for row in rows.iter_rows(named=True)}
    total = sum(counts.values()) or 1
    cells = [[counts.get((asked, answered), 0) for answered in (True, False)] for asked in (False, True)]
    words = [[f"{count} ({100 * count / total:.0f} %)" for count in row] for row in cells]
    drawn = go.Figure(
        go.Heatmap(
            z=cells,
            x=["answer right", "answer wrong"],
            y=["request wrong", "request right"],
            text=words,
            texttemplate="%{text}",
            colorscale="Blues",
            showscale=False,
            xgap=3,
            ygap=3,
            hovertemplate="%{y}, %{x}: %{text}<extra></extra>",
        )
    )
    return styled(drawn, height=280, legend=False)


def mix(rows: pl.DataFrame, order: tuple[str, ...]) -> go.Figure:
    """Shares of categories in each quarter of the task, stacked; the counts stand on the bars."""
    import plotly.graph_objects as go

    drawn = go.Figure()
    totals = dict.fromkeys(range(1, 5), 0)
    for row in rows.iter_rows(named=True):
        totals[row["position"]] += row["n"]
    for category in order:
        part = {row["position"]: row["n"] for row in rows.iter_rows(named=True) if row["category"] == category}
        if not part:
            continue
        drawn.add_bar(
            x=list(totals),
            y=[100 * part.get(position, 0) / total if total else 0 for position, total in totals.items()],
            text=[str(part.get(position) or "") for position in totals],
            name=category.replace("_", " "),
            marker={"color": color_of(category, order)},
            hovertemplate="quarter %{x}: %{y:.0f} %<extra>%{fullData.name}</extra>",
        )
    drawn.update_layout(barmode="stack")
    drawn.update_xaxes(title="quarter of the task", dtick=1)
    drawn.update_yaxes(title="share (%)", range=[0, 103])
    return styled(drawn, height=380)


def _stats(rows: pl.DataFrame) -> Part:
    games, wins = int(rows["n_games"].sum()), int(rows["wins"].sum())
    talks = int(rows["conversations"].sum())
    return html.Div(
        [
            stat("delivered in time", rate(wins, games)),
            stat("right requests", rate(int(rows["initiated_n"].sum()), talks)),
            stat("right answers", rate(int(rows["responded_n"].sum()), talks)),
        ],
        className="stats",
    )


def _table(rows: pl.DataFrame) -> Part:
    columns = {
        "model": "Model",
        "level": "Level",
        "wins": "Delivered",
        "n_games": "of",
        "sr": "SR %",
        "pc_mean": "PC %",
        "pc_fair_mean": "PC %, all references",
        "conversations": "Conversations",
        "ic_code": "IC %, code",
        "ic_paper": "IC %, paper",
        "rc_code": "RC %, code",
        "rc_paper": "RC %, paper",
    }
    percents = dict.fromkeys(("sr", "pc_mean", "pc_fair_mean", "ic_code", "ic_paper", "rc_code", "rc_paper"), _tenths)
    return table(rows, columns, link=_games_of, show=percents)


def _games_of(row: Any) -> str:
    return Address(game.PATH).to(model=str(row["model"]), level=str(row["level"]))


def _decline(rows: pl.DataFrame) -> Part:
    columns = {
        "model": "Model",
        "capability": "Capability",
        "scale": "Over",
        "n": "Conversations",
        "rate": "Right",
        "n_first": "First",
        "rate_first": "Right",
        "n_last": "Last",
        "rate_last": "Right ",
        "slope": "Slope",
    }
    return table(rows, columns)


def _tenths(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
