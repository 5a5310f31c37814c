"""`import cotrace` is enough: every example of docs/python.md, in a program, in a running event loop, and as a notebook shows it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

import cotrace
from schemas.common.errors import UsageError
from tests.places import DOCS, ROOT
from tests.played import played_store
from tests.servers.stub_server import stub_server

PAGE = (DOCS / "python.md").read_text(encoding="utf-8")
RUBRIC = """
name: my_rubric
version: 1
unit: agent_turn
benchmarks: [craft]
roles: [director]
shows: [public_message]
answers: {"yes": 1, "no": 0}
instructions: Directors tell a builder what to do.
questions:
  Q1:
    ask: Does the message name a color?
    examples:
      "yes": the red one
      "no": that one
"""


EXPERIMENT = """
name: two-scripts
game: craft
tasks: {generate: 1, seed: 3}
seeds: [1]
conditions: {turns: 2}
teams:
  - {directors: "script:plain", builder: "script:plain"}
out: logs
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of played games, their logs, and a rubric."""
    folder = tmp_path_factory.mktemp("face")
    played_store(folder)
    (folder / "my_rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    (folder / "experiment.yaml").write_text(EXPERIMENT, encoding="utf-8")
    return folder


def store_in(folder: Path) -> cotrace.OpenStore:
    """The played store."""
    return cotrace.open(folder / "played.duckdb")


@pytest.mark.long
def test_every_block_of_the_page_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In their order, as one program."""
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    with stub_server() as base_url:
        for block in PAGE.split("```python\n")[1:]:
            exec(block.partition("\n```")[0].replace("http://localhost:8000/v1", base_url), names)  # noqa: S102 - our own page
    assert {"store", "report", "frame", "figure", "game"} <= names.keys()


SMALL = """
from ingest.files import run
assert run._POOL_FROM_BYTES > run._PORTION_BYTES > 0
run._POOL_FROM_BYTES = run._PORTION_BYTES = 0
"""
"""Two small files are too much for one process."""
THREE_LINES = """
import cotrace

print(cotrace.open("plain.duckdb").ingest("long").episodes)
"""


def test_a_script_without_a_main_guard_ingests_what_takes_several_processes(tmp_path: Path) -> None:
    """It runs once, not again in each process that helps, where it would start processes of its own."""
    (tmp_path / "long").mkdir()
    for name in ("first", "second"):
        with cotrace.GameLog(tmp_path / f"long/{name}.jsonl", benchmark="talk", agents=["a"]) as log:
            for turn in range(2):
                log.turn(messages=[("a", f"{name} {turn}")])
            log.end(success=True)
    program = tmp_path / "three_lines.py"
    program.write_text(SMALL + THREE_LINES, encoding="utf-8")
    here = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, program], cwd=tmp_path, env=here, capture_output=True, text=True, timeout=100, check=False)
    assert (done.stdout, done.returncode) == ("2\n", 0), done.stderr


def test_a_store_is_made_with_its_views(tmp_path: Path) -> None:
    """Right after opening, a view can be read; opening again changes nothing."""
    store = cotrace.open(tmp_path / "new.duckdb")
    assert store.sql("SELECT count(*) FROM leaderboard").fetchall() == [(0,)]
    before = store.path.read_bytes()
    cotrace.open(store.path)
    assert store.path.read_bytes() == before


def test_a_judge_runs_inside_a_running_event_loop(folder: Path) -> None:
    """As in a notebook; without a loop it is the same call."""
    store = store_in(folder)

    async def notebook(base_url: str) -> int:
        await asyncio.sleep(0)
        return store.judge(folder / "my_rubric.yaml", model="openai/gpt-4o-mini", base_url=base_url, where="turn = 5").answered

    with stub_server() as base_url:
        assert asyncio.run(notebook(base_url)) > 0


def test_an_error_inside_a_loop_reaches_the_caller(folder: Path) -> None:
    """It is not lost in the thread."""

    async def notebook() -> None:
        await asyncio.sleep(0)
        store_in(folder).judge("spatial_grounding", judge="engine", where="no_such_column = 1")

    with pytest.raises(UsageError, match="no_such_column"):
        asyncio.run(notebook())


@pytest.mark.long
def test_a_game_shows_itself_without_running_its_texts(folder: Path) -> None:
    """Texts of logs are data, in a notebook too."""
    store = store_in(folder)
    with cotrace.GameLog(folder / "hostile.jsonl", benchmark="talk", agents=["a"]) as log:
        log.turn(messages=[("a", "<script>alert(1)</script>")])
        log.end(success=True)
    assert store.ingest(folder / "hostile.jsonl").episodes == 1
    (game,) = store.episodes("talk")
    assert "<script>" not in game._repr_html_()
    assert "&lt;script&gt;" in game._repr_html_()
    assert len(store.episodes()) == store.sql("SELECT count(*) FROM episodes").fetchall()[0][0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda store: store.report("leaderbord"), "no report 'leaderbord': did you mean leaderboard"),
        (lambda store: store.plot("nothing"), "no figure"),
        (lambda store: store.plot("spirals", modell="x"), "no filter 'modell': did you mean model"),
        (lambda store: store.plot("spirls"), "no figure 'spirls': did you mean spirals"),
        (lambda store: store.judge("spatial_grounding"), "say who judges"),
        (lambda store: store.sql("DELETE FROM episodes"), "SQL"),
    ],
)
def test_mistakes_are_one_clear_error(folder: Path, call: object, message: str) -> None:
    """What is wrong, and what would be right."""
    assert callable(call)
    with pytest.raises(cotrace.CotraceError, match=message):
        call(store_in(folder))


def test_importing_costs_nothing() -> None:
    """No heavy library comes with the import."""
    code = "import cotrace, sys; print([m for m in ('duckdb', 'polars', 'plotly', 'dash', 'dspy', 'sklearn') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_the_public_names_are_those_of_all() -> None:
    """Each can be looked up, and nothing else can."""
    assert all(getattr(cotrace, name) is not None for name in cotrace.__all__)
    with pytest.raises(AttributeError, match="has no attribute"):
        _ = cotrace.nothing


def test_completion_offers_every_public_name() -> None:
    """Also those that are looked up only when they are used."""
    code = "import cotrace; print(set(cotrace.__all__) - set(dir(cotrace)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "set()"
