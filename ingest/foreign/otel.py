"""Reads spans of generative AI, of OpenTelemetry and others (`span_files`); a conversation is a game, a message a turn."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from ingest.conversation.chat import ModelRequest, ParsedMessage, logged_messages, thread_of
from ingest.conversation.messages import CalledTool, called_tool, calls_of, parts_of
from ingest.conversation.rows import Conversation, completed, numbers, outcome, reading_of
from ingest.conversation.usage import UNKNOWN_MODEL, ModelCall, usage_of
from ingest.foreign import trail
from ingest.foreign.otel_spans import Span, messages, with_content
from ingest.foreign.span_files import spans_in
from ingest.reading.adapter_types import Place, Reading
from ingest.reading.text import documents_of, dumps, is_whole, lines_of, read_json, top_keys
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt

BENCHMARK: Final = "otel"

_TOOLS: Final = "execute_tool"
_FRAMES: Final = frozenset({"invoke_agent", "create_agent", "invoke_workflow", "agent", "workflow", "task", "chain"})
"""Operations and kinds of spans around requests to models, which repeat their messages."""
_CHATS: Final = frozenset({"chat", "text_completion", "generate_content", "llm"})
_NO_REQUESTS: Final = frozenset({_TOOLS, "tool", "retriever", "embedding", "reranker", "guardrail", "evaluator"})
_KINDS: Final = ("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind")
_MODEL_ROLE: Final = "assistant"
"""Who asked, where the log names no agent."""
_MODELS: Final = ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "llm.request.model")
_USAGES: Final = ("gen_ai.usage", "llm.token_count", "llm.usage")
_TOKENS_IN: Final = ("input_tokens", "prompt_tokens", "prompt")
_TOKENS_OUT: Final = ("output_tokens", "completion_tokens", "completion")
_TOOL_NAMES: Final = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name")
_TOOL_INPUTS: Final = (
    "gen_ai.tool.call.arguments",
    "ai.toolCall.args",
    "gcp.vertex.agent.tool_call_args",
    "input.value",
    "traceloop.entity.input",
)
_RESPONSES: Final = ("response_data", "gcp.vertex.agent.llm_response", "output.value")
"""Attributes that hold a whole response, with its tokens."""
_DECORATED: Final = frozenset({"inputs", "args", "kwargs", "sanitize_inputs_outputs", "input_str", "tags", "metadata"})
_TOOL_OUTPUTS: Final = (
    "gen_ai.tool.call.result",
    "ai.toolCall.result",
    "gcp.vertex.agent.tool_response",
    "output.value",
    "traceloop.entity.output",
)
_LISTED: Final = 8
_MOST_TOKENS: Final = 10**12
"""No model takes or gives so many at once."""


def grouped(spans: Sequence[Span]) -> dict[str, list[Span]]:
    """Conversation -> its spans in the order of time; where no span of a trace names one, the trace is the conversation.

    An agent that another one calls can have a conversation id of its own: it is part of the conversation of the spans around it.
    """
    by_id = {span.id: span for span in spans}
    named: dict[str, str] = {}
    for span in spans:
        thread = span.attributes.get("gen_ai.conversation.id") or span.attributes.get("session.id")
        if thread is not None:
            named.setdefault(span.trace, str(thread))
    groups: dict[str, list[Span]] = {}
    for span in sorted(spans, key=lambda one: (one.start_ns, -(one.end_ns or 0))):
        around = (one.attributes.get("gen_ai.conversation.id") for one in (span, *_around(span, by_id)))
        thread = next((found for found in reversed(list(around)) if found), None) or named.get(span.trace) or span.trace
        groups.setdefault(str(thread), []).append(span)
    return groups


def conversation_of(name: str, spans: Sequence[Span]) -> Conversation:
    """One conversation.

    Raises:
        BadInputError: no span holds a message.
    """
    by_id = {span.id: span for span in spans}
    repeated, frames = _repeated(spans, by_id), _frames(spans, by_id)
    own = [span for span in spans if span.id not in repeated]
    requests = [request for span in own if (request := _request(span, by_id, frames)) is not None]
    unanswered = [(_agent(span, by_id) or _MODEL_ROLE, _call(span, messages(span, "input"))) for span in own if _is_unanswered(span)]
    spoken = logged_messages(_with_tools(thread_of([], requests), spans, by_id))
    if not spoken:
        raise _without_messages(spans)
    scores = dict(_evaluations(spans))
    success, score, by_number = outcome(scores)
    root = next((span for span in spans if span.parent not in by_id), spans[0])
    repeat, are = ("span repeats", "is") if len(repeated) == 1 else ("spans repeat", "are")
    return Conversation(
        benchmark=BENCHMARK,
        run=root.service or root.name or BENCHMARK,
        task=name,
        messages=spoken,
        models={agent: call.model for agent, call in unanswered} | {one.agent: one.call.model for one in spoken if one.call is not None},
        received={agent: {"system_instructions": text} for agent, text in _instructions(spans, by_id)},
        success=success,
        score=score,
        by_number=by_number,
        metrics=numbers(scores),
        error=root.error,
        started_at=spans[0].start,
        details={"traces": list(dict.fromkeys(span.trace for span in spans)), "spans": len(spans), "root": root.name},
        unanswered=unanswered,
        lost=_unread_requests(own),
        notes=[f"{len(repeated)} {repeat} the request of another span, and {are} counted once"] if repeated else [],
    )


def _unread_requests(spans: Sequence[Span]) -> list[str]:
    """That requests hold their messages in a form that is not read."""
    unread = [
        one for one in spans if _kind(one) in _CHATS and not messages(one, "input") and not messages(one, "output") and with_content(one)
    ]
    held = dict.fromkeys(name for span in unread for name in with_content(span))
    if not unread:
        return []
    return [f"{len(unread)} requests hold messages under attributes that are not read: {', '.join([*held][:_LISTED])}; the rest was read"]


def _without_messages(spans: Sequence[Span]) -> BadInputError:
    """Why there are no messages: content was recorded in a form that is not read, or not at all."""
    held = list(dict.fromkeys(name for span in spans for name in with_content(span)))
    if held:
        return BadInputError(
            f"its spans hold messages under attributes that are not read: {', '.join(held[:_LISTED])}; export them as "
            "gen_ai.input.messages and gen_ai.output.messages (semantic conventions 1.37), or rows for --map (docs/formats/chat_lines.md)"
        )
    return BadInputError(
        "its spans hold no messages: either content was not recorded (set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT), or it "
        "went into log records, which are not read (OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental puts it on spans)"
    )


def _kind(span: Span) -> str:
    """What a span is of, as its instrumentation names it: chat, execute_tool, invoke_agent, llm, agent, tool, ..."""
    if "all_messages_events" in span.attributes or "pydantic_ai.all_messages" in span.attributes:
        return "invoke_agent"
    if span.attributes.get("ai.operationId") == "ai.toolCall":
        return _TOOLS
    return next((str(span.attributes[name]).lower() for name in _KINDS if span.attributes.get(name)), "")


def _named_agent(span: Span) -> str | None:
    """The agent that a span is of, or in whose name it was made."""
    attributes = span.attributes
    named = attributes.get("gen_ai.agent.name") or attributes.get("agent.name") or attributes.get("agent_name")
    named = named or attributes.get("ai.telemetry.functionId")
    if not named and _kind(span) == "agent":
        named = attributes.get("traceloop.entity.name") or span.name.removesuffix(".agent")
    return str(named) if named else None


def _around(span: Span, by_id: Mapping[str, Span]) -> Iterator[Span]:
    """The spans around, from the inside."""
    seen = {span.id}
    here = by_id.get(span.parent or "")
    while here is not None and here.id not in seen:
        seen.add(here.id)
        yield here
        here = by_id.get(here.parent or "")


def _repeated(spans: Sequence[Span], by_id: Mapping[str, Span]) -> set[str]:
    """Ids of spans that tell a request again: a client and its wrapper, traced both, are one request, with what both tell of it."""
    found: set[str] = set()
    requests = [span for span in spans if _tells_request(span)]
    neighbours: dict[tuple[str, str | None, str], list[Span]] = defaultdict(list)
    for span in requests:
        neighbours[_neighbour(span)].append(span)
    for span in reversed(requests):  # those inside first
        others = neighbours[_neighbour(span)]
        others.remove(span)
        for outer in (*filter(_tells_request, _around(span, by_id)), *(other for other in others if _is_same_neighbour(other, span))):
            if outer.id not in found and _has_same_messages(outer, span):
                found.add(outer.id)
                span.attributes = {**outer.attributes, **span.attributes}  # such as tokens that the wrapper alone counts
    return found


def _neighbour(span: Span) -> tuple[str, str | None, str]:
    """What spans of one request share that are not in one another: trace, span around, and answer."""
    return span.trace, span.parent, dumps([_words(raw) for raw in messages(span, "output")])


def _is_same_neighbour(outer: Span, inner: Span) -> bool:
    """Whether a span next to another is proved to be the same request.

    Its answer has the same id; or another instrumentation wrote it, it lasted through all of the other, and both count the same tokens.
    """
    answers = [span.attributes.get("gen_ai.response.id") for span in (outer, inner)]
    if None not in answers:
        return answers[0] == answers[1]
    lasts = outer.end_ns is not None and inner.end_ns is not None and outer.start_ns <= inner.start_ns < inner.end_ns <= outer.end_ns
    used, same_used = ([_count(span.attributes, *names) for names in (_TOKENS_IN, _TOKENS_OUT)] for span in (outer, inner))
    return lasts and None not in {outer.scope, inner.scope} and outer.scope != inner.scope and None not in used and used == same_used


def _tells_request(span: Span) -> bool:
    return _kind(span) not in _FRAMES | _NO_REQUESTS and bool(messages(span, "input") or messages(span, "output") or _is_unanswered(span))


def _has_same_messages(outer: Span, inner: Span) -> bool:
    """Whether two requests have the same answer, and the same inputs but for some that one of them leaves out."""
    ours, theirs = ([_words(raw) for raw in messages(span, "input")] for span in (outer, inner))
    answers, same_answers = ([_words(raw) for raw in messages(span, "output")] for span in (outer, inner))
    fewer, more = sorted((ours, theirs), key=len)
    return answers == same_answers and not Counter(fewer) - Counter(more) and bool(fewer or answers)


def _words(raw: Mapping[str, Any]) -> str:
    """What a message holds in whatever form: its words, and the tools that it calls."""
    return dumps([parts_of(raw.get("content")).text.strip(), [[call.use.name, call.use.arguments] for call in calls_of(raw)]])


def _agent(span: Span, by_id: Mapping[str, Span]) -> str | None:
    """The agent of a span, or of the nearest one around it."""
    return next((named for one in (span, *_around(span, by_id)) if (named := _named_agent(one)) is not None), None)


def _is_unanswered(span: Span) -> bool:
    """Whether it is a request of a chat of which no answer is recorded: it failed, or its content was left out."""
    return _kind(span) in _CHATS and _model(span) is not None and not messages(span, "output")


def _request(span: Span, by_id: Mapping[str, Span], frames: Mapping[str, bool]) -> ModelRequest | None:
    """The request to a model that a span tells; None if it tells none."""
    if _kind(span) in _NO_REQUESTS or frames.get(span.id, False):
        return None
    inputs, answers = messages(span, "input"), messages(span, "output")
    if not inputs and not answers:
        return None
    call = None if span.id in frames else _call(span, inputs)
    return ModelRequest(inputs=inputs, answers=answers, agent=_agent(span, by_id), call=call, at=span.start)


def _frames(spans: Sequence[Span], by_id: Mapping[str, Span]) -> dict[str, bool]:
    """Id of a span around requests to models -> whether spans inside of it tell messages, which it then repeats.

    An agent's span with messages and no request inside is a request itself, and not among them.
    """
    found: dict[str, bool] = {}
    for span in reversed(spans):  # those inside first
        has_messages = bool(messages(span, "input") or messages(span, "output"))
        if _kind(span) not in _NO_REQUESTS and (has_messages or _is_unanswered(span)):
            for outer in _around(span, by_id):
                if _kind(outer) in _FRAMES:
                    found[outer.id] = found.get(outer.id, False) or has_messages
    return found


def _call(span: Span, inputs: Sequence[Mapping[str, Any]]) -> ModelCall:
    attributes = span.attributes
    reasons = attributes.get("gen_ai.response.finish_reasons")
    usage = next((found for name in _RESPONSES if (found := usage_of(read_json(str(attributes.get(name) or "")))) is not None), None)
    tokens_in, tokens_out = _count(attributes, *_TOKENS_IN), _count(attributes, *_TOKENS_OUT)
    return ModelCall(
        model=_model(span) or UNKNOWN_MODEL,
        asked_at=span.start,
        served_model=None if attributes.get("gen_ai.response.model") is None else str(attributes["gen_ai.response.model"]),
        prompt=inputs,
        finish_reason=str(reasons[0]) if isinstance(reasons, list) and reasons else None,
        tokens_in=usage.tokens_in if tokens_in is None and usage is not None else tokens_in,
        tokens_out=usage.tokens_out if tokens_out is None and usage is not None else tokens_out,
        tokens_cached=_count(
            attributes, "cache_read.input_tokens", "cache_read_input_tokens", "cached_tokens", "prompt_details.cache_read"
        ),
        tokens_reasoning=_count(attributes, "reasoning.output_tokens", "reasoning_tokens", "completion_details.reasoning"),
        latency_s=span.seconds,
        error=span.error,
    )


def _count(attributes: Mapping[str, Any], *names: str) -> int | None:
    """None: the span does not say."""
    for name in (f"{usage}.{name}" for usage in _USAGES for name in names):
        value = attributes.get(name)
        if isinstance(value, str) and value.isdecimal():
            value = int(value)
        if isinstance(value, int | float):
            return _tokens(value, name)
    return None


def _model(span: Span) -> str | None:
    named = next((span.attributes[name] for name in _MODELS if span.attributes.get(name)), None)
    return None if named is None else str(named)


def _tokens(value: float, name: str) -> int:
    if not 0 <= value <= _MOST_TOKENS or value != int(value):
        raise BadInputError(f"{name} is {excerpt(repr(value), 40)}, no count of tokens: the span is damaged", locator=f".attributes.{name}")
    return int(value)


def _with_tools(found: list[ParsedMessage], spans: Sequence[Span], by_id: Mapping[str, Span]) -> list[ParsedMessage]:
    """The messages, and tools that were carried out though no message calls them or has their result, each where it happened."""
    called = [call for message in found for call in calls_of(message.raw)]
    answered = {str(message.raw["tool_call_id"]) for message in found if message.raw.get("tool_call_id")}
    answered |= {id_ for message in found for id_ in parts_of(message.raw.get("content")).results}
    placed = list(found)
    for span in spans:
        if _kind(span) in {_TOOLS, "tool"}:
            later = (index for index, other in enumerate(placed) if other.at is not None and other.at > span.start)
            place = next(later, len(placed))
            placed[place:place] = _tool(span, _agent(span, by_id), called, answered)
    return placed


def _tool(span: Span, agent: str | None, called: list[CalledTool], answered: set[str]) -> list[ParsedMessage]:
    """What a tool's span adds: the agent's call and the tool's result, or what of both no message has."""
    attributes = span.attributes
    given: Any = next((attributes[name] for name in _TOOL_INPUTS if attributes.get(name) is not None), {})
    read = called_tool({"arguments": given}).use.arguments
    inner = next((read[key] for key in ("inputs", "kwargs") if isinstance(read.get(key), Mapping) and read[key]), None)
    call: dict[str, Any] = {
        "id": span.id,
        "name": next((attributes[name] for name in _TOOL_NAMES if attributes.get(name)), span.name),
        "arguments": given if inner is None or set(read) - _DECORATED or read.get("args") else inner,
    }
    result = next((attributes[name] for name in _TOOL_OUTPUTS if attributes.get(name) is not None), None)
    use = called_tool(call).use
    at = span.start
    named = attributes.get("gen_ai.tool.call.id") or attributes.get("ai.toolCall.id")
    same = (one for one in called if (one.id == str(named) if named else (one.use.name, one.use.arguments) == (use.name, use.arguments)))
    known = next(same, None)
    raw: dict[str, Any] = {"role": "tool", "content": span.error if result is None else result} | (
        {"error": span.error} if span.error else {}
    )
    if known is None:
        made = ParsedMessage(raw={"role": "assistant", "tool_calls": [call]}, agent=agent, at=at)
        has_come = result is not None or span.error is not None
        return [made, ParsedMessage(raw={**raw, "tool_call_id": span.id}, at=at)] if has_come else [made]
    called.remove(known)
    if result is None or known.id is None or known.id in answered:
        return []
    return [ParsedMessage(raw={**raw, "tool_call_id": known.id}, at=at)]


def _instructions(spans: Sequence[Span], by_id: Mapping[str, Span]) -> Iterator[tuple[str, Any]]:
    for span in spans:
        instructions = span.attributes.get("gen_ai.system_instructions")
        if instructions is not None:
            yield _agent(span, by_id) or "assistant", instructions


def _evaluations(spans: Sequence[Span]) -> Iterator[tuple[str, Any]]:
    for span in spans:
        for evaluation in span.evaluations:
            value = evaluation.get("gen_ai.evaluation.score.value", evaluation.get("gen_ai.evaluation.score.label"))
            yield str(evaluation.get("gen_ai.evaluation.name", "evaluation")), value


FORMAT: Final = "otel"
VERSION: Final = 13

_BEGINNING: Final = re.compile(rb'\A\s*\{\s*"resource(Spans|Logs|Metrics)"\s*:')


_FORMS: Final = tuple(
    tuple(re.compile(mark) for mark in marks)
    for marks in (
        (rb'"context"\s*:\s*\{', rb'"trace_id"\s*:', rb'"span_id"\s*:', rb'"attributes"\s*:'),  # the console exporter, Phoenix
        (rb'"span_attributes"\s*:', rb'"span_id"\s*:'),  # trees of spans
        (rb'"run_type"\s*:', rb'"(?:trace_id|dotted_order|parent_run_id)"\s*:'),  # LangSmith
        (rb'"object"\s*:\s*"trace(?:\.span)?"', rb'"(?:workflow_name|span_data)"\s*:'),  # OpenAI's Agents SDK
    )
)
"""What files of spans that are not OTLP hold."""


_OTHERS: Final[Mapping[str, str]] = {"resourceLogs": "log records", "resourceMetrics": "metrics"}
"""OTLP's other signals: key -> what it holds."""
KEYS: Final = (*(frozenset({key}) for key in ("resourceSpans", *_OTHERS)), trail.KEYS)
"""Of a document whose beginning does not say what it is."""


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether these are spans: OTLP JSON, or one of the other forms."""
    is_json = head.lstrip()[:1] in {b"{", b"["}
    return _BEGINNING.match(head) is not None or (is_json and any(all(mark.search(head) for mark in form) for form in _FORMS))


def read(data: bytes, place: Place) -> Reading:
    """Read a file of spans.

    Raises:
        BadInputError: no document of it can be used.
    """
    reading = Reading()
    spans: list[Span] = []
    found: dict[str, Any] = {}
    if top_keys(data) >= trail.KEYS:
        return Reading(note="people's labels of a trace, read with the trace of the same name")
    for locator, document in _documents(data, reading):
        try:
            if isinstance(document, Mapping) and {"trace", "labels"} <= set(document):  # a row of TRAIL
                trace, held = (read_json(one) if isinstance(one, str) else one for one in (document["trace"], document["labels"]))
                document = trace  # noqa: PLW2901
                found[str(trace.get("trace_id") if isinstance(trace, Mapping) else None)] = held
            _refuse_other_signals(document)
            spans += spans_in(document)
        except BadInputError as error:
            reading.rejects.append(BadInputError(error.reason, locator=f"{locator}{error.locator}"))
    files = trail.label_files(Path(place.path))
    for name, group in grouped(spans).items():
        held = trail.read_labels(files[0]) if files else found.get(name)
        reading.take(name, partial(_conversation, name, group, place, held, str(files[0]) if files else place.path))
    if not spans and not reading.rejects:
        raise BadInputError("OTLP JSON without spans: nothing was recorded")
    return completed(reading)


def _conversation(name: str, group: list[Span], place: Place, labels: Any, source: str) -> Reading:
    found = reading_of(conversation_of(name, group), place, name)
    trail.add_labels(found, found.episodes[0], group, labels, source)
    return found


def companions(path: Path) -> tuple[Path, ...]:
    """The file of people's labels of a trace."""
    return trail.label_files(path)


def _refuse_other_signals(document: Any) -> None:
    for key, held in _OTHERS.items():
        if isinstance(document, Mapping) and key in document:
            raise BadInputError(
                f"OTLP {held}, of which nothing is read: export spans (resourceSpans), with the messages on them", locator=f".{key}"
            )


def _documents(data: bytes, reading: Reading) -> Iterator[tuple[str, Any]]:
    """Place and value of each document: one in the whole file, or one a line; a line that is none is reported."""
    if is_whole(data.lstrip().partition(b"\n")[0]) and b"\n" in data.strip():
        for found in lines_of(data):
            if isinstance(found.value, BadInputError):
                reading.rejects.append(found.value)
            else:
                yield found.locator, found.value
    else:
        documents = documents_of(data)
        yield from ((f"[{index}]" if len(documents) > 1 else "", document) for index, document in enumerate(documents))
