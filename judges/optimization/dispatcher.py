"""Where questions are asked while a prompt is optimised: from any thread, each reply stored on disk by content, inside one budget.

Optimisers work in threads of their own and swallow ordinary errors; whatever must end the run leaves the dispatcher as `Halted`, which
they let pass.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from pydantic import BaseModel, Field

from providers.asker import Asker, JobTerms, Reply, Request
from providers.cache import ReplyCache
from providers.prices import Budget, Price
from providers.provider import ModelSettings
from schemas.chat.messages import Message
from schemas.common.errors import CotraceError

T = TypeVar("T")
_PURPOSE: Final = "optimize"


class BudgetStopError(CotraceError):
    """The next request could exceed the budget; all answers are stored."""


class Halted(BaseException):
    """The run ends here. Like KeyboardInterrupt it is not an error, so that no handler of errors takes it."""

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


class Conditions(NamedTuple):
    """How a run may ask."""

    cache: Path
    """File or folder of replies by content."""
    max_cost: float | None
    """USD; None: no limit."""
    concurrency: int
    """Calls under way at once."""
    on_call: Callable[[int], None] | None
    """Called after each call with how many there were that had not been answered before."""


class Dispatcher:
    """Asks the model that is to get better about cases, and the writer for texts.

    `task` is a `RubricTask` or a `ReaderTask` (`judges.optimization.program`): prompts, cases and answers are of its kind.
    """

    def __init__(self, task: Any, judge: Priced, writer: Priced, conditions: Conditions) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = task
        self._cache = ReplyCache(conditions.cache)
        terms = JobTerms(budget=Budget(conditions.max_cost), cache=self._cache, concurrency=conditions.concurrency)
        self._judge = Asker([judge.settings], judge.price, terms)
        self._writer = Asker([writer.settings], writer.price, terms)
        self._times_written: Counter[str] = Counter()
        self._on_call = conditions.on_call
        self._why: CotraceError | None = None
        self.usage = terms.usage
        """What was asked of both, and what it took."""
        self.ledger: dict[str, dict[int, Any]] = {}
        """Prompt's hash -> case -> answer, None where no usable reply came: all that was asked about cases in this run."""
        self.asked_with: dict[str, Any] = {}
        """Prompt's hash -> prompt, in the order in which they were first asked with."""

    async def close(self, *, at_once: bool) -> None:
        """Close connections and files; calls under way are given up at once, or else waited for, since they are paid."""
        under_way = [task for task in asyncio.all_tasks(self._loop) if task is not asyncio.current_task()]
        for task in under_way if at_once else ():
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await self._judge.close()
        await self._writer.close()
        self._cache.close()

    def halt(self) -> None:
        """Let no further call through: threads that an optimiser has left behind end."""
        self._why = self._why or CotraceError("the run has ended")

    def answer(self, prompt: Any, case: Any) -> Any:
        """The model's answer about the case; None: no usable reply came.

        Raises:
            Halted: the budget is spent, or no request can succeed.
        """
        return self._wait(self._answer(prompt, case))

    def answer_all(self, prompt: Any, cases: Sequence[Any]) -> None:
        """Put the model's answers to all cases into the ledger.

        Raises:
            Halted: see `answer`.
        """

        async def all_of_them() -> None:
            outcomes = await asyncio.gather(*(self._answer(prompt, case) for case in cases), return_exceptions=True)
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

    async def _answer(self, prompt: Any, case: Any) -> Any:
        name, number = prompt.hash, case.number
        self.asked_with.setdefault(name, prompt)
        answers = self.ledger.setdefault(name, {})
        if number in answers:  # also where no usable reply came: asking again would hardly help
            self.usage.asked, self.usage.from_cache = self.usage.asked + 1, self.usage.from_cache + 1
            return answers[number]
        request = replace(self._task.request(prompt, case), purpose=_PURPOSE)
        reply = await self._asked(self._judge, request)
        answers[number] = None if reply.filled is None else self._task.answer_in(case, reply.filled)
        return answers[number]

    async def _write(self, messages: Sequence[Message]) -> str:
        content = repr(messages)
        self._times_written[content] += 1
        request = Request(messages=messages, form=Written, sample=self._times_written[content], purpose=_PURPOSE)
        reply = await self._asked(self._writer, request)
        if not isinstance(reply.filled, Written):
            raise CotraceError(
                f"the model that writes instructions gave no usable reply: {reply.call.error}; start the same command again to go on"
            )
        return reply.filled.text

    async def _asked(self, asker: Asker, request: Request) -> Reply:
        reply = await asker.ask(request)
        if reply.call.status == "unasked":
            raise BudgetStopError("stopped before --max-cost would be exceeded")
        if self._on_call is not None:
            self._on_call(self.usage.asked - self.usage.from_cache)
        return reply


@contextmanager
def dispatching(task: Any, judge: Priced, writer: Priced, conditions: Conditions) -> Iterator[Dispatcher]:
    """A dispatcher with a loop of its own in a thread of its own.

    Raises:
        StoreError: the file of replies cannot be used.
        UsageError: a model's name is incomplete, its key is missing, or its provider's package is not installed.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="dispatcher", daemon=True)
    thread.start()

    async def made() -> Dispatcher:
        return Dispatcher(task, judge, writer, conditions)

    try:
        dispatcher = asyncio.run_coroutine_threadsafe(made(), loop).result()
        interrupted = True
        try:
            yield dispatcher
            interrupted = False
        except (Halted, Exception):
            interrupted = False
            raise
        finally:
            dispatcher.halt()
            asyncio.run_coroutine_threadsafe(dispatcher.close(at_once=interrupted), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
