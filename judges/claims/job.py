"""Has a model read texts, at once, in a provider's batch or elsewhere, and puts what it understood into the table `claims`.

One call a text, or a sentence where the server is slow; equal texts in equal frames are read once. What an earlier start has read is not
asked again: it is in the store or, if that was killed, in the journal.

Between submitting and collecting a batch, cotrace stores the request and the prompts' hashes in
`<store>.journal/claims/<run>.batch.json`. The texts are looked up again when the replies are there: a reading of a text that has been
forgotten since is dropped.
"""

import asyncio
import hashlib
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError

from judges.claims.extraction import read_reply, rows_of
from judges.claims.reading import Read, ReadClaim, Unread
from judges.claims.texts import Piece, ReadingQuestion, ReadingRequest, open_texts, put
from judges.runs import batches
from judges.runs.batches import BatchReply, Submission
from providers.asker import Asker, JournalEntry, Reply, Request, Spent, now, run_to_end
from providers.forms import ModelQuestion
from schemas.common.errors import StoreError, UsageError
from schemas.records import Call, Claim
from schemas.store.journal import Journal, made, starting
from schemas.store.store import Store

_QUESTIONS_A_TRANSACTION = 200
_TOKENS_A_SENTENCE: Final = 240
"""Enough for the four claims that the form of a sentence can hold."""


@dataclass(slots=True)
class ReadingReport(Spent):
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
    first_error: str | None = None


def read_texts(request: ReadingRequest, store: Store, on_progress: Callable[[int, int], None] | None = None) -> ReadingReport:
    """Have a model read every selected text that it has not read yet; how many calls of how many are done is reported after each.

    Raises:
        HopelessError: no request can succeed.
        StoreError: the store or the journal cannot be read or written.
        UsageError: the condition is not SQL, a limit needs a price that is not known, or the same model is reading for this store
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
        self.report = ReadingReport(cost=0.0 if request.price(request.settings) else None)
        self._rows: list[Claim] = []
        self._calls: list[Call] = []

    def prepare(self) -> list[ReadingQuestion]:
        questions, self.report.texts, self.report.read_before = open_texts(self._request, self._store)
        self._calls_to_make = sum(len(one.pieces) for one in questions)
        if questions:
            refuse_if_reading(self._request, self._store)
        return questions

    async def go(self, questions: Sequence[ReadingQuestion]) -> ReadingReport:
        settings = self._request.settings
        path = made(_folder(self._store)) / f"{hashlib.blake2b(settings.model.encode(), digest_size=6).hexdigest()}.jsonl"
        journal: Journal[dict[str, str], JournalEntry] = Journal(path, {"job": "claims"}, JournalEntry)
        done = False
        self._tell(0)
        try:
            async with self._request.asker(settings, journal) as asker:
                for start in range(0, len(questions), _QUESTIONS_A_TRANSACTION):
                    await asyncio.gather(*(self._ask(asker, one) for one in questions[start : start + _QUESTIONS_A_TRANSACTION]))
                    await asyncio.to_thread(self._save)
            done = True
        finally:
            if not done:
                with suppress(StoreError):
                    self._save()
            await journal.close(delete=done)
        return self.report

    async def _ask(self, asker: Asker, one: ReadingQuestion) -> None:
        replies: dict[int, Reply] = {}

        async def ask(number: int, piece: Piece) -> None:
            longest = None if piece.span is None else _TOKENS_A_SENTENCE
            reply = await asker.ask(Request(messages=piece.messages, key=one.key, purpose="reader", longest=longest, **_about(one)))
            self.report.spend(reply)
            if reply.source != "cache" and reply.call.attempts:
                self._calls.append(reply.call)
            replies[number] = reply
            if len(replies) == len(one.pieces):  # here, not after `gather`, which an interruption ends before it gives the replies
                self._take(one, [replies[each] for each in sorted(replies)])
            self._tell(1)

        await asyncio.gather(*(ask(number, piece) for number, piece in enumerate(one.pieces)))

    def _tell(self, more: int) -> None:
        """Report that so many more calls are done; 0 before the first, which may take minutes."""
        self._done += more
        if self._on_progress is not None:
            self._on_progress(self._done, self._calls_to_make)

    def _take(self, one: ReadingQuestion, replies: Sequence[Reply]) -> None:
        report = self.report
        if any(reply.call.status == "unasked" for reply in replies):
            report.not_asked += len(one.texts)
        elif all(reply.filled is None for reply in replies):
            report.failed += len(one.texts)
            report.first_error = report.first_error or replies[0].call.error
        else:
            claims: list[ReadClaim[Any]] = []
            unread: list[Unread] = []
            for piece, reply in zip(one.pieces, replies, strict=True):
                if reply.filled is None:
                    assert piece.span is not None
                    unread.append(Unread(one.text[slice(*piece.span)], reply.call.error or "", one.family.types, *piece.span))
                    continue
                read = read_reply(reply.filled, one.text, one.family.types, piece.span)
                claims += read.claims
                unread += read.unread
            read = Read(tuple(claims), tuple(unread))
            report.read += len(one.texts)
            report.claims += len(read.claims) * len(one.texts)
            for text in one.texts:
                self._rows += rows_of(read, text.place, self._request.stored_as, one.key)

    def _save(self) -> None:
        rows, self._rows = self._rows, []
        calls, self._calls = self._calls, []
        put(self._store, self._request.stored_as, rows, calls)


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
    """As the provider reports; `lost` if it does not know the batch."""
    done: int
    """Requests that the provider is through with."""
    calls: int
    read: int
    """Texts; 0 while the batch is under way."""
    failed: int
    """Calls without a usable reply: the next start asks them again."""


class _BatchJob(NamedTuple):
    """What a batch is for."""

    request: ReadingRequest
    keys: list[str]
    """`ReadingQuestion.key` of each request, which is called by its place in this list."""


_KIND: Final[TypeAdapter[Submission[_BatchJob]]] = TypeAdapter(Submission[_BatchJob])


def _folder(store: Store) -> Path:
    return store.journals / "claims"


def refuse_if_reading(request: ReadingRequest, store: Store) -> None:
    """See that nothing is asked that a batch is being asked already.

    Raises:
        StoreError: a batch's record is damaged.
        UsageError: a batch by the same reader was submitted and not collected.
    """
    for _, sent in batches.pending(_KIND, _folder(store)):
        if sent.settings.model == request.settings.model:
            raise UsageError(
                f"a batch of texts for {request.stored_as} is under way ({sent.batch_id}): "
                "get its readings first with cotrace claims --collect"
            )


def submit_reading(request: ReadingRequest, store: Store) -> SubmittedReading:
    """Submit every selected text that the model has not read yet; equal texts in equal frames are one call.

    Raises:
        CotraceError: the provider does not take the batch.
        StoreError: the store cannot be read or written.
        UsageError: the condition is not SQL, the provider has no batches, or a batch by the same reader is under way.
    """
    settings = replace(request.settings, reply_speed=None)  # a batch is as fast for whole texts
    request, price = replace(request, settings=settings), request.price(settings)
    batches.refuse_without_batches(settings)
    store.update()
    with starting(store):
        refuse_if_reading(request, store)
        found, texts, before = open_texts(request, store)
        questions = [ModelQuestion(messages=one.messages, form=one.form) for one in found]
        asked = batches.affordable(request.max_cost, questions, settings, price)
        counts = (asked, texts, before, len(found) - asked)
        if not asked:
            return SubmittedReading(None, *counts)
        job = _BatchJob(request, [one.key for one in found[:asked]])
        sent = Submission(job, secrets.token_hex(8), settings, price, now(), [], None)
        return SubmittedReading(batches.submit(_KIND, _folder(store), sent, questions[:asked]), *counts)


def collect_readings(store: Store) -> list[CollectedReading]:
    """Store the claims of every batch that is done; those under way are only reported.

    Raises:
        CotraceError: the provider cannot be reached.
        StoreError: the store cannot be written, or a record is damaged.
    """
    store.update()
    with starting(store):
        return [_collected(store, path, sent) for path, sent in list(batches.pending(_KIND, _folder(store)))]


def _collected(store: Store, path: Path, sent: Submission[_BatchJob]) -> CollectedReading:
    found, reader = batches.find(sent), sent.job.request.stored_as
    rows: list[Claim] = []
    asked: list[Call] = []
    if found.replies:
        waiting = {one.key: one for one in open_texts(sent.job.request, store).questions}
        for reply in found.replies:
            call, claims = _taken(reply, sent, waiting.get(sent.job.keys[reply.number]))
            asked.append(call)
            rows += claims
        put(store, reader, rows, asked)
    if found.replies is not None:
        path.unlink()
    read, failed = len({row[:3] for row in rows}), sum(call.status == "failed" for call in asked)
    return CollectedReading(reader, found.batch_id, found.status, found.done, len(sent.job.keys), read, failed)


def _taken(reply: BatchReply, sent: Submission[_BatchJob], question: ReadingQuestion | None) -> tuple[Call, list[Claim]]:
    """The call as it goes on record, and the claims for each text that still waits for them."""
    about = {} if question is None else _about(question)
    call, taken = sent.taken(reply, Request(messages=(), purpose="reader", **about))
    name = hashlib.blake2b(f"{sent.run_id} {reply.number}".encode(), digest_size=8).hexdigest()
    call = call._replace(call_id=name)  # collected again after a kill, it is the same call
    if question is None or taken.answer is None or taken.answer.filled is None:
        return call, []
    read = read_reply(taken.answer.filled, question.text, question.family.types)
    return call, [row for text in question.texts for row in rows_of(read, text.place, sent.job.request.stored_as, question.key)]


def _about(question: ReadingQuestion) -> dict[str, Any]:
    """Where the first of the texts is, and the form of the reply, as a request has them."""
    first = question.texts[0]
    return {
        "form": question.form,
        "episode_id": first.game.episode_id,
        "turn": first.turn,
        "agent": first.message.agent,
    }


def record_requests(request: ReadingRequest, store: Store, path: Path) -> int:
    """Write what the model is still to be asked, an object a line: `id`, `messages` (role, content), `schema` of the reply; gives how many.

    Raises:
        StoreError: the store cannot be opened.
        UsageError: the condition is not SQL, or the file cannot be written.
    """
    questions = open_texts(request, store).questions
    try:
        with path.open("wb") as lines:
            for one in questions:
                schema = one.form.model_json_schema()
                lines.write(orjson.dumps({"id": one.key, "messages": one.messages, "schema": schema}) + b"\n")
    except OSError as error:
        raise UsageError(f"--record {path}: cannot be written: {error.strerror}") from error
    return len(questions)


def take_replies(request: ReadingRequest, store: Store, path: Path) -> ReadingReport:
    """Store what the model has read, out of a file with a JSON object a line: `id` as in its request, and `reply`, the filled-in form.

    A recorded answer to an older prompt has `user`, what was asked, in place of `id`, and `reading`: it counts for requests of the same
    text whose first sentence (who speaks, and how) is the same. A reply that cannot be used is counted as failed, and the first of them is
    named; its text may be asked about again.

    Raises:
        StoreError: the store cannot be read or written.
        UsageError: the condition is not SQL, or the file cannot be read.
    """
    store.update()
    questions, texts, before = open_texts(request, store)
    report = ReadingReport(texts=texts, read_before=before, cost=None)
    waiting = {one.key: one for one in questions}
    asked: dict[tuple[str, str] | None, list[str]] = {}
    for one in questions:
        asked.setdefault(_text_of(one.messages[-1]["content"]), []).append(one.key)
    rows: list[Claim] = []
    for number, reply in _replies(path):
        keys = [str(reply.get("id"))] if "user" not in reply else asked.get(_text_of(str(reply["user"])) or ("", ""), ())
        for one in [waiting[key] for key in keys if key in waiting]:
            try:
                read = read_reply(
                    filled_form(reply.get("reply", reply.get("reading")), one.form),
                    one.text,
                    one.family.types,
                )
            except ValueError as error:
                report.failed += len(one.texts)
                report.first_error = report.first_error or f"{path.name}, line {number}: {' '.join(str(error).split())}"
                continue
            report.read += len(one.texts)
            report.claims += len(read.claims) * len(one.texts)
            rows += (row for text in one.texts for row in rows_of(read, text.place, request.stored_as, one.key))
            del waiting[one.key]
    put(store, request.stored_as, rows)
    report.not_asked = sum(len(one.texts) for one in waiting.values()) - report.failed
    return report


_SHOWN: Final = re.compile(r"\A(.*?\.)\s.*?\[BEGIN text \w+\]\nIt says:\n(.*)\n\[END text", re.DOTALL)


def _text_of(prompt: str) -> tuple[str, str] | None:
    """First sentence and text of a request; None where it has no marks."""
    found = _SHOWN.match(prompt)
    return None if found is None else (found[1], " ".join(re.sub(r"^\| ?", "", found[2], flags=re.MULTILINE).split()))


def _replies(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(f"--replies {path}: cannot be read: {error.strerror}") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                reply = orjson.loads(line)
            except ValueError as error:
                raise UsageError(f"--replies {path}, line {number}: no JSON ({error})") from error
            if not isinstance(reply, dict):
                raise UsageError(f'--replies {path}, line {number}: give an object {{"id": ..., "reply": ...}}')
            yield number, reply


def filled_form(reply: object, form: type[BaseModel]) -> BaseModel:
    """The form that a reply fills in; a claim that does not fit the form counts as not understood.

    Raises:
        ValueError: it is not an object with a list of claims.
    """
    message = orjson.loads(reply) if isinstance(reply, str) else reply
    if not isinstance(message, dict) or not isinstance(message.get("claims"), list):
        raise ValueError("the reply is not an object with a list of claims")  # noqa: TRY004 - the reply's fault, as bad JSON is
    claims, passages = [], [*(message.get("not_understood") or [])]
    for claim in message["claims"]:
        plain = _without_nulls(claim)
        try:
            form.model_validate({"claims": [plain], "not_understood": []})
        except ValidationError as error:
            words = str(plain.get("words", "")) if isinstance(plain, dict) else ""
            passages.append({"words": words, "why": f"the claim does not fit the form: {error.errors()[0]['msg']}"})
        else:
            claims.append(plain)
    return form.model_validate({"claims": claims, "not_understood": passages})


def _without_nulls(value: Any) -> Any:
    """The value without fields that hold null: they state nothing."""
    if isinstance(value, dict):
        return {name: _without_nulls(part) for name, part in value.items() if part is not None}
    return [_without_nulls(part) for part in value] if isinstance(value, list) else value
