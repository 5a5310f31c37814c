"""Batches in the manner of OpenAI: submitted, found again, and their replies, whoever asks.

What is asked in a batch is called by its place in it. The caller writes down, before it sends, what it will need to make something of the
replies: a batch that is paid must be found again, whenever the process ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import httpx
import msgspec
import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError

from providers.faults import OversizeError
from providers.forms import ChatRequest, ModelQuestion, form_of
from providers.prices import Price, TokenEstimate, cost_of, refuse_unpriced
from providers.provider import ModelSettings, address_of, key_of, provider_of
from providers.server import CallResult
from providers.wire import Counted
from schemas.chat.answers import read_answer
from schemas.chat.messages import Completion, UnreadableError
from schemas.common.errors import CotraceError, StoreError, UsageError
from schemas.common.text import excerpt, strike, strike_bytes

if TYPE_CHECKING:
    import openai
    from openai.types import Batch


class ForeignRedirectError(Exception):
    """A server sends the request, with its key and what was asked, on to another one."""


class BatchReply(NamedTuple):
    """What came of one request."""

    number: int
    """The request's place in the batch."""
    completion: Completion | None
    """None if none came."""
    why_not: str | None
    """Why none came; None if one did."""


class _Response(msgspec.Struct):
    body: msgspec.Raw = msgspec.Raw(b"null")


class _Line(msgspec.Struct):
    custom_id: str
    response: _Response | None = None
    error: Any = None


_LINE = msgspec.json.Decoder(_Line)
_DIGITS = 18


def read_replies(chunks: Iterable[bytes], most_bytes: int) -> Iterator[BatchReply]:
    """The replies in a file's bytes; lines that are none are left out.

    Raises:
        CotraceError: a line is longer.
    """
    for line in _split(chunks, most_bytes):
        try:
            found = _LINE.decode(strike_bytes(line))
        except (msgspec.DecodeError, RecursionError):
            continue
        if found.custom_id.isdecimal() and found.custom_id.isascii() and len(found.custom_id) <= _DIGITS:
            yield _reply(found)


def _split(chunks: Iterable[bytes], most_bytes: int) -> Iterator[bytes]:
    begun = bytearray()
    for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for end in ended:
            yield bytes(begun + end)
            begun.clear()
        begun += rest
        if len(begun) > most_bytes:
            raise CotraceError(f"the provider's file of replies has a line of more than {most_bytes:,} bytes, which no answer takes")
    yield bytes(begun)


def _reply(line: _Line) -> BatchReply:
    from providers.clients.openai import read_body

    number = int(line.custom_id)
    body = bytes(line.response.body) if line.response else b"null"
    try:
        return BatchReply(number, read_body(body), None)
    except UnreadableError as error:
        what = line.error or excerpt(body.decode("utf-8", "replace")) or error
        return BatchReply(number, None, f"the provider failed: {excerpt(str(what))}")


def batch_client(settings: ModelSettings, most_bytes: int) -> openai.OpenAI:
    """A client whose replies have at most that many bytes.

    Raises:
        UsageError: the provider has no batches in the manner of OpenAI, or the key is missing.
    """
    import openai

    if provider_of(settings).protocol != "openai" or (settings.base_url is None and settings.provider != "openai"):
        raise UsageError(
            f"--batch works with OpenAI and OpenAI-compatible servers (--base-url), not with {settings.provider}: leave it out"
        )
    http_client = openai.DefaultHttpxClient()
    bound(http_client, most_bytes)
    return openai.OpenAI(base_url=address_of(settings), api_key=key_of(settings), timeout=settings.timeout_s, http_client=http_client)


def bound(client: httpx.Client, most_bytes: int) -> None:
    """Have the client refuse bodies of more bytes than that, unpacked or not, and redirects to other hosts."""

    def ask(request: httpx.Request) -> None:
        request.headers["accept-encoding"] = "gzip, deflate"

    def look(response: httpx.Response) -> None:
        _stay(response)
        assert isinstance(response.stream, httpx.SyncByteStream)
        response.stream = _Body(response.stream, Counted(most_bytes, response.headers.pop("content-encoding", "")))

    client.event_hooks = {"request": [*client.event_hooks["request"], ask], "response": [*client.event_hooks["response"], look]}


def _stay(response: httpx.Response) -> None:
    if not response.has_redirect_location:
        return
    here, there = response.url, response.url.join(response.headers["location"])
    upgraded = (here.scheme, here.port, there.scheme, there.port) == ("http", None, "https", None)
    if here.host != there.host or ((here.scheme, here.port) != (there.scheme, there.port) and not upgraded):
        raise ForeignRedirectError(f"{here.host} sends requests on to {there.scheme}://{there.host}:{there.port or ''}")


class _Body(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, counted: Counted) -> None:
        self._stream, self._counted = stream, counted

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            yield self._counted.take(chunk)

    def close(self) -> None:
        self._stream.close()


UNDER_WAY: Final = frozenset({"validating", "in_progress", "finalizing", "cancelling"})
"""States in which there are no replies yet."""
MOST_BYTES_LISTED: Final = 16 * 2**20
"""Of what a provider reports about its batches."""
_ENDPOINT: Final = "/v1/chat/completions"
_RUN_KEY: Final = "cotrace_run"


class BatchRefusedError(CotraceError):
    """The provider does not take the batch, and has not got it."""


class Sent(NamedTuple):
    """By what a batch is found again."""

    settings: ModelSettings
    run_id: str
    """By whose name it was submitted."""
    batch_id: str | None
    """As the provider calls it; None: the process ended before that was known."""


def affordable(limit: float | None, characters: Iterable[int], settings: ModelSettings, price: Price | None) -> int | None:
    """How many of the first calls cost at most the limit, whatever they answer; None: all.

    Args:
        limit: USD; None: no limit.
        characters: of each call's prompt.
        settings: of the model.
        price: of the model.

    Raises:
        UsageError: a limit without a price.
    """
    refuse_unpriced(settings, price, limit)
    if limit is None or price is None:
        return None
    estimate, reserved = TokenEstimate(), 0.0
    for number, count in enumerate(characters):
        reserved += price.most(estimate.tokens(count), settings.limit)
        if reserved > limit:
            return number
    return None


def send(client: openai.OpenAI, run_id: str, questions: Sequence[ModelQuestion], settings: ModelSettings) -> str:
    """Upload and submit; gives the provider's name of the batch.

    Raises:
        BatchRefusedError: the provider refuses it.
        CotraceError: it does not answer, and may have taken the batch.
    """
    import openai

    try:
        file = client.files.create(file=(f"{run_id}.jsonl", _lines(questions, settings)), purpose="batch")
        once = client.with_options(max_retries=0)  # a second try could be a second batch
        metadata = {_RUN_KEY: run_id}
        return once.batches.create(input_file_id=file.id, endpoint=_ENDPOINT, completion_window="24h", metadata=metadata).id
    except openai.APIStatusError as error:
        raise BatchRefusedError(f"the provider does not take the batch: {_reason(error)}; ask without --batch instead") from error
    except openai.OpenAIError as error:
        raise CotraceError(
            f"the provider cannot be reached ({_reason(error)}): cotrace judge --collect finds out whether it has the batch"
        ) from error


def _lines(questions: Sequence[ModelQuestion], settings: ModelSettings) -> bytes:
    from providers.clients.openai import body_of

    mode = settings.form_mode or provider_of(settings).mode or "tools"
    requests = (ChatRequest(one.messages, one.tools, form_of(one.form) if one.form else None, mode=mode) for one in questions)
    bodies = (body_of(request, settings) for request in requests)
    lines = ({"custom_id": str(number), "method": "POST", "url": _ENDPOINT, "body": body} for number, body in enumerate(bodies))
    return b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)


def find(sent: Sent) -> Batch | None:
    """The batch as the provider now has it; None: it never got it."""
    with batch_client(sent.settings, MOST_BYTES_LISTED) as client:
        if sent.batch_id is not None:
            return client.batches.retrieve(sent.batch_id)
        return next((batch for batch in client.batches.list() if (batch.metadata or {}).get(_RUN_KEY) == sent.run_id), None)


@contextmanager
def within_reach() -> Iterator[None]:
    """Say in one line that the provider does not report a batch.

    Raises:
        CotraceError: it cannot be reached, or what it sends is longer than any answer.
    """
    import openai

    try:
        yield
    except (openai.OpenAIError, OversizeError) as error:
        raise CotraceError(f"the provider cannot tell of the batch ({_reason(error)}): try again later") from error


def done_of(batch: Batch) -> int:
    """Requests that the provider is through with."""
    counts = batch.request_counts
    return counts.completed + counts.failed if counts else 0


def replies(batch: Batch, settings: ModelSettings, count: int) -> Iterator[BatchReply]:
    """The first reply to each of `count` requests; none for those that the provider never came to."""
    left = set(range(count))
    with batch_client(settings, settings.most_bytes * count) as client:
        for file in filter(None, (batch.output_file_id, batch.error_file_id)):
            with client.files.with_streaming_response.content(file) as content:
                for reply in read_replies(content.iter_bytes(), settings.most_bytes):
                    if reply.number in left:
                        left.remove(reply.number)
                        yield reply


def taken_of(reply: BatchReply, form: type[BaseModel] | None, price: Price | None) -> CallResult:
    """What a reply out of a batch took, and what it comes to."""
    completion = reply.completion
    if completion is None:
        return CallResult(attempts=1, status="failed", error=reply.why_not)
    answer = read_answer(completion, form)
    refused = "refused" if answer.read_as == "refused: declined" else "no usable reply"
    return CallResult(
        attempts=1,
        tokens=completion.tokens,
        uncounted=not completion.is_counted,
        cost=cost_of(completion, price),
        completion=completion,
        answer=answer,
        status="answered" if answer.counts else "failed",
        error=None if answer.counts else f"{refused}: {answer.why_not}",
    )


def _beyond_bounds(error: BaseException | None) -> BaseException | None:
    """The error of the bounds that the clients have wrapped into their own; None if there is none."""
    while error is not None and not isinstance(error, OversizeError | ForeignRedirectError):
        error = error.__cause__ or error.__context__
    return error


def _reason(error: Exception) -> str:
    return excerpt(strike(str(_beyond_bounds(error) or error)))


T = TypeVar("T")

RECORD_ENDING = ".batch.json"


def remember(folder: Path, run_id: str, record: tuple[Any, ...]) -> Path:
    """Put a record into a folder, made if it is missing, replacing an earlier one of the same run at once or not at all.

    Raises:
        StoreError: it cannot be written.
    """
    path = folder / f"{run_id}{RECORD_ENDING}"
    unfinished = path.with_suffix(".new")
    try:
        folder.mkdir(exist_ok=True)
        unfinished.write_bytes(orjson.dumps(record, default=_content))
        unfinished.replace(path)
    except OSError as error:
        raise StoreError(f"batch record {path} cannot be written: {error.strerror}; free some space and start again") from error
    return path


def _content(part: Any) -> Any:
    return part.model_dump(mode="json") if isinstance(part, BaseModel) else tuple(part)


def remembered(folder: Path, kind: TypeAdapter[T]) -> Iterator[tuple[Path, T]]:
    """The records of batches that were submitted and not collected.

    Raises:
        StoreError: a record is damaged.
    """
    for path in sorted(folder.glob(f"*{RECORD_ENDING}")):
        try:
            yield path, kind.validate_json(path.read_bytes())
        except ValidationError as error:
            raise StoreError(f"batch record {path} is damaged: move it away to go on without it") from error
