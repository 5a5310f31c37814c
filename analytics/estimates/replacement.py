"""The reports `alt-test` and `selective`: may a judge take the place of people, on all units or on those of which it is sure enough?"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analytics.agreement.answers import GIVEN
from analytics.estimates.corrected import rate_rows
from analytics.estimates.units import Asked, Counted, asked_units
from analytics.query import query
from analytics.report_columns import framed
from analytics.statistics.intervals import Floats, share_interval
from schemas.common.errors import UsageError
from schemas.common.wording import count, counted, share
from schemas.store.store import Store

EPSILON: Final = 0.15
"""What a judge is cheaper by, as a share of units on which it may be worse: .2 for experts, .15 for trained people, .1 for a crowd."""
_LEVEL: Final = 0.05
_RISK: Final = 0.05
_FEWEST_PEOPLE, _FEWEST_UNITS, _FEWEST_GAMES = 3, 30, 5
_HALF: Final = 0.5
_FEWEST_CALIBRATED: Final = 10
"""Right and wrong answers below which probabilities of tokens are taken as they are."""

_ANSWERED: Final = f"""
{GIVEN},

one AS (
    SELECT rubric, question, role, rater, member, hash(unit) AS unit, any_value(game) AS game, mode(answer) AS answer
    FROM given WHERE answer IS NOT NULL GROUP BY ALL
)

SELECT rubric, question, judged.rater AS judge, unit, judged.game, judged.answer AS judged, people.member, people.answer
FROM (
    SELECT rubric, question, rater, unit, any_value(game) AS game, mode(answer) AS answer
    FROM one WHERE role IN ('judge', 'engine') GROUP BY ALL
) AS judged
INNER JOIN (SELECT rubric, question, unit, member, answer FROM one WHERE role = 'people') AS people USING (rubric, question, unit)
QUALIFY count(*) OVER (PARTITION BY rubric, question, judge, unit) > 1
ORDER BY ALL
"""


class Against(NamedTuple):
    """The judge against one person, by the others who labelled the same units."""

    units: int
    advantage: float
    """Share of units on which the judge agrees with the others at least as well as the person does."""
    p: float
    """One-sided, of the judge being worse by epsilon or more."""


class OfJudge(NamedTuple):
    """What labels show of a judge."""

    judges: list[str]
    """All that answered the rubric, in the order of the reports."""
    rates: pl.DataFrame
    """Rows of `corrected_rates`, of one of them."""
    thresholds: pl.DataFrame
    """Rows of `selective`, of the same."""


def alt_test(store: Store, *, epsilon: float = EPSILON) -> pl.DataFrame:
    """One row for every question and judge that three people or more labelled with: whether it may take the place of one of them.

    The alternative annotator test (Calderon, Reichart and Dror 2025, The Alternative Annotator Test for LLM-as-a-Judge, ACL). Each person
    is left out in turn: on how many units does the judge agree with the other people at least as well as this person does, and on how many
    the person at least as well as the judge? The judge wins against a person if a one-sided t test, here over games, shows that the first
    share is not below the second by epsilon; p-values are corrected by Benjamini and Yekutieli's method. It passes if it wins against half
    of the people.

    Columns: `report_columns.csv`. Null where fewer than three people have 30 units that another one labelled too, from five games.

    Args:
        store: a store with the views.
        epsilon: as above, 0 to 1.

    Raises:
        UsageError: epsilon is not between 0 and 1.
        StoreError: the store cannot be read.
    """
    from scipy import stats

    if not 0 <= epsilon < 1:
        raise UsageError(f"--epsilon {epsilon:g}: give a number from 0 to below 1, such as {EPSILON}")
    given = query(store, _ANSWERED, {"rubric": None, "question": None, "random_only": False, "by_disagreement": ""})
    rows = []
    for (rubric, question, judge), own in given.group_by("rubric", "question", "judge", maintain_order=True):
        found = [against for _, of_one in own.group_by("member", maintain_order=True) if (against := _against(own, of_one, epsilon))]
        people = own["member"].n_unique()
        row: dict[str, Any] = {"rubric": rubric, "question": question, "judge": judge, "annotators": len(found)}
        row |= {"units": own["unit"].n_unique(), "games": own["game"].n_unique(), "epsilon": epsilon}
        if len(found) < _FEWEST_PEOPLE:
            need = f"{_FEWEST_UNITS} units of {_FEWEST_GAMES} games labelled by three people, each with another one"
            advice = f"{question}: {counted(people, 'annotator')}, {count(len(found))} with labels enough; the test needs {need}"
            rows.append(row | {"winning_rate": None, "advantage": None, "passes": None, "advice": advice})
            continue
        corrected = stats.false_discovery_control([one.p for one in found], method="by")
        won, advantage = float((corrected < _LEVEL).mean()), float(np.mean([one.advantage for one in found]))
        passes = won >= _HALF
        verdict = "may take the place of a person" if passes else "is not shown to be as good as a person"
        advice = f"{question}: {judge} wins against {share(won)} of {len(found)} people with epsilon {epsilon:g}: it {verdict}"
        rows.append(row | {"winning_rate": won, "advantage": advantage, "passes": passes, "advice": advice})
    return framed("alt-test", rows)


def _against(everybody: pl.DataFrame, of_one: pl.DataFrame, epsilon: float) -> Against | None:
    """None with too few units or games."""
    from scipy import special

    person = of_one["member"][0]
    others = everybody.filter(pl.col("member") != person).select("unit", other="answer")
    units = (
        of_one.join(others, on="unit")
        .group_by("unit", maintain_order=True)
        .agg(
            pl.col("game").first(), judge=(pl.col("judged") == pl.col("other")).mean(), person=(pl.col("answer") == pl.col("other")).mean()
        )
    )
    if len(units) < _FEWEST_UNITS or units["game"].n_unique() < _FEWEST_GAMES:
        return None
    judge_wins, person_wins = units["judge"] >= units["person"], units["person"] >= units["judge"]
    worse = units.select("game", by=person_wins.cast(pl.Float64) - judge_wins.cast(pl.Float64) - epsilon)
    by_game = worse.group_by("game").agg(pl.col("by").sum(), pl.len())
    sums, sizes = (by_game[name].to_numpy().astype(float) for name in ("by", "len"))
    games, mean = len(sums), sums.sum() / sizes.sum()
    error = np.sqrt(games / (games - 1) * ((sums - mean * sizes) ** 2).sum()) / sizes.sum()
    p = float(special.stdtr(games - 1, mean / error)) if error > 0 else float(mean >= 0)
    return Against(len(units), float(judge_wins.to_numpy().mean()), p)


def selective(store: Store, *, rubric: str | None = None, risk: float = _RISK) -> pl.DataFrame:
    """One row for every question, judge and threshold: how often the judge is wrong if it answers only where it is sure enough.

    How sure: the probability of the answer by its tokens, calibrated by the labels of other games (logistic regression on its log odds,
    Platt 1999), where the server gave it; else how far repeats and the other judges give the same answer.

    Columns: `report_columns.csv`. held_below is by Angelopoulos, Bates, Fisch, Lei and Schuster 2024, ICLR.

    Args:
        store: a store with the views.
        rubric: only this one; None: all.
        risk: accepted share of wrong answers among all units, 0 to 1.

    Raises:
        UsageError: the risk is not between 0 and 1.
        StoreError: the store cannot be read.
    """
    if not 0 < risk < 1:
        raise UsageError(f"--risk {risk:g}: give a number between 0 and 1, such as 0.05")
    rows = [row for same in _by_question(store, rubric) for found in same for row in _thresholds(found, same, risk)]
    return framed("selective", rows)


def of_one_judge(store: Store, *, rubric: str, judge: str) -> OfJudge:
    """What `corrected_rates` and `selective` have of one judge, with one reading of the rubric's units.

    Args:
        store: a store with the views.
        rubric: its name.
        judge: whose rows; where it answered nothing, those of the first judge that did.

    Raises:
        StoreError: the store cannot be read.
    """
    questions = list(_by_question(store, rubric))
    judges = list(dict.fromkeys(asked.judge for same in questions for asked in same if asked.units.ways["is_answered"].any()))
    shown = judge if judge in judges else judges[0] if judges else None
    own = [(asked, same) for same in questions for asked in same if asked.judge == shown]
    rates = framed("corrected-rates", (row for asked, _ in own for row in rate_rows(asked)))
    return OfJudge(judges, rates, framed("selective", (row for asked, same in own for row in _thresholds(asked, same, _RISK))))


def _by_question(store: Store, rubric: str | None) -> Iterator[list[Asked]]:
    """All judges of each question."""
    for _, of_question in groupby(asked_units(store, rubric), key=lambda asked: (asked.rubric, asked.question)):
        yield list(of_question)


def _thresholds(asked: Asked, all_judges: list[Asked], risk: float) -> Iterator[dict[str, Any]]:
    ways = asked.units.ways.filter("is_answered", pl.col("label").is_not_null(), pl.col("score").is_not_null())
    same = pl.concat(one.units.ways.select("way", other="score", other_unsteady="unsteady") for one in all_judges)
    agreeing = (1 - (pl.col("score") - pl.col("other")).abs() - pl.col("other_unsteady") / 2).mean().clip(0, 1)
    sure = ways.select("way", "score").join(same, on="way").group_by("way").agg(sure=agreeing)
    ways = ways.join(sure, on="way", maintain_order="left").with_columns(wrong=(pl.col("score") - pl.col("label")).abs())
    known = replace(asked.units, ways=ways)
    if (known.sums(np.ones((1, len(ways)))) > 0).sum() < _FEWEST_GAMES:
        return
    if ways["p_yes"].is_not_null().all():
        known = _by_probability(known)
    sureness, wrong, n = known.ways.select("sure", "wrong", "n").to_numpy().T
    thresholds = sorted(set(np.round(_quantiles(sureness, n, np.linspace(0, 1, 11)), 4).tolist()))
    answers = (sureness >= np.array(thresholds)[:, None] - 1e-4).astype(float)
    sums = known.sums(np.vstack([answers, answers * wrong, np.ones_like(n)]))
    of_games, wrong_of_games, (sizes,) = np.split(sums[:, sums[-1] > 0], [len(answers), 2 * len(answers)])
    ends, answered, wrongs = share_interval(wrong_of_games, of_games), answers @ n, answers @ (wrong * n)
    curve = [
        {
            "rubric": asked.rubric,
            "question": asked.question,
            "judge": asked.judge,
            "threshold": threshold,
            "labels": int(n.sum()),
            "games": len(sizes),
            "coverage": float(answered[place] / n.sum()),
            "risk": float(wrongs[place] / answered[place]),
            "risk_low": float(ends.low[place]),
            "risk_high": float(ends.high[place]),
            "wrong_of_all": float(wrongs[place] / n.sum()),
            "held_below": risk_bound(wrong_of_games[place], sizes),
        }
        for place, threshold in enumerate(thresholds)
    ]
    chosen = next((row for row in curve if row["held_below"] <= risk), None)
    for row in curve:
        yield row | {"is_chosen": row is chosen, "advice": _selective_advice(row, chosen, risk)}


def _by_probability(known: Counted) -> Counted:
    """Each unit by itself, as sure as the probability of its answer's tokens is, calibrated."""
    rows = known.rows()
    rows = rows[np.repeat(np.arange(len(rows)), rows["n"])]
    yes, right = rows["p_yes"].to_numpy(), (rows["wrong"] < _HALF).to_numpy()
    sureness = calibrated(np.maximum(yes, 1 - yes), right, rows["game"].to_numpy())
    return Counted.of(rows.with_columns(n=1, sure=pl.Series(sureness)))


def _quantiles(values: Floats, n: Floats, shares: Floats) -> Floats:
    """`numpy.quantile` where each value is there n times."""
    order, places = np.argsort(values), shares * (n.sum() - 1)
    ends = n[order].cumsum()
    low, high = (values[order][np.searchsorted(ends, end, side="right")] for end in (np.floor(places), np.ceil(places)))
    return np.asarray(low + (high - low) * (places % 1))


def calibrated(probability: Floats, right: NDArray[np.bool_], games: NDArray[Any]) -> Floats:
    """Probability that an answer is right, from that of its tokens: logistic regression on the log odds, of other games than its own.

    As it is where labels show fewer than ten right or wrong answers.

    Args:
        probability: of the answer's tokens, 0 to 1, shape (answers,).
        right: whether the label has the same answer.
        games: of each.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold

    if min(right.sum(), (~right).sum()) < _FEWEST_CALIBRATED:
        return probability
    inner = np.clip(probability, 1e-6, 1 - 1e-6)
    odds, found = np.log(inner / (1 - inner))[:, None], np.empty(len(right))
    for seen, unseen in GroupKFold(min(5, len(set(games.tolist())))).split(odds, right, games):
        if len(set(right[seen].tolist())) < 2:  # noqa: PLR2004 - nothing to tell apart
            found[unseen] = right[seen].mean()
        else:
            found[unseen] = LogisticRegression().fit(odds[seen], right[seen]).predict_proba(odds[unseen])[:, 1]
    return found


def risk_bound(losses: Floats, sizes: Floats) -> float:
    """What the expected loss per unit of another game of mean size is at most: (sum of losses + the most a game can lose) / (games + 1).

    Args:
        losses: by game, shape (games,).
        sizes: units of each game; none can lose more than one a unit.
    """
    per_game = losses / sizes.mean()
    return float(min(1.0, (per_game.sum() + sizes.max() / sizes.mean()) / (len(sizes) + 1)))


def _selective_advice(row: dict[str, Any], chosen: dict[str, Any] | None, risk: float) -> str:
    about = f"{row['question']}, {row['judge']}"
    if chosen is None:
        return f"{about}: with labels of {row['games']} games no threshold holds wrong answers below {share(risk)} of the units: label more"
    wrong = f"is wrong on at most {share(chosen['held_below'])} of all in expectation"
    return f"{about}: at a sureness of {chosen['threshold']:.2f} or more it answers {share(chosen['coverage'])} of the units, and {wrong}"
