"""Batches in the manner of OpenAI: submitted, found again, and their replies, whoever asks.

What is asked in a batch is called by its place in it. The caller writes down, before it sends, what it will need to make something of the
replies: a batch that is paid must be found again, whenever the process ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson
from pydantic import BaseModel

from providers.answers import read_answer
from providers.batches import reply_lines
from providers.batches.client import batch_client
from providers.batches.reply_lines import BatchReply
from providers.catalogue import provider_of
from providers.clients.client import Sheet
from providers.faults import OversizeError, beyond_bounds
from providers.prices import Price, TokenEstimate, cost_of, refuse_unpriced
from providers.provider import ModelSettings
from providers.server import ModelQuestion, Taken
from schemas.errors import CotraceError
from schemas.secrets import strike
from schemas.text import excerpt

if TYPE_CHECKING:
    import openai
    from openai.types import Batch

__all__ = [
    "MOST_BYTES_TOLD",
    "UNDER_WAY",
    "BatchRefusedError",
    "Sent",
    "affordable",
    "done_of",
    "find",
    "replies",
    "send",
    "taken_of",
    "within_reach",
]

UNDER_WAY: Final = frozenset({"validating", "in_progress", "finalizing", "cancelling"})
"""States in which there are no replies yet."""
MOST_BYTES_TOLD: Final = 16 * 2**20
"""Of what a provider tells about its batches."""
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
        BatchRefusedError: the provider says no.
        CotraceError: it says nothing, and may have taken the batch.
    """
    import openai

    try:
        file = client.files.create(file=(f"{run_id}.jsonl", _lines(questions, settings)), purpose="batch")
        once = client.with_options(max_retries=0)  # a second try could be a second batch
        metadata = {_RUN_KEY: run_id}
        return once.batches.create(input_file_id=file.id, endpoint=_ENDPOINT, completion_window="24h", metadata=metadata).id
    except openai.APIStatusError as error:
        raise BatchRefusedError(f"the provider does not take the batch: {_told(error)}; ask without --batch instead") from error
    except openai.OpenAIError as error:
        raise CotraceError(
            f"the provider cannot be reached ({_told(error)}): cotrace judge --collect finds out whether it has the batch"
        ) from error


def _lines(questions: Sequence[ModelQuestion], settings: ModelSettings) -> bytes:
    """The batch's file: one request a line, each as a direct call would send it."""
    from providers.clients.openai import body_of

    mode = settings.form_mode or provider_of(settings).mode or "tools"
    sheets = (Sheet(question.messages, question.tools, question.form, mode=mode) for question in questions)
    bodies = (body_of(sheet, settings) for sheet in sheets)
    lines = ({"custom_id": str(number), "method": "POST", "url": _ENDPOINT, "body": body} for number, body in enumerate(bodies))
    return b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)


def find(sent: Sent) -> Batch | None:
    """The batch as the provider now tells of it; None: it never got it."""
    with batch_client(sent.settings, MOST_BYTES_TOLD) as client:
        if sent.batch_id is not None:
            return client.batches.retrieve(sent.batch_id)
        return next((batch for batch in client.batches.list() if (batch.metadata or {}).get(_RUN_KEY) == sent.run_id), None)


@contextmanager
def within_reach() -> Iterator[None]:
    """Say in one line that the provider does not tell of a batch.

    Raises:
        CotraceError: it cannot be reached, or what it says is longer than any answer.
    """
    import openai

    try:
        yield
    except (openai.OpenAIError, OversizeError) as error:
        raise CotraceError(f"the provider cannot tell of the batch ({_told(error)}): try again later") from error


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
                for reply in reply_lines.read(content.iter_bytes(), settings.most_bytes):
                    if reply.number in left:
                        left.remove(reply.number)
                        yield reply


def taken_of(reply: BatchReply, form: type[BaseModel] | None, price: Price | None) -> Taken:
    """What a reply out of a batch took, and what it comes to.

    Args:
        reply: the reply.
        form: what it must fill in; None if that is not known any more.
        price: of the model.
    """
    completion = reply.completion
    if completion is None:
        return Taken(attempts=1, status="failed", error=reply.why_not)
    answer = read_answer(completion, form)
    refused = "refused" if answer.read_as == "refused: declined" else "no usable reply"
    return Taken(
        attempts=1,
        tokens=completion.tokens,
        uncounted=not completion.is_counted,
        cost=cost_of(completion, price),
        completion=completion,
        answer=answer,
        status="answered" if answer.counts else "failed",
        error=None if answer.counts else f"{refused}: {answer.why_not}",
    )


def _told(error: Exception) -> str:
    """What a provider's error says, in one line."""
    return excerpt(strike(str(beyond_bounds(error) or error)))
