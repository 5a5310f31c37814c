"""One way to ask a language model, for judges, players and optimisers alike: a request, its reply, and what both took.

`await asker.ask(Request(...))` gives a `Reply`, whatever the server does in between. The steps, in this order: the journal (what
this job has asked before is not paid again), the cache (nor is what any job has asked before), the bound on calls under way, the least busy
of the model's servers, and there (`providers.server`) budget, limits, pauses, retries and re-asks.
"""

import asyncio
import hashlib
import logging
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self, TypeVar

import orjson
from pydantic import BaseModel

from providers.cache import ReplyCache
from providers.faults import HopelessError
from providers.forms import ModelQuestion, form_of
from providers.prices import Budget, Price, price_of, refuse_unpriced
from providers.provider import ModelSettings
from providers.server import CallResult, Server
from schemas.chat.answers import Answer
from schemas.chat.messages import Completion, Tokens, why_no_probabilities
from schemas.records import Call
from schemas.store.journal import Journal

Source = Literal["model", "cache", "journal"]
_Number = TypeVar("_Number", int, float)
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Request(ModelQuestion):
    """A question to a model."""

    key: str | None = None
    """Of the reply in the journal: the same question under the same key is not sent again. None: it always is."""
    sample: int = 1
    """From 1: which of several replies to the same question is meant; part of the key in the cache."""
    purpose: str = "player"
    """Who asks, as in the column `calls.purpose`."""
    step: str | None = None
    """What is asked for, as in the column `calls.step`."""
    run: str | None = None
    episode_id: str | None = None
    turn: int | None = None
    agent: str | None = None
    note: Any = None
    """Goes into the journal with the reply: what the caller needs to use it after a kill. Anything that JSON holds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What came of a question: a completion, or why there is none, and what it took."""

    call: Call
    """As in the table `calls`."""
    completion: Completion | None
    """The last that came; None if none did. It is an answer only if the status is `answered`."""
    answer: Answer | None = None
    """What the completion comes to; None if none came."""
    source: Source = "model"
    """Where it comes from; only what comes from the model was paid for now."""
    timed_out: int = 0
    """Requests without a complete reply in time."""

    @property
    def answered(self) -> bool:
        """Whether the model has answered; of a form, whether it was filled in."""
        return self.call.status == "answered"

    @property
    def filled(self) -> BaseModel | None:
        """The form, filled in; None unless one was asked for and the model has answered."""
        return self.answer.filled if self.answer and self.answered else None

    @property
    def text(self) -> str:
        """The final text, without thoughts; empty unless the model has answered."""
        return self.answer.text if self.answer and self.answered else ""

    @property
    def thoughts(self) -> str:
        """What the model thought, as far as it is shown."""
        return self.answer.thoughts if self.answer else ""


class JournalEntry(NamedTuple):
    """A line of a journal."""

    key: str | None
    note: Any
    call: Call
    completion: Completion | None


@dataclass(slots=True)
class Spent:
    """What requests to a model took."""

    requests: int = 0
    """HTTP requests, retries and re-asks included."""
    timed_out: int = 0
    """Those of them without a complete reply in time."""
    tokens_in: int | None = 0
    """None if the server of a call has not counted its tokens."""
    tokens_out: int | None = 0
    cost: float | None = 0.0
    """USD; None if the cost of a call is not known: its model has no price, or the server has not counted the tokens."""

    def spend(self, reply: Reply) -> None:
        """Count what a reply took: one out of the cache or the journal took nothing, or was counted by the job that was killed."""
        call = reply.call
        if reply.source == "model":
            self.requests += call.attempts
            self.timed_out += reply.timed_out
            self.tokens_in = summed((self.tokens_in, call.tokens_in))
            self.tokens_out = summed((self.tokens_out, call.tokens_out))
            self.cost = summed((self.cost, call.cost))


@dataclass(slots=True)
class Usage(Spent):
    """What was asked, and what it took."""

    asked: int = 0
    """Calls, paid for or not; those for which no request was allowed are none."""
    from_cache: int = 0
    from_journal: int = 0
    failed: int = 0
    """Calls without a usable reply."""
    first_error: str | None = None
    """Why the first failed call failed."""

    def add(self, reply: Reply) -> None:
        """Count a reply."""
        call = reply.call
        self.spend(reply)
        self.asked += call.status != "unasked" or call.attempts > 0
        self.from_cache += reply.source == "cache"
        self.from_journal += reply.source == "journal"
        if call.status == "failed":
            self.failed += 1
            self.first_error = self.first_error or call.error


def summed(numbers: Iterable[_Number | None]) -> _Number | None:
    """The sum of all; None if one of them is not known."""
    total: _Number | None = 0
    for number in numbers:
        total = None if total is None or number is None else total + number
    return total


def fingerprint(settings: ModelSettings, question: ModelQuestion) -> bytes:
    """16 bytes over all that could change the reply."""
    form = form_of(question.form).tool if question.form else None
    content: list[object] = [settings.model, settings.answering(), question.messages, question.tools, form]
    content += [] if question.longest is None else [question.longest]
    return hashlib.blake2b(orjson.dumps(content, default=tuple, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()


def shown(asked: bytes) -> str:
    """A fingerprint as in the column `calls.prompt_hash`."""
    return asked.hex()[:16]


def call_of(request: Request, prompt_hash: str, asked_at: datetime, result: CallResult, priced: tuple[str, Price | None]) -> Call:
    """The row of `calls`.

    Args:
        request: what was asked.
        prompt_hash: of it.
        asked_at: when.
        result: what came of it.
        priced: the model, and what it costs.
    """
    completion, answer, (model, price) = result.completion, result.answer, priced
    tokens_in, tokens_out, tokens_cached, _, tokens_reasoning = result.tokens or (None,) * len(Tokens._fields)
    is_priced = price is not None or (completion is not None and result.attempts > 0)
    return Call(
        call_id=secrets.token_hex(8),
        purpose=request.purpose,
        run=request.run,
        episode_id=request.episode_id,
        turn=request.turn,
        agent=request.agent,
        model=model,
        prompt_hash=prompt_hash,
        reply=completion.written if completion else None,
        reasoning=(completion.reasoning or None) if completion else None,
        finish_reason=completion.finish_reason if completion else None,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        tokens_cached=tokens_cached,
        tokens_reasoning=tokens_reasoning,
        cost=result.cost if is_priced else None,
        latency_s=result.latency_s,
        attempts=result.attempts,
        status=result.status,
        error=result.error,
        asked_at=asked_at,
        step=request.step,
        served_model=completion.served_model if completion else None,
        read_as=answer.read_as if answer else None,
        read=answer.read if answer else None,
    )


def now() -> datetime:
    """The time for the store: UTC, without a zone."""
    return datetime.now(UTC).replace(tzinfo=None)


_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class JobTerms:
    """What the askers of a job share; all of it belongs to the caller, who closes it."""

    budget: Budget | None = None
    """None: no limit."""
    cache: ReplyCache | None = None
    """None: everything is asked."""
    journal: Journal[Any, JournalEntry] | None = None
    """What it holds from an earlier start is not asked again. None: nothing is stored."""
    forced: bool = True
    """Whether a reply is given out only when it is safe from a power cut; else when it is safe from a kill, some milliseconds earlier."""
    concurrency: int = 32
    """Calls of each asker under way at once."""
    usage: Usage = field(default_factory=Usage)
    """What was asked of all of them."""


class Asker:
    """A model behind one or more servers, shared by all who ask it.

    Args:
        endpoints: the model's settings, once for each server and key.
        price: what it costs; None: unknown, costs are null.
        terms: of the job.

    Raises:
        UsageError: a model's name is incomplete, or its key is missing.
    """

    def __init__(self, endpoints: Sequence[ModelSettings], price: Price | None = None, terms: JobTerms | None = None) -> None:
        terms = terms or JobTerms()
        budget = terms.budget or Budget(None)
        self.settings = endpoints[0]
        self.usage = terms.usage
        self._priced = (self.settings.model, price)
        self._cache, self._journal, self._forced = terms.cache, terms.journal, terms.forced
        self._servers = [Server(settings, price=price, budget=budget) for settings in endpoints]
        self._open = list(self._servers)
        self._hopeless = HopelessError("there is no server to ask")
        """Why the last server was given up."""
        self._free = asyncio.Semaphore(terms.concurrency)
        before = terms.journal.before if terms.journal else ()
        self._known = {(entry.key, entry.call.prompt_hash): entry for entry in before}
        self._unlisted = 0
        """Replies whose tokens do not add up, by the server's own count."""
        self._without_probabilities: Counter[str] = Counter()
        """Replies to which no probabilities can be given though they were asked for, by the reason."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections; journal and cache belong to the caller."""
        for server in self._servers:
            await server.client.close()
        if self._unlisted:
            _LOG.warning(
                "%d of the replies of %s: the server's total of tokens is not the prompt and the reply that it lists; "
                "what it does not list is counted as tokens of the reply",
                self._unlisted,
                self.settings.model,
            )
            self._unlisted = 0
        for why, count in self._without_probabilities.items():
            _LOG.warning("%d of the replies of %s have no probabilities (--logprobs): %s", count, self.settings.model, why)
        self._without_probabilities.clear()

    @property
    def learned(self) -> dict[str, Any]:
        """What was learned of the first server (`Server.learned`)."""
        return self._servers[0].learned

    async def ask(self, request: Request) -> Reply:
        """Ask, and have the reply on record before it is given out.

        A reply that does not fit the form is shown back to the model, a bounded number of times; text is given out as it came.

        Raises:
            HopelessError: no request of this job can succeed.
            StoreError: journal or cache cannot be used.
        """
        asked = fingerprint(self.settings, request)
        reply = self._from_journal(request, asked) or await self._from_cache_or_model(request, asked)
        self.usage.add(reply)
        if self.settings.logprobs and reply.completion is not None and (why := why_no_probabilities(reply.completion)):
            self._without_probabilities[why] += 1
        return reply

    def _from_journal(self, request: Request, asked: bytes) -> Reply | None:
        entry = self._known.get((request.key, shown(asked)))
        if entry is None or request.key is None:
            return None
        answer = request.answer(entry.completion) if entry.completion else None
        if entry.call.status == "answered" and (answer is None or not answer.counts):
            return None  # an earlier version took it for an answer
        return Reply(call=entry.call, completion=entry.completion, answer=answer, source="journal")

    async def _from_cache_or_model(self, request: Request, asked: bytes) -> Reply:
        if self._cache is None:
            return await self._from_model(request, asked)
        key = asked + request.sample.to_bytes(4, "big")
        async with self._cache.asking(key):
            found = self._cache.get(key)
            answer = request.answer(found) if found is not None else None
            if answer is not None and answer.counts:
                call = call_of(request, shown(asked), now(), CallResult(status="answered", completion=found, answer=answer), self._priced)
                return Reply(call=call, completion=found, answer=answer, source="cache")
            reply = await self._from_model(request, asked)
            if reply.answered and reply.completion is not None:
                self._cache.put(key, reply.completion, replaces=found is not None)
            return reply

    async def _from_model(self, request: Request, asked: bytes) -> Reply:
        async with self._free:
            await asyncio.sleep(0)  # a task that was cancelled while its last reply was written ends here, and pays no more
            asked_at = now()
            result = await self._least_busy(request)
        self._unlisted += result.unlisted
        call = call_of(request, shown(asked), asked_at, result, self._priced)
        if self._journal is not None and result.status != "unasked":
            await self._journal.write(JournalEntry(request.key, request.note, call, result.completion), forced=self._forced)
        return Reply(call=call, completion=result.completion, answer=result.answer, timed_out=result.timed_out)

    async def _least_busy(self, question: ModelQuestion) -> CallResult:
        """Ask the least busy server; where one turns out hopeless, the others go on without it.

        Raises:
            HopelessError: no server is left.
        """
        while self._open:
            server = min(self._open, key=lambda one: one.busy)
            self._open.append(self._open.pop(self._open.index(server)))  # of equally busy ones, the next call goes to another
            try:
                return await server.ask(question)
            except HopelessError as error:
                self._hopeless = error
                self._open = [one for one in self._open if one is not server]
        raise self._hopeless


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelJob:
    """What asking a model may take, in a job of its own."""

    more_endpoints: tuple[ModelSettings, ...] = ()
    """The same model at other servers, or with other keys; calls are shared out among all of them."""
    cache: Path | None = None
    """File or folder of answers by content, which other stores may share; None: everything is asked."""
    concurrency: int = 32
    """Calls under way at once."""
    max_cost: float | None = None
    """USD that may be spent; None: no limit."""
    prices: Path | None = None
    """A price file of the user's own, looked at before the built-in one."""

    def price(self, settings: ModelSettings) -> Price | None:
        """What a model costs; None if that is not known.

        Raises:
            UsageError: there is a limit, and the model has no price; or a price file is malformed.
        """
        found = price_of(settings, self.prices)
        refuse_unpriced(settings, found, self.max_cost)
        return found

    @asynccontextmanager
    async def asker(self, settings: ModelSettings, journal: Journal[Any, JournalEntry], usage: Usage | None = None) -> AsyncIterator[Asker]:
        """An asker for the model, with the job's limit and cache; the journal belongs to the caller."""
        with closing(ReplyCache(self.cache)) if self.cache else nullcontext() as cache:
            budget = Budget(self.max_cost)
            terms = JobTerms(budget=budget, cache=cache, journal=journal, concurrency=self.concurrency, usage=usage or Usage())
            async with Asker((settings, *self.more_endpoints), self.price(settings), terms) as asker:
                yield asker


def run_to_end(going: Coroutine[Any, Any, T]) -> T:
    """What the coroutine gives; where an event loop runs already, in a thread of its own."""

    def run() -> T:
        with asyncio.Runner() as runner:  # `asyncio.run` is what libraries for notebooks exchange for one that leaves every loop open
            return runner.run(going)

    return outside_event_loop(run)


def outside_event_loop(work: Callable[[], T]) -> T:
    """Run what starts an event loop of its own; in a thread where one is running already, as in notebooks."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()
