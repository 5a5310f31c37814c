"""Avalon behind the face of the conformance checks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from games.avalon.game import Game
from games.avalon.setup import game_of
from games.experiments.plan import play
from ingest.cotrace_log.lines import read_lines
from tests.games.conformance import LoggedStep, ReadBack, Ruling, Subject


def _answer(environment: Any, rng: random.Random) -> str:
    """A line of some form, of the right one for the most part, with names of the table or of no one."""
    team = rng.sample([*environment.agents, "Zoe"], environment.table.size or 2)
    lines = {
        "propose": f"TEAM: {', '.join(team)}",
        "vote": f"VOTE: {rng.choice(('approve', 'approve', 'reject', 'maybe'))}",
        "quest": f"CARD: {rng.choice(('fail', 'success', 'neither'))}",
        "guess": f"GUESS: {rng.choice(team)}",
    }
    return f"{rng.random()}\n{rng.choice((lines.get(environment.purpose, 'hm'), lines.get(environment.purpose, 'hm'), 'VOTE: approve'))}"


def _log(folder: Path, seed: int) -> Path:
    found = play("avalon", folder, players=["all=script:careful"], games=1, seeds=[seed], size=5 + seed % 6)
    return found.paths[0]


def _read(lines: Sequence[bytes]) -> ReadBack:
    """A quest of good players alone asks no one, so it goes with the vote on its team: neither is there without the other."""
    header = read_lines(lines[0] + b"\n").header
    steps: list[LoggedStep] = []
    for line in map(orjson.loads, lines[1:]):
        if "turn" in line:
            answers = [reply["text"] for reply in line["replies"]]
            steps = [*(steps if answers else steps[:-1]), LoggedStep(answers or steps[-1].answers, line["state_after"])]
    if steps and steps[-1].state["stage"] == "quest" and steps[-1].state["on_table"]["team_evil"] == 0:
        steps.pop()
    return ReadBack(game_of(header), steps)


def _state(environment: Any) -> Any:
    return orjson.loads(orjson.dumps(environment.table.state()))


AVALON = Subject(
    name="avalon",
    begin=lambda seed: Game.drawn(size=5 + seed % 6, seed=seed),
    answer=_answer,
    verdicts=lambda made: [Ruling(made.accepted, made.fault)],
    write_log=_log,
    read_log=_read,
    logged_state=_state,
)
