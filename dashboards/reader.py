"""How pages read the store: one short connection for a page, opened where something is asked that is not kept already."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final

from analytics.query import frame
from dashboards.address import FILTERS, Address, where
from dashboards.computed import kept
from judges.evidence.transcript import Transcript, read_games
from schemas.wording import condition_in_words, in_words

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb
    import polars as pl

    from schemas.store import Store

__all__ = ["Reader", "reader"]

_TURN_BYTES: Final = 2**16
"""Of a turn with its states and what was said: twice that of a large one."""


class Reader:
    """Queries under the filters of an address."""

    def __init__(
        self,
        store: Store,
        opened: Callable[[], duckdb.DuckDBPyConnection],
        address: Address,
        rubric_folders: Sequence[Path] = (),
        *,
        is_whole: bool = True,
    ) -> None:
        self.store = store
        """For reports that open it themselves."""
        self._opened = opened
        self.address = address
        self.rubric_folders = rubric_folders
        """Folders with rubrics of the user's own."""
        self.is_whole = is_whole
        """Cards that take long are drawn with the page; a browser asks for them one by one."""
        self.raises = False
        """An error in what a user wrote is raised; otherwise the page shows it."""

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """To the store, opened on the first use: that takes longer than what most steps in a game do.

        Raises:
            StoreError: the store cannot be read.
        """
        return self._opened()

    def game(self, episode_id: str) -> Transcript | None:
        """A game with all its turns, kept until the store changes; None where it is not in the store."""
        return kept(
            self.store.path,
            ("game", episode_id),
            lambda: read_games(self.connection, [episode_id]).get(episode_id),
            size_of=lambda game: len(game.turns) * _TURN_BYTES if game is not None else 0,
        )

    def at(self, address: Address) -> Reader:
        """The same store under another address."""
        other = copy(self)
        other.address = address
        return other

    def rows(self, sql: str, parameters: Mapping[str, object] | None = None, *, filter_on: Sequence[str] = FILTERS) -> pl.DataFrame:
        """The rows of a query; they are kept until the store changes.

        Args:
            sql: `{filters}` stands for the condition that the address sets, `$name` for a parameter.
            parameters: values of the parameters.
            filter_on: the filters whose columns the query has.
        """
        query, values = self.bound(sql, parameters, filter_on=filter_on)
        return kept(self.store.path, (query, repr(values)), lambda: frame(self.connection, query, values))

    def bound(
        self, sql: str, parameters: Mapping[str, object] | None = None, *, filter_on: Sequence[str] = FILTERS
    ) -> tuple[str, dict[str, object]]:
        """The query under the filters of the address, and the values of all its parameters."""
        condition, filter_values = where(self.address, filter_on)
        values = {**(parameters or {}), **(filter_values if "{filters}" in sql else {})}
        return sql.replace("{filters}", condition), values

    def condition_in_words(self, condition: str | None) -> str:
        """What a condition's code stands for: `oracle shown, 20 turns, run 7`."""
        return self._conditions.get(condition or "") or in_words(condition)

    @cached_property
    def _conditions(self) -> dict[str, str]:
        rows = self.rows(
            """
            SELECT run_conditions.condition, any_value(runs.condition)::VARCHAR
            FROM runs INNER JOIN run_conditions USING (run_id) GROUP BY 1
            """
        ).rows()
        return {code: condition_in_words(said, code) for code, said in rows}


@contextmanager
def reader(
    store: Store, address: Address, rubric_folders: Sequence[Path] = (), *, is_whole: bool = True, raises: bool = False
) -> Iterator[Reader]:
    """What one page, or one of its cards, reads the store with; closed on leaving."""
    with ExitStack() as stack:
        opened = cache(lambda: stack.enter_context(store.reading()))
        read = Reader(store, opened, address, rubric_folders, is_whole=is_whole)
        read.raises = raises
        yield read
