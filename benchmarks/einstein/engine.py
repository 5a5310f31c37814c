"""Steps of Einstein Puzzles, and how its planner grows with the number of objects."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Final

from benchmarks.engines import EngineWork
from benchmarks.figures import Figure, seconds
from benchmarks.timing import medians
from benchmarks.workload import scratch
from games.einstein.engine.puzzle import ACTION_MODES, OBJECT_COUNTS, Puzzle, generate, parse_game_id
from games.einstein.game import Game
from games.einstein.measures import plan
from games.experiments.plan import play

__all__ = ["more", "work"]

_GAMES: Final = 120
_PUZZLES: Final = 12
_ROUNDS: Final = 5


def work() -> EngineWork:
    """Games of the scripts."""
    report = play("einstein", scratch() / "einstein", games=_GAMES)
    texts = [path.read_text(encoding="utf-8") for path in report.paths]
    games = [_answers(text) for text in texts]
    return EngineWork("Einstein", sum(len(answers) for _, answers in games), partial(_play, games), texts)


def more() -> list[Figure]:
    """The planner; its base is its own time for the fewest objects, over puzzles drawn from the same seed."""
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


def _answers(text: str) -> tuple[Puzzle, list[str]]:
    header, *lines = map(json.loads, text.splitlines())
    return parse_game_id(header["task"]["id"]), [line["actions"][0]["raw"] for line in lines if "turn" in line]


def _play(games: Sequence[tuple[Puzzle, list[str]]]) -> None:
    for puzzle, answers in games:
        game = Game(puzzle)
        for answer in answers:
            if game.next_agent is not None:
                game.act(game.next_agent, answer)


def _plan(puzzles: Sequence[Puzzle]) -> None:
    for puzzle in puzzles:
        for mode in ACTION_MODES:
            plan(puzzle, mode)
