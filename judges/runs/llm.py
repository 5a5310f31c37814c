"""Asks a language model, whatever the server does: typed answers through instructor, retries through tenacity."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson
from pydantic import BaseModel
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from judges.evidence.prompt import Message
from judges.rubric.answer_types import Given, answer_model, given, parse_reply
from judges.rubric.model import Group
from providers.faults import Fault, HopelessError, RefusedError, Unusable, classify, explain_invalid, wait_after
from providers.pacing import Gate, MinuteLimit
from providers.prices import Budget, BudgetSpentError, Price, TokenEstimate
from providers.provider import ModelSettings, call_arguments, connect, is_filtered, is_hollow, text_of, tokens_in_and_out, usage_of
from schemas.text import excerpt

__all__ = ["LlmJudge", "Reply", "TypedModel"]

_BAD_REQUEST = frozenset({400, 413, 422})
_BAD_REQUESTS_BEFORE_GIVING_UP = 5
_STARVED_CALLS_BEFORE_GIVING_UP = 3
_TRIES_TO_REACH_A_SERVER = 3
_MOST_LIMITED_TRIES = 100
"""After so many 429 answers to one call, while others get through, something about this call is wrong."""
_LONGEST_REPLY_SHOWN_AGAIN = 4_000


@dataclass(kw_only=True, slots=True)
class Reply:
    """What came of one call: answers, or why there are none, and what it took."""

    status: Literal["answered", "failed", "unasked"] = "unasked"
    """`unasked`: the budget did not allow (another) request."""
    filled: BaseModel | None = None
    """What the model wrote; None unless answered."""
    answers: list[Given] = field(default_factory=list)
    error: str | None = None
    requests: int = 0
    """Sent, retries and re-asks included."""
    tokens_in: int = 0
    tokens_out: int = 0


class TypedModel:
    """One model behind one HTTP client, shared by all calls of a run; it fills in forms."""

    def __init__(self, settings: ModelSettings, forms: Sequence[type[BaseModel]], *, price: Price | None, budget: Budget) -> None:
        from instructor import openai_schema

        self._settings = settings
        self._client = connect(settings)
        # wrapped once: instructor would otherwise build a new class and schema for every call
        self._models: list[type[BaseModel]] = [openai_schema(form) for form in forms]
        self._schema_sizes = [len(orjson.dumps(model.model_json_schema())) for model in self._models]
        self._arguments = call_arguments(settings)
        self._price = price
        self._budget = budget
        self._estimate = TokenEstimate()
        self._gate = Gate()
        self._requests_limit = MinuteLimit(settings.requests_per_minute)
        self._tokens_limit = MinuteLimit(settings.tokens_per_minute)
        self._reached = False
        self._answered = False
        self._last_reply_at = 0.0
        self._starved_calls = 0
        self._bad_requests = 0

    async def close(self) -> None:
        """Close the connections."""
        close = getattr(self._client.client, "close", None) or getattr(self._client.client, "aclose", None)
        if close is not None:
            await close()

    async def ask(self, form: int, messages: Sequence[Message]) -> Reply:
        """Have that form filled in; a reply that does not fit is shown back with the reason, a bounded number of times.

        Raises:
            HopelessError: no request of this run can succeed.
        """
        reply = Reply()
        chat = list(messages)
        try:
            for _ in range(self._settings.reasks + 1):
                try:
                    reply.filled = await self._request_until_reply(form, chat, reply)
                except Unusable as unusable:
                    reply.error = f"no usable reply: {unusable.reason}"
                    chat = [*messages, *_reask(unusable)]
                else:
                    reply.status, reply.error = "answered", None
                    self._answered = True
                    return reply
        except RefusedError as refused:
            reply.error = f"refused: {refused}"
        except Fault as fault:
            reply.error = fault.reason
            self._consider_giving_up(fault)
        except BudgetSpentError:
            reply.status = "unasked"
            return reply
        reply.status = "failed"
        return reply

    def _consider_giving_up(self, fault: Fault) -> None:
        if fault.limited:
            self._starved_calls += 1
            if self._starved_calls >= _STARVED_CALLS_BEFORE_GIVING_UP:
                raise HopelessError(f"the server answers nothing but 429 any more: start the same command again later ({fault.reason})")
        if fault.status is None and not self._reached:
            where = self._settings.base_url or self._settings.provider
            raise HopelessError(f"{where} cannot be reached: is the server running, is --base-url right? ({fault.reason})")
        if fault.status in _BAD_REQUEST and not self._answered:
            self._bad_requests += 1
            if self._bad_requests >= _BAD_REQUESTS_BEFORE_GIVING_UP:
                raise HopelessError(f"the server turns every request down: {fault.reason}")

    async def _request_until_reply(self, form: int, chat: list[Message], reply: Reply) -> BaseModel:
        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, Fault) and error.again),
            wait=wait_after,
            stop=self._out_of_patience,
            reraise=True,
        )
        return await retrying(self._request, form, chat, reply)

    def _out_of_patience(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, Fault) and error.limited:
            waits_since = max(state.start_time, self._last_reply_at)
            return time.monotonic() - waits_since > self._settings.patience_s or state.attempt_number >= _MOST_LIMITED_TRIES
        return state.attempt_number >= (self._settings.tries if self._reached else min(_TRIES_TO_REACH_A_SERVER, self._settings.tries))

    async def _request(self, form: int, chat: list[Message], reply: Reply) -> BaseModel:
        characters = sum(len(message["content"]) for message in chat) + self._schema_sizes[form]
        tokens = self._estimate.tokens(characters)
        reserved = self._price.cost(tokens, self._settings.max_tokens) if self._price else 0.0
        await self._tokens_limit.take(tokens)
        await self._requests_limit.take(1)
        await self._budget.reserve(reserved)
        spent = 0.0
        try:
            sent_at = await self._gate.wait()
            reply.requests += 1
            spent = reserved  # unless the server says otherwise: a request that broke off may have been billed
            completed = await self._send(form, chat)
            self._gate.succeeded()
            self._reached, self._last_reply_at, self._starved_calls = True, time.monotonic(), 0
            spent = self._count(reply, completed.usage, characters)
            return completed.answers()
        except Fault as fault:
            self._reached = self._reached or fault.came
            if fault.status is not None:
                spent = 0.0
            if fault.limited:
                self._limit(fault, sent_at)
            raise
        finally:
            await self._budget.settle(reserved, spent)

    def _limit(self, fault: Fault, sent_at: float) -> None:
        if (fault.retry_after_s or 0.0) > self._settings.patience_s:
            raise HopelessError(f"the server asks to wait {fault.retry_after_s:.0f} s: start the same command again then ({fault.reason})")
        self._gate.limited(sent_at, fault.retry_after_s)

    def _count(self, reply: Reply, usage: tuple[int, int], characters: int) -> float:
        reply.tokens_in += usage[0]
        reply.tokens_out += usage[1]
        self._estimate.learn(characters, usage[0])
        return self._price.cost(*usage) if self._price else 0.0

    async def _send(self, form: int, chat: list[Message]) -> _Completed:
        """One HTTP request. The one place where whatever a provider's library throws becomes a fault, and so, at worst, a row."""
        from instructor.core import IncompleteOutputException, InstructorRetryException

        model = self._models[form]
        messages: list[Any] = list(chat)
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                parsed: Any = await self._client.create(response_model=model, messages=messages, max_retries=0, **self._arguments)
        except IncompleteOutputException as error:
            completion = error.last_completion
            return _Completed(usage_of(completion), Unusable("it broke off at its longest length (max_tokens)", text_of(completion)))
        except InstructorRetryException as error:
            return _unparsed(error, model)
        except TimeoutError as error:
            reason = f"no complete reply within {self._settings.timeout_s:g} s"
            raise Fault(reason, status=None, retry_after_s=None, again=True) from error
        except Exception as error:
            raise classify(error) from error
        return _Completed(usage_of(parsed._raw_response), parsed)  # noqa: SLF001 - instructor's documented place for it


class LlmJudge(TypedModel):
    """A model that answers a rubric's questions: each group of them is a form."""

    def __init__(self, settings: ModelSettings, groups: Sequence[Group], *, price: Price | None, budget: Budget) -> None:
        super().__init__(settings, [answer_model(group) for group in groups], price=price, budget=budget)
        self._groups = groups

    async def ask(self, form: int, messages: Sequence[Message]) -> Reply:
        """Ask the group's questions.

        Raises:
            HopelessError: no request of this run can succeed.
        """
        reply = await super().ask(form, messages)
        if reply.filled is not None:
            reply.answers = given(self._groups[form], reply.filled)
        return reply


@dataclass(frozen=True, slots=True)
class _Completed:
    """A reply that came, billed, whether it can be used or not."""

    usage: tuple[int, int]
    outcome: BaseModel | Unusable | RefusedError

    def answers(self) -> BaseModel:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def _unparsed(error: Any, model: type[BaseModel]) -> _Completed:
    """What instructor wraps: a fault of the request, a refusal, or a reply that does not fit.

    Raises:
        Fault: no reply came.
    """
    cause = error.__cause__
    if isinstance(cause, AssertionError):  # how instructor says that the model refused
        usage = tokens_in_and_out(error.total_usage)
        return _Completed(usage, RefusedError(excerpt(str(cause).removeprefix("Unable to generate a response due to "))))
    completion = error.last_completion
    if completion is None:
        raise classify(cause or error) from error
    if is_hollow(completion):
        raise Fault("the reply is no chat completion", status=None, retry_after_s=None, again=True) from error
    text = text_of(completion)
    salvaged = parse_reply(model, text)
    if is_filtered(completion):
        return _Completed(usage_of(completion), RefusedError("the provider's content filter stopped the reply"))
    return _Completed(usage_of(completion), salvaged or Unusable(explain_invalid(cause), text))


def _reask(unusable: Unusable) -> list[Message]:
    shown = unusable.reply[:_LONGEST_REPLY_SHOWN_AGAIN] or "(nothing)"
    return [
        {"role": "assistant", "content": shown},
        {
            "role": "user",
            "content": f"That reply cannot be used: {unusable.reason}. Answer all questions again, each with a reason and an answer.",
        },
    ]
