"""Whether labels can be a random sample of what a judge was asked about, as far as what is known of all units shows it.

A rate can be corrected only if the labelled units are a random sample. That cannot be proven, but it can be refuted: the labelled units and
the others are compared in what is known of both. Per trait, the test is that of a difference of two means over units with each game left
out in turn (`analytics.statistics.share_differences`), so that it holds for labels on turns and on whole games; p-values of the traits are
corrected by Holm's method. `python -m research claims` has how often that finds labels that are no random sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from analytics.statistics.permutation import sign_flip_p
from analytics.statistics.share_differences import share_difference
from analytics.statistics.shifts import Shift, holm

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["NEGLIGIBLE", "Balance", "Side", "balance_of", "trait_shift"]

NEGLIGIBLE: Final = 0.02
"""Share of the units without an answer of the judge up to which a rate of the others stands for all: it is off by so much at most."""

_LEVEL: Final = 0.01
"""P-value below which labels are no random sample: of random ones so many are refused by chance. Differences that are too small to be found
so leave the corrected rate where it should be, since it allows for the judge's answers (`python -m research claims`)."""
_NOTHING: Final = 1e-9
_FEWEST_ALIKE: Final = 4
"""Games with units of both sides below which games that are all alike say nothing."""
_MOST_AGENTS: Final = 8
"""Agents that are looked at one by one: those with most units."""


class Side(NamedTuple):
    """Units with labels, or those without, by game, shape (games,)."""

    sums: Floats
    """Of the trait, 0 to units."""
    units: Floats


class Balance(NamedTuple):
    """Of one judge, question and set of games."""

    asked: int
    """Units that the judge was asked about, N/A left out."""
    abstained: int
    """Of them those without an answer."""
    trait: str | None
    """In what labelled and other units differ most surely; None: no difference is shown, or nothing could be tested."""
    labelled: float | None
    """Mean of that trait over labelled units, 0 to 1."""
    others: float | None
    p: float | None
    """The smallest p-value, by Holm's method; None: too few games or labels to test, or all units are labelled."""
    is_untested: bool
    """Whether units that the judge answered have no label, and too few games or labels leave open whether these are like the others."""

    @property
    def abstains(self) -> bool:
        """Whether units without an answer are more than negligible."""
        return self.abstained > NEGLIGIBLE * self.asked

    @property
    def is_unbalanced(self) -> bool:
        """Whether the units that the judge answered differ from those of them with labels."""
        return self.trait is not None and self.trait != "abstention"


def trait_shift(labelled: Side, others: Side) -> Shift:
    """Mean of a trait over labelled units minus that over the others, with its p-value; None where there is too little.

    Where all games differ by the same, as with labels on the first turns of each, nothing varies between games; the p-value is then that of
    so many games with one sign.
    """
    if not labelled.units.sum() or not others.units.sum():
        return Shift(0.0, None, None, None)
    found = share_difference(labelled.sums, labelled.units, others.sums, others.units)
    has_both = (labelled.units > 0) & (others.units > 0)
    if found.p is not None or has_both.sum() < _FEWEST_ALIKE or abs(found.difference) < _NOTHING:
        return found
    differences = labelled.sums[has_both] / labelled.units[has_both] - others.sums[has_both] / others.units[has_both]
    return found._replace(p=sign_flip_p(differences))


def balance_of(units: pl.DataFrame, is_labelled: str) -> Balance:
    """Whether labels can be a random sample of these units.

    Args:
        units: rows of `analytics.agreement.units.asked_units`, of one judge and question.
        is_labelled: the column that says whether a unit has a label: by_people or by_truth.
    """
    import polars as pl

    decided = units.filter("is_answered")
    found = {name: (sides, trait_shift(*sides)) for name, sides in _traits(units, decided, is_labelled)}
    corrected = holm([shift.p for _, shift in found.values()])
    tested = [(p, name) for name, p in zip(found, corrected, strict=True) if p is not None]
    p, name = min(tested, default=(None, None))
    asked, abstained = int(units["units"].sum()), int(units.filter(~pl.col("is_answered"))["units"].sum())
    is_untested = p is None and not decided[is_labelled].all() and not any(_is_alike(*sides) for sides, _ in found.values())
    if p is None or name is None or p >= _LEVEL:
        return Balance(asked, abstained, None, None, None, p, is_untested)
    labelled, others = (float(side.sums.sum() / side.units.sum()) for side in found[name][0])
    return Balance(asked, abstained, name, labelled, others, p, is_untested)


def _is_alike(labelled: Side, others: Side) -> bool:
    """Whether enough games have units of both sides with the same trait: then no p-value is no lack of games."""
    has_both = (labelled.units > 0) & (others.units > 0)
    return bool(has_both.sum() >= _FEWEST_ALIKE)


def _traits(units: pl.DataFrame, decided: pl.DataFrame, is_labelled: str) -> Iterator[tuple[str, tuple[Side, Side]]]:
    import polars as pl

    n = pl.col("units")
    yield "the judge's answer", _sides(decided, is_labelled, pl.col("score"), n)
    yield "the turn", _sides(decided, is_labelled, pl.col("place"), pl.col("with_place"))
    yield "the score of the game", _sides(decided, is_labelled, pl.col("reached"), pl.col("with_reached"))
    agents = decided.drop_nulls("agent").group_by("agent").agg(n.sum()).sort("units", "agent", descending=[True, False])["agent"]
    for agent in agents.head(_MOST_AGENTS) if len(agents) > 1 else []:
        yield f"the agent {agent}", _sides(decided, is_labelled, n * (pl.col("agent") == agent).fill_null(value=False), n)
    yield "abstention", _sides(units, is_labelled, n * ~pl.col("is_answered"), n)


def _sides(units: pl.DataFrame, is_labelled: str, trait: pl.Expr, n: pl.Expr) -> tuple[Side, Side]:
    import polars as pl

    of = pl.col(is_labelled)
    by_game = units.group_by("game", maintain_order=True).agg(
        labelled=trait.filter(of).sum(), labelled_n=n.filter(of).sum(), others=trait.filter(~of).sum(), others_n=n.filter(~of).sum()
    )
    labelled, labelled_n, others, others_n = (by_game[name].to_numpy().astype(float) for name in by_game.columns[1:])
    return Side(labelled, labelled_n), Side(others, others_n)
