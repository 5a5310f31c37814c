"""How often the ends of a number of labels hold the number that is needed in truth: `labels-needed` and the plans of `power`.

Part of `python -m research coverage`. In truth is: with the mean of the variances that many draws of the scene give. The half-width is
the one that four in ten of the judged units bring, so that neither no label nor all of them is the answer; ends are shares of the judged
units, less the truth.
"""

import math

import numpy as np

from analytics.estimates.needed import needed_ends, spread_of
from analytics.estimates.rates import Spread, labels_needed
from analytics.statistics.intervals import LEVEL, Floats
from research.scenes import Drawn, Scene
from research.simulation import Data, Judged, judged_games

_LABELS_A_GAME = 6
_ACCURACY = 0.85
_SHARE = 0.4
"""Of the judged units, which are labelled when the wished half-width is reached."""
_TRUTH_DRAWS = 400
_BEYOND = 2.0
"""In the place of no number: more than all units."""


def labels_drawn(scene: Scene, data_sets: int, random: np.random.Generator) -> Drawn:
    """Ends of each data set, as shares of the judged units, less the share that is needed."""
    world = Judged(
        scene.games,
        _LABELS_A_GAME * scene.games,
        by_game=False,
        clustering=scene.icc,
        rate=scene.rate,
        accuracy=_ACCURACY,
        unequal=scene.unequal,
    )
    known = [spread_of(own) for own in _by_game(judged_games(world, _TRUTH_DRAWS, random))]
    errors, truth, effect = (
        float(np.mean(found)) for found in zip(*((one.errors, one.truth, one.design_effect) for one in known), strict=True)
    )
    true = Spread(known[0].units, known[0].games, errors, truth, effect)
    half = _half_width(true)
    needed = labels_needed(half, true) or true.units
    ends = [needed_ends(own, spread_of(own), half) for own in _by_game(judged_games(world, data_sets, random))]
    low, high = (np.array([_BEYOND if one[end] is None else (one[end] or 0) / true.units for one in ends]) for end in ("low", "high"))
    return low - needed / true.units, high - needed / true.units


def _half_width(true: Spread) -> float:
    """What labels on that share of the units bring, by the formula of `labels_needed`."""
    from scipy import stats

    of_labels = true.design_effect * true.errors * (1 / (_SHARE * true.units) - 1 / true.units)
    return float(stats.t.ppf((1 + LEVEL) / 2, true.games - 1)) * math.sqrt(true.truth + of_labels)


def _by_game(data: Data) -> list[dict[str, Floats]]:
    """Of each data set the sums by game, as the report has them; labels are 0 and 1."""
    columns = {
        "judged": data.units.scores,
        "units": data.units.sizes,
        "labels": data.labelled.sizes,
        "label_sum": data.labelled.labels,
        "labelled_score": data.labelled.scores,
        "label_squares": data.labelled.labels,
        "score_squares": data.labelled.scores,
        "products": data.errors.yes_found,
    }
    return [{name: found[place].astype(float) for name, found in columns.items()} for place in range(len(data.units.scores))]
