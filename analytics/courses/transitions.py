"""The report `transitions`: which step follows which from turn to turn, inside games."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

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

    Floats = NDArray[np.float64]

__all__ = ["FAILURES", "PROGRESS", "SUMMARY", "Turns", "beside_any_order", "transitions"]

SUMMARY: Final = ("benchmark", "team", "after", "next", "n", "share", "low", "high", "share_expected", "difference", "p_holm")
"""The columns that fit a terminal, beside the advice."""

FAILURES: Final = ("refused", "not_followed")
"""Steps that went wrong, of those of the view `compared_turns`."""
PROGRESS: Final = "progress rises"
"""A next step that is no step: whether the next turn's progress is above this turn's."""
_ANY: Final = "any"
_SURE: Final = 0.05
_FEWEST: Final = 10
_ENOUGH: Final = 50
"""Turns expected to be followed, and not to be, from which on the spread between games is seen well enough."""
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

    Games differ: in a bad one failures follow failures often, and nothing but its level is seen by that. So a share is compared with what
    its own games would give if their turns came in any other order. After a turn each other turn of its game is then as likely to be next,
    so the expected share of `next` is (turns of the game with it, this one left out) / (turns of the game, this one left out), on average
    over the turns with the step. This is exact for games of any length, where a comparison inside games is biased (Nickell 1981,
    Econometrica 49). A level that rises or falls during a game counts as dependence.

    Columns, in order:

    - benchmark, condition, team; after: the step of a turn; next: that of the next turn, or `progress rises`. Steps as in `compared_turns`.
    - turns: turns with that step and a next one (for `progress rises` with measured progress); games; n: of them followed by next.
    - share, low, high: n / turns with its 95 % interval over games; share_expected: the share if the turns of each game came in any order.
    - difference, difference_low, difference_high: share minus share_expected, -1 to 1, with its 95 % interval over games; p: of no
      difference, Student's, where turns are few not below that of an exact binomial test; p_holm: corrected for the benchmark's rows; null
      below four games, and below ten turns.
    - advice: what follows.

    Args:
        store: a store with the views.
        benchmark: only this one; None: all.

    Raises:
        StoreError: the store cannot be read.
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
    numbers = ("share", "low", "high", "share_expected", "difference", "difference_low", "difference_high", "p", "p_holm")
    return schema | dict.fromkeys(numbers, pl.Float64()) | {"advice": pl.String()}


def _pairs(store: Store) -> pl.DataFrame:
    """Of each game its turns, counted by step, next step (null where none is known), and whether progress rose in either."""
    return query(
        store,
        "SELECT benchmark, condition, team_name, hash(episode_id) AS game, after, rose, next, rises, n FROM ("
        "SELECT episode_id, step AS after, gain > 1e-9 AS rose, CASE WHEN adjacent THEN next END AS next, "
        "CASE WHEN adjacent THEN next_gain > 1e-9 END AS rises, count(*) AS n FROM ("
        "SELECT *, lead(step) OVER game AS next, lead(gain) OVER game AS next_gain, lead(turn) OVER game = turn + 1 AS adjacent "
        "FROM (SELECT episode_id, turn, step, gain FROM compared_steps) WINDOW game AS (PARTITION BY episode_id ORDER BY turn)"
        ") GROUP BY ALL) INNER JOIN compared_games USING (episode_id) "
        "QUALIFY count(next) OVER (PARTITION BY episode_id) > 0 ORDER BY benchmark, team_name, condition",
    )


def _of_team(pairs: pl.DataFrame) -> Iterator[_Row]:
    import numpy as np

    games, n = codes(pairs["game"]), pairs["n"].to_numpy().astype(float)
    steps = sorted(pairs["after"].unique())
    is_step = {step: (pairs["after"] == step).to_numpy() for step in steps}
    measured, rose = pairs["rose"].is_not_null().to_numpy(), pairs["rose"].fill_null(value=False).to_numpy()
    has_next, next_measured = pairs["next"].is_not_null().to_numpy(), pairs["rises"].is_not_null().to_numpy()
    rises = pairs["rises"].fill_null(value=False).to_numpy()
    every = np.ones(len(n), dtype=bool)
    for after in steps:
        for step in steps:
            follows = (pairs["next"] == step).fill_null(value=False).to_numpy()
            yield from _row(after, step, games, n, Turns(is_step[after] & has_next, follows, is_step[step], every))
        yield from _row(after, PROGRESS, games, n, Turns(is_step[after] & next_measured, rises, rose, measured))


class Turns(NamedTuple):
    """Which turns count, each shape (rows of `_pairs`,)."""

    here: NDArray[np.bool_]
    """Turns with the step, and a next turn of which is known whether it has what is looked for."""
    follows: NDArray[np.bool_]
    """The next turn has it."""
    has: NDArray[np.bool_]
    """The turn itself has it."""
    known: NDArray[np.bool_]
    """Of the turn itself it is known."""


def beside_any_order(games: NDArray[np.int64], n: Floats, turns: Turns) -> tuple[Floats, Floats, Floats]:
    """By game, shape (games,): turns that are followed, turns that count, and how many would be followed if turns came in any order.

    Args:
        games: of each row, numbers from 0 without gaps, shape (rows,).
        n: turns of each row that are alike.
        turns: which they are.
    """
    import numpy as np

    having, known = np.bincount(games, weights=n * turns.has), np.bincount(games, weights=n * turns.known)
    others = known[games] - turns.known
    expected = np.divide(having[games] - turns.has, others, out=np.zeros_like(n), where=others > 0)
    hits, sizes, chance = (
        np.bincount(games, weights=n * turns.here * of).astype(float) for of in (turns.follows, np.ones_like(n), expected)
    )
    return hits, sizes, chance


def _row(after: str, step: str, games: NDArray[np.int64], n: Floats, turns: Turns) -> Iterator[_Row]:
    import numpy as np

    if not turns.here.any():
        return
    hits, sizes, chance = beside_any_order(games, n, turns)
    ends = share_interval(hits, sizes)
    found = share_difference(hits, sizes, chance, sizes) if sizes.sum() >= _FEWEST else None
    yield {
        "after": after,
        "next": step,
        "turns": int(sizes.sum()),
        "games": int((sizes > 0).sum()),
        "n": int(hits.sum()),
        "share": float(hits.sum() / sizes.sum()),
        "low": None if np.isnan(ends.low) else float(ends.low),
        "high": None if np.isnan(ends.high) else float(ends.high),
        "share_expected": float(chance.sum() / sizes.sum()),
        "difference": found and found.difference,
        "difference_low": found and found.low,
        "difference_high": found and found.high,
        "p": None if found is None or found.p is None else max(found.p, _binomial_p(hits, sizes, chance)),
    }


def _binomial_p(hits: Floats, sizes: Floats, chance: Floats) -> float:
    """Two-sided p of so many followed turns where each is followed with the expected share; 0 where they are many enough for Student's t.

    Where few games show what follows, the spread between games that they happen to show is too small: without this, p was below 0.001 in
    0.9 % of null data sets of 40 games with a failure on 7 % of turns.
    """
    from scipy import special  # the binomial's tails as scipy.stats has it, which takes a second to load

    n, found, expected = float(sizes.sum()), float(hits.sum()), float(chance.sum())
    if min(expected, n - expected) >= _ENOUGH:
        return 0.0
    below, above = special.bdtr(found, int(n), expected / n), special.bdtrc(found - 1, int(n), expected / n) if found else 1.0
    return float(min(1.0, 2 * min(below, above)))


def _advice(row: _Row, tests: int) -> str:
    found = wording.share(row["share"]) + ("" if row["low"] is None else f" {wording.share_interval(row['low'], row['high'])}")
    after, then = (words.get(row[key], wording.in_words(row[key])) for words, key in ((_AFTER, "after"), (_NEXT, "next")))
    about = f"{row['team']}: after {after} {then} in {found} of {row['turns']} turns"
    if row["p_holm"] is None:
        return f"{about}; too few turns or games that differ to compare with another order of the turns"
    about += f", in {wording.share(row['share_expected'])} if the turns of each game came in any order"
    chance = wording.chance(row["p"], row["p_holm"], tests)
    if row["p_holm"] >= _SURE:
        return f"{about}; no difference shown ({chance})"
    again = row["after"] == row["next"] and row["after"] in FAILURES and row["difference"] > 0
    way = "failures are serially dependent" if again else "more often" if row["difference"] > 0 else "less often"
    return f"{about}; {way} ({chance})"
