"""Differences between teams in a judge's answers, corrected by labels: what a judge prefers in one team is no difference of the teams."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from analytics.query import query
from analytics.rates.corrected import rates_of
from analytics.rates.correction import Corrected, difference_of_rates
from analytics.statistics.shifts import holm
from schemas.store import Store

if TYPE_CHECKING:
    import polars as pl

__all__ = ["NOT_CORRECTED", "CorrectedDifference", "corrected_differences"]

_SIDE: Final = ("condition", "max_turns", "team_name")
_QUANTILE: Final = 1.959964
"""Of the normal distribution: what turns the width of a 95 % interval into a standard error."""


class CorrectedDifference(NamedTuple):
    """First team's rate minus the second's, both corrected by labels; None where one of them is not corrected."""

    value: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None


NOT_CORRECTED: Final = CorrectedDifference(None, None, None, None, None)


def corrected_differences(
    store: Store, name: str, judge: str, games: pl.DataFrame, pairs: Iterable[Mapping[str, Any]]
) -> list[CorrectedDifference]:
    """Of each pair of teams, in order: the difference of the rates that `corrected-rates` gives of the games of either.

    Rates are prediction-powered, with games as clusters; none is given where labels are no random sample of the team's units or the judge
    leaves units unanswered. The interval is that of `analytics.rates.correction.difference_of_rates`.

    Args:
        store: a store with the views.
        name: rubric and question, `spatial_grounding.SG1`.
        judge: whose answers.
        games: as `game_values` gives them.
        pairs: rows of `compare`: condition_a, max_turns_a, team_a and the same of b.

    Raises:
        StoreError: the store cannot be read.
    """
    import polars as pl

    rubric, _, question = name.rpartition(".")
    hashes = query(store, "SELECT episode_id, hash(episode_id) AS game FROM episodes")
    sides = {side: str(place) for place, side in enumerate(games.select(_SIDE).unique().rows())}
    groups = games.with_columns(pl.Series("model", [sides[side] for side in games.select(_SIDE).rows()], dtype=pl.String))
    rates = rates_of(
        store, rubric, question, judge, groups.select("episode_id", "model").join(hashes, on="episode_id").select("game", "model")
    )
    found = [_difference(*(rates.get(sides[_side(pair, end)], {}) for end in "ab")) for pair in pairs]
    corrected = holm([one.p for one in found])
    return [one._replace(p_holm=p) for one, p in zip(found, corrected, strict=True)]


def _side(pair: Mapping[str, Any], end: str) -> tuple[Any, ...]:
    return pair[f"condition_{end}"], pair[f"max_turns_{end}"], pair[f"team_{end}"]


def _difference(first: Mapping[str, Any], second: Mapping[str, Any]) -> CorrectedDifference:
    import numpy as np

    if first.get("rate") is None or second.get("rate") is None:
        return NOT_CORRECTED
    sides = (Corrected(*(np.asarray(side[name]) for name in ("rate", "rate_low", "rate_high"))) for side in (first, second))
    value, low, high = map(float, difference_of_rates(*sides))
    half = value - low if value > 0 else high - value  # of the side on which 0 is
    p = math.erfc(abs(value) * _QUANTILE / half / math.sqrt(2)) if half else float(value == 0)  # without a width nothing is in doubt
    return CorrectedDifference(value, low, high, p, None)
