"""Asks one server until it has answered, through instructor's client over the provider's own: re-asks, retries, pauses and limits.

instructor prepares the request in its mode, calls the client, and asks again as the policy of the call (tenacity) allows; its hooks report
every reply and every failure, so that tokens and cost of each attempt count. A mode or a field that the server refuses is not sent again.
Text is asked for through the same client, without a form.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from itertools import chain
from typing import Any, Final, Literal

import orjson
from pydantic import BaseModel
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from providers.faults import (
    ODD_TYPES,
    BudgetSpentError,
    Fault,
    HopelessError,
    NodeLost,
    NoServer,
    RefusedError,
    TimedOut,
    TooLarge,
    Unusable,
    behind,
    refused_field,
    wait_after,
)
from providers.forms import CALL, ChatRequest, ModelQuestion, form_of, reask
from providers.pacing import Gate, MinuteLimit
from providers.prices import Budget, Price, TokenEstimate, cost_of
from providers.provider import LONGER, Mode, ModelSettings, provider_of
from schemas.chat.answers import Answer
from schemas.chat.messages import NO_TOKENS, Completion, Message, Tokens, UnreadableError
from schemas.common.text import excerpt, strike

_LOG: Final = logging.getLogger(__name__)

_BAD_REQUEST: Final = frozenset({400, 413, 422})
_MAY_NAME_A_FIELD: Final = _BAD_REQUEST | {500, 501}
_BAD_REQUESTS_BEFORE_GIVING_UP: Final = 5
_STARVED_CALLS_BEFORE_GIVING_UP: Final = 3
_TRIES_TO_REACH_A_SERVER: Final = 3
_SURELY: Final = 0.85
"""A prompt that by estimate is so much of what fits, and no more, may still fit."""
_MOST_LIMITED_TRIES: Final = 100
"""After so many 429 answers to one call, while others get through, something about this call is wrong."""
_OF_FORMS: Final = {"tools": "tools", "tool_choice": "tools", "response_format": "response_format"}
_LIMITS: Final = frozenset({"max_tokens", "max_completion_tokens"})
"""The two names of the longest reply: a model takes one of them."""
_REPEATED: Final = 40
_TIMES_REPEATED: Final = 4
"""A reply whose last 40 letters stand in it four times has run away."""
_WRONG_SHAPE: Final = frozenset({"refused: wrong form", "refused: echo", "refused: only thoughts", "refused: empty"})
"""After which another way of asking for a form may help."""


@dataclass(kw_only=True, slots=True)
class CallResult:
    """What one question has taken and brought so far."""

    attempts: int = 0
    timed_out: int = 0
    """Requests without a complete reply in time."""
    tokens: Tokens | None = NO_TOKENS
    """Of all completions; None if the server has not counted those of one."""
    latency_s: float | None = None
    """Seconds of all requests together, from sending to the last byte or to the end of waiting; None if none was sent."""
    completion: Completion | None = None
    """The last one that came, whether it could be used or not."""
    answer: Answer | None = None
    """How that one was read."""
    unlisted: int = 0
    """Completions of which the server's total of tokens is not what it lists."""
    cost: float | None = 0.0
    """USD of all completions; None if that of one is not known."""
    status: str = "unasked"
    """answered, failed, or unasked: the budget did not allow (another) request."""
    error: str | None = None

    def add(self, completion: Completion, cost: float | None) -> None:
        """Count a completion that came; USD, None if not known."""
        self.completion = completion
        self.tokens = self.tokens.plus(completion.tokens) if self.tokens and completion.is_counted else None
        self.unlisted += completion.unlisted != 0
        self.cost = None if self.cost is None or cost is None else self.cost + cost


class Server:
    """One model at one server with one key, shared by all who ask; limits and pauses are its own, the budget need not be.

    Raises:
        UsageError: the model's name is incomplete, its key is missing, or a package that its provider needs is not installed.
    """

    def __init__(self, settings: ModelSettings, *, price: Price | None, budget: Budget) -> None:
        from providers.clients.client import connect

        self.settings = settings
        self.price = price
        self.budget = budget
        self.client = connect(settings, self._turn)
        self.estimate = TokenEstimate()
        self.mode: Mode = settings.form_mode or self.client.modes[0]
        """How forms are asked for."""
        self.refused: frozenset[str] = frozenset()
        """Fields of a request that the model does not take."""
        unknown = provider_of(settings).protocol == "openai" and (settings.base_url is not None or provider_of(settings).mode is not None)
        self.mode_is_learned = settings.form_mode is None and unknown
        self.is_settled = not self.mode_is_learned
        """Whether it is known how forms can be asked for; a server of the user's own may know any mode."""
        self.reached = self.billed = self._answered = False
        self.dearer = 1.0
        """Factor by which a reply has cost more than its prompt and its longest length allow: some servers bill reasoning on top."""
        self.busy = 0
        """Calls under way."""
        self._gate = Gate()
        self._requests_limit, self._tokens_limit = MinuteLimit(settings.requests_per_minute), MinuteLimit(settings.tokens_per_minute)
        self._last_reply_at = 0.0
        self._starved_calls = self._bad_requests = 0
        self._first, self._first_came = False, asyncio.Event()

    async def ask(self, question: ModelQuestion) -> CallResult:
        """Ask until the question is answered; a reply that does not fit is shown back with the reason, a bounded number of times.

        Raises:
            HopelessError: no request of this run can succeed.
        """
        call = _Call(self, question)
        result = call.result
        self.busy += 1
        try:
            async with self._first_alone(question):
                call.modes = [self.mode]
                await call.run()
                if not self.is_settled and result.status == "failed" and len(call.modes) == len(self.client.modes):
                    self.mode, self.is_settled = self.client.modes[0], True  # it has tried all in vain: the next would find no other
                    _LOG.warning("%s: no way of asking brought a form; forms are asked for with --mode %s", self.settings.model, self.mode)
            self._answered = self._answered or result.status == "answered"
        except RefusedError as refused:
            result.status, result.error = "failed", f"refused: {refused}"
        except Fault as fault:
            result.status = "failed"
            if call.times_limit > 1 and result.error and fault.status in _BAD_REQUEST:
                result.error += f"; the server does not allow a longer reply ({fault.reason})"
            else:
                result.error = fault.reason
                self._consider_giving_up(fault)
        except BudgetSpentError:
            result.error = result.error or "the budget allows no further request"
        finally:
            self.busy -= 1
        return result

    @property
    def learned(self) -> dict[str, Any]:
        """What requests have shown: the mode of its forms, and fields that it does not take. Anything that JSON holds."""
        found = {"mode": self.mode if self.mode_is_learned and self.is_settled else None, "left_out": sorted(self.refused)}
        return {name: value for name, value in found.items() if value}

    @asynccontextmanager
    async def _first_alone(self, question: ModelQuestion) -> AsyncIterator[None]:
        """Hold the others back until the first reply has shown how forms can be asked for, and what the server bills."""
        bills = self.budget.is_limited and self.price is not None and not self.billed
        if not bills and (question.form is None or self.is_settled):
            yield
        elif self._first:
            await self._first_came.wait()
            yield
        else:
            self._first = True
            try:
                yield
            finally:
                self._first_came.set()

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Entered by the wire before a request goes out."""
        call: _Call = CALL.get()
        self._refuse_too_large(call)
        await self._tokens_limit.take(self.estimate.tokens(call.length))
        await self._requests_limit.take(1)
        async with self._gate.place():
            await call.reserve()
            call.sent_at = await self._gate.wait()
            call.result.attempts += 1
            try:
                yield
            except Fault as fault:
                self.failed(call, fault)
                raise
            finally:
                call.result.latency_s = (call.result.latency_s or 0.0) + time.monotonic() - call.sent_at

    def _refuse_too_large(self, call: _Call) -> None:
        """See that the prompt fits into the server's context, as far as that is known; the estimate errs on the side of asking.

        Raises:
            TooLarge: it does not; nothing was sent.
        """
        context, reply = self.settings.context, call.question.limit(self.settings)
        if context is None:
            return
        tokens = self.estimate.usual(call.length)
        if tokens * _SURELY + reply > context:
            raise TooLarge(
                f"the prompt has about {tokens:.0f} tokens; the server takes {context} for prompt and reply, and the reply may have "
                f"{reply}: leave the unit out with --where, lower --max-tokens, or start the server with a larger context "
                "and run cotrace doctor again; nothing was sent"
            )

    def failed(self, call: _Call, fault: Fault) -> None:
        """A request came to nothing.

        Raises:
            HopelessError: the server asks for a pause longer than `patience_s`.
        """
        call.settle(0.0 if fault.status is not None else None)
        call.failures += 1
        fault.counted = True
        self.reached = self.reached or fault.came
        if isinstance(fault, TimedOut):
            call.result.timed_out += 1
            self._gate.timed_out(call.sent_at)
        if not (isinstance(fault, TimedOut) and self._last_reply_at > call.sent_at):  # it answers others: it is not ill
            self._gate.failed(fault)
        if not fault.again:
            return
        self._first_came.set()  # its reply may take long
        if (fault.retry_after_s or 0.0) > self.settings.patience_s:
            raise HopelessError(f"the server asks to wait {fault.retry_after_s:.0f} s: start the same command again then ({fault.reason})")
        if fault.limited:
            self._gate.limited(call.sent_at, fault.retry_after_s)

    def came(self, call: _Call, completion: Completion) -> None:
        """A reply came: count what it took, whether it is an answer or not."""
        result, cost = call.result, cost_of(completion, self.price)
        if cost is not None and (most := call.most(completion.tokens.input)):
            self.dearer = max(self.dearer, cost / most)
        call.settle(cost)
        self.billed = True
        self._gate.succeeded()
        self.reached, self._last_reply_at, self._starved_calls = True, time.monotonic(), 0
        self.estimate.learn(call.length, completion.tokens.input)
        call.failures, call.since = 0, time.monotonic()
        result.add(completion, cost)

    def out_of_patience(self, call: _Call, error: BaseException | None) -> bool:
        """Whether a call that has met this fault gives up."""
        if isinstance(error, NodeLost):
            return False  # another node sends it again
        if isinstance(error, Fault) and error.limited:
            waits_since = max(call.since, self._last_reply_at)
            return time.monotonic() - waits_since > self.settings.patience_s or call.failures >= _MOST_LIMITED_TRIES
        if self.reached:
            return call.failures >= self._gate.tries(self.settings.tries)
        return isinstance(error, NoServer) or call.failures >= min(_TRIES_TO_REACH_A_SERVER, self.settings.tries)

    def learn(self, call: _Call, fault: Fault) -> bool:
        """Learn from a refusal which field the model does not take; True if the question can be asked again without it."""
        may_name_one = not fault.again and not isinstance(fault, TooLarge) and fault.status in _MAY_NAME_A_FIELD
        field = refused_field(fault.reason) if may_name_one else None
        if field is None or (field not in _OF_FORMS and field not in call.sent):
            return False
        if field in _OF_FORMS:
            if call.form is None or self.settings.mode is not None:
                return False
            return self.other_mode(call, f"the server refuses {field}", for_all=not self._answered)
        if self.refused | {field} >= _LIMITS:
            return False
        if field not in self.refused:
            self.refused |= {field}
            if field not in _LIMITS:
                _LOG.warning("%s does not take %s: it is left out from now on", self.settings.model, field)
        return True

    def other_mode(self, call: _Call, why: str, *, for_all: bool) -> bool:
        """Have a call, or all from now on, ask for forms in another way; False if there is none left."""
        left = [mode for mode in self.client.modes if mode not in call.modes]
        if not left:
            return False
        call.modes.append(left[0])
        if for_all and self.mode != left[0]:
            self.mode = left[0]
            _LOG.warning("%s: %s; forms are asked for with --mode %s from now on", self.settings.model, why, self.mode)
        return True

    def _consider_giving_up(self, fault: Fault) -> None:
        if isinstance(fault, TooLarge):
            return
        if fault.limited:
            self._starved_calls += 1
            if self._starved_calls >= _STARVED_CALLS_BEFORE_GIVING_UP:
                raise HopelessError(
                    f"the server answers nothing but {fault.status} any more: start the same command again later ({fault.reason})"
                )
        if fault.status is None and not self.reached:
            where = self.settings.base_url or self.settings.provider
            raise HopelessError(f"{where} cannot be reached: is the server running, is --base-url right? ({fault.reason})")
        self._gate.gave_up(fault)
        if fault.status not in {None, HTTPStatus.FORBIDDEN} and not fault.again and not self._answered:
            self._bad_requests += 1
            if self._bad_requests >= _BAD_REQUESTS_BEFORE_GIVING_UP:
                raise HopelessError(f"the server turns every request down: {fault.reason}")


class _Call:
    """One question under way: the next request and what came of the last; steps and hooks of instructor find it in `CALL`."""

    def __init__(self, server: Server, question: ModelQuestion) -> None:
        self.server, self.question = server, question
        self.form = form_of(question.form) if question.form else None
        self.result = CallResult()
        self.times_limit = 1
        self.modes: list[Mode] = [server.mode]
        """In which the form was asked for; the last one is in use."""
        self.sent: dict[str, Any] = {}
        self.sent_at = self.since = time.monotonic()
        self.failures = 0
        """Requests in a row that came to nothing."""
        self.length = 0
        """Bytes of all that the model has to read."""
        self._more: Sequence[Message] = ()
        """What the model is shown of its last reply."""
        self._left = server.settings.reasks
        self._next: Literal["nothing", "again", "other mode"] = "nothing"
        """After a reply that is not an answer: whether instructor asks again, or the client is called in another mode."""
        self._written: str | None = None
        self._reserved: float | None = None
        self._broken: BaseException | None = None
        """Why what came is not a reply."""

    async def run(self) -> None:
        """Ask until there is an answer, or nothing else to ask.

        Raises:
            Fault: there is none.
            RefusedError: the model declines.
            BudgetSpentError: the budget allows no (further) request.
            HopelessError: no request of this run can succeed.
        """
        token = CALL.set(self)
        try:
            while await self._asked_anew():
                pass
        finally:
            self.settle(None)
            CALL.reset(token)

    async def _asked_anew(self) -> bool:
        """Call the client; True if it has to be called anew, with other arguments."""
        try:
            await (self._text() if self.form is None else self._form())
        except Exception as error:
            cause = behind(error)
            if isinstance(cause, Unusable):
                self.result.status, self.result.error = "failed", f"{self.result.error}{self._hint()}"
                return self._next == "other mode"
            if isinstance(cause, Fault) and self.server.learn(self, cause):
                return True
            if cause is error:
                raise
            raise cause from error
        self.result.status, self.result.error = "answered", None
        return False

    async def _form(self) -> None:
        """Ask for the form, through instructor."""
        assert self.form is not None
        await self.server.client.instructor(self.modes[-1]).create(
            response_model=self.form.wrapped, max_retries=self._policy(), **self.next_arguments()
        )
        assert self.result.answer is not None
        for name in ("_raw_response", "_total_usage"):  # instructor leaves them in the form
            self.result.answer.filled.__dict__.pop(name, None)
        if not self.server.is_settled:
            self.server.mode, self.server.is_settled = self.modes[-1], True

    async def _text(self) -> None:
        """Ask for text, through the same client, which then neither asks again nor calls its hooks."""
        async for attempt in self._policy():
            with attempt:
                try:
                    response = await self.server.client.instructor(self.modes[-1]).create(response_model=None, **self.next_arguments())
                except Exception as error:
                    self.failed(error)
                    raise
                self.came(response)
                self.filled()

    def _policy(self) -> AsyncRetrying:
        """When the client asks again, and after which pause."""

        def again(error: BaseException) -> bool:
            cause = behind(error)
            return self._next == "again" if isinstance(cause, Unusable) else isinstance(cause, Fault) and cause.again

        def stops(state: RetryCallState) -> bool:
            error = state.outcome.exception() if state.outcome else None
            return error is not None and self.server.out_of_patience(self, behind(error))

        return AsyncRetrying(retry=retry_if_exception(again), wait=wait_after, stop=stops, reraise=True)

    def next_arguments(self) -> dict[str, Any]:
        """The arguments of instructor's client for the next request."""
        question, form = self.question, self.form
        messages = [*question.messages, *self._more]
        called = (call.arguments for message in messages for call in message.get("tool_calls", ()))
        texts = (text.encode() for text in chain((message["content"] for message in messages), called))
        self.length = sum(map(len, chain(texts, (orjson.dumps(tool.parameters) for tool in question.tools))))
        self.length += form.length if form else 0
        request = ChatRequest(messages, self.limit, question.tools, form, self.modes[-1], self.server.refused)
        self.sent = self.server.client.arguments(request)
        return self.sent

    def came(self, response: Any) -> None:
        """A reply came, as the provider's client has it: a hook of instructor."""
        self._broken = None
        try:
            completion = self.server.client.completion(response)
        except (UnreadableError, *ODD_TYPES) as error:
            odd = UnreadableError(f"the reply does not have the form of its protocol ({excerpt(strike(str(error)))})")
            self._broken = behind(error if isinstance(error, UnreadableError) else odd)
            self.failed(self._broken)
        else:
            self.server.came(self, completion)

    def failed(self, error: BaseException) -> None:
        """The client gave no reply: a hook of instructor. The wire counts its own faults."""
        cause = behind(error)
        if isinstance(cause, Fault) and not cause.counted:
            self.server.failed(self, cause)

    def filled(self) -> BaseModel | None:
        """The form in the reply that came; None for a text: instructor's parser.

        Raises:
            Fault: what came is not a reply.
            RefusedError: the model declines.
            Unusable: the reply is not an answer for another reason.
        """
        if self._broken is not None:
            raise self._broken
        completion = self.result.completion
        assert completion is not None
        answer = self.question.answer(completion)
        is_full = completion.ending == "finished" and completion.tokens.output >= self.limit
        if is_full and (answer.why_not or completion.finish_reason is None):  # some servers do not state that they have cut it
            answer = self.question.answer(completion._replace(finish_reason="length"))
        self.result.answer = answer
        if answer.why_not is None:
            return answer.filled
        if answer.is_declined:
            raise RefusedError(answer.why_not)
        self.result.error = f"no usable reply: {answer.why_not}"
        self._next = self._after(answer, completion.written)
        raise Unusable(answer.why_not)

    def _after(self, answer: Answer, written: str) -> Literal["nothing", "again", "other mode"]:
        """What to ask after a reply that is not an answer: never the same again."""
        self._left -= 1
        repeated, self._written = written == self._written, written
        is_cut = answer.read_as == "refused: cut"
        if self._left < 0 or (self.times_limit > 1 if is_cut else self.form is None):
            return "nothing"
        if is_cut:
            self.times_limit = LONGER  # a runaway reply would fill that, too
            return "nothing" if _is_runaway(written) else "again"
        assert self.form is not None
        shown = reask(self.form, written, answer.why_not or "", self.modes[-1])
        is_near = any(f'"{name}"' in written for name in self.form.model.model_fields)  # it knows the form, and fills it in wrongly
        is_another_shape = answer.read_as in _WRONG_SHAPE and (repeated or not (self.server.is_settled or is_near))
        if is_another_shape and self.server.settings.mode is None:
            if self.server.other_mode(self, f"a reply in mode {self.modes[-1]} is not a form", for_all=not self.server.is_settled):
                self._more = shown if repeated else ()
                return "other mode"
            self.server.is_settled = True
        if repeated and self._more:
            return "nothing"
        self._more = shown
        return "again"

    def _hint(self) -> str:
        """What may help where the last reply was not an answer."""
        read_as = self.result.answer.read_as if self.result.answer else ""
        if read_as == "refused: cut" and _is_runaway(self._written or ""):
            return ", repeating itself: the model cannot do this"
        if read_as == "refused: cut":
            longer = f", then {self.limit}" if self.times_limit > 1 else ""
            return f", {self.question.limit(self.server.settings)} tokens{longer}: raise --max-tokens, or lower --reasoning-effort"
        others = [mode for mode in self.server.client.modes if mode not in self.modes]
        if self.form is None or read_as not in _WRONG_SHAPE or not others:
            return ""
        return "; another way of asking may help: " + " or ".join(f"--mode {mode}" for mode in others)

    @property
    def limit(self) -> int:
        """Longest reply to the next request, in tokens."""
        return self.times_limit * self.question.limit(self.server.settings)

    def most(self, tokens_in: int = 0) -> float:
        """The most that a request can cost, USD, of so many tokens if they are counted; 0 without a price."""
        server = self.server
        return server.price.most(tokens_in or server.estimate.tokens(self.length), self.limit) if server.price else 0.0

    async def reserve(self) -> None:
        """Reserve the most that the next request can cost.

        Raises:
            BudgetSpentError: the budget does not allow it.
        """
        reserved = self.server.dearer * self.most()
        await self.server.budget.reserve(reserved)
        self._reserved = reserved

    def settle(self, cost: float | None) -> None:
        """Release what the last request has not cost; None: the cost is not known and may be all."""
        if self._reserved is not None:
            self.server.budget.settle(self._reserved, self._reserved if cost is None else cost)
            self._reserved = None


def _is_runaway(text: str) -> bool:
    """Whether a text ends in the same words over and over."""
    words = " ".join(text.split())
    end = words[-_REPEATED:]
    return len(end) == _REPEATED and words.count(end) >= _TIMES_REPEATED
