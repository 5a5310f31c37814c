"""Lines of the step logs of the four LLM-Coordination games as typed records (format: docs/coordination.md).

Types are strict. What a line cannot do without is required; the rest may be missing.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from games.coordination.players import Player

__all__ = ["Call", "CaptureStep", "EscapeStep", "HanabiStep", "KitchenStep", "Step"]

Count = Annotated[int, Field(ge=0, lt=2**31)]
Number = Annotated[int, Field(ge=1, lt=2**31)]
_Room = Annotated[str, Field(pattern=r"^room (?:10|[1-9])$")]
_CaptureRoom = Annotated[int, Field(ge=1, le=9)]


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class _Line(_Record):
    episode: str
    terminal: bool = False


class Call(_Record):
    """One request to a model, and its reply."""

    stage: Literal["tom", "generator", "verifier"]
    text: str


class KnownRecord(_Record):
    """What hints say about a card of one's own."""

    colors: str
    ranks: str
    color_hinted: bool
    rank_hinted: bool


class TableRecord(_Record):
    """The table of Hanabi."""

    life_tokens: Count
    information_tokens: Count
    deck_size: Count
    fireworks: dict[Literal["R", "Y", "G", "W", "B"], Count]
    discard_pile: list[str]
    hands: dict[Player, list[Annotated[str, Field(pattern="^[RYGWB][1-5]$")]]]
    knowledge: dict[Player, list[KnownRecord]]


class MoveRecord(_Record):
    """A move of Hanabi."""

    type: Literal["PLAY", "DISCARD", "REVEAL_COLOR", "REVEAL_RANK"]
    card_index: Count | None = None
    color: str | None = None
    rank: Count | None = None


class EffectRecord(_Record):
    """What the engine says a move did."""

    scored: bool | None = None
    information_token_gained: bool | None = None
    card: str | None = None
    touched_cards: list[Count] | None = None
    newly_revealed: list[Count] | None = None
    life_lost: Count | None = None


class HanabiStep(_Line):
    """A turn of Hanabi."""

    seed: int | None = None
    turn: Number
    player: Player
    seat: Literal[0, 1]
    policy: str | None = None
    style: str | None = None
    state_before: TableRecord
    state_after: TableRecord
    observation_text: str | None = None
    legal_actions: list[str] = []
    calls: list[Call] = []
    n_rejections: Count = 0
    intended_action: str | None = None
    selected_action: str
    engine_move: MoveRecord
    effect: EffectRecord
    injected: list[str] = []


class ItemRecord(_Record):
    """Something that is held."""

    name: Literal["onion", "dish", "soup"]
    state: tuple[str, int, int] | list[str | int] | None = None


class ObjectRecord(ItemRecord):
    """Something that lies somewhere."""

    position: list[Count] = Field(min_length=2, max_length=2)


class CookRecord(_Record):
    """A cook before the tick."""

    name: Player
    position: list[Count] = Field(min_length=2, max_length=2)
    orientation: Literal["north", "south", "east", "west"]
    held: ItemRecord | None


class CookAction(_Record):
    """What a cook does in a tick; the second half only where the player was asked."""

    player: Player
    current_macro: str | None = None
    new_macro: bool
    low_level: Literal["north", "south", "east", "west", "stay", "interact"]
    observation_text: str | None = None
    response: str | None = None
    intended: str | None = None
    selected: str | None = None
    injected: list[str] = []
    policy: str | None = None


class KitchenStep(_Line):
    """A tick in the kitchen."""

    layout: str
    tick: Count
    players: list[CookRecord] = Field(min_length=2, max_length=2)
    objects: list[ObjectRecord]
    actions: list[CookAction] = Field(min_length=2, max_length=2)
    sparse_reward: int
    score: int


class CapturePlayer(_Record):
    """A player's turn in CollabCapture."""

    player: Player
    policy: str | None = None
    style: str | None = None
    observation_text: str | None = None
    available_actions: list[str | int] = []
    response: str | None = None
    intended: str | None = None
    executed: str
    grounding_ok: bool | None = None
    injected: list[str] = []


class CaptureStep(_Line):
    """A turn of CollabCapture."""

    scenario: str
    turn: Number
    rooms_before: dict[Literal["Alice", "Bob", "Thief"], _CaptureRoom]
    rooms_after: dict[Literal["Alice", "Bob", "Thief"], _CaptureRoom]
    doors_before: dict[Literal["1-2", "3-4"], bool]
    doors_after: dict[Literal["1-2", "3-4"], bool]
    players: list[CapturePlayer] = Field(min_length=2, max_length=2)
    captured: bool
    capture_kind: Literal["same_room", "swap"] | None = None


class EscapePlayer(_Record):
    """A player's turn in CollabEscape."""

    player: Player
    policy: str | None = None
    style: str | None = None
    observation_text: str | None = None
    available_actions: list[str] = []
    calls: list[Call] = []
    intended: str | None = None
    executed: str
    injected: list[str] = []


class EscapeStep(_Line):
    """A turn of CollabEscape."""

    seed: int | None = None
    turn: Number
    rooms_before: dict[Literal["Alice", "Bob", "Adversary"], _Room]
    rooms_after: dict[Literal["Alice", "Bob", "Adversary"], _Room]
    generators_before: dict[Literal["room 1", "room 6"], Count]
    generators_after: dict[Literal["room 1", "room 6"], Count]
    exit_gate_before: bool
    exit_gate_after: bool
    adversary_target: Player | None
    adversary_choice: _Room
    players: list[EscapePlayer] = Field(min_length=2, max_length=2)
    outcome: Literal["continue", "win", "loss", "turn_cap"]


Step = HanabiStep | KitchenStep | CaptureStep | EscapeStep
