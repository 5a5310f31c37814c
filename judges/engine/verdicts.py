"""What the engine has to say about games: the checks that a rubric names, as verdict rows, spread over processes in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from judges.engine.checks import Check, Decision, find
from judges.evidence.prompt import Prompt, PromptMaker
from judges.evidence.transcript import Reader, Transcript, load
from judges.evidence.units import Unit, units
from judges.rubric import Question, Rubric, joined
from schemas.common.cluster import cores, is_used
from schemas.common.errors import CotraceError, UsageError
from schemas.common.processes import worker_pool
from schemas.common.text import excerpt
from schemas.records import JudgeRun, Verdict
from schemas.store.store import Store


class GameVerdicts(NamedTuple):
    """The engine's verdicts on one game."""

    units: int
    verdicts: list[Verdict]


class EngineAnswers:
    """The checks of one rubric.

    Raises:
        UsageError: no question names a check, or one that does not exist.
    """

    def __init__(self, rubric: Rubric, run: JudgeRun, checks: Mapping[str, Check] | None = None) -> None:
        self._rubric, self._run = rubric, run
        self._asked = _asked(rubric, checks)
        self._maker = PromptMaker(rubric)

    def of_game(self, game: Transcript, turns: frozenset[int] | None) -> GameVerdicts:
        """Answer all questions about the game's units on those turns (None: all)."""
        return self.of_units(units(self._rubric, game, turns))

    def of_units(self, asked: Iterable[Unit]) -> GameVerdicts:
        """Answer all questions about those units."""
        found, verdicts = 0, []
        for unit in asked:
            found += 1
            for prompt in self._maker.prompts(unit):
                questions = self._maker.groups[prompt.group].questions
                verdicts += [self._verdict(unit, prompt, question) for question in questions if question.id in self._asked]
        return GameVerdicts(found, verdicts)

    def _verdict(self, unit: Unit, prompt: Prompt, question: Question) -> Verdict:
        if prompt.applies:
            status, decision = _decide(self._asked[question.id], unit, self._rubric)
        else:
            status, decision = "skipped", Decision(None, f"nothing to judge: {self._rubric.about} is empty")
        return Verdict(
            judge_run_id=self._run.judge_run_id,
            rubric=self._run.rubric,
            rubric_hash=self._run.rubric_hash,
            variant=self._run.variant,
            question=question.id,
            unit_id=unit.unit_id,
            unit_hash=prompt.unit_hash,
            episode_id=unit.episode_id,
            turn=unit.turn,
            agent=unit.agent,
            judge=self._run.judge,
            repeat=1,
            answer=decision.answer,
            score=self._rubric.score(decision.answer),
            reason=decision.reason,
            status=status,
            flagged=prompt.flagged(),
        )


def _asked(rubric: Rubric, checks: Mapping[str, Check] | None) -> dict[str, Check]:
    named = {question.id: question.engine for question in rubric.questions.values() if question.engine is not None}
    if not named:
        raise UsageError(f"no question of rubric {rubric.name} names an engine check (key `engine`): ask a model with --model")
    return {question: find(name) if checks is None else checks[name] for question, name in named.items()}


def _decide(check: Check, unit: Unit, rubric: Rubric) -> tuple[str, Decision]:
    """The place where a check that breaks becomes a row: one odd unit must not cost all others their verdicts."""
    try:
        decision = check(unit.context.game, unit.turn or 0, unit.agent)
    except Exception as error:  # noqa: BLE001 - see above
        return "failed", Decision(None, f"the check broke off: {type(error).__name__}: {excerpt(str(error))}")
    if decision.answer is None:
        return "undecided", decision
    if not rubric.allows(decision.answer):
        return "failed", Decision(None, f"the check answered {decision.answer!r}, which the rubric does not have")
    if rubric.choice == "several":
        decision = Decision(joined(decision.answer.split("|"), tuple(rubric.answers)), decision.reason)
    return "answered", decision


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
