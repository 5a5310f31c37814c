"""Several judges without labels, the report `latent-rates`; and several people who label, as a sample of people."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analytics.estimates.units import asked_units, size_of
from analytics.report_columns import framed
from analytics.statistics.intervals import LEVEL, Floats, Interval
from schemas.common.wording import from_to, score
from schemas.store.store import Store

FEWEST_PEOPLE: Final = 3
_STEPS: Final = 500
_NEAR: Final = 1e-8
_FEWEST_UNITS, _FEWEST_GAMES = 50, 10
_PARTS: Final = 20
"""Parts of the games that are left out in turn."""


class Latent(NamedTuple):
    """A model of two latent classes, yes and no."""

    rates: Floats
    """Share of yes of each population, shape (populations,)."""
    sensitivity: Floats
    """Of each rater, shape (raters,)."""
    specificity: Floats
    log_likelihood: float
    posterior: Floats
    """Probability of yes of each unit, shape (units,)."""


def two_classes(answers: Floats, populations: NDArray[np.int64], n: Floats | float = 1.0) -> Latent:
    """Maximum likelihood by expectation and maximisation (Dawid and Skene 1979, Applied Statistics 28), with a rate for each population.

    Raters err independently given the truth, and alike in all populations. Three raters are needed, or two and two populations with unlike
    rates (Hui and Walter 1980, Biometrics 36). Which class is yes is settled by raters being better than chance on average.

    Args:
        answers: shape (units, raters): 1 yes, 0 no, NaN without an answer.
        populations: of each unit, numbers from 0 without gaps.
        n: how many units each row counts.
    """
    is_there, yes = ~np.isnan(answers), np.nan_to_num(answers)
    n = np.broadcast_to(n, len(populations))
    sizes = np.bincount(populations, weights=n)
    posterior = np.clip(yes.sum(axis=1) / np.maximum(is_there.sum(axis=1), 1), 0.05, 0.95)
    before, found = -np.inf, None
    for _ in range(_STEPS):
        rates = np.clip(np.bincount(populations, weights=n * posterior) / sizes, _NEAR, 1 - _NEAR)
        of_yes, of_no = (n * posterior)[:, None] * is_there, (n * (1 - posterior))[:, None] * is_there
        sensitivity = np.clip((of_yes * yes).sum(axis=0) / np.maximum(of_yes.sum(axis=0), _NEAR), _NEAR, 1 - _NEAR)
        specificity = np.clip((of_no * (1 - yes)).sum(axis=0) / np.maximum(of_no.sum(axis=0), _NEAR), _NEAR, 1 - _NEAR)
        if_yes = np.where(is_there, yes * np.log(sensitivity) + (1 - yes) * np.log(1 - sensitivity), 0).sum(axis=1)
        if_no = np.where(is_there, (1 - yes) * np.log(specificity) + yes * np.log(1 - specificity), 0).sum(axis=1)
        one, other = np.log(rates)[populations] + if_yes, np.log1p(-rates)[populations] + if_no
        total = np.logaddexp(one, other)
        posterior = np.exp(one - total)
        found = Latent(rates, sensitivity, specificity, float((n * total).sum()), posterior)
        if found.log_likelihood - before < _NEAR * abs(found.log_likelihood):
            break
        before = found.log_likelihood
    assert found is not None
    if (found.sensitivity + found.specificity).mean() < 1:
        return Latent(1 - found.rates, 1 - found.sensitivity, 1 - found.specificity, found.log_likelihood, 1 - found.posterior)
    return found


def over_people(found: Interval, rate: float, sums: Floats, sizes: Floats) -> Interval | None:
    """The interval of a rate by labels if those who gave them are a sample of people; None below three.

    Each is left out in turn (jackknife), with Student's t: how people differ is seen on as many as there are. In addition to the variance
    between games it is never too small (Cameron, Gelbach and Miller 2011, Journal of Business and Economic Statistics 29).

    Args:
        found: its interval for labels of these people, over games.
        rate: 0 to 1, inside.
        sums: of the labels, or of what they add to a judge's answers, by person.
        sizes: of their weights.
    """
    from scipy import special

    people = len(sizes)
    if people < FEWEST_PEOPLE or np.isnan(rate):
        return None
    without = (sums.sum() - sums) / (sizes.sum() - sizes)
    error = np.sqrt((people - 1) / people * ((without - sums.sum() / sizes.sum()) ** 2).sum())
    half = float(special.stdtrit(people - 1, (1 + LEVEL) / 2) * error)
    return Interval(max(rate - float(np.hypot(rate - found.low, half)), 0.0), min(rate + float(np.hypot(found.high - rate, half)), 1.0))


def latent_rates(store: Store, *, rubric: str | None = None) -> pl.DataFrame:
    """One row for every question and model: the rate without labels, where three judges were asked, or two about two models.

    Columns: `report_columns.csv`. Null with fewer than 50 units or ten games. Answers other than yes and no are left out.

    The model is right only if judges err independently of each other. Judges of one family, or that see the same misleading evidence, do
    not: then the rate is wrong and nothing in these data shows it. Labels of some units do: `corrected-rates`.

    Args:
        store: a store with the views.
        rubric: only this one; None: all.

    Raises:
        StoreError: the store cannot be read.
    """
    found: dict[tuple[str, str], list[pl.DataFrame]] = {}
    for asked in asked_units(store, rubric):
        found.setdefault((asked.rubric, asked.question), []).append(asked.units.rows())
    rows = [{"rubric": name, "question": question} | row for (name, question), units in found.items() for row in rows_without_labels(units)]
    return framed("latent-rates", rows)


def rows_without_labels(of_judges: list[pl.DataFrame]) -> Iterator[dict[str, Any]]:
    """Rows of `latent_rates` for one question; each frame has the columns unit, n, game, model, judge and score of one judge."""
    both = pl.concat(of_judges).filter(pl.col("score").is_not_null() & (pl.col("score") != 0.5))  # noqa: PLR2004 - unclear
    about = ["unit", "n", "game", "model"]
    table = both.with_columns(pl.col("score").round()).pivot(on="judge", index=about, values="score", maintain_order=True)
    judges = [name for name in table.columns if name not in about]
    if len(judges) < 2:  # noqa: PLR2004 - not identified
        return
    table = table.filter(pl.sum_horizontal(pl.col(judges).is_not_null()) > 1).sort("model", "game", "unit", nulls_last=True)
    models = table["model"].unique(maintain_order=True)
    if (len(judges) == 2 and len(models) < 2) or table.is_empty():  # noqa: PLR2004 - not identified
        return
    game, population = pl.col("game").rank("dense") - 1, pl.col("model").fill_null("").rank("dense") - 1
    table = table.with_columns(part=game % pl.min_horizontal(_PARTS, game.max() + 1), population=population)
    alike = table.group_by(*judges, "part", "population", maintain_order=True).agg(pl.col("n").sum())
    answers, (parts, populations, n) = alike.select(judges).to_numpy().astype(float), alike.select("part", "population", "n").to_numpy().T
    fitted = two_classes(answers, populations, n)
    parted = [parts != part for part in range(int(parts.max()) + 1)]
    is_whole = [len(np.unique(populations[keep])) == len(models) for keep in parted]
    without = [two_classes(answers[keep], populations[keep], n[keep]).rates for keep in parted] if all(is_whole) else []
    errors = "; ".join(score(float(value)) for value in fitted.sensitivity), "; ".join(score(float(value)) for value in fitted.specificity)
    for place, model in enumerate(sorted(models.fill_null("").to_list())):
        own = table.filter(pl.col("model").fill_null("") == model)
        row: dict[str, Any] = {"model": model or None, "judges": ", ".join(judges), "units": size_of(own), "games": own["game"].n_unique()}
        rate, low, high = float(fitted.rates[place]), None, None
        is_enough = row["units"] >= _FEWEST_UNITS and row["games"] >= _FEWEST_GAMES and len(without) > 1
        if is_enough:
            low, high = _ends(rate, np.array([one[place] for one in without]))
        advice = f"fewer than {_FEWEST_UNITS} units or {_FEWEST_GAMES} games: nothing can be estimated without labels"
        if low is not None and high is not None:
            seen = f"{score(rate)} ({from_to(low, high)}) without labels, if judges err independently"
            advice = f"{seen}; label some units to see whether they do"
        row |= {"rate": rate if is_enough else None, "low": low, "high": high, "sensitivity": errors[0], "specificity": errors[1]}
        yield row | {"advice": f"{row['model'] or 'games outside the store'}: {advice}"}


def _ends(rate: float, without: Floats) -> tuple[float, float]:
    """By the jackknife on log odds."""
    from scipy import special

    value, others = (np.log(np.clip(one, 1e-4, 1 - 1e-4) / (1 - np.clip(one, 1e-4, 1 - 1e-4))) for one in (rate, without))
    n = len(without)
    half = float(special.stdtrit(n - 1, (1 + LEVEL) / 2)) * float(np.sqrt((n - 1) / n * ((others - others.mean()) ** 2).sum()))
    return float(special.expit(value - half)), float(special.expit(value + half))
