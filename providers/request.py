"""A question to a model, what came of it, and what is kept of both."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, TypeVar

import orjson
from pydantic import BaseModel

from providers.answers import Answer
from providers.completion import Completion
from providers.messages import Message, Tool
from providers.prices import Price
from providers.provider import ModelSettings
from providers.server import ModelQuestion, Taken
from schemas.records import Call
from schemas.replies import read_of_rule

__all__ = ["JournalEntry", "Reply", "Request", "Source", "Usage", "added", "call_of", "fingerprint", "now", "shown", "summed"]

Source = Literal["model", "cache", "journal"]
_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A question to a model."""

    messages: Sequence[Message]
    form: type[BaseModel] | None = None
    """What the reply must fill in; None: the reply is text."""
    asks_for_thoughts: bool = False
    """Whether the messages ask for thoughts in tags that the caller reads itself; they are then part of the text."""
    tools: Sequence[Tool] = ()
    """What the model may call; of a request without a form."""
    key: str | None = None
    """What the reply is called in the journal: asked again under the same key, the same question is not sent again. None: it always is."""
    sample: int = 1
    """From 1: which of several replies to the same question is meant; part of what the cache keeps a reply under."""
    purpose: str = "player"
    """Who asks, as in the column `calls.purpose`."""
    step: str | None = None
    """What is asked for, as in the column `calls.step`."""
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
class Usage:
    """What was asked, and what it took."""

    asked: int = 0
    """Calls, paid for or not; those for which no request was allowed are none."""
    from_cache: int = 0
    from_journal: int = 0
    failed: int = 0
    """Calls without a usable reply."""
    requests: int = 0
    """HTTP requests, retries and re-asks included."""
    timed_out: int = 0
    """Those of them without a complete reply in time."""
    tokens_in: int | None = 0
    """None if the server of a call has not counted its tokens."""
    tokens_out: int | None = 0
    cost: float | None = 0.0
    """USD; None if the cost of a call is not known: its model has no price, or the server has not counted the tokens."""
    first_error: str | None = None
    """Why the first failed call failed."""

    def add(self, reply: Reply) -> None:
        """Count a reply."""
        call = reply.call
        self.asked += call.status != "unasked" or call.attempts > 0
        self.from_cache += reply.source == "cache"
        self.from_journal += reply.source == "journal"
        if call.status == "failed":
            self.failed += 1
            self.first_error = self.first_error or call.error
        if reply.source == "model":
            self.requests += call.attempts
            self.timed_out += reply.timed_out
            self.tokens_in = added(self.tokens_in, call.tokens_in)
            self.tokens_out = added(self.tokens_out, call.tokens_out)
            self.cost = added(self.cost, call.cost)


def added(total: _Number | None, more: _Number | None) -> _Number | None:
    """Their sum; None if one of them is not known."""
    return None if total is None or more is None else total + more


def summed(numbers: Iterable[_Number | None]) -> _Number | None:
    """The sum of all; None if one of them is not known."""
    every = list(numbers)
    known = [number for number in every if number is not None]
    return sum(known) if len(known) == len(every) else None


def fingerprint(settings: ModelSettings, question: ModelQuestion) -> bytes:
    """16 bytes over all that could change the reply."""
    content = [
        settings.model,
        settings.answering(),
        question.messages,
        question.tools,
        question.form.tool if question.form else None,
    ]
    return hashlib.blake2b(orjson.dumps(content, default=tuple, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()


def shown(asked: bytes) -> str:
    """A fingerprint as in the column `calls.prompt_hash`."""
    return asked.hex()[:16]


def call_of(request: Request, prompt_hash: str, asked_at: datetime, taken: Taken, priced: tuple[str, Price | None]) -> Call:
    """The row of `calls`.

    Args:
        request: what was asked.
        prompt_hash: of it.
        asked_at: when.
        taken: what came of it.
        priced: the model, and what it costs.
    """
    completion, tokens = taken.completion, taken.tokens
    model, price = priced
    came = completion is not None and taken.attempts > 0
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
        tokens_in=None if taken.uncounted else tokens.input,
        tokens_out=None if taken.uncounted else tokens.output,
        tokens_cached=None if taken.uncounted else tokens.cached,
        tokens_reasoning=None if taken.uncounted else tokens.reasoning,
        cost=taken.cost if came or price is not None else None,
        latency_s=taken.latency_s,
        attempts=taken.attempts,
        status=taken.status,
        error=taken.error,
        asked_at=asked_at,
        step=request.step,
        served_model=completion.served_model if completion else None,
        read_as=taken.answer.read_as if taken.answer else None,
        read=read_of_rule(taken.answer.read_as) if taken.answer else None,
    )


def now() -> datetime:
    """The time for the store: UTC, without a zone."""
    return datetime.now(UTC).replace(tzinfo=None)
