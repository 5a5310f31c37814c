"""What a Hanabi player says about the table, and what makes it true."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from games.coordination.hanabi import COLOR_NAMES, possible_cards
from games.coordination.players import Player, partner_of
from judges.coordination.situation import hanabi_state
from judges.evidence.transcript import TurnView

__all__ = ["forms"]

_LETTERS: Final = {name.lower(): letter for letter, name in COLOR_NAMES.items()}
_COLOR: Final = "red|yellow|green|white|blue"
_FLAGS: Final = re.IGNORECASE

_CARD: Final = re.compile(rf"\b(Alice|Bob)(?:'?s)? card (\d) (?:is|=|:) (?:an? |the )?({_COLOR}) ([1-5])\b", _FLAGS)
_OWN: Final = re.compile(rf"\bmy card (\d) (?:can only|must) be ((?:{_COLOR})(?:(?:/|, | or |, or )(?:{_COLOR}))*) ([1-5])\b", _FLAGS)
_NEXT: Final = re.compile(rf"\b({_COLOR}) ([1-5]),? (?:which |that )?(?:is|goes|comes) next on the ({_COLOR}) stack", _FLAGS)
_STACK: Final = re.compile(rf"\b(?:the )?({_COLOR}) stack is (?:currently )?(?:at )?([0-5])\b", _FLAGS)
_EMPTY_STACK: Final = re.compile(rf"\bthe ({_COLOR}) stack is (?:still )?empty", _FLAGS)
_TOKENS: Final = re.compile(r"\b(?:we|there) (?:have|are|is) (?:only )?(\d|no) (?:(?:reveal|information|clue|hint) )?tokens?\b", _FLAGS)
_LIVES: Final = re.compile(r"\b(?:we|there) (?:have|are|is) (?:only )?([0-3]) (?:life tokens?|li(?:fe|ves))\b", _FLAGS)
_DECK: Final = re.compile(r"\b(?:the )?deck (?:has|size is) (\d{1,9})\b", _FLAGS)
_UNKNOWN: Final = re.compile(
    rf"\b(Alice|Bob)(?:'?s)? card (\d) is (?:{_COLOR}) [1-5]\b.*?\b\1 (does not|doesn't) (?:yet )?know its (rank|colou?r)", _FLAGS
)

_Form = tuple[re.Pattern[str], Callable[[re.Match[str]], bool | None]]


def forms(turn: TurnView, player: Player) -> Sequence[_Form]:
    """The forms for the player whose turn it is; nobody sees the own cards, so of them only what hints and open cards allow is checked."""
    state, partner = hanabi_state(turn), partner_of(player)

    def card(match: re.Match[str]) -> bool | None:
        hand, place = state.hands[1], int(match[2])
        return hand[place] == _card(match[3], match[4]) if match[1].title() == partner and place < len(hand) else None

    def own(match: re.Match[str]) -> bool | None:
        place = int(match[1])
        named = {_card(color, match[3]) for color in re.findall(_COLOR, match[2].lower())}
        return set(possible_cards(state, 0, place)) <= named if place < len(state.knowledge[0]) else None

    def unknown(match: re.Match[str]) -> bool | None:
        place = int(match[2])
        if match[1].title() != partner or place >= len(state.knowledge[1]):
            return None
        known = state.knowledge[1][place]
        return len(known.ranks if match[4] == "rank" else known.colors) > 1

    def tokens(match: re.Match[str]) -> bool:
        return state.tokens == (0 if match[1] == "no" else int(match[1]))

    return (
        (_CARD, card),
        (_OWN, own),
        (_UNKNOWN, unknown),
        (_NEXT, lambda match: match[1].lower() == match[3].lower() and state.fits(_card(match[1], match[2]))),
        (_STACK, lambda match: state.fireworks[_LETTERS[match[1].lower()]] == int(match[2])),
        (_EMPTY_STACK, lambda match: state.fireworks[_LETTERS[match[1].lower()]] == 0),
        (_TOKENS, tokens),
        (_LIVES, lambda match: state.lives == int(match[1])),
        (_DECK, lambda match: state.deck == int(match[1])),
    )


def _card(color: str, rank: str) -> str:
    return f"{_LETTERS[color.lower()]}{rank}"
