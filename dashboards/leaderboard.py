"""Leaderboards: the teams of a family from best to worst, drawn and in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from dash import html

from dashboards.address import GAME
from dashboards.figures.dots import Axis, Dot, dot_plot
from dashboards.grid import Grid, few, fold
from dashboards.one_benchmark import narrowed
from dashboards.parts import Part, card, figure
from dashboards.reader import Reader
from dashboards.tables import GridColumn, TableRows
from dashboards.teams import team_names
from schemas import wording
from schemas.families import family

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

__all__ = ["LEADERBOARD", "LEAST_GAMES", "games_of_team", "leaderboard", "leaderboard_card", "leaderboard_rows"]

_TEAMS: Final = 30
"""Teams that are drawn; the table has all."""
LEAST_GAMES: Final = 2
"""Games from which on a team has an interval; single games stand in the table alone."""

_LEADERBOARD = """
    SELECT * FROM leaderboard_by(levels := $levels) WHERE {filters}
    ORDER BY benchmark, score_mean DESC NULLS LAST, model, condition
"""


def leaderboard_rows(read: Reader) -> pl.DataFrame:
    """The leaderboard view under the filters; with a tier filter, means over the games of these tiers."""
    return read.rows(_LEADERBOARD, {"levels": list(read.address.all("level")) or None}, filter_on=("benchmark", "condition", "model"))


def leaderboard_card(read: Reader, benchmark: str) -> Part:
    """The family's teams, drawn where they have an interval, and the table of all."""
    read = narrowed(read, benchmark)
    rows = leaderboard_rows(read)
    drawn: list[Part] = []
    for (game,), own in rows.group_by("game", maintain_order=True):
        if (own["n"] >= LEAST_GAMES).any():
            title = html.H3(wording.condition_in_words({"game": game})) if game else None
            drawn += [title, figure(f"leaderboard-{benchmark}-{game or ''}", leaderboard(read, own), label="teams by score")]
    single = int((rows["n"] < LEAST_GAMES).sum())
    left = f" {wording.counted(single, 'team')} with a single game: in the table alone." if single else ""
    ring = " Beside it: the share of the ceiling that verified moves can reach." if rows["ceiling_n"].sum() else ""
    hint = f"Mean score with its 95 % interval.{ring}{left}"
    return card("Leaderboard", *drawn, fold(read, LEADERBOARD, benchmark, is_open=not drawn), few(rows, "leaderboard"), hint=hint)


def leaderboard(read: Reader, rows: pl.DataFrame) -> go.Figure:
    """Teams from best to worst: mean score with its interval, and the share of the ceiling where one is known."""
    found = rows.filter((rows["n"] >= LEAST_GAMES) & rows["score_mean"].is_not_null()).head(_TEAMS)
    entries = list(found.iter_rows(named=True))
    names = team_names(read, entries)
    known = family(str(rows["benchmark"][0]))
    bounded = known is not None and known.score_unit.startswith("0") and all(0 <= row["score_mean"] <= 1 for row in entries)
    dots: list[Dot] = []
    for name, row in zip(names, entries, strict=True):
        link = read.address.narrowed("/spirals", benchmark=row["benchmark"], model=row["model"], condition=row["condition"])
        common = {"line": name.key, "detail": name.detail, "n": row["n"], "link": link}
        dots.append(Dot(value=row["score_mean"], low=row["score_low"], high=row["score_high"], series="score", **common))
        if row["ceiling_share_mean"] is not None:
            dots.append(Dot(value=row["ceiling_share_mean"], series="share of the ceiling", **common))
    return dot_plot(dots, Axis(title="score", high=1 if bounded else None))


def _leaderboard(read: Reader, benchmark: str) -> TableRows:
    return TableRows(
        sql=_LEADERBOARD.replace("{filters}", "{filters} AND benchmark = $benchmark"),
        parameters={"levels": list(read.address.all("level")) or None, "benchmark": benchmark},
        filter_on=("condition", "model"),
        columns={
            "team_name": GridColumn(heading="Team"),
            "condition": GridColumn(heading="Condition", kind="condition"),
            "max_turns": GridColumn(heading="Turn limit", kind="count"),
            "n": GridColumn(heading="Games", kind="count"),
            "score_mean": GridColumn(heading="Score", kind="score", low="score_low", high="score_high"),
            "ceiling_share_mean": GridColumn(heading="Of ceiling", kind="score", hint="score over what verified moves can reach"),
            "success_rate": GridColumn(heading="Goal reached", kind="share", part="successes", whole="n"),
            "failed_rate": GridColumn(heading="Refused actions", kind="share", part="failed", whole="attempted"),
            "clarify_rate": GridColumn(heading="Asked instead", kind="share", part="clarify", whole="turns"),
            "adherence": GridColumn(heading="Followed the oracle", kind="share", part="followed", whole="oracle_turns"),
        },
        link=lambda row: games_of_team(read, row),
    )


def games_of_team(read: Reader, row: Mapping[str, Any]) -> str:
    """Address of a team's games: of the row's family, model and condition, under the other filters."""
    return read.address.narrowed(GAME, benchmark=row["benchmark"], model=row["model"], condition=row["condition"])


LEADERBOARD: Final = Grid("leaderboard", _leaderboard, "In numbers")
