"""The rules of Hanabi for two, and what each player can know. Source: formats description of LLM-Coordination, section 3.1.

A move is applied together with the card that is drawn after it, so that logged games replay without knowing the deck.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

COLORS: Final = "RYGWB"
RANKS: Final = "12345"
COPIES: Final[Mapping[str, int]] = {"1": 3, "2": 2, "3": 2, "4": 2, "5": 1}
DECK: Final = tuple(f"{color}{rank}" for color in COLORS for rank in RANKS for _ in range(COPIES[rank]))
HAND: Final = 5
TOKENS: Final = 8
LIVES: Final = 3
MAX_SCORE: Final = 25

MAX_TURNS: Final = 90
"""No game is longer: 40 plays and discards empty the deck, two turns follow, and hints are at most the 8 tokens and those that discards and
complete stacks give back, one for each of those 40."""

Verb = Literal["play", "discard", "reveal_color", "reveal_rank"]


class Known(NamedTuple):
    """What a player knows about a card of its own, from hints alone."""

    colors: str = COLORS
    """Possible ones."""

    ranks: str = RANKS
    color_hinted: bool = False
    rank_hinted: bool = False

    def is_hinted(self, verb: Verb) -> bool:
        """What a kind of reveal names is known from a hint."""
        return self.color_hinted if verb == "reveal_color" else self.rank_hinted

    @property
    def cards(self) -> tuple[str, ...]:
        """Possible cards."""
        return tuple(f"{color}{rank}" for color in self.colors for rank in self.ranks)


class Move(NamedTuple):
    """A move."""

    verb: Verb
    card: int | None = None
    """Place in the own hand, from 0, of a play or discard."""

    value: str | None = None
    """Colour letter or rank of a reveal."""


class Effect(NamedTuple):
    """What a move did."""

    card: str | None = None
    """Played or discarded."""

    scored: bool = False
    life_lost: bool = False
    token_gained: bool = False
    touched: tuple[int, ...] = ()
    """Places of the partner's cards that a hint names."""

    newly_revealed: tuple[int, ...] = ()
    """Those among them about which the partner did not know it from a hint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HanabiState:
    """The whole table. Seats: 0 starts."""

    hands: tuple[tuple[str, ...], tuple[str, ...]]
    """Cards such as `R1`, oldest first."""

    knowledge: tuple[tuple[Known, ...], tuple[Known, ...]]
    fireworks: Mapping[str, int]
    """Colour -> highest rank played, 0 to 5."""

    discards: tuple[str, ...] = ()
    tokens: int = TOKENS
    lives: int = LIVES
    deck: int = len(DECK) - 2 * HAND
    """Cards left."""

    @property
    def stacked(self) -> int:
        """Sum of the stacks, 0 to 25, also when all lives are lost."""
        return sum(self.fireworks.values())

    def fits(self, card: str) -> bool:
        """The card can be played now."""
        return int(card[1]) == self.fireworks[card[0]] + 1

    def is_dead(self, card: str) -> bool:
        """The card can never be played: its rank is there, or all copies of one below it are gone."""
        needed = range(self.fireworks[card[0]] + 1, int(card[1]))
        gone = any(self.discards.count(f"{card[0]}{rank}") == COPIES[str(rank)] for rank in needed)
        return int(card[1]) <= self.fireworks[card[0]] or gone

    def is_last(self, card: str) -> bool:
        """All other copies are discarded, and it is still needed."""
        return not self.is_dead(card) and self.discards.count(card) == COPIES[card[1]] - 1


def deal(deck: Sequence[str]) -> HanabiState:
    """The first state: the first five cards are seat 0's."""
    hands = (tuple(deck[:HAND]), tuple(deck[HAND : 2 * HAND]))
    unknown = (Known(),) * HAND
    return HanabiState(hands=hands, knowledge=(unknown, unknown), fireworks=dict.fromkeys(COLORS, 0))


def touched(state: HanabiState, seat: int, move: Move) -> tuple[int, ...]:
    """Places of the partner's cards that a reveal by this seat names."""
    return tuple(place for place, card in enumerate(state.hands[1 - seat]) if (move.value or "-") in card)


def is_legal(state: HanabiState, seat: int, move: Move) -> bool:
    """Whether the rules allow a move."""
    if move.verb in {"play", "discard"}:
        in_hand = move.card is not None and 0 <= move.card < len(state.hands[seat])
        return in_hand and (move.verb == "play" or state.tokens < TOKENS)
    return state.tokens > 0 and bool(move.value) and bool(touched(state, seat, move))


def legal_moves(state: HanabiState, seat: int) -> tuple[Move, ...]:
    """In listed order: discards, plays, colours, ranks."""
    own = [Move(verb, card=place) for verb in ("discard", "play") for place in range(len(state.hands[seat]))]
    hints = [Move("reveal_color", value=color) for color in COLORS] + [Move("reveal_rank", value=rank) for rank in RANKS]
    return tuple(move for move in (*own, *hints) if is_legal(state, seat, move))


def apply(state: HanabiState, seat: int, move: Move, drawn: str | None) -> tuple[HanabiState, Effect]:
    """Carry out a legal move of a seat.

    Args:
        state: before it.
        seat: whose move.
        move: a legal move.
        drawn: the card drawn afterwards; None where nothing is drawn.
    """
    if move.verb in {"reveal_color", "reveal_rank"}:
        return _hinted(state, seat, move)
    place = move.card or 0
    card = state.hands[seat][place]
    after = _redrawn(state, seat, place, drawn)
    if move.verb == "discard":
        return replace(after, discards=(*state.discards, card), tokens=state.tokens + 1), Effect(card=card, token_gained=True)
    if not state.fits(card):
        return replace(after, discards=(*state.discards, card), lives=state.lives - 1), Effect(card=card, life_lost=True)
    gained = card[1] == RANKS[-1] and state.tokens < TOKENS
    grown = replace(after, fireworks={**state.fireworks, card[0]: int(card[1])}, tokens=state.tokens + gained)
    return grown, Effect(card=card, scored=True, token_gained=gained)


def draws(before: HanabiState, move: Move, after: HanabiState) -> bool:
    """Whether a card is drawn after a move: one left the hand, the deck has some, and the game is not over."""
    return move.card is not None and before.deck > 0 and after.lives > 0 and after.stacked < MAX_SCORE


def _redrawn(state: HanabiState, seat: int, place: int, drawn: str | None) -> HanabiState:
    hand = (*state.hands[seat][:place], *state.hands[seat][place + 1 :], *((drawn,) if drawn else ()))
    known = (*state.knowledge[seat][:place], *state.knowledge[seat][place + 1 :], *((Known(),) if drawn else ()))
    deck = state.deck - (drawn is not None)
    if seat == 0:
        return replace(state, hands=(hand, state.hands[1]), knowledge=(known, state.knowledge[1]), deck=deck)
    return replace(state, hands=(state.hands[0], hand), knowledge=(state.knowledge[0], known), deck=deck)


def _hinted(state: HanabiState, seat: int, move: Move) -> tuple[HanabiState, Effect]:
    named = touched(state, seat, move)
    before = state.knowledge[1 - seat]
    after = tuple(_told(known, move, hit=place in named) for place, known in enumerate(before))
    newly = tuple(place for place in named if not before[place].is_hinted(move.verb))
    knowledge = (state.knowledge[0], after) if seat == 0 else (after, state.knowledge[1])
    return replace(state, knowledge=knowledge, tokens=state.tokens - 1), Effect(touched=named, newly_revealed=newly)


def _told(known: Known, move: Move, *, hit: bool) -> Known:
    value = move.value or ""
    if move.verb == "reveal_color":
        return known._replace(colors=value, color_hinted=True) if hit else known._replace(colors=known.colors.replace(value, ""))
    return known._replace(ranks=value, rank_hinted=True) if hit else known._replace(ranks=known.ranks.replace(value, ""))
