"""Batches in the manner of OpenAI: submitted, found again, and their replies, whoever asks.

What is asked in a batch is called by its place in it. What is needed to make something of the replies is stored before anything is sent: a
batch that is paid must be found again, whenever the process ends.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

import msgspec
import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError

from providers.asker import Request, call_of, fingerprint, run_to_end, shown
from providers.faults import ODD_TYPES, Fault, HopelessError, behind
from providers.forms import ChatRequest, ModelQuestion, form_of
from providers.prices import Price, TokenEstimate, cost_of
from providers.provider import ModelSettings, address_of, key_of, provider_of
from providers.server import CallResult
from providers.wire import http_client
from schemas.chat.answers import read_answer
from schemas.chat.messages import Completion, UnreadableError
from schemas.common.errors import CotraceError, StoreError, UsageError
from schemas.common.text import excerpt
from schemas.records import Call

if TYPE_CHECKING:
    import openai
    from openai.types import Batch

Job = TypeVar("Job")
ENDING: Final = ".batch.json"
_UNDER_WAY: Final = frozenset({"validating", "in_progress", "finalizing", "cancelling"})
"""States in which there are no replies yet."""
_MOST_BYTES_LISTED: Final = 16 * 2**20
"""Of what a provider reports about its batches."""
_LONGEST_S: Final = 600.0
"""For a file of requests or replies to go over the wire."""
_ENDPOINT: Final = "/v1/chat/completions"
_RUN_KEY: Final = "cotrace_run"
_DIGITS: Final = 18


class BatchRefusedError(CotraceError):
    """The provider does not take the batch, and has not got it."""


class BatchReply(NamedTuple):
    """What came of one request."""

    number: int
    """The request's place in the batch."""
    completion: Completion | None
    """None if none came."""
    why_not: str | None
    """Why none came; None if one did."""


class Submission(NamedTuple, Generic[Job]):
    """A batch, and all that is needed to turn its replies into what was asked for."""

    job: Job
    """What the caller needs."""
    run_id: str
    """By whose name it was submitted."""
    settings: ModelSettings
    price: Price | None
    """What the model cost then."""
    asked_at: datetime
    prompt_hashes: list[str]
    """Of each request, as in `calls.prompt_hash`."""
    batch_id: str | None
    """As the provider calls it; None: it was about to be submitted when the process ended."""

    def taken(self, reply: BatchReply, request: Request) -> tuple[Call, CallResult]:
        """The row of `calls` of a reply, and what the reply comes to; of the request that it is about, the messages do not count."""
        result = taken_of(reply, request.form, self.price)
        return call_of(request, self.prompt_hashes[reply.number], self.asked_at, result, (self.settings.model, self.price)), result


class Found(NamedTuple):
    """A batch as the provider now has it."""

    batch_id: str | None
    """None: it had never reached the provider."""
    status: str
    """As the provider states; `lost` if it does not know the batch."""
    done: int
    """Requests that the provider is through with."""
    replies: list[BatchReply] | None
    """The first to each request, none for those that the provider never came to; None while the batch is under way."""


# -- records ----------------------------------------------------------------------------------------------


def write(kind: TypeAdapter[Submission[Job]], folder: Path, submission: Submission[Job]) -> Path:
    """Put a record into a folder, made if it is missing, replacing an earlier one of the same run at once or not at all.

    Raises:
        StoreError: it cannot be written.
    """
    path = folder / f"{submission.run_id}{ENDING}"
    unfinished = path.with_suffix(".new")
    try:
        folder.mkdir(exist_ok=True)
        unfinished.write_bytes(kind.dump_json(submission))
        unfinished.replace(path)
    except OSError as error:
        raise StoreError(f"batch record {path} cannot be written: {error.strerror}; free some space and start again") from error
    return path


def pending(kind: TypeAdapter[Submission[Job]], folder: Path) -> Iterator[tuple[Path, Submission[Job]]]:
    """The batches that were submitted and not collected.

    Raises:
        StoreError: a record is damaged.
    """
    for path in sorted(folder.glob(f"*{ENDING}")):
        try:
            yield path, kind.validate_json(path.read_bytes())
        except ValidationError as error:
            raise StoreError(f"batch record {path} is damaged: move it away to go on without it") from error


# -- submitted --------------------------------------------------------------------------------------------


def refuse_without_batches(settings: ModelSettings) -> None:
    """See that a model can be asked in batches.

    Raises:
        UsageError: the provider has no batches in the manner of OpenAI, or the key is missing.
    """
    if provider_of(settings).protocol != "openai" or (settings.base_url is None and settings.provider != "openai"):
        raise UsageError(
            f"--batch works with OpenAI and OpenAI-compatible servers (--base-url), not with {settings.provider}: leave it out"
        )
    key_of(settings)


def affordable(limit: float | None, questions: Sequence[ModelQuestion], settings: ModelSettings, price: Price | None) -> int:
    """How many of the first questions cost at most the limit, USD, whatever is answered; None: no limit, or no price."""
    if limit is None or price is None:
        return len(questions)
    estimate, reserved = TokenEstimate(), 0.0
    for number, question in enumerate(questions):
        characters = sum(len(message["content"]) for message in question.messages)
        reserved += price.most(estimate.tokens(characters), settings.limit)
        if reserved > limit:
            return number
    return len(questions)


def submit(kind: TypeAdapter[Submission[Job]], folder: Path, submission: Submission[Job], questions: Sequence[ModelQuestion]) -> str:
    """Upload and submit, with a record in the folder; gives the provider's name of the batch.

    Raises:
        BatchRefusedError: the provider refuses it.
        CotraceError: it does not answer, and may have taken the batch.
        StoreError: the record cannot be written.
    """
    hashes = [shown(fingerprint(submission.settings, question)) for question in questions]
    submission = submission._replace(prompt_hashes=hashes)
    path = write(kind, folder, submission)
    try:
        batch_id = run_to_end(_sent(submission.run_id, questions, submission.settings))
    except BatchRefusedError:
        path.unlink(missing_ok=True)
        raise
    write(kind, folder, submission._replace(batch_id=batch_id))
    return batch_id


async def _sent(run_id: str, questions: Sequence[ModelQuestion], settings: ModelSettings) -> str:
    try:
        async with _client(settings, _MOST_BYTES_LISTED) as client:
            file = await client.files.create(file=(f"{run_id}.jsonl", _lines(questions, settings)), purpose="batch")
            once = client.with_options(max_retries=0)  # a second try could be a second batch
            metadata = {_RUN_KEY: run_id}
            batch = await once.batches.create(input_file_id=file.id, endpoint=_ENDPOINT, completion_window="24h", metadata=metadata)
            return _seen(batch).id
    except Exception as error:
        cause = behind(error)
        if isinstance(cause, HopelessError) or (isinstance(cause, Fault) and cause.status is not None):
            raise BatchRefusedError(f"the provider does not take the batch: {cause}; ask without --batch instead") from error
        if isinstance(cause, (Fault, *ODD_TYPES)):
            why = cause if isinstance(cause, Fault) else "what it sends is not a batch"
            raise CotraceError(
                f"the provider cannot be reached ({why}): cotrace judge --collect finds out whether it has the batch"
            ) from error
        raise


def _lines(questions: Sequence[ModelQuestion], settings: ModelSettings) -> bytes:
    from providers.clients.openai import body_of

    mode = settings.form_mode or provider_of(settings).mode or "tools"
    forms = (form_of(one.form) if one.form else None for one in questions)
    requests = (ChatRequest(one.messages, one.limit(settings), one.tools, form, mode) for one, form in zip(questions, forms, strict=True))
    bodies = (body_of(request, settings) for request in requests)
    lines = ({"custom_id": str(number), "method": "POST", "url": _ENDPOINT, "body": body} for number, body in enumerate(bodies))
    return b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)


@asynccontextmanager
async def _client(settings: ModelSettings, most_bytes: int) -> AsyncIterator[openai.AsyncOpenAI]:
    """OpenAI's client over the one transport, with bodies of at most that many bytes."""
    import openai

    wire = http_client(nullcontext, max(settings.timeout_s, _LONGEST_S), most_bytes)
    address, key, headers = address_of(settings), key_of(settings), dict(settings.headers)
    async with openai.AsyncOpenAI(base_url=address, api_key=key, default_headers=headers, http_client=wire) as client:
        yield client


def _seen(batch: Batch) -> Batch:
    """The batch.

    Raises:
        TypeError: what a server sent in its place has no id or status.
    """
    if not isinstance(batch.id, str) or not isinstance(batch.status, str):
        raise TypeError
    return batch


# -- found again ------------------------------------------------------------------------------------------


def find(sent: Submission[Any]) -> Found:
    """The batch as the provider now has it, with its replies.

    Raises:
        CotraceError: the provider cannot be reached, or what it sends is longer than any answer.
    """
    return run_to_end(_found(sent))


async def _found(sent: Submission[Any]) -> Found:
    count = len(sent.prompt_hashes)
    try:
        async with _client(sent.settings, sent.settings.most_bytes(count)) as client:
            batch = await _batch_of(sent, client)
            if batch is None:
                return Found(None, "lost", 0, [])
            counts = batch.request_counts
            done = counts.completed + counts.failed if counts else 0
            if batch.status in _UNDER_WAY:
                return Found(batch.id, batch.status, done, None)
            first: dict[int, BatchReply] = {}
            for file in filter(None, (batch.output_file_id, batch.error_file_id)):
                for reply in read_replies((await client.files.content(file)).content):
                    if reply.number < count:
                        first.setdefault(reply.number, reply)
    except Exception as error:
        cause = behind(error)
        if isinstance(cause, (HopelessError, Fault, *ODD_TYPES)):
            why = cause if isinstance(cause, HopelessError | Fault) else "what it sends is not a batch"
            raise CotraceError(f"the provider cannot tell of the batch ({why}): try again later") from error
        raise
    return Found(batch.id, batch.status, done, list(first.values()))


async def _batch_of(sent: Submission[Any], client: openai.AsyncOpenAI) -> Batch | None:
    """The batch; None if the provider never got it.

    Raises:
        TypeError: what the provider sends does not say.
    """
    if sent.batch_id is not None:
        return _seen(await client.batches.retrieve(sent.batch_id))
    listed = await client.batches.list()
    if not isinstance(listed.data, list):
        raise TypeError
    return await anext((_seen(batch) async for batch in listed if (batch.metadata or {}).get(_RUN_KEY) == sent.run_id), None)


class _Response(msgspec.Struct):
    body: msgspec.Raw = msgspec.Raw(b"null")


class _Line(msgspec.Struct):
    custom_id: str
    response: _Response | None = None
    error: Any = None


_LINE: Final = msgspec.json.Decoder(_Line)


def read_replies(file: bytes) -> Iterator[BatchReply]:
    """The replies in a provider's file; lines that are none are left out."""
    from providers.clients.openai import completion_of, response_in

    for line in file.split(b"\n"):
        try:
            found = _LINE.decode(line)
        except (msgspec.DecodeError, RecursionError):
            continue
        if not (found.custom_id.isdecimal() and found.custom_id.isascii() and len(found.custom_id) <= _DIGITS):
            continue
        body = bytes(found.response.body) if found.response else b"null"
        try:
            yield BatchReply(int(found.custom_id), completion_of(response_in(body)), None)
        except UnreadableError as error:
            what = found.error or excerpt(body.decode("utf-8", "replace")) or error
            yield BatchReply(int(found.custom_id), None, f"the provider failed: {excerpt(str(what))}")


def taken_of(reply: BatchReply, form: type[BaseModel] | None, price: Price | None) -> CallResult:
    """What a reply out of a batch took, and what it comes to."""
    completion = reply.completion
    if completion is None:
        return CallResult(attempts=1, status="failed", error=reply.why_not)
    answer = read_answer(completion, form)
    refused = "refused" if answer.read_as == "refused: declined" else "no usable reply"
    why_not = None if answer.counts else f"{refused}: {answer.why_not}"
    result = CallResult(attempts=1, answer=answer, status="answered" if answer.counts else "failed", error=why_not)
    result.add(completion, cost_of(completion, price))
    return result
