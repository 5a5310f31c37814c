"""Steps of AsymPuzl."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Final

from benchmarks.engines import EngineWork
from benchmarks.workload import scratch
from games.asympuzl.game import Game
from games.experiments.plan import play

__all__ = ["work"]

_GAMES: Final = 120
_SIZE: Final = 5
_PERSONAS: Final = ("sharing", "piecewise", "overcorrecting", "silent")


def work() -> EngineWork:
    """Games of the scripts."""
    players = [f"all=script:{persona}" for persona in _PERSONAS]
    report = play("asympuzl", scratch() / "asympuzl", players=players, games=_GAMES // len(_PERSONAS))
    texts = [path.read_text(encoding="utf-8") for path in report.paths]
    games = [_answers(text) for text in texts]
    return EngineWork("AsymPuzl", sum(len(answers) for _, answers in games), partial(_play, games), texts)


def _answers(text: str) -> tuple[int, list[str]]:
    """Seed and answers of a game."""
    header, *turns, _ = map(json.loads, text.splitlines())
    return header["seed"], [reply["text"] for turn in turns for reply in turn["replies"]]


def _play(games: Sequence[tuple[int, list[str]]]) -> None:
    for seed, answers in games:
        game = Game.drawn(size=_SIZE, seed=seed)
        for answer in answers:
            if game.next_agent is not None:
                game.act(game.next_agent, answer)
