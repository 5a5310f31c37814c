"""Remove gap: how often teams take blocks away, against how often a verified action does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dash import html

from dashboards.figures.theme import INK, MODEL_COLORS, plain, styled
from dashboards.parts import Part, card, figure, link_choices, note, number, table
from dashboards.reader import Reader

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

__all__ = ["BENCHMARK", "IN_MENU", "ORDER", "PATH", "REPORT", "TITLE", "by_turn", "content", "gap_and_progress", "report_figure"]

PATH = "/remove-gap"
TITLE = "Remove gap"
IN_MENU = True
BENCHMARK = "craft"
ORDER = 30
REPORT = "remove-gap"

_READINGS = {"share": "share of listed removals", "any": "any listed removal", "first": "first listed is a removal"}


def content(read: Reader) -> Part:
    """Attempted against oracle removal per turn, a panel a model, and the gap against progress: `?reading=share|any|first`."""
    address = read.address
    reading = address.one("reading") if address.one("reading") in _READINGS else "share"
    levels = list(address.all("level")) or None
    rows = read.rows(
        """
        SELECT * FROM remove_gap_by($reading, levels := $levels) WHERE {filters}
        QUALIFY sum(n) OVER (PARTITION BY model, condition, builder) > 0 ORDER BY model, condition, builder, turn
        """,
        {"reading": reading, "levels": levels},
        filter_on=("condition", "model"),
    )
    choices = link_choices("Oracle side", [(label, address.to(reading=key), key == reading) for key, label in _READINGS.items()])
    if rows.is_empty():
        return html.Div(
            [
                html.H1("Remove gap"),
                choices,
                note("No turn with listed candidates under these filters (the no-oracle conditions list none)."),
            ]
        )
    models = read.rows(
        "SELECT * FROM remove_gap_models_by(levels := $levels) WHERE {filters} AND reading = $reading ORDER BY gap DESC NULLS LAST",
        {"reading": reading, "levels": levels},
        filter_on=("condition", "model"),
    )
    progress = read.rows(
        """
        SELECT model, condition, builder, avg(score) AS progress, count(score) AS games
        FROM games WHERE {filters} AND benchmark = 'craft' GROUP BY ALL
        """
    )
    joined = models.join(progress, on=["model", "condition", "builder"], how="inner", suffix="_scored")
    columns = {
        "model": "Model",
        "builder": "Builder",
        "condition": "Condition",
        "games": "Games",
        "n_attempted": "Moves",
        "n_attempted_remove": "Removals",
        "attempted_rate": "Attempted",
        "n_oracle_turns": "Turns with candidates",
        "oracle_rate": "Oracle",
        "gap": "Gap",
        "gap_mean_of_games": "Mean of games",
        "gap_low": "95 % from",
        "gap_high": "to",
    }
    return html.Div(
        [
            html.H1("Remove gap"),
            html.P(
                "Removals that were attempted, less removals that would have helped. Above zero: the team takes away what it should keep.",
                className="lead",
            ),
            choices,
            card("Per turn", figure("remove-gap", by_turn(rows)), hint="The shaded area is the gap."),
            card(
                "Gap and progress",
                figure("gap-progress", gap_and_progress(joined)),
                hint="A point is a team; bars are 95 % intervals over its games.",
            ),
            card("Per team", table(models.select(*columns), columns, show={"gap_low": number, "gap_high": number})),
        ]
    )


def report_figure(read: Reader) -> go.Figure | None:
    """Attempted and oracle removal per turn in the default reading; None without candidates."""
    rows = read.rows("SELECT * FROM remove_gap ORDER BY model, condition, builder, turn")
    return by_turn(rows) if rows["n"].sum() else None


def by_turn(rows: pl.DataFrame) -> go.Figure:
    """A panel a team: attempted and oracle removal rate over the turns, the area between them shaded."""
    from plotly.subplots import make_subplots

    teams = list(rows.group_by("model", "condition", "builder", maintain_order=True))
    width = min(3, len(teams))
    height = -(-len(teams) // width)
    drawn = make_subplots(
        rows=height,
        cols=width,
        shared_yaxes=True,
        subplot_titles=_titles([tuple(map(str, key)) for key, _ in teams]),
        vertical_spacing=0.32 / height,
        horizontal_spacing=0.04,
    )
    for place, (_, team) in enumerate(teams):
        at = {"row": place // width + 1, "col": place % width + 1}
        common = {"x": team["turn"].to_list(), "mode": "lines", "showlegend": place == 0}
        counts = team.select("n", "n_attempted", "n_attempted_remove").rows()
        drawn.add_scatter(
            **common,
            **at,
            y=team["oracle_rate"].to_list(),
            name="oracle",
            line={"color": MODEL_COLORS[2], "dash": "dot", "width": 2},
            customdata=counts,
            hovertemplate="turn %{x}: oracle %{y:.0%}, n %{customdata[0]}<extra></extra>",
        )
        drawn.add_scatter(
            **common,
            **at,
            y=team["attempted_rate"].to_list(),
            name="attempted",
            line={"color": MODEL_COLORS[1], "width": 2},
            fill="tonexty",
            fillcolor="rgba(217,130,43,.18)",
            customdata=counts,
            hovertemplate="turn %{x}: attempted %{y:.0%} (%{customdata[2]} of %{customdata[1]} moves)<extra></extra>",
        )
    drawn.update_yaxes(range=[0, 1], tickformat=".0%")
    drawn.update_yaxes(title="removals", col=1)
    drawn.update_xaxes(title="turn", row=height)
    styled(drawn, height=130 + 250 * height)
    drawn.update_layout(margin={"t": 80}, legend={"y": 1 + 45 / (250 * height)})
    return drawn


def _titles(teams: Sequence[tuple[str, ...]]) -> list[str]:
    """Of each team the model and, in small letters, the condition and the builder where one model has several."""
    if len({model for model, _, _ in teams}) == len(teams):
        return [plain(model) for model, _, _ in teams]
    varies = [len({team[place] for team in teams}) > 1 for place in (1, 2)]
    small = [", ".join(plain(part) for part, shown in zip(team[1:], varies, strict=True) if shown) for team in teams]
    return [f"{plain(team[0])}<br><sup>{more}</sup>" for team, more in zip(teams, small, strict=True)]


def gap_and_progress(teams: pl.DataFrame) -> go.Figure:
    """Each team's gap (mean of its games, 95 % interval) against its mean progress."""
    import plotly.graph_objects as go

    drawn = go.Figure()
    for place, row in enumerate(teams.iter_rows(named=True)):
        middle, low, high = row["gap_mean_of_games"], row["gap_low"], row["gap_high"]
        known = middle is not None and low is not None
        drawn.add_scatter(
            x=[middle],
            y=[row["progress"]],
            mode="markers+text",
            text=[plain(row["model"])],
            textposition="top center",
            name=plain(row["model"]),
            marker={"size": 10, "color": MODEL_COLORS[place % len(MODEL_COLORS)], "line": {"color": "white", "width": 1}},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [high - middle if known else 0],
                "arrayminus": [middle - low if known else 0],
                "color": "#9aa3b2",
            },
            customdata=[[row["games"], plain(row["condition"])]],
            hovertemplate="%{text} (%{customdata[1]}): gap %{x:.3f}, progress %{y:.3f}, %{customdata[0]} games<extra></extra>",
        )
    drawn.add_vline(x=0, line={"color": INK, "width": 1, "dash": "dot"})
    drawn.update_xaxes(title="remove gap (attempted − oracle)")
    drawn.update_yaxes(title="mean progress", rangemode="tozero")
    return styled(drawn, height=420, legend=False)
