"""AsymPuzl logs in the specified record: hand-made games as lines that tests can damage, and games of scripts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from games.asympuzl.game import Game, GameSettings
from games.asympuzl.players import PersonaPlayer
from games.asympuzl.puzzle import AGENTS, generate
from games.asympuzl.record import RunFacts, game_id, game_line, line, result_line, turn_line
from games.players.running import RunReport

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


@dataclass(frozen=True, kw_only=True)
class PlayRequest:
    """Every persona with every partner, on every size, mode and seed, one file a pair."""

    out: Path
    personas: Sequence[str] = ("sharing",)
    partners: Sequence[str] | None = None
    sizes: Sequence[int] = (5,)
    modes: Sequence[Any] = ("both",)
    seeds: Sequence[int] = tuple(range(30))
    history_length: int = 1
    max_turns: int | None = None
    tokenizer: str = "regex-v1"


def play(asked: PlayRequest) -> RunReport:
    """Write the record of such games."""
    report = RunReport()
    for first in asked.personas:
        for second in (first,) if asked.partners is None else asked.partners:
            run = RunFacts(run_id=f"{first}_{second}", model_a=first, model_b=second, tokenizer=asked.tokenizer, scripted=True)
            lines = [
                one for size in asked.sizes for mode in asked.modes for seed in asked.seeds for one in _game(run, asked, size, mode, seed)
            ]
            report.paths = [*report.paths, asked.out / f"{run.run_id}.jsonl"]
            report.paths[-1].parent.mkdir(parents=True, exist_ok=True)
            report.paths[-1].write_bytes(b"".join(map(line, lines)))
            report.turns += sum(one.get("turns", 0) for one in lines)
            report.played += sum(one["type"] == "result" for one in lines)
    return report


def _game(run: RunFacts, asked: PlayRequest, size: int, mode: Any, seed: int) -> list[Line]:
    settings = GameSettings(mode=mode, history_length=asked.history_length, max_turns=asked.max_turns)
    game = Game.drawn(size=size, seed=seed, settings=settings)
    name = game_id(run, game, seed)
    players = {a: PersonaPlayer(m, a, game.puzzle.clues(a), seed=seed) for a, m in zip(AGENTS, (run.model_a, run.model_b), strict=True)}
    lines = [game_line(run, game, seed)]
    while (agent := game.next_agent) is not None:
        seen = game.observe(agent)
        lines.append(turn_line(run, name, seen, game.act(agent, players[agent].answer(seen))))
    return [*lines, result_line(name, game.answers, size)]
