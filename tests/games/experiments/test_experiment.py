"""Experiments out of a file: played whole whatever happens, within their budget, and every mistake in the file in one line."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from cotrace.commands.experiment import following, judge_requests
from cotrace.playing import play
from games.experiments.plan import Changes, forecast, load
from games.players.running import PlayProgress, run_games
from ingest.files.run import ingest_paths
from schemas.common.errors import UsageError
from schemas.store.store import Store
from tests.games import seats
from tests.games.seats import seat_server, stats, turns
from tests.places import DOCS, ROOT

MAIN = [sys.executable, "-c", "from cotrace.cli import main; main()"]
SMALL: dict[str, dict[str, Any]] = {
    "asympuzl": {"size": 3, "turns": 3},
    "coordination": {"verification": False},
    "overcooked": {"horizon": 6},
    "craft": {"turns": 4},
    "einstein": {"step_limit": 8},
}
"""Switches that make a family's games short."""
MAIN_TABLE = {
    "asympuzl": ("asympuzl_failures", "asympuzl"),
    "coordination": ("coordination_joint_planning", "coordination"),
    "craft": ("spatial_grounding", "leaderboard"),
    "einstein": ("rule_understanding", "einstein"),
    "overcooked": ("overcooked_initiating", "overcooked"),
}
"""Family -> a rubric that the engine answers, and the report with the family's main table."""
ROWS = {"coordination": 4, "overcooked": 4}
"""Families whose main table has a row a game, or one a team and rule set, and how many those are here."""
BASE = """
name: first
game: craft
tasks: {generate: 2, reachable: true}
seeds: [1]
conditions: {turns: 6}
teams:
  - {directors: openai/gpt-4o-mini, builder: "script:plain"}
models:
  openai/gpt-4o-mini: {max_tokens: 200, request_fields: {seed: 7}}
limits: {concurrency: 8}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Says what scripts would say, 50 ms later."""
    with seat_server("slow") as address:
        yield f"{address}/v1"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")


def written(folder: Path, text: str = BASE) -> Path:
    """The text as a file."""
    path = folder / "e.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def cotrace(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """The command, ended as it should."""
    done = seats.cotrace(*map(str, arguments))
    assert done.returncode == code, done.stderr
    return done


def requests(server: str) -> int:
    """How many the server has had."""
    return stats(server.removesuffix("/v1"))["requests"]


def calls(folder: Path) -> list[dict[str, Any]]:
    """All calls in all logs."""
    lines = [json.loads(line) for path in sorted(folder.rglob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    return [call for line in lines for call in line.get("calls", ())]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("family", sorted(MAIN_TABLE))
def test_the_shipped_experiment_is_played_judged_and_reported(family: str, tmp_path: Path) -> None:
    """The file of docs/experiments with short games, in one command; then the family's main table has a row for every team."""
    content = yaml.safe_load((DOCS / "experiments" / f"{family}.yaml").read_text("utf-8"))
    content["seeds"] = content["seeds"][:1]
    content["conditions"] = {name: value[:2] if isinstance(value, list) else value for name, value in content["conditions"].items()}
    content["conditions"] |= SMALL[family]
    rubric, report = MAIN_TABLE[family]
    store = tmp_path / "s.duckdb"
    with seat_server("script") as address:
        done = cotrace(
            "play", written(tmp_path, yaml.safe_dump(content)), "--take", "1", "--base-url", f"{address}/v1",
            "--out", tmp_path / "logs", "--judge", rubric, "--store", store,
        )  # fmt: skip
    played = load(tmp_path / "e.yaml", Changes(take=1, out=tmp_path / "logs"))
    assert f"{len(played.jobs)} games with" in done.stderr
    assert f"{rubric} by engine" in done.stderr
    rows = json.loads(cotrace("report", report, "--format", "json", "--store", store).stdout)
    shown = len(rows) if family in ROWS else sum(row.get("n", row.get("games")) for row in rows)
    assert shown == ROWS.get(family, len(played.jobs))
    assert cotrace("sql", "SELECT count(*) AS n FROM log_disagreements", "--format", "csv", "--store", store).stdout.split() == ["n", "0"]
    asked = cotrace("sql", "SELECT count(*) AS n FROM calls WHERE status = 'answered'", "--format", "csv", "--store", store).stdout
    assert asked.split() == ["n", str(len(calls(tmp_path / "logs")))]


def test_a_forecast_costs_nothing_and_foretells_the_calls(server: str, tmp_path: Path) -> None:
    """The server answers as the scripts of the forecast do, so calls are those foretold; nothing was written before."""
    path = written(tmp_path)
    changes = Changes(out=tmp_path / "logs", base_url=server)
    experiment = load(path, changes)
    expected = forecast(experiment, lambda folder: load(path, Changes(out=folder))).models["openai/gpt-4o-mini"]
    told = cotrace("play", path, "--dry-run", "--out", tmp_path / "logs").stderr
    assert not (tmp_path / "logs").exists()
    assert f"about {expected.calls:.0f} calls (at most {expected.most_calls:.0f})" in told
    seen: list[PlayProgress] = []
    report = play(path, out=tmp_path / "logs", base_url=server, on_progress=seen.append)
    assert (report.played, report.calls) == (2, expected.calls)
    assert seen[-1][:4] == (2, 2, report.turns, report.calls)
    assert seen[-1].cost == pytest.approx(report.cost)
    assert seen[-1].seconds_left == 0
    header = json.loads(report.paths[0].read_text("utf-8").splitlines()[0])
    assert header["run"]["condition"]["request_fields"] == {"seed": 7}
    assert any(early.games < 2 and early.turns and early.seconds_left for early in seen)
    assert all(early.turns <= late.turns for early, late in pairwise(seen))
    done = cotrace("play", path, "--dry-run", "--out", tmp_path / "logs").stderr
    assert "2 are there already, 0 to play" in done


def test_killed_and_started_again_it_ends_as_it_would_have(server: str, tmp_path: Path) -> None:
    """Kill -9 in the middle: every prompt is asked once in both starts together, but for calls in flight, and the logs are the same."""
    text = """
    name: killed
    game: einstein
    tasks: {generate: 2, objects: [4]}
    conditions: {step_limit: 10}
    teams: [{player1: openai/gpt-4o-mini, player2: openai/gpt-4o}, {all: openai/gpt-4o}]
    """
    path, out = written(tmp_path, text), ["--base-url", server, "--out"]
    begin = requests(server)
    assert "4 games" in cotrace("play", path, *out, tmp_path / "whole").stderr
    needed = requests(server) - begin
    command = [*MAIN, "play", str(path), *out, str(tmp_path / "cut")]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        while requests(server) < begin + needed + needed // 2:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    done = cotrace("play", path, *out, tmp_path / "cut")
    assert "replies of an interrupted run used again" in done.stderr
    assert requests(server) - begin <= 2 * needed + 4  # a game has one call in flight
    assert turns(tmp_path / "cut") == turns(tmp_path / "whole")
    names = [path.relative_to(tmp_path / "whole") for path in sorted((tmp_path / "whole").rglob("*.jsonl"))]
    assert names == [path.relative_to(tmp_path / "cut") for path in sorted((tmp_path / "cut").rglob("*.jsonl"))]
    assert len(names) == 4
    assert not (tmp_path / "cut" / ".journal").exists()


@pytest.mark.long
def test_one_budget_for_all_models_and_all_starts(server: str, tmp_path: Path) -> None:
    """Games wait when it ends, and are played on later; no reply serves two games, though their prompts begin alike."""
    text = """
    name: budget
    game: einstein
    tasks: {generate: 2}
    conditions: {step_limit: 6, verifier: [none, reasoning], samples: 2}
    teams:
      - {player1: [openai/gpt-4o-mini, openai/gpt-4o], player2: "script:sensible"}
      - {player1: openai/gpt-4o-mini, player2: "script:misreader"}
    models: {default: {max_tokens: 10}}
    """
    path, out = written(tmp_path, text), tmp_path / "logs"
    prices = tmp_path / "prices.yaml"
    prices.write_text("openai/*: {input: 0.15, output: 0.60}\n")
    whole = load(path, Changes(out=tmp_path / "whole", base_url=server, prices=prices))
    cost = run_games(whole.jobs, whole.table).cost or 0.0
    budgets = [0.3 * cost, 0.6 * cost, 2 * cost]
    stopped: list[int] = []
    for budget in budgets:
        experiment = load(path, Changes(out=out, base_url=server, max_cost=budget, prices=prices))
        report = run_games(experiment.jobs, experiment.table)
        assert (report.cost_before or 0.0) + (report.cost or 0.0) <= budget
        stopped.append(report.stopped)
    assert stopped[0] >= stopped[1] > 0
    assert stopped[2] == 0
    assert sum(call["cost"] for call in calls(out)) == pytest.approx(cost)
    ids = [call["call_id"] for call in calls(out)]
    assert len(ids) == len(set(ids)) > 20
    done = cotrace(
        "play", path, "--out", tmp_path / "poor", "--base-url", server, "--max-cost", f"{0.3 * cost}", "--prices", prices, code=1
    )
    assert re.search(r"the budget allows no further call: \d+ games? left waiting", done.stderr)


@pytest.mark.long
def test_the_store_has_games_that_are_still_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs are taken in while they grow, and what has ended is judged."""
    monkeypatch.setattr("cotrace.commands.experiment._SLEEP_S", 0.1)
    experiment = load(
        written(tmp_path, BASE.replace("openai/gpt-4o-mini, b", '"script:plain", b').partition("models:")[0]),
        Changes(out=tmp_path / "logs"),
    )
    run_games(experiment.jobs, experiment.table)
    running = experiment.jobs[0].path
    running.write_bytes(b"".join(running.read_bytes().splitlines(keepends=True)[:3]))
    store = Store(tmp_path / "s.duckdb")
    with following(tmp_path / "logs", store, judge_requests(["spatial_grounding"], None)):
        deadline = time.monotonic() + 60
        judged: list[tuple[int, int]] = []
        while time.monotonic() < deadline and not (judged and judged[0][1]):
            time.sleep(0.1)
            if store.exists():
                with store.reading() as connection:
                    judged = connection.execute(
                        "SELECT turns_taken, (SELECT count(*) FROM verdicts WHERE verdicts.episode_id = episodes.episode_id) FROM episodes "
                        "ORDER BY 2 DESC"
                    ).fetchall()
    assert [turns_taken for turns_taken, _ in judged] == [6, 2]
    assert judged[0][1] > 0
    assert judged[1][1] == 0
    assert ingest_paths([tmp_path / "logs"], store, workers=1).episodes == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("game: craft", "game: crafty", "line 3: there is no game 'crafty': did you mean craft?"),
        ("seeds:", "seedz:", "line 5: unknown key seedz: did you mean seeds?"),
        ("teams:", "team:", "unknown key team: did you mean teams?"),
        ("seeds: [1]", "seeds: [1, 1]", "line 5: seeds is [1, 1]: a seed is given twice"),
        ("generate: 2", "generate: 2, take: 3", "line 4: tasks is .*: take goes with file: delete it"),
        ("generate: 2, reachable: true", "file: no.json", "line 4: .*no.json cannot be read"),
        ("{turns: 6}", "{turn: 6}", "line 6: unknown key conditions.turn: did you mean turns?"),
        ("{turns: 6}", "{turns: [6, many]}", "conditions.turns is 'many': input should be a valid integer"),
        ("{turns: 6}", "{turns: [6, 6]}", "give at least one value, and each once"),
        ("{directors:", "{directrs:", "line 8: directrs: no such role, did you mean directors?"),
        ('"script:plain"}', '"script:plain", D1: human}', "line 8: D1=human: D1 is played by openai/gpt-4o-mini already"),
        ('"script:plain"}', '"script:plain", builder: human}', "line 8: builder is given twice"),
        (', builder: "script:plain"}', "}", "line 8: no one plays Builder: add Builder="),
        ('"script:plain"}', "gpt-4o}", "line 8: builder=gpt-4o: a player is provider/model"),
        ('"script:plain"}', '["script:plain", "script:plain"]}', "line 8: the team .* is there already"),
        ("  openai/gpt-4o-mini: {max_tokens", "  openai/gpt-4o: {max_tokens", "line 10: openai/gpt-4o plays in no team"),
        ("max_tokens: 200", "max_token: 200", "line 10: unknown key models.openai/gpt-4o-mini.max_token: did you mean max_tokens?"),
        ("max_tokens: 200", "temperature: 3", "models.openai/gpt-4o-mini.temperature is 3: input should be less than or equal to 2"),
        ("concurrency: 8", "concurrency: 0", "limits.concurrency is 0"),
        ("concurrency: 8", "tokens_per_minute: 100", "100 tokens a minute contradict max_tokens 200"),
        ("concurrency: 8", "max_cost: 0.00001", "max_cost 1e-05 USD contradicts max_tokens 200"),
        ("name: first", "name: [", "is not YAML"),
        (BASE, "", "it holds no keys|name is missing"),
        (BASE, "- a", "it holds no keys with values"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_file_is_one_line(old: str, new: str, message: str, tmp_path: Path) -> None:
    """What is wrong, in which line, and the mend."""
    assert old in BASE
    with pytest.raises(UsageError, match=message.replace("[", r"\[").replace("?", r"\?").replace("{", r"\{")) as raised:
        load(written(tmp_path, BASE.replace(old, new)))
    assert "\n" not in str(raised.value)


def test_wrong_use_of_the_command_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 2: no such file, a model without key, a model without price under a budget, a log that holds another game."""
    path = written(tmp_path)
    (tmp_path / "free").mkdir()
    free = written(tmp_path / "free", BASE.replace("openai/gpt-4o-mini", "openai/unheard-of"))
    monkeypatch.setattr(seats, "KEY", {})
    monkeypatch.delenv("OPENAI_API_KEY")
    logs = tmp_path / "logs"
    for arguments, message in (
        (["none.yaml"], "none.yaml cannot be read"),
        ([path, "--out", logs], "OPENAI_API_KEY"),
        ([free, "--out", logs, "--max-cost", "1"], "max_cost needs a price for openai/unheard-of"),
        ([path, "--out", logs, "--judge", "nonsense", "--base-url", "http://127.0.0.1:9/v1"], "nonsense"),
        ([path, "--out", logs, "--judge-model", "openai/gpt-4o"], "--judge RUBRIC"),
    ):
        told = cotrace("play", *arguments, code=2).stderr.strip().splitlines()[-1:]
        assert message in told[0], told
    assert [found.name for found in logs.iterdir()] == [".journal"]  # of the start without a key; no game was begun
