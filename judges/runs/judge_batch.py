"""Judging in a provider's batch: submit a file of requests, go away, collect the replies later, at the provider's lower price.

The same calls, prompts, answer types and rows as those of `judges.runs.runner`; nothing is asked twice whose answer is in the store or in a
batch under way. Costs are by the price file, which knows no discount for batches.
"""

import os
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import TypeAdapter

from judges.evidence.prompt import PromptMaker
from judges.rubric import Rubric
from judges.runs import batches
from judges.runs.batches import BatchReply, Submission
from judges.runs.job import JudgeRequest, OpenCalls, new_run
from judges.runs.outcomes import (
    About,
    CallOutcome,
    JournalHead,
    Outcomes,
    Progressed,
    about,
    found_answers,
    recover,
    save,
    take_up,
    verdicts_of,
)
from providers.asker import Request, now
from providers.forms import ModelQuestion
from schemas.common.errors import UsageError
from schemas.records import JudgeRun
from schemas.store.journal import starting
from schemas.store.store import Store


class BatchJob(NamedTuple):
    """What a batch is for."""

    run: JudgeRun
    rubric: Rubric
    calls: list[About]
    """Each request is called by its place in this list."""

    def head(self) -> JournalHead:
        """The part that a journal has too."""
        return JournalHead(self.run, self.rubric, os.getpid())


_KIND: Final[TypeAdapter[Submission[BatchJob]]] = TypeAdapter(Submission[BatchJob])
pending_batches: Final = partial(batches.pending, _KIND)
write_record: Final = partial(batches.write, _KIND)


def refuse_if_pending(folder: Path, about_to_start: JudgeRun) -> None:
    """See that nothing is asked that a batch is being asked already.

    Raises:
        UsageError: a batch that will give the same verdicts was submitted and not collected.
    """
    for _, sent in pending_batches(folder):
        run = sent.job.run
        if sent.job.head().is_same_job(about_to_start):
            raise UsageError(
                f"a batch with rubric {run.rubric} for {run.judge} is under way ({sent.batch_id}): "
                "get its answers first with cotrace judge --collect"
            )


class Submitted(NamedTuple):
    """What was submitted."""

    batch_id: str | None
    """None if there was nothing to ask."""
    calls: int
    skipped: int
    """Calls not made because there is nothing to judge in the unit."""
    left_out: int
    """Calls that `max_cost` did not allow."""


class Collected(NamedTuple):
    """What came of a batch."""

    batch_id: str | None
    """None: it had never reached the provider."""
    rubric: str
    judge: str
    status: str
    """As the provider states; `lost` if it does not know the batch."""
    done: int
    """Requests that the provider is through with."""
    calls: int
    answered: int
    """Calls; 0 while the batch is under way."""
    failed: int
    """Calls; they and those that the provider never came to are asked again at the next start."""


def submit(request: JudgeRequest, store: Store) -> Submitted:
    """Submit all calls of the job that are not answered.

    Raises:
        CotraceError: the provider does not take the batch.
        StoreError: the store cannot be read or written.
        UsageError: no such provider has batches, the request contradicts itself, or a batch of the same job is under way.
    """
    settings = request.settings
    if settings is None:
        raise UsageError("--batch is for models: the engine answers at once, leave it out")
    batches.refuse_without_batches(settings)
    store.update()
    maker, price = PromptMaker(request.rubric), request.price(settings)
    run, outcomes = new_run(request, price)._replace(status="submitted"), Outcomes(request.rubric)
    with starting(store) as folder:
        take_up(store, folder, run)
        refuse_if_pending(folder, run)
        with store.reading():  # one opening for all queries of the plan
            calls = list(OpenCalls(request, maker, store, found_answers(store, run)))
        skipped = [outcomes.skipped(about(*call)) for call in calls if not call.prompt.applies]
        known = [outcomes.settled(about(*call)) for call in calls if call.prompt.applies and not call.asks]
        open_calls = [call for call in calls if call.prompt.applies and call.asks]
        questions = [
            ModelQuestion(messages=maker.messages(call.prompt, call.asks), form=outcomes.form(about(*call))) for call in open_calls
        ]
        asked = batches.affordable(request.max_cost, questions, settings, price)
        counts = asked, len(skipped), len(open_calls) - asked
        run = run._replace(units=len({call.unit.unit_id for call in calls}))
        if asked or skipped or known:
            state = run if asked else run._replace(status="finished", finished_at=now())
            save(store, Progressed(state, replaces="nothing"), verdicts_of(run, request.rubric.answers, [*skipped, *known]))
        if not asked:
            return Submitted(None, *counts)
        job = BatchJob(run, request.rubric, [about(*call) for call in open_calls[:asked]])
        sent = Submission(job, run.judge_run_id, settings, price, run.started_at, [], None)
        return Submitted(batches.submit(_KIND, folder, sent, questions[:asked]), *counts)


def collect(store: Store) -> list[Collected]:
    """Store the answers of every batch that is done; those under way are only reported of.

    Raises:
        CotraceError: the provider cannot be reached.
        StoreError: the store cannot be written, or a record is damaged.
    """
    store.update()
    with starting(store) as folder:
        return [_collected(store, path, sent) for path, sent in list(pending_batches(folder))]


def _collected(store: Store, path: Path, sent: Submission[BatchJob]) -> Collected:
    found, job = batches.find(sent), sent.job
    brought: list[CallOutcome] = []
    if found.replies is not None:
        outcomes = Outcomes(job.rubric)
        brought = [_outcome(reply, sent, outcomes) for reply in found.replies]
        recover(store, path, job.head(), brought, "finished" if found.batch_id else "interrupted")
    answered = sum(one.status == "answered" for one in brought)
    reported = (found.batch_id, job.run.rubric, job.run.judge, found.status, found.done)
    return Collected(*reported, len(job.calls), answered, len(brought) - answered)


def _outcome(reply: BatchReply, sent: Submission[BatchJob], outcomes: Outcomes) -> CallOutcome:
    asked, run = sent.job.calls[reply.number], sent.job.run.judge_run_id
    form = outcomes.form(asked)
    request = Request(messages=(), form=form, purpose="judge", run=run, episode_id=asked.episode_id, turn=asked.turn, agent=asked.agent)
    call, _ = sent.taken(reply, request)
    return outcomes.of_record(asked, call, reply.completion)
