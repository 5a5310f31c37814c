"""The rows that replaying an Einstein game gives: metrics, failure categories, candidates."""

from collections.abc import Iterator, Sequence
from typing import Final

from games.einstein.engine.actions import Action, Move, Share, parse_answer
from games.einstein.engine.table import Setting, Table, closure, expected, items_mask, start_table
from games.einstein.game import AGENTS, action_arguments
from games.einstein.labels import NO_ERROR
from games.einstein.measures import GameMetrics, game_metrics
from games.einstein.replay import Samples, Step
from games.einstein.value import distances
from ingest.reading.text import dumps
from schemas.records import EpisodeMetric, Failure, Json, OracleAction, TurnMetric, TurnValue


def sampled_actions(steps: Sequence[Samples]) -> dict[str, object]:
    """`sampled_actions` of `episodes.details`: turn -> action of every sample, null where none can be read; only of turns with several."""
    found = {str(number): [_text(text) for text in samples.texts] for number, samples in enumerate(steps, 1) if len(samples.texts) > 1}
    return {"sampled_actions": found} if found else {}


def _text(answer: str) -> str | None:
    action = parse_answer(answer).action
    return action.text if action else None


_UNIT = "steps"


def turn_values(setting: Setting, steps: Sequence[Step], episode: str) -> Iterator[TurnValue]:
    """Value the steps of a game; a step that does all it could costs 0, since the step itself is spent.

    Where the goal cannot be reached by a measure there is no value: null, of kind `none`.
    """
    for step, (before, after) in zip(steps, distances(setting, steps), strict=True):
        for name, was, now in zip(before._fields, before, after, strict=True):
            cost = None if was is None or now is None else 1 + now - was
            yield TurnValue(episode, step.number + 1, f"einstein.{name}", was, now, cost, _UNIT, "none" if cost is None else "exact")


PUBLISHED: Final = "einstein_published"
"""The paper's categories (Table 2); a step can have several."""

EXTENDED: Final = "einstein_extended"
"""The additional labels."""

NONE_OF_THESE: Final = "none_of_these"
"""Category of a step without additional label."""

_OVERALL: Final = "einstein.overall_progress"
_PUZZLE_METRICS: Final = ("num_objects", "optimal_steps", "optimal_first_player")
_END_METRICS: Final = (
    "terminated",
    "truncated",
    "success",
    "correct_objects",
    "sub_r",
    "step_ratio",
    "total_used_trials",
    "total_sum_err",
    "corrected_steps",
    "avg_used_trials",
    "avg_sum_err",
    "avg_corrected",
)
"""Attributes of `games.einstein.measures.GameMetrics` that become episode metrics, these only of games with an end.

None has no row.
"""


def replay_rows(setting: Setting, steps: Sequence[Step], episode: str, *, ended: bool) -> dict[str, list[tuple[object, ...]]]:
    """Everything that follows from the replayed steps of a game; turn n is step n - 1.

    Args:
        setting: what the game is played by.
        steps: its steps.
        episode: its id.
        ended: the last step is the end of the game. Without an end there are no numbers of the end.
    """
    start = start_table(setting.puzzle).correct(setting.puzzle) / setting.puzzle.num_objects
    rows: dict[str, list[tuple[object, ...]]] = {
        "turn_metrics": [TurnMetric(episode, 0, _OVERALL, start)],
        "episode_metrics": list(_episode_metrics(game_metrics(setting.puzzle, setting.modes, steps), episode, ended=ended)),
        "oracle_actions": [],
        "failures": [],
        "turn_values": list(turn_values(setting, steps, episode)),
    }
    for step in steps:
        rows["turn_metrics"] += (TurnMetric(episode, step.number + 1, f"einstein.{name}", value) for name, value in _facts(setting, step))
        rows["oracle_actions"] += _candidates(setting, step, episode)
        rows["failures"] += _failures(step, episode)
    return rows


def success_by_rules(steps: Sequence[Step]) -> bool | None:
    """Whether the game was solved; None if the rules have not ended it with its last step."""
    last = steps[-1].outcome if steps else None
    return last.success if last and (last.terminated or last.truncated) else None


def progress(setting: Setting, step: Step) -> float:
    """Share of objects in their goal bins after a step, 0 to 1."""
    return step.outcome.table.correct(setting.puzzle) / setting.puzzle.num_objects


def _episode_metrics(found: GameMetrics, episode: str, *, ended: bool) -> Iterator[EpisodeMetric]:
    for name in (*_PUZZLE_METRICS, *(_END_METRICS if ended else ())):
        value = getattr(found, name)
        if value is not None:
            yield EpisodeMetric(episode, f"einstein.{name}", float(value))
    if ended:
        yield EpisodeMetric(episode, "einstein.solved_at_limit", float(found.terminated and found.truncated))


def _facts(setting: Setting, step: Step) -> Iterator[tuple[str, float]]:
    outcome, choice = step.outcome, step.choice
    yield "overall_progress", progress(setting, step)
    yield "correct_objects", float(outcome.table.correct(setting.puzzle))
    yield "state_changed", float(outcome.state_changed)
    yield "history_ok", float(outcome.history_ok)
    yield "terminated", float(outcome.terminated)
    yield "truncated", float(outcome.truncated)
    yield "deducible_move_available", float(bool(outcome.options.moves))
    yield "executed_sample", float(choice.executed if choice else 0)
    if choice is None:
        return
    yield "used_trials", float(choice.used_trials)
    yield "sum_err", float(choice.sum_err)
    yield "corrected", float(choice.corrected)
    for place, cost in enumerate(choice.costs):
        yield f"sample_cost.{place}", float(cost)


# -- failures -----------------------------------------------------------------------------------------------------------------------------


def _failures(step: Step, episode: str) -> Iterator[Failure]:
    agent = AGENTS[step.before.player]
    action = step.answer.action
    evidence = action.text if action else step.answer.action_text or None
    for taxonomy, labels, nothing in ((PUBLISHED, step.labels, NO_ERROR), (EXTENDED, step.ext_labels, NONE_OF_THESE)):
        for label in labels or (nothing,):
            yield Failure(episode, step.number + 1, agent, taxonomy, label, evidence if labels else None)


# -- candidates ---------------------------------------------------------------------------------------------------------------------------


def _candidates(setting: Setting, step: Step, episode: str) -> Iterator[OracleAction]:
    """Actions that provably bring the game on: expected moves, and shares after which the partner can infer more objects."""
    sensible = expected(step.outcome.options, step.before, setting.modes, setting.rules)
    proven = (action for action in sensible if _brings_on(setting, step.before, action))
    for rank, action in enumerate(proven, start=1):
        verb = "move" if isinstance(action, Move) else "share"
        arguments = Json(dumps(action_arguments(action, "")))
        yield OracleAction(episode, step.number + 1, rank, verb, arguments, undoes=False, listed=False, verified=True)


def _brings_on(setting: Setting, table: Table, action: Action) -> bool:
    if not isinstance(action, Share):
        return isinstance(action, Move)
    held = items_mask(table.held[1 - table.player])
    informed = held | 1 << setting.puzzle.item_index[action.item]
    return closure(setting.puzzle, informed, table.placed) != closure(setting.puzzle, held, table.placed)
