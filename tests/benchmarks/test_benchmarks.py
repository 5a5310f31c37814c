"""The benchmarks' frame: what a table says, and that multiplied games are games."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.__main__ import NAMES, main
from benchmarks.figures import Figure, markdown, seconds, table
from benchmarks.real_models import keep, page
from benchmarks.workload import craft_games, ingest, multiply


def test_missed_goal_is_said_and_no_goal_is_no_answer() -> None:
    """Met, missed and without a goal read differently, in the terminal and in Markdown."""
    figures = [
        Figure("a", "1 s", "2 s", 0.5, "<= 1", met=True),
        Figure("b|c", "3 s", "1 s", 3.0, "<= 1", met=False),
        Figure("d", "1 s", "1 s", 1.0),
    ]
    assert [line.split()[-1] for line in table(figures).splitlines()] == ["met", "yes", "**no**", "1"]
    assert markdown(figures).splitlines()[2:] == [
        "| a | 1 s | 2 s | 0.5 | <= 1 | yes |",
        "| b/c | 3 s | 1 s | 3 | <= 1 | **no** |",
        "| d | 1 s | 1 s | 1 |  |  |",
    ]


@pytest.mark.parametrize(("value", "text"), [(12.34, "12.3 s"), (0.1, "0.1 s"), (0.01234, "12.3 ms")])
def test_times_have_three_digits(value: float, text: str) -> None:
    """Seconds from a tenth on, milliseconds below."""
    assert seconds(value) == text


@pytest.mark.parametrize("name", NAMES)
def test_listed_benchmark_says_what_it_measures_and_can_be_run(name: str) -> None:
    """Each name is a module with an account of itself and a way to start it."""
    module = import_module(f"benchmarks.{name}")
    assert module.__doc__
    assert {"run", "main"} & set(module.__all__)


def test_unknown_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A name that is none ends with exit code 2 and the names there are."""
    with pytest.raises(SystemExit, match="2"):
        main(["speed"])
    assert "ingest, replay" in capsys.readouterr().err


def test_multiplied_games_are_games_of_their_own() -> None:
    """Two games made six: every table three times as long, and every label points into its own game."""
    store, report = ingest(craft_games(2), "multiplied.duckdb")
    multiply(store, 3)
    with store.reading() as connection:
        for name in ("episodes", "turns", "utterances", "labels", "turn_metrics"):
            assert connection.execute(f"SELECT count(*) FROM {name}").fetchall() == [(3 * report.rows[name],)]
        assert connection.execute("SELECT count(DISTINCT episode_id) FROM episodes").fetchall() == [(6,)]
        assert connection.execute("SELECT count(*) FROM labels WHERE NOT starts_with(unit_key, episode_id || '/')").fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("said", "stays"),
    [
        ("no text of /srv/a b/games.duckdb has claims", "no text of "),
        ("not done: cannot open '/home/me/x.duckdb': it is locked", "not done: cannot open 'x.duckdb': it is locked"),
        ("see ../there/server.log, ~/models/q.gguf", "see server.log, q.gguf"),
        ("openai/small at http://127.0.0.1:8000/v1: 3 of 4 (0.75), 12 tokens/s", None),
    ],
)
def test_no_path_of_a_machine_gets_onto_the_page_of_real_models(said: str, stays: str | None, tmp_path: Path) -> None:
    """Of a path its last name stays, whoever said it; addresses, names of models and rates are left alone."""
    file = tmp_path / "figures.json"
    keep(file, "smollm2-135m", "reader", [("texts", f"{said}; {tmp_path}/store.duckdb")], threads=1)
    shown = page(json.loads(file.read_text("utf-8")))
    assert (said if stays is None else stays) in shown
    assert "store.duckdb" in shown
    assert not any(f"{folder}/" in shown for folder in ("srv", "home", "there", "~", str(tmp_path.parent)))
