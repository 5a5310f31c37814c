"""Engines: steps per second of Einstein Puzzles and AsymPuzl, and how Einstein's planner grows with the number of objects.

A step is an answer as text: parsed, carried out, labelled. Its base is `json.loads` of the same games' logs. The planner's base is its own
time for four objects, over puzzles drawn from the same seed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from benchmarks.figures import Figure, seconds
from benchmarks.timing import medians
from benchmarks.workload import scratch
from games.asympuzl.game import Game as AsymPuzl
from games.asympuzl.play import PlayRequest as AsymPuzlRequest
from games.asympuzl.play import play as play_asympuzl
from games.einstein.engine.generator import generate
from games.einstein.engine.modes import ACTION_MODES
from games.einstein.engine.puzzle import OBJECT_COUNTS, Puzzle, parse_game_id
from games.einstein.game import Game as Einstein
from games.einstein.measures.planner import plan
from games.einstein.play import PlayRequest as EinsteinRequest
from games.einstein.play import play as play_einstein

__all__ = ["run"]

_GAMES: Final = 120
_PUZZLES: Final = 12
_ROUNDS: Final = 5
_SIZE: Final = 5
_PERSONAS: Final = ("sharing", "piecewise", "overcorrecting", "silent")


def run() -> list[Figure]:
    """Measure."""
    return [_einstein_steps(), _asympuzl_steps(), *_planner()]


def _einstein_steps() -> Figure:
    report = play_einstein(EinsteinRequest(out=scratch() / "einstein", games=_GAMES))
    texts = [path.read_text(encoding="utf-8") for path in report.paths]
    games = [_einstein_game(text) for text in texts]
    return _steps("Einstein", sum(len(answers) for _, answers in games), partial(_play_einstein, games), texts)


def _einstein_game(text: str) -> tuple[Puzzle, list[str]]:
    header, *lines = map(json.loads, text.splitlines())
    return parse_game_id(header["task"]["id"]), [line["actions"][0]["raw"] for line in lines if "turn" in line]


def _play_einstein(games: Sequence[tuple[Puzzle, list[str]]]) -> None:
    for puzzle, answers in games:
        game = Einstein(puzzle)
        for answer in answers:
            if game.next_agent is not None:
                game.act(game.next_agent, answer)


def _asympuzl_steps() -> Figure:
    report = play_asympuzl(AsymPuzlRequest(out=scratch() / "asympuzl", personas=_PERSONAS, seeds=tuple(range(_GAMES // len(_PERSONAS)))))
    texts = [path.read_text(encoding="utf-8") for path in report.paths]
    games = [game for text in texts for game in _asympuzl_games(text)]
    return _steps("AsymPuzl", sum(len(answers) for _, answers in games), partial(_play_asympuzl, games), texts)


def _asympuzl_games(text: str) -> list[tuple[int, list[str]]]:
    """Seed and answers of each game of a run's file."""
    games: list[tuple[int, list[str]]] = []
    for line in map(json.loads, text.splitlines()):
        if line["type"] == "game":
            games.append((line["seed"], []))
        elif line["type"] == "turn":
            games[-1][1].append(line["raw_output"])
    return games


def _play_asympuzl(games: Sequence[tuple[int, list[str]]]) -> None:
    for seed, answers in games:
        game = AsymPuzl.drawn(size=_SIZE, seed=seed)
        for answer in answers:
            if game.next_agent is not None:
                game.act(game.next_agent, answer)


def _steps(name: str, steps: int, action: Callable[[], None], texts: Sequence[str]) -> Figure:
    taken = medians(_ROUNDS, {"base": partial(_load, texts), "ours": action})
    ours, base = taken["ours"].wall_s, taken["base"].wall_s
    return Figure(
        f"{name}: {steps / ours:,.0f} steps/s, {steps:,} steps",
        seconds(ours),
        f"{seconds(base)}: json.loads of their logs, {sum(map(len, texts)) / 1e6:.1f} MB",
        ours / base,
    )


def _load(texts: Sequence[str]) -> None:
    for text in texts:
        for line in text.splitlines():
            json.loads(line)


def _planner() -> list[Figure]:
    puzzles = {size: list(generate(count=_PUZZLES, seed=1, num_objects=(size,))) for size in OBJECT_COUNTS}
    taken = medians(_ROUNDS, {str(size): partial(_plan, found) for size, found in puzzles.items()})
    games = _PUZZLES * len(ACTION_MODES)
    smallest = taken[str(OBJECT_COUNTS[0])].wall_s / games
    return [
        Figure(
            f"Einstein planner, {size} objects, a game",
            seconds(taken[str(size)].wall_s / games),
            f"{seconds(smallest)}: {OBJECT_COUNTS[0]} objects",
            taken[str(size)].wall_s / games / smallest,
        )
        for size in OBJECT_COUNTS
    ]


def _plan(puzzles: Sequence[Puzzle]) -> None:
    for puzzle in puzzles:
        for mode in ACTION_MODES:
            plan(puzzle, mode)
