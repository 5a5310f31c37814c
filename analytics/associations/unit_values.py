"""Turns and games as rows of numbers: what models and correlations are made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics.query import query
from schemas.store import Store

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["TURN_COLUMNS", "codes", "game_rows", "judge_columns", "turn_rows", "with_judges"]

TURN_COLUMNS = ("followed", "accepted", "undoes", "words")
"""Numbers of a turn that the view `compared_turns` has beside gain and progress."""

_FEWEST = 20
"""Units with a score below which a question is left out."""

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


def codes(values: pl.Series) -> NDArray[np.int64]:
    """Numbers from 0 without gaps, one for each different value."""
    known = values if values.dtype.is_integer() else values.fill_null("").cast(str)
    return (known.rank("dense") - 1).to_numpy().astype("int64")
