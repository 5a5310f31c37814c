"""Which calls a run has to make, and what they will take."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

import orjson

from judges.evidence.prompt import Prompt, PromptMaker
from judges.evidence.unit_sources import selected_units
from judges.evidence.units import Unit, select
from judges.runs.job import JudgeRequest, RunPlan
from judges.runs.verdict_store import KnownCalls, found_answers
from providers.asker import now
from providers.messages import Message
from providers.prices import Price, TokenEstimate, price_of
from schemas.records import Json, JudgeRun
from schemas.store import Store

_TOKENS_A_QUESTION = 45
"""A reason of one sentence and an answer, for the estimate of a dry run."""


class OpenCall(NamedTuple):
    """A call to be made: a unit, a group of questions, a repeat."""

    unit: Unit
    prompt: Prompt
    repeat: int
    asks: tuple[str, ...]
    """Questions of the group that have no answer yet."""
    settled: tuple[tuple[str, str], ...]
    """Questions without a verdict that need no answer, each with the condition by which it does not apply."""


@dataclass(slots=True)
class Tally:
    """How much there is to do, as far as it has been looked."""

    units: int = 0
    calls: int = 0
    """Skipped ones included."""
    skipped: int = 0
    settled: int = 0
    """Calls that are not made because none of their questions applies, as the log shows."""
    answered_before: int = 0


class OpenCalls:
    """The calls that a job still has to make, found one after the other; every game is loaded and shown once.

    Repeats of a prompt come one after the other, so that a provider's cache serves them.

    Raises:
        StoreError: the store cannot be opened.
        UsageError: the selection is no SQL.
    """

    def __init__(self, request: JudgeRequest, maker: PromptMaker, store: Store, known: KnownCalls) -> None:
        self._request, self._maker, self._store, self._known = request, maker, store, known
        self._selection = select(store, request.rubric, request.where)
        self._questions = [tuple(question.id for question in group.questions) for group in maker.groups]
        self.tally = Tally()

    def __iter__(self) -> Iterator[OpenCall]:
        repeats = range(1, _repeats(self._request) + 1)
        for unit in selected_units(self._store, self._request.rubric, self._selection):
            self.tally.units += 1
            for prompt in self._maker.prompts(unit):
                calls = [self._call(unit, prompt, n) for n in repeats]
                still_open = [call for call in calls if call.asks or call.settled]
                self._count(still_open, len(repeats))
                yield from still_open

    def _call(self, unit: Unit, prompt: Prompt, repeat: int) -> OpenCall:
        key, known = (unit.unit_id, prompt.unit_hash, repeat), self._known.answers
        unanswered = [question for question in self._questions[prompt.group] if (*key, question) not in known]
        settled = tuple((question, prompt.settled[question]) for question in unanswered if prompt.applies and question in prompt.settled)
        return OpenCall(unit, prompt, repeat, tuple(question for question in unanswered if question not in dict(settled)), settled)

    def _count(self, still_open: list[OpenCall], repeats: int) -> None:
        self.tally.calls += len(still_open)
        self.tally.answered_before += repeats - len(still_open)
        self.tally.skipped += sum(not call.prompt.applies for call in still_open)
        self.tally.settled += sum(call.prompt.applies and not call.asks for call in still_open)


def plan(request: JudgeRequest, store: Store) -> RunPlan:
    """What the run would do, without asking anything and without writing anything.

    Raises:
        StoreError: the store cannot be opened.
        UsageError: the selection is no SQL, or a price file is malformed.
    """
    maker = PromptMaker(request.rubric)
    calls = OpenCalls(request, maker, store, found_answers(store, new_run(request, price=None)))
    estimate, tokens_in, tokens_out = TokenEstimate(), 0.0, 0
    example: list[Message] = []
    for call in calls:
        if call.prompt.applies and call.asks and request.settings is not None:
            messages = maker.messages(call.prompt, call.asks)
            example = example or messages
            tokens_in += estimate.tokens(sum(len(message["content"]) for message in messages))
            tokens_out += _TOKENS_A_QUESTION * len(call.asks)
    tally, price = calls.tally, price_of(request.settings, request.prices) if request.settings else None
    return RunPlan(
        units=tally.units,
        calls=tally.calls - tally.skipped - tally.settled,
        answered_before=tally.answered_before,
        skipped=tally.skipped,
        settled=tally.settled,
        tokens_in=round(tokens_in),
        tokens_out=tokens_out,
        cost=price.cost(tokens_in, tokens_out) if price else None,
        example=example,
    )


def _repeats(request: JudgeRequest) -> int:
    return request.repeats or request.rubric.repeats


def new_run(request: JudgeRequest, price: Price | None) -> JudgeRun:
    """The row of a run that is about to start."""
    settings = request.settings
    parameters = {
        "answering": settings.answering() if settings else {},
        "questions": request.rubric.question_hashes(),
        "repeats": _repeats(request),
        "where": request.where,
        "concurrency": request.concurrency,
        "max_cost": request.max_cost,
        "server": urlsplit(settings.base_url).netloc.rpartition("@")[2] if settings and settings.base_url else None,
        "price": price._asdict() if price else None,
    }
    return JudgeRun(
        judge_run_id=f"judge-{secrets.token_hex(6)}",
        rubric=request.rubric.name,
        rubric_hash=request.rubric.hash,
        variant=request.rubric.variant,
        judge=request.judge,
        model=settings.model if settings else None,
        parameters=Json(orjson.dumps(parameters).decode()),
        started_at=now(),
        finished_at=None,
        units=0,
        calls=0,
        tokens_in=0,
        tokens_out=0,
        cost=0.0 if price else None,
        status="running",
    )
