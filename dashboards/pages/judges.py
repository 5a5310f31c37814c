"""Judge scores: each question's mean, where the oracle was followed and where it was not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from dashboards.parts import Part, card, figure, link_choices, note, number, table
from dashboards.reader import Reader
from dashboards.theme import MODEL_COLORS, color_of, plain, styled

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

__all__ = ["IN_MENU", "PATH", "TITLE", "chart", "content", "report_figure"]

PATH = "/judges"
TITLE = "Judge scores"
IN_MENU = True

_OUTCOMES = ("followed", "not_followed")


def content(read: Reader) -> Part:
    """Scores of one rubric by one judge: `?rubric=...&judge=...&variant=...`."""
    address = read.address
    known = read.rows("SELECT DISTINCT rubric, judge, coalesce(variant, '') AS variant FROM verdicts_latest ORDER BY ALL")
    if known.is_empty():
        return note(
            "No judge has scored these games yet. The engine judge needs no model:",
            html.Pre("cotrace judge --rubric spatial_grounding --rubric mind_modeling --rubric pragmatic_sufficiency --judge engine"),
        )
    rubric = _chosen(address.one("rubric"), known["rubric"].unique(maintain_order=True).to_list())
    judges = known.filter(known["rubric"] == rubric)
    judge = _chosen(address.one("judge"), judges["judge"].unique(maintain_order=True).to_list())
    variant = _chosen(address.one("variant"), judges.filter(judges["judge"] == judge)["variant"].to_list())
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
    choices = html.Div(
        [
            link_choices(
                "Rubric",
                [
                    (name.replace("_", " "), address.to(rubric=name, judge=None, variant=None), name == rubric)
                    for name in known["rubric"].unique(maintain_order=True)
                ],
            ),
            link_choices(
                "Judge",
                [(name, address.to(judge=name, variant=None), name == judge) for name in judges["judge"].unique(maintain_order=True)],
            ),
            link_choices(
                "Walls",
                [
                    (name or "as written", address.to(variant=name), name == variant)
                    for name in judges.filter(judges["judge"] == judge)["variant"]
                ],
            ),
        ]
    )
    if rows.is_empty():
        return html.Div([html.H1("Judge scores"), choices, note("No verdict under these filters.")])
    columns = {
        "question": "Question",
        "model": "Model",
        "condition": "Condition",
        "outcome": "Turn",
        "score_mean": "Mean score",
        "score_sem": "SEM",
        "scored": "Scored",
        "na": "N/A",
        "undecided": "Undecided",
        "failed": "Failed",
        "episodes": "Games",
    }
    return html.Div(
        [
            html.H1("Judge scores"),
            choices,
            card(
                "By question, oracle followed or not",
                figure("judge-scores", chart(rows)),
                hint="Mean of the scored answers with one standard error clustered by game. "
                "Undecided and failed verdicts count as neither yes nor no.",
            ),
            _agreement(read, rubric, judge),
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


def _chosen(asked: str, known: list[str]) -> str:
    return asked if asked in known else known[0]


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
                error_y={"type": "data", "array": part["score_sem"].fill_null(0).to_list(), "color": "#5c6577", "thickness": 1.2},
                customdata=part.select("scored", "undecided", "na", "failed").rows(),
                hovertemplate="%{x}, %{fullData.name}: %{y:.2f}<br>scored %{customdata[0]}, undecided %{customdata[1]}, "
                "N/A %{customdata[2]}, failed %{customdata[3]}<extra></extra>",
            )
    drawn.update_layout(barmode="group")
    drawn.update_yaxes(title="mean score", range=[0, 1.05])
    return styled(drawn, height=420)


def _agreement(read: Reader, rubric: str, judge: str) -> Part:
    rows = read.rows(
        """
        SELECT question, rater_a, rater_b, pairs, n, coverage, agreed, agreement, agreement_low, agreement_high, kappa
        FROM agreement WHERE rubric = $rubric AND ($judge IN (rater_a, rater_b)) ORDER BY kind, question, rater_a, rater_b
        """,
        {"rubric": rubric, "judge": judge},
    )
    if rows.is_empty():
        return html.Div()
    columns = {
        "question": "Question",
        "rater_a": "Against",
        "rater_b": "Judge",
        "n": "Both answered",
        "pairs": "of",
        "agreement": "Agreement",
        "agreement_low": "95 % from",
        "agreement_high": "to",
        "kappa": "Cohen's kappa",
    }
    return card(
        "Agreement", table(rows, columns), hint="Against labels (planted truth or people) and other judges, on the answers both gave."
    )
