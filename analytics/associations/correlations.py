"""The report `correlations`: what goes with progress, and where: over all, inside teams, or only between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from analytics.associations.unit_values import TURN_COLUMNS, codes, judge_columns, say_little, turn_rows, with_judges
from analytics.comparison.game_values import game_values, numbers_of_games
from analytics.statistics.partial_correlations import correlation, ranks, without
from analytics.statistics.regressions import dummies
from analytics.statistics.shifts import holm
from schemas import wording
from schemas.store import Store

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["KINDS", "SUMMARY", "correlations"]

SUMMARY: Final = ("benchmark", "unit", "x", "y", "kind", "n", "tasks", "pearson", "pearson_low", "pearson_high", "spearman", "p_holm")
"""The columns that fit a terminal, beside the advice."""

KINDS: Final = ("pooled", "within teams", "between teams", "partial")
"""Pooled: all units alike. Within teams: each team's mean taken out. Between teams: one point a team. Partial: team, task and, of turns,
turn and turn squared taken out."""

_METRICS: Final = (
    "adherence",
    "refused",
    "clarify",
    "undoing",
    "remove_gap",
    "spirals",
    "turns_wasted",
    "message_length",
    "messages",
    "tokens",
)
_SURE: Final = 0.05
_FEWEST: Final = 8
_ALL_ON_A_LINE: Final = 1 - 1e-9
_Row = dict[str, Any]


def correlations(store: Store, *, metric: str = "score", benchmark: str | None = None) -> pl.DataFrame:
    """One row for each pair of numbers and each kind of correlation; the kind is always said, since kinds contradict each other.

    Columns, in order:

    - benchmark; game: null where a benchmark has one kind of score, else rows are of one game.
    - unit: games or turns; x: a number of the game, or of the turn; y: `metric` of the game, or gain (progress of the turn).
    - kind: one of `KINDS`. n: units, or teams between teams; teams; tasks.
    - pearson, pearson_low, pearson_high; spearman, ..._low, ..._high: with 95 % intervals over tasks (each left out in turn; between teams
      over teams); null ends where there are fewer than four, where leaving one out changes nothing (all on one line), and, but for between
      teams, where the numbers are hardly ever other than usual (`analytics.associations.unit_values.say_little`).
    - p: of no linear relation; p_holm: corrected for all rows of the game. advice: what follows, and what does not.

    Args:
        store: a store with the views.
        metric: of the games, as in `report compare`.
        benchmark: only this one; None: all.

    Raises:
        UsageError: the store has no such metric.
    """
    import polars as pl

    games, turns = _games(store, metric), turn_rows(store, benchmark)
    if benchmark is not None:
        games = games.filter(pl.col("benchmark") == benchmark)
    rows: list[_Row] = []
    for name, game in pl.concat(part.select("benchmark", "game") for part in (turns, games)).unique().sort(pl.all()).iter_rows():
        of_turns, of_games = (part.filter(pl.col("benchmark") == name, pl.col("game").eq_missing(pl.lit(game))) for part in (turns, games))
        family = [
            {"benchmark": name, "game": game} | row
            for unit, part, y in (("games", of_games, metric), ("turns", of_turns, "gain"))
            for x in _columns(part, unit)
            if x != y
            for row in _kinds(part, unit, x, y)
        ]
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row["p_holm"] = p
        for row in family:
            row["advice"] = _advice(row, family)
        rows += family
    return pl.DataFrame([{column: row[column] for column in _schema()} for row in rows], schema=_schema(), orient="row")


def _schema() -> dict[str, pl.DataType]:
    import polars as pl

    schema: dict[str, pl.DataType] = dict.fromkeys(("benchmark", "game", "unit", "x", "y", "kind"), pl.String())
    schema |= dict.fromkeys(("n", "teams", "tasks"), pl.Int64())
    measured = [f"{name}{end}" for name in ("pearson", "spearman") for end in ("", "_low", "_high")]
    return schema | dict.fromkeys((*measured, "p", "p_holm"), pl.Float64()) | {"advice": pl.String()}


def _games(store: Store, metric: str) -> pl.DataFrame:
    """Each game that has the metric, with all other numbers it has as columns."""
    import polars as pl

    games = game_values(store, metric).select("episode_id", "benchmark", "game", "team_name", "task", pl.col("value").alias(metric))
    for name in _METRICS:
        if name != metric:
            found = numbers_of_games(store, name).select("episode_id", pl.col("value").alias(name))
            games = games.join(found, on="episode_id", how="left", maintain_order="left")
    return with_judges(store, games, ["episode_id"])


def _columns(rows: pl.DataFrame, unit: str) -> list[str]:
    judged = judge_columns(rows)
    return [name for name in (*(TURN_COLUMNS if unit == "turns" else _METRICS), *judged) if name in rows.columns]


def _kinds(rows: pl.DataFrame, unit: str, x: str, y: str) -> Iterator[_Row]:
    import polars as pl

    rows = rows.filter(pl.col(x).is_finite() & pl.col(y).is_finite())
    if len(rows) < _FEWEST or rows[x].n_unique() == 1 or rows[y].n_unique() == 1:
        return
    first, second, clusters = rows[x].to_numpy().astype(float), rows[y].to_numpy().astype(float), codes(rows["task"])
    teams = dummies(rows["team_name"].to_list(), "team ")
    shared = {"unit": unit, "x": x, "y": y, "n": len(rows), "teams": len(teams) + 1, "tasks": int(clusters.max()) + 1}
    shared["is_seldom"] = say_little(first, second)
    held = teams | dummies(rows["task"].to_list(), "task ")
    if unit == "turns":
        turn = rows["turn"].to_numpy().astype(float)
        held |= {"turn": turn, "turn squared": turn**2}
    yield from _measured(shared | {"kind": "pooled"}, first, second, clusters, {})
    if teams:
        yield from _measured(shared | {"kind": "within teams"}, first, second, clusters, teams, groups=codes(rows["team_name"]))
    means = rows.group_by("team_name", maintain_order=True).agg(pl.col(x).mean(), pl.col(y).mean())
    if len(means) > 2:  # noqa: PLR2004 - two points always lie on a line
        a, b = means[x].to_numpy(), means[y].to_numpy()
        between = shared | {"kind": "between teams", "n": len(means), "is_seldom": False}
        yield from _measured(between, a, b, codes(means["team_name"]), {})
    if len(held) < len(rows) - _FEWEST:
        yield from _measured(shared | {"kind": "partial"}, first, second, clusters, held)


def _measured(  # noqa: PLR0913
    row: _Row, x: Floats, y: Floats, clusters: NDArray[np.int64], held: dict[str, Floats], *, groups: NDArray[np.int64] | None = None
) -> Iterator[_Row]:
    """`groups`: where `held` are the levels of groups, which group each row is of."""
    import numpy as np

    rest = without(np.column_stack([x, y, ranks(x), ranks(y)]), held)
    pearson = correlation(rest[:, 0], rest[:, 1], clusters, len(held), groups)
    if pearson is None:
        return
    spearman = correlation(rest[:, 2], rest[:, 3], clusters, len(held), groups)
    names = [f"{name}{end}" for name in ("pearson", "spearman") for end in ("", "_low", "_high")]
    found = dict(zip(names, (*pearson[:3], *(spearman or (None,) * 3)[:3]), strict=True)) | {"p": pearson.p}
    if row["is_seldom"]:
        found |= dict.fromkeys(name for name in found if name not in {"pearson", "spearman"})
    yield row | found


def _advice(row: _Row, family: list[_Row]) -> str:
    about = f"{row['x']} and {row['y']}, {row['unit']}, {row['kind']}: r = {wording.coefficient(row['pearson'])}"
    if row["is_seldom"]:
        return f"{about}; {row['x']} or {row['y']} is hardly ever other than usual: too few units say anything, so nothing follows"
    if row["p"] is None:
        over = "teams" if row["kind"] == "between teams" else "tasks"
        if abs(row["pearson"]) > _ALL_ON_A_LINE:
            return f"{about}: all on one line, so leaving out {over} gives no interval; a definition may join them, or there are few {over}"
        return f"{about}; too few {over} for an interval: nothing follows"
    rho = "" if row["spearman"] is None else f", rho = {wording.coefficient(row['spearman'])}"
    about += f" ({wording.coefficient(row['pearson_low'])} to {wording.coefficient(row['pearson_high'])}){rho}"
    chance = wording.chance(row["p"], row["p_holm"], sum(other["p"] is not None for other in family))
    if row["p_holm"] >= _SURE:
        return f"{about}; none shown ({chance})"
    return f"{about}; {_means(row)} ({chance}){_against(row, family)}"


def _means(row: _Row) -> str:
    return {
        "pooled": "they go together over all units, which mixes what is so inside teams with differences between them",
        "within teams": "units of the same team go together",
        "between teams": f"teams go together, {row['n']} points: anything else that differs between these teams may be the reason",
        "partial": "they go together with the same team, task and turn; no proof of a cause",
    }[str(row["kind"])]


def _against(row: _Row, family: list[_Row]) -> str:
    """Kinds of the same pair that say the opposite."""
    same = [other for other in family if (other["unit"], other["x"], other["y"]) == (row["unit"], row["x"], row["y"])]
    kinds = [other["kind"] for other in same if other["pearson"] * row["pearson"] < 0 and (other["p_holm"] or 1) < _SURE]
    return f"; the opposite holds {' and '.join(kinds)}" if kinds else ""
