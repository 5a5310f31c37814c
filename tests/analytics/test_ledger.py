"""The claims of all reports as rows: one error rate, what could never be shown, and that a planted difference is."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
import pytest

import analytics.findings
import analytics.ledger
import analytics.reports
from analytics.comparison.compare import compare
from analytics.exports.games import export_dataset
from analytics.installation import ensure_installed, materialize
from analytics.ledger import CLAIMED, statements
from analytics.report_columns import framed
from analytics.reports import COMPUTED, all_reports
from analytics.statistics.shifts import holm
from dashboards.address import Address
from dashboards.page_file import document, page_file
from dashboards.pages import pages
from research import judged
from research.null import World, fill
from schemas.store.store import Store


@pytest.fixture(scope="module")
def worse(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Three teams on 14 tasks, of which one is worse by .5."""
    store = Store(tmp_path_factory.mktemp("worse") / "s.duckdb")
    store.create()
    fill(store, World(teams=3, tasks=14, turns=3, deficit=0.5), np.random.default_rng(3))
    materialize(store)
    return store


@pytest.fixture(scope="module")
def tables(worse: Store) -> dict[str, pl.DataFrame]:
    """All reports, each of which is computed once."""
    asked: list[str] = []
    compute = analytics.reports._compute

    def counted(name: str) -> object:
        asked.append(name)
        return compute(name)

    with pytest.MonkeyPatch.context() as patched, worse.reading():
        patched.setattr(analytics.reports, "_compute", counted)
        found = all_reports(worse)
    assert sorted(asked) == sorted(COMPUTED)
    return found


@pytest.mark.parametrize("known", [True, pytest.param(False, marks=pytest.mark.long)], ids=["reports known", "computed anew"])
def test_a_planted_difference_is_a_row_with_all_that_it_rests_on(
    worse: Store, tables: dict[str, pl.DataFrame], tmp_path: Path, *, known: bool
) -> None:
    """Corrected over all reports it is less sure than over its own; exports have the rows that a page of all reports has."""
    found = tables["claims"]
    rows = found.filter(pl.col("report") == "compare", pl.col("estimand").str.contains("m0"))
    assert rows["shown"].all()
    assert (rows["p_all"] >= rows["p_family"]).all()
    assert set(rows["n"]) == {14}
    assert set(rows["unit"]) == {"task"}
    assert rows["can_show"].all()
    assert rows["detectable"].is_between(0.05, 0.5).all()
    others = found.filter(pl.col("report") == "compare", ~pl.col("estimand").str.contains("m0"))
    assert not others["shown"].any()
    assert found.drop_nulls("p")["p_all"].is_between(0, 1).all()
    assert any("is behind" in text for text in found.filter(pl.col("estimand").str.starts_with("front page"))["sentence"])
    with pytest.MonkeyPatch.context() as patched:
        if known:
            patched.setattr(analytics.ledger, "report", lambda _, name: tables[name])
        written = {path.name: path for path, _ in export_dataset(worse, tmp_path)}
    alone = pl.read_parquet(written["claims.parquet"])
    assert found.select(alone.columns).equals(alone)


@pytest.fixture(scope="module")
def page(worse: Store, tables: dict[str, pl.DataFrame]) -> str:
    """Of all reports, made where none can be asked again."""
    with pytest.MonkeyPatch.context() as patched:
        patched.delattr(analytics.findings, "compare")
        return document(worse, tables)


def test_a_page_of_all_reports_asks_none_again(page: str) -> None:
    """The sentences on top are made of the reports that are there."""
    assert "is behind" in page


def test_every_report_with_a_corrected_p_is_in_the_ledger(tables: dict[str, pl.DataFrame]) -> None:
    """A report whose p-values are not counted would escape the one error rate; one whose sentences are not rows, the list."""
    with_p = {name for name in COMPUTED if name != "claims" and {"p_holm", "p_corrected"} & set(tables[name].columns)}
    assert with_p == {name for name, about in CLAIMED.items() if about.p}
    with_sentences = {name for name in COMPUTED if name != "claims" and {"advice", "sentence"} & set(tables[name].columns)}
    assert with_sentences == {name for name in CLAIMED if "/" not in name}
    listed = tables["claims"]["report"].value_counts()
    for name in with_sentences & set(listed["report"]) - {"compare", "lost"}:  # of these the front page has sentences, too
        assert listed.filter(report=name)["count"].item() == len(tables[name])


def test_what_pages_put_into_words_is_a_claim(tables: dict[str, pl.DataFrame]) -> None:
    """The tiles of the page Overview are numbers of a report without sentences."""
    rows = tables["claims"].filter(report="overview", estimand="mean score of m0")
    known = tables["overview"].filter(team_name="m0")
    assert rows.select("value", "low", "high").rows() == known.select("score_mean", "score_low", "score_high").rows()
    assert rows["sentence"].str.starts_with("mean score of m0: ").all()


WITH_P: Final = {"/compare", "/effects"}
"""Pages that have sentences with p-values."""


@pytest.mark.parametrize("paths", [WITH_P, pytest.param({page.PATH for page in pages()}, marks=pytest.mark.long)], ids=["few", "all"])
def test_every_sentence_with_a_p_value_is_a_claim(worse: Store, tables: dict[str, pl.DataFrame], page: str, paths: set[str]) -> None:
    """In the reports, on the page of them all, and on every page that has sentences: none escapes the one error rate."""
    with_p = re.compile(r"\(p [=<] [^)]*\)")
    claimed = {found for sentence in tables["claims"]["sentence"] for found in with_p.findall(sentence)}
    texts = {name: [str(value) for row in rows.rows() for value in row if isinstance(value, str)] for name, rows in tables.items()}
    texts["all"] = [html.unescape(page)]
    texts |= {path: [html.unescape(page_file(worse, Address(path)))] for path in paths}
    found = {place: {one for text in of_place for one in with_p.findall(text)} for place, of_place in texts.items()}
    assert {place: some - claimed for place, some in found.items() if some - claimed} == {}
    assert WITH_P | {"compare", "correlations", "all"} <= {place for place, some in found.items() if some}


def test_what_few_tasks_can_never_show_is_a_column(tmp_path: Path) -> None:
    """Six shared tasks give no p below .031, which no correction over several teams leaves below .05."""
    store = Store(tmp_path / "s.duckdb")
    store.create()
    fill(store, World(teams=4, tasks=6, turns=2, deficit=0.5), np.random.default_rng(3))
    rows = framed("claims", statements({"compare": compare(store)})).drop_nulls("p")
    assert not rows["can_show"].any()
    assert not rows["shown"].any()
    assert all("cannot show a difference" in text for text in rows.filter(pl.col("p") < 0.05)["sentence"])


def test_reports_about_judges_correct_over_all_rows_of_a_rubric(tmp_path: Path) -> None:
    """Rows of a job's halves and of its repetition were families of their own: of stores without any drift 10 % had a row with one."""
    store = Store(tmp_path / "s.duckdb")
    store.create()
    judged.fill(store, judged.Judging(0.7), np.random.default_rng(4))
    ensure_installed(store)
    with store.reading():
        for name in ("drift", "self-preference", "judged-effects"):
            about, rows = CLAIMED[name], analytics.reports.report(store, name).drop_nulls(CLAIMED[name].p)
            assert len(rows) > 2
            for _, family in rows.group_by(about.family):
                assert family[about.p_family].to_list() == pytest.approx(holm(family[about.p].to_list()))
