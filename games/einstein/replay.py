"""A game recomputed from its answers: logs hold neither acceptance nor state nor mode; all of it follows from id and answers.

Source: formats/einstein.md sections 5, 7, 10 and 11.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from games.einstein.engine.actions import Answer, Move, parse_answer
from games.einstein.engine.step import Outcome, Setting, advance
from games.einstein.engine.table import Table, start_table
from games.einstein.labels import Situation, categories, extensions
from games.einstein.text.verifiers import Verifier, VerifierChoice, choose, verify
from schemas.errors import BadInputError


class Samples(NamedTuple):
    """The answers that a step was chosen from."""

    texts: tuple[str, ...]
    """One answer without verifier, several with one."""

    costs: tuple[int, ...] | None = None
    """What the log says each answer cost; None without verifier. It tells which one was executed."""


class Step(NamedTuple):
    """A step, recomputed."""

    number: int
    """From 0, as logs count."""

    before: Table
    answer: Answer
    """The executed answer."""

    outcome: Outcome
    labels: tuple[str, ...]
    """The paper's categories; empty for no error."""

    ext_labels: tuple[str, ...]
    choice: VerifierChoice | None
    """How the answer was chosen; None without verifier."""


class Recorder:
    """Plays answers one after another and keeps what the labels need of the past."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.table = start_table(setting.puzzle)
        self.steps: list[Step] = []
        self._stuck: dict[int, frozenset[tuple[int, str]]] = {0: frozenset(), 1: frozenset()}

    @property
    def ended(self) -> bool:
        """Whether the last step solved the game or was the last allowed."""
        return bool(self.steps) and (self.steps[-1].outcome.terminated or self.steps[-1].outcome.truncated)

    def add(self, answer: Answer, choice: VerifierChoice | None = None) -> Step:
        """Carry out an answer.

        Raises:
            BadInputError: the game has ended.
        """
        if self.ended:
            raise BadInputError(f"step {len(self.steps)} comes after the end of game {self.setting.puzzle.game_id}; drop it")
        before, action = self.table, answer.action
        outcome = advance(self.setting, before, action)
        situation = Situation(self.setting, before, action, outcome, self._stuck[before.player])
        step = Step(len(self.steps), before, answer, outcome, categories(situation), extensions(situation), choice)
        if isinstance(action, Move) and not outcome.state_changed:
            self._stuck[before.player] |= {(action.block, action.target)}
        self.steps.append(step)
        self.table = outcome.table
        return step


def replay(setting: Setting, samples: Sequence[Samples], verifier: Verifier | None = None) -> Iterator[Step]:
    """Yield every step of a logged game.

    With several answers a step, the executed one follows from ``verifier`` if that is known, else from the logged costs.

    Raises:
        BadInputError: a step has no answer or comes after the end; or it has several, and neither verifier nor logged costs are known.
    """
    recorder = Recorder(setting)
    for number, sample in enumerate(samples):
        answers = [parse_answer(text) for text in sample.texts]
        if not answers:
            raise BadInputError(f"step {number} has no answer")
        choice = _choice(recorder, answers, sample.costs, verifier)
        if choice is None and len(answers) > 1:
            raise BadInputError(f"step {number} has {len(answers)} answers, but neither their costs nor the verifier are known")
        yield recorder.add(answers[choice.executed if choice else 0], choice)


def _choice(recorder: Recorder, answers: list[Answer], costs: tuple[int, ...] | None, verifier: Verifier | None) -> VerifierChoice | None:
    actions = [answer.action for answer in answers]
    if verifier is not None:
        return verify(verifier, recorder.setting, recorder.table, actions)
    if costs is None:
        return None
    if len(costs) != len(actions):
        raise BadInputError(f"step {len(recorder.steps)} has {len(actions)} answers, but {len(costs)} costs")
    return choose(costs, actions)
