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
from providers.messages import Message
from providers.prices import Price, TokenEstimate, price_of
from providers.request import now
from schemas.records import Json, JudgeRun
from schemas.store import Store

__all__ = ["OpenCall", "OpenCalls", "Tally", "new_run", "plan"]

_TOKENS_A_QUESTION = 45
"""A reason of one sentence and an answer, for the estimate of a dry run."""


class OpenCall(NamedTuple):
    """A call to be made: a unit, a group of questions, a repeat."""

    unit: Unit
    prompt: Prompt
    repeat: int


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
        self._first_questions = [group.questions[0].id for group in maker.groups]
        """What tells whether a call of which nothing is asked was recorded."""
        self.tally = Tally()

    def __iter__(self) -> Iterator[OpenCall]:
        repeats = range(1, _repeats(self._request) + 1)
        for unit in selected_units(self._store, self._request.rubric, self._selection):
            self.tally.units += 1
            for prompt in self._maker.prompts(unit):
                open_repeats = [n for n in repeats if not self._is_known(unit, prompt, n)]
                self._count(prompt, len(open_repeats), len(repeats))
                yield from (OpenCall(unit, prompt, n) for n in open_repeats)

    def _is_known(self, unit: Unit, prompt: Prompt, repeat: int) -> bool:
        question = prompt.asks[0] if prompt.asks else self._first_questions[prompt.group]
        return (unit.unit_id, prompt.unit_hash, repeat, question) in self._known.answers

    def _count(self, prompt: Prompt, still_open: int, repeats: int) -> None:
        self.tally.calls += still_open
        self.tally.answered_before += repeats - still_open
        self.tally.skipped += 0 if prompt.applies else still_open
        self.tally.settled += still_open if prompt.applies and not prompt.asks else 0


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
        if call.prompt.applies and call.prompt.asks and request.settings is not None:
            messages = maker.messages(call.prompt)
            example = example or messages
            tokens_in += estimate.tokens(sum(len(message["content"]) for message in messages))
            tokens_out += _TOKENS_A_QUESTION * len(call.prompt.asks)
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
