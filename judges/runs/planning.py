"""Which calls a run has to make, and what they will take."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import urlsplit

import orjson

from judges.evidence.prompt import Message, Prompt, PromptMaker
from judges.evidence.unit_sources import selected_units
from judges.evidence.units import Selection, Unit, select
from judges.runs.job import JudgeRequest, Plan
from judges.runs.verdict_store import Known, known_answers
from providers.prices import Price, TokenEstimate, price_of
from schemas.records import Json, JudgeRun
from schemas.store import Store

__all__ = ["Call", "Tally", "calls_to_make", "count", "new_run", "now", "plan"]

_TOKENS_A_QUESTION = 45
"""A reason of one sentence and an answer, for the estimate of a dry run."""


class Call(NamedTuple):
    """A unit, a group of questions, a repeat."""

    unit: Unit
    prompt: Prompt
    repeat: int


class Tally(NamedTuple):
    """How much there is to do; the fields are those of `Plan`, except that `calls` includes the skipped ones."""

    units: int
    calls: int
    answered_before: int
    skipped: int


def plan(request: JudgeRequest, store: Store) -> Plan:
    """What the run would do, without asking anything and without writing anything.

    Raises:
        StoreError: the store cannot be opened.
        UsageError: the selection is no SQL, or a price file is malformed.
    """
    maker, selection = PromptMaker(request.rubric), select(store, request.rubric, request.where)
    known = known_answers(store, new_run(request, price=None))
    tally = count(request, maker, store, selection, known)
    estimate, tokens_in, tokens_out = TokenEstimate(), 0.0, 0
    example: list[Message] = []
    for call in calls_to_make(request, maker, store, selection, known):
        if call.prompt.applies and request.settings is not None:
            messages = maker.messages(call.prompt)
            example = example or messages
            tokens_in += estimate.tokens(sum(len(message["content"]) for message in messages))
            tokens_out += _TOKENS_A_QUESTION * len(maker.groups[call.prompt.group].questions)
    price = price_of(request.settings.model, request.prices) if request.settings else None
    return Plan(
        units=tally.units,
        calls=tally.calls - tally.skipped,
        answered_before=tally.answered_before,
        skipped=tally.skipped,
        tokens_in=round(tokens_in),
        tokens_out=tokens_out,
        cost=price.cost(tokens_in, tokens_out) if price else None,
        example=example,
    )


def calls_to_make(request: JudgeRequest, maker: PromptMaker, store: Store, selection: Selection, known: Known) -> Iterator[Call]:
    """Calls still to be made, repeats of a prompt one after the other so that a provider's cache serves them."""
    for unit, prompt, repeats in _open_prompts(request, maker, store, selection, known):
        for repeat in repeats:
            yield Call(unit, prompt, repeat)


def count(request: JudgeRequest, maker: PromptMaker, store: Store, selection: Selection, known: Known) -> Tally:
    """How much there is to do, without doing it."""
    in_selection = prompts = calls = skipped = 0
    for _, prompt, repeats in _open_prompts(request, maker, store, selection, known):
        prompts += 1
        in_selection += prompt.group == 0
        calls += len(repeats)
        skipped += 0 if prompt.applies else len(repeats)
    return Tally(in_selection, calls, prompts * _repeats(request) - calls, skipped)


def _open_prompts(
    request: JudgeRequest, maker: PromptMaker, store: Store, selection: Selection, known: Known
) -> Iterator[tuple[Unit, Prompt, list[int]]]:
    """Every prompt of the selection with the repeats of it that are not answered."""
    numbers = range(1, _repeats(request) + 1)
    first_questions = [group.questions[0].id for group in maker.groups]
    for unit in selected_units(store, request.rubric, selection):
        for prompt in maker.prompts(unit):
            question = first_questions[prompt.group]
            yield unit, prompt, [n for n in numbers if (unit.unit_id, prompt.unit_hash, n, question) not in known.answers]


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


def now() -> datetime:
    """The time for the store: UTC, without a zone."""
    return datetime.now(UTC).replace(tzinfo=None)
