"""The labelling page in a real browser, and what stands behind it: what may be seen, order, resuming, export."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Page

from analytics.exports.games import exported
from analytics.installation import ensure_installed
from analytics.query import query
from dashboards.address import Address
from dashboards.pages.labelling import LABELLED_HERE, content, next_task, progress
from dashboards.reader import reader
from ingest.labels.load import add_labels, import_labels
from judges.evidence.labelling import Answer, Task, annotator_name, labels_of
from judges.evidence.transcript import load
from judges.evidence.units import units
from judges.rubric import Rubric, UnitKind
from judges.rubric_files.load import find
from schemas.common.errors import UsageError
from schemas.records import Json, JudgeRun, Label, Verdict
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.little_games import Game, Step, store_with
from tests.analytics.test_views_judges import STARTED, job, label, verdict
from tests.dashboards.sites import serve, served
from tests.judges.judged_games import mark, store_of
from tests.small_disk import on_a_small_disk

MM = find("mind_modeling")


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two games of three turns with three directors, every text saying where it stands."""
    store = store_of(tmp_path_factory.mktemp("labelling") / "s.duckdb", games=2)
    ensure_installed(store)
    return store.path


@pytest.fixture
def store(tmp_path: Path, untouched: Path) -> Store:
    """A copy of those games to label."""
    return Store(shutil.copy(untouched, tmp_path / "s.duckdb"))


def asked(store: Store, rubric: Rubric = MM, annotator: str = "ann", order: str = "random", skip: int = 0) -> Task | None:
    with reader(store, Address("/labelling")) as read:
        return next_task(read, rubric, annotator, order=order, skip=skip)


def answer(store: Store, task: Task, annotator: str = "ann", rubric: Rubric = MM) -> None:
    answers: dict[str, Answer] = {question.id: question.answers[0] for question in task.group.questions}
    add_labels(store, labels_of(rubric, task, answers, annotator=annotator, source="dashboard"))


def split_verdicts(store: Store, unit: tuple[str, int, str]) -> None:
    """Two repeats of a judge that disagree about one unit and agree about another."""
    run = JudgeRun("r", MM.name, "h", None, "llm:x/y", "x/y", Json("{}"), STARTED, STARTED, 1, 1, 0, 0, None, "finished")
    rows = []
    for (episode, turn, agent), answers in ((unit, ("yes", "no")), (("game-0", 1, "D1"), ("yes", "yes"))):
        for repeat, given in enumerate(answers, start=1):
            what = (f"{episode}/{turn}/{agent}", "u", episode, turn, agent)
            rows.append(Verdict("r", MM.name, "h", None, "MM1", *what, "llm:x/y", repeat, given, 1.0, None, "answered"))
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": [run], "verdicts": rows}))


@pytest.mark.long
def test_every_unit_is_asked_once_group_by_group(store: Store) -> None:
    """Each director turn of a game comes, its walled-off groups one after the other; then nothing is left; another person starts anew."""
    with store.writing() as connection:
        connection.execute("DELETE FROM episodes WHERE episode_id = 'game-1'")
    seen = []
    while (task := asked(store)) is not None:
        seen.append((task.unit.unit_id, task.number))
        answer(store, task)
    units = {f"game-0/{turn}/D{director}" for turn in (1, 2, 3) for director in (1, 2, 3)}
    assert sorted(seen) == sorted((unit, number) for unit in units for number in range(len(MM.groups())))
    order = [unit for unit, number in seen if number == 0]
    assert seen == [(unit, number) for unit in order for number in range(len(MM.groups()))]
    assert order != sorted(units)
    with reader(store, Address("/labelling")) as read:
        assert progress(read, MM, "ann") == (9, 9)
    assert asked(store, annotator="bob") is not None


def test_the_random_order_is_the_same_for_everybody(store: Store) -> None:
    """Two people who stop early have labelled the same units."""
    first, second = (asked(store, annotator=name, skip=3) for name in ("ann", "bob"))
    assert first is not None
    assert second is not None
    assert first.unit.unit_id == second.unit.unit_id


def test_disagreement_comes_first(store: Store) -> None:
    """The unit on which two repeats split is the first to be labelled in that order."""
    split_verdicts(store, ("game-1", 3, "D2"))
    task = asked(store, order="disagreement")
    assert task is not None
    assert task.unit.unit_id == "game-1/3/D2"


def test_the_page_begins_with_a_rubric_that_the_games_are_for(played: Store) -> None:
    """Not with the first in the alphabet, which is another family's."""
    with reader(played, Address("/labelling")) as read:
        (chosen,) = re.findall(r"a\('([a-z ]+)', \{'href': '/labelling\?rubric[^}]*'choice chosen'", str(content(read)))
    assert chosen == "pragmatic sufficiency"  # judged here, as spatial grounding is


def test_a_rubric_for_any_game_is_one_for_these(store: Store) -> None:
    """Where it is the one that judges have used."""
    split_verdicts(store, ("game-1", 3, "D2"))
    with store.writing() as connection:
        connection.execute("UPDATE judge_runs SET rubric = 'mast'")
    with reader(store, Address("/labelling")) as read:
        (chosen,) = re.findall(r"a\('([a-z ]+)', \{'href': '/labelling\?rubric[^}]*'choice chosen'", str(content(read)))
    assert chosen == "mast"


@pytest.mark.parametrize("errs", [False, True])
def test_when_labels_are_enough(tmp_path: Path, *, errs: bool) -> None:
    """Where the labels so far are enough for all rates; with a judge that answers at random they are not."""
    random = Random(1)
    units: list[tuple[str, int | None]] = [(f"g{number // 5}", number % 5 + 1) for number in range(150)]
    run = job("one", judge="llm:one")._replace(rubric="pragmatic_sufficiency")
    given = random.choices(["yes", "no"], [7, 3], k=150)
    answers = random.choices(["yes", "no"], k=150) if errs else given
    labels = [
        label(unit, answer)._replace(rubric=run.rubric, score=float(answer == "yes"))
        for unit, answer in zip(units[:60], given[:60], strict=True)
    ]
    verdicts = [verdict(run, unit, answer)._replace(rubric=run.rubric) for unit, answer in zip(units, answers, strict=True)]
    store = store_with(tmp_path, [Game([Step("{}")] * 5, name=f"g{number}") for number in range(30)])
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": [run], "verdicts": verdicts, "labels": labels}))
    ensure_installed(store)
    with reader(store, Address("/labelling", {"rubric": (run.rubric,), "annotator": ("ann",)})) as read:
        text = str(content(read))
    assert "The least sure of 1 rate is known to plus or minus" in text
    assert ("You may stop" in text) is not errs


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", sorted(LABELLED_HERE))
@pytest.mark.parametrize("roles", [(), ("builder",)])
def test_units_of_the_page_are_those_of_the_judge(store: Store, kind: UnitKind, roles: tuple[str, ...]) -> None:
    """For every kind of unit: once all but one of the units are labelled, that one is asked, then none. What a tool gave back is none."""
    with store.writing() as connection:
        connection.execute("UPDATE agents SET role = 'tool' WHERE episode_id = 'game-1' AND agent = 'D3'")
        connection.execute("DELETE FROM utterances WHERE episode_id = 'game-1' AND turn = 2 AND agent <> 'D3'")
        connection.execute("DELETE FROM actions WHERE episode_id = 'game-1' AND turn = 2")
    rubric = MM.changed(unit=kind, roles=roles, about=None, shows=["goal"], questions={"MM1": MM.questions["MM1"]})
    *most, last = [unit for game in load(store, ["game-0", "game-1"]) for unit in units(rubric, game, None)]
    assert "game-1/2" not in {unit.unit_id for unit in (*most, last)}
    done = [Label("dashboard", "ann", MM.name, "MM1", unit.unit_id, unit.episode_id, unit.turn, unit.agent, "yes", 1.0) for unit in most]
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"labels": done}))
    task = asked(store, rubric)
    assert task is not None
    assert task.unit.unit_id == last.unit_id
    answer(store, task, rubric=rubric)
    assert asked(store, rubric) is None
    with reader(store, Address("/labelling")) as read:
        assert progress(read, rubric, "ann") == (len(most) + 1, len(most) + 1)


def test_a_choice_of_several_is_stored_as_judges_store_it(store: Store) -> None:
    """All that hold, in the rubric's order; nothing chosen is an answer too."""
    answers = ("early", "late", "never")
    question = {"ask": "When?", "examples": dict.fromkeys(answers, "an example")}
    rubric = MM.changed(choice="several", answers=dict.fromkeys(answers), questions={"MM1": question})
    task = asked(store, rubric)
    assert task is not None
    stored = [
        labels_of(rubric, task, {"MM1": chosen}, annotator="ann", source="dashboard")[0].answer for chosen in (["never", "early"], None)
    ]
    assert stored == ["early|never", "none"]


def test_incomplete_or_foreign_answers_are_refused(store: Store) -> None:
    """A question without an answer, an answer the question does not have, and a judge's name."""
    task = asked(store)
    assert task is not None
    with pytest.raises(UsageError, match="MM1: no answer"):
        labels_of(MM, task, {}, annotator="ann", source="dashboard")
    with pytest.raises(UsageError, match="MM1: answer perhaps; choose one of yes, no"):
        labels_of(MM, task, {"MM1": "perhaps"}, annotator="ann", source="dashboard")
    with pytest.raises(UsageError, match="stand for judges"):
        annotator_name("LLM:gpt")


def test_an_export_can_be_imported(store: Store, tmp_path: Path) -> None:
    """Another store gets the same labels, joined to the same games."""
    task = asked(store)
    assert task is not None
    answer(store, task)
    exported(store).write_csv(tmp_path / "labels.csv")
    other = store_of(tmp_path / "other.duckdb", games=2)
    report = import_labels(tmp_path / "labels.csv", other)
    assert (report.refused, report.joined) == ([], len(task.group.questions))
    columns = "rubric, question, annotator, unit_key, episode_id, turn, agent, answer, score"
    same = [query(s, f"SELECT {columns} FROM labels WHERE source != 'planted' ORDER BY ALL").rows() for s in (store, other)]
    assert same[0] == same[1]


# --- the page ---------------------------------------------------------------------------------------------------------------------------

pytestmark = pytest.mark.browser


@pytest.fixture
def site(store: Store) -> Iterator[str]:
    """The address of the dashboard over the marked games."""
    with serve(store) as address:
        yield address


def test_a_person_labels_resumes_and_exports(site: str, store: Store, page: Page) -> None:
    """Name, answers, save, the next unit; a page opened anew goes on; what was saved can be downloaded."""
    page.goto(f"{site}/labelling?rubric=mind_modeling")
    page.locator("#label-name").fill("ann")
    page.locator("#label-start").click()
    page.get_by_text("ann has labelled 0 of 18 units", exact=False).wait_for()
    first = asked(store)
    assert first is not None

    page.locator("#label-save").click()
    page.get_by_text("Not saved: MM1: no answer", exact=False).wait_for()
    for question in first.group.questions:
        page.locator(".question", has_text=f"{question.id}: ").locator("input").first.check()
    page.locator("#label-save").click()
    page.get_by_text("ann has labelled 1 of 18 units", exact=False).wait_for()

    page.goto(f"{site}/labelling?rubric=mind_modeling&annotator=ann")
    page.get_by_text("ann has labelled 1 of 18 units", exact=False).wait_for()
    stored = exported(store)
    assert set(stored["question"]) == {question.id for question in first.group.questions}
    assert stored["unit_key"].unique().to_list() == [first.unit.unit_id]
    assert stored["source"].unique().to_list() == ["dashboard"]

    with page.expect_download() as download:
        page.locator("#label-export").click()
    assert download.value.path().read_text(encoding="utf-8") == stored.write_csv()


@pytest.mark.long
def test_what_cannot_be_saved_stays_on_the_page(site: str, store: Store, page: Page) -> None:
    """Why stands beside it, whatever it is; the same answers are saved once it is mended."""
    page.goto(f"{site}/labelling?rubric=mind_modeling&annotator=ann")
    page.locator("#label-save").wait_for()
    first = asked(store)
    assert first is not None
    for question in first.group.questions:
        page.locator(".question", has_text=f"{question.id}: ").locator("input").first.check()
    with store.writing() as connection:
        connection.execute("ALTER TABLE labels RENAME TO elsewhere")
    page.locator("#label-save").click()
    page.get_by_text("Your answers stay on this page", exact=False).wait_for()
    assert page.locator("#label-problem").inner_text().startswith("Not saved: CatalogException: ")
    with store.writing() as connection:
        connection.execute("ALTER TABLE elsewhere RENAME TO labels")
    page.locator("#label-save").click()
    page.get_by_text("ann has labelled 1 of 18 units", exact=False).wait_for()
    assert set(exported(store, annotator="ann")["question"]) == {question.id for question in first.group.questions}


_FILLS_THE_DISK = """
import sys
from pathlib import Path
from analytics.query import query
from dashboards.requests import saved
from ingest.labels.load import add_note
from schemas.store.lake.store import copy_from
from schemas.store.stores import store_at
from tests.judges.judged_games import store_of

disk, kind = Path(sys.argv[1]), sys.argv[2]
store = store_of(disk / "s.duckdb")
if kind == "lake":
    lake = store_at(f"lake:{disk / 'lake'}")
    copy_from(lake, store)
    store = lake
write = lambda: add_note(store, "game-0", 1, author="ann", text="look")
try:
    with (disk / "fill").open("wb", buffering=0) as fill:
        while fill.write(bytes(4096)):
            pass
except OSError:
    print(saved(write))
(disk / "fill").unlink()
print(saved(write) or "saved", query(store, "SELECT count(*) FROM notes").item())
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["store", "lake"])
def test_a_full_disk_is_told_beside_what_was_given(tmp_path: Path, kind: str) -> None:
    """In one line; nothing of it is there, and it is saved once there is room."""
    disk = tmp_path / "disk"
    done = on_a_small_disk(disk, 16 << 20, sys.executable, "-c", _FILLS_THE_DISK, str(disk), kind)
    place = disk / {"store": "s.duckdb", "lake": "lake"}[kind]
    full = f"Not saved: {kind} {place} cannot be written (No space left on device): free some space and try again."
    assert done.stdout.splitlines() == [f"{full} Your answers stay on this page: save them again after that", "saved 1"], done.stderr


def test_the_page_shows_what_the_judge_is_shown_and_nothing_else(site: str, store: Store, page: Page) -> None:
    """Every marked text of the store that is on the page is in the task's evidence, and the other way round; verdicts are nowhere."""
    split_verdicts(store, ("game-1", 3, "D2"))
    task = asked(store)
    assert task is not None
    page.goto(f"{site}/labelling?rubric=mind_modeling&annotator=ann")
    page.locator("#label-save").wait_for()
    shown = page.locator("main").inner_text()
    evidence = " ".join(f"{entry.head} {entry.text}" for entries in task.shown.values() for entry in entries)
    every = {mark(channel, agent, turn) for channel in ("public", "private") for agent in ("D1", "D2", "D3") for turn in (1, 2, 3)}
    every |= {mark("model"), mark("truth"), mark("persona", "D1"), mark("view", "D1"), mark("goal"), mark("before", 1), mark("tried", 1)}
    assert {text for text in every if text in shown} == {text for text in every if text in evidence} != set()
    assert "llm:x/y" not in shown


def test_a_rubric_of_ones_own_can_be_labelled_by(store: Store, tmp_path: Path, page: Page) -> None:
    """A folder given to the dashboard brings its rubrics to the page."""
    from dashboards.app import create_app
    from judges.rubric_files.load import template

    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "own_idea.yaml").write_text(template("own_idea"), encoding="utf-8")
    with served(create_app(store, [tmp_path / "mine"]).server) as address:
        page.goto(f"{address}/labelling?rubric=own_idea&annotator=ann")
        page.get_by_text("Q1: Does the message acknowledge", exact=False).wait_for()
