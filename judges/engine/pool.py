"""Spreads the engine's work over processes, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from judges.engine.verdicts import EngineAnswers, GameVerdicts
from judges.evidence.reader import Reader
from judges.evidence.transcript import load
from judges.rubric.model import Rubric
from schemas.cluster import cores, is_used
from schemas.errors import CotraceError
from schemas.processes import worker_pool
from schemas.records import JudgeRun
from schemas.store import Store

__all__ = ["EngineJob", "GamesOfJobs", "answered", "in_portions"]

T = TypeVar("T")
R = TypeVar("R")

_GAMES_A_PORTION: Final = (8, 64)
"""At least and at most: reading a portion costs a look at the whole store, so many games are shared out in large portions."""
_PORTIONS_EACH: Final = 8
"""Portions of a process, where neither bound holds: enough that none waits long for the other at the end."""
_POOL_FROM_GAMES: Final = 40
"""Below this many games a pool takes longer to start than it saves."""
_MOST_PROCESSES: Final = 8
"""More readers would keep the store from its one writer."""
_AHEAD: Final = 2


class EngineJob(NamedTuple):
    """A rubric that the engine answers, and the run that it is answered in."""

    rubric: Rubric
    run: JudgeRun


GamesOfJobs = Mapping[str, Mapping[int, frozenset[int] | None]]
"""Episode id -> which of the jobs, from 0, ask about it, and on which turns; None: on all."""


def answered(store: Store, jobs: Sequence[EngineJob], games: GamesOfJobs, reader: Reader) -> Iterator[Mapping[int, GameVerdicts]]:
    """The engine's verdicts game by game, by job; in several processes where that is quicker.

    A game is read once for all jobs: what its texts say takes longest, and no job needs it otherwise than the others.
    """
    work = partial(_answer, store, jobs, reader)
    processes = cores() if is_used() else min(cores(), _MOST_PROCESSES)
    if not is_used() and (processes == 1 or len(games) < _POOL_FROM_GAMES):
        return (found for portion in _portions(games, _GAMES_A_PORTION[1]) for found in work(portion))
    return in_portions(work, games, processes)


def in_portions(work: Callable[[dict[str, T]], list[R]], games: Mapping[str, T], processes: int) -> Iterator[R]:
    """What comes of some work on games, in their order; done in processes of this machine, or of the cluster in use.

    Args:
        work: takes a portion of the games.
        games: id -> what has to be known of it.
        processes: how many.

    Raises:
        CotraceError: a process was killed.
    """
    waiting: deque[Future[list[R]]] = deque()
    least, most = _GAMES_A_PORTION
    size = min(most, max(least, len(games) // (processes * _PORTIONS_EACH)))
    try:
        with worker_pool(processes) as pool:
            for portion in _portions(games, size):
                waiting.append(pool.submit(work, portion))
                if len(waiting) >= processes * _AHEAD:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
    except BrokenProcessPool as error:
        raise CotraceError("a process that judged games was killed, perhaps for lack of memory: start the same command again") from error


def _portions(games: Mapping[str, T], size: int) -> Iterator[dict[str, T]]:
    items = iter(games.items())
    while portion := dict(islice(items, size)):
        yield portion


def _answer(store: Store, jobs: Sequence[EngineJob], reader: Reader, portion: GamesOfJobs) -> list[dict[int, GameVerdicts]]:
    answers = [EngineAnswers(job.rubric, job.run) for job in jobs]
    return [
        {job: answers[job].of_game(game, turns) for job, turns in portion[game.episode_id].items()}
        for game in load(store, list(portion), reader)
    ]
