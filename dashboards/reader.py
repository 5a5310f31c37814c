"""How pages read the store: one short connection for a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING

from analytics.query import frame
from dashboards.address import FILTERS, Address, where

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb
    import polars as pl

    from schemas.store import Store

__all__ = ["Reader", "reader"]


class Reader:
    """Queries under the filters of an address."""

    def __init__(self, store: Store, connection: duckdb.DuckDBPyConnection, address: Address, rubric_folders: Sequence[Path] = ()) -> None:
        self.store = store
        """For reports that open it themselves."""
        self.connection = connection
        self.address = address
        self.rubric_folders = rubric_folders
        """Folders with rubrics of the user's own."""

    def at(self, address: Address) -> Reader:
        """The same store under another address."""
        other = copy(self)
        other.address = address
        return other

    def rows(self, sql: str, parameters: Mapping[str, object] | None = None, *, filter_on: Sequence[str] = FILTERS) -> pl.DataFrame:
        """The rows of a query.

        Args:
            sql: `{filters}` stands for the condition that the address sets, `$name` for a parameter.
            parameters: values of the parameters.
            filter_on: the filters whose columns the query has.
        """
        condition, filter_values = where(self.address, filter_on)
        values = {**(parameters or {}), **(filter_values if "{filters}" in sql else {})}
        return frame(self.connection, sql.replace("{filters}", condition), values)


@contextmanager
def reader(store: Store, address: Address, rubric_folders: Sequence[Path] = ()) -> Iterator[Reader]:
    """Open the store for one page.

    Raises:
        StoreError: the store cannot be read.
    """
    with store.reading() as connection:
        yield Reader(store, connection, address, rubric_folders)
