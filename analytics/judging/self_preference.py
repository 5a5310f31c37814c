"""The report `self-preference`: does a judge score what its own model has written higher than what is equally good by others?

Units are compared with units of the same label. The mean of score minus label would not do: a judge that errs in one of five, whoever
wrote, is too hard where most is right and too kind where most is wrong, so it would seem to like the worse author. Given the truth, such a
judge scores both alike (equal error rates; Hardt, Price and Srebro 2016, Advances in Neural Information Processing Systems 29).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from analytics.agreement.answers import answers, labels_of
from analytics.query import query
from analytics.statistics.shifts import FEWEST_GAMES, Cells, Shift, group_shift, holm
from schemas.store import Store

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SUMMARY", "preference_shift", "self_preference_report"]

SUMMARY: Final = (
    "rubric",
    "question",
    "judge",
    "own_units",
    "other_units",
    "own_rate",
    "other_rate",
    "own_labels",
    "other_labels",
    "own_sensitivity",
    "other_sensitivity",
    "own_specificity",
    "other_specificity",
    "preference",
    "preference_low",
    "preference_high",
    "p_corrected",
)
"""The columns that fit a terminal, beside the advice."""

_AUTHORS = """
select distinct
    v.unit_id as unit,
    v.judge as rater,
    e.benchmark,
    split_part(lower(v.judge), '/', -1) = split_part(lower(coalesce(a.model, e.model)), '/', -1) as own
from verdicts_latest as v
inner join episodes as e on v.episode_id = e.episode_id
left join agents as a on v.episode_id = a.episode_id and v.agent = a.agent
where starts_with(v.judge, 'llm:') and v.variant is null and ($rubric is null or v.rubric = $rubric)
qualify bool_or(own) over (partition by v.judge) and not bool_and(own) over (partition by v.judge)
"""

_SURE = 0.05
_MIDDLE = 0.5

_Row = dict[str, Any]


def self_preference_report(store: Store, *, rubric: str | None = None) -> pl.DataFrame:
    """One row for every rubric, question and model judge that judged what its own model wrote and what others wrote.

    The author is the model of the unit's agent, where the store knows it, else the evaluated model of the game. Own are authors of the same
    name, whatever provider stands before the last slash.

    Columns, in order:

    - rubric, question, judge; own_units, own_games, other_units, other_games: with a scored answer.
    - own_rate, other_rate: mean score by the judge, 0 to 1. rate_difference, rate_low, rate_high: own minus other with its 95 % interval.
      That alone is no preference: the model may be better.
    - own_labels, other_labels: units among them with a label (of people, where there are any, else planted truth; drawn at random).
      own_sensitivity, other_sensitivity: mean score where the label is yes (above 0.5), 0 to 1; own_specificity, other_specificity: 1 minus
      the mean score where it is no. sensitivity_difference and specificity_difference: own minus other, each with its 95 % interval
      (`_low`, `_high`).
    - preference, preference_low, preference_high: own minus other score of units with the same label, -1 to 1, with its 95 % interval:
      above 0 the judge favours itself. p: of none; p_corrected: by Holm over the questions of rubric and judge. Null where fewer than five
      games stand on either side, or all rests on one. Intervals and tests are over games, inside each benchmark and label
      (`analytics.statistics.shifts.group_shift`). Labels that err themselves let some of what is truly better through: then a preference
      may be too
      high by at most the difference of the scores times the share of wrong labels.
    - advice: what to make of it, in words.

    Args:
        store: a store with the views.
        rubric: only this one; None: all.

    Raises:
        StoreError: the store cannot be read.
    """
    import polars as pl

    authors = query(store, _AUTHORS, {"rubric": rubric})
    rows = [] if authors.is_empty() else list(_rows(authors, _scored(store, rubric)))
    for judge in {(row["rubric"], row["judge"]) for row in rows}:
        family = [row for row in rows if (row["rubric"], row["judge"]) == judge]
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row["p_corrected"] = p
            row["advice"] = _advice(row)
    schema: dict[str, pl.DataType] = dict.fromkeys(("rubric", "question", "judge"), pl.String())
    schema |= dict.fromkeys(("own_units", "own_games", "other_units", "other_games"), pl.Int64())
    schema |= dict.fromkeys(("own_rate", "other_rate", "rate_difference", "rate_low", "rate_high"), pl.Float64())
    schema |= dict.fromkeys(("own_labels", "other_labels"), pl.Int64())
    found = [f"{side}_{rate}" for rate in ("sensitivity", "specificity") for side in ("own", "other")]
    ends = [f"{rate}{end}" for rate in _SIDES for end in ("_difference", "_low", "_high")]
    tested = ("preference", "preference_low", "preference_high", "p", "p_corrected")
    schema |= dict.fromkeys((*found, *ends, *tested), pl.Float64()) | {"advice": pl.String()}
    return pl.DataFrame([{name: row[name] for name in schema} for row in rows], schema=schema, orient="row")


def _scored(store: Store, rubric: str | None) -> pl.DataFrame:
    """Mean score of each judge about each unit, and the mean label where there is one."""
    import polars as pl

    given = answers(store, rubric, random_only=True).drop_nulls("score")
    unit = ["rubric", "question", "unit"]
    means = given.filter(pl.col("role") == "judge").group_by(*unit, "game", "rater", maintain_order=True)
    scores = means.agg(score=(pl.col("score") * pl.col("n")).sum() / pl.col("n").sum())
    return scores.join(labels_of(given), on=unit, how="left", maintain_order="left")


def _rows(authors: pl.DataFrame, scored: pl.DataFrame) -> Iterator[_Row]:
    import polars as pl

    joined = scored.join(authors, on=["unit", "rater"], how="inner", maintain_order="left")
    for (rubric, question, judge), part in joined.group_by("rubric", "question", "rater", maintain_order=True):
        own, other = part.filter(pl.col("own")), part.filter(~pl.col("own"))
        if own.is_empty() or other.is_empty():
            continue
        labelled = part.drop_nulls("label")
        preference = preference_shift(labelled)
        yield {
            "rubric": rubric,
            "question": question,
            "judge": judge,
            "own_units": len(own),
            "own_games": own["game"].n_unique(),
            "other_units": len(other),
            "other_games": other["game"].n_unique(),
            "own_rate": own["score"].mean(),
            "other_rate": other["score"].mean(),
            **_named("rate", _shift(part, "score", ["benchmark"])),
            "own_labels": len(labelled.filter("own")),
            "other_labels": len(labelled.filter(~pl.col("own"))),
            **_error_rates(labelled),
            **dict(zip(("preference", "preference_low", "preference_high", "p"), preference or (None,) * 4, strict=True)),
        }


def preference_shift(labelled: pl.DataFrame) -> Shift | None:
    """Score of the judge's own model minus that of others, among units with the same label.

    Args:
        labelled: one row a unit: benchmark, game, own (bool), score and label, 0 to 1.
    """
    return _shift(labelled, "score", ["benchmark", "label"])


_SIDES: Final = ("sensitivity", "specificity")


def _error_rates(labelled: pl.DataFrame) -> _Row:
    import polars as pl

    yes = labelled.filter(pl.col("label") > _MIDDLE).with_columns(right=pl.col("score"))
    no = labelled.filter(pl.col("label") < _MIDDLE).with_columns(right=1 - pl.col("score"))
    row: _Row = {}
    for name, part in zip(_SIDES, (yes, no), strict=True):
        row[f"own_{name}"] = part.filter("own")["right"].mean()
        row[f"other_{name}"] = part.filter(~pl.col("own"))["right"].mean()
        row |= _named(name, _shift(part, "right", ["benchmark", "label"]))
    return row


def _named(name: str, shift: Shift | None) -> _Row:
    keys = (f"{name}_difference", f"{name}_low", f"{name}_high")
    return dict(zip(keys, (None, None, None) if shift is None else shift[:3], strict=True))


def _shift(part: pl.DataFrame, value: str, strata: list[str]) -> Shift | None:
    """Own minus other mean of a value inside strata."""
    import numpy as np
    import polars as pl

    sums = part.group_by(*strata, "game", "own", maintain_order=True).agg(pl.len().alias("units"), pl.col(value).sum())
    if sums.is_empty():
        return None
    stratum, games = (
        sums.select(pl.struct(names).rank("dense")).to_series().to_numpy().astype(np.int64) - 1 for names in (strata, ["game"])
    )
    return group_shift(Cells(stratum, games, sums["own"].to_numpy(), sums["units"].cast(pl.Float64).to_numpy(), sums[value].to_numpy()))


def _advice(row: _Row) -> str:
    about = f"{row['question']}: {row['judge']} scores its own model {row['own_rate']:.2f} and others {row['other_rate']:.2f}"
    if row["p_corrected"] is None:
        return f"{about}; whether that is a preference only labels can tell, of {FEWEST_GAMES} games or more on either side"
    equal = f"where the label is the same {row['preference']:+.2f}"
    interval = f"{row['preference_low']:+.2f} to {row['preference_high']:+.2f}"
    if row["p_corrected"] >= _SURE:
        return f"{about}, {equal}; no preference for itself shown (beyond {interval} it is unlikely)"
    if row["preference"] > 0:
        return f"{about}, {equal}; it favours itself ({interval}): do not let it rank its own model"
    return f"{about}, {equal}; it is harder on itself ({interval}): do not let it rank its own model"
