"""What a move of Hanabi is worth, by rule, from what its player could know."""

from __future__ import annotations

from collections.abc import Container

from games.coordination.hanabi.rules import COLORS, COPIES, RANKS, HanabiState, Known, Move, touched

MOVE_CATEGORIES = {
    "safe_play": "every card that it can be, by hints and by counting what lies open, fits",
    "clued_play": "it fits; the player could not be sure, and its partner had just told something new about this card",
    "lucky_play": "it fits, but the player could not know",
    "misplay": "it does not fit: a life is lost",
    "clue_playable": "tells something new about a card that can be played now",
    "clue_new": "tells something new about other cards",
    "clue_redundant": "names only cards whose colour or rank the partner knew from a hint",
    "discard": "throws a card away that is not the last copy of one still needed",
    "discard_last": "throws the last copy of a needed card away",
}
"""Category -> meaning."""


def is_safe_play(state: HanabiState, known: Known) -> bool:
    """Every card that it can be, by hints alone, fits its stack."""
    return all(state.fits(card) for card in known.cards)


def possible_cards(state: HanabiState, seat: int, place: int) -> tuple[str, ...]:
    """What an own card can be, by hints and by counting the cards that are stacked, discarded or in the partner's hand."""
    stacked = [f"{color}{rank}" for color in COLORS for rank in RANKS[: state.fireworks[color]]]
    seen = [*state.discards, *state.hands[1 - seat], *stacked]
    return tuple(card for card in state.knowledge[seat][place].cards if seen.count(card) < COPIES[card[1]])


def is_known_playable(state: HanabiState, seat: int, place: int) -> bool:
    """Whatever the own card can be, counting included, it fits its stack."""
    return all(state.fits(card) for card in possible_cards(state, seat, place))


def is_safe_discard(state: HanabiState, known: Known) -> bool:
    """No card that it can be, by hints alone, will be needed."""
    return all(state.is_dead(card) for card in known.cards)


def newly_named(state: HanabiState, seat: int, move: Move) -> tuple[int, ...]:
    """Cards of the partner that a move tells something new about; none where it is no hint."""
    if move.card is not None:
        return ()
    knowledge = state.knowledge[1 - seat]
    return tuple(place for place in touched(state, seat, move) if not knowledge[place].is_hinted(move.verb))


def move_category(state: HanabiState, seat: int, move: Move, clued: Container[int] = ()) -> tuple[str, str]:
    """Category of a legal move, and what the rule saw.

    Args:
        state: before the move.
        seat: who moves.
        move: what it does.
        clued: own cards that the partner's move just before told something new about (`newly_named`).
    """
    if move.card is None:
        return _clue(state, seat, move)
    card, known = state.hands[seat][move.card], state.knowledge[seat][move.card]
    seen = f"card {move.card} is {card}; by hints it can be {known.colors} {known.ranks}"
    if move.verb == "discard":
        return ("discard_last" if state.is_last(card) else "discard"), seen
    if not state.fits(card):
        return "misplay", seen
    if is_known_playable(state, seat, move.card):
        return "safe_play", seen
    return ("clued_play" if move.card in clued else "lucky_play"), seen


def _clue(state: HanabiState, seat: int, move: Move) -> tuple[str, str]:
    partner = 1 - seat
    named = touched(state, seat, move)
    new = [*newly_named(state, seat, move)]
    playable = [place for place in new if state.fits(state.hands[partner][place])]
    seen = f"names {', '.join(f'card {place} ({state.hands[partner][place]})' for place in named)}; new about {new or 'none'}"
    return ("clue_playable" if playable else "clue_new" if new else "clue_redundant"), seen
