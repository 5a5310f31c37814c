"""Where questions are asked while a rubric is optimised: from any thread, each answer kept on disk by content, inside one budget.

Optimisers work in threads of their own and swallow ordinary errors; whatever must end the run leaves the desk as `Halted`, which they
let pass.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from pydantic import BaseModel, Field

from judges.evidence.prompt import Message, PromptMaker
from judges.optimization.cases import Case
from judges.rubric.answer_types import Given
from judges.rubric.model import Rubric
from judges.runs.cache import AnswerCache
from judges.runs.llm import LlmJudge, Reply, TypedModel
from providers.prices import Budget, Price
from providers.provider import ModelSettings
from schemas.errors import CotraceError

__all__ = ["Answers", "BudgetStopError", "Desk", "Halted", "Priced", "Terms", "Usage", "open_desk"]

T = TypeVar("T")

Answers = dict[str, Given] | None
"""Question -> answer; None: no usable reply came."""

_WRITER: Final = 0
_TEXT: Final = "text"


class BudgetStopError(CotraceError):
    """The next request could exceed the budget; all answers are kept."""


class Halted(BaseException):
    """The run ends here. Like KeyboardInterrupt it is no error, so that no handler of errors takes it."""

    def __init__(self, why: CotraceError) -> None:
        super().__init__(str(why))
        self.why = why


class Written(BaseModel):
    """The whole reply."""

    text: str = Field(description="Your whole reply, in the form that was asked for.")


class Priced(NamedTuple):
    """A model and what it costs."""

    settings: ModelSettings
    price: Price | None


class Terms(NamedTuple):
    """How a run may ask."""

    cache: Path
    """File or folder of answers by content."""
    max_cost: float | None
    """USD; None: no limit."""
    concurrency: int
    """Calls under way at once."""
    on_call: Callable[[int], None] | None
    """Told after each call how many there were that had not been answered before."""


@dataclass(slots=True)
class Usage:
    """What was asked and what it took."""

    asked: int = 0
    """Calls, answered from disk or not."""
    from_disk: int = 0
    """Calls whose answers an earlier run, or this one, had put on disk."""
    failed: int = 0
    """Calls that no usable reply came to."""
    requests: int = 0
    """HTTP requests, retries and re-asks included."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    """USD; 0 where the model has no price."""
    failures: list[str] = field(default_factory=list)
    """Why the first few calls failed."""


_SHOWN_FAILURES: Final = 3


class Desk:
    """Asks the judge about cases, and the writer for texts."""

    def __init__(self, rubric: Rubric, judge: Priced, writer: Priced, terms: Terms) -> None:
        self._loop = asyncio.get_running_loop()
        budget = Budget(terms.max_cost)
        self._judge = LlmJudge(judge.settings, rubric.groups(), price=judge.price, budget=budget)
        self._writer = TypedModel(writer.settings, [Written], price=writer.price, budget=budget)
        self._judge_price, self._writer_price = judge.price, writer.price
        self._verdicts = AnswerCache(terms.cache, judge.settings)
        self._texts = AnswerCache(terms.cache, writer.settings)
        self._makers: dict[str, PromptMaker] = {}
        self._free = asyncio.Semaphore(terms.concurrency)
        self._times_written: Counter[str] = Counter()
        self._failed: set[bytes] = set()
        self._on_call = terms.on_call
        self._why: CotraceError | None = None
        self.usage = Usage()
        self.ledger: dict[str, dict[int, Answers]] = {}
        """Rubric's hash -> case -> answers: all that was asked of the judge in this run."""
        self.asked_with: dict[str, Rubric] = {}
        """Rubric's hash -> rubric, in the order in which they were first asked with."""

    async def close(self, *, at_once: bool) -> None:
        """Close connections and files; calls under way are given up at once, or else waited for, since they are paid."""
        under_way = [task for task in asyncio.all_tasks(self._loop) if task is not asyncio.current_task()]
        for task in under_way if at_once else ():
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await self._judge.close()
        await self._writer.close()
        self._verdicts.close()
        self._texts.close()

    def halt(self) -> None:
        """Let no further call through: threads that an optimiser has left behind end."""
        self._why = self._why or CotraceError("the run has ended")

    def answer(self, rubric: Rubric, case: Case) -> Answers:
        """What the judge says to the case, asked in the rubric's words.

        Raises:
            Halted: the budget is spent, or no request can succeed.
        """
        return self._wait(self._answer(rubric, case))

    def answer_all(self, rubric: Rubric, cases: Sequence[Case]) -> None:
        """Put the judge's answers to all cases into the ledger.

        Raises:
            Halted: see `answer`.
        """

        async def all_of_them() -> None:
            outcomes = await asyncio.gather(*(self._answer(rubric, case) for case in cases), return_exceptions=True)
            for error in outcomes:
                if isinstance(error, BaseException):
                    raise error

        self._wait(all_of_them())

    def write(self, messages: Sequence[Message]) -> str:
        """What the writer replies; each time that a run asks the same, it gets another reply, and the same ones in the next run.

        Raises:
            Halted: see `answer`; also if no usable reply comes.
        """
        return self._wait(self._write(messages))

    def _wait(self, asking: Coroutine[Any, Any, T]) -> T:
        future: Future[T] = asyncio.run_coroutine_threadsafe(self._unless_halted(asking), self._loop)
        try:
            return future.result()
        except CotraceError as error:
            raise Halted(error) from error
        except CancelledError:
            raise Halted(CotraceError("the run was interrupted")) from None

    async def _unless_halted(self, asking: Coroutine[Any, Any, T]) -> T:
        if self._why is not None:
            asking.close()
            raise self._why
        try:
            return await asking
        except CotraceError as error:
            self._why = self._why or error
            raise

    async def _answer(self, rubric: Rubric, case: Case) -> Answers:
        asked_with = rubric.hash
        if asked_with not in self.asked_with:
            self.asked_with[asked_with], self._makers[asked_with] = rubric, PromptMaker(rubric)
        maker = self._makers[asked_with]
        messages = maker.messages(case.prompt)
        key = self._verdicts.key(messages, 1)
        async with self._free, self._verdicts.asking(key):
            kept = self._verdicts.get(key)
            if self._why is not None:
                raise self._why
            if kept is None and key not in self._failed:
                reply = await self._judge.ask(case.prompt.group, messages)
                self._count(reply, self._judge_price)
                if reply.status == "answered":
                    self._verdicts.put(key, reply.answers)
                    kept = reply.answers
                else:
                    self._failed.add(key)
            else:
                self._count(None, None)
        answers = None if kept is None else {given.question: given for given in kept}
        self.ledger.setdefault(asked_with, {})[case.number] = answers
        return answers

    async def _write(self, messages: Sequence[Message]) -> str:
        content = repr(messages)
        self._times_written[content] += 1
        key = self._texts.key(messages, self._times_written[content])
        kept = self._texts.get(key)
        if kept is not None:
            self._count(None, None)
            return kept[0].answer
        reply = await self._writer.ask(_WRITER, messages)
        self._count(reply, self._writer_price)
        if not isinstance(reply.filled, Written):
            raise CotraceError(
                f"the model that writes instructions gave no usable reply: {reply.error}; start the same command again to go on"
            )
        self._texts.put(key, [Given(_TEXT, reply.filled.text, "")])
        return reply.filled.text

    def _count(self, reply: Reply | None, price: Price | None) -> None:
        usage = self.usage
        if reply is None:
            usage.from_disk += 1
        else:
            usage.requests += reply.requests
            usage.tokens_in += reply.tokens_in
            usage.tokens_out += reply.tokens_out
            usage.cost += price.cost(reply.tokens_in, reply.tokens_out) if price else 0.0
            if reply.status == "failed":
                usage.failed += 1
                usage.failures += [reply.error or ""] if len(usage.failures) < _SHOWN_FAILURES else []
            if reply.status == "unasked":
                raise BudgetStopError("stopped before --max-cost would be exceeded")
        usage.asked += 1
        if self._on_call is not None:
            self._on_call(usage.asked - usage.from_disk)


@contextmanager
def open_desk(rubric: Rubric, judge: Priced, writer: Priced, terms: Terms) -> Iterator[Desk]:
    """A desk with a loop of its own in a thread of its own.

    Raises:
        StoreError: the file of answers cannot be used.
        UsageError: a model's name is incomplete, its key is missing, or its provider's package is not installed.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="desk", daemon=True)
    thread.start()

    async def made() -> Desk:
        return Desk(rubric, judge, writer, terms)

    try:
        desk = asyncio.run_coroutine_threadsafe(made(), loop).result()
        interrupted = True
        try:
            yield desk
            interrupted = False
        except (Halted, Exception):
            interrupted = False
            raise
        finally:
            desk.halt()
            asyncio.run_coroutine_threadsafe(desk.close(at_once=interrupted), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
