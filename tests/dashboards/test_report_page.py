"""The page of all reports: sentences first, sections folded, figures that unpack themselves without a network, small enough to send."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser

from analytics.findings import findings
from analytics.query import query
from analytics.reports import report, report_names
from dashboards.page_file import document
from schemas.store.store import Store
from tests.masters import held_open
from tests.played import played_store

LARGEST = 3_000_000


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Nine games of CRAFT, judged by the engine."""
    yield from held_open(played_store(tmp_path_factory.mktemp("page")))


_SLOW = frozenset({"claims", "power", "ability", "judges-needed", "mediation", "survival-curves", "calibration", "calibrated-answers"})
"""Reports that take long to compute, and are tables like others."""


_FEW = ("lost", "answers", "einstein", "failures", "leaderboard", "notes", "overview", "remove-gap")
"""With figures and without, and some that have no rows."""


@pytest.fixture(scope="module", params=["few", pytest.param("all", marks=pytest.mark.long)])
def tables(store: Store, request: pytest.FixtureRequest) -> dict[str, pl.DataFrame]:
    """Reports and their rows."""
    names = _FEW if request.param == "few" else [name for name in report_names() if name not in _SLOW]
    with store.reading():  # kept open: what each report opens beside it costs next to nothing
        return {name: report(store, name) for name in names}


@pytest.fixture(scope="module")
def page_of_all(store: Store, tables: dict[str, pl.DataFrame]) -> str:
    """As `cotrace report all --format html` prints it."""
    return document(store, tables)


def test_findings_say_who_where_why_and_how_sure_with_the_numbers_of_the_reports(store: Store) -> None:
    """Three games a team can show no difference, and so it is said; each sentence names a report that there is."""
    found = findings(store)
    assert [one.topic for one in found if one.benchmark == "craft"] == ["who", "where", "why", "why", "why", "sure"]
    assert {one.report for one in found} <= set(report_names())
    assert "no difference between teams can be shown with 3 shared tasks, for so many teams at least 7 are needed" in found[0].sentence
    (category,) = query(
        store,
        "SELECT category FROM failure_breakdown WHERE is_default AND category <> 'correct' AND share IS NOT NULL "
        "GROUP BY category ORDER BY sum(turns) DESC, category LIMIT 1",
    ).row(0)
    assert [one.report for one in found if one.topic == "why"][:2] == ["lost", "failures"]
    assert f"The commonest failure of all teams is {category.replace('_', ' ')}" in found[3].sentence


def test_one_taxonomy_is_shown_where_none_is_asked_for(store: Store) -> None:
    """The report, like page and demo; a condition gives all."""
    assert set(report(store, "failures")["taxonomy"]) == {"craft_published"}
    assert set(report(store, "failures", "turns >= 0")["taxonomy"]) == {"craft_published", "craft_repaired"}


def test_the_page_begins_with_sentences_and_leaves_out_what_is_empty(
    store: Store, tables: dict[str, pl.DataFrame], page_of_all: str
) -> None:
    """Contents link to every section; what has no rows is named once."""
    assert len(page_of_all) < LARGEST
    assert page_of_all.index(findings(store)[0].sentence.split(":")[0]) < page_of_all.index("<section")
    empty = [name for name, rows in tables.items() if rows.is_empty()]
    assert empty
    assert not any(f"<h2>{name}</h2>" in page_of_all for name in empty)
    filled = [name for name in tables if name not in empty]
    assert all(f"href='#{name}'" in page_of_all and f"<h2>{name}</h2>" in page_of_all for name in filled)


@pytest.mark.browser
def test_a_section_unfolds_and_its_figure_is_drawn_without_a_network(browser: Browser, page_of_all: str, tmp_path: Path) -> None:
    """Folded at first; a link of the contents opens its section, and the library unpacks itself."""
    path = tmp_path / "report.html"
    path.write_text(page_of_all, encoding="utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(path.as_uri())
    assert page.locator("details[open]").count() == 0
    page.click("nav a[href='#leaderboard']")
    page.wait_for_selector("#leaderboard .main-svg", timeout=20_000)
    assert page.locator("#leaderboard tbody tr").first.is_visible()
    assert wrong == []
    context.close()
