"""Provider batches in the manner of OpenAI: submit a file of requests, go away, collect the replies later, at the provider's lower price.

The same calls, prompts, answer types and rows as those of `judges.runs.runner`; nothing is asked twice whose answer is in the store or in a
batch under way. Costs are by the price file, which knows no discount for batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

from judges.evidence.prompt import PromptMaker
from judges.runs import batch_record, batch_replies
from judges.runs.batch_record import BatchRecord
from judges.runs.batch_replies import BatchReply
from judges.runs.job import JudgeRequest
from judges.runs.journal import folder_of, starting
from judges.runs.outcomes import CallOutcome, Outcomes, about
from judges.runs.planning import OpenCall, OpenCalls, new_run
from judges.runs.verdict_store import Progressed, found_answers, recover, save, take_up, verdicts_of
from providers.batch_client import batch_client
from providers.completion import NO_TOKENS
from providers.faults import OversizeError, beyond_bounds
from providers.forms import Form
from providers.prices import Price, TokenEstimate, price_of
from providers.protocols.openai_chat import OpenAIChat
from providers.provider import ModelSettings
from providers.request import Request, call_of, fingerprint, now, shown
from providers.server import ModelQuestion, Taken
from schemas.errors import CotraceError, UsageError
from schemas.store import Store
from schemas.text import excerpt

if TYPE_CHECKING:
    import openai
    from openai.types import Batch

__all__ = ["Collected", "Submitted", "collect", "submit"]

_ENDPOINT: Final = "/v1/chat/completions"
_UNDER_WAY = frozenset({"validating", "in_progress", "finalizing", "cancelling"})
_RUN_KEY = "cotrace_run"
_MOST_BYTES_TOLD: Final = 16 * 2**20
"""Of what a provider tells about its batches."""


class Submitted(NamedTuple):
    """What was submitted."""

    batch_id: str | None
    """None if there was nothing to ask."""
    calls: int
    skipped: int
    """Calls not made because there is nothing to judge in the unit."""
    left_out: int
    """Calls that `max_cost` did not allow."""


class Collected(NamedTuple):
    """What came of a batch."""

    batch_id: str | None
    """None: it had never reached the provider."""
    rubric: str
    judge: str
    status: str
    """As the provider says; `lost` if it does not know the batch."""
    done: int
    """Requests that the provider is through with."""
    calls: int
    answered: int
    """Calls; 0 while the batch is under way."""
    failed: int
    """Calls; they and those that the provider never came to are asked again at the next start."""


def submit(request: JudgeRequest, store: Store) -> Submitted:
    """Submit all calls of the job that are not answered.

    Raises:
        CotraceError: the provider does not take the batch.
        StoreError: the store cannot be read or written.
        UsageError: no such provider has batches, the request contradicts itself, or a batch of the same job is under way.
    """
    settings = request.settings
    if settings is None:
        raise UsageError("--batch is for models: the engine answers at once, leave it out")
    store.check()
    store.create()
    maker, price = PromptMaker(request.rubric), price_of(settings.model, request.prices)
    run, outcomes = new_run(request, price)._replace(status="submitted"), Outcomes(request.rubric)
    with batch_client(settings, _MOST_BYTES_TOLD) as client, starting(store) as folder:
        take_up(store, folder, run)
        batch_record.refuse_if_pending(folder, run)
        calls = list(OpenCalls(request, maker, store, found_answers(store, run)))
        skipped = [call for call in calls if not call.prompt.applies]
        open_calls = [call for call in calls if call.prompt.applies]
        asked = list(_within(request.max_cost, open_calls, maker, settings, price))
        counts = len(asked), len(skipped), len(open_calls) - len(asked)
        run = run._replace(units=len({call.unit.unit_id for call in calls}))
        if skipped:
            rows = verdicts_of(run, request.rubric.answers, [outcomes.skipped(about(*call)) for call in skipped])
            save(store, Progressed(run if asked else run._replace(status="finished", finished_at=now()), replaces="nothing"), rows)
        if not asked:
            return Submitted(None, *counts)
        forms = [Form(form) for form in outcomes.forms]
        questions = [ModelQuestion(messages=maker.messages(call.prompt), form=forms[call.prompt.group]) for call in asked]
        hashes = [shown(fingerprint(settings, question)) for question in questions]
        record = BatchRecord(run, request.rubric, settings, [about(*call) for call in asked], hashes, None)
        path = batch_record.write(folder, record)  # first: a batch that is paid must be found again, whenever the process ends
        save(store, Progressed(run, replaces="nothing"), [])
        batch_id = _send(client, path, run.judge_run_id, _lines(questions, settings))
        batch_record.write(folder, record._replace(batch_id=batch_id))
    return Submitted(batch_id, *counts)


def _within(
    limit: float | None, calls: list[OpenCall], maker: PromptMaker, settings: ModelSettings, price: Price | None
) -> Iterator[OpenCall]:
    """The first calls whose highest possible cost stays within the limit."""
    if limit is not None and price is None:
        raise UsageError(f"--max-cost needs a price for {settings.model}: give one with --prices FILE")
    estimate, reserved = TokenEstimate(), 0.0
    for call in calls:
        if limit is not None and price is not None:
            characters = sum(len(message["content"]) for message in maker.messages(call.prompt))
            reserved += price.cost(estimate.tokens(characters), settings.limit)
            if reserved > limit:
                return
        yield call


def _lines(questions: Sequence[ModelQuestion], settings: ModelSettings) -> bytes:
    """The batch's file: one request a line, each as a direct call would send it."""
    protocol = OpenAIChat()
    bodies = (protocol.body(question.sheet(), settings) for question in questions)
    lines = ({"custom_id": str(number), "method": "POST", "url": _ENDPOINT, "body": body} for number, body in enumerate(bodies))
    return b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)


def _send(client: openai.OpenAI, record: Path, run_id: str, lines: bytes) -> str:
    """Upload and submit; when the provider says no, the record goes, and when it says nothing, the record stays to look for the batch."""
    import openai

    try:
        file = client.files.create(file=(f"{run_id}.jsonl", lines), purpose="batch")
        once = client.with_options(max_retries=0)  # a second try could be a second batch
        metadata = {_RUN_KEY: run_id}
        batch = once.batches.create(input_file_id=file.id, endpoint=_ENDPOINT, completion_window="24h", metadata=metadata)
    except openai.APIStatusError as error:
        record.unlink(missing_ok=True)
        raise CotraceError(f"the provider does not take the batch: {_told(error)}; ask without --batch instead") from error
    except openai.OpenAIError as error:
        raise CotraceError(
            f"the provider cannot be reached ({_told(error)}): cotrace judge --collect finds out whether it has the batch"
        ) from error
    return batch.id


def _told(error: Exception) -> str:
    return excerpt(str(beyond_bounds(error) or error))


def collect(store: Store) -> list[Collected]:
    """Store the answers of every batch that is done; those under way are only told of.

    Raises:
        CotraceError: the provider cannot be reached.
        StoreError: the store cannot be written, or a record is damaged.
    """
    import openai

    store.check()
    store.create()
    with starting(store):
        try:
            return [_collected(store, path, record) for path, record in list(batch_record.pending(folder_of(store)))]
        except (openai.OpenAIError, OversizeError) as error:
            raise CotraceError(f"the provider cannot tell of the batch ({_told(error)}): try again later") from error


def _collected(store: Store, path: Path, record: BatchRecord) -> Collected:
    with batch_client(record.settings, _MOST_BYTES_TOLD) as client:
        batch = _find(client, record)
    told = (record.rubric.name, record.run.judge)
    if batch is None:
        recover(store, path, record.job(), [], "interrupted")
        return Collected(None, *told, "lost", 0, len(record.calls), 0, 0)
    counts = batch.request_counts
    done = counts.completed + counts.failed if counts else 0
    if batch.status in _UNDER_WAY:
        return Collected(batch.id, *told, batch.status, done, len(record.calls), 0, 0)
    found = list(_replies(batch, record))
    recover(store, path, record.job(), found, "finished")
    answered = sum(one.status == "answered" for one in found)
    return Collected(batch.id, *told, batch.status, done, len(record.calls), answered, len(found) - answered)


def _find(client: openai.OpenAI, record: BatchRecord) -> Batch | None:
    if record.batch_id is not None:
        return client.batches.retrieve(record.batch_id)
    run_id = record.run.judge_run_id
    return next((batch for batch in client.batches.list() if (batch.metadata or {}).get(_RUN_KEY) == run_id), None)


def _replies(batch: Batch, record: BatchRecord) -> Iterator[CallOutcome]:
    """What came of the calls; those that no reply came to are asked again at the next start."""
    settings, outcomes = record.settings, Outcomes(record.rubric)
    left = set(range(len(record.calls)))
    with batch_client(settings, settings.most_bytes * len(record.calls)) as client:
        for file in filter(None, (batch.output_file_id, batch.error_file_id)):
            with client.files.with_streaming_response.content(file) as content:
                for reply in batch_replies.read(content.iter_bytes(), settings.most_bytes):
                    if reply.number in left:
                        left.remove(reply.number)
                        yield _outcome(reply, record, outcomes)


def _outcome(reply: BatchReply, record: BatchRecord, outcomes: Outcomes) -> CallOutcome:
    asked, tokens = record.calls[reply.number], reply.completion.tokens if reply.completion else NO_TOKENS
    taken = Taken(attempts=1, tokens=tokens, completion=reply.completion, status="answered")
    request = Request(
        messages=(), purpose="judge", run=record.run.judge_run_id, episode_id=asked.episode_id, turn=asked.turn, agent=asked.agent
    )
    call = call_of(request, record.prompt_hashes[reply.number], record.run.started_at, taken, (record.settings.model, record.price()))
    outcome = outcomes.of_record(asked, call, reply.completion)
    if outcome.status == "answered":
        return outcome
    return outcomes.of_record(asked, call._replace(status="failed", error=reply.why_not), None)
