"""Several solutions of a puzzle, with thoughts: all of them solve it, they differ, and no thought knows more than its player."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from games.einstein.engine.actions import Ask, Pass, write_answer
from games.einstein.engine.puzzle import ACTION_MODES, ActionMode, generate
from games.einstein.game import Game, GameSettings
from games.einstein.measures import SLACK, plan, trajectories
from games.einstein.prompts import read_user_prompt
from tests.games.seats import cotrace

PUZZLES = list(generate(count=6, seed=11))
BINS = "top-left|top-right|bottom-left|bottom-right"


@pytest.mark.parametrize("mode", ACTION_MODES)
def test_five_solutions_that_differ(mode: ActionMode) -> None:
    """The first is as long as the planner's, the others at most two steps longer, but for those that try bins in turn."""
    for puzzle in PUZZLES:
        found = trajectories(puzzle, mode, 5)
        best = plan(puzzle, mode)
        assert len(found) == len({one.actions for one in found}) == 5
        assert len(found[0].actions) == best.steps + (best.first_player == 1)
        assert all(one.longer <= SLACK for one in (found[:3] if mode == "none" else found))
        for one in found:
            game = Game(puzzle, GameSettings(modes=(mode, mode), reasoning=False))
            for action in one.actions:
                assert game.next_agent is not None
                game.act(game.next_agent, (write_answer(action.text, None),))
            assert game.state().success


def test_solutions_ask_as_well_as_tell_and_try_where_nobody_may_talk() -> None:
    """What the shortest solutions alone would not hold."""
    talk = [trajectories(puzzle, "provide_seek", 5) for puzzle in PUZZLES]
    assert any(isinstance(action, Ask) for found in talk for one in found for action in one.actions)
    tried = [one for puzzle in PUZZLES for one in trajectories(puzzle, "none", 5) if one.longer > SLACK]
    assert tried
    assert all(any(isinstance(action, Pass) for action in one.actions) for one in tried)


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """Split -> lines of solutions in two modes."""
    home = tmp_path_factory.mktemp("solutions")
    words = ("--trajectories", "5", "--games", "2", "--mode", "provide_seek", "--mode", "none", "--out", str(home / "logs"))
    assert cotrace("play", "einstein", *words).returncode == 0
    again = cotrace("play", "einstein", *words)
    assert "0 games with 0 steps played, 20 were there already" in again.stderr
    store = ("--store", str(home / "s.duckdb"))
    assert cotrace("ingest", str(home / "logs"), *store).returncode == 0
    rows = json.loads(cotrace("sql", "SELECT * FROM log_disagreements", "--format", "json", *store).stdout or "[]")
    assert rows == []
    done = cotrace("export", "chats", "--to", str(home / "chats"), "--keep", "successful", "--splits", "0.6,0.2,0.2", *store)
    assert done.returncode == 0, done.stderr
    return {path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in (home / "chats").glob("*.jsonl")}


@pytest.mark.long
def test_exported_solutions_are_split_by_puzzle(chats: dict[str, list[dict[str, Any]]]) -> None:
    """Five solutions of each puzzle and mode, all of them in one split."""
    puzzles = {split: {line["task_id"] for line in lines} for split, lines in chats.items()}
    assert len(puzzles) > 1
    assert sum(map(len, puzzles.values())) == len(set().union(*puzzles.values())) == 2
    assert len({line["episode_id"] for lines in chats.values() for line in lines}) == 20


def test_no_thought_knows_more_than_its_player(chats: dict[str, list[dict[str, Any]]]) -> None:
    """Every place that is claimed follows from the prompt's knowledge and history; what does not follow is called a guess."""
    kinds = set()
    for line in (line for lines in chats.values() for line in lines):
        system, user, answer = (message["content"] for message in line["messages"])
        thought, action = re.fullmatch(r"<THINK>(.+)</THINK><ACTION>(.+)</ACTION>", answer).groups()  # type: ignore[union-attr]
        assert "<THINK>" in user.rpartition("\n\n")[2] or "<THINK>" in system
        known = _known(user)
        for block, place in re.findall(rf"(?i)(block\d) (?:belongs|goes) into the ({BINS}) bin", thought):
            assert known[block.lower()] == place.replace("-", "_") + "_bin", (user, thought)
        moved = re.fullmatch(r"move (block\d) from \w+ to \w+", action)
        guessed = bool(re.search(r"guess|did not take it|It was not", thought))
        if moved:
            assert guessed == (moved[1] not in known), (user, answer)
        kinds.add((action.partition(" ")[0], guessed))
        assert len(re.findall(r"[.:] ", thought)) <= 3
    assert kinds >= {("move", False), ("move", True), ("ask", False), ("share", False), ("pass", False)}


def _known(user: str) -> dict[str, str]:
    """Blocks whose place follows from what the prompt says, worked out here by hand: block -> bin."""
    shown = read_user_prompt(user)
    known = {block: name for name, blocks in shown.bins.items() for block in blocks if "left" in name or "right" in name}
    items = [item.strip("()").split(", ") for item in shown.items]
    known |= {item[0]: item[2] for item in items if item[1] == "in"}
    other = {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}
    for _ in items:
        for one, two, _same, kind in (item for item in items if len(item) == 4):
            for given, wanted in ((one, two), (two, one)):
                if given in known and wanted not in known:
                    row, column, _bin = known[given].split("_")
                    row = other[row] if kind in ("column", "diagonal") else row
                    column = other[column] if kind in ("row", "diagonal") else column
                    known[wanted] = f"{row}_{column}_bin"
    return known


def test_contradicting_options(tmp_path: Path) -> None:
    """One line each."""
    for words, told in (
        (("--player", "all=script:misreader"), "played by planners on both sides"),
        (("--player", "all=script:sensible"), "played by planners on both sides"),
        (("--mode", "provide+none"), "one action space"),
        (("--verifier", "affordance"), "one action space"),
    ):
        done = cotrace("play", "einstein", "--trajectories", "5", *words, "--out", str(tmp_path))
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert told in done.stderr
