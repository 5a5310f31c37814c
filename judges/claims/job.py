"""Has a model read texts, and puts what it claims to have understood into the table `claims`.

One call a text; equal texts in equal frames are read once. What an earlier start has read is not asked again: it stands in the store or,
if that was killed, in the journal.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path

from judges.claims.batch import refuse_if_reading
from judges.claims.extraction import read_reply
from judges.claims.questions import ReadingQuestion, ReadingRequest, open_texts
from judges.claims.rows import rows_of
from judges.claims.stored import put
from providers.asker import Asker, JobTerms, JournalEntry, Reply, Request, added, run_to_end
from providers.journal import Journal, ReplyCache, made
from providers.prices import Budget, price_of, refuse_unpriced
from schemas.records import Call, Claim
from schemas.store import Store

_QUESTIONS_A_TRANSACTION = 200


@dataclass(slots=True)
class ReadingReport:
    """What came of a job."""

    texts: int = 0
    """Of the selection."""
    read_before: int = 0
    read: int = 0
    claims: int = 0
    failed: int = 0
    """Texts without a usable answer."""
    not_asked: int = 0
    """Texts that no money was left for."""
    requests: int = 0
    timed_out: int = 0
    """Those of them without a complete reply in time."""
    tokens_in: int | None = 0
    """None if the server has not counted all tokens."""
    tokens_out: int | None = 0
    cost: float | None = None
    """USD; None if the model has no price."""
    first_error: str | None = None


def read_texts(request: ReadingRequest, store: Store, on_progress: Callable[[int, int], None] | None = None) -> ReadingReport:
    """Have a model read every selected text that it has not read yet; how many calls of how many are done is reported after each.

    Raises:
        HopelessError: no request can succeed.
        StoreError: the store or the journal cannot be read or written.
        UsageError: the condition is no SQL, a limit needs a price that is not known, or the same model is reading for this store
            already, perhaps in a batch.
    """
    store.update()
    job = _Job(request, store, on_progress)
    questions = job.prepare()  # outside of the event loop, which would let Ctrl-C wait for the end of it
    return run_to_end(job.go(questions)) if questions else job.report


class _Job:
    def __init__(self, request: ReadingRequest, store: Store, on_progress: Callable[[int, int], None] | None) -> None:
        self._request, self._store, self._on_progress = request, store, on_progress
        self._done = self._calls_to_make = 0
        self._price = price_of(request.settings, request.prices)
        refuse_unpriced(request.settings, self._price, request.max_cost)
        self.report = ReadingReport(cost=0.0 if self._price else None)
        self._rows: list[Claim] = []
        self._calls: list[Call] = []

    def prepare(self) -> list[ReadingQuestion]:
        """What is to be asked."""
        questions, self.report.texts, self.report.read_before = open_texts(self._request, self._store)
        self._calls_to_make = len(questions)
        if questions:
            refuse_if_reading(self._request, self._store)
        return questions

    async def go(self, questions: Sequence[ReadingQuestion]) -> ReadingReport:
        """Ask it."""
        journal: Journal[dict[str, str], JournalEntry] = Journal(self._journal_path(), {"job": "claims"}, JournalEntry)
        done = False
        try:
            await self._ask_all(questions, journal)
            done = True
        finally:
            await journal.close(delete=done)
        return self.report

    def _journal_path(self) -> Path:
        folder = made(self._store.journals / "claims")
        return folder / f"{hashlib.blake2b(self._request.settings.model.encode(), digest_size=6).hexdigest()}.jsonl"

    async def _ask_all(self, questions: Sequence[ReadingQuestion], journal: Journal[dict[str, str], JournalEntry]) -> None:
        request = self._request
        with closing(ReplyCache(request.cache)) if request.cache else nullcontext() as cache:
            terms = JobTerms(budget=Budget(request.max_cost), cache=cache, journal=journal, concurrency=request.concurrency)
            async with Asker((request.settings, *request.more_endpoints), self._price, terms) as asker:
                for portion in _portions(questions, _QUESTIONS_A_TRANSACTION):
                    await asyncio.gather(*(self._ask(asker, one) for one in portion))
                    await asyncio.to_thread(self._save)

    async def _ask(self, asker: Asker, one: ReadingQuestion) -> None:
        first = one.texts[0]
        asked = Request(
            messages=one.messages,
            form=one.room.model,
            key=one.key,
            purpose="reader",
            episode_id=first.game.episode_id,
            turn=first.turn,
            agent=first.said.agent,
        )
        self._take(one, await asker.ask(asked))
        self._done += 1
        if self._on_progress is not None:
            self._on_progress(self._done, self._calls_to_make)

    def _take(self, one: ReadingQuestion, reply: Reply) -> None:
        report = self.report
        self._spend(reply)
        if reply.call.status == "unasked":
            report.not_asked += len(one.texts)
        elif reply.filled is None:
            report.failed += len(one.texts)
            report.first_error = report.first_error or reply.call.error
        else:
            read = read_reply(reply.filled, one.text, one.room.types)
            report.read += len(one.texts)
            report.claims += len(read.told) * len(one.texts)
            for text in one.texts:
                self._rows += rows_of(read, text.place, self._request.stored_as, one.key)

    def _spend(self, reply: Reply) -> None:
        """Count what a call has taken; one out of the journal was counted by the job that was killed, and never stored."""
        report, call = self.report, reply.call
        if reply.source != "cache" and call.attempts:
            self._calls.append(call)
        if reply.source == "model":
            report.requests += call.attempts
            report.timed_out += reply.timed_out
            report.tokens_in = added(report.tokens_in, call.tokens_in)
            report.tokens_out = added(report.tokens_out, call.tokens_out)
            report.cost = added(report.cost, call.cost)

    def _save(self) -> None:
        rows, self._rows = self._rows, []
        calls, self._calls = self._calls, []
        put(self._store, self._request.stored_as, rows, calls)


def _portions(questions: Sequence[ReadingQuestion], size: int) -> Iterator[Sequence[ReadingQuestion]]:
    return (questions[start : start + size] for start in range(0, len(questions), size))
