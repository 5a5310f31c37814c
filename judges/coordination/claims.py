"""Statements about the state in a player's reasoning that a rule can read and check; everything else it leaves alone."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from games.coordination.escape.rules import FIXES_NEEDED
from games.coordination.hanabi.wording import COLOR_NAMES
from games.coordination.kitchen.rules import is_cooked
from games.coordination.players import Player, partner_of
from judges.coordination.situation import capture_state, escape_state, hanabi_state, kitchen_state
from judges.transcript import TurnView

__all__ = ["Claim", "claims"]

_CARD: Final = re.compile(r"\b(Alice|Bob)'?s card (\d) is (Red|Yellow|Green|White|Blue) ([1-5])", re.IGNORECASE)
_THIEF: Final = re.compile(r"\bthief is (?:currently )?in room (\d)", re.IGNORECASE)
_KILLER: Final = re.compile(r"\bkiller is (?:currently )?(?:located )?in room (\d+)", re.IGNORECASE)
_COOKER: Final = re.compile(r"\b(c\d) (?:is (empty|full)|holds (a cooked soup))", re.IGNORECASE)
_GENERATOR: Final = re.compile(r"\bgenerator in room (\d+) has (?:already )?(not been touched|been fixed)", re.IGNORECASE)


class Claim(NamedTuple):
    """A statement."""

    text: str
    is_true: bool


def claims(game: str, turn: TurnView, player: Player, text: str) -> list[Claim]:
    """The statements that can be checked, in order."""
    readers = {"hanabi": _cards, "overcooked": _cookers, "collab_capture": _thief, "collab_escape": _escape}
    return readers[game](turn, player, text) if game in readers else []


def _cards(turn: TurnView, player: Player, text: str) -> list[Claim]:
    """About the partner's cards: nobody sees the own ones."""
    state, found = hanabi_state(turn), []
    hand = state.hands[1]
    for match in _CARD.finditer(text):
        place = int(match[2])
        card = next(letter for letter, name in COLOR_NAMES.items() if name == match[3].title()) + match[4]
        if match[1].title() == partner_of(player) and place < len(hand):
            found.append(Claim(match[0], hand[place] == card))
    return found


def _cookers(turn: TurnView, player: Player, text: str) -> list[Claim]:  # noqa: ARG001  # one face for all games
    layout, state = kitchen_state(turn)
    found = []
    for match in _COOKER.finditer(text):
        spot = layout.names.get(match[1].lower())
        soup = state.objects.get(spot) if spot else None
        truths = {"empty": soup is None, "full": soup is not None and soup.onions > 2, "a cooked soup": is_cooked(soup)}  # noqa: PLR2004  # three fill it
        if spot is not None:
            found.append(Claim(match[0], truths[(match[2] or match[3]).lower()]))
    return found


def _thief(turn: TurnView, player: Player, text: str) -> list[Claim]:  # noqa: ARG001
    room = capture_state(turn).rooms["Thief"]
    return [Claim(match[0], int(match[1]) == room) for match in _THIEF.finditer(text)]


def _escape(turn: TurnView, player: Player, text: str) -> list[Claim]:  # noqa: ARG001
    state = escape_state(turn)
    found = [Claim(match[0], int(match[1]) == state.rooms["Adversary"]) for match in _KILLER.finditer(text)]
    for match in _GENERATOR.finditer(text):
        counter = state.generators.get(int(match[1]))
        if counter is not None:
            found.append(Claim(match[0], counter == 0 if match[2].lower().startswith("not") else counter >= FIXES_NEEDED))
    return found
