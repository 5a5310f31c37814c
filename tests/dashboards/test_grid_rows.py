"""What a grid asks of the store: its rows once, until the store changes; a user's own query every time."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qs, urlencode, urlsplit

import duckdb
import polars as pl
import pytest
from playwright.sync_api import Page

from analytics.query import frame
from dashboards.address import Address
from dashboards.grid import Grid, GridColumn, RowRange, TableRows, block, grid, html_table, table_links, written
from dashboards.pages import pages
from dashboards.pages.sql import RESULT, content
from dashboards.parts import to_html
from dashboards.reader import forget_kept, reader
from schemas.store.store import Store


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries for rows of tables that the store has answered."""
    found: list[str] = []

    def listen(connection: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, object] | None = None) -> pl.DataFrame:
        found.append(sql)
        return frame(connection, sql, parameters)

    monkeypatch.setattr("dashboards.grid.frame", listen)
    forget_kept()
    return found


def test_the_rows_that_told_a_grid_its_height_are_the_first_that_it_gets(played: Store, asked: list[str]) -> None:
    """The browser asks for the rows after it has the grid: that they are known is half of what an open table takes."""
    counts = {table.name: table for page in pages() for table in getattr(page, "TABLES", ())}["judge-scores"]
    with reader(played, Address.parse("/judges", ""), is_whole=False) as read:
        grid(read, counts, "spatial_grounding")
        once = len(asked)
        found = block(read, counts.make(read, "spatial_grounding"), RowRange(start=0, size=100))
        assert (once, len(asked)) == (1, 1)
        assert found.total >= len(found.rows) > 0
        block(read, counts.make(read, "spatial_grounding"), RowRange(sort=[("scored", True)]))
        assert len(asked) == 2


def test_a_table_of_rows_that_a_figure_has_drawn_asks_nothing(played: Store, asked: list[str]) -> None:
    """Its blocks are cut from them, and are what the query gives."""
    sql = "SELECT episode_id, turn FROM turns WHERE turn > $least ORDER BY ALL"
    rows = TableRows(columns={"turn": GridColumn(heading="Turn")}, sql=sql, parameters={"least": 1})
    with reader(played, Address.parse("/", "")) as read:
        queried = block(read, rows, RowRange(start=3, size=5))
        assert len(asked) == 2  # some of the rows, and how many there are
        read.rows(sql, {"least": 1})
        cut = block(read, rows, RowRange(start=3, size=5))
    assert len(asked) == 2
    assert cut.total == queried.total
    assert cut.rows.equals(queried.rows)


def test_a_query_of_the_user_runs_whenever_it_is_asked(played: Store) -> None:
    """It need not give the same twice."""
    with reader(played, Address.parse("/sql", "query=SELECT random() AS x"), is_whole=False) as read:
        drawn = [block(read, RESULT.make(read, ""), RowRange()).rows["x"][0] for _ in range(2)]
    assert drawn[0] != drawn[1]


ODD = {
    "pivot": ("PIVOT (VALUES ('a', 'b'), ('a', 'c')) AS t(x, y) ON y USING count(*) ORDER BY x", "x", "a"),
    "what looks like a place for filters": ("SELECT '{filters}' AS \"{filters}\"", "{filters}", "{filters}"),
    "what looks like a parameter": ("SELECT '$usd' AS \"$usd\"", "$usd", "$usd"),
    "a quote in a name": ("SELECT 'it''s' AS \"a\"\"; --\"", 'a"; --', "it's"),
    "the grid's own names": ("SELECT 'x' AS rows_in_all, 'javascript:alert(1)' AS \"→ href\"", "rows_in_all", "x"),
}


@pytest.mark.parametrize(("query", "column", "value"), [pytest.param(*case, id=name) for name, case in ODD.items()])
def test_a_query_of_the_user_is_taken_as_it_is(query: str, column: str, value: str, played: Store) -> None:
    """It is no template of ours; sorted, narrowed, drawn, as a file and as a query it is the same."""
    with reader(played, Address.parse("/sql", f"{urlencode({'query': query})}&benchmark=craft"), is_whole=False) as read:
        rows = RESULT.make(read, "")
        equals = {"type": "equals", "filter": value, "filterType": "text"}
        for asked in (RowRange(), RowRange(sort=[(column, True)]), RowRange(filters={column: equals})):
            found = block(read, rows, asked)
            assert (found.total, found.rows[column].to_list()) == (1, [value])
        assert not block(read, rows, RowRange(filters={column: equals | {"type": "notEqual"}})).total
        assert query in parse_qs(urlsplit(table_links(read, RESULT).children[-1].attributes["href"]).query)["query"][0]
        assert "could not" not in str(content(read))
        assert "href" not in to_html(html_table(read, rows)).replace("→ href", "")


def test_columns_are_as_wide_as_what_they_hold(played: Store) -> None:
    """Two models of a provider were both `llm:openai/g...`, and intervals of differences had no end."""
    columns = {
        "who": GridColumn(heading="Turn"),
        "judge": GridColumn(heading="Judge", kind="judge"),
        "rate": GridColumn(heading="Rate", kind="share", low="low", high="high"),
    }
    rows = TableRows(columns=columns, sql="SELECT 1 AS who, 'llm:openai/gpt-4o-mini' AS judge, -.11 AS rate, -.28 AS low, .17 AS high")
    with reader(played, Address.parse("/", ""), is_whole=False) as read:
        definitions = grid(read, Grid("own", lambda *_: rows)).children.columnDefs
        (texts,) = written(read, rows, block(read, rows, RowRange()).rows)
    least = {definition["field"]: definition["minWidth"] for definition in definitions}
    assert all(least[name] >= 6.8 * len(texts[name]) + 26 for name in columns)


def test_a_name_of_a_log_cannot_turn_its_letters_round(played: Store) -> None:
    """A task's name with a mark for right-to-left was shown backwards, other names were not."""
    rows = TableRows(columns={"task": GridColumn(heading="Task", kind="name")}, sql="SELECT 'x\u202egnp.exe' AS task")
    with reader(played, Address.parse("/", "")) as read:
        (texts,) = written(read, rows, block(read, rows, RowRange()).rows)
    assert texts["task"] == "x�gnp.exe"


_ROWS_IN_SIGHT = "() => document.querySelector('.ag-body-viewport').clientHeight / document.querySelector('.ag-row').offsetHeight"


@pytest.mark.browser
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("number", "shown"), [(8, 8), (10, 10), (40, 10.5)])
def test_half_a_row_says_that_more_follow(number: int, shown: float, played_site: str, page: Page) -> None:
    """Some systems hide scroll bars: a grid that ended below a whole row looked complete."""
    in_sight = f"rows => Math.abs(({_ROWS_IN_SIGHT})() - rows) < 0.1"
    page.set_viewport_size({"width": 1400, "height": 700})
    page.goto(f"{played_site}/sql?query=SELECT * FROM range({number})")
    page.locator(".ag-row").first.wait_for()
    page.wait_for_function(in_sight, arg=shown)


@pytest.mark.browser
def test_a_grid_that_is_the_page_fills_a_high_window(played_site: str, page: Page) -> None:
    """As many rows as fit, and the grid ends inside the window."""
    page.set_viewport_size({"width": 1400, "height": 1400})
    page.goto(f"{played_site}/sql?query=SELECT * FROM range(100)")
    page.locator(".ag-row").first.wait_for()
    page.wait_for_function(f"() => ({_ROWS_IN_SIGHT})() > 15")
    bottom = page.locator(".cotrace-grid").evaluate("grid => grid.getBoundingClientRect().bottom + window.scrollY")
    assert bottom < page.evaluate("window.innerHeight")
