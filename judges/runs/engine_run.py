"""The engine judge: runs the deterministic checks that a rubric names and writes the same verdict rows as a model would.

What a check cannot prove is `undecided`. Checks are cheap and get better, so a run answers its whole selection anew and replaces earlier
engine verdicts about the same units under the same rubric name. Many games are spread over processes.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import groupby, islice
from typing import Final, NamedTuple, TypeVar

from judges.checks import Check, Decision, find
from judges.evidence.prompt import Prompt, PromptMaker
from judges.evidence.selection import selected_units
from judges.evidence.transcript import Reader, Transcript, load
from judges.evidence.units import Selection, Unit, select, units
from judges.rubric import PROBE, Question, Rubric, joined
from judges.runs.job import JudgeReport, JudgeRequest, OnProgress, RunProgress, RunStatus, new_run
from judges.runs.outcomes import Progressed, save
from providers.asker import now
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
        return "failed", Decision(None, f"the check crashed: {type(error).__name__}: {excerpt(str(error))}")
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


def run_engine(
    request: JudgeRequest, store: Store, on_progress: OnProgress | None = None, *, checks: Mapping[str, Check] | None = None
) -> JudgeReport:
    """Answer every question that names a check, for every selected unit; questions without one get no row.

    Large selections are spread over processes.

    Args:
        request: its `settings` are None; `repeats` and limits do not matter.
        store: where the games are and the verdicts go.
        on_progress: reported after every game how many of the selection are through.
        checks: name -> check; None: all that cotrace has.

    Raises:
        CotraceError: a worker process was killed.
        KeyboardInterrupt: Ctrl-C; the games that were through are stored.
        StoreError: the store cannot be read or written.
        UsageError: no question names a check, or one that does not exist; or the selection is not SQL.
    """
    (report,) = run_engine_together([request], store, on_progress, checks=checks)
    return report


def can_share_games(request: JudgeRequest) -> bool:
    """Whether a game can be read for this job and others at once: an engine's whose units come out of one game as it is."""
    return request.settings is None and request.rubric.unit not in {"pair", "row"} and not (request.rubric.variant or "").startswith(PROBE)


def run_engine_together(
    requests: Sequence[JudgeRequest], store: Store, on_progress: OnProgress | None = None, *, checks: Mapping[str, Check] | None = None
) -> list[JudgeReport]:
    """Several jobs of the engine, all with the same reader, for which `can_share_games`: each game is read once for all of them.

    Raises:
        CotraceError, KeyboardInterrupt, StoreError, UsageError: as `run_engine`; nothing is judged if one of the jobs cannot be.
    """
    began = time.monotonic()
    jobs = [EngineJob(request.rubric, new_run(request, price=None)) for request in requests]
    answers = [EngineAnswers(job.rubric, job.run, checks) for job in jobs]
    selections = [select(store, request.rubric, request.where) for request in requests]
    games = _shared(selections)
    if checks is None and can_share_games(requests[0]):
        found = answered(store, jobs, games, requests[0].reader)
    else:
        found = _unit_by_unit(store, requests[0], answers[0], selections[0])
    sinks = [_Sink(store, job.run) for job in jobs]
    try:
        for done, game in enumerate(found, start=1):
            for place, verdicts in game.items():
                sinks[place].add(verdicts)
            if on_progress is not None:
                failed = sum(sink.counts["failed"] for sink in sinks)
                on_progress(RunProgress(done=done, total=len(games), failed=failed, cost=None))
    except KeyboardInterrupt:
        for sink in sinks:
            sink.finish("interrupted")
        raise
    for sink in sinks:
        sink.finish("finished")
    return [sink.report(time.monotonic() - began) for sink in sinks]


def _shared(selections: Sequence[Selection]) -> GamesOfJobs:
    games: dict[str, dict[int, frozenset[int] | None]] = {}
    for place, selection in enumerate(selections):
        for episode, turns in selection.items():
            games.setdefault(episode, {})[place] = turns
    return dict(sorted(games.items()))


def _unit_by_unit(
    store: Store, request: JudgeRequest, answers: EngineAnswers, selection: Selection
) -> Iterator[Mapping[int, GameVerdicts]]:
    by_game = groupby(selected_units(store, request.rubric, selection, request.reader), key=lambda unit: unit.episode_id)
    return ({0: answers.of_units(found)} for _, found in by_game)


class _Sink:
    """Verdicts on their way into the store."""

    def __init__(self, store: Store, run: JudgeRun) -> None:
        self._store = store
        self._unsaved: list[Verdict] = []
        self.run = run
        self.counts: Counter[str] = Counter()
        self.first_error: str | None = None

    def add(self, game: GameVerdicts) -> None:
        self.run = self.run._replace(units=self.run.units + game.units)
        self.counts.update(verdict.status for verdict in game.verdicts)
        if self.first_error is None:
            self.first_error = next((verdict.reason for verdict in game.verdicts if verdict.status == "failed"), None)
        self._unsaved += game.verdicts
        if len(self._unsaved) >= self._store.rows_a_write:
            self._save()

    def finish(self, status: RunStatus) -> None:
        if self.run.units:
            self.run = self.run._replace(finished_at=now(), status=status)
            self._save()

    def report(self, seconds: float) -> JudgeReport:
        return JudgeReport(
            judge_run_id=self.run.judge_run_id if self.run.units else None,
            status="finished",
            units=self.run.units,
            answered=self.counts["answered"],
            undecided=self.counts["undecided"],
            failed=self.counts["failed"],
            skipped=self.counts["skipped"],
            seconds=seconds,
            first_error=self.first_error,
        )

    def _save(self) -> None:
        save(self._store, Progressed(self.run, replaces="all"), self._unsaved)
        self._unsaved = []
