"""Whether labels can be a random sample of what a judge was asked about, as far as what is known of all units shows it.

A rate can be corrected only if the labelled units are a random sample, or one with known chances, and that is recorded. Whether it was done
so cannot be proven, but it can be refuted: the labelled units and the others are compared in what is known of both. Per trait, the test is
that of a difference of two means over units with each game left out in turn (`analytics.statistics.shifts`), so that it holds for labels
on turns and on whole games; p-values of the traits are corrected by Holm's method. `python -m research claims` has how often that finds
labels that are no random sample.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from analytics.estimates.units import Counted
from analytics.statistics.intervals import Floats
from analytics.statistics.shifts import Shift, holm, share_difference, sign_flip_p

_LEVEL: Final = 0.01
"""P-value below which labels are no random sample: of random ones so many are refused by chance. Differences that are too small to be found
so leave the corrected rate where it should be, since it allows for the judge's answers (`python -m research claims`)."""
_NOTHING: Final = 1e-9
_FEWEST_ALIKE: Final = 4
"""Games with units of both sides below which games that are all alike say nothing."""
_MOST_NAMES: Final = 8
"""Agents, and tasks, that are looked at one by one: those with most units."""


class Side(NamedTuple):
    """Units with labels, or those without, by game, shape (games,)."""

    sums: Floats
    """Of the trait, 0 to units."""
    units: Floats


class Balance(NamedTuple):
    """Of one judge, question and set of games."""

    trait: str | None
    """In what labelled and other units differ most surely; None: no difference is shown, or nothing could be tested."""
    labelled: float | None
    """Mean of that trait over labelled units, 0 to 1."""
    others: float | None
    p: float | None
    """The smallest p-value, by Holm's method; None: too few games or labels to test, or all units are labelled."""
    is_untested: bool
    """Whether there are units without a label, and too few games or labels leave open whether these are like the others."""
    is_unrecorded: bool = False
    """Whether there are units without a label, and of some label it is not known how its unit was chosen. Then no test is enough: with a
    judge that is hardly better than chance nothing shows that labels depend on the truth."""


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


def balance_of(units: Counted) -> Balance:
    """Whether labels can be a random sample of these units, or one with the chances that were recorded.

    With recorded chances labelled units, weighted by 1 over them, are compared with all units; else with the units that have no label.

    Args:
        units: as `analytics.estimates.units.population` gives them, of one judge and question.
    """
    found = {name: (sides, trait_shift(*sides)) for name, sides in _traits(units)}
    corrected = holm([shift.p for _, shift in found.values()])
    tested = [(p, name) for name, p in zip(found, corrected, strict=True) if p is not None]
    p, name = min(tested, default=(None, None))
    doubts = is_untested(units, found.values()), is_unrecorded(units)
    if p is None or name is None or p >= _LEVEL:
        return Balance(None, None, None, p, *doubts)
    labelled, others = (float(side.sums.sum() / side.units.sum()) for side in found[name][0])
    return Balance(name, labelled, others, p, *doubts)


def is_untested(units: Counted, found: Iterable[tuple[tuple[Side, Side], Shift]] | None = None) -> bool:
    """`Balance.is_untested` of these units, which takes no more traits than it must; `found` are those of the units, where known."""
    tests = ((sides, trait_shift(*sides)) for _, sides in _traits(units)) if found is None else found
    # enough games with units of both sides, alike in a trait: then a missing p-value is not a lack of games
    return not (units.ways["weight"] > 0).all() and not any(
        shift.p is not None or ((labelled.units > 0) & (others.units > 0)).sum() >= _FEWEST_ALIKE for (labelled, others), shift in tests
    )


def is_unrecorded(units: Counted) -> bool:
    """`Balance.is_unrecorded` of these units."""
    has_label = units.ways["weight"] > 0
    return not has_label.all() and not units.ways.filter(has_label)["is_sample"].all()


def _traits(units: Counted) -> Iterator[tuple[str, tuple[Side, Side]]]:
    """Of what is known of all units, the labelled ones and the others."""
    weight, score, is_answered = (units.ways[name].to_numpy() for name in ("weight", "score", "is_answered"))
    weights = np.array([weight, np.ones_like(weight) if units.ways["drawn"].is_not_null().any() else weight == 0])
    has_score = is_answered & ~np.isnan(score)
    of_ways = np.vstack(
        [weights, weights * np.where(has_score, score, 0), weights * has_score, weights * ~is_answered, np.ones_like(weight)]
    )
    totals, answers, answered, abstained, (asked,) = np.split(units.sums(of_ways), (2, 4, 6, 8))
    if not totals.any(axis=1).all():  # nothing to compare
        return

    def sides(sums: Floats, sizes: Floats = totals) -> tuple[Side, Side]:
        return Side(sums[0], sizes[0]), Side(sums[1], sizes[1])

    yield "the judge's answer", sides(answers, answered)
    for name, column in (("the turn", "place"), ("the length of the message", "long"), ("the score of the game", "reached")):
        trait = units.cells.counts[column].to_numpy()
        known = ~np.isnan(trait)
        sums = units.sums(weights, times=np.nan_to_num(trait))
        yield name, sides(sums, totals if known.all() else units.sums(weights, times=known))
    yield "abstention", sides(abstained)
    of_agent = {str(name): rows for (name,), rows in units.cells.agents.partition_by("agent", as_dict=True).items()}
    for name in _most({name: float(units.sums(np.ones((1, len(weight))), rows).sum()) for name, rows in of_agent.items()}):
        yield f"the agent {name}", sides(units.sums(weights, of_agent[name]))
    games = units.cells.games.select("task", place=pl.Series(units.cells.clusters[1])).drop_nulls("task")
    of_task = {str(name): np.array(places) for name, places in games.group_by("task").agg(pl.col("place").unique()).rows()}
    for name in _most({name: float(asked[places].sum()) for name, places in of_task.items()}):
        sums = np.zeros_like(totals)
        sums[:, of_task[name]] = totals[:, of_task[name]]
        yield f"the task {name}", sides(sums)


def _most(amounts: dict[str, float]) -> list[str]:
    """The names with most units, where there are several."""
    some = sorted((-amount, name) for name, amount in amounts.items() if amount)
    return [name for _, name in some[:_MOST_NAMES]] if len(some) > 1 else []
