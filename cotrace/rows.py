"""Rows of a query or a report, in whichever form a notebook wants them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from schemas.errors import UsageError

if TYPE_CHECKING:
    import polars as pl


class Rows:
    """The rows of a query or a report; iterating gives them as tuples."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self._frame.columns

    def pl(self) -> pl.DataFrame:
        """As a polars frame."""
        return self._frame

    def df(self) -> Any:
        """As a pandas frame.

        Raises:
            UsageError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise UsageError("pandas is not installed: pip install pandas, or use .pl() for a polars frame") from error
        return pd.DataFrame(self._frame.to_dict(as_series=False))

    def fetchall(self) -> list[tuple[Any, ...]]:
        """As a list of tuples."""
        return self._frame.rows()

    def dicts(self) -> list[dict[str, Any]]:
        """As a list of dictionaries."""
        return self._frame.to_dicts()

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._frame.iter_rows()

    def __len__(self) -> int:
        return len(self._frame)

    def __repr__(self) -> str:
        return repr(self._frame)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        shown: str = self._frame._repr_html_()
        return shown
