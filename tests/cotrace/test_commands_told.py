"""Commands that cotrace tells people to run next: a shell takes each as it was meant, whatever paths are called."""

from __future__ import annotations

import html
import json
import shlex
import subprocess
from pathlib import Path

import pytest

from dashboards.address import Address
from dashboards.page_file import page_file
from schemas.common.text import in_shell, where_option
from schemas.store.lake.store import LakeStore
from schemas.store.store import Store
from schemas.store.stores import store_at
from tests.command_line import called

ODD = "Ann's games & more; $HOME"


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose name a shell reads otherwise."""
    folder = tmp_path_factory.mktemp("told") / ODD
    folder.mkdir()
    return folder


@pytest.mark.parametrize("plain", ["logs/", "lake:games", "lake:s3://bucket/games", "/data/a_b-c.1/x.duckdb"])
def test_plain_paths_stay_as_they_are(plain: str) -> None:
    assert in_shell(plain) == plain


@pytest.mark.parametrize("name", [ODD, "lake:games?benchmark=craft&run=1", "$(reboot)", "a\nb", "~", "*"])
def test_a_shell_takes_the_word_as_it_was_meant(name: str) -> None:
    command = f"printf %s {in_shell(name)}"
    assert subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout == name


def test_a_path_is_no_option() -> None:
    """Other words may begin so: what stands behind an option is taken as it is."""
    assert in_shell(Path("-logs")) == "./-logs"
    assert in_shell("-1") == "-1"


@pytest.mark.parametrize("forms", [("parquet",), pytest.param(("inspect", "dataset"), marks=pytest.mark.long)], ids="-".join)
def test_what_follows_play_ingest_and_export_names_folders_and_store(forms: tuple[str, ...], odd: Path) -> None:
    logs, store, out = odd / "logs", odd / "games.duckdb", odd / "out"
    played = called("play", "craft", "--games", "1", "--turns", "2", "--out", str(logs))
    assert f"next: cotrace ingest {shlex.quote(str(logs))}\n" in played.stderr
    (logs / "cut.json").write_text('{"structure_id": ', encoding="utf-8")
    ingested = called("ingest", str(logs), "--store", str(store))
    assert f"cotrace report rejects --store {shlex.quote(str(store))}\n" in ingested.stderr
    assert f"cotrace dash --store {shlex.quote(str(store))}\n" in ingested.stderr
    next_lines = {
        "parquet": f"cd {shlex.quote(str(out / 'parquet'))} && duckdb -c \"SELECT * FROM 'turns/*.parquet'\"",
        "inspect": f"inspect view start --log-dir {shlex.quote(str(out / 'inspect'))};",
        "dataset": f"load_dataset({json.dumps(str(out / 'dataset'))}, ",
    }
    for form in forms:
        assert next_lines[form] in called("export", "--to", str(out / form), "--format", form, store=store).stderr


@pytest.mark.parametrize("name", [f"{ODD}/none.duckdb", "lake:my games", "lake:games?benchmark=craft"])
def test_the_mend_for_a_store_that_is_missing_names_it(odd: Path, name: str) -> None:
    kind, parted, path = name.rpartition("lake:")
    named = f"{kind}{parted}{odd.parent / path}"
    assert f"`cotrace ingest PATH --store {shlex.quote(named)}`" in called("report", "leaderboard", "--store", named).stderr


def test_the_mends_of_rubrics_name_their_files(odd: Path) -> None:
    path = odd / "mine.yaml"
    named = shlex.quote(str(path))
    made = called("rubric", "new", "mine", "--dir", str(odd))
    assert f"cotrace rubric check {named} && cotrace judge --rubric {named} --model" in made.stderr
    path.write_text(path.read_text(encoding="utf-8").replace("questions:", "quests:").replace("unit:", "units:"), encoding="utf-8")
    store = Store(odd / "empty.duckdb")
    store.create()
    refused = called("judge", "--rubric", str(path), "--judge", "engine", store=store)
    assert f"cotrace rubric check {named})" in refused.stderr


def test_the_page_of_an_empty_store_names_it(odd: Path) -> None:
    store = Store(odd / "empty.duckdb")
    store.create()
    shown = html.unescape(page_file(store, Address("/")))
    assert f"cotrace ingest path/to/logs --store {shlex.quote(str(store.path))}" in shown


def test_a_part_of_a_lake_is_called_what_it_is_asked_for_by(tmp_path: Path) -> None:
    """Whatever its benchmark is called: the path of a store opens the same store again."""
    part = LakeStore(tmp_path / "games", benchmark="a&b=c d/e", run="é")
    again = store_at(str(part.path))
    assert vars(again)["_parts"] == {"benchmark": "a&b=c d/e", "run": "é"}
    assert again.path == part.path


@pytest.mark.parametrize("value", ["gpt-4o", 'it\'s $(touch x) `y` "z"', "two words", ""])
def test_a_value_out_of_a_log_is_one_word_of_a_condition(value: str) -> None:
    """A shell takes the option and one argument, in which SQL reads the value as it stands in the log; a plain one looks plain."""
    option = where_option("rubric", value)
    done = subprocess.run(["sh", "-c", f"printf '%s|' {option}"], capture_output=True, text=True, check=True)
    condition = "rubric = '{}'".format(value.replace("'", "''"))
    assert done.stdout == f"--where|{condition}|"
    assert option == f'--where "{condition}"' or not value.replace("-", "").isalnum()
