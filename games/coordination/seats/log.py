"""What the turns of the four games have in common in the log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from games.coordination.players import Player
from games.coordination.seats.agent import Decided, Switches
from games.players.texts import texts_of
from schemas.game import UtteranceEntry

__all__ = ["CourseSetup", "earlier", "rules_of", "voices"]

_REMEMBERED = 5
"""Own earlier actions that are shown, as in the published kitchen."""


class CourseSetup(NamedTuple):
    """What a course needs to know of its game."""

    game: str
    name: str
    """The episode's, for the step log."""
    variant: str
    """Layout or scenario."""
    seed: int
    ticks: int
    """Length of a kitchen game."""
    deck: Sequence[str] | None
    taken: dict[Player, str]
    """Player -> who plays it."""
    switches: Switches


def rules_of(game: str, player: Player, partner: Player, **more: str) -> str:
    """Long-term memory of a player."""
    texts: dict[str, Any] = texts_of(__package__)["games"][game]
    return str(texts["rules"].format(player=player, partner=partner, **more)).strip()


def earlier(actions: Sequence[str], switches: Switches) -> str:
    """The own last actions as a line; nothing where there are none, or they are not remembered."""
    if not switches.memory or not actions:
        return ""
    return f"My last actions: {', '.join(actions[-_REMEMBERED:])}\n"


def voices(player: Player, decided: Decided) -> Iterator[UtteranceEntry]:
    """The replies of a decision, for their author alone; a choice that was rejected is superseded by the next one, if that has words."""
    last = max((place for place, (stage, said) in enumerate(decided.said) if stage == "generator" and said.text), default=-1)
    for place, (stage, said) in enumerate(decided.said):
        if said.reasoning:
            yield UtteranceEntry(agent=player, channel="private", audience=[player], text=said.reasoning)
        if said.text:
            superseded = stage == "generator" and place < last
            yield UtteranceEntry(agent=player, channel="private", audience=[player], text=said.text, superseded=superseded)
