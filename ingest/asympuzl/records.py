"""The lines of an AsymPuzl log as typed records (format: docs/asympuzl.md).

Types are strict: a number in quotes is not a number. What a line cannot do without is required; the rest may be missing, and is then null.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from games.asympuzl.answer import FAULTS, RequestedAction
from games.asympuzl.feedback import FeedbackMode
from games.asympuzl.puzzle import MAX_SIZE, Agent, Entry, Puzzle

__all__ = ["ActionRecord", "EntryRecord", "GameRecord", "ResultRecord", "TurnRecord", "entries"]

Int = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Count = Annotated[int, Field(ge=0, lt=2**31)]
Turn = Annotated[int, Field(ge=1, lt=2**31)]
_Size = Annotated[int, Field(ge=1, le=MAX_SIZE)]


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class EntryRecord(_Record):
    """What stands at a position."""

    shape: str
    color: str | None = None


def entries(records: Iterable[EntryRecord]) -> tuple[Entry, ...]:
    """The entries in the spelling that the rules compare: trimmed, lower case."""
    return tuple(Entry(_word(record.shape), None if record.color is None else _word(record.color)) for record in records)


def _word(text: str) -> str:
    return text.strip().lower()


class GameRecord(_Record):
    """The first line of a game."""

    model_config = ConfigDict(strict=True, extra="allow")

    schema_: str = Field(alias="schema")
    run_id: str
    game_id: str
    size: _Size
    seed: Int | None = None
    max_turns: Count | None = None
    history_length: Count | None = None
    feedback_mode: FeedbackMode
    model_a: str
    model_b: str
    temperature: float | int | None = None
    max_output_tokens: Count | None = None
    tokenizer: str | None = None
    scripted: bool = False
    truth: list[EntryRecord]
    clues_a: list[EntryRecord]
    clues_b: list[EntryRecord]

    @model_validator(mode="after")
    def _as_many_as_positions(self) -> Self:
        for name in ("truth", "clues_a", "clues_b"):
            listed = len(getattr(self, name))
            if listed != self.size:
                raise ValueError(f"{name} has {listed} entries, the puzzle {self.size} positions")
        return self

    def puzzle(self) -> Puzzle:
        """The puzzle as logged."""
        return Puzzle(entries(self.truth), entries(self.clues_a), entries(self.clues_b))


class ActionRecord(_Record):
    """An action as the log's own game understood it."""

    replace: Any = None
    shape: str | None = None
    color: str | None = None
    valid: bool
    reason: str | None = None
    index: Int | None = None
    before: EntryRecord | None = None
    after: EntryRecord | None = None
    changed: bool | None = None
    right_before: bool | None = None
    right_after: bool | None = None

    def request(self) -> RequestedAction:
        """The action for the rules; an invalid one whose reason they do not know counts as wrong in form."""
        place = self.replace if isinstance(self.replace, int) and not isinstance(self.replace, bool) else None
        shape, color = (None if text is None else _word(text) for text in (self.shape, self.color))
        if self.valid and place is not None and shape is not None and color is not None:
            return RequestedAction(place, shape, color, None)
        return RequestedAction(place, shape, color, next((fault for fault in FAULTS if fault == self.reason), "bad_structure"))


class TurnRecord(_Record):
    """An agent's turn."""

    game_id: str
    turn: Turn
    agent: Agent
    raw_output: str
    parse_ok: bool | None = None
    parse_strict: bool | None = None
    message_ok: bool | None = None
    actions_ok: bool | None = None
    message: str
    actions: list[ActionRecord]
    hypothesis_after: list[EntryRecord]
    own_ok_after: bool | None = None
    wrong_after: list[Int] | None = None
    feedback: dict[str, Any] | None = None
    received: list[Any] | None = None
    output_tokens: Count | None = None
    message_tokens: Count | None = None


class ResultRecord(_Record):
    """The last line of a game."""

    type: Literal["result"]
    game_id: str
    solved: bool
    turns: Count | None = None
    solved_turn: Turn | None = None
    solved_turn_a: Turn | None = None
    solved_turn_b: Turn | None = None
    writes_a: Sequence[Int] | None = None
    writes_b: Sequence[Int] | None = None
    changes_a: Sequence[Int] | None = None
    changes_b: Sequence[Int] | None = None
