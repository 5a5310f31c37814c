"""Outcomes on their way into the store: saved now and then (`Store.save_every_s`), each time in one short transaction."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any

import orjson

from judges.rubric.model import Rubric
from judges.runs.job import RunStatus
from judges.runs.outcomes import CallOutcome
from judges.runs.planning import Tally
from judges.runs.verdict_store import Progressed, Replaces, save, verdicts_of
from providers.asker import added, now
from schemas.records import Call, Json, JudgeRun
from schemas.store import Store


class Recorder:
    """Takes in what came of a run's calls.

    Args:
        store: where it goes.
        rubric: whose questions are asked.
        run: as it starts.
        tally: how much there is to do, as far as it is known.
        replaces: which earlier verdicts go when the run's come.
    """

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
        """Calls that nobody had to be asked for."""
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
            tokens_in=added(run.tokens_in, call.tokens_in),
            tokens_out=added(run.tokens_out, call.tokens_out),
            cost=added(run.cost, call.cost),
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
