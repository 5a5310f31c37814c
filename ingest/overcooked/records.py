"""The parts of a published Collab-Overcooked log, typed (formats/overcooked.md, section 8)."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["ErrorRecord", "LogRecord", "MessageRecord", "StepRecord", "TimedAction"]

_T = TypeVar("_T")
_Pair = Annotated[list[_T], Field(min_length=2, max_length=2)]
"""One entry for the Chef, one for the Assistant."""


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class TimedAction(_Record):
    """An action that the engine recorded."""

    timestamp: int
    action: str


class MessageRecord(_Record):
    """One model output."""

    agent: Annotated[int, Field(ge=0, le=1)]
    analysis: str = ""
    say: str = ""
    plan: str = ""


class ErrorCount(_Record):
    """Errors of one kind in a step."""

    error_num: int = 0
    error_message: list[str] = Field(default_factory=list)


class ErrorRecord(_Record):
    """An agent's errors in a step."""

    format_error: ErrorCount = Field(default_factory=ErrorCount)
    validator_error: ErrorCount = Field(default_factory=ErrorCount)


class CorrectionCount(_Record):
    """Corrections of one kind in a step."""

    correction_num: int = 0
    correction_tokens: list[int] = Field(default_factory=list)
    reflection_obtain: list[Any] = Field(default_factory=list)


class CorrectionRecord(_Record):
    """An agent's corrections in a step."""

    format_correction: CorrectionCount = Field(default_factory=CorrectionCount)
    validator_correction: CorrectionCount = Field(default_factory=CorrectionCount)


class CommunicationRecord(_Record):
    """The conversation that an agent opened in a step."""

    call: int = 0
    turn: list[str] = Field(default_factory=list)
    token: list[int] = Field(default_factory=list)


class StatisticsRecord(_Record):
    """What the engine counted in a step."""

    score: float = 0
    communication: _Pair[CommunicationRecord]
    error: _Pair[ErrorRecord]
    error_correction: list[CorrectionRecord] = Field(default_factory=list)


class ContentRecord(_Record):
    """What was shown and said in a step."""

    observation: list[Any] = Field(default_factory=list)
    reflection: list[Any] = Field(default_factory=list)
    content: _Pair[list[MessageRecord]]
    action_list: list[list[str]] = Field(default_factory=list)


class StepRecord(_Record):
    """A timestep."""

    timestamp: int
    order_list: list[str] = Field(default_factory=list)
    actions: _Pair[str]
    map: str = ""
    statistical_data: StatisticsRecord
    content: ContentRecord


class PlayerRecord(_Record):
    """A player of a game that cotrace played."""

    model: str
    persona: str | None = None


class LabelRecord(_Record):
    """A planted answer."""

    timestep: int
    agent: Annotated[int, Field(ge=0, le=1)]
    rubric: str
    question: str
    answer: str


class OwnRecord(_Record):
    """What cotrace's own games add to the log."""

    version: int = 1
    players: _Pair[PlayerRecord]
    seed: int | None = None
    horizon: int
    rules: str
    order: str
    kitchen: dict[str, Any] | None = None
    """A kitchen of one's own; None: the published one."""
    complete: bool
    labels: list[LabelRecord] = Field(default_factory=list)


class LogRecord(_Record):
    """A log, its steps still raw."""

    total_timestamp: list[int]
    total_order_finished: list[str] = Field(default_factory=list)
    total_score: float = 0
    total_action_list: _Pair[list[TimedAction]]
    content: list[Any]
    cotrace: OwnRecord | None = None
