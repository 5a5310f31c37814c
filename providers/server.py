"""Asks one server until it has answered: re-asks, retries, pauses and limits, whatever the server does."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import orjson
from pydantic import BaseModel
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from providers.completion import NO_TOKENS, Completion, Tokens
from providers.endpoints.connection import connect_to
from providers.faults import Fault, HopelessError, NobodyThere, NodeLost, RefusedError, Unusable, wait_after
from providers.forms import Form, reask
from providers.health import Health
from providers.messages import Message, Tool
from providers.pacing import Gate, MinuteLimit
from providers.prices import Budget, BudgetSpentError, Price, TokenEstimate
from providers.protocols.protocol import Sheet
from providers.provider import ModelSettings

__all__ = ["ModelQuestion", "Server", "Taken"]

_BAD_REQUEST: Final = frozenset({400, 413, 422})
_BAD_REQUESTS_BEFORE_GIVING_UP: Final = 5
_STARVED_CALLS_BEFORE_GIVING_UP: Final = 3
_TRIES_TO_REACH_A_SERVER: Final = 3
_MOST_LIMITED_TRIES: Final = 100
"""After so many 429 answers to one call, while others get through, something about this call is wrong."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelQuestion:
    """What a model is asked."""

    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    form: Form | None = None

    def sheet(self, chat: Sequence[Message] | None = None) -> Sheet:
        """What a request asks; with another chat, after a reply that could not be used."""
        return Sheet(self.messages if chat is None else chat, self.tools, self.form.tool if self.form else None)


@dataclass(kw_only=True, slots=True)
class Taken:
    """What one question has taken and brought so far."""

    attempts: int = 0
    tokens: Tokens = NO_TOKENS
    counted: bool = True
    """Whether the server has counted the tokens of every completion."""
    latency_s: float | None = None
    """Of the last request that was answered, in seconds."""
    completion: Completion | None = None
    """The last one that came, whether it could be used or not."""
    filled: BaseModel | None = None
    """The form as the model has filled it in."""
    status: str = "unasked"
    """answered, failed, or unasked: the budget did not allow (another) request."""
    error: str | None = None


class Server:
    """One model at one server with one key, shared by all who ask; limits and pauses are its own, the budget need not be."""

    def __init__(self, settings: ModelSettings, *, price: Price | None, budget: Budget) -> None:
        self._settings = settings
        self._endpoint = connect_to(settings)
        self._price = price
        self._budget = budget
        self._estimate = TokenEstimate()
        self._gate = Gate()
        self._health = Health()
        self._requests_limit = MinuteLimit(settings.requests_per_minute)
        self._tokens_limit = MinuteLimit(settings.tokens_per_minute)
        self._reached = False
        self._answered = False
        self._last_reply_at = 0.0
        self._starved_calls = 0
        self._bad_requests = 0

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    async def ask(self, question: ModelQuestion) -> Taken:
        """Have the question answered; a reply that does not fit is shown back with the reason, a bounded number of times.

        Raises:
            HopelessError: no request of this run can succeed.
        """
        taken = Taken()
        chat = question.messages
        try:
            for _ in range(self._settings.reasks + 1):
                try:
                    await self._request_until_reply(question, chat, taken)
                except Unusable as unusable:
                    taken.error = f"no usable reply: {unusable.reason}"
                    chat = [*question.messages, *reask(unusable)]
                else:
                    taken.status, taken.error = "answered", None
                    self._answered = True
                    return taken
        except RefusedError as refused:
            taken.error = f"refused: {refused}"
        except Fault as fault:
            taken.error = fault.reason
            self._consider_giving_up(fault)
        except BudgetSpentError:
            taken.error = taken.error or "the budget allows no further request"
            return taken
        taken.status = "failed"
        return taken

    def _consider_giving_up(self, fault: Fault) -> None:
        if fault.limited:
            self._starved_calls += 1
            if self._starved_calls >= _STARVED_CALLS_BEFORE_GIVING_UP:
                raise HopelessError(f"the server answers nothing but 429 any more: start the same command again later ({fault.reason})")
        if fault.status is None and not self._reached:
            where = self._settings.base_url or self._settings.provider
            raise HopelessError(f"{where} cannot be reached: is the server running, is --base-url right? ({fault.reason})")
        self._health.gave_up(fault)
        if fault.status in _BAD_REQUEST and not self._answered:
            self._bad_requests += 1
            if self._bad_requests >= _BAD_REQUESTS_BEFORE_GIVING_UP:
                raise HopelessError(f"the server turns every request down: {fault.reason}")

    async def _request_until_reply(self, question: ModelQuestion, chat: Sequence[Message], taken: Taken) -> None:
        try:
            await self._request(question, chat, taken)
        except Fault as fault:
            if not fault.again:
                raise
            await self._again(fault, question, chat, taken)

    async def _again(self, first: Fault, question: ModelQuestion, chat: Sequence[Message], taken: Taken) -> None:
        """Pauses and further requests; the first one counts among them."""
        failed: list[Fault] = [first]

        async def attempt() -> None:
            if failed:
                raise failed.pop()
            await self._request(question, chat, taken)

        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, Fault) and error.again),
            wait=wait_after,
            stop=self._out_of_patience,
            reraise=True,
        )
        await retrying(attempt)

    def _out_of_patience(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, NodeLost):
            return False  # no node is lost twice
        if isinstance(error, Fault) and error.limited:
            waits_since = max(state.start_time, self._last_reply_at)
            return time.monotonic() - waits_since > self._settings.patience_s or state.attempt_number >= _MOST_LIMITED_TRIES
        if self._reached:
            return state.attempt_number >= self._health.tries(self._settings.tries)
        nobody_there = isinstance(error, NobodyThere)
        return nobody_there or state.attempt_number >= min(_TRIES_TO_REACH_A_SERVER, self._settings.tries)

    async def _request(self, question: ModelQuestion, chat: Sequence[Message], taken: Taken) -> None:
        sheet = question.sheet(chat)
        length = _length(sheet)
        tokens = self._estimate.tokens(length)
        reserved = self._price.most(tokens, self._settings.limit) if self._price else 0.0
        await self._tokens_limit.take(tokens)
        await self._requests_limit.take(1)
        async with self._health.turn():
            await self._send(sheet, question, taken, length, reserved)

    async def _send(self, sheet: Sheet, question: ModelQuestion, taken: Taken, length: int, reserved: float) -> None:
        await self._budget.reserve(reserved)
        spent = 0.0
        try:
            sent_at = await self._gate.wait()
            taken.attempts += 1
            spent = reserved  # unless the server says otherwise: a request that broke off may have been billed
            completion = await self._endpoint.send(sheet)
            self._count(completion, taken, length, time.monotonic() - sent_at)
            if self._price is not None and completion.is_counted:
                spent = self._price.of(completion.tokens)
            _use(completion, question, taken)
        except Fault as fault:
            self._reached = self._reached or fault.came
            self._health.failed(fault)
            if fault.status is not None:
                spent = 0.0
            if fault.again:
                self._pause(fault, sent_at)
            raise
        finally:
            await self._budget.settle(reserved, spent)

    def _pause(self, fault: Fault, sent_at: float) -> None:
        if (fault.retry_after_s or 0.0) > self._settings.patience_s:
            raise HopelessError(f"the server asks to wait {fault.retry_after_s:.0f} s: start the same command again then ({fault.reason})")
        if fault.limited:
            self._gate.limited(sent_at, fault.retry_after_s)

    def _count(self, completion: Completion, taken: Taken, length: int, latency_s: float) -> None:
        self._gate.succeeded()
        self._health.succeeded()
        self._reached, self._last_reply_at, self._starved_calls = True, time.monotonic(), 0
        self._estimate.learn(length, completion.tokens.input)
        taken.completion, taken.latency_s = completion, latency_s
        taken.tokens = taken.tokens.plus(completion.tokens)
        taken.counted = taken.counted and completion.is_counted


def _use(completion: Completion, question: ModelQuestion, taken: Taken) -> None:
    """Read what the model wrote.

    Raises:
        RefusedError: it declines to fill in the form.
        Unusable: it has filled it in wrongly.
    """
    if question.form is None:
        return
    if completion.refusal is not None:
        raise RefusedError(completion.refusal)
    if completion.finish_reason == "content_filter":
        raise RefusedError("the provider's content filter stopped the reply")
    try:
        taken.filled = question.form.read(completion.text)
    except Unusable as unusable:
        cut = completion.finish_reason == "length"
        raise Unusable("it broke off at its longest length (max_tokens)", completion.text) if cut else unusable from None


def _length(sheet: Sheet) -> int:
    """Bytes of all that the model has to read."""
    tools = [*sheet.tools, *([sheet.form] if sheet.form else [])]
    return sum(map(_bytes, sheet.messages)) + sum(len(orjson.dumps(tool.parameters)) for tool in tools)


def _bytes(message: Message) -> int:
    called = sum(len(call.arguments.encode()) for call in message.get("tool_calls", ()))
    return len(message["content"].encode()) + called
