"""The report `judges-needed`: what a panel of judges is worth beyond one, and which judges or panels are worth their price."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from analytics.agreement.answers import answers, labels_of
from analytics.associations.unit_values import codes
from analytics.query import query
from analytics.statistics.cluster_intervals import share_interval
from schemas import wording
from schemas.store import Store

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["SUMMARY", "effective_judges", "judges_needed"]

SUMMARY: Final = (
    "rubric",
    "question",
    "panel",
    "judges",
    "effective_judges",
    "units",
    "labelled",
    "accuracy",
    "low",
    "high",
    "cost",
    "frontier",
)
"""The columns that fit a terminal, beside the advice."""

_MOST_JUDGES: Final = 7
"""Judges of a question whose panels are all tried: the ones that answered most."""
_FEWEST: Final = 10
_Row = dict[str, Any]

_SCORES: Final = """
    WITH prices AS (
        SELECT rubric, judge, sum(cost) / nullif(sum(units), 0) AS cost FROM judge_runs WHERE cost IS NOT NULL GROUP BY ALL
    )
    SELECT rubric, question, unit_id AS unit, episode_id, judge, avg(score) AS score, any_value(prices.cost) AS cost
    FROM verdicts_latest
    LEFT JOIN prices USING (rubric, judge)
    WHERE score IS NOT NULL AND variant IS NULL
    GROUP BY ALL
    ORDER BY rubric, question, unit, judge
"""


def judges_needed(store: Store) -> pl.DataFrame:
    """One row for each rubric, question, and judge or panel of judges, on the units that all its members answered.

    Columns, in order:

    - rubric, question; panel: its judges joined by ` + `; judges: how many; units, games.
    - correlation: mean correlation of two members' errors on labelled units, undecided labels left out, else of their scores; of_errors:
      which of both.
    - effective_judges: independent judges that would be worth as much, 1 to judges: m / (1 + (m - 1) correlation); null where fewer than
      two members vary, so that nothing is known of their correlation.
    - labelled: units with labels (of people, where there are any, else planted truth; drawn at random); accuracy: share of them in which
      the panel's mean score lies on the label's side (a panel's tie counts half), undecided labels left out, low, high: its 95 % interval
      over games; null below ten.
    - cost: USD a unit, of all members; null where a price is not known. frontier: no cheaper one is as accurate.
    - advice: what follows.

    Args:
        store: a store with the views.
    """
    import polars as pl

    labels = labels_of(answers(store, random_only=True))
    scores = query(store, _SCORES).join(labels, on=["rubric", "question", "unit"], how="left", maintain_order="left")
    rows = [
        row
        for (rubric, question), part in scores.group_by("rubric", "question", maintain_order=True)
        for row in _of_question({"rubric": rubric, "question": question}, part)
    ]
    return pl.DataFrame([{column: row[column] for column in _schema()} for row in rows], schema=_schema(), orient="row")


def _schema() -> dict[str, pl.DataType]:
    import polars as pl

    text, count, number = pl.String(), pl.Int64(), pl.Float64()
    schema: dict[str, pl.DataType] = dict.fromkeys(("rubric", "question", "panel"), text) | dict.fromkeys(
        ("judges", "units", "games"), count
    )
    schema |= {"correlation": number, "of_errors": pl.Boolean(), "effective_judges": number, "labelled": count}
    return schema | dict.fromkeys(("accuracy", "low", "high", "cost"), number) | {"frontier": pl.Boolean(), "advice": text}


def effective_judges(scores: Floats) -> tuple[float | None, float | None]:
    """Mean correlation of the columns, and how many independent ones would be worth as much (Kish 1965, Survey Sampling, design effect).

    Args:
        scores: shape (units, judges): errors, or scores. A column that does not vary has no correlation, and is left out of the mean; where
            fewer than two vary, of several, both are None.
    """
    import numpy as np

    judges = scores.shape[1]
    varied = scores[:, scores.std(axis=0) > 0]
    if varied.shape[1] < 2:  # noqa: PLR2004 - a correlation needs two
        return None, 1.0 if judges == 1 else None
    table = np.asarray(np.corrcoef(varied.T))
    mean = float(table[np.triu_indices(len(table), 1)].mean())
    return mean, float(min(judges, judges / (1 + (judges - 1) * max(mean, 0.0))))


def _of_question(asked: _Row, scores: pl.DataFrame) -> Iterator[_Row]:
    counts = scores["judge"].value_counts(sort=True)
    names = sorted(counts["judge"].head(_MOST_JUDGES).to_list())
    wide = scores.pivot(on="judge", index=["unit", "episode_id", "label"], values="score")
    prices = dict(scores.select("judge", "cost").unique().rows())
    panels = [panel for size in range(1, len(names) + 1) for panel in combinations(names, size)]
    rows = [asked | row for panel in panels if (row := _panel(wide, panel, prices)) is not None]
    for row in rows:
        row["frontier"] = _on_frontier(row, rows)
    for row in rows:
        yield row | {"advice": _advice(row)}


def _panel(wide: pl.DataFrame, panel: tuple[str, ...], prices: dict[str, float | None]) -> _Row | None:
    import polars as pl

    units = wide.drop_nulls(list(panel))
    if len(units) < _FEWEST:
        return None
    known = units.drop_nulls("label")
    decided = known.filter(pl.col("label") != 0.5)  # noqa: PLR2004 - people who are undecided have no side, and nobody errs
    of_errors = len(decided) >= _FEWEST
    scores = decided.select([pl.col(judge) - pl.col("label") for judge in panel]) if of_errors else units.select(panel)
    mean, worth = effective_judges(scores.to_numpy())
    costs = [prices[judge] for judge in panel]
    return {
        "panel": " + ".join(panel),
        "judges": len(panel),
        "units": len(units),
        "games": units["episode_id"].n_unique(),
        "correlation": mean,
        "of_errors": of_errors,
        "effective_judges": worth,
        "labelled": len(known),
        **_accuracy(decided, panel),
        "cost": None if any(cost is None for cost in costs) else float(sum(cost or 0 for cost in costs)),
    }


def _accuracy(decided: pl.DataFrame, panel: tuple[str, ...]) -> _Row:
    """Of the panel, with its ends; and of its best member, on the same units."""
    import numpy as np

    row: _Row = {"decided": len(decided), **dict.fromkeys(("accuracy", "low", "high", "alone"))}
    if len(decided) < _FEWEST:
        return row
    right = _right(decided, panel)
    games = codes(decided["episode_id"])
    ends = share_interval(np.bincount(games, weights=right).astype(float), np.bincount(games).astype(float))
    low, high = (None if np.isnan(end) else float(end) for end in ends)
    alone = max(float(_right(decided, (judge,)).mean()) for judge in panel)
    return row | {"accuracy": float(right.mean()), "low": low, "high": high, "alone": alone}


def _right(decided: pl.DataFrame, panel: tuple[str, ...]) -> Floats:
    """1 where the panel's mean is on the label's side, a half where it is in the middle, else 0."""
    import numpy as np
    import polars as pl

    said, label = decided.select(pl.mean_horizontal(panel)).to_series().to_numpy(), decided["label"].to_numpy()
    return np.where(said == 0.5, 0.5, (said > 0.5) == (label > 0.5))  # noqa: PLR2004 - the middle


def _on_frontier(row: _Row, rows: list[_Row]) -> bool | None:
    if row["accuracy"] is None or row["cost"] is None:
        return None
    others = [other for other in rows if other is not row and other["accuracy"] is not None and other["cost"] is not None]
    return not any(
        other["accuracy"] >= row["accuracy"]
        and other["cost"] <= row["cost"]
        and (other["accuracy"], -other["cost"]) != (row["accuracy"], -row["cost"])
        for other in others
    )


def _worth(row: _Row) -> str:
    if row["effective_judges"] is None:
        return f"how many independent ones {row['judges']} judges are worth is not known: fewer than two of them ever err or differ"
    why = "their errors go together" if row["of_errors"] else "by their scores: without labels, being right alike counts as erring alike"
    return f"{row['judges']} judges are worth {row['effective_judges']:.1f} independent ones ({why})"


def _advice(row: _Row) -> str:
    about = f"{row['question']}, {row['panel']}:"
    if row["judges"] > 1:
        about += f" {_worth(row)}"
    if row["accuracy"] is None:
        return f"{about} no accuracy without ten labelled units: label some"
    interval = "" if row["low"] is None else f" {wording.interval(row['low'], row['high'])}"
    about += f"{';' if row['judges'] > 1 else ''} right in {wording.score(row['accuracy'])}{interval} of {row['decided']} labelled units"
    if row["judges"] > 1 and row["accuracy"] <= row["alone"]:
        return f"{about}; one of its judges alone is as good: do not pay for the panel"
    return about + ("" if row["frontier"] is None else "; worth its price" if row["frontier"] else "; a cheaper one is as accurate")
