"""What is asked of a judge, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from judges.evidence.reader import BY_RULES, Reader
from judges.rubric.model import Rubric
from providers.messages import Message
from providers.provider import ModelSettings

RunStatus = Literal["running", "finished", "stopped_by_budget", "interrupted"]


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeRequest:
    """One scoring job."""

    rubric: Rubric
    """With the variant in force, if any."""
    settings: ModelSettings | None = None
    """The model that judges; None: the engine."""
    more_endpoints: tuple[ModelSettings, ...] = ()
    """The same model at other servers, or with other keys; calls are shared out among all of them (`providers.endpoints.endpoint`)."""
    cache: Path | None = None
    """File or folder of answers by content, which other stores may share; None: every unit is asked about."""
    repeats: int | None = None
    """How often each unit is asked; None: as the rubric says. The engine answers once."""
    where: str | None = None
    """SQL condition over `episodes` and `turns`; None: everything of the rubric's benchmarks."""
    concurrency: int = 32
    """Calls under way at once."""
    max_cost: float | None = None
    """USD that this run may spend; None: no limit."""
    prices: Path | None = None
    """A price file of the user's own, looked at before the built-in one."""
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
    answered_before: int
    """Calls whose answers stood in the store already."""
    recovered: int
    """Calls whose answers an interrupted run had left in its journal; they stand in the store now."""
    answered: int
    """Verdicts with an answer, N/A included."""
    undecided: int
    """Verdicts."""
    failed: int
    """Verdicts."""
    skipped: int
    """Verdicts."""
    from_cache: int
    """Calls whose answers were taken from the cache."""
    requests: int
    """HTTP requests, retries and re-asks included."""
    timed_out: int
    """Those of them without a complete reply in time."""
    tokens_in: int | None
    """None if the server has not counted all tokens."""
    tokens_out: int | None
    cost: float | None
    """USD; None if the model has no price."""
    seconds: float
    first_error: str | None
    """Why the first failed verdict failed; None if none did."""
