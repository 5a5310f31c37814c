"""What the players' observation texts say of the game against its logged state; a text in other words is not compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from games.coordination.hanabi.wording import COLOR_NAMES
from games.coordination.kitchen.wording import HELD_NAMES
from games.coordination.players import PLAYERS, Player, partner_of
from ingest.coordination.facts import CaptureFacts, EscapeFacts
from ingest.coordination.records import HanabiStep, ItemRecord, KitchenStep
from ingest.reading.difference import Difference

__all__ = ["told_in_capture", "told_in_escape", "told_in_hanabi", "told_in_kitchen"]

_CAPTURE: Final = re.compile(
    r"I (Alice|Bob) am in room (\d)\. (?:Alice|Bob) is in room (\d)\. Thief is in room (\d)\. "
    r"Door between room 1 and room 2 is (open|closed)\. Door between room 3 and room 4 is (open|closed)\."
)
_ESCAPE: Final = re.compile(
    r"My name is (Alice|Bob)\. I am in (room \d+)\. (?:Alice|Bob) is in (room \d+)\..*?killer is (?:currently located )?in (room \d+)"
    r".*?The exit gate is (open|closed)\.",
    re.DOTALL,
)
_HANABI: Final = re.compile(r"Remaining Reveal Tokens: (\d+)\s+Remaining Lives: (\d+)\s+Deck Size: (\d+)")
_STACK: Final = re.compile(r"\b([A-Z][a-z]+) - \1 (\d)")
_CARD: Final = re.compile(r"\[Card \d: ([A-Z])[a-z]+ (\d)\]")
_HOLDING: Final = re.compile(r"I am holding ([a-z ]+)\. (?:Alice|Bob) is holding ([a-z ]+)\.")
_BOTH: Final = frozenset(PLAYERS)


def told_in_capture(step: CaptureFacts) -> Iterator[Difference]:
    """Rooms and doors."""
    rooms, doors = step.rooms_before, [_gate(is_open=step.doors_before[door]) for door in ("1-2", "3-4")]
    for player in step.players:
        name = player.player
        due = (name, *(str(rooms[who]) for who in (name, partner_of(name), "Thief")), *doors)
        yield from _differing(name, _CAPTURE, player.observation_text, due)


def told_in_escape(step: EscapeFacts) -> Iterator[Difference]:
    """Rooms and the exit gate."""
    rooms = step.rooms_before
    for player in step.players:
        name = player.player
        due = (name, rooms[name], rooms[partner_of(name)], rooms["Adversary"], _gate(is_open=step.exit_gate_before))
        yield from _differing(name, _ESCAPE, player.observation_text, due)


def told_in_hanabi(step: HanabiStep) -> Iterator[Difference]:
    """Tokens, lives, deck, stacks and the partner's cards."""
    table, text = step.state_before, step.observation_text or ""
    counts = tuple(map(str, (table.information_tokens, table.life_tokens, table.deck_size)))
    yield from _differing(step.player, _HANABI, text, counts)
    stacks = dict(_STACK.findall(text))
    due = {COLOR_NAMES[color]: str(rank) for color, rank in table.fireworks.items()}
    if stacks and stacks != due:
        yield Difference(f"{step.player}.observation_text", repr(stacks), repr(due))
    cards = ["".join(card) for card in _CARD.findall(text)]
    hand = table.hands.get(partner_of(step.player), [])
    if cards and cards != hand:
        yield Difference(f"{step.player}.observation_text", repr(cards), repr(hand))


def told_in_kitchen(step: KitchenStep) -> Iterator[Difference]:
    """What both hold, where both are told of."""
    told = [action for action in step.actions if action.observation_text]
    if not told:
        return
    held: dict[Player, str] = {cook.name: _words(cook.held) for cook in step.players}
    for action in told:
        if held.keys() == _BOTH:
            due = (held[action.player], held[partner_of(action.player)])
            yield from _differing(action.player, _HOLDING, action.observation_text, due)


def _differing(player: Player, wording: re.Pattern[str], text: str | None, due: tuple[str, ...]) -> Iterator[Difference]:
    told = _told(wording, text or "")
    if told is not None and told != due:
        yield Difference(f"{player}.observation_text", repr(told), repr(due))


@lru_cache(maxsize=1024)  # who is where comes again, and so do the words for it
def _told(wording: re.Pattern[str], text: str) -> tuple[str | None, ...] | None:
    found = wording.search(text)
    return None if found is None else found.groups()


def _gate(*, is_open: bool) -> str:
    return "open" if is_open else "closed"


def _words(item: ItemRecord | None) -> str:
    return "nothing" if item is None else HELD_NAMES[item.name]
