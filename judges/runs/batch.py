"""Provider batches in the manner of OpenAI: submit a file of requests, go away, collect the replies later, at the provider's lower price.

The same calls, prompts, answer types and rows as those of `judges.runs.runner`; nothing is asked twice whose answer is in the store or in a
batch under way. Costs are by the price file, which knows no discount for batches.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson
from pydantic import TypeAdapter

from judges import batches
from judges.batches import BatchRefusedError, BatchReply, Sent, batch_client, remember, remembered, taken_of
from judges.evidence.prompt import PromptMaker
from judges.rubric import Rubric
from judges.runs.job import JudgeRequest, OpenCalls, new_run
from judges.runs.outcomes import (
    About,
    CallOutcome,
    JournalHead,
    Outcomes,
    Progressed,
    about,
    found_answers,
    recover,
    save,
    take_up,
    verdicts_of,
)
from providers.asker import Request, call_of, fingerprint, now, shown
from providers.forms import ModelQuestion
from providers.prices import Price, price_of
from providers.provider import ModelSettings
from schemas.common.errors import UsageError
from schemas.records import JudgeRun
from schemas.store.journal import starting
from schemas.store.store import Store

if TYPE_CHECKING:
    from openai.types import Batch


class BatchRecord(NamedTuple):
    """All that is needed to turn a batch's replies into verdicts."""

    run: JudgeRun
    rubric: Rubric
    settings: ModelSettings
    calls: list[About]
    """Each request is called by its place in this list."""
    prompt_hashes: list[str]
    """Of the calls, as in `calls.prompt_hash`."""
    batch_id: str | None
    """As the provider calls it; None: it was about to be submitted when the process ended."""

    def price(self) -> Price | None:
        """What the model cost when the batch was submitted."""
        found = orjson.loads(self.run.parameters).get("price")
        return None if found is None else Price(**found)

    def job(self) -> JournalHead:
        """The part that a journal has too."""
        return JournalHead(self.run, self.rubric, os.getpid())


_RECORD = TypeAdapter(BatchRecord)


def write_record(folder: Path, record: BatchRecord) -> Path:
    """Put the record into the journal folder."""
    return remember(folder, record.run.judge_run_id, record)


def pending_batches(folder: Path) -> Iterator[tuple[Path, BatchRecord]]:
    """The batches that were submitted and not collected.

    Raises:
        StoreError: a record is damaged.
    """
    return remembered(folder, _RECORD)


def refuse_if_pending(folder: Path, about_to_start: JudgeRun) -> None:
    """See that nothing is asked that a batch is being asked already.

    Raises:
        UsageError: a batch that will give the same verdicts was submitted and not collected.
    """
    for _, record in pending_batches(folder):
        if record.job().is_same_job(about_to_start):
            raise UsageError(
                f"a batch with rubric {record.run.rubric} for {record.run.judge} is under way ({record.batch_id}): "
                "get its answers first with cotrace judge --collect"
            )


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
    """As the provider states; `lost` if it does not know the batch."""
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
    store.update()
    maker, price = PromptMaker(request.rubric), price_of(settings, request.prices)
    run, outcomes = new_run(request, price)._replace(status="submitted"), Outcomes(request.rubric)
    with batch_client(settings, batches.MOST_BYTES_LISTED) as client, starting(store) as folder:
        take_up(store, folder, run)
        refuse_if_pending(folder, run)
        calls = list(OpenCalls(request, maker, store, found_answers(store, run)))
        open_calls = [call for call in calls if call.prompt.applies and call.asks]
        skipped = [call for call in calls if not call.prompt.applies]
        known = [call for call in calls if call.prompt.applies and not call.asks]
        lengths = (sum(len(message["content"]) for message in maker.messages(call.prompt, call.asks)) for call in open_calls)
        asked = open_calls[: batches.affordable(request.max_cost, lengths, settings, price)]
        counts = len(asked), len(skipped), len(open_calls) - len(asked)
        run = run._replace(units=len({call.unit.unit_id for call in calls}))
        if skipped or known:
            unasked = [*(outcomes.skipped(about(*call)) for call in skipped), *(outcomes.settled(about(*call)) for call in known)]
            rows = verdicts_of(run, request.rubric.answers, unasked)
            save(store, Progressed(run if asked else run._replace(status="finished", finished_at=now()), replaces="nothing"), rows)
        if not asked:
            return Submitted(None, *counts)
        questions = [ModelQuestion(messages=maker.messages(call.prompt, call.asks), form=outcomes.form(about(*call))) for call in asked]
        hashes = [shown(fingerprint(settings, question)) for question in questions]
        record = BatchRecord(run, request.rubric, settings, [about(*call) for call in asked], hashes, None)
        path = write_record(folder, record)  # first: a batch that is paid must be found again, whenever the process ends
        save(store, Progressed(run, replaces="nothing"), [])
        try:
            batch_id = batches.send(client, run.judge_run_id, questions, settings)
        except BatchRefusedError:
            path.unlink(missing_ok=True)
            raise
        write_record(folder, record._replace(batch_id=batch_id))
    return Submitted(batch_id, *counts)


def collect(store: Store) -> list[Collected]:
    """Store the answers of every batch that is done; those under way are only reported of.

    Raises:
        CotraceError: the provider cannot be reached.
        StoreError: the store cannot be written, or a record is damaged.
    """
    store.update()
    with starting(store), batches.within_reach():
        return [_collected(store, path, record) for path, record in list(pending_batches(store.journals))]


def _collected(store: Store, path: Path, record: BatchRecord) -> Collected:
    batch = batches.find(Sent(record.settings, record.run.judge_run_id, record.batch_id))
    reported = (record.rubric.name, record.run.judge)
    if batch is None:
        recover(store, path, record.job(), [], "interrupted")
        return Collected(None, *reported, "lost", 0, len(record.calls), 0, 0)
    done = batches.done_of(batch)
    if batch.status in batches.UNDER_WAY:
        return Collected(batch.id, *reported, batch.status, done, len(record.calls), 0, 0)
    found = list(_replies(batch, record))
    recover(store, path, record.job(), found, "finished")
    answered = sum(one.status == "answered" for one in found)
    return Collected(batch.id, *reported, batch.status, done, len(record.calls), answered, len(found) - answered)


def _replies(batch: Batch, record: BatchRecord) -> Iterator[CallOutcome]:
    outcomes = Outcomes(record.rubric)
    return (_outcome(reply, record, outcomes) for reply in batches.replies(batch, record.settings, len(record.calls)))


def _outcome(reply: BatchReply, record: BatchRecord, outcomes: Outcomes) -> CallOutcome:
    asked = record.calls[reply.number]
    request = Request(
        messages=(), purpose="judge", run=record.run.judge_run_id, episode_id=asked.episode_id, turn=asked.turn, agent=asked.agent
    )
    price = record.price()
    taken = taken_of(reply, outcomes.form(asked), price)
    call = call_of(request, record.prompt_hashes[reply.number], record.run.started_at, taken, (record.settings.model, price))
    return outcomes.of_record(asked, call, reply.completion)
