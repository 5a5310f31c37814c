"""Lines of the step logs of the four LLM-Coordination games as typed records (format: docs/coordination.md).

What a line cannot do without is required; the rest may be missing. How lines are read: `ingest.reading.adapter_types`.
"""

from functools import cached_property
from typing import Annotated, Any, Final, Literal, Protocol, TypeVar

from msgspec import Meta, field
from msgspec.msgpack import encode
from pydantic import AfterValidator, Field

from games.coordination.players import PLAYERS, Player, Read
from ingest.reading.adapter_types import Record

MOST_FACTS: Final = 1024
"""Turns of games in rooms for which what follows from them is stored: games are full of the same positions."""


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


_NOT_OF_THE_GAME: Final = frozenset(
    ("game", "episode", "scenario", "seed", "players", "policy", "style", "response", "calls", "read", "slips", "injected")
)


class _RoomStep(_Line, kw_only=True, eq=False, dict=True, gc=True):
    """A turn of a game in rooms. Turns that state the same of the game are equal: replies, and who played, do not count.

    So `lru_cache` works out once what follows from them.
    """

    turn: Number
    players: list[Any]

    def __post_init__(self) -> None:
        """Look at what types do not say."""
        _both(self.players)

    @cached_property
    def _facts(self) -> bytes:
        records = (self, *self.players)
        return encode([[getattr(one, name) for name in one.__struct_fields__ if name not in _NOT_OF_THE_GAME] for one in records])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _RoomStep) and type(self) is type(other) and self._facts == other._facts

    def __hash__(self) -> int:
        return hash(self._facts)


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


class CaptureStep(_RoomStep, kw_only=True, eq=False, tag="collab_capture_step/1"):
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


class EscapeStep(_RoomStep, kw_only=True, eq=False, tag="collab_escape_step/1"):
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


Step = HanabiStep | KitchenStep | CaptureStep | EscapeStep
