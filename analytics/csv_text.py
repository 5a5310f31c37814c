"""Rows as CSV that a spreadsheet cannot be tricked with: texts come out of logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson

if TYPE_CHECKING:
    import polars as pl

__all__ = ["as_csv"]

_FORMULA_START: Final = r"^'*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]"
"""Apostrophes before it are of the text: without one more, whoever takes the guard off again would take one of them."""
_PLAIN_NUMBER: Final = r"^[+-]?[0-9]+([.][0-9]+)?$"


_CONTROL: Final = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\u{9f}\u{202a}-\u{202e}\u{2066}-\u{2069}]|\r(?P<next>[^\n]|$)"
"""Characters that steer a terminal on which a file is shown, or turn the text behind them; line ends and tabs stay."""


def as_csv(rows: pl.DataFrame) -> str:
    """All columns; lists and records as JSON text; what a spreadsheet would run as a formula gets an apostrophe in front, headings too.

    Control characters and changes of direction become U+FFFD: JSON (escaped) and Parquet keep them.
    """
    return _without_formulas(_flat(rows)).write_csv()


def _flat(rows: pl.DataFrame) -> pl.DataFrame:
    """CSV knows no lists and records: write them as JSON text."""
    import polars as pl

    nested = [name for name, kind in rows.schema.items() if kind.is_nested()]
    return rows.with_columns(pl.Series(name, [_as_json(value) for value in rows[name].to_list()], pl.String) for name in nested)


def _as_json(value: object) -> str | None:
    return None if value is None else orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


def _without_formulas(rows: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    headings = pl.DataFrame({"name": rows.columns}, schema={"name": pl.String}).select(_harmless(pl.col("name")))
    return rows.with_columns(_harmless(pl.col(pl.String, pl.Categorical, pl.Enum))).rename(
        dict(zip(rows.columns, headings["name"], strict=True))
    )


def _harmless(texts: pl.Expr) -> pl.Expr:
    import polars as pl

    texts = texts.cast(pl.String).str.replace_all(_CONTROL, "\ufffd${next}")
    is_formula = texts.str.contains(_FORMULA_START) & ~texts.str.contains(_PLAIN_NUMBER)
    return pl.when(is_formula).then(pl.lit("'") + texts).otherwise(texts).name.keep()
