"""Plays whole experiments of scripted CRAFT games and writes them as cotrace's own logs."""

from collections.abc import Iterator
from concurrent.futures import as_completed
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from games.craft.game import GameSettings
from games.craft.match_log import header_of, write_match
from games.craft.players.match import Team, team
from games.craft.targets.generator import StructureRules, generate_structures
from games.craft.targets.start_boards import StartBoard
from games.craft.targets.structures import Structure, load_structures
from games.playing import DEFAULT_START, OnProgress, PlayReport, another_game, check_seeds, report_of
from schemas.cluster import cores, is_used
from schemas.errors import UsageError
from schemas.game import state_of_file
from schemas.processes import worker_pool

__all__ = ["PlayRequest", "play", "structures_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayRequest:
    """What to play: every persona with every builder on every structure."""

    out: Path
    """Folder for ``<persona>_<builder>/<structure>_<seed>.jsonl``."""

    personas: tuple[str, ...] = ("clear",)
    """Names of ``PERSONAS``; three joined by ``+`` make a team of D1, D2 and D3."""

    builders: tuple[str, ...] = ("oracle_follower",)
    structures: int = 20
    """How many targets to generate from the seed, or to take from the file."""

    structures_file: Path | None = None
    """A published structure file to take the targets from."""

    rules: StructureRules = field(default_factory=StructureRules)
    """What targets to generate: tier, completable or not."""

    seed: int = 3
    """Fixes targets, speakers and texts; it is the ``run`` of the logs."""

    turns: int = 20
    """Most turns of a game."""

    oracle: bool = True
    """Whether builders are shown candidates."""

    start: StartBoard = "empty"
    started_at: datetime = DEFAULT_START
    processes: int | None = None
    """Worker processes; None: one a core."""


@dataclass(frozen=True, slots=True)
class _Job:
    path: Path
    structure: Structure
    settings: GameSettings
    team: Team
    seed: int
    started_at: datetime


def play(request: PlayRequest, on_progress: OnProgress | None = None) -> PlayReport:
    """Play what is not there yet; a log that was cut is played again from the start.

    Args:
        request: what to play.
        on_progress: called with the games finished and the games in all.

    Raises:
        UsageError: a name is unknown, a number is out of range, the structures file cannot be read, or a log of that name holds another
            game.
        BadInputError: the structures file is none.
        OSError: a file cannot be read or written.
    """
    jobs = list(_jobs(request))
    return report_of([job.path for job in jobs], len(jobs), _results(jobs, request.processes), on_progress)


def _jobs(request: PlayRequest) -> Iterator[_Job]:
    check_seeds((request.seed,))
    for name, value in (("structures", request.structures), ("turns", request.turns)):
        if value < 1:
            raise UsageError(f"{name} must be at least 1, got {value}")
    # Scripted directors react to each other: without hearing the turn there would be no echo and no acknowledged conflict.
    settings = GameSettings(start=request.start, oracle=request.oracle, max_turns=request.turns, same_turn_messages=True)
    structures = structures_of(request)
    for persona in request.personas:
        for builder in request.builders:
            players = team(persona, builder)
            folder = request.out / f"{players.persona}_{builder}"
            for structure in structures:
                path = folder / f"{structure.structure_id}_{request.seed}.jsonl"
                yield _Job(path, structure, settings, players, request.seed, request.started_at)


def structures_of(request: PlayRequest) -> tuple[Structure, ...]:
    """Give the targets of a request, read or generated.

    Raises:
        UsageError: the structures file cannot be read, or a number is out of range.
        BadInputError: it is none.
    """
    if request.structures_file is None:
        return tuple(generate_structures(request.structures, request.seed, request.rules))
    try:
        return load_structures(request.structures_file)[: request.structures]
    except OSError as error:
        raise UsageError(
            f"no structures in {request.structures_file} ({error.strerror}): give how many to generate, or a published structures file"
        ) from error


def _results(jobs: list[_Job], processes: int | None) -> Iterator[int | None]:
    workers = min(processes or cores(), len(jobs))
    if not is_used() and (workers <= 1 or len(jobs) < _WORTH_PROCESSES):
        yield from map(_play_job, jobs)
        return
    chunks = [jobs[start : start + _CHUNK] for start in range(0, len(jobs), _CHUNK)]
    with worker_pool(max(1, workers)) as pool:
        for finished in as_completed([pool.submit(_play_jobs, chunk) for chunk in chunks]):
            yield from finished.result()


_WORTH_PROCESSES: Final = 64
"""Fewer games are played sooner than workers start."""

_CHUNK: Final = 16


def _play_jobs(jobs: list[_Job]) -> list[int | None]:
    return [_play_job(job) for job in jobs]


def _play_job(job: _Job) -> int | None:
    """Play a game; give its turns, or None if its log is there."""
    header = header_of(job.structure, job.settings, job.team, seed=job.seed, started_at=job.started_at)
    state = state_of_file(job.path, header)
    if state == "complete":
        return None
    if state == "other":
        raise another_game(job.path)
    return write_match(job.path, job.structure, job.settings, job.team, header)
