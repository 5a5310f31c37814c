"""Numbers of a game, named as the columns of the reference files (formats/einstein.md section 9). Views aggregate them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from games.einstein.engine.actions import ActionType, action_type
from games.einstein.engine.modes import ActionMode, Modes, optimum_mode
from games.einstein.engine.puzzle import Puzzle, parse_game_id
from games.einstein.labels import NO_ERROR
from games.einstein.measures.planner import Plan, plan
from games.einstein.replay import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class GameMetrics:
    """Numbers of one game."""

    num_objects: int
    step_count: int
    terminated: bool
    truncated: bool
    success: bool
    correct_objects: int
    """Objects in their goal bins at the end (``partial_success_rate`` in published files)."""

    optimal_steps: int
    """Length of a shortest solution in this action space (provide_seek for mixed pairs)."""

    optimal_first_player: int
    """1 or 2."""

    total_used_trials: int | None
    """Candidates thrown away; None without verifier, as the next four."""

    total_sum_err: int | None
    corrected_steps: int | None
    """Steps in which a later candidate replaced the first."""

    actions: Counter[ActionType]
    n_accepted: int
    n_state_changed: int
    labels: Counter[str]
    """Steps per category of the paper, ``no_error`` included."""

    ext_labels: Counter[str]

    @property
    def sub_r(self) -> float:
        """Share of objects in their goal bins at the end, 0 to 1 (Sub.R)."""
        return self.correct_objects / self.num_objects

    @property
    def step_ratio(self) -> float | None:
        """Steps over the optimum (StepR); None for a game without success."""
        return self.step_count / self.optimal_steps if self.success else None

    @property
    def avg_used_trials(self) -> float | None:
        """Candidates thrown away per step."""
        return _per_step(self.total_used_trials, self.step_count)

    @property
    def avg_sum_err(self) -> float | None:
        """Cost of candidates per step."""
        return _per_step(self.total_sum_err, self.step_count)

    @property
    def avg_corrected(self) -> float | None:
        """Share of steps in which a later candidate replaced the first, 0 to 1 (Corr.R)."""
        return _per_step(self.corrected_steps, self.step_count)


def optimum(puzzle: Puzzle, modes: Modes) -> Plan:
    """Give a shortest solution in the action space that is the yardstick of a pair; remembered per game id.

    Raises:
        PlanError: the puzzle has no solution.
    """
    return _optimum(puzzle.game_id, optimum_mode(modes))


@cache
def _optimum(game_id: str, mode: ActionMode) -> Plan:
    return plan(parse_game_id(game_id), mode)


def game_metrics(puzzle: Puzzle, modes: Modes, steps: Sequence[Step]) -> GameMetrics:
    """Compute the numbers of a game from its replayed steps; a game without steps stands as it started."""
    best = optimum(puzzle, modes)
    last = steps[-1].outcome if steps else None
    choices = [step.choice for step in steps if step.choice]
    verified = bool(choices)
    labels = Counter(label for step in steps for label in step.labels or (NO_ERROR,))
    return GameMetrics(
        num_objects=puzzle.num_objects,
        step_count=len(steps),
        terminated=bool(last and last.terminated),
        truncated=bool(last and last.truncated),
        success=bool(last and last.success),
        correct_objects=last.table.correct(puzzle) if last else 0,
        optimal_steps=best.steps,
        optimal_first_player=best.first_player + 1,
        total_used_trials=sum(choice.used_trials for choice in choices) if verified else None,
        total_sum_err=sum(choice.sum_err for choice in choices) if verified else None,
        corrected_steps=sum(choice.corrected for choice in choices) if verified else None,
        actions=Counter(action_type(step.answer.action) for step in steps),
        n_accepted=sum(step.outcome.accepted for step in steps),
        n_state_changed=sum(step.outcome.state_changed for step in steps),
        labels=labels,
        ext_labels=Counter(label for step in steps for label in step.ext_labels),
    )


def _per_step(total: int | None, steps: int) -> float | None:
    return None if total is None or not steps else total / steps
