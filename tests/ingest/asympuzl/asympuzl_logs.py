"""Small AsymPuzl logs for tests: hand-made games in the specified record, as lines that tests can damage."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from games.asympuzl.game import Game, GameSettings
from games.asympuzl.puzzle import AGENTS, generate
from games.asympuzl.record import RunFacts, game_id, game_line, result_line, turn_line

__all__ = ["PUZZLE", "Line", "answer", "log_of", "replace", "write"]

Line = dict[str, Any]

PUZZLE = generate(size=3, seed=0)
"""Truth: crescent brown, cross maroon, triangle navy. B's clues: crescent brown, triangle navy, cross maroon."""


def replace(place: object, shape: str, color: str) -> Line:
    """An action."""
    return {"replace": place, "by": {"shape": shape, "color": color}}


def answer(message: str = "", *actions: Line) -> str:
    """An answer without thoughts."""
    return json.dumps({"message": message, "actions": list(actions)})


def log_of(answers: Sequence[str], *, run_id: str = "hand", settings: GameSettings | None = None, model: str = "m") -> list[Line]:
    """The lines of one game with these answers, A first; the result line only if the game comes to its end."""
    game = Game(PUZZLE, settings or GameSettings())
    run = RunFacts(run_id=run_id, model_a=model, model_b=model)
    name = game_id(run, game, 0)
    lines = [game_line(run, game, 0)]
    for number, text in enumerate(answers):
        agent = AGENTS[number % 2]
        seen = game.observe(agent)
        lines.append(turn_line(run, name, seen, game.act(agent, text)))
    return [*lines, result_line(name, game.answers, PUZZLE.size)] if game.done else lines


def write(path: Path, lines: Iterable[Line | bytes]) -> Path:
    """Write lines as a log, folders included; bytes go in as they are, without a line break."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines))
    return path
