"""One way to ask a language model, for judges, players and optimisers alike.

`await asker.ask(Request(...))` gives a `Reply`, whatever the server does in between. Behind it stand, in this order: the journal (what this
job has asked before is not paid again), the cache (nor is what anybody has asked before), the bound on calls under way, the least busy of
the model's servers, and there (`providers.server`) budget, limits, pauses, retries and re-asks.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from pydantic import BaseModel

from providers.cache import ReplyCache
from providers.faults import HopelessError
from providers.forms import Form
from providers.journal import Journal
from providers.prices import Budget, Price
from providers.provider import ModelSettings
from providers.request import JournalEntry, Reply, Request, Usage, call_of, fingerprint, now, shown
from providers.server import ModelQuestion, Server, Taken

__all__ = ["Asker", "JobTerms", "JournalEntry", "Reply", "Request", "Usage"]


_LOG: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class _Member:
    server: Server
    busy: int = 0
    """Calls under way."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JobTerms:
    """What the askers of a job share; all of it belongs to the caller, who closes it."""

    budget: Budget | None = None
    """None: no limit."""
    cache: ReplyCache | None = None
    """None: everything is asked."""
    journal: Journal[Any, JournalEntry] | None = None
    """What it holds from an earlier start is not asked again. None: nothing is kept."""
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
        self._members = [_Member(Server(settings, price=price, budget=budget)) for settings in endpoints]
        self._open = list(self._members)
        self._hopeless = HopelessError("there is no server to ask")
        """Why the last server was given up."""
        self._free = asyncio.Semaphore(terms.concurrency)
        before = terms.journal.before if terms.journal else ()
        self._known = {(entry.key, entry.call.prompt_hash): entry for entry in before}
        self._forms: dict[type[BaseModel], Form] = {}
        self._unlisted = 0
        """Replies whose tokens do not add up, by the server's own count."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections; journal and cache belong to the caller."""
        for member in self._members:
            await member.server.close()
        if self._unlisted:
            _LOG.warning(
                "%d of the replies of %s: the server's total of tokens is not the prompt and the reply that it lists; "
                "what it does not list is counted as tokens of the reply",
                self._unlisted,
                self.settings.model,
            )
            self._unlisted = 0

    @property
    def learned(self) -> dict[str, Any]:
        """What was learned of the first server (`Server.learned`)."""
        return self._members[0].server.learned

    async def ask(self, request: Request) -> Reply:
        """Ask, and have the reply on record before it is given out.

        A reply that does not fit the form is shown back to the model, a bounded number of times; text is given out as it came.

        Raises:
            HopelessError: no request of this job can succeed.
            StoreError: journal or cache cannot be used.
        """
        question = self._question(request)
        asked = fingerprint(self.settings, question)
        reply = self._from_journal(request, question, asked) or await self._from_cache_or_model(request, question, asked)
        self.usage.add(reply)
        return reply

    def _question(self, request: Request) -> ModelQuestion:
        form = None
        if request.form is not None:
            form = self._forms.get(request.form) or self._forms.setdefault(request.form, Form(request.form))
        return ModelQuestion(messages=request.messages, tools=request.tools, form=form, asks_for_thoughts=request.asks_for_thoughts)

    def _from_journal(self, request: Request, question: ModelQuestion, asked: bytes) -> Reply | None:
        entry = self._known.get((request.key, shown(asked)))
        if entry is None or request.key is None:
            return None
        answer = question.answer(entry.completion) if entry.completion else None
        if entry.call.status == "answered" and (answer is None or not answer.counts):
            return None  # an earlier version took it for an answer
        return Reply(call=entry.call, completion=entry.completion, answer=answer, source="journal")

    async def _from_cache_or_model(self, request: Request, question: ModelQuestion, asked: bytes) -> Reply:
        if self._cache is None:
            return await self._from_model(request, question, asked)
        key = asked + request.sample.to_bytes(4, "big")
        async with self._cache.asking(key):
            kept = self._cache.get(key)
            answer = question.answer(kept) if kept is not None else None
            if answer is not None and answer.counts:
                call = call_of(request, shown(asked), now(), Taken(status="answered", completion=kept, answer=answer), self._priced)
                return Reply(call=call, completion=kept, answer=answer, source="cache")
            reply = await self._from_model(request, question, asked)
            if reply.answered and reply.completion is not None:
                self._cache.put(key, reply.completion, replaces=kept is not None)
            return reply

    async def _from_model(self, request: Request, question: ModelQuestion, asked: bytes) -> Reply:
        async with self._free:
            asked_at = now()
            taken = await self._least_busy(question)
        self._unlisted += taken.unlisted
        call = call_of(request, shown(asked), asked_at, taken, self._priced)
        if self._journal is not None and taken.status != "unasked":
            await self._journal.write(JournalEntry(request.key, request.note, call, taken.completion), forced=self._forced)
        return Reply(call=call, completion=taken.completion, answer=taken.answer, timed_out=taken.timed_out)

    async def _least_busy(self, question: ModelQuestion) -> Taken:
        """Ask the least busy server; where one turns out hopeless, the others go on without it.

        Raises:
            HopelessError: no server is left.
        """
        while self._open:
            member = min(self._open, key=lambda one: one.busy)
            self._open.append(self._open.pop(self._open.index(member)))  # of equally busy ones, the next call goes to another
            member.busy += 1
            try:
                return await member.server.ask(question)
            except HopelessError as error:
                self._hopeless = error
                self._open = [one for one in self._open if one is not member]
            finally:
                member.busy -= 1
        raise self._hopeless
