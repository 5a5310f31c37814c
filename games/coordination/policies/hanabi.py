"""Scripted Hanabi players: each decides from what it may know, says why, and may do one thing wrong on purpose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from games.coordination.hanabi.moves import is_known_playable, is_safe_discard, is_safe_play, possible_cards
from games.coordination.hanabi.rules import TOKENS, HanabiState, Move, legal_moves, touched
from games.coordination.hanabi.wording import COLOR_NAMES
from games.coordination.players import Injected, Player, partner_of

FAULTLESS: Final = "careful"
"""Who plays before the turn from which `policy@turn` falls into its fault."""

Policy = Callable[[HanabiState, int, Player, Random], tuple[Move, str, tuple[Injected, ...]]]
"""(table, own seat, own name, random numbers) -> move, reason, what was done wrong on purpose. A policy does not look at its own cards."""

_FAULT_RATE: Final = 0.3


def _hint_giver(state: HanabiState, seat: int, player: Player, rng: Random) -> tuple[Move, str, tuple[Injected, ...]]:
    """Plays what is sure, hints what the partner can play, else discards."""
    for place, known in enumerate(state.knowledge[seat]):
        if is_safe_play(state, known):
            return Move("play", card=place), f"Every card that my card {place} can be fits a stack, so playing it is safe.", ()
    return _helpful_clue(state, seat, player) or _discard(state, seat, rng)


def _cautious(state: HanabiState, seat: int, player: Player, rng: Random) -> tuple[Move, str, tuple[Injected, ...]]:
    """Plays only what is known to be playable, by hints and by counting; never plays to get rid of a card or on a guess."""
    for place in range(len(state.hands[seat])):
        if is_known_playable(state, seat, place):
            return Move("play", card=place), f"Whatever my card {place} can still be fits a stack, so playing it is safe.", ()
    if found := _helpful_clue(state, seat, player):
        return found
    moves = [move for move in legal_moves(state, seat) if move.verb != "play"]
    if state.tokens == TOKENS:
        told = [move for move in moves if _is_new(state, seat, move)]
        return rng.choice(told or moves), "Nothing is known to be playable and no token is missing, so I give a clue.", ()
    return _discard(state, seat, rng)


def _careful(state: HanabiState, seat: int, player: Player, rng: Random) -> tuple[Move, str, tuple[Injected, ...]]:
    """As the cautious one, but tells of a last copy that the partner would discard next, and discards what is least likely to be one."""
    for place in range(len(state.hands[seat])):
        if is_known_playable(state, seat, place):
            return Move("play", card=place), f"Whatever my card {place} can still be fits a stack, so playing it is safe.", ()
    if found := _warning(state, seat, player) or _helpful_clue(state, seat, player):
        return found
    if state.tokens == TOKENS:
        hints = [move for move in legal_moves(state, seat) if move.value]
        told = [move for move in hints if _is_new(state, seat, move)]
        return rng.choice(told or hints), "Nothing is known to be playable and no token is missing, so I give a clue.", ()
    place = _least_needed(state, seat)
    return Move("discard", card=place), f"There is nothing sure to play and no clue that helps, so I discard card {place} for a token.", ()


def _warning(state: HanabiState, seat: int, player: Player) -> tuple[Move, str, tuple[Injected, ...]] | None:
    """A hint that keeps the partner from discarding a last copy."""
    known = state.knowledge[1 - seat]
    if not state.tokens or any(is_safe_play(state, card) for card in known):
        return None
    place = _next_discarded(state, 1 - seat)
    card = state.hands[1 - seat][place]
    move = Move("reveal_color", value=card[0]) if known[place].rank_hinted else Move("reveal_rank", value=card[1])
    if not state.is_last(card) or known[place].is_hinted(move.verb):
        return None
    return move, f"{partner_of(player)}'s card {place} is {_name(card)}, the last copy, and would be discarded next.", ()


def _next_discarded(state: HanabiState, seat: int) -> int:
    """The card that a player discards by custom: one that is not needed any more, else the oldest without a hint."""
    sure = [place for place, known in enumerate(state.knowledge[seat]) if is_safe_discard(state, known)]
    unhinted = [place for place, known in enumerate(state.knowledge[seat]) if not (known.color_hinted or known.rank_hinted)]
    return (sure or unhinted or [0])[0]


def _least_needed(state: HanabiState, seat: int) -> int:
    """The own card that is least likely to be a last copy, by hints and counting; of several alike one without a hint, the oldest."""

    def need(place: int) -> tuple[float, bool, bool]:
        cards, known = possible_cards(state, seat, place), state.knowledge[seat][place]
        last = sum(state.is_last(card) for card in cards) / len(cards)
        return last, not is_safe_discard(state, known), known.color_hinted or known.rank_hinted

    return min(range(len(state.hands[seat])), key=need)


def _helpful_clue(state: HanabiState, seat: int, player: Player) -> tuple[Move, str, tuple[Injected, ...]] | None:
    partner, hand, known = partner_of(player), state.hands[1 - seat], state.knowledge[1 - seat]
    for place, card in enumerate(hand if state.tokens else ()):
        if not state.fits(card) or is_safe_play(state, known[place]):
            continue
        move = Move("reveal_color", value=card[0]) if known[place].rank_hinted else Move("reveal_rank", value=card[1])
        if not known[place].is_hinted(move.verb):
            return move, f"{partner}'s card {place} is {_name(card)}, which is next on its stack, and {partner} does not know it yet.", ()
    return None


def _discard(state: HanabiState, seat: int, rng: Random) -> tuple[Move, str, tuple[Injected, ...]]:
    if state.tokens == TOKENS:
        clues = [move for move in legal_moves(state, seat) if move.value and _is_new(state, seat, move)]
        moves = clues or [move for move in legal_moves(state, seat) if move.value] or [Move("play", card=0)]
        return rng.choice(moves), "Nothing can be played for sure and no token is missing, so I tell something new.", ()
    place = _next_discarded(state, seat)
    return Move("discard", card=place), f"There is nothing sure to play and no clue that helps, so I discard card {place} for a token.", ()


def _is_new(state: HanabiState, seat: int, move: Move) -> bool:
    return any(not state.knowledge[1 - seat][place].is_hinted(move.verb) for place in touched(state, seat, move))


def _sloppy(state: HanabiState, seat: int, player: Player, rng: Random) -> tuple[Move, str, tuple[Injected, ...]]:
    """A hint giver that sometimes names another card than it means, or repeats a clue."""
    move, reason, _ = _hint_giver(state, seat, player, rng)
    stale = [clue for clue in legal_moves(state, seat) if clue.value and not _is_new(state, seat, clue)]
    if stale and rng.random() < _FAULT_RATE:
        return rng.choice(stale), "This clue helps my partner to know the cards.", ("redundant_clue",)
    hand = state.hands[1 - seat]
    if move.value and rng.random() < _FAULT_RATE:
        place = touched(state, seat, move)[0]
        wrong = next((card for card in ("R5", "Y5", "G1", "W2") if card != hand[place]), "B5")
        return move, f"{partner_of(player)}'s card {place} is {_name(wrong)}, which is next on its stack.", ("misgrounded_card",)
    return move, reason, ()


def _bomber(state: HanabiState, seat: int, _player: Player, _rng: Random) -> tuple[Move, str, tuple[Injected, ...]]:
    """Plays its first card, known or not."""
    sure = is_known_playable(state, seat, 0)
    return Move("play", card=0), "I take a chance and play my first card.", () if sure else ("unsafe_play",)


def _random(state: HanabiState, seat: int, _player: Player, rng: Random) -> tuple[Move, str, tuple[Injected, ...]]:
    return rng.choice(legal_moves(state, seat)), "Any action is fine.", ()


def _name(card: str) -> str:
    return f"{COLOR_NAMES[card[0]]} {card[1]}"


POLICIES: Final[Mapping[str, Policy]] = {
    "hint_giver": _hint_giver,
    "cautious": _cautious,
    "sloppy": _sloppy,
    "bomber": _bomber,
    "random": _random,
    FAULTLESS: _careful,
}
