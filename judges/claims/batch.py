"""Having a model read in a provider's batch: submit the texts, go away, collect the readings later, at the provider's lower price.

What is remembered in between is the request and the prompts' hashes, in `<store>.journal/claims/<run>.batch.json`. The texts are looked up
again when the replies are there: a reading of a text that has been forgotten since is dropped.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter

from judges.claims.extraction import read_reply
from judges.claims.questions import PromptParts, ReadingQuestion, ReadingRequest, open_texts
from judges.claims.rows import rows_of
from judges.claims.stored import put
from providers import batches
from providers.asker import Request, call_of, fingerprint, now, shown
from providers.batches import BatchRefusedError, BatchReply, Sent, batch_client, remember, remembered, taken_of
from providers.journal import starting
from providers.messages import Form
from providers.prices import Price, price_of
from providers.provider import ModelSettings
from providers.server import ModelQuestion
from schemas.errors import UsageError
from schemas.records import Call, Claim
from schemas.store import Store


class SubmittedReading(NamedTuple):
    """What was submitted."""

    batch_id: str | None
    """None if there was nothing to ask."""
    calls: int
    texts: int
    """Of the selection."""
    read_before: int
    """Texts."""
    left_out: int
    """Calls that `max_cost` did not allow."""


class CollectedReading(NamedTuple):
    """What came of a batch."""

    reader: str
    batch_id: str | None
    """None: it had never reached the provider."""
    status: str
    """As the provider says; `lost` if it does not know the batch."""
    done: int
    """Requests that the provider is through with."""
    calls: int
    read: int
    """Texts; 0 while the batch is under way."""
    failed: int
    """Calls without a usable reply: the next start asks them again."""


class _Record(NamedTuple):
    """All that is needed to turn a batch's replies into claims."""

    run_id: str
    settings: ModelSettings
    where: str | None
    benchmarks: tuple[str, ...] | None
    earlier: bool
    prompt: PromptParts
    keys: list[str]
    """`ReadingQuestion.key` of each request, which is called by its place in this list."""
    prompt_hashes: list[str]
    """As in `calls.prompt_hash`."""
    price: Price | None
    asked_at: datetime
    batch_id: str | None
    """None: it was about to be submitted when the process ended."""

    def request(self) -> ReadingRequest:
        """What was to be read."""
        return ReadingRequest(
            settings=self.settings, where=self.where, benchmarks=self.benchmarks, earlier=self.earlier, prompt=self.prompt
        )


_RECORD = TypeAdapter(_Record)


def _pending(store: Store) -> Iterator[tuple[Path, _Record]]:
    return remembered(_folder(store), _RECORD)


def _folder(store: Store) -> Path:
    return store.journals / "claims"


def refuse_if_reading(request: ReadingRequest, store: Store) -> None:
    """See that nothing is asked that a batch is being asked already.

    Raises:
        StoreError: a batch's record is damaged.
        UsageError: a batch by the same reader was submitted and not collected.
    """
    for _, record in _pending(store):
        if record.settings.model == request.settings.model:
            raise UsageError(
                f"a batch of texts for {request.stored_as} is under way ({record.batch_id}): "
                "get its readings first with cotrace claims --collect"
            )


def submit_reading(request: ReadingRequest, store: Store) -> SubmittedReading:
    """Submit every selected text that the model has not read yet; equal texts in equal frames are one call.

    Raises:
        CotraceError: the provider does not take the batch.
        StoreError: the store cannot be read or written.
        UsageError: the condition is no SQL, the provider has no batches, or a batch by the same reader is under way.
    """
    store.update()
    settings, price = request.settings, price_of(request.settings, request.prices)
    with batch_client(settings, batches.MOST_BYTES_TOLD) as client, starting(store):
        refuse_if_reading(request, store)
        found, texts, before = open_texts(request, store)
        lengths = (sum(len(message["content"]) for message in one.messages) for one in found)
        asked = found[: batches.affordable(request.max_cost, lengths, settings, price)]
        counts = (len(asked), texts, before, len(found) - len(asked))
        if not asked:
            return SubmittedReading(None, *counts)
        questions = [ModelQuestion(messages=one.messages, form=Form(one.room.model)) for one in asked]
        record = _Record(
            run_id=secrets.token_hex(8),
            settings=settings,
            where=request.where,
            benchmarks=request.benchmarks,
            earlier=request.earlier,
            prompt=request.prompt,
            keys=[one.key for one in asked],
            prompt_hashes=[shown(fingerprint(settings, question)) for question in questions],
            price=price,
            asked_at=now(),
            batch_id=None,
        )
        path = remember(_folder(store), record.run_id, record)  # first: a batch that is paid must be found again, whenever the process ends
        try:
            batch_id = batches.send(client, record.run_id, questions, settings)
        except BatchRefusedError:
            path.unlink(missing_ok=True)
            raise
        remember(_folder(store), record.run_id, record._replace(batch_id=batch_id))
    return SubmittedReading(batch_id, *counts)


def collect_readings(store: Store) -> list[CollectedReading]:
    """Store the claims of every batch that is done; those under way are only told of.

    Raises:
        CotraceError: the provider cannot be reached.
        StoreError: the store cannot be written, or a record is damaged.
    """
    store.update()
    with starting(store), batches.within_reach():
        return [_collected(store, path, record) for path, record in list(_pending(store))]


def _collected(store: Store, path: Path, record: _Record) -> CollectedReading:
    reader, calls = record.request().stored_as, len(record.keys)
    batch = batches.find(Sent(record.settings, record.run_id, record.batch_id))
    if batch is None:
        path.unlink()
        return CollectedReading(reader, None, "lost", 0, calls, 0, 0)
    if batch.status in batches.UNDER_WAY:
        return CollectedReading(reader, batch.id, batch.status, batches.done_of(batch), calls, 0, 0)
    waiting = {one.key: one for one in open_texts(record.request(), store).questions}
    rows: list[Claim] = []
    asked: list[Call] = []
    for reply in batches.replies(batch, record.settings, calls):
        call, claims = _taken(reply, record, waiting.get(record.keys[reply.number]))
        asked.append(call)
        rows += claims
    put(store, reader, rows, asked)
    path.unlink()
    read, failed = len({row[:3] for row in rows}), sum(call.status == "failed" for call in asked)
    return CollectedReading(reader, batch.id, batch.status, batches.done_of(batch), calls, read, failed)


def _taken(reply: BatchReply, record: _Record, question: ReadingQuestion | None) -> tuple[Call, list[Claim]]:
    """The call as it goes on record, and the claims for each text that still waits for them."""
    first = question.texts[0] if question else None
    request = Request(
        messages=(),
        purpose="reader",
        episode_id=first.game.episode_id if first else None,
        turn=first.turn if first else None,
        agent=first.said.agent if first else None,
    )
    taken = taken_of(reply, question.room.model if question else None, record.price)
    call = call_of(request, record.prompt_hashes[reply.number], record.asked_at, taken, (record.settings.model, record.price))
    name = hashlib.blake2b(f"{record.run_id} {reply.number}".encode(), digest_size=8).hexdigest()
    call = call._replace(call_id=name)  # collected again after a kill, it is the same call
    if question is None or taken.answer is None or taken.answer.filled is None:
        return call, []
    read = read_reply(taken.answer.filled, question.text, question.room.types)
    return call, [row for text in question.texts for row in rows_of(read, text.place, record.request().stored_as, question.key)]
