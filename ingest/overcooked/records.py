"""The parts of a published Collab-Overcooked log, typed (formats/overcooked.md, section 8)."""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, UnsetType, field
from msgspec.json import Decoder
from pydantic import Field

from ingest.reading.json_text import loads
from ingest.reading.records import Int, Pair, Record, checked, read_fast

__all__ = [
    "CommunicationRecord",
    "CorrectionRecord",
    "ErrorRecord",
    "LogRecord",
    "MessageRecord",
    "StepRecord",
    "TimedAction",
    "read_log",
    "read_step",
]

_Agent = Annotated[int, Field(ge=0, le=1), Meta(ge=0, le=1)]


class TimedAction(Record):
    """An action that the engine recorded."""

    timestamp: Int
    action: str


class MessageRecord(Record):
    """One model output."""

    agent: _Agent
    analysis: str = ""
    say: str = ""
    plan: str = ""


class ErrorCount(Record):
    """Errors of one kind in a step."""

    error_num: Int = 0
    error_message: list[str] = field(default_factory=list)


class ErrorRecord(Record):
    """An agent's errors in a step."""

    format_error: ErrorCount = field(default_factory=ErrorCount)
    validator_error: ErrorCount = field(default_factory=ErrorCount)


class CorrectionCount(Record):
    """Corrections of one kind in a step."""

    correction_num: Int = 0
    correction_tokens: list[Int] = field(default_factory=list)
    reflection_obtain: list[Any] = field(default_factory=list)


class CorrectionRecord(Record):
    """An agent's corrections in a step."""

    format_correction: CorrectionCount = field(default_factory=CorrectionCount)
    validator_correction: CorrectionCount = field(default_factory=CorrectionCount)


class CommunicationRecord(Record):
    """The conversation that an agent opened in a step."""

    call: Int = 0
    turn: list[str] = field(default_factory=list)
    token: list[Int] = field(default_factory=list)


class StatisticsRecord(Record, kw_only=True):
    """What the engine counted in a step."""

    score: float = 0
    communication: Pair[CommunicationRecord]
    error: Pair[ErrorRecord]
    error_correction: list[CorrectionRecord] = field(default_factory=list)


class ContentRecord(Record, kw_only=True):
    """What was shown and said in a step."""

    observation: list[Any] = field(default_factory=list)
    reflection: list[Any] = field(default_factory=list)
    content: Pair[list[MessageRecord]]
    action_list: list[list[str]] = field(default_factory=list)


class StepRecord(Record, kw_only=True):
    """A timestep."""

    timestamp: Int
    order_list: list[str] | UnsetType = UNSET
    actions: Pair[str]
    map: str = ""
    statistical_data: StatisticsRecord
    content: ContentRecord


class PlayerRecord(Record):
    """A player of a game that cotrace played."""

    model: str
    persona: str | None = None


class LabelRecord(Record):
    """A planted answer."""

    timestep: Int
    agent: _Agent
    rubric: str
    question: str
    answer: str


class OwnRecord(Record, kw_only=True):
    """What cotrace's own games add to the log."""

    version: Int = 1
    players: Pair[PlayerRecord]
    seed: Int | None = None
    horizon: Int
    rules: str
    order: str
    kitchen: dict[str, Any] | None = None
    """A kitchen of one's own; None: the published one."""
    complete: bool
    labels: list[LabelRecord] = field(default_factory=list)


class LogRecord(Record, kw_only=True):
    """A log, its steps still raw."""

    total_timestamp: list[Int]
    total_order_finished: list[str] = field(default_factory=list)
    total_score: float = 0
    total_action_list: Pair[list[TimedAction]]
    content: list[Any]
    cotrace: OwnRecord | None = None


class _WholeLog(LogRecord, kw_only=True):
    """A log all of whose steps can be read."""

    content: list[StepRecord]


_WHOLE: Final = Decoder(_WholeLog)


def read_log(data: bytes) -> LogRecord:
    """Read a log, its steps too if nothing is wrong with any.

    Raises:
        BadInputError: the bytes are no JSON.
        pydantic.ValidationError: they are no such log.
    """
    return read_fast(_WHOLE, data) or checked(LogRecord, loads(data))


def read_step(raw: Any) -> StepRecord:
    """Read a step.

    Raises:
        pydantic.ValidationError: it is not laid out as one.
    """
    return raw if isinstance(raw, StepRecord) else checked(StepRecord, raw)
