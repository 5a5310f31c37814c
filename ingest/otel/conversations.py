"""Conversations out of spans: requests to models in the order of time, the tools that were carried out, evaluations as scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ingest.conversation.chat import ParsedMessage, said_by
from ingest.conversation.parts import called_tool
from ingest.conversation.rows import Conversation, ModelCall
from ingest.conversation.scores import numbers, outcome
from ingest.conversation.thread import ModelRequest, thread_of
from ingest.otel.spans import Span, messages
from schemas.errors import BadInputError
from schemas.text import excerpt

__all__ = ["BENCHMARK", "conversation_of", "grouped"]

BENCHMARK: Final = "otel"

_TOOLS: Final = "execute_tool"
_FRAMES: Final = frozenset({"invoke_agent", "create_agent", "invoke_workflow", _TOOLS})
"""Spans around requests to models, which repeat their messages."""
_MODEL_ROLE: Final = "assistant"
"""Who asked, where the log names no agent."""
_MOST_TOKENS: Final = 10**12
"""No model takes or gives so many at once."""


def grouped(spans: Sequence[Span]) -> dict[str, list[Span]]:
    """Conversation -> its spans in the order of time; where no span of a trace names one, the trace is the conversation."""
    named: dict[str, str] = {}
    for span in spans:
        told = span.attributes.get("gen_ai.conversation.id") or span.attributes.get("session.id")
        if told is not None:
            named.setdefault(span.trace, str(told))
    groups: dict[str, list[Span]] = {}
    for span in sorted(spans, key=lambda one: (one.start_ns, -(one.end_ns or 0))):
        told = span.attributes.get("gen_ai.conversation.id") or named.get(span.trace) or span.trace
        groups.setdefault(str(told), []).append(span)
    return groups


def conversation_of(name: str, spans: Sequence[Span]) -> Conversation:
    """One conversation.

    Raises:
        BadInputError: no span holds a message.
    """
    by_id = {span.id: span for span in spans}
    requests = [request for span in spans if (request := _request(span, by_id)) is not None]
    unanswered = [(_agent(span, by_id) or _MODEL_ROLE, _call(span, messages(span, "input"))) for span in spans if _is_unanswered(span)]
    said = said_by(_with_tools(thread_of([], requests), spans, by_id))
    if not said:
        raise BadInputError(
            "its spans hold no messages: either content was not recorded (set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT), or it "
            "went into log records, which are not read (OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental puts it on spans)",
            locator=name,
        )
    scores = dict(_evaluations(spans))
    success, score, by_number = outcome(scores)
    root = next((span for span in spans if span.parent not in by_id), spans[0])
    return Conversation(
        benchmark=BENCHMARK,
        run=root.service or root.name or BENCHMARK,
        task=name,
        messages=said,
        models={agent: call.model for agent, call in unanswered} | {one.agent: one.call.model for one in said if one.call is not None},
        told={agent: {"system_instructions": text} for agent, text in _instructions(spans, by_id)},
        success=success,
        score=score,
        by_number=by_number,
        metrics=numbers(scores),
        error=root.error,
        started_at=spans[0].start,
        details={"traces": list(dict.fromkeys(span.trace for span in spans)), "spans": len(spans), "root": root.name},
        unanswered=unanswered,
    )


def _agent(span: Span, by_id: Mapping[str, Span]) -> str | None:
    """The agent of a span, or of the nearest one around it."""
    here: Span | None = span
    seen: set[str] = set()
    while here is not None and here.id not in seen:
        seen.add(here.id)
        named = here.attributes.get("gen_ai.agent.name")
        if named:
            return str(named)
        here = by_id.get(here.parent or "")
    return None


def _is_unanswered(span: Span) -> bool:
    """Whether it is a request of a chat of which no answer is recorded: it failed, or its content was left out."""
    is_chat = str(span.attributes.get("gen_ai.operation.name")) in {"chat", "text_completion", "generate_content"}
    return is_chat and span.attributes.get("gen_ai.request.model") is not None and not messages(span, "output")


def _request(span: Span, by_id: Mapping[str, Span]) -> ModelRequest | None:
    """The request to a model that a span tells; None if it tells none. What frames others (an agent's span) repeats their messages."""
    if str(span.attributes.get("gen_ai.operation.name")) in _FRAMES:
        return None
    inputs, answers = messages(span, "input"), messages(span, "output")
    if not inputs and not answers:
        return None
    return ModelRequest(inputs=inputs, answers=answers, agent=_agent(span, by_id), call=_call(span, inputs), at=span.start)


def _call(span: Span, inputs: Sequence[Mapping[str, Any]]) -> ModelCall:
    told = span.attributes
    reasons = told.get("gen_ai.response.finish_reasons")
    return ModelCall(
        model=str(told.get("gen_ai.request.model") or told.get("gen_ai.response.model") or told.get("llm.model_name") or "unknown"),
        asked_at=span.start,
        served_model=None if told.get("gen_ai.response.model") is None else str(told["gen_ai.response.model"]),
        prompt=inputs,
        finish_reason=str(reasons[0]) if isinstance(reasons, list) and reasons else None,
        tokens_in=_count(told, "input_tokens", "prompt_tokens") or 0,
        tokens_out=_count(told, "output_tokens", "completion_tokens"),
        tokens_cached=_count(told, "cache_read.input_tokens", "cached_tokens") or 0,
        tokens_reasoning=_count(told, "reasoning.output_tokens", "reasoning_tokens") or 0,
        latency_s=span.seconds,
        error=span.error,
    )


def _count(told: Mapping[str, Any], *names: str) -> int | None:
    """None: the span does not say."""
    for name in (f"gen_ai.usage.{name}" for name in names):
        value = told.get(name)
        if isinstance(value, int | float):
            return _tokens(value, name)
    return None


def _tokens(value: float, name: str) -> int:
    if not 0 <= value <= _MOST_TOKENS or value != int(value):
        raise BadInputError(f"{name} is {excerpt(repr(value), 40)}, no count of tokens: the span is damaged", locator=f".attributes.{name}")
    return int(value)


def _with_tools(found: list[ParsedMessage], spans: Sequence[Span], by_id: Mapping[str, Span]) -> list[ParsedMessage]:
    """The messages, and tools that were carried out though no message calls them, each where it happened."""
    called = {id_ for message in found for id_ in _ids(message.raw)}
    extra = [_tool(span, _agent(span, by_id)) for span in spans if _is_silent_tool(span, called)]
    if not extra:
        return found
    placed = list(found)
    for message in extra:
        later = (index for index, other in enumerate(placed) if other.at is not None and message.at is not None and other.at > message.at)
        placed.insert(next(later, len(placed)), message)
    return placed


def _ids(raw: Mapping[str, Any]) -> Iterator[str]:
    parts = raw.get("content") if isinstance(raw.get("content"), list) else []
    for call in [*(raw.get("tool_calls") or []), *(part for part in parts or [] if isinstance(part, Mapping))]:
        if isinstance(call, Mapping) and (found := called_tool(call).id) is not None:
            yield found


def _is_silent_tool(span: Span, called: set[str]) -> bool:
    is_tool = span.attributes.get("gen_ai.operation.name") == _TOOLS
    return is_tool and str(span.attributes.get("gen_ai.tool.call.id")) not in called


def _tool(span: Span, agent: str | None) -> ParsedMessage:
    told = span.attributes
    result = told.get("gen_ai.tool.call.result")
    name = told.get("gen_ai.tool.name") or span.name
    call = {"name": name, "arguments": told.get("gen_ai.tool.call.arguments") or {}}
    raw = {"role": "tool", "content": result, "tool_calls": [call]} | ({"error": span.error} if span.error else {})
    return ParsedMessage(raw=raw | ({"metadata": {"agent": agent}} if agent else {}), at=span.start)


def _instructions(spans: Sequence[Span], by_id: Mapping[str, Span]) -> Iterator[tuple[str, Any]]:
    for span in spans:
        told = span.attributes.get("gen_ai.system_instructions")
        if told is not None:
            yield _agent(span, by_id) or "assistant", told


def _evaluations(spans: Sequence[Span]) -> Iterator[tuple[str, Any]]:
    for span in spans:
        for told in span.evaluations:
            value = told.get("gen_ai.evaluation.score.value", told.get("gen_ai.evaluation.score.label"))
            yield str(told.get("gen_ai.evaluation.name", "evaluation")), value
