"""Lines of the step logs of the four LLM-Coordination games as typed records (format: docs/coordination.md).

What a line cannot do without is required; the rest may be missing. How lines are read: `ingest.reading.adapter_types`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, Any, Final, Literal, NamedTuple, Protocol, TypeVar

from msgspec import Meta, field
from pydantic import AfterValidator, Field

from games.coordination.players import PLAYERS, Player, Read
from ingest.reading.adapter_types import Record

MOST_FACTS: Final = 1024
"""Lines whose facts are stored, and what follows from them: games are full of the same positions."""


class RoomPlayer(NamedTuple):
    """The player's facts of a line of CollabCapture or CollabEscape, without its reply."""

    player: Player
    observation_text: str | None
    available_actions: tuple[str | int, ...]
    intended: str | None
    executed: str
    grounding_ok: bool | None


@dataclass(frozen=True, slots=True, eq=False)
class CaptureFacts:
    """What a line states of the game, without replies and policies."""

    turn: int
    rooms_before: Mapping[Literal["Alice", "Bob", "Thief"], int]
    rooms_after: Mapping[Literal["Alice", "Bob", "Thief"], int]
    doors_before: Mapping[Literal["1-2", "3-4"], bool]
    doors_after: Mapping[Literal["1-2", "3-4"], bool]
    players: tuple[RoomPlayer, RoomPlayer]
    buttons_pressed: tuple[str, ...] | None
    captured: bool
    capture_kind: Literal["same_room", "swap"] | None
    terminal: bool
    turns_printed: int | None


@dataclass(frozen=True, slots=True, eq=False)
class EscapeFacts:
    """What a line states of the game, without replies and policies."""

    rooms_before: Mapping[Literal["Alice", "Bob", "Adversary"], str]
    rooms_after: Mapping[Literal["Alice", "Bob", "Adversary"], str]
    generators_before: Mapping[Literal["room 1", "room 6"], int]
    generators_after: Mapping[Literal["room 1", "room 6"], int]
    generators_fixed: Mapping[str, bool] | None
    players: tuple[RoomPlayer, RoomPlayer]
    exit_gate_before: bool
    exit_gate_after: bool
    adversary_target: Player | None
    adversary_choice: str
    outcome: Literal["continue", "win", "loss", "turn_cap"]
    terminal: bool


@lru_cache(maxsize=MOST_FACTS)
def capture_facts(values: tuple[Any, ...]) -> CaptureFacts:
    """Facts from a line's values in their order, mappings as pairs, lists and players as tuples."""
    turn, rooms_before, rooms_after, doors_before, doors_after, players, *others = values
    return CaptureFacts(turn, dict(rooms_before), dict(rooms_after), dict(doors_before), dict(doors_after), _two(players), *others)


@lru_cache(maxsize=MOST_FACTS)
def escape_facts(values: tuple[Any, ...]) -> EscapeFacts:
    """Facts from a line's values in their order, mappings as pairs, lists and players as tuples."""
    rooms_before, rooms_after, counters_before, counters_after, fixed, players, *others = values
    counters = dict(counters_before), dict(counters_after), None if fixed is None else dict(fixed)
    return EscapeFacts(dict(rooms_before), dict(rooms_after), *counters, _two(players), *others)


def _two(players: tuple[tuple[Any, ...], tuple[Any, ...]]) -> tuple[RoomPlayer, RoomPlayer]:
    alice, bob = players
    return RoomPlayer(*alice), RoomPlayer(*bob)


_INT_32: Final = 2**31
Count = Annotated[int, Meta(ge=0, lt=_INT_32), Field(ge=0, lt=_INT_32)]
Number = Annotated[int, Meta(ge=1, lt=_INT_32), Field(ge=1, lt=_INT_32)]
_Int = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1), Field(ge=-(2**63), lt=2**64)]
"""What `loads` gives as an integer: beyond that it gives a float."""

_Room = Literal["room 1", "room 2", "room 3", "room 4", "room 5", "room 6", "room 7", "room 8", "room 9", "room 10"]
_CaptureRoom = Annotated[int, Meta(ge=1, le=9), Field(ge=1, le=9)]


_Key = TypeVar("_Key", bound=str)
_Entry = TypeVar("_Entry")


def _all(*names: str) -> AfterValidator:
    """A mapping must have all of these keys, and no others."""

    def check(found: dict[_Key, _Entry]) -> dict[_Key, _Entry]:
        if set(found) != set(names):
            raise ValueError(f"there must be one each of {', '.join(names)}")
        return found

    return AfterValidator(check)


class _Line(Record, kw_only=True, tag_field="schema"):
    """A line of a step log; its field `schema` names which."""

    game: str | None = None
    episode: str
    terminal: bool = False


_CaptureRooms = Annotated[dict[Literal["Alice", "Bob", "Thief"], _CaptureRoom], Meta(min_length=3), _all("Alice", "Bob", "Thief")]
_EscapeRooms = Annotated[dict[Literal["Alice", "Bob", "Adversary"], _Room], Meta(min_length=3), _all("Alice", "Bob", "Adversary")]
_Doors = Annotated[dict[Literal["1-2", "3-4"], bool], Meta(min_length=2), _all("1-2", "3-4")]
_Generators = Annotated[dict[Literal["room 1", "room 6"], Count], Meta(min_length=2), _all("room 1", "room 6")]


class LoggedCall(Record):
    """One request to a model, and its reply."""

    stage: Literal["tom", "generator", "verifier"]
    text: str


class _Named(Protocol):
    @property
    def player(self) -> Player: ...


_Acting = TypeVar("_Acting", bound=_Named)


def _both(acting: list[_Acting]) -> list[_Acting]:
    """Both players must stand there, Alice first."""
    if [one.player for one in acting] != list(PLAYERS):
        raise ValueError(f"there must be one each of {', '.join(PLAYERS)}, in this order")
    return acting


_TWO: Final = Meta(min_length=2, max_length=2)
_Spot = Annotated[list[Count], _TWO, Field(min_length=2, max_length=2)]
_Card = Annotated[str, Meta(pattern=r"^[RYGWB][1-5]\Z"), Field(pattern="^[RYGWB][1-5]$")]  # Python's $ admits a line break behind it
_Height = Annotated[int, Meta(ge=0, le=5), Field(ge=0, le=5)]
_Fireworks = Annotated[dict[Literal["R", "Y", "G", "W", "B"], _Height], Meta(min_length=5), _all(*"RYGWB")]


class KnownRecord(Record, kw_only=True):
    """What hints say about a card of one's own."""

    colors: Annotated[str, Meta(pattern=r"^[RYGWB]*\Z"), Field(pattern="^[RYGWB]*$")]
    ranks: Annotated[str, Meta(pattern=r"^[1-5]*\Z"), Field(pattern="^[1-5]*$")]
    color_hinted: bool
    rank_hinted: bool


class TableRecord(Record, kw_only=True):
    """The table of Hanabi."""

    life_tokens: Count
    information_tokens: Count
    deck_size: Count
    fireworks: _Fireworks
    discard_pile: list[_Card]
    hands: dict[Player, list[_Card]]
    knowledge: dict[Player, list[KnownRecord]]


class MoveRecord(Record, kw_only=True):
    """A move of Hanabi."""

    type: Literal["PLAY", "DISCARD", "REVEAL_COLOR", "REVEAL_RANK"]
    card_index: Count | None = None
    color: str | None = None
    rank: Count | None = None


class EffectRecord(Record, kw_only=True):
    """The effect of a move, by the engine."""

    scored: bool | None = None
    information_token_gained: bool | None = None
    card: str | None = None
    touched_cards: list[Count] | None = None
    newly_revealed: list[Count] | None = None
    life_lost: Count | None = None


class HanabiStep(_Line, kw_only=True, tag="hanabi_step/1"):
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
    legal_actions: list[str] = field(default_factory=list)
    calls: list[LoggedCall] = field(default_factory=list)
    n_generator_calls: Count | None = None
    n_rejections: Count = 0
    intended_action: str | None = None
    selected_action: str
    read: Read | None = None
    slips: list[str] = field(default_factory=list)
    engine_move: MoveRecord
    effect: EffectRecord
    injected: list[str] = field(default_factory=list)
    fireworks_sum: Count | None = None
    engine_score: Count | None = None


class ItemRecord(Record, kw_only=True):
    """Something that is held."""

    name: Literal["onion", "dish", "soup"]
    state: Annotated[tuple[Literal["onion"], Annotated[int, Meta(ge=0, le=3), Field(ge=0, le=3)], Count] | None, Field(strict=False)] = None
    """Of a soup: what is in it, how many, and its ticks."""


class ObjectRecord(ItemRecord, kw_only=True):
    """Something that lies somewhere."""

    position: _Spot


class CookRecord(Record, kw_only=True):
    """A cook before the tick."""

    name: Player
    position: _Spot
    orientation: Literal["north", "south", "east", "west"]
    held: ItemRecord | None


class CookAction(Record, kw_only=True):
    """What a cook does in a tick; the second half only where the player was asked."""

    player: Player
    current_macro: str | None = None
    new_macro: bool
    low_level: Literal["north", "south", "east", "west", "stay", "interact"]
    observation_text: str | None = None
    response: str | None = None
    intended: str | None = None
    selected: str | None = None
    read: Read | None = None
    slips: list[str] = field(default_factory=list)
    injected: list[str] = field(default_factory=list)
    policy: str | None = None


class KitchenStep(_Line, kw_only=True, tag="overcooked_step/1"):
    """A tick in the kitchen."""

    layout: str
    tick: Count
    players: Annotated[list[CookRecord], _TWO, Field(min_length=2, max_length=2)]
    objects: list[ObjectRecord]
    actions: Annotated[list[CookAction], _TWO, Field(min_length=2, max_length=2)]
    sparse_reward: _Int
    score: _Int


class CapturePlayer(Record, kw_only=True):
    """A player's turn in CollabCapture."""

    player: Player
    policy: str | None = None
    style: str | None = None
    observation_text: str | None = None
    available_actions: list[str | _Int] = field(default_factory=list)
    response: str | None = None
    intended: str | None = None
    executed: str
    grounding_ok: bool | None = None
    read: Read | None = None
    slips: list[str] = field(default_factory=list)
    injected: list[str] = field(default_factory=list)

    @property
    def facts(self) -> tuple[Any, ...]:
        """All but the reply and who played, as `RoomPlayer` has it."""
        return (self.player, self.observation_text, tuple(self.available_actions), self.intended, self.executed, self.grounding_ok)


class CaptureStep(_Line, kw_only=True, dict=True, gc=True, tag="collab_capture_step/1"):
    """A turn of CollabCapture."""

    scenario: str
    turn: Number
    rooms_before: _CaptureRooms
    rooms_after: _CaptureRooms
    doors_before: _Doors
    doors_after: _Doors
    players: Annotated[list[CapturePlayer], _TWO, AfterValidator(_both)]
    buttons_pressed: list[str] | None = None
    captured: bool
    capture_kind: Literal["same_room", "swap"] | None = None
    turns_printed: Count | None = None
    """Of a console: what it prints at the end."""

    def __post_init__(self) -> None:
        """Look at what types do not say."""
        _both(self.players)

    @cached_property
    def facts(self) -> CaptureFacts:
        """The game's facts."""
        alice, bob = self.players
        return capture_facts(
            (
                self.turn,
                tuple(self.rooms_before.items()),
                tuple(self.rooms_after.items()),
                tuple(self.doors_before.items()),
                tuple(self.doors_after.items()),
                (alice.facts, bob.facts),
                None if self.buttons_pressed is None else tuple(self.buttons_pressed),
                self.captured,
                self.capture_kind,
                self.terminal,
                self.turns_printed,
            )
        )


class EscapePlayer(Record, kw_only=True):
    """A player's turn in CollabEscape."""

    player: Player
    policy: str | None = None
    style: str | None = None
    observation_text: str | None = None
    available_actions: list[str] = field(default_factory=list)
    calls: list[LoggedCall] = field(default_factory=list)
    intended: str | None = None
    executed: str
    read: Read | None = None
    slips: list[str] = field(default_factory=list)
    injected: list[str] = field(default_factory=list)

    @property
    def facts(self) -> tuple[Any, ...]:
        """All but the reply and who played, as `RoomPlayer` has it."""
        return (self.player, self.observation_text, tuple(self.available_actions), self.intended, self.executed, None)


class EscapeStep(_Line, kw_only=True, dict=True, gc=True, tag="collab_escape_step/1"):
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
    players: Annotated[list[EscapePlayer], _TWO, AfterValidator(_both)]
    outcome: Literal["continue", "win", "loss", "turn_cap"]

    def __post_init__(self) -> None:
        """Look at what types do not say."""
        _both(self.players)

    @cached_property
    def facts(self) -> EscapeFacts:
        """The game's facts."""
        alice, bob = self.players
        return escape_facts(
            (
                tuple(self.rooms_before.items()),
                tuple(self.rooms_after.items()),
                tuple(self.generators_before.items()),
                tuple(self.generators_after.items()),
                None if self.generators_fixed is None else tuple(self.generators_fixed.items()),
                (alice.facts, bob.facts),
                self.exit_gate_before,
                self.exit_gate_after,
                self.adversary_target,
                self.adversary_choice,
                self.outcome,
                self.terminal,
            )
        )


Step = HanabiStep | KitchenStep | CaptureStep | EscapeStep
