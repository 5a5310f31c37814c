"""Runs judges, a model or the engine; `judges.runs.job.plan` tells beforehand what a run would do.

Units are selected, shown and asked about one after the other: while replies come in, the next games are read. A call that never succeeds
becomes a verdict row with status `failed`; machinery that fails (the store, the server as a whole) stops the run with one error, and what
had been answered is stored: the next start asks only for the rest.
"""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import orjson

from judges.evidence.prompt import PromptMaker
from judges.rubric import Rubric
from judges.runs.batches import ENDING
from judges.runs.engine_run import can_share_games, run_engine, run_engine_together
from judges.runs.job import JudgeReport, JudgeRequest, OnProgress, OpenCall, OpenCalls, RunProgress, RunStatus, Tally, new_run
from judges.runs.judge_batch import refuse_if_pending
from judges.runs.outcomes import (
    About,
    CallOutcome,
    JournalHead,
    Outcomes,
    Progressed,
    Replaces,
    about,
    found_answers,
    save,
    take_up,
    verdicts_of,
)
from providers.asker import JournalEntry, Request, Usage, now, run_to_end, summed
from providers.provider import ModelSettings
from schemas.records import Call, Json, JudgeRun
from schemas.store.journal import Journal, starting
from schemas.store.store import Store


class Recorder:
    """Takes in what came of a run's calls."""

    def __init__(self, store: Store, rubric: Rubric, run: JudgeRun, tally: Tally, replaces: Replaces) -> None:
        self._store, self._rubric, self._tally, self._replaces = store, rubric, tally, replaces
        self._outcomes: list[CallOutcome] = []
        self._calls: list[Call] = []
        self._saving: asyncio.Task[None] | None = None
        self.run = run
        """With what it has taken so far."""
        self.counts: Counter[str] = Counter()
        """Verdicts by status."""
        self.done = 0
        """Calls that are through, skipped ones included."""
        self.from_cache = 0
        """Calls that no one had to be asked for."""
        self.first_error: str | None = None
        """Why the first failed call failed."""

    def add(self, outcome: CallOutcome) -> None:
        """Take in what came of a call."""
        self.done += 1
        self._outcomes.append(outcome)
        by_rule = sum(answer.rule is not None for answer in outcome.answers)
        self.counts["answered"] += by_rule
        self.counts[outcome.status] += len(outcome.answers) - by_rule
        if outcome.status == "failed":
            self.first_error = self.first_error or outcome.answers[0][2]
        if outcome.call is not None:
            self.spend(outcome.call)
        elif outcome.status == "answered" and by_rule < len(outcome.answers):
            self.from_cache += 1

    def spend(self, call: Call) -> None:
        """Count what a call has taken, whether a verdict comes of it or not."""
        run = self.run
        self._calls.append(call)
        self.run = run._replace(
            calls=run.calls + call.attempts,
            tokens_in=summed((run.tokens_in, call.tokens_in)),
            tokens_out=summed((run.tokens_out, call.tokens_out)),
            cost=summed((run.cost, call.cost)),
        )

    def learned(self, of_server: Mapping[str, Any]) -> None:
        """Record in the run's parameters what was learned of the model's server."""
        if of_server:
            parameters = {**orjson.loads(self.run.parameters), "learned": of_server}
            self.run = self.run._replace(parameters=Json(orjson.dumps(parameters).decode()))

    async def save_regularly(self) -> None:
        """Until it is cancelled."""
        while True:
            await asyncio.sleep(self._store.save_every_s)
            if self._outcomes or self._calls:
                self._saving = asyncio.create_task(self.save())
                await asyncio.shield(self._saving)  # a transaction that has begun is not left behind when the run is cancelled

    async def save(self) -> None:
        """Store all that has been taken in.

        Raises:
            StoreError: the store cannot be written.
        """
        outcomes, self._outcomes = self._outcomes, []
        calls, self._calls = self._calls, []
        self.run = self.run._replace(units=self._tally.units)
        rows = verdicts_of(self.run, self._rubric.answers, outcomes)
        await asyncio.to_thread(save, self._store, Progressed(self.run, self._replaces), rows, calls)

    async def finish(self, status: RunStatus) -> None:
        """Store the rest, and that the run has ended.

        Raises:
            StoreError: the store cannot be written.
        """
        if self._saving is not None:
            await self._saving
        self.run = self.run._replace(finished_at=now(), status=status)
        await self.save()


_PROGRESS_EVERY_S = 0.1
_CHUNK = 64
"""Calls that are found at a time."""
_READ_AHEAD = 512
"""Calls that are found before they are made: most runs know soon how much there is to do, and no run fills the memory."""


def run(request: JudgeRequest, store: Store, on_progress: OnProgress | None = None) -> JudgeReport:
    """Have a judge answer a rubric's questions about the selected units; every answer ends up in `verdicts` exactly once.

    Args:
        request: what to ask of whom.
        store: where the games are and the verdicts go; open only for short transactions.
        on_progress: reported a few times a second how far the run is.

    Raises:
        HopelessError: no request can succeed (bad key, no such model, no server).
        StoreError: the store or the journal cannot be read or written.
        UsageError: the request contradicts itself, or the same job is under way on this store.
        KeyboardInterrupt: Ctrl-C; what had been answered is in the store and the run can be started again.
    """
    store.update()
    if request.settings is None:
        return run_engine(request, store, on_progress)
    job = _ModelRun(request, request.settings, store, on_progress)
    calls = job.prepare()  # outside of the event loop, which would let Ctrl-C wait for the end of it
    return job.nothing_to_ask() if calls is None else run_to_end(job.go(calls))


def together(requests: Sequence[JudgeRequest]) -> list[list[JudgeRequest]]:
    """The jobs, those of the engine that can look at each game together in one list; each at the place of its first."""
    groups: list[list[JudgeRequest]] = []
    for request in requests:
        group = next((group for group in groups if can_share_games(request) and _are_alike(group[0], request)), None)
        if group is None:
            groups.append([request])
        else:
            group.append(request)
    return groups


def _are_alike(first: JudgeRequest, other: JudgeRequest) -> bool:
    return can_share_games(first) and first.reader == other.reader


def run_together(requests: Sequence[JudgeRequest], store: Store, on_progress: OnProgress | None = None) -> list[JudgeReport]:
    """Run one of the lists that `together` gives, as `run` does; gives a report for each job, with the time that all took."""
    if len(requests) == 1:
        return [run(requests[0], store, on_progress)]
    store.update()
    return run_engine_together(requests, store, on_progress)


class _ModelRun:
    """One run of one model over one rubric."""

    def __init__(self, request: JudgeRequest, settings: ModelSettings, store: Store, on_progress: OnProgress | None) -> None:
        self._request, self._settings, self._store, self._on_progress = request, settings, store, on_progress
        self._price = request.price(settings)
        self._maker, self._outcomes = PromptMaker(request.rubric), Outcomes(request.rubric)
        self._queue: asyncio.Queue[OpenCall | None] = asyncio.Queue(_READ_AHEAD)
        self._out_of_money = False
        self._usage = Usage()
        self._reported_at = 0.0
        self._began = time.monotonic()

    def prepare(self) -> Iterator[OpenCall] | None:
        """Find the first call and open the journal; None if there is nothing to ask."""
        with starting(self._store) as folder:
            run = new_run(self._request, self._price)
            self._recovered = take_up(self._store, folder, run)
            if any(folder.glob(f"*{ENDING}")):
                refuse_if_pending(folder, run)
            with self._store.reading():  # one opening for all queries of the plan
                known = found_answers(self._store, run)
                calls = OpenCalls(self._request, self._maker, self._store, known)
                found = iter(calls)
                first = list(islice(found, 1))
            self._tally = calls.tally
            self._recorder = Recorder(self._store, self._request.rubric, run, self._tally, "failed" if known.some_failed else "nothing")
            if not first:
                return None
            self._journal = Journal(folder / f"{run.judge_run_id}.jsonl", JournalHead(run, self._request.rubric, os.getpid()), JournalEntry)
            return chain(first, found)

    def nothing_to_ask(self) -> JudgeReport:
        return self._report(run_id=None)

    async def go(self, calls: Iterator[OpenCall]) -> JudgeReport:
        status: RunStatus | None = None
        try:
            async with self._request.asker(self._settings, self._journal, self._usage) as self._asker:
                await self._recorder.save()  # before the first call is paid: can the store be written?
                status = "interrupted"
                await self._score(calls)
                status = "stopped_by_budget" if self._out_of_money else "finished"
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            if status is None:
                await self._journal.close(delete=True)
            else:
                self._tell()
                self._recorder.learned(self._asker.learned)
                await self._finish(status)
        return self._report(run_id=self._recorder.run.judge_run_id)

    async def _score(self, calls: Iterator[OpenCall]) -> None:
        async with asyncio.TaskGroup() as tasks:
            saver = tasks.create_task(self._recorder.save_regularly())
            workers = [tasks.create_task(self._work()) for _ in range(self._request.concurrency)]
            await self._feed(calls)
            await asyncio.gather(*workers)
            saver.cancel()

    async def _feed(self, calls: Iterator[OpenCall]) -> None:
        """Find the calls; those that no money is left for are only counted."""
        while chunk := await asyncio.to_thread(lambda: list(islice(calls, _CHUNK))):
            for call in chunk:
                if not self._out_of_money:
                    await self._queue.put(call)
        for _ in range(self._request.concurrency):
            await self._queue.put(None)

    async def _work(self) -> None:
        while (call := await self._queue.get()) is not None:
            if self._out_of_money:
                continue
            asked = about(*call)
            if not call.prompt.applies or not call.asks:
                self._record(self._outcomes.settled(asked) if call.prompt.applies else self._outcomes.skipped(asked))
                continue
            reply = await self._asker.ask(self._question(call, asked))
            if reply.call.status != "unasked":
                self._record(self._outcomes.of_reply(asked, reply))
                continue
            self._out_of_money = True
            if reply.call.attempts:
                self._recorder.spend(reply.call)

    def _question(self, call: OpenCall, asked: About) -> Request:
        unit = call.unit
        return Request(
            messages=self._maker.messages(call.prompt, call.asks),
            form=self._outcomes.form(asked),
            sample=call.repeat,
            purpose="judge",
            run=self._recorder.run.judge_run_id,
            episode_id=unit.episode_id,
            turn=unit.turn,
            agent=unit.agent,
            note=asked,
        )

    def _record(self, outcome: CallOutcome) -> None:
        self._recorder.add(outcome)
        at = time.monotonic()
        if at - self._reported_at >= _PROGRESS_EVERY_S or self._recorder.done == self._tally.calls:
            self._reported_at = at
            self._tell()

    def _tell(self) -> None:
        if self._on_progress is not None:
            done, total, failed = self._recorder.done, self._tally.calls, self._recorder.counts["failed"]
            self._on_progress(RunProgress(done=done, total=total, failed=failed, cost=self._recorder.run.cost))

    async def _finish(self, status: RunStatus) -> None:
        """Bring the rest into the store. If that fails, the journal stays, and the next start stores what is in it."""
        stored = False
        try:
            await self._recorder.finish(status)
            stored = True
        finally:
            await self._journal.close(delete=stored)

    def _report(self, *, run_id: str | None) -> JudgeReport:
        run, counts, tally = self._recorder.run, self._recorder.counts, self._tally
        return JudgeReport(
            judge_run_id=run_id,
            status="finished" if run_id is None else run.status,  # type: ignore[arg-type]
            units=tally.units,
            answered_before=tally.answered_before,
            recovered=self._recovered,
            answered=counts["answered"],
            undecided=counts["undecided"],
            failed=counts["failed"],
            skipped=counts["skipped"],
            from_cache=self._recorder.from_cache,
            requests=run.calls,
            timed_out=self._usage.timed_out,
            tokens_in=run.tokens_in,
            tokens_out=run.tokens_out,
            cost=run.cost,
            seconds=time.monotonic() - self._began,
            first_error=self._recorder.first_error,
        )
