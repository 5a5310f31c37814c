"""The report `transitions`: what follows on what from turn to turn, and what comes after a failure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from analytics.associations.unit_values import codes
from analytics.comparison.team_names import names_under
from analytics.query import query
from analytics.statistics.cluster_intervals import share_interval
from analytics.statistics.share_differences import share_difference
from analytics.statistics.shifts import holm
from schemas import wording
from schemas.store import Store

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["FAILURES", "PROGRESS", "SUMMARY", "transitions"]

SUMMARY: Final = ("benchmark", "team", "after", "next", "n", "share", "low", "high", "share_else", "difference", "p_holm")
"""The columns that fit a terminal, beside the advice."""

FAILURES: Final = ("refused", "not_followed")
"""Steps that went wrong, of those of the view `compared_turns`."""
PROGRESS: Final = "progress rises"
"""A next step that is no step: whether the next turn's progress is above this turn's."""
_ANY: Final = "any"
_SURE: Final = 0.05
_FEWEST: Final = 10
_Row = dict[str, Any]

_AFTER: Final = {
    "followed": "a turn with a verified action",
    "not_followed": "a turn with another action than the verified ones",
    "refused": "a refused turn",
    "accepted": "a turn that was carried out",
    "clarify": "a turn with a question",
    "no_move": "a turn without an action",
}
"""Step -> the turn that had it, in words."""

_NEXT: Final = {
    "followed": "a verified action is next",
    "not_followed": "another action than the verified ones is next",
    "refused": "the next is refused",
    "accepted": "the next is carried out",
    "clarify": "a question is next",
    "no_move": "nobody acts next",
    PROGRESS: "progress rises next",
}
"""Next step -> what then happens, in words."""


def transitions(store: Store, *, benchmark: str | None = None) -> pl.DataFrame:
    """One row for each team, step and next step; team `any` is all teams together.

    Columns, in order:

    - benchmark, condition, team; after: the step of a turn; next: that of the next turn, or `progress rises`. Steps as in `compared_turns`.
    - turns: turns with that step and a next one (for `progress rises` with measured progress); games; n: of them followed by next.
    - share, low, high: n / turns with its 95 % interval over games; share_else: the same after all other steps of the team's games.
    - difference, difference_low, difference_high: share minus share_else; p: of no difference; p_holm: corrected for the benchmark's rows;
      null below four games, and where one side has fewer than ten turns.
    - advice: what follows.

    Args:
        store: a store with the views.
        benchmark: only this one; None: all.
    """
    import polars as pl

    turns = _pairs(store)
    rows: list[_Row] = []
    for (name,), part in turns.group_by("benchmark", maintain_order=True):
        if benchmark not in (None, name):
            continue
        teams = [(_ANY, _ANY, part)]
        if part["team_name"].n_unique() > 1 or part["condition"].n_unique() > 1:
            teams += [(str(team), str(one), some) for (team, one), some in part.group_by("team_name", "condition", maintain_order=True)]
        shared = {"benchmark": name}
        family = [shared | {"condition": one, "team": team} | row for team, one, some in teams for row in _of_team(some)]
        names = names_under((row["team"], row["condition"]) for row in family if row["team"] != _ANY)
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row["p_holm"] = p
            row["advice"] = _advice(
                row | {"team": names.get((row["team"], row["condition"]), "all teams")}, sum(other["p"] is not None for other in family)
            )
        rows += family
    return pl.DataFrame([{column: row[column] for column in _schema()} for row in rows], schema=_schema(), orient="row")


def _schema() -> dict[str, pl.DataType]:
    import polars as pl

    schema: dict[str, pl.DataType] = dict.fromkeys(("benchmark", "condition", "team", "after", "next"), pl.String())
    schema |= dict.fromkeys(("turns", "games", "n"), pl.Int64())
    numbers = ("share", "low", "high", "share_else", "difference", "difference_low", "difference_high", "p", "p_holm")
    return schema | dict.fromkeys(numbers, pl.Float64()) | {"advice": pl.String()}


def _pairs(store: Store) -> pl.DataFrame:
    """Of each game how often a step had a next one, by step, next one and whether progress rose."""
    return query(
        store,
        "SELECT benchmark, condition, team_name, hash(episode_id) AS game, after, next, rises, n FROM ("
        "SELECT episode_id, step AS after, next, rises, count(*) AS n FROM ("
        "SELECT *, lead(step) OVER game AS next, lead(gain) OVER game > 1e-9 AS rises, lead(turn) OVER game = turn + 1 AS adjacent "
        "FROM (SELECT episode_id, turn, step, gain FROM compared_steps) "
        "WINDOW game AS (PARTITION BY episode_id ORDER BY turn) QUALIFY adjacent"
        ") GROUP BY ALL) INNER JOIN compared_games USING (episode_id) ORDER BY benchmark, team_name, condition",
    )


def _of_team(pairs: pl.DataFrame) -> Iterator[_Row]:
    import polars as pl

    steps = sorted({*pairs["after"].unique(), *pairs["next"].unique()})
    measured = pairs.filter(pl.col("rises").is_not_null())
    games, measured_games = codes(pairs["game"]), codes(measured["game"])
    for after in pairs["after"].unique().sort():
        for step in steps:
            yield from _row(pairs, games, after, step, pairs["next"] == step)
        yield from _row(measured, measured_games, after, PROGRESS, measured["rises"])


def _row(pairs: pl.DataFrame, games: NDArray[np.int64], after: str, step: str, happened: pl.Series) -> Iterator[_Row]:
    import numpy as np

    is_after, n = (pairs["after"] == after).to_numpy(), pairs["n"].to_numpy().astype(float)
    if not is_after.any():
        return
    hits, here, elsewhere = n * happened.to_numpy(), n * is_after, n * ~is_after
    sums = [np.bincount(games, weights=one).astype(float) for one in (hits * is_after, here, hits * ~is_after, elsewhere)]
    ends = share_interval(sums[0], sums[1])
    found = share_difference(*sums) if min(here.sum(), elsewhere.sum()) >= _FEWEST else None
    yield {
        "after": after,
        "next": step,
        "turns": int(here.sum()),
        "games": int((sums[1] > 0).sum()),
        "n": int(sums[0].sum()),
        "share": float(sums[0].sum() / sums[1].sum()),
        "low": None if np.isnan(ends.low) else float(ends.low),
        "high": None if np.isnan(ends.high) else float(ends.high),
        "share_else": float(sums[2].sum() / sums[3].sum()) if sums[3].sum() else None,
        "difference": found and found.difference,
        "difference_low": found and found.low,
        "difference_high": found and found.high,
        "p": found and found.p,
    }


def _advice(row: _Row, tests: int) -> str:
    found = wording.share(row["share"]) + ("" if row["low"] is None else f" {wording.share_interval(row['low'], row['high'])}")
    after, then = (words.get(row[key], wording.in_words(row[key])) for words, key in ((_AFTER, "after"), (_NEXT, "next")))
    about = f"{row['team']}: after {after} {then} in {found} of {row['turns']} turns"
    if row["p_holm"] is None:
        return f"{about}; too few turns or games that differ to compare with other turns"
    about += f", after others in {wording.share(row['share_else'])}"
    chance = wording.chance(row["p"], row["p_holm"], tests)
    if row["p_holm"] >= _SURE:
        return f"{about}; no difference shown ({chance})"
    again = row["after"] == row["next"] and row["after"] in FAILURES and row["difference"] > 0
    way = "failures come in rows" if again else "more often" if row["difference"] > 0 else "less often"
    return f"{about}; {way} ({chance})"
