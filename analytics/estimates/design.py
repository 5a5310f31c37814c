"""Which units to label next: a sample with known chances, of the units that judges are least sure of or of each kind of unit."""

import hashlib
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analytics.estimates.units import Asked, asked_units, size_of
from analytics.statistics.intervals import Floats
from schemas.common.errors import UsageError
from schemas.common.wording import share
from schemas.store.store import Store

_UNIFORM: Final = 0.5
"""Share of the chances that is the same for all units, so that no unit that judges are wrongly sure of weighs too much."""
_FEWEST, _MOST = 20, 0.95
_IN_ORDER: Final = 0.8
"""Share of the units that are drawn first below which labels are not taken for the rows of a template."""
_PRIOR: Final = 0.5
"""Yes and no that are added to a unit's answers: one answer does not make sure."""


def drawn_units(store: Store, rubric: str, budget: int, design: str) -> dict[str, float]:
    """Unit -> chance with which it was drawn, of so many units, in the order in which to label them.

    - active: the chance is half the same for all, and half in proportion to how unsure judges are: the standard deviation of a yes of the
      probability that its tokens, or all answers of all judges about the unit together, give. That is the best choice for the width of
      the corrected rate (Zrnic and Candes 2024, Active Statistical Inference, ICML, with their mixing).
    - stratified: as many of each model and answer of the judges, whatever their number (stratified prediction-powered inference, Fisch,
      Maynez, Hofer, Dhingra, Globerson and Cohen 2024, NeurIPS).

    Units are in order of a number that each has by its name, over its chance (sequential Poisson sampling, Ohlsson 1998, Journal of
    Official Statistics 14). So the first rows alone are such a sample as well, and a larger budget continues a smaller one.

    Args:
        store: a store with the views.
        rubric: its name.
        budget: how many units.
        design: active or stratified.

    Raises:
        UsageError: no judge has answered the rubric.
        StoreError: the store cannot be read.
    """
    asked = [found.units.rows() for found in asked_units(store, rubric, by_name=True)]
    if not asked:
        raise UsageError(f"--design {design}: no judge has answered {rubric} yet: run cotrace judge first, or draw with --design random")
    yes = (pl.col("p_yes").fill_null(pl.col("score")).sum() + _PRIOR) / (pl.col("score").count() + 2 * _PRIOR)
    of_question = (
        pl.concat(asked).group_by("unit", "question").agg(yes=yes, model=pl.col("model").first(), predicted=pl.col("score").mean().round())
    )
    units = (
        of_question.sort("unit", "question")
        .group_by("unit", maintain_order=True)
        .agg(
            unsure=(pl.col("yes") * (1 - pl.col("yes"))).mean().sqrt(),
            stratum=pl.concat_str("model", "predicted", ignore_nulls=True).str.join("/"),
        )
    )
    numbers = np.array([number_of(f"{rubric}/{unit}") for unit in units["unit"]])
    n = min(budget, len(units))
    if design == "stratified":
        chances = _equal_numbers(units["stratum"].to_numpy(), n)
    else:
        unsure = units["unsure"].to_numpy()
        chances = _chances(_UNIFORM + (1 - _UNIFORM) * unsure / unsure.mean(), n)
    order = np.argsort(numbers / chances)[:n]
    return {units["unit"][int(place)]: float(chances[place]) for place in order}


def drawing_doubt(asked: Asked) -> str:
    """What to add to a number that labels correct if they are not of the units that `labels template` draws first; empty below 20 labels.

    Of the units that come first in its order, up to where 95 % of those with a label are, nearly all have a label if the labels are of its
    file; fewer if rows were skipped, or units drawn or chosen otherwise.
    """
    found = _share_in_order(asked)
    if found is None or found >= _IN_ORDER:
        return ""
    drawn = f"of the units that cotrace labels template draws first only {share(found)} have a label"
    return f"; by the labels their units were drawn, but {drawn}: if units were chosen or skipped, this misleads, and no test shows it"


def _share_in_order(asked: Asked) -> float | None:
    """Where chances differ, those of units without a label are not recorded; then what chances and numbers of the others imply."""
    if size_of(asked.units.ways.drop_nulls(["drawn", "label"])) < _FEWEST:
        return None
    units = asked.by_name() if asked.by_name else asked.units.rows()
    units = units.filter(pl.col("drawn").is_not_null() | pl.col("label").is_null())
    has_label = units["label"].is_not_null().to_numpy()
    numbers = np.array([number_of(f"{asked.rubric}/{unit}") for unit in units["unit"]])
    chances = units["drawn"].to_numpy()[has_label]
    if len(np.unique(chances)) > 1:
        return float(min(_MOST / np.quantile(numbers[has_label] / chances, _MOST), 1.0))
    first = numbers <= np.quantile(numbers[has_label], _MOST)
    return float(has_label[first].mean())


def number_of(name: str) -> float:
    """Between 0 and 1, always the same of a name."""
    return (int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest()) + 0.5) / 2**64


def _chances(sizes: Floats, n: int) -> Floats:
    """In proportion to sizes, none above 1, adding up to n."""
    chances, is_sure = np.zeros(len(sizes)), np.zeros(len(sizes), dtype=bool)
    while True:
        left = n - is_sure.sum()
        chances = np.where(is_sure, 1.0, left * sizes / max(sizes[~is_sure].sum(), 1e-12))
        if not (over := (chances > 1) & ~is_sure).any():
            return np.minimum(chances, 1.0)
        is_sure |= over


def _equal_numbers(strata: NDArray[np.object_], n: int) -> Floats:
    """Chances that take equally many of each stratum on average, all of those that are smaller."""
    _, places, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    return _chances(1 / sizes[places], n)
