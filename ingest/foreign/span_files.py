"""Spans in files that are not OTLP: console exporter, Phoenix, trees of spans (TRAIL), runs of LangSmith, OpenAI's Agents SDK."""

import ast
from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any, Final

from ingest.conversation.usage import usage_of
from ingest.foreign.otel_spans import Span, spans_of
from ingest.reading.text import read_any_time
from schemas.common.errors import BadInputError

Raw = Mapping[str, Any]

_KINDS: Final = {"llm": "LLM", "tool": "TOOL", "retriever": "RETRIEVER", "embedding": "EMBEDDING"}
"""`run_type` of LangSmith -> kind of a span; others are chains."""
_CHILDREN: Final = ("child_spans", "child_runs")


def spans_in(document: Any) -> Iterator[Span]:
    """The spans of one document, in whatever of these forms.

    Raises:
        BadInputError: a span of it is damaged.
    """
    if isinstance(document, list):
        for one in document:
            yield from spans_in(one)
    elif isinstance(document, Mapping) and "run_type" in document:
        yield from _with_children(document, _run(document))
    elif isinstance(document, Mapping) and document.get("object") == "trace":
        return  # the name of a trace of the Agents SDK, whose spans come by themselves
    elif isinstance(document, Mapping) and document.get("object") == "trace.span":
        yield _agents_span(document)
    elif isinstance(document, Mapping) and ("span_attributes" in document or isinstance(document.get("context"), Mapping)):
        yield from _with_children(document, _span(document))
    elif isinstance(document, Mapping) and "resourceSpans" not in document and (held := _listed(document)) is not None:
        yield from spans_in(held)
    else:
        yield from spans_of(document)


def _listed(document: Raw) -> list[Any] | None:
    """The spans of a tree, a page of runs as LangSmith's interface gives it, or what the Agents SDK sends at once."""
    return next((document[key] for key in ("spans", "runs", "data") if isinstance(document.get(key), list)), None)


def _with_children(raw: Raw, span: Span) -> Iterator[Span]:
    yield span
    for key in _CHILDREN:
        yield from spans_in(raw.get(key) or [])


def _span(raw: Raw) -> Span:
    """A span of the console exporter, of Phoenix or of a tree: the same facts under other names."""
    held = raw.get("context")
    context: Raw = held if isinstance(held, Mapping) else {"trace_id": raw.get("trace_id"), "span_id": raw.get("span_id")}
    attributes = dict(_flat(raw.get("span_attributes") or raw.get("attributes") or {}, ""))
    if raw.get("span_kind") and "openinference.span.kind" not in attributes and str(raw["span_kind"]).isupper():
        attributes["openinference.span.kind"] = raw["span_kind"]
    resource = dict(_flat(raw.get("resource_attributes") or (raw.get("resource") or {}).get("attributes") or {}, ""))
    status = raw.get("status") if isinstance(raw.get("status"), Mapping) else {}
    code = str((status or {}).get("status_code") or raw.get("status_code") or "").upper()
    message = (status or {}).get("description") or raw.get("status_message") or "error"
    service = raw.get("service_name") or resource.get("service.name")
    return Span(
        id=str(context.get("span_id")),
        trace=str(context.get("trace_id")),
        parent=_text(raw.get("parent_id") or raw.get("parent_span_id")),
        name=str(raw.get("name") or raw.get("span_name") or ""),
        start_ns=_time(raw, "start_time", "timestamp"),
        end_ns=_time(raw, "end_time") if raw.get("end_time") else None,
        error=str(message) if code == "ERROR" else None,
        attributes=attributes,
        service=_text(service),
        scope=_text(raw.get("scope_name")),
    )


def _run(raw: Raw) -> Span:
    """A run of LangSmith."""
    kind = _KINDS.get(str(raw["run_type"]), "CHAIN")
    inputs, outputs = (found if isinstance(found := raw.get(key), Mapping) else {} for key in ("inputs", "outputs"))
    extra = raw.get("extra") if isinstance(raw.get("extra"), Mapping) else {}
    held = (extra or {}).get("metadata")
    metadata: Raw = held if isinstance(held, Mapping) else {}
    attributes: dict[str, Any] = {"openinference.span.kind": kind, "tool.name": raw.get("name")}
    attributes |= {"agent.name": metadata["langgraph_node"]} if metadata.get("langgraph_node") else {}
    attributes |= {"llm.model_name": metadata["ls_model_name"]} if metadata.get("ls_model_name") else {}
    attributes |= {"session.id": metadata["thread_id"]} if metadata.get("thread_id") else {}
    if kind == "TOOL":
        attributes |= {"input.value": _arguments(inputs.get("input", inputs)), "output.value": _words(outputs.get("output", outputs))}
    answers = list(_answers(outputs))
    counted = next((found for one in [*answers, outputs.get("llm_output"), outputs, raw] if (found := usage_of(one)) is not None), None)
    if counted is not None:
        attributes |= {"gen_ai.usage.input_tokens": counted.tokens_in, "gen_ai.usage.output_tokens": counted.tokens_out}
    return Span(
        id=str(raw.get("id")),
        trace=str(raw.get("trace_id") or raw.get("id")),
        parent=_text(raw.get("parent_run_id")),
        name=str(raw.get("name") or ""),
        start_ns=_time(raw, "start_time"),
        end_ns=_time(raw, "end_time") if raw.get("end_time") else None,
        error=_text(raw.get("error")),
        attributes={key: value for key, value in attributes.items() if value is not None},
        service=_text(raw.get("session_name")),
        events={"input": list(_messages(inputs.get("messages"))), "output": answers} if kind == "LLM" else {},
    )


def _agents_span(raw: Raw) -> Span:
    """A span of OpenAI's Agents SDK."""
    data, error = (found if isinstance(found := raw.get(key), Mapping) else {} for key in ("span_data", "error"))
    kind = _KINDS_OF_AGENTS.get(str(data.get("type")), "CHAIN")
    response = found if isinstance(found := data.get("response"), Mapping) else {}
    attributes: dict[str, Any] = {"openinference.span.kind": kind, "llm.model_name": data.get("model") or response.get("model")}
    if kind == "AGENT":
        attributes["agent.name"] = data.get("name")
    elif kind == "TOOL":
        attributes |= {"tool.name": data.get("name"), "input.value": data.get("input"), "output.value": data.get("output")}
    answer = data.get("output") or response.get("output")
    counted = usage_of(data) or usage_of(response)
    if counted is not None:
        attributes |= {"gen_ai.usage.input_tokens": counted.tokens_in, "gen_ai.usage.output_tokens": counted.tokens_out}
    return Span(
        id=str(raw.get("id")),
        trace=str(raw.get("trace_id")),
        parent=_text(raw.get("parent_id")),
        name=str(data.get("name") or data.get("type") or ""),
        start_ns=_time(raw, "started_at"),
        end_ns=_time(raw, "ended_at") if raw.get("ended_at") else None,
        error=_text(error.get("message")),
        service=None,
        attributes={key: value for key, value in attributes.items() if value is not None},
        events={"input": list(_messages(data.get("input"))), "output": list(_messages(answer))} if kind == "LLM" else {},
    )


_KINDS_OF_AGENTS: Final = {"agent": "AGENT", "generation": "LLM", "response": "LLM", "function": "TOOL"}
"""Type of a span of the Agents SDK -> kind of a span; others, such as handoffs, are chains."""


def _answers(outputs: Raw) -> Iterator[dict[str, Any]]:
    """What a model replied: generations, choices, a message, or messages."""
    for one in _messages(outputs.get("generations") or outputs.get("choices") or outputs.get("messages") or outputs.get("output")):
        message = one.get("message")
        yield dict(message) if isinstance(message, Mapping) else {"role": "assistant", "content": one["text"]} if one.get("text") else one
    if isinstance(outputs.get("message"), Mapping):
        yield dict(outputs["message"])
    elif "content" in outputs:
        yield {"role": "assistant", **outputs}


def _messages(given: Any) -> Iterator[dict[str, Any]]:
    if isinstance(given, Mapping):
        yield dict(given)
    elif isinstance(given, list):
        for one in given:
            yield from _messages(one)
    elif isinstance(given, str) and given:
        yield {"role": "user", "content": given}


def _arguments(given: Any) -> Any:
    """LangChain writes an object of arguments as Python does."""
    try:
        return ast.literal_eval(given) if isinstance(given, str) and given.startswith("{") else given
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return given


def _words(given: Any) -> Any:
    return given["content"] if isinstance(given, Mapping) and isinstance(given.get("content"), str) else given


def _flat(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Attributes by their names with points; numbers for places in lists of objects."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
        for index, inner in enumerate(value):
            yield from _flat(inner, f"{path}.{index}")
    elif value is not None:
        yield path, value


def _text(value: Any) -> str | None:
    return None if value in (None, "") else str(value)


def _time(raw: Raw, *names: str) -> int:
    """Nanoseconds since 1970."""
    given = next((raw[name] for name in names if raw.get(name)), None)
    found = read_any_time(given)
    if found is None:
        raise BadInputError(f"a span has no {names[0]} that is a time", locator=str(raw.get("id") or raw.get("span_id") or ""))
    return int(found.replace(tzinfo=UTC).timestamp() * 1e9)
