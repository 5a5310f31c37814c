"""How pages read the store: one short connection for a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dashboards.address import Address, where

if TYPE_CHECKING:
    import duckdb
    import polars as pl

    from schemas.store import Store

__all__ = ["Reader", "reader"]


class Reader:
    """Queries under the filters of an address."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, address: Address) -> None:
        self.connection = connection
        self.address = address
        self.condition, self._filter_values = where(address)
        """SQL condition for the filters; holds for every view that has their columns."""

    def rows(self, sql: str, parameters: Mapping[str, object] | None = None) -> pl.DataFrame:
        """The rows of a query. `{filters}` in it stands for the condition of the address; `$name` for a parameter."""
        import polars as pl

        filtered = "{filters}" in sql
        values = {**(parameters or {}), **(self._filter_values if filtered else {})}
        result = self.connection.execute(sql.replace("{filters}", self.condition), values)
        return pl.DataFrame(result.to_arrow_table())


@contextmanager
def reader(store: Store, address: Address) -> Iterator[Reader]:
    """Open the store for one page.

    Raises:
        StoreError: the store cannot be read.
    """
    with store.reading() as connection:
        yield Reader(connection, address)
