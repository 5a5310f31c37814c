"""The engine judge: runs the deterministic checks that a rubric names and writes the same verdict rows as a model would.

What a check cannot prove is `undecided`. Checks are cheap and get better, so a run answers its whole selection anew and replaces
what the engine had said about the same units under the same rubric name.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from judges.engine.checks import Check
from judges.engine.verdicts import EngineAnswers, EngineJob, GamesOfJobs, GameVerdicts, answered
from judges.evidence.selection import selected_units
from judges.evidence.units import Selection, select
from judges.rubric import PROBE
from judges.runs.job import JudgeReport, JudgeRequest, OnProgress, RunProgress, RunStatus, new_run
from judges.runs.outcomes import Progressed, save
from providers.asker import now
from schemas.records import JudgeRun, Verdict
from schemas.store.store import Store


def run_engine(
    request: JudgeRequest, store: Store, on_progress: OnProgress | None = None, *, checks: Mapping[str, Check] | None = None
) -> JudgeReport:
    """Answer every question that names a check, for every selected unit; questions without one get no row.

    Large selections are spread over processes.

    Args:
        request: its `settings` are None; `repeats` and limits do not matter.
        store: where the games are and the verdicts go.
        on_progress: told after every game how many of the selection are through.
        checks: name -> check; None: all that cotrace has.

    Raises:
        CotraceError: a worker process was killed.
        KeyboardInterrupt: Ctrl-C; the games that were through are stored.
        StoreError: the store cannot be read or written.
        UsageError: no question names a check, or one that does not exist; or the selection is no SQL.
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
        """Take in the verdicts on one game."""
        self.run = self.run._replace(units=self.run.units + game.units)
        self.counts.update(verdict.status for verdict in game.verdicts)
        if self.first_error is None:
            self.first_error = next((verdict.reason for verdict in game.verdicts if verdict.status == "failed"), None)
        self._unsaved += game.verdicts
        if len(self._unsaved) >= self._store.rows_a_write:
            self._save()

    def finish(self, status: RunStatus) -> None:
        """Store the rest and close the run; a run without units leaves no trace."""
        if self.run.units:
            self.run = self.run._replace(finished_at=now(), status=status)
            self._save()

    def report(self, seconds: float) -> JudgeReport:
        """What came of the run."""
        return JudgeReport(
            judge_run_id=self.run.judge_run_id if self.run.units else None,
            status="finished",
            units=self.run.units,
            answered_before=0,
            recovered=0,
            answered=self.counts["answered"],
            undecided=self.counts["undecided"],
            failed=self.counts["failed"],
            skipped=self.counts["skipped"],
            from_cache=0,
            requests=0,
            timed_out=0,
            tokens_in=0,
            tokens_out=0,
            cost=None,
            seconds=seconds,
            first_error=self.first_error,
        )

    def _save(self) -> None:
        save(self._store, Progressed(self.run, replaces="all"), self._unsaved)
        self._unsaved = []
