"""The report `self-preference`: does a judge overrate what its own model has written, against labels, more than what others wrote?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from analytics.agreement_answers import answers
from analytics.query import query
from analytics.shifts import FEWEST_GAMES, Cells, Shift, group_shift, holm
from schemas.store import Store

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SUMMARY", "self_preference_report"]

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
    "own_error",
    "other_error",
    "error_difference",
    "error_low",
    "error_high",
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
      own_error, other_error: mean of score minus label on these, -1 to 1; above 0 the judge is too kind. error_difference, error_low,
      error_high: own minus other with its 95 % interval: the preference. p: of none; p_corrected: by Holm over the questions of rubric and
      judge. Null where fewer than five games stand on either side. Intervals and tests are over games and inside each benchmark
      (`analytics.shifts.group_shift`).
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
    errors = ("own_error", "other_error", "error_difference", "error_low", "error_high", "p", "p_corrected")
    schema |= dict.fromkeys(errors, pl.Float64()) | {"advice": pl.String()}
    return pl.DataFrame([{name: row[name] for name in schema} for row in rows], schema=schema, orient="row")


def _scored(store: Store, rubric: str | None) -> pl.DataFrame:
    """Mean score of each judge about each unit, and the mean label where there is one."""
    import polars as pl

    given = answers(store, rubric, random_only=True).drop_nulls("score")
    unit = ["rubric", "question", "unit"]
    means = given.group_by(*unit, "game", "role", "rater", maintain_order=True).agg(
        score=(pl.col("score") * pl.col("n")).sum() / pl.col("n").sum()
    )
    labels = means.filter(pl.col("role").is_in(["people", "truth"])).with_columns(
        has_people=(pl.col("role") == "people").any().over("rubric", "question")
    )
    labels = labels.filter((pl.col("role") == "people") == pl.col("has_people")).select(*unit, label="score")
    return means.filter(pl.col("role") == "judge").join(labels, on=unit, how="left", maintain_order="left")


def _rows(authors: pl.DataFrame, scored: pl.DataFrame) -> Iterator[_Row]:
    import polars as pl

    joined = scored.join(authors, on=["unit", "rater"], how="inner", maintain_order="left")
    for (rubric, question, judge), part in joined.group_by("rubric", "question", "rater", maintain_order=True):
        own, other = part.filter(pl.col("own")), part.filter(~pl.col("own"))
        if own.is_empty() or other.is_empty():
            continue
        labelled = part.drop_nulls("label").with_columns(error=pl.col("score") - pl.col("label"))
        own_error, other_error = (labelled.filter(pl.col("own") == side)["error"] for side in (True, False))
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
            **_named("rate", _shift(part, "score")),
            "own_labels": len(own_error),
            "other_labels": len(other_error),
            "own_error": own_error.mean(),
            "other_error": other_error.mean(),
            **_named("error", found := _shift(labelled, "error")),
            "p": None if found is None else found.p,
        }


def _named(name: str, shift: Shift | None) -> _Row:
    keys = (f"{name}_difference", f"{name}_low", f"{name}_high")
    return dict(zip(keys, (None, None, None) if shift is None else shift[:3], strict=True))


def _shift(part: pl.DataFrame, value: str) -> Shift | None:
    import numpy as np
    import polars as pl

    sums = part.group_by("benchmark", "game", "own", maintain_order=True).agg(pl.len().alias("units"), pl.col(value).sum())
    if sums.is_empty():
        return None
    strata, games = (sums[name].rank("dense").to_numpy().astype(np.int64) - 1 for name in ("benchmark", "game"))
    return group_shift(Cells(strata, games, sums["own"].to_numpy(), sums["units"].cast(pl.Float64).to_numpy(), sums[value].to_numpy()))


def _advice(row: _Row) -> str:
    about = f"{row['question']}: {row['judge']} scores its own model {row['own_rate']:.2f} and others {row['other_rate']:.2f}"
    if row["p_corrected"] is None:
        return f"{about}; whether that is a preference only labels can tell, of {FEWEST_GAMES} games or more on either side"
    errors = f"against labels {row['own_error']:+.2f} and {row['other_error']:+.2f}"
    interval = f"{row['error_low']:+.2f} to {row['error_high']:+.2f}"
    if row["p_corrected"] >= _SURE:
        return f"{about}, {errors}; no preference for itself shown (beyond {interval} it is unlikely)"
    if row["error_difference"] > 0:
        return f"{about}, {errors}; it favours itself ({interval}): do not let it rank its own model"
    return f"{about}, {errors}; it is harder on itself ({interval}): do not let it rank its own model"
