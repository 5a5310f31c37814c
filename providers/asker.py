"""One way to ask a language model, for judges, players and optimisers alike.

`await asker.ask(Request(...))` gives a `Reply`, whatever the server does in between. Behind it stand, in this order: the journal (what this
job has asked before is not paid again), the cache (nor is what anybody has asked before), the bound on calls under way, the least busy of
the model's servers, and there (`providers.server`) budget, limits, pauses, retries and re-asks.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, Self

import orjson
from pydantic import BaseModel

from providers.cache import ReplyCache
from providers.completion import NO_TOKENS, Completion, Tokens
from providers.faults import HopelessError
from providers.forms import Form
from providers.journal import Journal
from providers.messages import Message, Tool
from providers.prices import Budget, Price
from providers.provider import ModelSettings
from providers.server import Question, Server, Taken
from schemas.records import Call

__all__ = ["Asker", "Entry", "Reply", "Request", "Terms", "Usage"]

Source = Literal["model", "cache", "journal"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A question to a model."""

    messages: Sequence[Message]
    form: type[BaseModel] | None = None
    """What the reply must fill in; None: the reply is text."""
    tools: Sequence[Tool] = ()
    """What the model may call; of a request without a form."""
    key: str | None = None
    """What the reply is called in the journal: asked again under the same key, the same question is not sent again. None: it always is."""
    sample: int = 1
    """From 1: which of several replies to the same question is meant; part of what the cache keeps a reply under."""
    purpose: str = "player"
    """Who asks, as in the column `calls.purpose`."""
    run: str | None = None
    episode_id: str | None = None
    turn: int | None = None
    agent: str | None = None
    note: Any = None
    """Goes into the journal beside the reply: what the caller needs to make something of it after a kill. Anything that JSON holds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What came of a question: a completion, or why there is none, and what it took."""

    call: Call
    """As in the table `calls`."""
    completion: Completion | None
    """The last that came; None if none did. It is no answer unless the status says so."""
    filled: BaseModel | None = None
    """The form, filled in; None unless one was asked for and the status is answered."""
    source: Source = "model"
    """Where it comes from; only what comes from the model was paid for now."""

    @property
    def answered(self) -> bool:
        """Whether the model has answered; of a form, whether it was filled in."""
        return self.call.status == "answered"

    @property
    def text(self) -> str:
        """What the model wrote; empty if it wrote nothing."""
        return self.completion.text if self.completion else ""


class Entry(NamedTuple):
    """A line of a journal."""

    key: str | None
    note: Any
    call: Call
    completion: Completion | None


@dataclass(slots=True)
class Usage:
    """What was asked, and what it took."""

    asked: int = 0
    """Calls, paid for or not."""
    from_cache: int = 0
    from_journal: int = 0
    failed: int = 0
    """Calls without a usable reply."""
    requests: int = 0
    """HTTP requests, retries and re-asks included."""
    tokens: Tokens = NO_TOKENS
    cost: float = 0.0
    """USD; 0 where the model has no price."""
    first_error: str | None = None
    """Why the first failed call failed."""

    def add(self, reply: Reply) -> None:
        """Count a reply."""
        call = reply.call
        self.asked += 1
        self.from_cache += reply.source == "cache"
        self.from_journal += reply.source == "journal"
        if call.status == "failed":
            self.failed += 1
            self.first_error = self.first_error or call.error
        if reply.source == "model":
            self.requests += call.attempts
            self.tokens = self.tokens.plus(Tokens(call.tokens_in, call.tokens_out, call.tokens_cached, 0, call.tokens_reasoning))
            self.cost += call.cost or 0.0


@dataclass(slots=True)
class _Member:
    server: Server
    busy: int = 0
    """Calls under way."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """What the askers of a job share; all of it belongs to the caller, who closes it."""

    budget: Budget | None = None
    """None: no limit."""
    cache: ReplyCache | None = None
    """None: everything is asked."""
    journal: Journal[Any, Entry] | None = None
    """What it holds from an earlier start is not asked again. None: nothing is kept."""
    concurrency: int = 32
    """Calls of each asker under way at once."""


class Asker:
    """A model behind one or more servers, shared by all who ask it.

    Args:
        endpoints: the model's settings, once for each server and key.
        price: what it costs; None: unknown, costs are null.
        terms: of the job.

    Raises:
        UsageError: a model's name is incomplete, or its key is missing.
    """

    def __init__(self, endpoints: Sequence[ModelSettings], price: Price | None = None, terms: Terms | None = None) -> None:
        terms = terms or Terms()
        budget = terms.budget or Budget(None)
        self.settings = endpoints[0]
        self.usage = Usage()
        self._price, self._cache, self._journal = price, terms.cache, terms.journal
        self._members = [_Member(Server(settings, price=price, budget=budget)) for settings in endpoints]
        self._open = list(self._members)
        self._free = asyncio.Semaphore(terms.concurrency)
        before = terms.journal.before if terms.journal else ()
        self._known = {(entry.key, entry.call.prompt_hash): entry for entry in before}
        self._forms: dict[type[BaseModel], Form] = {}
        self._of_model = orjson.dumps([self.settings.model, self.settings.answering()], option=orjson.OPT_SORT_KEYS)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections; journal and cache belong to the caller."""
        for member in self._members:
            await member.server.close()

    async def ask(self, request: Request) -> Reply:
        """Ask, and have the reply on record before it is given out.

        A reply that does not fit the form is shown back to the model, a bounded number of times; text is given out as it came.

        Raises:
            HopelessError: no request of this job can succeed.
            StoreError: journal or cache cannot be used.
        """
        question = self._question(request)
        asked = self._hash(request, question)
        reply = self._from_journal(request, question, asked) or await self._from_cache_or_model(request, question, asked)
        self.usage.add(reply)
        return reply

    def _question(self, request: Request) -> Question:
        form = None
        if request.form is not None:
            form = self._forms.get(request.form) or self._forms.setdefault(request.form, Form(request.form))
        return Question(messages=request.messages, tools=request.tools, form=form)

    def _hash(self, request: Request, question: Question) -> bytes:
        """Over all that could change the reply; which of several replies is meant does not count."""
        content = [request.messages, request.tools, question.form.tool if question.form else None]
        return hashlib.blake2b(self._of_model + orjson.dumps(content, default=tuple), digest_size=16).digest()

    def _from_journal(self, request: Request, question: Question, asked: bytes) -> Reply | None:
        entry = self._known.get((request.key, _shown(asked)))
        if entry is None or request.key is None:
            return None
        filled = (
            question.form.read(entry.completion.text) if question.form and entry.completion and entry.call.status == "answered" else None
        )
        return Reply(call=entry.call, completion=entry.completion, filled=filled, source="journal")

    async def _from_cache_or_model(self, request: Request, question: Question, asked: bytes) -> Reply:
        if self._cache is None:
            return await self._from_model(request, question, asked)
        key = asked + request.sample.to_bytes(4, "big")
        async with self._cache.asking(key):
            kept = self._cache.get(key)
            if kept is not None:
                filled = question.form.read(kept.text) if question.form else None
                call = self._call(request, asked, _now(), Taken(status="answered", completion=kept))
                return Reply(call=call._replace(cost=0.0), completion=kept, filled=filled, source="cache")
            reply = await self._from_model(request, question, asked)
            if reply.answered and reply.completion is not None:
                self._cache.put(key, reply.completion)
            return reply

    async def _from_model(self, request: Request, question: Question, asked: bytes) -> Reply:
        async with self._free:
            asked_at = _now()
            taken = await self._least_busy(question)
        call = self._call(request, asked, asked_at, taken)
        if self._journal is not None and taken.status != "unasked":
            await self._journal.write(Entry(request.key, request.note, call, taken.completion))
        return Reply(call=call, completion=taken.completion, filled=taken.filled)

    async def _least_busy(self, question: Question) -> Taken:
        """Ask the least busy server; where one turns out hopeless, the others go on without it.

        Raises:
            HopelessError: no server is left.
        """
        while True:
            member = min(self._open, key=lambda one: one.busy)
            self._open.append(self._open.pop(self._open.index(member)))  # of equally busy ones, the next call goes to another
            member.busy += 1
            try:
                return await member.server.ask(question)
            except HopelessError:
                self._open = [one for one in self._open if one is not member]
                if not self._open:
                    raise
            finally:
                member.busy -= 1

    def _call(self, request: Request, asked: bytes, asked_at: datetime, taken: Taken) -> Call:
        completion, tokens = taken.completion, taken.tokens
        return Call(
            call_id=secrets.token_hex(8),
            purpose=request.purpose,
            run=request.run,
            episode_id=request.episode_id,
            turn=request.turn,
            agent=request.agent,
            model=self.settings.model,
            prompt_hash=_shown(asked),
            reply=completion.text if completion else None,
            reasoning=(completion.reasoning or None) if completion else None,
            finish_reason=completion.finish_reason if completion else None,
            tokens_in=tokens.input,
            tokens_out=tokens.output,
            tokens_cached=tokens.cached,
            tokens_reasoning=tokens.reasoning,
            cost=self._price.of(tokens) if self._price else None,
            latency_s=taken.latency_s,
            attempts=taken.attempts,
            status=taken.status,
            error=taken.error,
            asked_at=asked_at,
        )


def _shown(asked: bytes) -> str:
    return asked.hex()[:16]


def _now() -> datetime:
    """The time for the store: UTC, without a zone."""
    return datetime.now(UTC).replace(tzinfo=None)
