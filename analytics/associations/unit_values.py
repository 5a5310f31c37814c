"""Turns and games as rows of numbers: what models and correlations are made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics.query import query
from schemas.store import Store

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["TURN_COLUMNS", "codes", "game_rows", "judge_columns", "say_little", "turn_rows", "with_judges"]

TURN_COLUMNS = ("followed", "accepted", "undoes", "words")
"""Numbers of a turn that the view `compared_turns` has beside gain and progress."""

_FEWEST = 20
"""Units with a score below which a question is left out."""

_FEWEST_BOTH = 3
"""Expected units on which both numbers are unusual, below which `say_little`."""

_JUDGED = """
    SELECT {unit}, 'judge:' || rubric || '.' || question || '@' || judge AS name, avg(score) AS value
    FROM (SELECT episode_id, turn, rubric, question, judge, unit_id, avg(score) AS score FROM verdicts_latest
          WHERE variant IS NULL AND score IS NOT NULL GROUP BY ALL)
    GROUP BY ALL ORDER BY name
"""


def turn_rows(store: Store, benchmark: str | None = None) -> pl.DataFrame:
    """The view `compared_turns`, with a column for each question of each judge: the mean score of the turn's units, 0 to 1."""
    import polars as pl

    turns = query(store, "SELECT * FROM compared_turns ORDER BY benchmark, episode_id, turn")
    if benchmark is not None:
        turns = turns.filter(pl.col("benchmark") == benchmark)
    return with_judges(store, turns, ["episode_id", "turn"])


def with_judges(store: Store, rows: pl.DataFrame, unit: list[str]) -> pl.DataFrame:
    """The rows with a column `judge:<rubric>.<question>@<judge>` for each question of each judge: the mean score of the unit, 0 to 1.

    Args:
        store: a store with the views.
        rows: with the unit's columns.
        unit: what a row is: episode_id, or episode_id and turn.
    """
    judged = query(store, _JUDGED.format(unit=", ".join(unit)))
    if judged.is_empty():
        return rows
    return rows.join(judged.pivot(on="name", index=unit, values="value"), on=unit, how="left", maintain_order="left")


def judge_columns(rows: pl.DataFrame) -> list[str]:
    """Those of judges that vary and have enough units, in order of name."""
    return [name for name in sorted(rows.columns) if name.startswith("judge:") and _varies(rows[name])]


def _varies(column: pl.Series) -> bool:
    return len(column.drop_nulls()) >= _FEWEST and column.drop_nulls().n_unique() > 1


def game_rows(store: Store, benchmark: str | None = None) -> pl.DataFrame:
    """Games that ended, as in the view `compared_games`, with the condition of their run as JSON text in `switches`."""
    import polars as pl

    games = query(
        store,
        "SELECT compared_games.*, runs.condition::VARCHAR AS switches FROM compared_games "
        "INNER JOIN episodes USING (episode_id) INNER JOIN runs USING (run_id) WHERE ending = 'ended' ORDER BY benchmark, episode_id",
    )
    return games if benchmark is None else games.filter(pl.col("benchmark") == benchmark)


def say_little(first: Floats, second: Floats) -> bool:
    """Whether two numbers are too seldom other than their most frequent value to be set against each other.

    Were they independent, both would be so on fewer than three units: whether that happens on none or on two decides what goes with what,
    and how sure it is cannot be seen between tasks. There intervals of correlations held the truth in 26 to 90 % of simulated data sets,
    and in 95 % from three units on; expected counts are asked for since Cochran (1954, Biometrics 10).

    Args:
        first: shape (units,).
        second: likewise.
    """
    import numpy as np

    n = len(first)
    unusual = [n - int(np.unique(values, return_counts=True)[1].max()) for values in (first, second)]
    return unusual[0] * unusual[1] / n < _FEWEST_BOTH


def codes(values: pl.Series) -> NDArray[np.int64]:
    """Numbers from 0 without gaps, one for each different value."""
    known = values if values.dtype.is_integer() else values.fill_null("").cast(str)
    return (known.rank("dense") - 1).to_numpy().astype("int64")
