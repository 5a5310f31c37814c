"""docs/judges.md: every command on the page works, in its order, and leads to a number that holds the truth."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from cotrace.cli import cli
from dashboards.address import Address
from dashboards.pages.labelling import next_task
from dashboards.reader import reader
from ingest.labels.load import add_labels
from judges.evidence.labelling import labels_of
from judges.evidence.transcript import load as load_games
from judges.evidence.units import units
from judges.rubric_files.load import load
from schemas.store.store import Store
from tests.places import DOCS, ROOT
from tests.servers.stub_server import stub_server

PAGE = (DOCS / "judges.md").read_text(encoding="utf-8")
RUBRIC = Path("my_rubrics/acknowledges_conflict.yaml")
LABELS = 60
GAMES = 8
"""A team, in place of the page's 15."""
AT_ONCE = 10
PRINTS = {
    "report labels-needed": "acknowledges_conflict",
    "report agreement": "judge_people",
    "report corrected-rates": "corrected",
    "report judges": "openai/gpt-4o-mini",
    "report probes": "though nothing that matters changed",
    "report drift": "no drift shown",
    "report calibration": "do not use the question",
    "labels export": "rubric,question,annotator",
}
"""Beginning of a line -> what it must print."""


def commands() -> list[str]:
    """The commands of all sh blocks; a line that ends with a backslash goes on in the next."""
    blocks = [part.partition("\n```")[0].replace("\\\n", "") for part in PAGE.split("```sh\n")[1:]]
    return [line for block in blocks for line in block.splitlines()]


def ran(line: str) -> str:
    """Run a line of the page in this process; gives what it prints to stdout, or writes that where the line says."""
    words, _, target = line.partition(" > ")
    result = CliRunner().invoke(cli, shlex.split(words)[1:], catch_exceptions=False)
    assert result.exit_code in {0, None}, (line, result.stderr)
    if target:
        Path(target).write_text(result.stdout, encoding="utf-8")
    return result.stdout


def truth(unit_id: str) -> str:
    """What the person of this test says: yes to about a third, whatever is shown."""
    return "yes" if hashlib.sha256(unit_id.encode()).digest()[0] < 256 / 3 else "no"


def label_like_a_person(store: Store) -> None:
    """Answer what the labelling page asks, in random order."""
    rubric = load(RUBRIC)
    for _ in range(LABELS // AT_ONCE):
        with reader(store, Address("/labelling")) as read:
            found = [next_task(read, rubric, "ann", order="random", skip=number) for number in range(AT_ONCE)]
        given = [labels_of(rubric, task, {"Q1": truth(task.unit.unit_id)}, annotator="ann", source="dashboard") for task in found if task]
        assert len(given) == AT_ONCE
        add_labels(store, [label for labels in given for label in labels])


def true_rates(store: Store) -> dict[str, float]:
    """The rate of yes over every unit, by model."""
    rubric = load(RUBRIC)
    with store.reading() as connection:
        ids = [episode for (episode,) in connection.execute("SELECT episode_id FROM episodes").fetchall()]
    said: dict[str, list[bool]] = {}
    for game in load_games(store, ids):
        said.setdefault(game.model, []).extend(truth(unit.unit_id) == "yes" for unit in units(rubric, game, None))
    return {model: sum(answers) / len(answers) for model, answers in said.items()}


def serves(line: str) -> None:
    """The line starts the dashboard, which answers; then it is ended."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = [sys.executable, "-c", "from cotrace.cli import main; main()", *shlex.split(line)[1:], "--port", str(port)]
    here = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(start, env=here, stderr=subprocess.DEVNULL) as process:
        try:
            assert answers_within(f"http://127.0.0.1:{port}/labelling?rubric=acknowledges_conflict", seconds=60)
        finally:
            process.terminate()


def answers_within(address: str, *, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(address) as reply:  # noqa: S310 - our own server
                return bool(reply.status == 200)
        except OSError:
            time.sleep(0.2)
    return False


@pytest.mark.long
def test_the_page_leads_from_an_idea_to_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command does what the page says; the judge, which answers at random, is called that; the corrected rates hold the truth."""
    store = Store(tmp_path / "cotrace.duckdb")
    printed: dict[str, str] = {}
    with stub_server() as base_url:
        monkeypatch.chdir(tmp_path)
        for line in commands():
            if "craftValidationOutputs" in line or "validation.duckdb" in line:
                continue
            if line.startswith("cotrace dash"):
                serves(line)
                label_like_a_person(store)
                continue
            printed[line] = ran(line.replace("http://localhost:8000/v1", base_url).replace("--games 15", f"--games {GAMES}"))
    for line, text in printed.items():
        for beginning, expected in PRINTS.items():
            assert expected in text or not line.startswith(f"cotrace {beginning}"), line
    # the person is shown other units each time: a judge that answers at random looks weak to one person in forty, and good to none
    agreement = next(text for line, text in printed.items() if line.startswith("cotrace report agreement"))
    assert re.search("do not use|before you lean on it|weak: use it only with corrected rates", agreement), agreement
    rates = json.loads(ran("cotrace report corrected-rates --format json --where \"rubric = 'acknowledges_conflict'\""))
    true = true_rates(store)
    assert {row["model"] for row in rates} == true.keys()
    for row in rates:
        # the person is shown other units each time, so a 95 % interval may miss; twice its width does not
        width = row["rate_high"] - row["rate_low"]
        assert row["rate"] - width <= true[row["model"]] <= row["rate"] + width
    assert sum(row["labels"] for row in rates) > LABELS / 2  # the judge says N/A about some


@pytest.mark.shared
def test_the_published_numbers_come_out_of_the_page(tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last two commands, on the published file."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(shared / "data/craft/human_validation/craftValidationOutputs.csv", tmp_path)
    lines = [line for line in commands() if "validation.duckdb" in line]
    assert len(lines) == 2
    printed = [ran(line) for line in lines]
    assert "people answer Yes in 85 %: do not use" in printed[1]


def test_all_commands_are_on_the_list() -> None:
    """Nothing on the page escapes the tests: every line of a block is a cotrace command."""
    assert len(commands()) >= 14
    assert all(line.startswith("cotrace ") for line in commands())
