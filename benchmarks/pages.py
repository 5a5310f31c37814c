"""Pages: what the dashboard's callback takes for each page at 100,000 turns, against the page's own SQL run bare.

The callback opens the store, queries, draws the figures and is serialised as Dash does it. The base is the same statements with the same
parameters over one connection that is open already, each result fetched as Arrow. A page may take half as long again, and 50 ms.
Sections of the page Judges keep reports until the store changes: how long the first visit takes is told beside the name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from benchmarks.figures import Figure, seconds
from benchmarks.timing import medians
from benchmarks.workload import TURNS, ask_twice, craft_games, ingest, judge, multiply
from dashboards.address import Address
from dashboards.drawing import draw_page
from dashboards.pages import pages
from dashboards.parts import compact
from schemas.store.store import Store

if TYPE_CHECKING:
    import duckdb

__all__ = ["JUDGED_TWICE", "addresses", "draw", "run"]

JUDGED_TWICE: Final = "pragmatic_sufficiency"
"""The rubric that the engine and, twice, a model have judged: drift and agreement have something to compare."""
_PLAYED: Final = 250
_COPIES: Final = 20
_ROUNDS: Final = 3
_TIMES: Final = 1.5
_MORE_S: Final = 0.05

Statement = tuple[str, Any]
"""SQL and its parameters."""


def run() -> list[Figure]:
    """Measure."""
    store, _ = ingest(craft_games(_PLAYED), "pages.duckdb")
    judge(store)
    ask_twice(store, JUDGED_TWICE)
    multiply(store, _COPIES)
    return [_page(store, name, address) for name, address in addresses(store).items()]


def addresses(store: Store) -> dict[str, Address]:
    """Every page; beside the list of games one game, and of the turns those that a click on a bar leads to."""
    with store.reading() as connection:
        ((episode,),) = connection.execute("SELECT min(episode_id) FROM episodes WHERE benchmark = 'craft'").fetchall()
    found = {page.TITLE: Address.parse(page.PATH, "") for page in pages()}
    found["Turns"] = Address.parse("/turns", "outcome=not_followed")
    for section in ("agreement", "corrected", "drift", "cost"):
        found[f"Judges, {section}"] = Address.parse("/judges", f"rubric={JUDGED_TWICE}&show={section}")
    found["Game, one turn"] = Address.parse("/game", f"episode={episode}&turn=7")
    return found


def as_sent(store: Store, address: Address) -> str:
    """A page as the browser gets it, an error in its place included."""
    from plotly.io.json import to_json_plotly

    drawn = draw_page(store, address)
    text: str = to_json_plotly([compact(drawn.head), compact(drawn.filters), compact(drawn.content)])
    return text


def draw(store: Store, address: Address) -> str:
    """A page as the browser gets it."""
    text = as_sent(store, address)
    assert "could not be drawn" not in text, text[-500:]
    return text


def _page(store: Store, name: str, address: Address) -> Figure:
    recording = _RecordingStore(store.path)
    began = perf_counter()
    size = len(draw(recording, address))
    first = perf_counter() - began
    statements = list(recording.statements)
    with store.reading() as connection:
        taken = medians(_ROUNDS, {"base": partial(_bare, connection, statements), "ours": lambda: draw(store, address)})
    ours, base = taken["ours"].wall_s, taken["base"].wall_s
    return Figure(
        f"{name}, {_PLAYED * _COPIES * TURNS:,} turns, {size / 1000:.0f} kB, first {seconds(first)}",
        seconds(ours),
        f"{seconds(base)}: its {len(statements)} statements",
        ours / base,
        f"<= {_TIMES} and 50 ms more: {seconds(_TIMES * base + _MORE_S)}",
        ours <= _TIMES * base + _MORE_S,
    )


def _bare(connection: duckdb.DuckDBPyConnection, statements: list[Statement]) -> None:
    for sql, parameters in statements:
        connection.sql(sql, params=parameters).to_arrow_table()


class _RecordingStore(Store):
    """A store that keeps every statement that is read from it."""

    def __init__(self, path: Any) -> None:
        super().__init__(path)
        self.statements: list[Statement] = []

    @contextmanager
    def reading(self) -> Iterator[Any]:
        with super().reading() as connection:
            yield _Recorder(connection, self.statements)


class _Recorder:
    """Stands for a connection and writes down what is asked of it."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, statements: list[Statement]) -> None:
        self._connection = connection
        self._statements = statements

    def sql(self, sql: str, *, params: Any = None) -> Any:
        """As DuckDB's."""
        self._statements.append((sql, params))
        return self._connection.sql(sql, params=params)

    def execute(self, sql: str, parameters: Any = None) -> Any:
        """As DuckDB's."""
        self._statements.append((sql, parameters))
        return self._connection.execute(sql, parameters)
