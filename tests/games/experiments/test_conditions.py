"""Every switch is a condition of the run, how models are asked included; nothing averages over two of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from analytics.reports import report
from games.experiments.plan import load
from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.games.seats import cotrace, seat_server

FILE = """
name: rules
game: overcooked
tasks: {orders: [boiled_egg]}
conditions: {rules: [published, paper], horizon: 3}
teams: [{all: openai/stub}]
models:
  openai/stub: {temperature: 0.3, top_p: 0.9, max_tokens: 300}
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """An experiment with two rule sets."""
    folder = tmp_path_factory.mktemp("conditions")
    file = folder / "rules.yaml"
    file.write_text(FILE, encoding="utf-8")
    with seat_server("script") as address:
        done = cotrace("play", str(file), "--base-url", f"{address}/v1", "--out", str(folder / "logs"))
    assert done.returncode == 0, done.stderr
    store = Store(folder / "s.duckdb")
    assert ingest_paths([folder / "logs"], store, workers=1).episodes == 2
    ensure_installed(store)
    return store


def test_how_models_are_asked_is_a_condition(store: Store) -> None:
    """An ablation is a GROUP BY."""
    sql = """SELECT condition ->> 'agents', condition ->> 'temperature', condition ->> 'top_p', condition ->> 'max_tokens', count(*)
        FROM episodes INNER JOIN runs USING (run_id) GROUP BY ALL ORDER BY ALL"""
    assert query(store, sql).rows() == [("paper", "0.3", "0.9", "300", 1), ("published", "0.3", "0.9", "300", 1)]


@pytest.mark.long
def test_rule_sets_are_not_averaged_over(store: Store) -> None:
    """Neither by the leaderboard nor by the family's report."""
    rows = query(store, "SELECT condition, games FROM leaderboard ORDER BY condition").rows()
    assert [games for _, games in rows] == [1, 1]
    assert all(condition.startswith("rules: agents p") for condition, _ in rows)
    assert query(store, "SELECT model FROM overcooked_levels ORDER BY model")["model"].to_list() == [
        "openai/stub, paper",
        "openai/stub, published",
    ]


def test_what_a_call_was_for_is_told(store: Store) -> None:
    """The step of each call; who asked stays apart."""
    rows = query(store, "SELECT DISTINCT purpose, step FROM calls ORDER BY step").rows()
    assert ("player", "turn") in rows
    assert {purpose for purpose, _ in rows} == {"player"}


def test_models_that_reason_are_sent_no_temperature_by_default(tmp_path: Path) -> None:
    """As judges are asked; others get the usual one, and a team of both says which had what."""
    file = tmp_path / "mixed.yaml"
    file.write_text(
        "{name: mixed, game: overcooked, tasks: {orders: [boiled_egg]}, teams: [{chef: openai/o3-mini, assistant: openai/gpt-4o-mini}]}",
        "utf-8",
    )
    condition = load(file).jobs[0].header.run["condition"]
    assert condition["temperature"] == "openai/gpt-4o-mini=0.7; openai/o3-mini=none"
    assert condition["max_tokens"] == 2000


SCRIPTED = {
    "craft": "tasks: {generate: 6}, conditions: {turns: 2, same_turn_messages: [false, true]}, teams: [{all: 'script:plain'}]",
    "asympuzl": "tasks: {generate: 6}, conditions: {size: 2, history: [1, 2]}, teams: [{all: 'script:sharing'}]",
    "einstein": "tasks: {generate: 6}, conditions: {step_limit: 2, guidance: [false, true]}, teams: [{all: 'script:sensible'}]",
}


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("family", SCRIPTED)
def test_teams_are_compared_across_a_switch_of_an_experiment(tmp_path: Path, family: str) -> None:
    """Its conditions have rows of their own, repetitions do not, and the switch is all that differs."""
    file = tmp_path / "e.yaml"
    file.write_text(f"{{name: e, game: {family}, seeds: [1, 2], {SCRIPTED[family]}, out: {tmp_path / 'logs'}}}", "utf-8")
    assert cotrace("play", str(file)).returncode == 0
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path / "logs"], store, workers=1)
    ensure_installed(store)
    assert query(store, "SELECT games FROM leaderboard")["games"].to_list() == [12, 12]
    assert report(store, "compare")["differs"].to_list() == ["condition"]
    episode = query(store, "SELECT min(episode_id) FROM episodes").item()
    script = SCRIPTED[family].partition("all: '")[2].partition("'")[0]
    again = ["--turn", "1", "--player", f"all={script}", "--out", str(tmp_path / "again")]
    assert cotrace("replay", episode, *again, "--store", str(store.path)).returncode == 0
    assert query(store, "SELECT games FROM leaderboard ORDER BY games")["games"].to_list() == [1, 12, 12]
