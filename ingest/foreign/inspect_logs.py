"""Reads logs of Inspect AI (`.eval` and `.json`) through the library inspect_ai: a sample and epoch is a game, a message a turn.

Samples are read one by one: one that is damaged costs no other, and a log of a run under way or broken off gives what it holds. Samples
that the log lists and does not hold are reported.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from ingest.conversation.chat import ModelRequest, ParsedMessage, logged_messages, thread_of
from ingest.conversation.messages import text_of
from ingest.conversation.rows import Conversation, LoggedMessage, completed, numbers, outcome, reading_of
from ingest.conversation.usage import ModelCall
from ingest.reading.adapter_types import Place, Reading
from ingest.reading.text import loads, read_time, utf8
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt

if TYPE_CHECKING:
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.model import ChatMessage

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
                failed = event.error is not None or not event.output.choices
                yield ModelRequest(
                    inputs=[_raw(message) for message in event.input],
                    answers=[] if failed else [_raw(event.output.message)],
                    agent=next((span.name for span in around if span.kind == "agent"), None),
                    call=_call(event),
                    at=(event.completed or event.timestamp).replace(tzinfo=None),
                )


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


def _call(event: ModelEvent) -> ModelCall:
    output, usage = event.output, event.output.usage
    spent = usage.output_tokens if usage is not None and usage.total_tokens else None
    return ModelCall(
        model=event.model,
        asked_at=event.timestamp.replace(tzinfo=None),
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
    except Exception as error:  # what upgrades older logs there fails on damage in ways of its own
        raise BadInputError(f"Inspect does not read it ({excerpt(str(error))}): the log is damaged, copy it again") from error


def conversation_of(sample: EvalSample, log: EvalLog) -> Conversation:
    """A sample as a conversation; every message that it or a model's request holds is a turn."""
    found, lost = messages_of(sample)
    messages = logged_messages(found)
    scores = {name: score.value for name, score in (sample.scores or {}).items()}
    own = sample.metadata.get("cotrace") or {}
    success, score, by_number = (own.get("success"), own.get("score"), False) if own else outcome(scores)
    given = log.eval.task_args_passed or {}
    facts = ", ".join(f"{key}={value}" for key, value in given.items() if not isinstance(value, dict | list))
    asked = (
        sample.input
        if isinstance(sample.input, str)
        else "\n".join(text_of(message.model_dump(mode="json")["content"]) for message in sample.input)
    )
    goal: dict[str, Any] = {"input": asked, "target": sample.target}
    taken = {"success", "score"} if own else set()
    others = numbers({name: value for name, value in scores.items() if name not in taken})
    return Conversation(
        benchmark=BENCHMARK,
        run=f"{log.eval.task} ({facts})" if facts else log.eval.task,
        task=str(sample.id),
        messages=messages,
        models={agent["agent"]: agent["model"] for agent in own.get("agents", ()) if agent["model"]} or models_of(messages, log.eval.model),
        roles={agent["agent"]: agent["role"] for agent in own.get("agents", ())},
        received={agent["agent"]: agent["private_view"] for agent in own.get("agents", ()) if agent["private_view"] is not None},
        goal=goal | ({"choices": sample.choices} if sample.choices else {}),
        success=success,
        score=score,
        by_number=by_number,
        metrics={name.removeprefix(f"{BENCHMARK}."): value for name, value in others.items()},
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


def models_of(messages: list[LoggedMessage], evaluated: str) -> dict[str, str]:
    """Agent -> model: as the requests tell, of those that only the conversation shows the evaluated one."""
    found = {one.agent: one.call.model for one in messages if one.call is not None}
    if not found:
        found = {one.agent: evaluated for one in messages if one.agent not in {"user", "system", "tool"}}
    return found


def _condition(log: EvalLog) -> dict[str, Any]:
    spec = log.eval
    settings = spec.model_generate_config.model_dump(mode="json", exclude_none=True)
    messages = {"task_args": spec.task_args, "solver": spec.solver, "solver_args": spec.solver_args, "generate": settings}
    return {"task": spec.task} | {key: value for key, value in messages.items() if value}


def _stop_reason(sample: EvalSample) -> str | None:
    if sample.error is not None:
        return "error"
    if sample.limit is not None:
        return f"limit: {sample.limit.type}"
    return sample.output.stop_reason if sample.output.choices else None


def _details(sample: EvalSample, log: EvalLog) -> Mapping[str, Any]:
    scores = {name: score.model_dump(mode="json", exclude_none=True, exclude={"history"}) for name, score in (sample.scores or {}).items()}
    facts = {
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
    return {key: value for key, value in facts.items() if value not in (None, {}, [])}


FORMAT: Final = "inspect"
VERSION: Final = 6

_ZIP: Final = re.compile(rb"\APK\x03\x04.{26}(?:_journal/|samples/|header\.json|summaries\.json|reductions\.json)", re.DOTALL)
_JSON: Final = re.compile(rb'\A\s*\{\s*"(?:version|status|eval)"\s*:')
_JSON_MARKS: Final = (re.compile(rb'"eval"\s*:\s*\{'), re.compile(rb'"(?:task_id|run_id|eval_id|task_version|task_file)"\s*:'))
_SAMPLE: Final = re.compile(r"samples/.+\.json")
_SUMMARY: Final = re.compile(r"summaries\.json|_journal/summaries/\d+\.json")


_MOST_OF_A_MEMBER: Final = 128 * 2**20
_MOST_IN_ALL: Final = 2 * 2**30
"""Bytes that a log may unpack to; no program of Inspect writes more, and a few packed ones can claim any number."""


KEYS: Final = (frozenset({"eval", "status", "version"}),)
"""Of a document whose beginning does not say what it is."""


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether this is a log of Inspect."""
    return _ZIP.match(head) is not None or (_JSON.match(head) is not None and all(mark.search(head) for mark in _JSON_MARKS))


def resembles(_head: bytes, name: str) -> bool:
    """Tell whether a file that does not begin so is a damaged log: no other program calls its files so."""
    return name.lower().endswith(".eval")


def read(data: bytes, place: Place) -> Reading:
    """Read a log.

    Raises:
        BadInputError: inspect_ai is not installed, or the log holds no sample that can be read.
    """
    if find_spec("inspect_ai") is None:
        raise BadInputError("an Inspect log, and inspect_ai is not installed: pip install 'cotrace[inspect]'")
    if data[:2] == b"PK":
        return _from_zip(data, place)
    raw = _object(loads(data), "")
    samples = raw.pop("samples", None)
    log = _header(raw)
    if not samples:
        raise _without_samples(log)
    if not isinstance(samples, list):
        raise BadInputError("samples is not a list: the log is damaged, copy it again", locator="samples")
    return _gathered(((f"samples[{index}]", sample) for index, sample in enumerate(samples)), log, place)


def _from_zip(data: bytes, place: Place) -> Reading:
    import inspect_ai.log  # noqa: F401 - teaches zipfile the compression of newer logs, where Python does not know it

    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
            if unpacked > _MOST_IN_ALL:
                raise BadInputError(
                    f"it unpacks to {_mib(unpacked)}, and no more than {_mib(_MOST_IN_ALL)} are read: split the log into smaller ones"
                )
            names = list(dict.fromkeys(archive.namelist()))
            beginning = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
            if beginning is None:
                raise BadInputError("neither header.json nor _journal/start.json: the log does not say what was run")
            log = _header(_object(_member(archive, beginning), beginning))
            held = [name for name in names if _SAMPLE.fullmatch(name)]
            reading = _gathered(((name, _Member(archive, name)) for name in held), log, place)
            reading.rejects += _missing(archive, names, held)
            if not reading.episodes and not reading.rejects:
                raise _without_samples(log)
            return reading
    except zipfile.BadZipFile as error:
        raise BadInputError(f"the zip is not whole ({error}): the log was cut, copy it again") from error


class _Member:
    """A sample that is read when its turn comes, so that one at a time is in memory."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive, self._name = archive, name

    def read(self) -> Any:
        return _member(self._archive, self._name)


def _member(archive: zipfile.ZipFile, name: str) -> Any:
    size = archive.getinfo(name).file_size
    if size > _MOST_OF_A_MEMBER:
        raise BadInputError(f"it unpacks to {_mib(size)}, and no more than {_mib(_MOST_OF_A_MEMBER)} of one part are read", locator=name)
    try:
        return loads(utf8(archive.read(name)))
    except BadInputError as error:
        raise BadInputError(error.reason, locator=name, excerpt=error.excerpt) from error
    except Exception as error:  # each compression has errors of its own
        raise BadInputError(f"cannot be unpacked ({excerpt(str(error))}): the log is damaged, copy it again", locator=name) from error


def _mib(size: int) -> str:
    return f"{size // 2**20} MiB"


def _gathered(samples: Iterator[tuple[str, Any]], log: EvalLog, place: Place) -> Reading:
    """The samples that can be read; each of the others is reported."""
    reading = Reading()
    times: Counter[str] = Counter()
    for locator, sample in samples:
        reading.take(locator, partial(_sample, sample, locator, log, place, times))
    return completed(reading)


def _sample(sample: Any, locator: str, log: EvalLog, place: Place, times: Counter[str]) -> Reading:
    raw = _object(sample.read() if isinstance(sample, _Member) else sample, locator)
    found = conversation_of(sample_of(raw), log)
    if not found.messages and found.error is None and found.score is None:
        raise BadInputError("no message, no score and no error: the sample was logged without its conversation")
    name = f"{found.task}/{found.seed}"
    times[name] += 1
    return reading_of(found, place, name if times[name] == 1 else f"{name}/{times[name]}")


def _header(raw: dict[str, Any]) -> EvalLog:
    from inspect_ai.log import EvalLog
    from pydantic import ValidationError

    try:
        return EvalLog.model_validate(raw, context=DESERIALIZING)
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInputError(
            f"the header is not that of an Inspect log: {first['msg']}", locator=".".join(map(str, first["loc"]))
        ) from error
    except Exception as error:  # what upgrades older logs there fails on damage in ways of its own
        raise BadInputError(
            f"the header is not that of an Inspect log ({excerpt(str(error))}): the log is damaged, copy it again"
        ) from error


def _missing(archive: zipfile.ZipFile, names: list[str], held: list[str]) -> Iterator[BadInputError]:
    """Samples that summaries list and that the log does not hold."""
    listed: dict[str, Mapping[str, Any]] = {}
    for name in filter(_SUMMARY.fullmatch, names):
        entries = _member(archive, name)
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, Mapping) and "id" in entry:
                listed[f"samples/{entry['id']}_epoch_{entry.get('epoch', 1)}.json"] = entry
    for name in listed:
        if name not in held:
            yield BadInputError("listed in the log's summaries, and not in the log: it was not written, or cut out", locator=name)


def _object(value: Any, locator: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadInputError("no JSON object where Inspect writes one: the log is damaged", locator=locator, excerpt=excerpt(str(value)))
    return value


def _without_samples(log: EvalLog) -> BadInputError:
    return BadInputError(
        f"a log of {log.eval.task} (status {log.status}) without samples: write it with samples, or name the log that has them"
    )
