"""What the engine has to say about one game: the checks that a rubric names, as verdict rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from judges.engine.checks import Check, Decision
from judges.engine.known_checks import find
from judges.evidence.prompt import Prompt, PromptMaker
from judges.evidence.transcript import Transcript
from judges.evidence.units import Unit, units
from judges.rubric.model import Question, Rubric, joined
from schemas.errors import UsageError
from schemas.records import JudgeRun, Verdict
from schemas.text import excerpt

__all__ = ["EngineAnswers", "GameVerdicts"]


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
