"""Asks one server until it has answered: re-asks, retries, pauses and limits, whatever the server does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import orjson
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from providers.answers import Answer, read_answer
from providers.catalogue import provider_of
from providers.completion import NO_TOKENS, Completion, Tokens
from providers.endpoints.connection import connect_to
from providers.faults import Adapted, Fault, HopelessError, NobodyThere, NodeLost, RefusedError, TimedOut, TooLarge, Unusable, wait_after
from providers.forms import Form, reask
from providers.health import Health
from providers.messages import Message, Tool
from providers.pacing import Crowd, Gate, MinuteLimit
from providers.prices import Budget, BudgetSpentError, Price, TokenEstimate, cost_of
from providers.protocols.protocol import Sheet
from providers.provider import LONGER, Mode, ModelSettings

__all__ = ["ModelQuestion", "Server", "Taken"]

_BAD_REQUEST: Final = frozenset({400, 413, 422})
_BAD_REQUESTS_BEFORE_GIVING_UP: Final = 5
_STARVED_CALLS_BEFORE_GIVING_UP: Final = 3
_TRIES_TO_REACH_A_SERVER: Final = 3
_SURELY: Final = 0.85
"""A prompt that by estimate is so much of what fits, and no more, may still fit."""
_MODES: Final[tuple[Mode, ...]] = ("json_schema", "json", "tools")
"""Ways of asking for a form."""
_MOST_LIMITED_TRIES: Final = 100
"""After so many 429 answers to one call, while others get through, something about this call is wrong."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelQuestion:
    """What a model is asked."""

    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    form: Form | None = None
    asks_for_thoughts: bool = False
    """Whether the messages ask for thoughts in tags that the caller reads itself."""

    def sheet(self) -> Sheet:
        """What the first request asks."""
        return Sheet(self.messages, self.tools, self.form.tool if self.form else None)

    def answer(self, completion: Completion) -> Answer:
        """What a reply to it comes to."""
        return read_answer(completion, self.form.model if self.form else None, asks_for_thoughts=self.asks_for_thoughts)


@dataclass(kw_only=True, slots=True)
class Taken:
    """What one question has taken and brought so far."""

    attempts: int = 0
    timed_out: int = 0
    """Requests without a complete reply in time."""
    tokens: Tokens = NO_TOKENS
    latency_s: float | None = None
    """Seconds of all requests together, from sending to the last byte or to the end of waiting; None if none was sent."""
    completion: Completion | None = None
    """The last one that came, whether it could be used or not."""
    answer: Answer | None = None
    """What that one comes to."""
    uncounted: bool = False
    """Whether the server has not said how many tokens one of the completions took."""
    unlisted: int = 0
    """Completions of which the server's total of tokens is not what it lists."""
    cost: float | None = 0.0
    """USD of all completions; None if that of one is not known."""
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
        self._crowd = Crowd()
        self._health = Health()
        self._requests_limit = MinuteLimit(settings.requests_per_minute)
        self._tokens_limit = MinuteLimit(settings.tokens_per_minute)
        self._reached = False
        self._answered = False
        self._last_reply_at = 0.0
        self._starved_calls = 0
        self._bad_requests = 0
        self._first = asyncio.Lock()
        self._billed = False
        """Whether a reply has come."""
        self._dearer = 1.0
        """By how much a reply has cost more than its prompt and its longest length let expect: some servers bill reasoning beside it."""

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    async def ask(self, question: ModelQuestion) -> Taken:
        """Have the question answered; a reply that does not fit is shown back with the reason, a bounded number of times.

        Raises:
            HopelessError: no request of this run can succeed.
        """
        taken = Taken()
        following: Sheet | None = question.sheet()
        sheet = question.sheet()
        try:
            for _ in range(self._settings.reasks + 1):
                if following is None:
                    break
                sheet = following
                try:
                    await self._request_until_reply(question, sheet, taken)
                except Unusable as unusable:
                    taken.error = f"no usable reply: {unusable.why_not}"
                    following = self._again_after(unusable, question, sheet, taken)
                else:
                    taken.status, taken.error = "answered", None
                    self._answered = True
                    return taken
        except RefusedError as refused:
            taken.error = f"refused: {refused}"
        except Fault as fault:
            if sheet.room > 1 and taken.error and fault.status in _BAD_REQUEST:
                taken.error += f"; the server does not allow a longer reply ({fault.reason})"
            else:
                taken.error = fault.reason
                self._consider_giving_up(fault)
        except BudgetSpentError:
            taken.error = taken.error or "the budget allows no further request"
            return taken
        else:
            taken.error = f"{taken.error}{self._hint(question, sheet, taken)}"
        taken.status = "failed"
        return taken

    def _again_after(self, unusable: Unusable, question: ModelQuestion, sheet: Sheet, taken: Taken) -> Sheet | None:
        """What to ask after a reply that is no answer; None: nothing. The same request is never sent twice."""
        if unusable.cut:
            return None if sheet.room > 1 else sheet._replace(room=LONGER)
        if question.form is None or taken.completion is None:
            return None
        more = reask(question.form, taken.completion.written, unusable.why_not, self._mode)
        return sheet._replace(messages=[*question.messages, *more])

    @property
    def _mode(self) -> Mode:
        """How forms are asked for."""
        settings, provider = self._settings, provider_of(self._settings)
        if provider.protocol == "anthropic" and settings.reasons:
            return settings.mode or "json_schema"  # a model that reasons cannot be made to call a tool
        return settings.form_mode or provider.mode or "tools"

    def _hint(self, question: ModelQuestion, sheet: Sheet, taken: Taken) -> str:
        """What may help where the last reply was no answer."""
        read_as = taken.answer.read_as if taken.answer else ""
        if read_as == "refused: cut":
            limit = self._settings.limit
            longer = f", then {sheet.room * limit}" if sheet.room > 1 else ""
            return f", {limit} tokens{longer}: raise --max-tokens, or lower --reasoning-effort"
        if question.form is None or read_as not in {"refused: wrong form", "refused: echo", "refused: only thoughts", "refused: empty"}:
            return ""
        return "; another way of asking may help: " + " or ".join(f"--mode {mode}" for mode in _MODES if mode != self._mode)

    def _consider_giving_up(self, fault: Fault) -> None:
        if isinstance(fault, TooLarge):
            return
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

    async def _request_until_reply(self, question: ModelQuestion, sheet: Sheet, taken: Taken) -> None:
        try:
            await self._request(question, sheet, taken)
        except Fault as fault:
            if not fault.again:
                raise
            await self._again(fault, question, sheet, taken)

    async def _again(self, first: Fault, question: ModelQuestion, sheet: Sheet, taken: Taken) -> None:
        """Pauses and further requests; the first one counts among them."""
        failed: list[Fault] = [first]

        async def attempt() -> None:
            if failed:
                raise failed.pop()
            await self._request(question, sheet, taken)

        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, Fault) and error.again),
            wait=wait_after,
            stop=self._out_of_patience,
            reraise=True,
        )
        await retrying(attempt)

    def _out_of_patience(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, NodeLost | Adapted):
            return False  # no node is lost twice, and a form that was refused is not used again
        if isinstance(error, Fault) and error.limited:
            waits_since = max(state.start_time, self._last_reply_at)
            return time.monotonic() - waits_since > self._settings.patience_s or state.attempt_number >= _MOST_LIMITED_TRIES
        if self._reached:
            return state.attempt_number >= self._health.tries(self._settings.tries)
        nobody_there = isinstance(error, NobodyThere)
        return nobody_there or state.attempt_number >= min(_TRIES_TO_REACH_A_SERVER, self._settings.tries)

    async def _request(self, question: ModelQuestion, sheet: Sheet, taken: Taken) -> None:
        length = _length(sheet)
        self._refuse_too_large(length)
        await self._tokens_limit.take(self._estimate.tokens(length))
        await self._requests_limit.take(1)
        async with self._health.turn(), self._first_alone(), self._crowd.place():
            await self._send(sheet, question, taken, length)

    def _refuse_too_large(self, length: int) -> None:
        """See that the prompt fits into the server's context, as far as that is known; the estimate errs on the side of asking.

        Raises:
            TooLarge: it does not; nothing was sent.
        """
        context, reply = self._settings.context, self._settings.limit
        if context is None:
            return
        tokens = self._estimate.usual(length)
        if tokens * _SURELY + reply > context:
            raise TooLarge(
                f"the prompt has about {tokens:.0f} tokens; the server takes {context} for prompt and reply, and the reply may have "
                f"{reply}: leave the unit out with --where, lower --max-tokens, or start the server with a larger context "
                "and run cotrace doctor again; nothing was sent",
                None,
            )

    @asynccontextmanager
    async def _first_alone(self) -> AsyncIterator[None]:
        """Where a budget is to be kept, hold the others back until the first reply has shown what the server bills."""
        if self._budget.is_limited and self._price is not None and not self._billed:
            async with self._first:
                if not self._billed:
                    yield
                    return
        yield

    async def _send(self, sheet: Sheet, question: ModelQuestion, taken: Taken, length: int) -> None:
        longest, expected = sheet.room * self._settings.limit, self._estimate.tokens(length)
        reserved = self._dearer * self._price.most(expected, longest) if self._price else 0.0
        await self._budget.reserve(reserved)
        spent = sent_at = 0.0
        try:
            sent_at = await self._gate.wait()
            taken.attempts += 1
            spent = reserved  # unless the server says otherwise: a request that broke off may have been billed
            completion = await self._endpoint.send(sheet)
            cost = cost_of(completion, self._price)
            spent = reserved if cost is None else cost
            if self._price is not None and (most := self._price.most(completion.tokens.input or expected, longest)):
                self._dearer = max(self._dearer, spent / most)
            self._count(completion, taken, length)
            taken.cost = None if taken.cost is None or cost is None else taken.cost + cost
            taken.answer = question.answer(completion)
            _see_that_it_counts(taken.answer)
        except Fault as fault:
            self._reached = self._reached or fault.came
            self._health.failed(fault)
            if fault.status is not None:
                spent = 0.0
            if isinstance(fault, TimedOut):
                taken.timed_out += 1
                self._crowd.timed_out(sent_at)
            if fault.again:
                self._pause(fault, sent_at)
            raise
        finally:
            if sent_at:
                taken.latency_s = (taken.latency_s or 0.0) + time.monotonic() - sent_at
            await self._budget.settle(reserved, spent)

    def _pause(self, fault: Fault, sent_at: float) -> None:
        if (fault.retry_after_s or 0.0) > self._settings.patience_s:
            raise HopelessError(f"the server asks to wait {fault.retry_after_s:.0f} s: start the same command again then ({fault.reason})")
        if fault.limited:
            self._gate.limited(sent_at, fault.retry_after_s)

    def _count(self, completion: Completion, taken: Taken, length: int) -> None:
        self._billed = True
        self._gate.succeeded()
        self._health.succeeded()
        self._reached, self._last_reply_at, self._starved_calls = True, time.monotonic(), 0
        self._estimate.learn(length, completion.tokens.input)
        taken.completion = completion
        taken.tokens = taken.tokens.plus(completion.tokens)
        taken.uncounted = taken.uncounted or not completion.is_counted
        taken.unlisted += completion.unlisted != 0


def _see_that_it_counts(answer: Answer) -> None:
    """See that a reply is an answer.

    Raises:
        RefusedError: the model declines.
        Unusable: the reply is no answer for another reason.
    """
    if answer.why_not is None:
        return
    if answer.read_as == "refused: declined":
        raise RefusedError(answer.why_not)
    raise Unusable(answer.why_not, cut=answer.read_as == "refused: cut")


def _length(sheet: Sheet) -> int:
    """Bytes of all that the model has to read."""
    tools = [*sheet.tools, *([sheet.form] if sheet.form else [])]
    return sum(map(_bytes, sheet.messages)) + sum(len(orjson.dumps(tool.parameters)) for tool in tools)


def _bytes(message: Message) -> int:
    called = sum(len(call.arguments.encode()) for call in message.get("tool_calls", ()))
    return len(message["content"].encode()) + called
