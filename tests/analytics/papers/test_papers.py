"""The papers' tables from the shared logs: the numbers that the published code gives, the papers' own beside, what is missing said."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.metrics import cohen_kappa_score

from analytics.papers import PaperItem, PaperTable, as_csv, as_notes, as_svg, as_tex, items_of, notes_of, paper_table, papers, units
from analytics.query import query
from cotrace.cli import cli
from games.overcooked.engine.references import published_references
from games.overcooked.engine.tasks import tasks
from ingest.files.run import ingest_paths
from schemas.common.errors import UsageError
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.little_games import Game, Step, store_with
from tests.analytics.test_views_judges import job, verdict
from tests.ingest.asympuzl.asympuzl_logs import PlayRequest, play
from tests.masters import published_store

LOGS = {
    "craft": ["craft/engine_games"],
    "einstein": ["einstein"],
    "coordination": ["coordination/hanabi", "coordination/overcooked", "coordination/collab_games"],
}
FAMILIES = ("craft", "einstein", "asympuzl", "overcooked", "coordination")


Stores = Callable[[str], Store]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[Stores]:
    """Family -> a store of its published games; those of families without any here stand for a store with nothing of them."""
    with ExitStack() as held:

        @cache
        def opened(family: str) -> Store:
            found = published_store(shared, tmp_path_factory.mktemp("papers"), *LOGS[family])
            held.enter_context(found.reading())
            return found

        yield lambda family: opened(family if family in LOGS else "craft")


@pytest.fixture
def craft(stores: Stores) -> Store:
    return stores("craft")


@pytest.fixture
def einstein(stores: Stores) -> Store:
    return stores("einstein")


def cell(store: Store, name: str, item: str, row: str, column: str) -> dict[str, float | None]:
    kind, number = item.split()
    (found,) = paper_table(store, name, kind, number).cells.filter(row=row, column=column).to_dicts()
    return found


def run(*arguments: str) -> str:
    return CliRunner().invoke(cli, ["paper", *arguments], catch_exceptions=False).stdout


@pytest.mark.shared
def test_craft_table_1_is_what_the_published_engine_gives(craft: Store, shared: Path) -> None:
    """Mean and standard error of progress over the twenty structures."""
    with (shared / "reference/craft_engine_models_expected.csv").open() as file:
        expected = {row["model"]: row for row in csv.DictReader(file) if row["n_games"] == "20"}
    assert expected
    for model, row in expected.items():
        found = cell(craft, "craft", "table 1", model, "progress")
        assert found["value"] == pytest.approx(float(row["overall_progress_mean"]), abs=1e-4)
        assert found["sem"] == pytest.approx(float(row["overall_progress_sem"]), abs=1e-4)
        assert found["low"] is not None
        assert found["high"] is not None
        assert 0 <= found["low"] < (found["value"] or 0) < found["high"] <= 1


@pytest.mark.shared
def test_einstein_table_1_is_what_the_published_code_gives(einstein: Store) -> None:
    """The rates of `einstein_runs`, which are checked against the reference, in the paper's columns."""
    runs = query(einstein, "SELECT * FROM einstein_runs WHERE run IN ('cot_seek_raw', 'cot_seek_reasoning')").to_dicts()
    prefix = {"none": "no verifier", "reasoning_verifier": "reasoning verifier"}
    for one in runs:
        for column, name in (("SR", "sr"), ("Sub.R", "subr")):
            found = cell(einstein, "einstein", "table 1", "Information Seeking Only: unknown CoT", f"{prefix[one['verifier']]} {column}")
            assert found["value"] == pytest.approx(one[f"{name}_pct"])
            assert found["sem"] == pytest.approx(one[f"{name}_se"])


@pytest.mark.shared
def test_einstein_table_2_is_what_the_published_code_gives(einstein: Store) -> None:
    """Shares of all steps as in `einstein_errors`, which is checked against the reference, pooled over runs with and without reasoning."""
    runs = query(
        einstein,
        "SELECT sum(count) AS hits, sum(total_steps) AS n FROM einstein_errors "
        "WHERE scope LIKE 'run:%' AND verifier = 'none' AND action_mode = 'seek' AND category = 'wrong_rule'",
    ).row(0, named=True)
    found = cell(einstein, "einstein", "table 2", "Wrong rule understanding", "no verifier Seek Only")
    assert found["value"] == pytest.approx(100 * float(runs["hits"]) / float(runs["n"]))
    assert found["n"] == runs["n"]
    assert found["paper"] is not None
    assert (found["low"] or 0) < (found["value"] or 0) < (found["high"] or 0)
    of_moves = query(
        einstein,
        "SELECT sum(count) AS hits, sum(relevant_count) AS n FROM einstein_errors "
        "WHERE scope LIKE 'run:%' AND verifier = 'none' AND action_mode = 'seek' AND category = 'wrong_rule'",
    ).row(0, named=True)
    relevant = cell(einstein, "einstein", "table 2", "Wrong rule understanding", "no verifier Seek Only of relevant")
    assert relevant["value"] == pytest.approx(100 * float(of_moves["hits"]) / float(of_moves["n"]))
    assert cell(einstein, "einstein", "table 2", "Total Actions", "no verifier Seek Only")["value"] == runs["n"]


@pytest.mark.shared
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name in {"craft", "overcooked"})) for name in FAMILIES])
def test_every_item_is_filled_or_says_what_is_missing(stores: Stores, name: str) -> None:
    """And every note's query runs."""
    store = stores(name)
    for item in items_of(name):
        found = paper_table(store, name, item.kind, item.number)
        assert found.missing or found.cells["value"].null_count() == 0 or found.cells["paper"].is_not_null().any()
        assert found.cells["value"].is_not_null().any() or found.missing
    assert all(note.text for note in notes_of(name))
    assert re.search(r"^1\. ", run(name, "--notes", "--store", str(store.path)))


def test_asympuzl_table_3_has_means_over_answers_and_their_ratio_in_percent(tmp_path: Path) -> None:
    """As the paper prints them: long games weigh more, and the share is the ratio of the two means."""
    play(PlayRequest(out=tmp_path, personas=("sharing",), partners=("piecewise",), seeds=(0, 1, 2)))
    played = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path], played, workers=1)
    found = paper_table(played, "asympuzl", "table", "3").cells.filter(row="sharing + piecewise")
    means = dict(found.select("column", "value").iter_rows())
    answers = query(played, "SELECT agent, avg(output_tokens) AS o, avg(message_tokens) AS m, count(*) AS n FROM asympuzl_turns GROUP BY 1")
    for agent, output, message, _ in answers.iter_rows():
        assert means[f"{agent} output tokens"] == pytest.approx(output)
        assert means[f"{agent} message tokens"] == pytest.approx(message)
        assert means[f"{agent} message share"] == pytest.approx(100 * message / output)
        assert 0 < means[f"{agent} message share"] < 100
    assert set(found["n"]) == set(answers["n"])


NUMBERS = {
    "craft": "table 1, table 3, table 4, table 6, table 7, table 8, figure 3, figure 4, figure 5, figure 8, figure 15, figure 16, "
    "figure 17",
    "einstein": "table 1, table 2, table 3, table 4, table 5, figure 2",
    "asympuzl": "table 1, table 2, table 3, table 4, table 5, table 6, figure 2, figure 3a, figure 3b",
    "overcooked": "table 2, table 3, figure 3, figure 4, figure 5, figure 8, figure 9",
    "coordination": "table 1, table 2, table 3, table 4, table 5, table 6, figure 2, figure 3",
}
"""What the papers print that logs can give, of each; of the rest (pictures, surveys, picked cases) an item says why not."""
OTHERS = {
    "craft": "table 2, table 5, table 9, table 10, figure 2, figure 6",
    "einstein": "",
    "asympuzl": "figure 4",
    "overcooked": "table 1, table 4, figure 2",
    "coordination": "figure 1",
}


def test_overcooked_table_3_is_counted_in_the_references(tmp_path: Path) -> None:
    """The paper's numbers but for the dish of level 2, which no reference has, and two actions of levels 5 and 6, which all have."""
    rows = paper_table(store_with(tmp_path, []), "overcooked", "table", "3").cells.to_dicts()
    assert len(rows) == 30
    unlike = {(row["row"], row["column"]): row["difference"] for row in rows if row["difference"]}
    assert unlike == {
        ("level 2", "acquiring a new dish"): -1,
        ("level 5", "collaborative actions"): 2,
        ("level 6", "collaborative actions"): 2,
    }


def test_the_totals_of_overcooked_table_3_leave_out_the_ingredient_that_comes_back() -> None:
    """Every published reference is as long as the columns say, and two actions longer for each item that is taken from the counter."""
    for order in tasks():
        for _, assistant in published_references(order):
            fetched, dishes, back = (
                sum(what in one for one in assistant) for what in ("ingredient_dispenser", "dish_dispenser", "counter)")
            )
            processed = sum(one.startswith("put_obj") for one in assistant)
            assert len(assistant) == 2 * fetched + 3 * processed + 2 * dishes + 2 * back, order


@pytest.mark.parametrize("name", FAMILIES)
def test_each_table_and_figure_of_a_paper_has_its_item_and_each_note_its_query(name: str) -> None:
    """Nothing of the lists is left out silently, and a reviewer can check every note."""
    items = items_of(name)
    assert {item.name for item in items if item.cells} == set(NUMBERS[name].split(", "))
    assert {item.name for item in items if not item.cells} == set(filter(None, OTHERS[name].split(", ")))
    assert all(item.needs for item in items)
    assert all(note.sql for note in notes_of(name))


@pytest.mark.shared
def test_people_s_agreement_in_the_notes_is_that_of_the_published_validation(shared: Path, tmp_path: Path) -> None:
    """The note's medians, from its query and by scikit-learn; the queries' answers have no powers of ten."""
    validated = store_with(tmp_path, [])
    published = shared / "data/craft/human_validation/craftValidationOutputs.csv"
    assert CliRunner().invoke(cli, ["labels", "import", str(published), "--store", str(validated.path)]).exit_code == 0
    (note,) = [one for one in notes_of("craft") if one.title.startswith("People agree")]
    assert note.sql
    rows = query(validated, note.sql)
    medians = dict(rows.select("rubric", "median_kappa").iter_rows())
    assert all(f"{median:.2f}".removeprefix("0") in note.text for median in medians.values())
    given = query(validated, "SELECT unit_key, rubric, question, annotator, answer FROM labels WHERE NOT starts_with(annotator, 'llm:')")
    pairs = given.join(given, on=["unit_key", "rubric", "question"], suffix="_b").filter(pl.col("annotator") < pl.col("annotator_b"))
    kappas = [(rubric, cohen_kappa_score(part["answer"], part["answer_b"])) for (rubric, _), part in pairs.group_by("rubric", "question")]
    for rubric, median in medians.items():
        assert np.median([kappa for name, kappa in kappas if name == rubric]) == pytest.approx(median)
    assert not re.search(r"\d[eE][+-]\d", as_notes(validated, notes_of("craft")))


@pytest.mark.shared
def test_most_craft_targets_cannot_be_completed(craft: Store) -> None:
    """The note's numbers come out of the store."""
    (note,) = (note for note in notes_of("craft") if note.title == "Most targets cannot be completed")
    assert note.sql is not None
    targets, cannot, highest = query(craft, note.sql).row(0)
    assert (targets, cannot, round(highest, 3)) == (20, 14, 0.748)


@pytest.mark.shared
def test_formats(craft: Store) -> None:
    """CSV has a row a cell, TeX a tabular, HTML a page; the paper's own numbers stand in all."""
    arguments = ("craft", "--table", "1", "--store", str(craft.path), "--format")
    rows = list(csv.DictReader(io.StringIO(run(*arguments, "csv"))))
    (gemini,) = (row for row in rows if row["row"] == "Gemini-3-Flash" and row["column"] == "progress")
    assert (gemini["paper"], gemini["paper_sem"], gemini["value"]) == ("0.675", "0.052", "")
    tex = run(*arguments, "tex")
    assert r"\begin{tabular}{lrrrrrrr}" in tex
    assert r"paper 0.675 $\pm$ 0.052" in tex
    page = run(*arguments, "html")
    assert page.startswith("<!doctype html>")
    assert "paper 0.675 ± 0.052" in page
    assert "over-remover" in run(*arguments, "text")


def test_the_papers_numbers_are_those_of_the_reference(shared: Path) -> None:
    """Two cells of each family against the tables as printed."""
    with (shared / "reference/asympuzl_paper_table4.csv").open() as file:
        (row,) = (row for row in csv.DictReader(file) if row["model"] == "GPT-5" and row["puzzle_size"] == "10")
    found = pl.read_csv(Path(__file__).parents[3] / "analytics/asympuzl/paper_numbers.csv")
    assert found.filter(item="table 4", row="GPT-5", column="size 10")["value"].to_list() == [float(row["success_pct"])]


@pytest.mark.long
def test_an_empty_store_says_what_each_item_needs(tmp_path: Path) -> None:
    """The papers' numbers stand alone, and a wrong number or name is one line."""
    store = store_with(tmp_path, [])
    assert set(papers()) == {*FAMILIES, "avalon"}
    with store.reading():  # kept open: what each table opens beside it costs next to nothing
        for name, item in [(family, item) for family in FAMILIES for item in items_of(family)]:
            missing = paper_table(store, name, item.kind, item.number).missing
            assert item.needs in missing or "cannot come from logs" in missing or (item.needs, missing) == ("nothing", "")
    with pytest.raises(UsageError, match=r"paper craft: no table 77: there are table 1, table 2"):
        paper_table(store, "craft", "table", "77")
    with pytest.raises(UsageError, match="no paper 'chess'"):
        items_of("chess")


def test_means_and_errors_by_hand(tmp_path: Path) -> None:
    """Units 0, 1, 1 and 1 of two tasks: mean 3/4; over tasks 1/2 and 1, 3/4 as well; of percent a hundredfold."""
    sql = (
        "SELECT * FROM (VALUES ('r', 'c', 't1', 0.0), ('r', 'c', 't1', 1.0), ('r', 'c', 't2', 1.0), ('r', "
        "'c', 't2', 1.0)) AS v (\"row\", col, \"cluster\", value)"
    )
    store = store_with(tmp_path, [])
    (plain,), (code,) = units(sql)(store), units(sql, ddof=0, percent=("c",))(store)
    assert [plain.value, plain.sem, plain.n] == pytest.approx([0.75, 0.25, 4])
    assert [code.value, code.sem] == pytest.approx([75, 100 * (3 / 16) ** 0.5 / 2])


def test_judges_scores_of_craft_are_read_as_the_paper_reads_them(tmp_path: Path) -> None:
    """N/A is half a yes where the paper's judges had no such answer (SG, MM), and nothing in PS; unclear is half a yes everywhere."""
    answers = {"spatial_grounding": ("yes", "na", "unclear"), "pragmatic_sufficiency": ("yes", "na", "unclear", "no")}
    scores = {"yes": 1.0, "no": 0.0, "unclear": 0.5}
    jobs = {rubric: job(rubric, judge="llm:m")._replace(rubric=rubric) for rubric in answers}
    verdicts = [
        verdict(jobs[rubric], ("g1", turn), answer)._replace(rubric=rubric, question="Q6", score=scores.get(answer))
        for rubric, given in answers.items()
        for turn, answer in enumerate(given, start=1)
    ]
    store = store_with(tmp_path, [Game([Step("{}")] * 4, name="g1", benchmark="craft")])
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": list(jobs.values()), "verdicts": verdicts}))
    cells = {row["column"]: row for row in paper_table(store, "craft", "table", "6").cells.to_dicts() if row["value"] is not None}
    assert (cells["SG (llm:m)"]["value"], cells["SG (llm:m)"]["n"]) == (pytest.approx(2 / 3), 3)
    assert (cells["PS (llm:m)"]["value"], cells["PS (llm:m)"]["n"]) == (pytest.approx(0.5), 3)
    assert cells["SG (llm:m)"]["sem"] is None, "the paper's is over runs, and this is one"


def test_notes_on_printed_numbers_show_them_by_a_query_that_anybody_can_run(craft: Store) -> None:
    """One gap of fifteen fits; of Hanabi's standard errors each fits one formula alone, GPT-3.5's and Mixtral's that of a population."""
    (gaps,) = (note for note in notes_of("craft") if note.title.startswith("Printed gaps"))
    assert gaps.sql is not None
    models, fit, printed, difference = query(craft, gaps.sql).row(0)
    assert (models, fit) == (15, 1)
    assert (round(printed, 2), round(difference, 2)) == (-0.78, -0.69)
    (errors,) = (note for note in notes_of("coordination") if note.title.startswith("Two formulas"))
    assert errors.sql is not None
    rows = query(craft, errors.sql).to_dicts()
    assert all(row["by_n_minus_1"] != row["by_n"] for row in rows)
    assert {row["row"] for row in rows if row["by_n"]} == {"GPT-3.5-turbo", "Mixtral-8x7b"}


def test_counts_have_no_interval_below_zero_or_without_width(tmp_path: Path) -> None:
    """Two layouts of 0 and 180 points had an interval from -1054 to 1234; two games of five turns one from 5 to 5."""
    values = "(VALUES ('r', 'points', 'x', 0), ('r', 'points', 'y', 180), ('r', 'turns', 'x', 5), ('r', 'turns', 'y', 5), "
    values += "('r', 'change', 'x', -3), ('r', 'change', 'y', 2)) AS v(row, col, cluster, value)"
    found = {cell.column: cell for cell in units(f"SELECT * FROM {values}")(store_with(tmp_path, []))}
    assert found["points"].low == 0
    assert (found["turns"].low, found["turns"].high) == (None, None)
    change = found["change"]
    assert change.low is not None
    assert change.low < -3


@pytest.mark.shared
def test_a_number_without_an_interval_says_of_how_many_it_is(craft: Store) -> None:
    """One game stood beside the paper's means of twenty as if it were one."""
    assert re.search(
        r"^edge \(no_oracle_no_tools\) +0\.282 \(n = 1\)", run("craft", "--table", "1", "--store", str(craft.path)), re.MULTILINE
    )


def test_a_team_called_as_a_formula_runs_nowhere() -> None:
    """Neither in a spreadsheet nor in TeX: names of teams come out of logs."""
    numbers = dict.fromkeys(("value", "sem", "low", "high", "n", "paper", "paper_sem", "difference"), 0.5)
    item = PaperItem(kind="table", number="1", title="Scores", needs="games")
    found = [PaperTable(item, pl.DataFrame({"row": ["=1^2~3"], "column": ["-c"], **{name: [one] for name, one in numbers.items()}}), "")]
    assert as_csv("craft", found).splitlines()[1].startswith("craft,table 1,'=1^2~3,'-c,0.5,")
    assert r"=1\^{}2\~{}3 & " in as_tex("craft", found)


def test_a_picture_has_a_line_for_each_number_and_its_interval() -> None:
    """Numbers of the store alone; one without an interval is an open circle. Names of a log are no markup."""
    item = PaperItem(kind="figure", number="1", title="Scores", needs="games")
    rows = {"row": ["<b>"] * 3, "column": ["a", "b & c", "d"], "value": [1.0, 2.0, None], "sem": [None] * 3, "low": [0.5, None, None]}
    rows |= {
        "high": [4.0, None, None],
        "n": [3.0, 4.0, None],
        "paper": [None, None, 1.0],
        "paper_sem": [None] * 3,
        "difference": [None] * 3,
    }
    drawn = ET.fromstring(as_svg("craft", [PaperTable(item, pl.DataFrame(rows), "")]))  # noqa: S314 - our own
    circles = [one.attrib for one in drawn.iter() if one.tag.endswith("circle")]
    assert [one["fill"] for one in circles] == ["#2a6f97", "none"]
    first = next(one.attrib for one in drawn.iter() if one.tag.endswith("line"))
    assert float(first["x1"]) < float(circles[0]["cx"]) < float(first["x2"])
    assert "b & c" in [one.text for one in drawn.iter()]
