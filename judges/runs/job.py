"""What is asked of a judge, which calls that takes, and what came of it."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

import orjson

from judges.evidence.pieces import UnitContext
from judges.evidence.prompt import Prompt, PromptMaker
from judges.evidence.selection import selected_units
from judges.evidence.transcript import BY_RULES, Reader, first_found
from judges.evidence.units import Unit, later_pieces, select
from judges.rubric import Rubric
from judges.runs.outcomes import KnownCalls, found_answers
from providers.asker import ModelJob, now
from providers.prices import Price, TokenEstimate, price_of
from providers.provider import ModelSettings
from schemas.chat.messages import Message
from schemas.records import Json, JudgeRun
from schemas.store.store import Store

RunStatus = Literal["running", "finished", "stopped_by_budget", "interrupted"]


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeRequest(ModelJob):
    """One scoring job."""

    rubric: Rubric
    """With the variant in force, if any."""
    settings: ModelSettings | None = None
    """The model that judges; None: the engine."""
    repeats: int | None = None
    """How often each unit is asked; None: as the rubric states. The engine answers once."""
    where: str | None = None
    """SQL condition over `episodes` and `turns`; None: everything of the rubric's benchmarks."""
    reader: Reader = BY_RULES
    """Who reads texts for the engine."""

    @property
    def judge(self) -> str:
        """As in the column `verdicts.judge`."""
        return self.reader.judge if self.settings is None else f"llm:{self.settings.model}"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunProgress:
    """How far a run is."""

    done: int
    """Calls (of the engine: units) that are through, skipped ones included."""
    total: int
    failed: int
    cost: float | None
    """USD so far; None if the model has no price."""


OnProgress = Callable[[RunProgress], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunPlan:
    """What a run would do."""

    units: int
    """Units that the rubric has in the selection."""
    calls: int
    """Calls to make: a call is a unit, a group of questions with the same visible evidence, and a repeat."""
    answered_before: int
    """Calls that need not be made because their answers stand in the store."""
    skipped: int
    """Calls not to be made because there is nothing to judge in the unit."""
    settled: int
    """Calls not to be made because none of their questions applies, as the log shows (`na_if`)."""
    tokens_in: int
    """Estimate."""
    tokens_out: int
    """Estimate."""
    cost: float | None
    """Estimate, USD; None if the model has no price."""
    later: Mapping[str, int]
    """Piece -> in how many of the first units it shows what comes after the unit (`judges.evidence.units`); others are left out."""
    looked_at: int
    """How many units that were."""
    example: list[Message]
    """The first prompt in full; empty if there is nothing to ask."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeReport:
    """What came of a run."""

    judge_run_id: str | None
    """None if there was nothing to do."""
    status: RunStatus
    units: int
    """Units of the selection."""
    answered_before: int = 0
    """Calls whose answers stood in the store already."""
    recovered: int = 0
    """Calls whose answers an interrupted run had left in its journal; they stand in the store now."""
    answered: int
    """Verdicts with an answer, N/A included."""
    undecided: int
    """Verdicts."""
    failed: int
    """Verdicts."""
    skipped: int
    """Verdicts."""
    from_cache: int = 0
    """Calls whose answers were taken from the cache."""
    requests: int = 0
    """HTTP requests, retries and re-asks included."""
    timed_out: int = 0
    """Those of them without a complete reply in time."""
    tokens_in: int | None = 0
    """None if the server has not counted all tokens."""
    tokens_out: int | None = 0
    cost: float | None = None
    """USD; None if the model has no price."""
    seconds: float
    first_error: str | None
    """Why the first failed verdict failed; None if none did."""


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
        UsageError: the selection is not SQL.
    """

    def __init__(self, request: JudgeRequest, maker: PromptMaker, store: Store, known: KnownCalls) -> None:
        self._request, self._maker, self._store, self._known = request, maker, store, known
        self._selection = select(store, request.rubric, request.where)
        self._questions = [tuple(question.id for question in group.questions) for group in maker.groups]
        self.tally = Tally()

    def __iter__(self) -> Iterator[OpenCall]:
        repeats = range(1, (self._request.repeats or self._request.rubric.repeats) + 1)
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


_LOOKED_AT: Final = 300
"""Units of a plan whose evidence is searched for what comes after them."""


def plan(request: JudgeRequest, store: Store) -> RunPlan:
    """What the run would do, without asking anything and without writing anything.

    Raises:
        StoreError: the store cannot be opened.
        UsageError: the selection is not SQL, or a price file is malformed.
    """
    maker = PromptMaker(request.rubric)
    with store.reading():  # one opening for all queries before the first call
        calls = OpenCalls(request, maker, store, found_answers(store, new_run(request, price=None)))
        found = first_found(calls)
    estimate, tokens_in, tokens_out = TokenEstimate(), 0.0, 0
    example: list[Message] = []
    looked_at: dict[str, UnitContext] = {}
    for call in found:
        if call.prompt.applies and len(looked_at) < _LOOKED_AT:
            looked_at.setdefault(call.unit.unit_id, call.unit.context)
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
        later=later_pieces(request.rubric, looked_at.values()),
        looked_at=len(looked_at),
        example=example,
    )


def new_run(request: JudgeRequest, price: Price | None) -> JudgeRun:
    """The row of a run that is about to start."""
    settings = request.settings
    parameters = {
        "answering": settings.answering() if settings else {},
        "questions": request.rubric.question_hashes(),
        "repeats": (request.repeats or request.rubric.repeats),
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
