"""Whether labelling may stop as soon as the interval is narrow enough: coverage of the interval at which it stops.

`python -m research label_stop` draws data sets with a known truth (`research.claims`), labels ten more units at a time in random order, and
stops at the first look, from 60 labels of ten games on, at which the half-width is at most 0.10. `always` looks from 20 labels on.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import polars as pl

from analytics.estimates.corrected import Judged, judged_units, rate_row
from analytics.estimates.needed import half_width_of, may_look
from research.claims import Labelling, drawn
from research.pages import put

_WISHED: Final = 0.10
_STEP, _FIRST = 10, 20
WORLDS: Final[dict[str, Labelling]] = {
    "common answer": Labelling(labels=300),
    "rare answer": Labelling(labels=300, rate=0.15),
    "strong clusters": Labelling(labels=300, clustering=0.3),
    "a poor judge": Labelling(labels=400, accuracy=0.65),
}


def stopped(world: Labelling, random: np.random.Generator, *, always: bool) -> Judged:
    """The data set with the labels at which it stops, or with all."""
    whole = drawn(world, random)
    places = random.permutation(np.flatnonzero(whole.population.ways["weight"].to_numpy() > 0))
    found = whole
    for n in range(_FIRST, world.labels + 1, _STEP):
        labelled = np.zeros(len(whole.population.ways), dtype=bool)
        labelled[places[:n]] = True
        units = whole.asked.units.rows().with_columns(label=pl.when(pl.Series(labelled)).then("label"))
        (found,) = judged_units(whole.asked.with_units(units))
        width = half_width_of(found)
        if width is not None and width <= _WISHED and (always or may_look(found)):
            break
    return found


def lines(data_sets: int = 200, seed: int = 2026) -> Iterator[str]:
    """One line a world."""
    yield f"{'to plus or minus 0.10, ' + str(data_sets) + ' data sets':<40}{'rule':>8}{'coverage':>10}{'labels':>8}"
    for name, world in WORLDS.items():
        for rule, always in (("report", False), ("always", True)):
            random = np.random.default_rng(seed)
            rows = [rate_row(stopped(world, random, always=always)) for _ in range(data_sets)]
            held = [row["rate_low"] <= world.rate <= row["rate_high"] for row in rows if row["rate"] is not None]
            labels = np.mean([row["labels"] for row in rows])
            yield f"{name:<40}{rule:>8}{np.mean(held):>10.3f}{labels:>8.0f}"


def main(arguments: Sequence[str]) -> int:
    """Print the table, or write it into the page."""
    return put("label_stop", lines(), arguments)
