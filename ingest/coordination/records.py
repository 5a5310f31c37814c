"""Lines of the step logs of the four LLM-Coordination games as typed records (format: docs/coordination.md).

Types are strict. What a line cannot do without is required; the rest may be missing.
"""

from __future__ import annotations

from typing import Annotated, Literal, Protocol, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from games.coordination.players import PLAYERS, Player

__all__ = ["CaptureStep", "EscapeStep", "HanabiStep", "KitchenStep", "LoggedCall", "Step"]

Count = Annotated[int, Field(ge=0, lt=2**31)]
Number = Annotated[int, Field(ge=1, lt=2**31)]
_Int = Annotated[int, Field(ge=-(2**63), lt=2**64)]
"""What `loads` gives as an integer: beyond that it gives a float."""

_Room = Annotated[str, Field(pattern=r"^room (?:10|[1-9])$")]
_CaptureRoom = Annotated[int, Field(ge=1, le=9)]


_Key = TypeVar("_Key", bound=str)
_Entry = TypeVar("_Entry")


def _all(*names: str) -> AfterValidator:
    """A mapping must have all of these keys, and no others."""

    def check(found: dict[_Key, _Entry]) -> dict[_Key, _Entry]:
        if set(found) != set(names):
            raise ValueError(f"there must be one each of {', '.join(names)}")
        return found

    return AfterValidator(check)


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class _Line(_Record):
    schema_name: Annotated[str, Field(alias="schema")] = ""
    """Kind and version of the line; empty in what is not read from a step log."""

    game: str | None = None
    episode: str
    terminal: bool = False


_CaptureRooms = Annotated[dict[Literal["Alice", "Bob", "Thief"], _CaptureRoom], _all("Alice", "Bob", "Thief")]
_EscapeRooms = Annotated[dict[Literal["Alice", "Bob", "Adversary"], _Room], _all("Alice", "Bob", "Adversary")]
_Doors = Annotated[dict[Literal["1-2", "3-4"], bool], _all("1-2", "3-4")]
_Generators = Annotated[dict[Literal["room 1", "room 6"], Count], _all("room 1", "room 6")]


class LoggedCall(_Record):
    """One request to a model, and its reply."""

    stage: Literal["tom", "generator", "verifier"]
    text: str


class _Named(Protocol):
    player: Player


_Acting = TypeVar("_Acting", bound=_Named)


def _both(acting: list[_Acting]) -> list[_Acting]:
    """Both players must stand there, Alice first."""
    if [one.player for one in acting] != list(PLAYERS):
        raise ValueError(f"there must be one each of {', '.join(PLAYERS)}, in this order")
    return acting


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
    fireworks: Annotated[dict[Literal["R", "Y", "G", "W", "B"], Annotated[int, Field(ge=0, le=5)]], _all(*"RYGWB")]
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

    seed: _Int | None = None
    turn: Number
    player: Player
    seat: Literal[0, 1]
    policy: str | None = None
    style: str | None = None
    state_before: TableRecord
    state_after: TableRecord
    observation_text: str | None = None
    legal_actions: list[str] = Field(default_factory=list)
    calls: list[LoggedCall] = Field(default_factory=list)
    n_generator_calls: Count | None = None
    n_rejections: Count = 0
    intended_action: str | None = None
    selected_action: str
    engine_move: MoveRecord
    effect: EffectRecord
    injected: list[str] = Field(default_factory=list)
    fireworks_sum: Count | None = None
    engine_score: Count | None = None


class ItemRecord(_Record):
    """Something that is held."""

    name: Literal["onion", "dish", "soup"]
    state: Annotated[tuple[Literal["onion"], Annotated[int, Field(ge=0, le=3)], Count] | None, Field(strict=False)] = None
    """Of a soup: what is in it, how many, and its ticks."""


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
    injected: list[str] = Field(default_factory=list)
    policy: str | None = None


class KitchenStep(_Line):
    """A tick in the kitchen."""

    layout: str
    tick: Count
    players: list[CookRecord] = Field(min_length=2, max_length=2)
    objects: list[ObjectRecord]
    actions: list[CookAction] = Field(min_length=2, max_length=2)
    sparse_reward: _Int
    score: _Int


class CapturePlayer(_Record):
    """A player's turn in CollabCapture."""

    player: Player
    policy: str | None = None
    style: str | None = None
    observation_text: str | None = None
    available_actions: list[str | _Int] = Field(default_factory=list)
    response: str | None = None
    intended: str | None = None
    executed: str
    grounding_ok: bool | None = None
    injected: list[str] = Field(default_factory=list)


class CaptureStep(_Line):
    """A turn of CollabCapture."""

    scenario: str
    turn: Number
    rooms_before: _CaptureRooms
    rooms_after: _CaptureRooms
    doors_before: _Doors
    doors_after: _Doors
    players: Annotated[list[CapturePlayer], AfterValidator(_both)]
    buttons_pressed: list[str] | None = None
    captured: bool
    capture_kind: Literal["same_room", "swap"] | None = None
    turns_printed: Count | None = None
    """Of a console: what it prints at the end."""


class EscapePlayer(_Record):
    """A player's turn in CollabEscape."""

    player: Player
    policy: str | None = None
    style: str | None = None
    observation_text: str | None = None
    available_actions: list[str] = Field(default_factory=list)
    calls: list[LoggedCall] = Field(default_factory=list)
    intended: str | None = None
    executed: str
    injected: list[str] = Field(default_factory=list)


class EscapeStep(_Line):
    """A turn of CollabEscape."""

    seed: _Int | None = None
    scenario: str | None = None
    """None: the published one."""

    turn: Number
    rooms_before: _EscapeRooms
    rooms_after: _EscapeRooms
    generators_before: _Generators
    generators_after: _Generators
    generators_fixed: dict[str, bool] | None = None
    exit_gate_before: bool
    exit_gate_after: bool
    adversary_target: Player | None
    adversary_choice: _Room
    players: Annotated[list[EscapePlayer], AfterValidator(_both)]
    outcome: Literal["continue", "win", "loss", "turn_cap"]


Step = HanabiStep | KitchenStep | CaptureStep | EscapeStep
