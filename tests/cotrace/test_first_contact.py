"""What a new user meets: next lines that fit, folders without logs, doctor, forget, drafts of rubrics, templates of labels."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cotrace.cli import cli
from judges.rubric_files.load import check
from schemas.common.errors import CotraceError
from schemas.store.store import Store
from tests.played import played_store


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Nine games of CRAFT, judged by the engine."""
    return played_store(tmp_path_factory.mktemp("contact"))


@pytest.fixture
def store(played: Store, tmp_path: Path) -> Path:
    """A copy that may be changed."""
    return Path(shutil.copy(played.path, tmp_path / "copy.duckdb"))


def called(*arguments: object) -> Result:
    """The command, as a shell would call it; what it refuses is code 2."""
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments], standalone_mode=False)
    if result.exception is not None and not isinstance(result.exception, CotraceError):
        raise result.exception
    return result


def count(store: Path, table: str) -> int:
    with Store(store).reading() as connection:
        row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    assert row is not None
    return int(row[0])


def test_a_folder_without_a_log_ends_with_1_and_no_next_line(tmp_path: Path) -> None:
    """Empty, and with files of other kinds; a folder with a log beside it does not help it."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("words", encoding="utf-8")
    for folder in ("empty", "texts"):
        result = called("ingest", tmp_path / folder, "--store", tmp_path / "s.duckdb")
        assert result.return_value == 1
        assert f"no log: {tmp_path / folder} holds no file" in result.stderr
        assert "next:" not in result.stderr


def test_next_lines_name_what_fits(played: Store, tmp_path: Path) -> None:
    """A judge that knows the benchmark, with the store where it is not the default one; of conversations one that fits any."""
    logs = played.path.parent / "logs"
    said = called("ingest", logs, "--store", tmp_path / "a.duckdb").stderr
    assert "--judge engine --store" in said
    assert "mast" not in said
    (tmp_path / "chat.json").write_text(json.dumps({"messages": [{"role": "user", "content": "x"}]}), encoding="utf-8")
    said = called("ingest", tmp_path / "chat.json", "--store", tmp_path / "b.duckdb").stderr
    assert "--rubric mast --model" in said
    assert "--judge engine" not in said


def test_doctor_tells_keys_without_showing_them(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions, the store's counts, and a key by name alone; what is no store is to be mended."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    result = called("doctor", "--store", store)
    assert result.return_value == 0
    assert "OPENAI_API_KEY is set" in result.output
    assert "sk-secret" not in result.output
    assert "9 games" in result.output
    store.write_bytes(b"no store")
    assert called("doctor", "--store", store).return_value == 1


def test_forget_says_what_would_go_and_does_it_with_yes(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge's verdicts, then a file's games, by the path as it is typed where one stands; logs are read again afterwards."""
    verdicts = count(store, "verdicts")
    said = called("forget", "--judge", "engine", "--store", store)
    assert f"{verdicts} rows of verdicts" in said.stderr
    assert "nothing was changed" in said.stderr
    assert count(store, "verdicts") == verdicts
    assert isinstance(called("forget", "--judge", "engin", "--store", store).exception, CotraceError)
    called("forget", "--judge", "engine", "--yes", "--store", store)
    assert (count(store, "verdicts"), count(store, "judge_runs")) == (0, 0)
    with Store(store).reading() as connection:
        (path,) = connection.execute("SELECT path FROM sources ORDER BY path").fetchall()[0]
    monkeypatch.chdir(Path(path).parent)
    called("forget", "--source", Path("..", Path(path).parent.name, Path(path).name), "--yes", "--store", store)
    assert (count(store, "episodes"), count(store, "sources")) == (8, 8)
    assert called("ingest", path, "--store", store).return_value == 0
    assert count(store, "episodes") == 9
    with Store(store).reading() as connection:
        (run,) = connection.execute("SELECT run_id FROM runs ORDER BY run_id").fetchall()[0]
    called("forget", "--run", run, "--yes", "--store", store)
    assert count(store, "episodes") == 6
    assert isinstance(called("forget", "--store", store).exception, CotraceError)


@pytest.mark.parametrize("unit", ["utterance", "agent_turn", "turn", "episode", "action", "event", "pair", "row"])
def test_a_draft_is_refused_until_its_todos_are_written(tmp_path: Path, unit: str) -> None:
    """Nothing else is wrong with it, for any unit."""
    called("rubric", "new", "shares_early", "--unit", unit, "--benchmark", "craft", "--dir", tmp_path)
    path = tmp_path / "shares_early.yaml"
    text = path.read_text(encoding="utf-8")
    assert {problem.message.partition(":")[0] for problem in check(path)} == {"a draft"}
    path.write_text(text.replace("TODO", "words"), encoding="utf-8")
    assert check(path) == []


def test_check_finds_every_mistake_in_one_pass(tmp_path: Path) -> None:
    """Of form, of sense, and of names, all at once."""
    path = tmp_path / "bad.yaml"
    path.write_text(
        "name: other\nversion: one\nunit: agent_turn\nbenchmarks: [crft]\nabuot: x\nabout: private_reasonin\n"
        'shows: [judged_agent, private_reasoning]\nanswers: {"yes": 1, "no": 1}\ninstructions: "Look at {nothing}"\n'
        "questions:\n  Q1:\n    ask: ok?\n    engine: craft.nope\n  Q2: {}\n",
        encoding="utf-8",
    )
    lines = [problem.line for problem in check(path)]
    assert set(lines) >= {1, 2, 4, 5, 6, 8, 9, 13, 14}


def test_check_tries_the_query_on_a_store(tmp_path: Path, store: Path) -> None:
    """A column that no table has is found before a judge is asked."""
    called("rubric", "new", "rows", "--unit", "row", "--benchmark", "craft", "--dir", tmp_path)
    path = tmp_path / "rows.yaml"
    written = path.read_text(encoding="utf-8").replace("TODO", "words")
    path.write_text(written, encoding="utf-8")
    assert called("rubric", "check", path, "--store", store).return_value == 0
    path.write_text(written.replace("FROM turns", "FROM turnz"), encoding="utf-8")
    result = called("rubric", "check", path, "--store", store)
    assert result.return_value == 2
    assert "unit_sql does not work" in result.stderr


def test_the_query_is_tried_beside_mistakes_that_have_nothing_to_do_with_it(tmp_path: Path, store: Path) -> None:
    """All in one pass; where what is judged is itself in doubt, the store is not asked."""
    called("rubric", "new", "rows", "--unit", "row", "--benchmark", "craft", "--dir", tmp_path)
    path = tmp_path / "rows.yaml"
    written = path.read_text(encoding="utf-8").replace("TODO", "words").replace("FROM turns", "FROM turnz")
    path.write_text(f"{written}\nabuot: x\n", encoding="utf-8")
    both = called("rubric", "check", path, "--store", store).stderr
    assert ("unit_sql does not work" in both, "unknown key abuot" in both) == (True, True)
    path.write_text(f"{written}\nunti_sql: x\n".replace("unit: row", "unit: rwo"), encoding="utf-8")
    assert "unit_sql does not work" not in called("rubric", "check", path, "--store", store).stderr


def test_a_template_is_filled_in_and_imported(tmp_path: Path, store: Path) -> None:
    """Keys are right: each label meets a judged unit; rows without an answer wait."""
    output = called("labels", "template", "pragmatic_sufficiency", "--units", 3, "--annotator", "ann", "--store", store).stdout
    rows = list(csv.DictReader(io.StringIO(output)))
    assert len({row["unit_key"] for row in rows}) == 3
    assert all(row["shown"] and row["ask"] and "yes" in row["possible"] for row in rows)
    answered = {(unit, question) for unit, question in _answered(store)}
    for row in rows:
        row["answer"] = "yes" if (row["unit_key"], row["question"]) in answered else ""
    filled = sum(row["answer"] == "yes" for row in rows)
    assert 0 < filled < len(rows)
    with (tmp_path / "todo.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    result = called("labels", "import", tmp_path / "todo.csv", "--store", store)
    assert result.return_value == 0
    assert f"{filled} labels" in result.stderr
    assert f"{filled} about judged units" in result.stderr
    assert re.search(rf"without an answer yet: {len(rows) - filled} rows?\b", result.stderr)
    assert "next: cotrace report agreement" in result.stderr


def test_units_of_a_template_are_drawn_at_random_the_same_each_time(store: Path) -> None:
    """The first units of the store are those of its first games; rates corrected by them would be wrong. A beginning is a sample, too."""

    def drawn(most: int) -> list[str]:
        written = called("labels", "template", "pragmatic_sufficiency", "--units", most, "--store", store).stdout
        return list(dict.fromkeys(row["unit_key"] for row in csv.DictReader(io.StringIO(written))))

    few, many, every = drawn(6), drawn(12), drawn(10_000)
    assert many[:6] == few
    assert len(many) == 12
    assert len({key.partition("/")[0] for key in many}) > 3
    assert set(every) == {unit for unit, _ in _answered_or_not(store)}


def _answered_or_not(store: Path) -> list[tuple[str, str]]:
    with Store(store).reading() as connection:
        return connection.execute("SELECT DISTINCT unit_id, rubric FROM verdicts WHERE rubric = 'pragmatic_sufficiency'").fetchall()


def _answered(store: Path) -> list[tuple[str, str]]:
    with Store(store).reading() as connection:
        return connection.execute("SELECT unit_id, question FROM verdicts WHERE status = 'answered'").fetchall()


def test_a_key_that_fits_several_games_is_refused(tmp_path: Path, store: Path) -> None:
    """Two games of one model and structure, and a label that does not say which."""
    with Store(store).writing() as connection:
        connection.execute("UPDATE episodes SET model = 'm', task_id = 'structure_001', seed = NULL")
    text = "model,builder,structure_id,run,turn,director,judge,question,truth\nm,,structure_001,,1,D1,SG,SG1,Yes\n"
    (tmp_path / "planted.csv").write_text(text, encoding="utf-8")
    result = called("labels", "import", tmp_path / "planted.csv", "--store", store)
    assert result.return_value == 1
    assert "fits 9 games" in result.stderr


def test_one_of_many_is_no_plural(store: Path) -> None:
    """What is said beside a result counts as people do."""
    said = called("sql", "SELECT 1 AS x", "--store", store).stderr
    assert said.startswith("1 row from ")
    assert called("sql", "FROM range(11)", "--store", store).stderr.startswith("11 rows from ")
