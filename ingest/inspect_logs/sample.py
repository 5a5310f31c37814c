"""A sample of an Inspect log as a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ingest.conversation.chat import said_by
from ingest.conversation.parts import text_of
from ingest.conversation.rows import Conversation, LoggedMessage
from ingest.conversation.scores import numbers, outcome
from ingest.inspect_logs.transcript import messages_of
from ingest.reading.times import read_time
from schemas.errors import BadInputError
from schemas.text import excerpt

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

__all__ = ["BENCHMARK", "DESERIALIZING", "conversation_of", "models_of", "sample_of"]

BENCHMARK: Final = "inspect"
DESERIALIZING: Final = {"deserializing": True}
"""Tells Inspect's classes that a log is read: messages without an id get none."""


def sample_of(raw: Any) -> EvalSample:
    """A sample with its attachments and pools resolved.

    Raises:
        BadInputError: it is none.
    """
    from inspect_ai.log import EvalSample, resolve_sample_attachments
    from pydantic import ValidationError

    try:
        return resolve_sample_attachments(EvalSample.model_validate(raw, context=DESERIALIZING), "core")
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadInputError(f"Inspect does not read it: {first['msg']}; was it written by a newer version?", locator=f".{where}") from error
    except Exception as error:  # what mends older logs there trips over damage in ways of its own
        raise BadInputError(f"Inspect does not read it ({excerpt(str(error))}): the log is damaged, copy it again") from error


def conversation_of(sample: EvalSample, log: EvalLog) -> Conversation:
    """A sample as a conversation; every message that it or a model's request holds is a turn."""
    found, lost = messages_of(sample)
    said = said_by(found)
    scores = {name: score.value for name, score in (sample.scores or {}).items()}
    own = sample.metadata.get("cotrace") or {}
    success, score, by_number = (own.get("success"), own.get("score"), False) if own else outcome(scores)
    return Conversation(
        benchmark=BENCHMARK,
        run=_run_name(log),
        task=str(sample.id),
        messages=said,
        models={agent["agent"]: agent["model"] for agent in own.get("agents", ()) if agent["model"]} or models_of(said, log.eval.model),
        roles={agent["agent"]: agent["role"] for agent in own.get("agents", ())},
        told={agent["agent"]: agent["private_view"] for agent in own.get("agents", ()) if agent["private_view"] is not None},
        goal=_goal(sample),
        success=success,
        score=score,
        by_number=by_number,
        metrics=_metrics(scores, own),
        condition=_condition(log),
        seed=sample.epoch,
        attempt=sample.epoch,
        stop_reason=_stop_reason(sample),
        error=None if sample.error is None else sample.error.message,
        started_at=read_time(str(sample.started_at or log.eval.created)),
        model=log.eval.model,
        details=_details(sample, log),
        lost=lost,
    )


def models_of(said: list[LoggedMessage], evaluated: str) -> dict[str, str]:
    """Agent -> model: as the requests tell, of those that only the conversation shows the evaluated one."""
    found = {one.agent: one.call.model for one in said if one.call is not None}
    if not found:
        found = {one.agent: evaluated for one in said if one.agent not in {"user", "system", "tool"}}
    return found


def _metrics(scores: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, float]:
    """Of a log that cotrace wrote, without what `success` and `score` of the game say already."""
    taken = {"success", "score"} if own else set()
    found = numbers({name: value for name, value in scores.items() if name not in taken})
    return {name.removeprefix(f"{BENCHMARK}."): value for name, value in found.items()}


def _run_name(log: EvalLog) -> str:
    given = log.eval.task_args_passed or {}
    told = ", ".join(f"{key}={value}" for key, value in given.items() if not isinstance(value, dict | list))
    return f"{log.eval.task} ({told})" if told else log.eval.task


def _condition(log: EvalLog) -> dict[str, Any]:
    spec = log.eval
    settings = spec.model_generate_config.model_dump(mode="json", exclude_none=True)
    said = {"task_args": spec.task_args, "solver": spec.solver, "solver_args": spec.solver_args, "generate": settings}
    return {"task": spec.task} | {key: value for key, value in said.items() if value}


def _goal(sample: EvalSample) -> dict[str, Any]:
    asked = (
        sample.input
        if isinstance(sample.input, str)
        else "\n".join(text_of(message.model_dump(mode="json")["content"]) for message in sample.input)
    )
    goal: dict[str, Any] = {"input": asked, "target": sample.target}
    return goal | ({"choices": sample.choices} if sample.choices else {})


def _stop_reason(sample: EvalSample) -> str | None:
    if sample.error is not None:
        return "error"
    if sample.limit is not None:
        return f"limit: {sample.limit.type}"
    return sample.output.stop_reason if sample.output.choices else None


def _details(sample: EvalSample, log: EvalLog) -> Mapping[str, Any]:
    scores = {name: score.model_dump(mode="json", exclude_none=True, exclude={"history"}) for name, score in (sample.scores or {}).items()}
    told = {
        "eval_id": log.eval.eval_id,
        "run_id": log.eval.run_id,
        "created": str(log.eval.created),
        "log_status": log.status,
        "scores": scores,
        "metadata": sample.metadata,
        "sample_uuid": sample.uuid,
        "limit": None if sample.limit is None else sample.limit.model_dump(mode="json"),
        "retried_after": [retry.message for retry in sample.error_retries or []],
        "invalidation": None if sample.invalidation is None else sample.invalidation.model_dump(mode="json"),
        "model_usage": {name: usage.model_dump(mode="json", exclude_none=True) for name, usage in sample.model_usage.items()},
        "seconds": sample.total_time,
        "working_seconds": sample.working_time,
    }
    return {key: value for key, value in told.items() if value not in (None, {}, [])}
