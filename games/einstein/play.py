"""Plays whole experiments of scripted Einstein games and writes them as cotrace's own logs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import NamedTuple

from games.einstein.engine.generator import generate
from games.einstein.engine.modes import optimum_mode
from games.einstein.engine.puzzle import OBJECT_COUNTS, Puzzle, parse_game_id
from games.einstein.game import Game, GameSettings
from games.einstein.match import Pair
from games.einstein.match_log import condition_name, header_of, write_match
from games.einstein.measures.trajectories import trajectories
from games.einstein.players.personas import PERSONAS, PLANNER
from games.players.onset import onset_of
from games.playing import DEFAULT_START, OnProgress, PlayReport, another_game, check_seeds, report_of
from schemas.errors import UsageError
from schemas.game import Header, state_of_file

__all__ = ["PlayRequest", "play", "puzzles_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayRequest:
    """What to play: every persona with every partner, in every condition, on every puzzle."""

    out: Path
    """Folder for ``<condition>/<persona>_<partner>/<game id>_<seed>.jsonl``."""

    personas: tuple[str, ...] = ("sensible",)
    """Who plays Player1: names of ``PERSONAS``."""

    partners: tuple[str, ...] = ("sensible",)
    """Who plays Player2."""

    games: int = 12
    """How many puzzles to generate from the seed; unused if ``game_ids`` are given."""

    num_objects: tuple[int, ...] = OBJECT_COUNTS
    game_ids: tuple[str, ...] = ()
    seed: int = 3
    conditions: tuple[GameSettings, ...] = field(default_factory=lambda: (GameSettings(),))
    trajectories: int = 0
    """Play so many solutions of each puzzle with planners on both sides, in place of personas and partners; 0: do not."""
    started_at: datetime = DEFAULT_START


class _Job(NamedTuple):
    path: Path
    header: Header
    puzzle: Puzzle
    settings: GameSettings
    pair: Pair
    solution: int | None = None
    """Which of the puzzle's solutions is played, from 1, and of how many."""
    of: int = 0


def play(request: PlayRequest, on_progress: OnProgress | None = None) -> PlayReport:
    """Play what is not there yet; a log that was cut is played again from the start.

    Args:
        request: what to play.
        on_progress: called with the games finished and the games in all.

    Raises:
        UsageError: a persona or a size does not exist, a number is below 1, or a log of that name holds another game.
        BadInputError: a game id cannot be read.
        OSError: a file cannot be read or written.
    """
    jobs = list(_jobs(request))
    return report_of([job.path for job in jobs], len(jobs), map(_play_job, jobs), on_progress)


def _jobs(request: PlayRequest) -> Iterator[_Job]:
    _check_request(request)
    puzzles = puzzles_of(request)
    if request.trajectories:
        yield from _solution_jobs(request, puzzles)
        return
    pairs = [Pair(first, second) for first in request.personas for second in request.partners]
    for settings in request.conditions:
        for pair in pairs:
            folder = request.out / condition_name(settings) / pair.name
            for puzzle in puzzles:
                header = header_of(puzzle, settings, pair, seed=request.seed, started_at=request.started_at)
                yield _Job(folder / f"{puzzle.game_id}_{request.seed}.jsonl", header, puzzle, settings, pair)


def _solution_jobs(request: PlayRequest, puzzles: Sequence[Puzzle]) -> Iterator[_Job]:
    pair = Pair(PLANNER, PLANNER)
    for settings, puzzle in product(request.conditions, puzzles):
        usual = header_of(puzzle, settings, pair, seed=request.seed, started_at=request.started_at)
        for number in range(1, request.trajectories + 1):
            header = replace(usual, episode=f"{usual.episode}/{number}", details={**usual.details, "solution": number})
            path = request.out / condition_name(settings) / pair.name / f"{puzzle.game_id}_{request.seed}_{number}.jsonl"
            yield _Job(path, header, puzzle, settings, pair, number, request.trajectories)


def _check_request(request: PlayRequest) -> None:
    check_seeds((request.seed,))
    if request.games < 1:
        raise UsageError(f"games must be at least 1, got {request.games}")
    if request.trajectories and any(settings.modes[0] != settings.modes[1] or settings.verifier for settings in request.conditions):
        raise UsageError("trajectories are those of one action space without a verifier: leave mixed modes and verifiers out")
    for name in (*request.personas, *request.partners):
        onset_of(name, PERSONAS, "einstein persona")


def puzzles_of(request: PlayRequest) -> Sequence[Puzzle]:
    """Give the puzzles of a request, read from their ids or generated.

    Raises:
        UsageError: there are none of that size.
        BadInputError: an id cannot be read.
    """
    if request.game_ids:
        return [parse_game_id(game_id) for game_id in request.game_ids]
    return list(generate(count=request.games, seed=request.seed, num_objects=request.num_objects))


def _play_job(job: _Job) -> int | None:
    """Play a game; give its steps, or None if its log is there."""
    state = state_of_file(job.path, job.header)
    if state == "complete":
        return None
    if state == "other":
        raise another_game(job.path)
    if job.solution is None:
        return write_match(job.path, job.header, Game(job.puzzle, job.settings), job.pair)
    known = trajectories(job.puzzle, optimum_mode(job.settings.modes), job.of)
    if job.solution > len(known):
        return None  # the puzzle has no more that differ
    chosen = known[job.solution - 1]
    return write_match(job.path, job.header, Game(job.puzzle, job.settings), job.pair, chosen.actions)
