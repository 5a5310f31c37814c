"""The engine judge: runs the deterministic checks that a rubric names and writes the same verdict rows as a model would.

What a check cannot prove is `undecided`. Checks are cheap and get better, so a run answers its whole selection anew and replaces
what the engine had said about the same units under the same rubric name.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping

from judges.checks import Check, Decision, find
from judges.job import JudgeReport, JudgeRequest, OnProgress, Progress
from judges.planning import new_run, now
from judges.prompt import Prompt, PromptMaker
from judges.rubric import Question, Rubric
from judges.transcript import Transcript, load
from judges.units import Unit, select, units
from judges.verdict_store import Progressed, save
from schemas.errors import UsageError
from schemas.records import JudgeRun, Verdict
from schemas.store import Store
from schemas.text import excerpt

__all__ = ["run_engine"]

_ROWS_A_TRANSACTION = 50_000


def run_engine(
    request: JudgeRequest, store: Store, on_progress: OnProgress | None = None, *, checks: Mapping[str, Check] | None = None
) -> JudgeReport:
    """Answer every question that names a check, for every selected unit; questions without one get no row.

    Args:
        request: its `settings` are None; `repeats` and limits do not matter.
        store: where the games are and the verdicts go.
        on_progress: told after every game how many of the selection are through.
        checks: name -> check; None: all that cotrace has.

    Raises:
        StoreError: the store cannot be read or written.
        UsageError: no question names a check, or one that does not exist; or the selection is no SQL.
    """
    began = time.monotonic()
    selection = select(store, request.rubric, request.where)
    engine = _EngineRun(request, store, _asked(request.rubric, checks))
    for done, game in enumerate(load(store, list(selection)), start=1):
        engine.judge(game, selection[game.episode_id])
        if on_progress is not None:
            on_progress(Progress(done=done, total=len(selection), failed=engine.counts["failed"], cost=None))
    engine.finish()
    return JudgeReport(
        judge_run_id=engine.run.judge_run_id if engine.run.units else None,
        status="finished",
        units=engine.run.units,
        answered_before=0,
        recovered=0,
        answered=engine.counts["answered"],
        undecided=engine.counts["undecided"],
        failed=engine.counts["failed"],
        skipped=engine.counts["skipped"],
        requests=0,
        tokens_in=0,
        tokens_out=0,
        cost=None,
        seconds=time.monotonic() - began,
        first_error=engine.first_error,
    )


class _EngineRun:
    """The checks of one rubric over many games."""

    def __init__(self, request: JudgeRequest, store: Store, asked: Mapping[str, Check]) -> None:
        self._rubric, self._store, self._asked = request.rubric, store, asked
        self._maker = PromptMaker(request.rubric)
        self._unsaved: list[Verdict] = []
        self.run: JudgeRun = new_run(request, price=None)
        self.counts: Counter[str] = Counter()
        self.first_error: str | None = None

    def judge(self, game: Transcript, turns: frozenset[int] | None) -> None:
        """Answer all questions about the game's units on those turns (None: all)."""
        found = 0
        for unit in units(self._rubric, game, turns):
            found += 1
            for prompt in self._maker.prompts(unit):
                questions = self._maker.groups[prompt.group].questions
                self._unsaved += [self._verdict(unit, prompt, q) for q in questions if q.id in self._asked]
        self.run = self.run._replace(units=self.run.units + found)
        if len(self._unsaved) >= _ROWS_A_TRANSACTION:
            self._save()

    def finish(self) -> None:
        """Store the rest and close the run; a run without units leaves no trace."""
        if self.run.units:
            self.run = self.run._replace(finished_at=now(), status="finished")
            self._save()

    def _save(self) -> None:
        save(self._store, Progressed(self.run, replaces="all"), self._unsaved)
        self._unsaved = []

    def _verdict(self, unit: Unit, prompt: Prompt, question: Question) -> Verdict:
        if prompt.applies:
            status, decision = _decide(self._asked[question.id], unit, self._rubric)
        else:
            status, decision = "skipped", Decision(None, f"nothing to judge: {self._rubric.about} is empty")
        self.counts[status] += 1
        if status == "failed":
            self.first_error = self.first_error or decision.reason
        return Verdict(
            judge_run_id=self.run.judge_run_id,
            rubric=self.run.rubric,
            rubric_hash=self.run.rubric_hash,
            variant=self.run.variant,
            question=question.id,
            unit_id=unit.unit_id,
            unit_hash=prompt.unit_hash,
            episode_id=unit.episode_id,
            turn=unit.turn,
            agent=unit.agent,
            judge=self.run.judge,
            repeat=1,
            answer=decision.answer,
            score=None if decision.answer is None else self._rubric.answers[decision.answer],
            reason=decision.reason,
            status=status,
        )


def _asked(rubric: Rubric, checks: Mapping[str, Check] | None) -> dict[str, Check]:
    named = {question.id: question.engine for question in rubric.questions if question.engine is not None}
    if not named:
        raise UsageError(f"no question of rubric {rubric.name} names an engine check (key `engine`): ask a model with --model")
    return {question: find(name) if checks is None else checks[name] for question, name in named.items()}


def _decide(check: Check, unit: Unit, rubric: Rubric) -> tuple[str, Decision]:
    """The place where a check that breaks becomes a row: one odd unit must not cost all others their verdicts."""
    try:
        decision = check(unit.scene.game, unit.turn or 0, unit.agent)
    except Exception as error:  # noqa: BLE001 - see above
        return "failed", Decision(None, f"the check broke off: {type(error).__name__}: {excerpt(str(error))}")
    if decision.answer is None:
        return "undecided", decision
    if decision.answer not in rubric.answers:
        return "failed", Decision(None, f"the check answered {decision.answer!r}, which the rubric does not have")
    return "answered", decision
