"""Forest plots of the reports on what goes with what: a line for each estimate, a dotted line where there is none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from analytics.comparison.game_values import short_names
from dashboards.figures.dots import Axis, Dot, dot_plot
from schemas.text import printable
from schemas.wording import count, counted, in_words

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

__all__ = ["ability_figure", "correlation_figure", "effect_figure", "mediation_figure", "transition_figure"]

_MOST: Final = 16
"""Lines of a figure; the table beside it has all."""
_FAILURES: Final = ("refused", "not_followed", "no_move", "clarify")


def effect_figure(rows: pl.DataFrame) -> go.Figure | None:
    """Coefficients, the surest first: differences, and log odds where an outcome is yes or no."""
    dots = [
        Dot(
            line=f"{in_words(row['predictor'].removeprefix('judge:'))}: {in_words(row['outcome'])}",
            detail=f"{row['scale']}, {count(row['n'])} {row['unit']}, {counted(row['tasks'], 'task')}",
            value=row["coefficient"],
            low=row["low"],
            high=row["high"],
            n=row["tasks"],
            series=row["scale"],
            told=row["formula"],
        )
        for row in _first(rows.sort("p_holm", nulls_last=True, maintain_order=True))
    ]
    return _plot(dots, Axis(title="coefficient", low=None, high=None, lines_at=(0.0,)))


def correlation_figure(rows: pl.DataFrame) -> go.Figure | None:
    """Pearson's coefficients, the kinds of a pair on one line."""
    dots = [
        Dot(
            line=f"{in_words(row['x'])}, {in_words(row['y'])}\0{row['game']}",
            detail=", ".join(filter(None, (row["game"] and printable(in_words(row["game"])), row["unit"]))),
            value=row["pearson"],
            low=row["pearson_low"],
            high=row["pearson_high"],
            n=row["n"],
            series=row["kind"],
        )
        for row in rows.iter_rows(named=True)
    ]
    kept = list(dict.fromkeys(dot.line for dot in dots))[: _MOST // 2]
    return _plot([dot for dot in dots if dot.line in kept], Axis(title="r", low=-1, high=1, lines_at=(0.0,)), n_of="units")


def mediation_figure(rows: pl.DataFrame) -> go.Figure | None:
    """What of a difference goes along with each mediator."""
    short = short_names([*rows["team_a"], *rows["team_b"]])
    dots = [
        Dot(
            line=f"{in_words(row['mediator'])}\0{short[row['team_a']]} {short[row['team_b']]}",
            detail=f"{printable(short[row['team_a']])} ahead of {printable(short[row['team_b']])}",
            value=row["indirect"],
            low=row["low"],
            high=row["high"],
            n=row["tasks"],
        )
        for row in _first(rows)
    ]
    return _plot(dots, Axis(title="of the difference", low=None, high=None, lines_at=(0.0,)), n_of="tasks")


def transition_figure(rows: pl.DataFrame) -> go.Figure | None:
    """What comes after a failure, over all teams, and how often it would come in any order of turns, the surest first."""
    import polars as pl

    dots = []
    shown = rows.filter(pl.col("team") == "any", pl.col("condition") == "any", pl.col("after").is_in(_FAILURES))
    for row in shown.sort("p_holm", "p", nulls_last=True, maintain_order=True).iter_rows(named=True):
        line = f"{in_words(row['after'])}, then {in_words(row['next'])}"
        n = f"{counted(row['turns'], 'turn')} of {counted(row['games'], 'game')}"
        dots += [
            Dot(line=line, detail=n, value=row["share"], low=row["low"], high=row["high"], n=row["games"], series="after it"),
            Dot(line=line, value=row["share_expected"], series="in any order"),
        ]
    return _plot(dots[: 2 * _MOST], Axis(title="share of turns", is_share=True))


def ability_figure(rows: pl.DataFrame) -> go.Figure | None:
    """Teams and tasks by their place on the scale: a person-item figure."""
    import polars as pl

    dots = []
    for kind in ("team", "task"):
        own = rows.filter(pl.col("kind") == kind, pl.col("value").is_not_null()).sort("value", descending=True)
        names = short_names(own["name"].to_list()) if kind == "team" else {}
        dots += [
            Dot(
                line=f"{printable(names.get(row['name'], row['name']))}\0{kind} {row['game']} {row['condition']} {row['max_turns']}",
                detail=f"{kind}, {printable(in_words(row['game'])) + ', ' if row['game'] else ''}{counted(row['games'], 'game')}"
                + (f", {row['condition']}" if row["condition"] else ""),
                value=row["value"],
                low=row["low"],
                high=row["high"],
                n=row["games"],
                series=f"{kind}s",
            )
            for row in _spread(own, _MOST // 2)
        ]
    scales = [str(scale) for scale in rows["scale"].unique()]
    return _plot(dots, Axis(title=" or ".join(scales), low=None, high=None, lines_at=(0.0,)))


def _first(rows: pl.DataFrame) -> Iterable[dict[str, Any]]:
    return rows.head(_MOST).iter_rows(named=True)


def _spread(rows: pl.DataFrame, most: int) -> Iterable[dict[str, Any]]:
    """All rows, or as many as fit from the whole range."""
    step = max(1, -(-len(rows) // most))
    return rows.gather_every(step).iter_rows(named=True)


def _plot(dots: Sequence[Dot], axis: Axis, n_of: str = "games") -> go.Figure | None:
    return dot_plot(dots, axis, n_of=n_of) if any(dot.value is not None for dot in dots) else None
