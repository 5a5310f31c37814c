"""Einstein games in cotrace's own log, made ready for replay."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, get_args

from games.einstein import game as rules
from games.einstein.engine.actions import action_type
from games.einstein.engine.puzzle import Player, parse_game_id
from games.einstein.engine.table import RULES, Setting, goal_json, private_view_json, table_json
from games.einstein.replay import Samples, Step, replay
from games.einstein.setup import settings_of
from ingest.cotrace_log.derivation import BadTurnError, Derived, without_lost_replies
from ingest.einstein.measures import progress, replay_rows, sampled_actions, success_by_rules
from ingest.reading.text import dumps
from schemas.common.errors import BadInputError, UsageError
from schemas.common.text import excerpt
from schemas.game import STOPPED, End, Header, Turn, UtteranceEntry
from schemas.records import Failure, LogDisagreement

_HEADER: Final = "line 1"


def derive(header: Header, turns: Sequence[Turn], end: End | None, episode: str) -> Derived:
    """Replay a game; see `ingest.cotrace_log.derivation.Derivation`."""
    setting, settings = _setting(header)
    steps = _replayed(setting, settings, turns)
    success = success_by_rules(steps) if end is None else end.success
    rows = replay_rows(setting, steps, episode, ended=success is not None)
    rows["failures"] = [*without_lost_replies((row for row in rows["failures"] if isinstance(row, Failure)), turns, "format_following")]
    rows["log_disagreements"] = [
        *_header_differences(setting, settings, header, episode),
        *(row for turn, step in zip(turns, steps, strict=True) for row in _turn_differences(setting, settings, turn, step, episode)),
        *_end_differences(setting, steps, end, episode),
    ]
    after = [progress(setting, step) for step in steps]
    score = None if success is None or not after else after[-1]
    sampled = sampled_actions([_samples(turn, index) for index, turn in enumerate(turns)])
    return Derived(progress=after, success=success, score=score, rows=rows, details={**sampled, "rules": settings.rules})


def _setting(header: Header) -> tuple[Setting, rules.GameSettings]:
    """What the header states the game is played by.

    Raises:
        BadInputError: task or condition name something that does not exist.
    """
    condition = header.run.get("condition")
    if not isinstance(condition, dict):
        raise BadInputError(f"condition must be an object, not {excerpt(repr(condition))}", locator=f"{_HEADER}.run.condition")
    puzzle = parse_game_id(str(header.task.get("id")), locator=f"{_HEADER}.task.id")
    try:
        settings = settings_of(header)
    except BadInputError as error:
        raise BadInputError(error.reason, locator=f"{_HEADER}.{error.locator}", excerpt=error.excerpt) from error
    return Setting(puzzle, settings.modes, RULES[settings.rules], settings.step_limit), settings


def _replayed(setting: Setting, settings: rules.GameSettings, turns: Sequence[Turn]) -> list[Step]:
    steps: list[Step] = []
    try:
        samples = [_samples(turn, index) for index, turn in enumerate(turns)]
        for step in replay(setting, samples, settings.verifier):
            steps.append(step)  # noqa: PERF402 - those before a fault are stored
    except BadTurnError:
        raise
    except (BadInputError, UsageError) as error:
        fault = error if isinstance(error, BadInputError) else BadInputError(str(error))
        raise BadTurnError(fault, len(steps)) from error
    return steps


def _samples(turn: Turn, index: int) -> Samples:
    """The answers that a turn was chosen from."""
    if len(turn.actions) != 1 or turn.actions[0].raw is None:
        raise BadTurnError(BadInputError("a turn must have one action with the raw answer", locator=".actions"), index)
    if turn.turn != index + 1:
        raise BadTurnError(BadInputError(f"turn {turn.turn} is out of order, turn {index + 1} is due", locator=".turn"), index)
    if turn.samples is None:
        return Samples((turn.actions[0].raw,))
    if len(turn.samples.texts) != len(turn.samples.costs) or not turn.samples.texts:
        raise BadTurnError(BadInputError("samples need as many costs as texts, and one at least", locator=".samples"), index)
    return Samples(tuple(turn.samples.texts), tuple(turn.samples.costs))


# -- where log and replay differ ----------------------------------------------------------------------------------------------------------


def _header_differences(setting: Setting, settings: rules.GameSettings, header: Header, episode: str) -> Iterator[LogDisagreement]:
    mode = settings.modes[0] if settings.modes[0] == settings.modes[1] else None
    facts: dict[str, tuple[Any, Any]] = {
        "goal": (header.task.get("goal"), goal_json(setting.puzzle)),
        "agents": ([agent.agent for agent in header.agents], list(rules.AGENTS)),
        "roles": ([agent.role for agent in header.agents], ["player"] * len(rules.AGENTS)),
        "max_turns": (header.max_turns, settings.step_limit),
    }
    if settings.verifier is None:
        facts["samples_per_step"] = (settings.samples, 1)
    for field, source, found in (
        ("level", header.task, f"{setting.puzzle.num_objects} objects"),
        ("action_mode", header.run["condition"], mode),
        ("modes", header.details, list(settings.modes)),
    ):
        if field in source:
            facts[field] = (source[field], found)
    for agent in header.agents:
        if agent.agent in rules.AGENTS:
            player: Player = 0 if agent.agent == rules.AGENTS[0] else 1
            facts[f"private_view.{agent.agent}"] = (agent.private_view, private_view_json(setting.puzzle, player))
    return _differing(facts, episode, None)


def _turn_differences(setting: Setting, settings: rules.GameSettings, turn: Turn, step: Step, episode: str) -> Iterator[LogDisagreement]:
    action, agent, code = turn.actions[0], rules.AGENTS[step.before.player], rules.refusal(step)
    facts: dict[str, tuple[Any, Any]] = {
        "agent": (action.agent, agent),
        "verb": (action.verb, action_type(step.answer.action)),
        "arguments": (action.arguments, rules.action_arguments(step.answer.action, step.answer.action_text)),
        "undoes": (action.undoes, rules.is_undo(step)),
        "state_before": (turn.state_before, table_json(setting.puzzle, step.before)),
        "state_after": (turn.state_after, table_json(setting.puzzle, step.outcome.table)),
        "accepted": (action.accepted, step.outcome.accepted),
        "error_code": (action.error_code, code),
        "error_text": (action.error_text, rules.refusal_text(code)),
        "goal_reached": (turn.goal_reached, step.outcome.terminated),
        "utterances": (
            [_as_list(uttered) for uttered in turn.utterances],
            [_as_list(uttered) for uttered in rules.utterances_of(agent, step)],
        ),
    }
    return _differing(facts | _sample_facts(settings, turn, step), episode, turn.turn)


def _as_list(uttered: UtteranceEntry) -> list[Any]:
    audience = uttered.audience or (rules.AGENTS if uttered.channel == "public" else [uttered.agent])
    return [uttered.agent, uttered.channel, list(audience), uttered.text]


def _sample_facts(settings: rules.GameSettings, turn: Turn, step: Step) -> dict[str, tuple[Any, Any]]:
    if settings.verifier is None or step.choice is None:
        return {} if turn.samples is None else {"samples": (len(turn.samples.texts), 1)}
    samples, choice = turn.samples, step.choice
    if samples is None:
        return {"samples": (None, settings.samples)}
    return {
        "samples": (len(samples.texts), settings.samples),
        "samples.costs": (list(samples.costs), list(choice.costs)),
        "samples.executed": (samples.executed, choice.executed),
        "raw": (turn.actions[0].raw, samples.texts[choice.executed]),
    }


def _end_differences(setting: Setting, steps: Sequence[Step], end: End | None, episode: str) -> Iterator[LogDisagreement]:
    if end is None or end.stop_reason == STOPPED:
        return
    last = steps[-1] if steps else None
    facts: dict[str, tuple[Any, Any]] = {"completed": (end.success, bool(last and last.outcome.success))}
    if last is not None:
        facts["final_progress"] = (end.score, progress(setting, last))
        reason = rules.stop_reason(last)
        if reason is not None or end.stop_reason in get_args(rules.StopReason):
            facts["stop_reason"] = (end.stop_reason, reason)
    yield from _differing(facts, episode, None)


def _differing(facts: dict[str, tuple[Any, Any]], episode: str, turn: int | None) -> Iterator[LogDisagreement]:
    for field, (logged, found) in facts.items():
        if logged != found:
            yield LogDisagreement(episode, turn, field, dumps(logged), dumps(found))
