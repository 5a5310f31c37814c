"""Labels out of files: every form, joined where the game is there, nothing lost without a word."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from analytics.agreement.answers import answers
from analytics.exports.games import exported
from analytics.installation import ensure_installed
from analytics.query import as_csv, query
from ingest.files.run import ingest_paths
from ingest.labels.load import LabelReport, import_labels
from judges.evidence.labelling import label_template
from judges.rubric_files.load import find, known_answers
from schemas.common.errors import UsageError
from schemas.store.store import Store
from tests.judges.judged_games import store_of

OWN = "rubric,question,annotator,episode_id,turn,agent,answer\n"


def imported(folder: Path, text: str, name: str = "people.csv", store: Store | None = None) -> tuple[LabelReport, Store]:
    """Import a file of that text into a store with two games (or the given one)."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    store = store or store_of(folder / "s.duckdb", games=2)
    return import_labels(file, store), store


def labels(store: Store, columns: str) -> list[tuple[object, ...]]:
    """Rows of labels other than those the games came with."""
    return query(store, f"SELECT {columns} FROM labels WHERE source != 'planted' ORDER BY ALL").rows()


def test_own_columns(tmp_path: Path) -> None:
    """Each line becomes a label about its turn, with the number of its answer."""
    report, store = imported(
        tmp_path, OWN + "mind_modeling,MM1,ann,game-0,1,D1,Yes\nmind_modeling,MM1,ann,game-1,2,D2,N/A\nps,PS1,bob,gone,2,,unclear\n"
    )
    assert report == LabelReport(labels=3, joined=2, refused=[])
    assert labels(store, "annotator, question, unit_key, episode_id, turn, agent, answer, score") == [
        ("ann", "MM1", "game-0/1/D1", "game-0", 1, "D1", "Yes", 1.0),
        ("ann", "MM1", "game-1/2/D2", "game-1", 2, "D2", "N/A", None),
        ("bob", "PS1", "gone/2", None, 2, None, "unclear", 0.5),
    ]


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_spreadsheet_delimiters_and_byte_order_mark(tmp_path: Path, delimiter: str) -> None:
    """What spreadsheets write is read without asking."""
    report, _ = imported(tmp_path, "\ufeff" + (OWN + "r,Q1,ann,game-0,1,D1,yes\n").replace(",", delimiter))
    assert (report.labels, report.joined, report.refused) == (1, 1, [])


def test_json_lines_and_unit_keys(tmp_path: Path) -> None:
    """A unit key alone says game, turn and agent; a number may stand beside an answer of the user's own."""
    lines = [
        {"rubric": "r", "question": "Q1", "annotator": "ann", "unit_key": "game-0/3/D2", "answer": "often", "score": 0.75},
        {"rubric": "r", "question": "Q2", "annotator": "ann", "unit_key": "game-0", "answer": "no"},
    ]
    report, store = imported(tmp_path, "\n".join(map(json.dumps, lines)), "people.jsonl")
    assert (report.joined, report.refused) == (2, [])
    assert labels(store, "question, episode_id, turn, agent, score") == [("Q1", "game-0", 3, "D2", 0.75), ("Q2", "game-0", None, None, 0.0)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param("r,Q1,ann,game-0,1,D1,", "no answer", id="no answer"),
        pytest.param("r,Q1,,game-0,1,D1,yes", "no annotator", id="no annotator"),
        pytest.param("r,Q1,ann,game-0,one,D1,yes", "turn 'one': give a whole number from 1", id="turn"),
        pytest.param("r,Q1,ann,game-0,10000000000000000000,D1,yes", "give a whole number from 1", id="no table holds it"),
        pytest.param(f"r,Q1,ann,game-0,{'9' * 5_000},D1,yes", "give a whole number from 1", id="thousands of digits"),
        pytest.param(
            "r,Q1,ann,game-0,9,D1,yes",
            "column turn: 9 must be in table turns of the same game; the game game-0 has turns 1 to 3",
            id="no such turn",
        ),
        pytest.param("r,Q1,ann,,1,,yes,more", "8 fields where the header has 7", id="fields"),
        pytest.param("r,Q0,ann,game-0,1,D1,no", "in line 2 already", id="second answer"),
    ],
)
def test_lines_that_cannot_be_used_are_reported(tmp_path: Path, line: str, reason: str) -> None:
    """The line and the reason are told, and the other lines are kept."""
    report, store = imported(tmp_path, OWN + f"r,Q0,ann,game-0,1,D1,yes\n{line}\nr,Q9,ann,game-0,1,D1,yes\n")
    assert len(report.refused) == 1
    assert report.refused[0].startswith("line 3: ")
    assert reason in report.refused[0]
    assert [row[0] for row in labels(store, "question")] == ["Q0", "Q9"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("chance", ["0", "-0.2", "1.5", "nan", "1e-320", "1e-12"])
def test_chances_by_which_no_unit_can_be_drawn_are_refused(tmp_path: Path, chance: str) -> None:
    """Labels are weighted by 1 over them: one that has no such number in floating point would cost every report its rates."""
    header, row = f"{OWN.strip()},sampling_probability\n", "r,Q{},ann,game-0,1,D1,yes,{}\n"
    report, store = imported(tmp_path, header + row.format(0, 0.5) + row.format(1, chance))
    assert [line.partition(":")[0] for line in report.refused] == ["line 3"]
    assert labels(store, "sampling_probability") == [(0.5,)]


def test_numbers_in_keys_that_no_table_holds_are_no_turns(tmp_path: Path) -> None:
    """The label is kept under its key, of no turn."""
    number = "9" * 5_000
    validation = f"Key,Judge,Question,User,UserType,Response\nm_structure_001_{number},MM,MM1,ann,human,No\n"
    for name, text in (
        ("own.csv", f"rubric,question,annotator,unit_key,answer\nr,Q1,ann,game-0/{number}/D1,yes\n"),
        ("val.csv", validation),
    ):
        report, store = imported(tmp_path, text, name, Store(tmp_path / f"{name}.duckdb"))
        assert (report.labels, report.refused) == (1, [])
        assert labels(store, "turn") == [(None,)]


def test_a_file_of_no_known_form_is_refused_with_its_columns(tmp_path: Path) -> None:
    """The message names what is missing and where the forms are explained."""
    with pytest.raises(UsageError, match=r"lacks answer .*docs/labels\.md"):
        imported(tmp_path, "rubric,question,annotator\nr,Q1,ann\n")


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("rubric,question,anotator,answer", r"lacks annotator \(is it anotator\?\)"),
        ("Rubric,Question,annotator,answer", r"lacks question \(is it Question\?\), rubric \(is it Rubric\?\)"),
    ],
)
def test_a_slip_in_the_header_is_told_with_what_may_be_meant(tmp_path: Path, header: str, told: str) -> None:
    """A spreadsheet that somebody has made has any case."""
    with pytest.raises(UsageError, match=told):
        imported(tmp_path, f"{header}\nr,Q1,ann,yes\n")


def test_a_list_of_json_is_read_as_lines_are(tmp_path: Path) -> None:
    """What `cotrace labels export --format json` prints; an entry that cannot be used is named by its number."""
    entries = [
        {
            "rubric": "r",
            "question": "Q1",
            "annotator": "ann",
            "episode_id": "game-0",
            "turn": 1,
            "agent": "D1",
            "answer": "yes",
            "score": None,
        },
        7,
        {"rubric": "r", "question": "Q1", "annotator": "ann", "episode_id": "game-0", "turn": 1, "agent": "D1", "answer": "no"},
    ]
    report, store = imported(tmp_path, json.dumps(entries), "labels.json")
    assert labels(store, "question, answer, turn") == [("Q1", "yes", 1)]
    assert report.refused[0] == "entry 2: no JSON object: each label must be one"
    assert "in entry 1 already" in report.refused[1]
    with pytest.raises(UsageError, match="no JSON list"):
        imported(tmp_path, json.dumps(entries)[:-1], "labels.json")


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    """There is nothing to tell its form from."""
    with pytest.raises(UsageError, match="empty"):
        imported(tmp_path, " \n")


def test_import_again_replaces(tmp_path: Path) -> None:
    """The same file says the last word: what it no longer has goes, other files stay."""
    _, store = imported(tmp_path, OWN + "r,Q1,ann,game-0,1,D1,yes\nr,Q2,ann,game-0,1,D1,yes\n")
    imported(tmp_path, OWN + "r,Q1,bob,game-0,1,D1,yes\n", "other.csv", store)
    imported(tmp_path, OWN + "r,Q1,ann,game-0,1,D1,no\n", store=store)
    assert labels(store, "annotator, question, answer") == [("ann", "Q1", "no"), ("bob", "Q1", "yes")]


def test_labels_wait_for_their_games(tmp_path: Path) -> None:
    """A file that is imported before the games is kept, and joined when it is imported again."""
    text = OWN + "r,Q1,ann,game-0,1,D1,yes\n"
    empty = Store(tmp_path / "empty.duckdb")
    assert imported(tmp_path, text, store=empty)[0].joined == 0
    assert imported(tmp_path, text)[0].joined == 1


@pytest.mark.shared
def test_planted_truth_is_joined_to_its_games(tmp_path: Path, shared: Path) -> None:
    """Every line of two persona folders is a label about a turn of that persona's game, though both files have one name."""
    structures = ("structure_001", "structure_002", "structure_003")
    folders = [tmp_path / f"{persona}_scripted-builder" for persona in ("vague", "redundant")]
    for folder in folders:
        folder.mkdir()
        published = shared / "data/craft/engine_games" / folder.name
        for structure in structures:
            shutil.copy(published / f"craft_{structure}_3.json", folder)
        head, *lines = (published / "labels.csv").read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / "labels.csv").write_text(head + "".join(line for line in lines if line.split(",")[2] in structures), encoding="utf-8")
    store = Store(tmp_path / "s.duckdb")
    store.create()
    ingest_paths(folders, store, workers=1)
    for folder in folders:
        with (folder / "labels.csv").open(encoding="utf-8") as file:
            expected = sum(1 for _ in csv.DictReader(file))
        assert expected > 1000
        assert import_labels(folder / "labels.csv", store) == LabelReport(labels=expected, joined=expected, refused=[])
    wrong = "SELECT count(*) FROM labels JOIN episodes USING (episode_id) WHERE labels.annotator != episodes.model OR turn > turns_taken"
    assert query(store, wrong).item() == 0
    assert query(store, "SELECT count(DISTINCT source) FROM labels WHERE source LIKE 'planted:%'").item() == 2


@pytest.mark.shared
def test_craft_human_validation_as_it_is(tmp_path: Path, shared: Path) -> None:
    """1,510 answers of four people and three runs of a judge on 420 questions; N/A is an answer without a number (formats, section 9)."""
    store = Store(tmp_path / "s.duckdb")
    report = import_labels(shared / "data/craft/human_validation/craftValidationOutputs.csv", store)
    assert (report.labels, report.refused) == (2770, [])
    by_annotator = dict(query(store, "SELECT annotator, count(*) FROM labels GROUP BY ALL").rows())
    assert {name: by_annotator[name] for name in by_annotator if name.startswith("llm:")} == {
        f"llm:published#{run}": 420 for run in (1, 2, 3)
    }
    assert sum(count for name, count in by_annotator.items() if not name.startswith("llm:")) == 1510
    assert query(store, "SELECT question, count(*), count(score) FROM labels WHERE answer = 'N/A' GROUP BY ALL").rows() == [("PS6", 64, 0)]


def checked(folder: Path, text: str, name: str = "people.csv", store: Store | None = None) -> LabelReport:
    """Import as the command does, against the rubrics that come with cotrace."""
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return import_labels(file, store or store_of(folder / "s.duckdb", games=2), known_answers())


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            "spatial_grounding,SG1,kim,game-0,1,D1,maybe",
            "table labels, column answer: maybe must be an answer of its question; give one of ",
        ),
        (
            "spatial_grounding,SG99,kim,game-0,1,D1,yes",
            "table labels, column question: SG99 must be a question of its rubric; spatial_grounding has SG1, ",
        ),
        (
            "spatial_grounding,SG1,kim,game-0,1,D9,yes",
            "table labels, column agent: D9 must be in table agents of the same game; the game game-0 has Builder, D1",
        ),
    ],
)
def test_what_a_rubric_cannot_have_is_refused(tmp_path: Path, line: str, reason: str) -> None:
    """An impossible answer would stand in every agreement as a disagreement."""
    report = checked(tmp_path, f"{OWN}spatial_grounding,SG1,kim,game-0,2,D1,N/A\n{line}\n")
    assert report.labels == 1
    assert [refused.partition(": ")[2].startswith(reason) for refused in report.refused] == [True], report.refused


def test_labels_of_a_misspelt_rubric_are_kept_and_told(tmp_path: Path) -> None:
    """They could be of a rubric that is elsewhere, so they are not lost; the likely one is named."""
    report = checked(tmp_path, OWN + "spatial_ground,SG1,kim,game-0,1,D1,yes\nspatial_ground,SG2,kim,game-0,1,D1,maybe\n")
    assert (report.labels, report.refused) == (2, [])
    assert ["2 labels" in note and "did you mean spatial_grounding?" in note for note in report.notes] == [True]


def test_choices_of_several_answers_are_checked_one_by_one(tmp_path: Path) -> None:
    """`a|b` and `none` are answers of a rubric with a choice of several."""
    rows = [f"einstein_errors,errors,kim,game-0,{turn},D1,{answer}" for turn, answer in ((1, "none"), (2, "no_such_error"))]
    report = checked(tmp_path, OWN + "\n".join(rows) + "\n")
    assert (report.labels, len(report.refused)) == (1, 1)


def test_files_called_alike_do_not_replace_each_other(tmp_path: Path) -> None:
    """Two people keep `labels/labels.csv` in folders of their own; reading one again replaces it alone, and says so."""
    store = store_of(tmp_path / "s.duckdb", games=2)
    for person in ("ann", "bob"):
        (tmp_path / person / "labels").mkdir(parents=True)
        checked(tmp_path / person, OWN + f"spatial_grounding,SG1,{person},game-0,1,D1,yes\n", "labels/labels.csv", store)
    again = checked(tmp_path / "ann", OWN + "spatial_grounding,SG1,ann,game-0,1,D1,no\n", "labels/labels.csv", store)
    assert again.replaced == 1
    assert labels(store, "annotator, answer") == [("ann", "no"), ("bob", "yes")]


@pytest.mark.usefixtures("with_views")
def test_who_contradicts_an_earlier_file_is_told_and_the_last_word_counts(tmp_path: Path) -> None:
    """The same person, question and unit in two files with two answers: said at the import, and agreement takes the later one."""
    store = store_of(tmp_path / "s.duckdb", games=2)
    checked(tmp_path, OWN + "spatial_grounding,SG1,lee,game-0,1,D1,yes\n", "z_first.csv", store)
    report = checked(tmp_path, OWN + "spatial_grounding,SG1,lee,game-0,1,D1,no\n", "a_second.csv", store)
    assert ["lee answered 1 questions otherwise in" in note and "z_first.csv" in note for note in report.notes] == [True]
    ensure_installed(store)
    given = answers(store).filter(pl.col("role") == "people").select("answer", "n").rows()
    assert given == [("no", 1)]
    checked(tmp_path, OWN + "spatial_grounding,SG1,lee,game-0,1,D1,yes\n", "z_first.csv", store)
    assert answers(store).filter(pl.col("role") == "people").select("answer", "n").rows() == [("yes", 1)]


def test_an_export_is_read_as_it_was_meant(tmp_path: Path) -> None:
    """A text that a spreadsheet would run has an apostrophe in front there, and none here."""
    _, store = imported(tmp_path, OWN + "mind_modeling,MM1,=ann+1,game-0,1,D1,Yes\n")
    written = as_csv(exported(store))
    assert "'=ann+1" in written
    _, again = imported(tmp_path, written, "again.csv", store_of(tmp_path / "again.duckdb", games=2))
    assert labels(again, "annotator, answer") == [("=ann+1", "Yes")]


def test_an_export_gives_every_text_back(tmp_path: Path) -> None:
    """Also one with apostrophes of its own where the guard would be."""
    names = ["=ann", "'=ann", "''=ann", "'-1", "-1", "+1.5", "'ann", "'", "'+", "'\t=ann", "ann'=1"]
    _, store = imported(tmp_path, OWN + "".join(f"r,Q1,{name},game-0,1,D1,yes\n" for name in names))
    assert sorted(labels(store, "annotator")) == sorted((name,) for name in names)
    _, again = imported(tmp_path, as_csv(exported(store)), "again.csv", store_of(tmp_path / "again.duckdb", games=2))
    assert sorted(labels(again, "annotator")) == sorted((name,) for name in names)


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_text_of_somebody_elses_file_is_kept_as_written(tmp_path: Path, delimiter: str) -> None:
    """Only files that cotrace writes have guards; an apostrophe in another's is his own."""
    report, store = imported(tmp_path, (OWN + "r,Q1,'@ann,game-0,1,D1,'+yes\n").replace(",", delimiter))
    assert report.refused == []
    assert labels(store, "annotator, answer") == [("'@ann", "'+yes")]


def test_a_template_that_was_filled_in_is_read_as_it_was_meant(tmp_path: Path) -> None:
    """Its texts were guarded when it was written; a spreadsheet may have saved it in its own way since."""
    store = store_of(tmp_path / "s.duckdb", games=2)
    written = as_csv(label_template(store, find("spatial_grounding"), annotator="=ann", draw=1)).splitlines()
    header, row = written[0], written[1].replace(",,", ",yes,", 1)
    assert "'=ann" in row
    assert ",answer," in header
    report, store = imported(tmp_path, "\ufeff" + f"{header}\r\n{row}\r\n", store=store)
    assert report.refused == []
    assert labels(store, "annotator, answer") == [("=ann", "yes")]
