"""A game whose end is not known is neither a success nor a failure: it is counted as cut, and in no rate and no mean."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests import scripted
from tests.ingest.asympuzl import asympuzl_logs as asympuzl
from tests.ingest.craft.craft_logs import published
from tests.ingest.einstein.test_einstein_ingest import GAME, dialog

Lines = list[bytes]
OUTCOME = "games, broken, cut, successes, success_rate, n, score_mean"


def ingested(folder: Path) -> Store:
    store = Store(folder / "test.duckdb")
    ingest_paths([folder / "logs"], store, workers=1)
    ensure_installed(store)
    return store


def row(store: Store, sql: str) -> dict[str, Any]:
    return query(store, sql).row(0, named=True)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Lines]:
    """One scripted game of each benchmark that cotrace replays line by line."""
    out = tmp_path_factory.mktemp("played")
    paths = {
        "craft": scripted.play(scripted.CraftRequest(out=out / "craft", structures=1, turns=6)).paths,
        "einstein": scripted.play(scripted.EinsteinRequest(out=out / "einstein", games=1)).paths,
        "asympuzl": asympuzl.play(asympuzl.PlayRequest(out=out / "asympuzl", seeds=(3,), sizes=(4,))).paths,
    }
    return {name: path.read_bytes().splitlines(keepends=True) for name, (path,) in paths.items()}


def without_turn(lines: Lines) -> Lines:
    """The third turn's line is damaged: it and what follows are lost, the last line still says how the game ended."""
    return [*lines[:3], b'{"type":"turn", "turn": oops}\n', *lines[4:]]


CUTS: dict[str, Callable[[Lines], Lines]] = {
    "first lines": lambda lines: lines[:3],
    "before the first turn": lambda lines: lines[:1],
    "a damaged line": without_turn,
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("view", ["leaderboard", "families"])
@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_a_cut_log_is_in_no_rate(tmp_path: Path, played: dict[str, Lines], cut: Callable[[Lines], Lines], view: str) -> None:
    """The same game of each benchmark whole and cut: every number of success and score is that of the whole game alone."""
    for benchmark, whole in played.items():
        for name, lines in (("whole", whole), ("cut", cut(whole))):
            path = tmp_path / "logs" / benchmark / name / "game.jsonl"
            path.parent.mkdir(parents=True)
            path.write_bytes(b"".join(lines))
    store = ingested(tmp_path)

    found = query(store, "select benchmark, ending, success is null, score is null from games order by all").rows()
    assert found == [row for name in sorted(played) for row in ((name, "cut", True, True), (name, "ended", False, False))]
    scores = dict(query(store, "select benchmark, score from games where ending = 'ended'").rows())
    ends = {benchmark: json.loads(whole[-1]) for benchmark, whole in played.items()}
    won = {benchmark: end["solved"] if benchmark == "asympuzl" else end["end"]["success"] for benchmark, end in ends.items()}
    assert query(store, f"select benchmark, {OUTCOME} from {view} order by benchmark").rows() == [
        (name, 2, 0, 1, int(won[name]), float(won[name]), 1, pytest.approx(scores[name])) for name in sorted(played)
    ]


def test_a_log_without_its_last_line_has_the_end_that_the_rules_give(tmp_path: Path, played: dict[str, Lines]) -> None:
    """The limit is reached or the goal is: nothing that could still happen would change the outcome."""
    for name, lines in played.items():
        path = tmp_path / "logs" / f"{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"".join(lines[:-1]))
    ends = {name: json.loads(lines[-1]) for name, lines in played.items()}
    found = query(ingested(tmp_path), "select benchmark, success from games where ending = 'ended' order by all").rows()
    assert found == [
        ("asympuzl", ends["asympuzl"]["solved"]),
        ("craft", ends["craft"]["end"]["success"]),
        ("einstein", ends["einstein"]["end"]["success"]),
    ]


def lose_a_step(log: dict[str, Any]) -> None:
    log["dialog"][1]["response"] = None


def keep_first_steps(log: dict[str, Any]) -> None:
    del log["dialog"][2:]


def forget_the_end(log: dict[str, Any]) -> None:
    del log["success"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("damage", [lose_a_step, keep_first_steps, forget_the_end])
def test_a_damaged_dialog_is_in_no_einstein_rate(tmp_path: Path, damage: Callable[[dict[str, Any]], None]) -> None:
    """A dialog that lost steps, or does not say its end, leaves the run's numbers as they are without it."""
    folder = tmp_path / "logs" / "mine" / "json"
    folder.mkdir(parents=True)
    (folder / f"dialog_{GAME}.json").write_text(json.dumps(dialog()))
    damaged = dialog()
    damage(damaged)
    (folder / f"dialog_{GAME}_1.json").write_text(json.dumps(damaged))
    store = ingested(tmp_path)

    found = row(store, "select * from einstein_runs")
    alone = row(store, "select * from einstein_games where success is not null")
    assert (found["games"], found["successes"], found["sr_pct"], found["total_steps"]) == (1, 0, 0.0, alone["step_count"])
    assert found["subr_pct"] == pytest.approx(100 * alone["sub_r"])
    assert row(store, "select count(*) as n from einstein_games")["n"] == 2
    assert row(store, "select games, cut, n from leaderboard") == {"games": 2, "cut": 1, "n": 1}


def test_a_run_of_cut_games_alone_has_no_rate(tmp_path: Path) -> None:
    """No game ended: null, not 0 %."""
    folder = tmp_path / "logs" / "mine" / "json"
    folder.mkdir(parents=True)
    log = dialog()
    keep_first_steps(log)
    (folder / f"dialog_{GAME}.json").write_text(json.dumps(log))
    store = ingested(tmp_path)
    assert row(store, "select games, successes, sr_pct, subr_pct from einstein_runs") == {
        "games": 0,
        "successes": 0,
        "sr_pct": None,
        "subr_pct": None,
    }
    assert row(store, "select success_rate, score_mean, cut from families") == {"success_rate": None, "score_mean": None, "cut": 1}


def test_a_published_craft_game_with_lost_turns_is_cut(tmp_path: Path) -> None:
    """What the log says of its end is kept in the details; what can no longer be recomputed is null."""
    log = published()
    log["games"][0]["turns"][2] = {"turn_number": "three"}
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "games.json").write_text(json.dumps(log))
    store = ingested(tmp_path)
    said = str(log["games"][0]["completed"]).lower()
    found = query(store, "select ending, g.success, g.score, details ->> 'completed' from games g join episodes using (episode_id)").rows()
    assert found == [("cut", None, None, said)]
    assert row(store, "select overall_progress from craft_games")["overall_progress"] is None
