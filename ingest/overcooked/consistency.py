"""What a Collab-Overcooked log says twice, or counts and lists beside each other, and where the two differ (docs/overcooked.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, get_args

from games.overcooked.engine.layout import AGENTS
from games.overcooked.engine.world import Rules
from games.overcooked.replay import ReplayedStep
from games.overcooked.text.grammar import NOTHING
from ingest.overcooked.records import LogRecord, StepRecord
from ingest.reading.json_text import dumps
from schemas.records import LogDisagreement

__all__ = ["contradictions"]


class _Found(NamedTuple):
    """A difference, if the two differ."""

    field: str
    logged: Any
    due: Any
    """What would have to stand there; None if nothing could."""


_RULES: Final = get_args(Rules)
_VERSION: Final = 1
"""Of what cotrace's own games add to the log."""


def contradictions(
    episode: str, order: str, record: LogRecord, steps: Sequence[StepRecord], replayed: Sequence[ReplayedStep]
) -> Iterator[LogDisagreement]:
    """Yield what cannot all be true of a log; counts over the whole game only where all its steps could be read."""
    score = 0
    for step, result in zip(steps, replayed, strict=True):
        yield from _rows(episode, step.timestamp + 1, _of_step(order, step, result.score - score))
        if record.cotrace is None:  # the published code has no way to a reflection
            yield from _rows(episode, step.timestamp + 1, _of_reflection(step))
        score = result.score
    if len(steps) == len(record.content):
        yield from _rows(episode, None, _of_game(order, record, steps, delivered=bool(replayed) and replayed[-1].delivered))
    yield from _rows(episode, None, _of_own(order, record))


def _rows(episode: str, turn: int | None, found: Iterator[_Found]) -> Iterator[LogDisagreement]:
    for one in found:
        if one.due is None or one.logged != one.due:
            yield LogDisagreement(episode, turn, one.field, dumps(one.logged), None if one.due is None else dumps(one.due))


def _of_game(order: str, record: LogRecord, steps: Sequence[StepRecord], *, delivered: bool) -> Iterator[_Found]:
    yield _Found("total_timestamps", len(record.total_timestamp), len(steps))
    yield _Found("total_order_finished", record.total_order_finished, [order] if delivered else [])


def _of_step(order: str, step: StepRecord, earned: int) -> Iterator[_Found]:
    if "order_list" in step.model_fields_set:
        yield _Found("order_list", step.order_list, [order])
    yield _Found("score", step.statistical_data.score, earned)
    lists = {name: getattr(step.content, name) for name in ("observation", "reflection", "action_list")}
    for name, pair in (lists | {"error_correction": step.statistical_data.error_correction}).items():
        if pair:
            yield _Found(name, len(pair), len(AGENTS))
    for agent, name in enumerate(AGENTS):
        for found in (*_of_conversation(step, agent), *_of_errors(step, agent), *_of_plan(step, agent)):
            yield found._replace(field=f"{name}.{found.field}")


def _of_conversation(step: StepRecord, agent: int) -> Iterator[_Found]:
    """Who speaks, and how often: says are listed twice, and each has its tokens."""
    counted, messages = step.statistical_data.communication[agent], step.content.content[agent]
    speakers = [message.agent for message in messages]
    yield _Found("communication.call", counted.call, int(bool(counted.turn)))
    if counted.token:
        yield _Found("communication.token", len(counted.token), len(counted.turn))
    spoken = [(place + agent) % 2 for place in range(len(counted.turn))] or [agent]
    if speakers:
        yield _Found("content.agent", speakers, spoken + [agent] * (len(speakers) - len(spoken)))
    if min(counted.token, default=0) < 0:
        yield _Found("communication.tokens", counted.token, None)
    if messages and not counted.turn:
        yield _Found("content.say", messages[0].say or NOTHING, NOTHING)
    says = iter([message.say for message in messages])
    if not all(said in says for said in counted.turn):
        yield _Found("communication.turn", counted.turn, [message.say for message in messages])
    refused = step.statistical_data.error[agent].validator_error.error_num
    if speakers and not len(spoken) <= len(speakers) <= len(spoken) + refused:
        yield _Found("content", len(speakers), len(spoken) + refused)


def _of_errors(step: StepRecord, agent: int) -> Iterator[_Found]:
    errors, corrections = step.statistical_data.error[agent], step.statistical_data.error_correction
    for kind, error in (("format_error", errors.format_error), ("validator_error", errors.validator_error)):
        yield _Found(f"{kind}.error_num", error.error_num, len(error.error_message))
    if agent < len(corrections):
        formats, refusals = corrections[agent].format_correction, corrections[agent].validator_correction
        for field, number, tokens in (
            ("format_correction", formats.correction_num, formats.correction_tokens),
            ("validator_error", errors.validator_error.error_num, refusals.correction_tokens),
        ):
            if tokens:  # cotrace's own games count none
                yield _Found(f"{field}.tokens", len(tokens), number)
        if formats.correction_num < 0:
            yield _Found("format_correction.correction_num", formats.correction_num, None)
        yield _Found("validator_correction.correction_num", refusals.correction_num, 0)
        yield _Found("validator_correction.reflection_obtain", refusals.reflection_obtain, [])


def _of_plan(step: StepRecord, agent: int) -> Iterator[_Found]:
    """The queue begins with the action in force; an agent was shown the kitchen in those steps in which it was asked."""
    queues, shown = step.content.action_list, step.content.observation
    if agent < len(queues):
        yield _Found("action_list", "".join(queues[agent][:1]).strip(), step.actions[agent].strip())
    if agent < len(shown):
        yield _Found("observation", isinstance(shown[agent], str), bool(step.content.content[agent]))


def _of_reflection(step: StepRecord) -> Iterator[_Found]:
    for name, lessons in zip(AGENTS, step.content.reflection, strict=False):
        yield _Found(f"{name}.reflection", lessons, [])


def _of_own(order: str, record: LogRecord) -> Iterator[_Found]:
    own = record.cotrace
    if own is None:
        return
    yield _Found("cotrace.version", own.version, _VERSION)
    yield _Found("cotrace.order", own.order, order)
    if own.rules not in _RULES:
        yield _Found("cotrace.rules", own.rules, None)
    if own.horizon < len(record.content):
        yield _Found("cotrace.horizon", own.horizon, None)
    if record.total_order_finished:
        yield _Found("cotrace.complete", own.complete, due=True)
    keys = [(label.timestep, label.agent, label.rubric, label.question) for label in own.labels]
    yield _Found("cotrace.labels", len(keys), len(set(keys)))
    strange = sorted({timestep for timestep, *_ in keys if not 0 <= timestep < len(record.content)})
    if strange:
        yield _Found("cotrace.labels.timestep", strange, None)
