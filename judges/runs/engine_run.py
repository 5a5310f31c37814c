"""The engine judge: runs the deterministic checks that a rubric names and writes the same verdict rows as a model would.

What a check cannot prove is `undecided`. Checks are cheap and get better, so a run answers its whole selection anew and replaces
what the engine had said about the same units under the same rubric name.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby

from judges.engine.checks import Check
from judges.engine.pool import answered_in_processes
from judges.engine.verdicts import EngineAnswers, GameVerdicts
from judges.evidence.unit_sources import selected_units
from judges.evidence.units import Selection, select
from judges.rubric.model import PROBE
from judges.runs.job import JudgeReport, JudgeRequest, OnProgress, RunProgress, RunStatus
from judges.runs.planning import new_run
from judges.runs.verdict_store import Progressed, save
from providers.request import now
from schemas.records import JudgeRun, Verdict
from schemas.store import Store

__all__ = ["run_engine"]


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
    began = time.monotonic()
    selection = select(store, request.rubric, request.where)
    run = new_run(request, price=None)
    answers = EngineAnswers(request.rubric, run, checks)
    is_probe = (run.variant or "").startswith(PROBE)
    is_large = checks is None and request.rubric.unit != "row" and not is_probe
    in_processes = answered_in_processes(store, request.rubric, run, selection, request.reader) if is_large else None
    games = in_processes or _answered(store, request, answers, selection)
    sink = _Sink(store, run)
    try:
        for done, game in enumerate(games, start=1):
            sink.add(game)
            if on_progress is not None:
                on_progress(RunProgress(done=done, total=len(selection), failed=sink.counts["failed"], cost=None))
    except KeyboardInterrupt:
        sink.finish("interrupted")
        raise
    sink.finish("finished")
    return JudgeReport(
        judge_run_id=run.judge_run_id if sink.run.units else None,
        status="finished",
        units=sink.run.units,
        answered_before=0,
        recovered=0,
        answered=sink.counts["answered"],
        undecided=sink.counts["undecided"],
        failed=sink.counts["failed"],
        skipped=sink.counts["skipped"],
        from_cache=0,
        requests=0,
        tokens_in=0,
        tokens_out=0,
        cost=None,
        seconds=time.monotonic() - began,
        first_error=sink.first_error,
    )


def _answered(store: Store, request: JudgeRequest, answers: EngineAnswers, selection: Selection) -> Iterator[GameVerdicts]:
    by_game = groupby(selected_units(store, request.rubric, selection, request.reader), key=lambda unit: unit.episode_id)
    return (answers.of_units(found) for _, found in by_game)


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

    def _save(self) -> None:
        save(self._store, Progressed(self.run, replaces="all"), self._unsaved)
        self._unsaved = []
