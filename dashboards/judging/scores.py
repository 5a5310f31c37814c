"""Judge scores: each question's mean, where the oracle was followed and where it was not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from dashboards.figures.theme import MODEL_COLORS, color_of, plain, styled
from dashboards.judging.common import choices, chosen
from dashboards.parts import Part, card, figure, note, number, table
from dashboards.reader import Reader

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

__all__ = ["SECTION", "TITLE", "chart", "content", "report_figure"]

SECTION = "scores"
TITLE = "Scores"

_OUTCOMES = ("followed", "not_followed")


def content(read: Reader, rubric: str) -> Part:
    """Scores of the rubric by one judge: `?judge=...&variant=...`."""
    address = read.address
    judges = read.rows(
        """
        SELECT DISTINCT judge, coalesce(variant, '') AS variant FROM judge_runs
        WHERE rubric = $rubric AND (variant IS NULL OR NOT starts_with(variant, 'probe:')) ORDER BY ALL
        """,
        {"rubric": rubric},
    )
    if judges.is_empty():
        return note("Nobody has judged this rubric but for probes.")
    judge = chosen(address.one("judge"), judges["judge"].unique(maintain_order=True).to_list())
    variant = chosen(address.one("variant"), judges.filter(judges["judge"] == judge)["variant"].to_list())
    asked = {"rubric": rubric, "judge": judge, "variant": variant, "levels": list(address.all("level")) or None}
    rows = read.rows(
        """
        SELECT * FROM judge_scores_by(true, levels := $levels)
        WHERE {filters} AND rubric = $rubric AND judge = $judge AND coalesce(variant, '') = $variant
        ORDER BY question, model, condition, outcome
        """,
        asked,
        filter_on=("benchmark", "condition", "model"),
    )
    chooser = html.Div(
        [
            choices(address, "Judge", "judge", {name: name for name in judges["judge"].unique(maintain_order=True)}, judge),
            choices(
                address,
                "Walls",
                "variant",
                {name: name or "as written" for name in judges.filter(judges["judge"] == judge)["variant"]},
                variant,
            ),
        ]
    )
    if rows.is_empty():
        return html.Div([chooser, note("No verdict under these filters.")])
    columns = {
        "question": "Question",
        "model": "Model",
        "condition": "Condition",
        "outcome": "Turn",
        "score_mean": "Mean score",
        "score_sem": "SEM",
        "scored": "Scored",
        "categorised": "Categories",
        "na": "N/A",
        "undecided": "Undecided",
        "failed": "Failed",
        "episodes": "Games",
    }
    return html.Div(
        [
            chooser,
            card(
                "By question, oracle followed or not",
                figure("judge-scores", chart(rows)),
                hint="Mean over units of their scored answers; bars are 95 % intervals over games. "
                "Undecided and failed verdicts count as neither yes nor no.",
            ),
            card("Counts", table(rows.select(*columns), columns, show={"score_sem": number, "score_mean": number})),
        ]
    )


def report_figure(read: Reader) -> go.Figure | None:
    """Every question of every rubric, by the judge with most verdicts; None without verdicts."""
    import polars as pl

    rows = read.rows("SELECT * FROM judge_scores ORDER BY rubric, question, model, condition, outcome")
    if rows.is_empty():
        return None
    most = rows.group_by("judge").agg(pl.col("verdicts").sum()).sort("verdicts", descending=True)["judge"][0]
    return chart(rows.filter(pl.col("judge") == most))


def chart(rows: pl.DataFrame) -> go.Figure:
    """Bars of the mean score (0 to 1) per question and model, a shade for whether the oracle was followed."""
    import plotly.graph_objects as go
    import polars as pl

    drawn = go.Figure()
    models = rows["model"].unique().sort().to_list()
    for model in models:
        for outcome in _OUTCOMES:
            part = rows.filter((pl.col("model") == model) & (pl.col("outcome") == outcome) & pl.col("score_mean").is_not_null())
            if part.is_empty():
                continue
            drawn.add_bar(
                x=part["question"].to_list(),
                y=part["score_mean"].to_list(),
                name=f"{plain(model)}, {outcome.replace('_', ' ')}",
                marker={
                    "color": color_of(model, models) if model in models[: len(MODEL_COLORS)] else None,
                    "opacity": 1 if outcome == "followed" else 0.45,
                },
                error_y=_interval(part),
                customdata=part.select("scored", "undecided", "na", "failed").rows(),
                hovertemplate="%{x}, %{fullData.name}: %{y:.2f}<br>scored %{customdata[0]}, undecided %{customdata[1]}, "
                "N/A %{customdata[2]}, failed %{customdata[3]}<extra></extra>",
            )
    drawn.update_layout(barmode="group")
    drawn.update_yaxes(title="mean score", range=[0, 1.05])
    return styled(drawn, height=420)


def _interval(part: pl.DataFrame) -> dict[str, object]:
    """Bars from score_low to score_high; none of a single game."""
    up, down = part["score_high"] - part["score_mean"], part["score_mean"] - part["score_low"]
    ends = {"array": up.fill_null(0).to_list(), "arrayminus": down.fill_null(0).to_list()}
    return {"type": "data", "symmetric": False, **ends, "color": "#5c6577", "thickness": 1.2}
