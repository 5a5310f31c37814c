"""Steps of AsymPuzl."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Final

from benchmarks.engines import EngineWork
from benchmarks.workload import scratch
from games.asympuzl.game import Game
from games.asympuzl.play import PlayRequest, play

__all__ = ["work"]

_GAMES: Final = 120
_SIZE: Final = 5
_PERSONAS: Final = ("sharing", "piecewise", "overcorrecting", "silent")


def work() -> EngineWork:
    """Games of the scripts."""
    report = play(PlayRequest(out=scratch() / "asympuzl", personas=_PERSONAS, seeds=tuple(range(_GAMES // len(_PERSONAS)))))
    texts = [path.read_text(encoding="utf-8") for path in report.paths]
    games = [game for text in texts for game in _answers(text)]
    return EngineWork("AsymPuzl", sum(len(answers) for _, answers in games), partial(_play, games), texts)


def _answers(text: str) -> list[tuple[int, list[str]]]:
    """Seed and answers of each game of a run's file."""
    games: list[tuple[int, list[str]]] = []
    for line in map(json.loads, text.splitlines()):
        if line["type"] == "game":
            games.append((line["seed"], []))
        elif line["type"] == "turn":
            games[-1][1].append(line["raw_output"])
    return games


def _play(games: Sequence[tuple[int, list[str]]]) -> None:
    for seed, answers in games:
        game = Game.drawn(size=_SIZE, seed=seed)
        for answer in answers:
            if game.next_agent is not None:
                game.act(game.next_agent, answer)
