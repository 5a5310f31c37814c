"""All messages of a sample: those of its conversation, and those that only its models' requests hold.

`sample.messages` is the conversation as it stood at the end. What sub-agents said, and what was taken out of the history, stands in the
requests to models alone. Requests of scorers are about the sample, no part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from ingest.conversation.chat import ParsedMessage
from ingest.conversation.rows import ModelCall
from ingest.conversation.thread import ModelRequest, thread_of

if TYPE_CHECKING:
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessage

__all__ = ["messages_of"]

_AROUND: Final = frozenset({"tool", "subtask"})
"""Kinds of events that hold others."""
_HOLD_MESSAGES: Final = frozenset({"model", "span_begin", "step"})
"""Kinds of events that are requests to models, or tell who makes them."""
_DEFAULTS: Final[Mapping[str, Any]] = {"tools": [], "tool_choice": "auto", "config": {}}
"""Of a request, which are not read."""
_SCORERS: Final = frozenset({"scorer", "scorers", "score"})


class _Span(NamedTuple):
    parent: str | None
    kind: str | None
    name: str


def messages_of(sample: EvalSample) -> tuple[list[ParsedMessage], list[str]]:
    """The messages of a sample whose attachments and pools are resolved, in order; and what could not be read of its events, and why."""
    lost: list[str] = []
    return thread_of([_raw(message) for message in sample.messages], list(_requests(sample.events, lost))), lost


def _raw(message: ChatMessage) -> dict[str, Any]:
    return message.model_dump(mode="json", exclude_none=True)


def _requests(events: Sequence[Any], lost: list[str]) -> Iterator[ModelRequest]:
    """Requests to models outside of scorers, in order, those inside of tools and subtasks included."""
    spans: dict[str, _Span] = {}
    steps: list[_Span] = []
    for event in _flat(events, lost):
        if event.event == "span_begin":
            spans[event.id] = _Span(event.parent_id, event.type, event.name)
        elif event.event == "step":
            steps = [*steps, _Span(None, event.type, event.name)] if event.action == "begin" else steps[:-1]
        elif event.event == "model":
            around = [*_around(spans, event.span_id), *reversed(steps)]
            if not any(span.kind in _SCORERS for span in around):
                yield _request(event, next((span.name for span in around if span.kind == "agent"), None))


def _flat(events: Sequence[Any], lost: list[str]) -> Iterator[Any]:
    """The events that hold messages or are around them; inside of a tool's they are objects of JSON in older logs."""
    for event in events:
        held = isinstance(event, Mapping)
        kind = event.get("event") if held else getattr(event, "event", None)
        if kind in _AROUND:
            inner = event.get("events") if held else event.events
            yield from _flat(inner if isinstance(inner, list) else [], lost)
        elif kind in _HOLD_MESSAGES:
            read = _event(event, lost) if held else event
            if read is not None:
                yield read


def _event(event: Mapping[str, Any], lost: list[str]) -> Any:
    """An event; None, and why it is lost, where Inspect does not read it."""
    try:
        return _events(event["event"]).validate_python({**_DEFAULTS, **event}, context={"deserializing": True})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        lost.append(f"Inspect does not read a {event['event']} event inside of a tool's ({where}: {first['msg']}); the rest was read")
        return None


@cache
def _events(kind: str) -> TypeAdapter[Any]:
    from inspect_ai.event import ModelEvent, SpanBeginEvent, StepEvent

    return TypeAdapter({"model": ModelEvent, "span_begin": SpanBeginEvent, "step": StepEvent}[kind])


def _around(spans: dict[str, _Span], span: str | None) -> Iterator[_Span]:
    """The spans around, from the inside."""
    seen: set[str] = set()
    while span in spans and span not in seen:
        seen.add(span)
        yield spans[span]
        span = spans[span].parent


def _request(event: ModelEvent, agent: str | None) -> ModelRequest:
    failed = event.error is not None or not event.output.choices
    return ModelRequest(
        inputs=[_raw(message) for message in event.input],
        answers=[] if failed else [_raw(event.output.message)],
        agent=agent,
        call=_call(event),
        at=_clock(event.completed or event.timestamp),
    )


def _call(event: ModelEvent) -> ModelCall:
    output, usage = event.output, event.output.usage
    spent = usage.output_tokens if usage is not None and usage.total_tokens else None
    return ModelCall(
        model=event.model,
        asked_at=_clock(event.timestamp),
        served_model=output.model or None,
        prompt=[[message.role, message.text] for message in event.input],
        finish_reason=output.stop_reason if output.choices else None,
        tokens_in=None if spent is None or usage is None else max(usage.total_tokens - usage.output_tokens, usage.input_tokens),
        tokens_out=spent,
        tokens_cached=None if usage is None else usage.input_tokens_cache_read,
        tokens_reasoning=None if usage is None else usage.reasoning_tokens,
        latency_s=event.working_time if event.working_time is not None else output.time,
        cost=getattr(usage, "total_cost", None),
        attempts=1 + (event.retries or 0),
    )


def _clock(time: datetime) -> datetime:
    return time.replace(tzinfo=None)
