"""Hanabi for two: rules, what each player can know, what a move is worth by rule, and the words of the listed actions.

Source: formats description of LLM-Coordination, sections 3.1 and 3.2. A move is applied together with the card drawn after it, so that
logged games replay without the deck. OpenSpiel is an optional extra: where it is installed, `HanabiTable` checks what is legal, when the
game ends, and the score; where the two differ, the game stops.
"""

from __future__ import annotations

import importlib
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final, Literal, NamedTuple

from games.coordination.players import Player, partner_of
from schemas.common.errors import CotraceError, UsageError

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
    """The whole table. Player 0 starts."""

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
    """The first state: the first five cards are player 0's."""
    hands = (tuple(deck[:HAND]), tuple(deck[HAND : 2 * HAND]))
    unknown = (Known(),) * HAND
    return HanabiState(hands=hands, knowledge=(unknown, unknown), fireworks=dict.fromkeys(COLORS, 0))


def touched(state: HanabiState, player_index: int, move: Move) -> tuple[int, ...]:
    """Places of the partner's cards that a reveal by this player_index names."""
    return tuple(place for place, card in enumerate(state.hands[1 - player_index]) if (move.value or "-") in card)


def is_legal(state: HanabiState, player_index: int, move: Move) -> bool:
    """Whether the rules allow a move."""
    if move.verb in {"play", "discard"}:
        in_hand = move.card is not None and 0 <= move.card < len(state.hands[player_index])
        return in_hand and (move.verb == "play" or state.tokens < TOKENS)
    return state.tokens > 0 and bool(move.value) and bool(touched(state, player_index, move))


def legal_moves(state: HanabiState, player_index: int) -> tuple[Move, ...]:
    """In listed order: discards, plays, colours, ranks."""
    own = [Move(verb, card=place) for verb in ("discard", "play") for place in range(len(state.hands[player_index]))]
    hints = [Move("reveal_color", value=color) for color in COLORS] + [Move("reveal_rank", value=rank) for rank in RANKS]
    return tuple(move for move in (*own, *hints) if is_legal(state, player_index, move))


def apply(state: HanabiState, player_index: int, move: Move, drawn: str | None) -> tuple[HanabiState, Effect]:
    """Carry out a legal move of a player; `drawn` is the card drawn afterwards, None where nothing is drawn."""
    if move.verb in {"reveal_color", "reveal_rank"}:
        return _hinted(state, player_index, move)
    place = move.card or 0
    card = state.hands[player_index][place]
    hand = (*state.hands[player_index][:place], *state.hands[player_index][place + 1 :], *((drawn,) if drawn else ()))
    known = (*state.knowledge[player_index][:place], *state.knowledge[player_index][place + 1 :], *((Known(),) if drawn else ()))
    hands = (hand, state.hands[1]) if player_index == 0 else (state.hands[0], hand)
    knowledge = (known, state.knowledge[1]) if player_index == 0 else (state.knowledge[0], known)
    after = replace(state, hands=hands, knowledge=knowledge, deck=state.deck - (drawn is not None))
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


def _hinted(state: HanabiState, player_index: int, move: Move) -> tuple[HanabiState, Effect]:
    named = touched(state, player_index, move)
    before = state.knowledge[1 - player_index]
    after = tuple(_after_hint(known, move, hit=place in named) for place, known in enumerate(before))
    newly = tuple(place for place in named if not before[place].is_hinted(move.verb))
    knowledge = (state.knowledge[0], after) if player_index == 0 else (after, state.knowledge[1])
    return replace(state, knowledge=knowledge, tokens=state.tokens - 1), Effect(touched=named, newly_revealed=newly)


def _after_hint(known: Known, move: Move, *, hit: bool) -> Known:
    value = move.value or ""
    if move.verb == "reveal_color":
        return known._replace(colors=value, color_hinted=True) if hit else known._replace(colors=known.colors.replace(value, ""))
    return known._replace(ranks=value, rank_hinted=True) if hit else known._replace(ranks=known.ranks.replace(value, ""))


def is_safe_play(state: HanabiState, known: Known) -> bool:
    """Every card that it can be, by hints alone, fits its stack."""
    return all(state.fits(card) for card in known.cards)


def possible_cards(state: HanabiState, player_index: int, place: int) -> tuple[str, ...]:
    """What an own card can be, by hints and by counting the cards that are stacked, discarded or in the partner's hand."""
    stacked = [f"{color}{rank}" for color in COLORS for rank in RANKS[: state.fireworks[color]]]
    seen = [*state.discards, *state.hands[1 - player_index], *stacked]
    return tuple(card for card in state.knowledge[player_index][place].cards if seen.count(card) < COPIES[card[1]])


def is_known_playable(state: HanabiState, player_index: int, place: int) -> bool:
    """Whatever the own card can be, counting included, it fits its stack."""
    return all(state.fits(card) for card in possible_cards(state, player_index, place))


def is_safe_discard(state: HanabiState, known: Known) -> bool:
    """No card that it can be, by hints alone, will be needed."""
    return all(state.is_dead(card) for card in known.cards)


def newly_named(state: HanabiState, player_index: int, move: Move) -> tuple[int, ...]:
    """Cards of the partner that a move reveals something new about; none if it is not a hint."""
    if move.card is not None:
        return ()
    knowledge = state.knowledge[1 - player_index]
    return tuple(place for place in touched(state, player_index, move) if not knowledge[place].is_hinted(move.verb))


def move_category(state: HanabiState, player_index: int, move: Move, clued: Container[int] = ()) -> tuple[str, str]:
    """Category of a legal move, and what the rule saw; `clued`: own cards of which the partner's move before was news (`newly_named`)."""
    if move.card is None:
        partner = 1 - player_index
        named = touched(state, player_index, move)
        new = [*newly_named(state, player_index, move)]
        playable = [place for place in new if state.fits(state.hands[partner][place])]
        seen = f"names {', '.join(f'card {place} ({state.hands[partner][place]})' for place in named)}; new about {new or 'none'}"
        return ("clue_playable" if playable else "clue_new" if new else "clue_redundant"), seen
    card, known = state.hands[player_index][move.card], state.knowledge[player_index][move.card]
    seen = f"card {move.card} is {card}; by hints it can be {known.colors} {known.ranks}"
    if move.verb == "discard":
        return ("discard_last" if state.is_last(card) else "discard"), seen
    if not state.fits(card):
        return "misplay", seen
    if is_known_playable(state, player_index, move.card):
        return "safe_play", seen
    return ("clued_play" if move.card in clued else "lucky_play"), seen


COLOR_NAMES: Final = {"R": "Red", "Y": "Yellow", "G": "Green", "W": "White", "B": "Blue"}
COLOR_LETTERS: Final = {name: letter for letter, name in COLOR_NAMES.items()}


def action_text(move: Move, player: Player) -> str:
    """A move without its letter."""
    if move.card is not None:
        return f"{move.verb.title()} My Card {move.card}."
    partner = partner_of(player)
    if move.verb == "reveal_color":
        return f"Reveal {partner}'s {COLOR_NAMES[move.value or 'R']} color cards."
    return f"Reveal {partner}'s rank {move.value} cards."


def listed(moves: tuple[Move, ...], player: Player) -> tuple[str, ...]:
    """Moves as listed: letters number the list of this very turn."""
    return tuple(f"{chr(ord('A') + place)}. {action_text(move, player)}" for place, move in enumerate(moves))


def observation(state: HanabiState, player: Player, player_index: int, actions: tuple[str, ...]) -> str:
    """What the player sees: everything but its own cards."""
    partner = partner_of(player)
    stacks = " ".join(f"{COLOR_NAMES[color]} - {COLOR_NAMES[color]} {state.fireworks[color]}" for color in COLORS)
    lines = [
        f"It is currently My ({player}) turn. Current Stacks: {stacks} ",
        "My cards based on my knowledge: ",
        *(f"Card {place} could be: {_known(known)}" for place, known in enumerate(state.knowledge[player_index])),
        f"I can see {partner}s Cards are: ",
        *(f"[Card {place}: {COLOR_NAMES[card[0]]} {card[1]}]" for place, card in enumerate(state.hands[1 - player_index])),
        f"{partner}s Knowledge about his cards: ",
        *(
            f"{partner} believes his Card {place} could be: {_known(known)}"
            for place, known in enumerate(state.knowledge[1 - player_index])
        ),
        f"Remaining Reveal Tokens: {state.tokens}",
        f"Remaining Lives: {state.lives}",
        f"Deck Size: {state.deck}",
        f"The discard pile is: [{', '.join(state.discards)}]",
        "Available Legal Actions: ",
        *actions,
    ]
    return "\n".join(lines) + "\n"


def _known(known: Known) -> str:
    colors = ", ".join(COLOR_NAMES[color] for color in COLORS if color in known.colors)
    return f"[{colors}] [{', '.join(known.ranks)}]"


PLAYERS_IN_ORDER: Final[tuple[Player, Player]] = ("Bob", "Alice")
"""Bob starts, as in the published code."""

_LAST_TURNS: Final = 2
"""Turns that begin without a card to draw: one of each player."""


def deck_of_seed(seed: int) -> tuple[str, ...]:
    """The deck in the order of dealing; not the order that the published engine gives for that seed."""
    deck = list(DECK)
    Random(seed).shuffle(deck)
    return tuple(deck)


class HanabiTable:
    """A game for two with a given order of the deck.

    Args:
        deck: all 50 cards in the order in which they are dealt: five to player 0, five to player 1, then one after each play or discard.
    """

    def __init__(self, deck: Sequence[str]) -> None:
        self._deck = list(deck)
        self._dealt = 2 * HAND
        self._without_deck = 0
        self.turns = 0
        """Moves made."""

        self._referee = _Referee.of(self._deck)
        self.state: HanabiState = deal(deck)

    @property
    def player_index(self) -> int:
        """Whose turn it is."""
        return self.turns % 2

    @property
    def is_over(self) -> bool:
        """No life is left, all stacks are complete, or both have moved since the last card was drawn."""
        return not self.state.lives or self.state.stacked == MAX_SCORE or self._without_deck == _LAST_TURNS

    @property
    def engine_score(self) -> int:
        """The published engine's score: 0 when all lives are lost."""
        return self.state.stacked if self.state.lives else 0

    def play(self, move: Move) -> Effect:
        """Make a move.

        Raises:
            UsageError: the rules do not allow it.
            CotraceError: OpenSpiel is there and sees it otherwise.
        """
        legal = legal_moves(self.state, self.player_index)
        if move not in legal or self.is_over:
            raise UsageError(f"hanabi: {_referee_text(move)} is not legal; there are {', '.join(map(_referee_text, legal))}")
        before, player_index = self.state, self.player_index
        self._without_deck += self._dealt == len(self._deck)
        self.state, effect = apply(before, player_index, move, None)
        if draws(before, move, self.state):
            self.state, effect = apply(before, player_index, move, self._deck[self._dealt])
            self._dealt += 1
        self.turns += 1
        if self._referee is not None:
            self._referee.follow(move, over=self.is_over, score=self.engine_score)
        return effect


class _Referee:
    """OpenSpiel's view of the same game."""

    def __init__(self, module: Any, deck: Sequence[str]) -> None:
        self._state = module.load_game("hanabi(players=2)").new_initial_state()
        self._deck = deck
        self._dealt = 0
        self._deal_out()

    @classmethod
    def of(cls, deck: Sequence[str]) -> _Referee | None:
        """Have it watch a game; None where it is not installed."""
        try:
            return cls(importlib.import_module("pyspiel"), deck)
        except ImportError:
            return None

    def follow(self, move: Move, *, over: bool, score: int) -> None:
        """Make the same move, and compare.

        Raises:
            CotraceError: it sees another game.
        """
        player_index = int(self._state.current_player())
        legal = {self._state.action_to_string(player_index, action): action for action in self._state.legal_actions()}
        wanted = _referee_text(move)
        if wanted not in legal:
            raise CotraceError(f"hanabi: OpenSpiel does not allow {wanted}, the rules do: please report it")
        self._state.apply_action(legal[wanted])
        self._deal_out()
        seen = (bool(self._state.is_terminal()), int(self._state.returns()[0]))
        if seen != (over, score):
            raise CotraceError(f"hanabi: OpenSpiel says over and score are {seen}, the rules {(over, score)}: please report it")

    def _deal_out(self) -> None:
        while self._state.is_chance_node():
            card = self._deck[self._dealt]
            choices = {self._state.action_to_string(-1, action)[-3:-1]: action for action in self._state.legal_actions()}
            self._state.apply_action(choices[card])
            self._dealt += 1


def _referee_text(move: Move) -> str:
    if move.verb in {"play", "discard"}:
        return f"({move.verb.title()} {move.card})"
    return f"(Reveal player +1 {'color' if move.verb == 'reveal_color' else 'rank'} {move.value})"


def shown_table(state: HanabiState) -> dict[str, Any]:
    """The table as a line of the step log has it."""
    return {
        "life_tokens": state.lives,
        "information_tokens": state.tokens,
        "deck_size": state.deck,
        "fireworks": state.fireworks,
        "discard_pile": state.discards,
        "hands": dict(zip(PLAYERS_IN_ORDER, state.hands, strict=True)),
        "knowledge": {
            player: [known._asdict() for known in cards] for player, cards in zip(PLAYERS_IN_ORDER, state.knowledge, strict=True)
        },
    }


def shown_move(move: Move) -> dict[str, Any]:
    """A move as a line of the step log has it."""
    if move.card is not None:
        return {"type": move.verb.upper(), "card_index": move.card}
    return {"type": move.verb.upper()} | ({"color": move.value} if move.verb == "reveal_color" else {"rank": int(move.value or 0)})


def shown_effect(effect: Effect) -> dict[str, Any]:
    """What a move did, as a line of the step log has it."""
    return {
        "scored": effect.scored,
        "information_token_gained": effect.token_gained,
        "card": effect.card,
        "touched_cards": effect.touched or None,
        "newly_revealed": effect.newly_revealed or None,
        "life_lost": int(effect.life_lost),
    }
