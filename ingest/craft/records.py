"""The published CRAFT game log as typed records (formats: docs/formats/craft.md, section 3).

Types are strict: a number in quotes is not a number. Fields that cotrace has no use for (prompts of the builder, raw answers) are not
listed; fields that no published log has are counted by the adapter and named in the episode's details.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from games.craft.engine.board import CELLS, MAX_HEIGHT
from games.craft.engine.rules import Move

Int = Annotated[int, Field(ge=-(2**63), lt=2**63)]


def _no_tall_stack(structure: dict[str, list[str]]) -> dict[str, list[str]]:
    """The nine cells hold at most three blocks; stray cells that a badly written coordinate made can be taller."""
    tall = [cell for cell in CELLS if len(structure.get(cell, ())) > MAX_HEIGHT]
    if tall:
        raise ValueError(f"{tall[0]} holds {len(structure[tall[0]])} blocks, a stack has at most {MAX_HEIGHT}")
    return structure


Structure = Annotated[dict[str, list[str]], AfterValidator(_no_tall_stack)]
"""Cell name -> block codes, bottom to top."""

Layer = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,4}$")]
SpanPair = Annotated[list[str], Field(min_length=2, max_length=2)]
Spans = dict[Layer, list[SpanPair]]


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class ModelNames(_Record):
    """Who played."""

    director: str
    builder: str


class ExperimentInfo(_Record):
    """Conditions of a file; None where the log does not say."""

    model_config = ConfigDict(strict=True, extra="allow")

    timestamp: str | None = None
    dataset_path: str | None = None
    structure_index: Int | None = None
    max_turns: Annotated[Int, Field(ge=0)] | None = None
    models: ModelNames
    use_oracle: bool | None = None
    num_oracle: Annotated[Int, Field(ge=0)] | None = None
    builder_tool_use: bool | None = None
    run: Int | None = None
    max_tokens: Int | None = None
    partial_completion: str | None = None


class GameRecord(_Record):
    """One game, its turns still untyped: each is read on its own, so that a bad one costs only itself and what follows.

    A game that could not be set up has an ``error`` and neither target nor turns.
    """

    model_config = ConfigDict(strict=True, extra="allow")

    structure_id: str
    error: str | None = None
    complexity: str | None = None
    target_structure: Structure | None = None
    target_spans: Spans = {}
    target_director_views: dict[str, Any] = {}
    completed: bool | None = None
    turns_taken: Int | None = None
    final_progress: float | None = None
    final_structure: Structure | None = None
    final_spans: Spans | None = None
    stopping_reason: str | None = None
    start_board: Annotated[str | None, Field(alias="partialCompletionCategory")] = None
    d1_archetype: Annotated[str | None, Field(alias="D1 Archetype")] = None
    d2_archetype: Annotated[str | None, Field(alias="D2 Archetype")] = None
    d3_archetype: Annotated[str | None, Field(alias="D3 Archetype")] = None
    turns: list[Any] = []


class ResponseRecord(_Record):
    """A director's last thought and message of a turn."""

    internal_thinking: str
    public_message: str
    raw_response: str | None = None
    """The whole answer; empty where the call failed."""


class MoveRecord(_Record):
    """A move; ``block`` is absent on removals that the engine has not completed."""

    action: str
    block: str | None = None
    position: str
    layer: Int
    span_to: str | None = None
    confirmation: str | None = None

    def move(self) -> Move:
        """The move itself."""
        return Move(self.action, self.block, self.position, self.layer, self.span_to)


class ProgressRecord(_Record):
    """Scores after an accepted move, or the engine's refusal."""

    error: str | None = None
    metrics: dict[str, float] = {}
    structure_snapshot: Structure | None = None
    turn_number: Int | None = None
    move: MoveRecord | None = None
    progress_delta: float | None = None
    """Since the accepted move before; 0 of the first one."""


class TurnRecord(_Record):
    """One turn; which fields are there tells what kind of turn it was."""

    turn_number: Annotated[Int, Field(ge=1)]
    timestamp: str | None = None
    structure_before: Structure
    spans_before: Spans = {}
    director_responses: dict[str, ResponseRecord] = {}
    clarification: str | None = None
    move_executed: bool | None = None
    failed_move: bool | None = None
    builder_confirmation: str | None = None
    builder_move_raw: MoveRecord | None = None
    move_attempted: MoveRecord | None = None
    progress_data: ProgressRecord | None = None
    oracle_moves: list[MoveRecord] | None = None
    builder_followed_oracle: bool | None = None
    correct_structure_placement: bool | None = None
    correct_side_placement: bool | None = None
    overall_structure_correctness: bool | None = None
    target_achieved: bool | None = None
    director_discussion_full: str | None = None
    """What the builder read of the turn."""

    conversation_snapshot: list[str] | None = None
    """The shared history after the turn."""

    error: str | None = None


TURN_FIELDS: Final = frozenset(TurnRecord.model_fields) | {
    "builder_prompt",
    "director_prompt_D1",
    "director_prompt_D2",
    "director_prompt_D3",
}
"""Every field a published turn can have."""
