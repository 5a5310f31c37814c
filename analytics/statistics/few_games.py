"""What intervals are worth that rest on few games, said with the report that prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from schemas.wording import count

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FEW", "few_games", "marked"]

FEW: Final = 10
"""Games (tasks) below which coverage leaves 93 to 97 % where answers are rare or games differ much (docs/coverage.md)."""

_COUNTS: Final = ("labelled_games", "games", "tasks", "episodes")
"""What the intervals of a report are over; the first that it has."""


def few_games(rows: pl.DataFrame) -> str | None:
    """A sentence where intervals of a report rest on fewer than ten games; None where none does.

    Args:
        rows: of a report. Intervals are pairs of columns that end with `low` and `high`; what they are over is the first of
            labelled_games, games, tasks, episodes.
    """
    import polars as pl

    over, rests = _over(rows), _rests_on_few(rows)
    if over is None or rests is None or not rests.any():
        return None
    few = rows.filter(rests)
    unit = "tasks" if over == "tasks" else "games"
    which = "this row rests" if len(rows) == 1 else f"{count(len(few))} of {count(len(rows))} rows rest"
    least = int(few.get_column(over).cast(pl.Int64).to_list()[few.get_column(over).arg_min() or 0])
    return (
        f"{which} on fewer than {FEW} {unit} (least: {least}); there a 95 % interval is no exact one: in simulation it holds the truth in "
        "97 to 100 % where answers are rare, and where games differ much from 75 (corrected rates), 80 (kappa) or 89 % on "
        "(docs/coverage.md)"
    )


def marked(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with a last column `few_games`: true where an interval rests on fewer than ten; without intervals no such column."""
    rests = _rests_on_few(rows)
    return rows if rests is None or "few_games" in rows.columns else rows.with_columns(rests.alias("few_games"))


def _over(rows: pl.DataFrame) -> str | None:
    return next((name for name in _COUNTS if name in rows.columns and rows[name].dtype.is_integer()), None)


def _rests_on_few(rows: pl.DataFrame) -> pl.Series | None:
    import polars as pl

    over = _over(rows)
    lows = [name for name in rows.columns if name == "low" or name.endswith("_low")]
    if over is None or not lows:
        return None
    return rows.select((pl.any_horizontal(pl.col(lows).is_not_null()) & (pl.col(over) < FEW)).fill_null(value=False)).to_series()
