"""A game recomputed from its answers: logs hold neither acceptance nor state nor mode; all of it follows from id and answers.

A verifier is a filter over several sampled answers, of which the first good one is executed.
Source: formats/einstein.md sections 5, 7, 10 and 11.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple, get_args

from games.einstein.engine.actions import Action, Answer, Ask, Move, Pass, Share, parse_answer
from games.einstein.engine.puzzle import ALLOWED, DESTINATIONS, REACH
from games.einstein.engine.table import Outcome, Setting, Table, advance, expected, options, start_table
from games.einstein.labels import Situation, labels_of
from schemas.common.errors import BadInputError, UsageError

Verifier = Literal["affordance", "communication", "reasoning"]
VERIFIERS: Final[tuple[Verifier, ...]] = get_args(Verifier)

_ASK_COST: Final = 2
"""A bad ask wastes the ask and its answer."""


class VerifierChoice(NamedTuple):
    """Which candidate is executed, and what the others cost."""

    executed: int
    """Place of the executed candidate, from 0."""
    used_trials: int
    """Candidates thrown away before one passed; all but one if none passed."""
    sum_err: int
    costs: tuple[int, ...]
    """Per candidate 0 if it passed, else 2 for an ask and 1 for anything else."""
    corrected: bool
    """A candidate passed, and it was not the first."""


def verify(verifier: Verifier, setting: Setting, table: Table, candidates: Sequence[Action | None]) -> VerifierChoice:
    """Rate candidates, each on its own and without executing it, and choose one.

    Raises:
        UsageError: as ``is_valid``, or no candidate exists.
    """
    valid = [is_valid(verifier, setting, table, action) for action in candidates]
    costs = [0 if passes else _ASK_COST if isinstance(action, Ask) else 1 for passes, action in zip(valid, candidates, strict=True)]
    return choose(costs, candidates)


def choose(costs: Sequence[int], candidates: Sequence[Action | None]) -> VerifierChoice:
    """Choose a candidate by its cost: the first that passed, else the first of the cheapest.

    Raises:
        UsageError: no candidate exists.
    """
    if not costs:
        raise UsageError("a verifier needs at least one candidate answer")
    if min(costs) > 0:
        return VerifierChoice(costs.index(min(costs)), len(costs) - 1, sum(costs), tuple(costs), corrected=False)
    first = costs.index(0)
    spent = sum(costs) if candidates[first] is None else sum(costs[:first])
    return VerifierChoice(first, first, spent, tuple(costs), corrected=first > 0)


def is_valid(verifier: Verifier, setting: Setting, table: Table, action: Action | None) -> bool:
    """Tell whether one candidate passes.

    Raises:
        UsageError: the communication verifier in mode none under the published rules, where its code stops with an error.
    """
    return _CHECKS[verifier](setting, table, action)


def _affordance(setting: Setting, table: Table, action: Action | None) -> bool:
    if action is None:
        return not setting.rules.unreadable_is_infeasible
    return not isinstance(action, Move) or _feasible(setting, table, action)


def _feasible(setting: Setting, table: Table, move: Move) -> bool:
    reach = REACH[table.player]
    there = move.block < setting.puzzle.num_objects and table.positions[move.block] == move.source
    return there and move.source in reach and move.target in reach and move.source != move.target


def _communication(setting: Setting, table: Table, action: Action | None) -> bool:
    if not setting.rules.useless_talk_rejected:
        # the published filter looks at shares alone, at flags as of the player's last step, and not at the mode
        if setting.modes[table.player] == "none" and not isinstance(action, Pass):
            raise UsageError("the published communication verifier stops in mode none; use the sane rules or another verifier")
        if not isinstance(action, Share):
            return action is not None
        index = setting.puzzle.item_index.get(action.item)
        return index in table.held[table.player] and not table.flags[table.player] >> (index or 0) & 1
    if isinstance(action, Ask):
        return ALLOWED[setting.modes[table.player]].ask and not _is_placed(setting, table, action.block)
    if isinstance(action, Share):
        return action in expected(options(setting.puzzle, table), table, setting.modes, setting.rules)
    return action is not None


def _is_placed(setting: Setting, table: Table, block: int) -> bool:
    return block < setting.puzzle.num_objects and table.positions[block] in DESTINATIONS


def _reasoning(setting: Setting, table: Table, action: Action | None) -> bool:
    sensible = reasonable_actions(setting, table)
    if isinstance(action, Pass):
        return not sensible
    if isinstance(action, Move) and not sensible:
        return _feasible(setting, table, action)
    return action in sensible


def reasonable_actions(setting: Setting, table: Table) -> tuple[Action, ...]:
    """List what the reasoning verifier lets pass; under the published rules a seek-only player has no replies."""
    found = expected(options(setting.puzzle, table), table, setting.modes, setting.rules)
    if setting.rules.replies_are_reasonable or setting.modes[table.player] != "seek":
        return found
    return tuple(action for action in found if not isinstance(action, Share))


_CHECKS: Final[dict[Verifier, Callable[[Setting, Table, Action | None], bool]]] = {
    "affordance": _affordance,
    "communication": _communication,
    "reasoning": _reasoning,
}


class Samples(NamedTuple):
    """The answers that a step was chosen from."""

    texts: tuple[str, ...]
    """One answer without verifier, several with one."""
    costs: tuple[int, ...] | None = None
    """Each answer's cost by the log; None without verifier. It shows which one was executed."""


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
    """Plays answers one after another and stores what the labels need of the past."""

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
        step = Step(len(self.steps), before, answer, outcome, *labels_of(situation), choice)
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
