"""Runs judges, a model or the engine; `judges.runs.planning.plan` tells beforehand what a run would do.

A call that never succeeds becomes a verdict row with status `failed`; machinery that fails (the store, the server as a whole) stops the run
with one error, and what had been answered is kept: the next start asks only for the rest.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import islice
from typing import Any

from judges.engine.judge import run_engine
from judges.evidence.prompt import PromptMaker
from judges.evidence.units import Selection, select
from judges.runs.batch_record import refuse_if_pending
from judges.runs.cache import AnswerCache
from judges.runs.endpoints import JudgePool
from judges.runs.job import JudgeReport, JudgeRequest, OnProgress, Progress, RunStatus
from judges.runs.journal import CallRecord, Journal, RunRecord, starting
from judges.runs.llm import Reply
from judges.runs.planning import Call, Tally, calls_to_make, count, new_run, now
from judges.runs.verdict_store import Progressed, known_answers, save, take_up, verdicts_of
from providers.prices import price_of
from providers.provider import ModelSettings
from schemas.errors import UsageError
from schemas.store import Store

__all__ = ["run"]

_SAVE_EVERY_S = 1.0
_PROGRESS_EVERY_S = 0.1
_READ_AHEAD = 64


def run(request: JudgeRequest, store: Store, on_progress: OnProgress | None = None) -> JudgeReport:
    """Have a judge answer a rubric's questions about the selected units; every answer ends up in `verdicts` exactly once.

    Args:
        request: what to ask of whom.
        store: where the games are and the verdicts go; open only for short transactions.
        on_progress: told a few times a second how far the run is.

    Raises:
        HopelessError: no request can succeed (bad key, no such model, no server).
        StoreError: the store or the journal cannot be read or written.
        UsageError: the request contradicts itself, or the same job is under way on this store.
        KeyboardInterrupt: Ctrl-C; what had been answered is in the store and the run can be started again.
    """
    if request.settings is None:
        return run_engine(request, store, on_progress)
    return _run_to_end(_LlmRun(request, request.settings, store, on_progress).go())


def _run_to_end(going: Coroutine[Any, Any, JudgeReport]) -> JudgeReport:
    """Also where an event loop runs already, as in a notebook: then in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(going)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, going).result()


class _LlmRun:
    """One run of one model over one rubric."""

    def __init__(self, request: JudgeRequest, settings: ModelSettings, store: Store, on_progress: OnProgress | None) -> None:
        self._request, self._settings, self._store, self._on_progress = request, settings, store, on_progress
        self._price = price = price_of(settings.model, request.prices)
        if request.max_cost is not None and price is None:
            raise UsageError(
                f"--max-cost needs a price for {settings.model}: give one with --prices FILE "
                f"(a line such as {settings.model}: {{input: 0.15, output: 0.60}})"
            )
        self._maker = PromptMaker(request.rubric)
        self._cache: AnswerCache | None = None
        self._from_cache = 0
        self._run = new_run(request, price)
        self._unsaved: list[CallRecord] = []
        self._saving: asyncio.Task[None] | None = None
        self._counts = {"answered": 0, "undecided": 0, "failed": 0, "skipped": 0}
        self._first_error: str | None = None
        self._done = self._total = 0
        self._told_at = 0.0
        self._out_of_money = False
        self._queue: asyncio.Queue[Call | None] = asyncio.Queue(2 * _READ_AHEAD)

    async def go(self) -> JudgeReport:
        if self._request.cache is None:
            return await self._go()
        with closing(AnswerCache(self._request.cache, self._settings)) as self._cache:
            return await self._go()

    async def _go(self) -> JudgeReport:
        began = time.monotonic()
        selection = select(self._store, self._request.rubric, self._request.where)
        with starting(self._store) as folder:
            recovered = take_up(self._store, folder, self._run)
            refuse_if_pending(folder, self._run)
            self._known = known_answers(self._store, self._run)
            tally = count(self._request, self._maker, self._store, selection, self._known)
            self._total = tally.calls
            if tally.calls == 0:
                return self._report(tally, recovered, began, run_id=None)
            self._run = self._run._replace(units=tally.units)
            endpoints = (self._settings, *self._request.more_endpoints)
            judge = JudgePool(endpoints, self._maker.groups, price=self._price, max_cost=self._request.max_cost)
            record = RunRecord(self._run, self._request.rubric.answers, os.getpid())
            self._journal = Journal(folder / f"{self._run.judge_run_id}.jsonl", record)
        try:
            save(self._store, Progressed(self._run, replaces="nothing"), [])  # before the first call is paid: can the store be written?
        except BaseException:
            await judge.close()
            self._journal.close(delete=True)
            raise
        await self._score(judge, selection)
        return self._report(tally, recovered, began, run_id=self._run.judge_run_id)

    async def _score(self, judge: JudgePool, selection: Selection) -> None:
        status: RunStatus = "interrupted"
        try:
            async with asyncio.TaskGroup() as tasks:
                saver = tasks.create_task(self._save_regularly())
                workers = [tasks.create_task(self._work(judge)) for _ in range(self._request.concurrency)]
                await self._feed(selection)
                await asyncio.gather(*workers)
                saver.cancel()
            status = "stopped_by_budget" if self._out_of_money else "finished"
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            await judge.close()
            await self._finish(status)

    async def _feed(self, selection: Selection) -> None:
        calls = calls_to_make(self._request, self._maker, self._store, selection, self._known)
        while not self._out_of_money and (chunk := await asyncio.to_thread(lambda: list(islice(calls, _READ_AHEAD)))):
            for call in chunk:
                await self._queue.put(call)
        for _ in range(self._request.concurrency):
            await self._queue.put(None)

    async def _work(self, judge: JudgePool) -> None:
        while (call := await self._queue.get()) is not None:
            if self._out_of_money:
                continue
            if not call.prompt.applies:
                self._record(call, "skipped", f"nothing to judge: {self._request.rubric.about} is empty", Reply())
                continue
            reply = await self._answer(judge, call)
            if reply.status == "unasked":
                self._out_of_money = True
                self._add_usage(reply.requests, reply.tokens_in, reply.tokens_out)
            else:
                self._record(call, reply.status, reply.error, reply)

    async def _answer(self, judge: JudgePool, call: Call) -> Reply:
        messages = self._maker.messages(call.prompt)
        if self._cache is None:
            return await judge.ask(call.prompt.group, messages)
        key = self._cache.key(messages, call.repeat)
        async with self._cache.asking(key):
            kept = self._cache.get(key)
            if kept is not None:
                self._from_cache += 1
                return Reply(status="answered", answers=kept)
            reply = await judge.ask(call.prompt.group, messages)
            if reply.status == "answered":
                self._cache.put(key, reply.answers)
            return reply

    def _record(self, call: Call, status: str, why_not: str | None, reply: Reply) -> None:
        questions = self._maker.groups[call.prompt.group].questions
        answers: list[tuple[str, str | None, str | None]] = [(g.question, g.answer, g.reason) for g in reply.answers]
        record = CallRecord(
            unit_id=call.unit.unit_id,
            unit_hash=call.prompt.unit_hash,
            episode_id=call.unit.episode_id,
            turn=call.unit.turn,
            agent=call.unit.agent,
            repeat=call.repeat,
            status=status,
            answers=answers or [(question.id, None, why_not) for question in questions],
            requests=reply.requests,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            flagged=call.prompt.flagged(),
        )
        self._journal.write(record)
        self._unsaved.append(record)
        self._add_usage(record.requests, record.tokens_in, record.tokens_out)
        self._counts[status] += len(questions)
        if status == "failed":
            self._first_error = self._first_error or why_not
        self._done += 1
        self._tell()

    def _add_usage(self, requests: int, tokens_in: int, tokens_out: int) -> None:
        run = self._run
        self._run = run._replace(
            calls=run.calls + requests,
            tokens_in=run.tokens_in + tokens_in,
            tokens_out=run.tokens_out + tokens_out,
            cost=None if run.cost is None or self._price is None else run.cost + self._price.cost(tokens_in, tokens_out),
        )

    def _tell(self) -> None:
        now = time.monotonic()
        if self._on_progress is None or (now - self._told_at < _PROGRESS_EVERY_S and self._done < self._total):
            return
        self._told_at = now
        failed = self._counts["failed"]
        self._on_progress(Progress(done=self._done, total=self._total, failed=failed, cost=self._run.cost))

    async def _save_regularly(self) -> None:
        while True:
            await asyncio.sleep(_SAVE_EVERY_S)
            if self._unsaved:
                self._saving = asyncio.create_task(self._save())
                await asyncio.shield(self._saving)  # a transaction that has begun is not left behind when the run is cancelled

    async def _save(self) -> None:
        batch, self._unsaved = self._unsaved, []
        rows = verdicts_of(self._run, self._request.rubric.answers, batch)
        await asyncio.to_thread(save, self._store, Progressed(self._run, replaces="failed" if self._known.some_failed else "nothing"), rows)

    async def _finish(self, status: RunStatus) -> None:
        """Bring the rest into the store. If that fails, the journal stays, and the next start stores what is in it."""
        stored = False
        try:
            if self._saving is not None:
                await self._saving
            self._run = self._run._replace(finished_at=now(), status=status)
            await self._save()
            stored = True
        finally:
            self._journal.close(delete=stored)

    def _report(self, tally: Tally, recovered: int, began: float, *, run_id: str | None) -> JudgeReport:
        run = self._run
        return JudgeReport(
            judge_run_id=run_id,
            status="finished" if run_id is None else run.status,  # type: ignore[arg-type]
            units=tally.units,
            answered_before=tally.answered_before,
            recovered=recovered,
            answered=self._counts["answered"],
            undecided=self._counts["undecided"],
            failed=self._counts["failed"],
            skipped=self._counts["skipped"],
            from_cache=self._from_cache,
            requests=run.calls,
            tokens_in=run.tokens_in,
            tokens_out=run.tokens_out,
            cost=run.cost,
            seconds=time.monotonic() - began,
            first_error=self._first_error,
        )
