"""What a player of one of the four games answers, and how the answer becomes a listed action."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, Literal

from games.coordination.qa.wratio import best_match

__all__ = ["PLAYERS", "Injected", "Player", "ScriptDecision", "ground", "ground_by_similarity", "partner_of"]

Player = Literal["Alice", "Bob"]
PLAYERS: Final[tuple[Player, Player]] = ("Alice", "Bob")

Injected = Literal["misgrounded_card", "misgrounded_state", "misgrounded_location", "redundant_clue", "unsafe_play", "idle"]
"""What a scripted player does wrong on purpose."""

_ACTION: Final = re.compile(r"Action:\s*(.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptDecision:
    """A scripted player's answer."""

    intended: str
    """The listed text that is meant."""

    explanation: str
    injected: tuple[Injected, ...] = ()

    @property
    def response(self) -> str:
        """The answer as a model would write it."""
        return f"Explanation: {self.explanation}\nAction: {self.intended}"


def partner_of(player: Player) -> Player:
    """The other player."""
    return "Bob" if player == "Alice" else "Alice"


def ground(response: str, listed: Sequence[str]) -> str | None:
    """The listed action that the published harness takes from a response; None where it has no marker.

    The first listed text that contains the answer, else the most similar one: slips are part of it (docs/coordination.md, "Grounding").
    """
    said = _said(response)
    if said is None:
        return None
    return next((text for text in listed if said in text.lower()), None) or listed[best_match(said, listed)[0]]


def ground_by_similarity(response: str, listed: Sequence[str], rng: Random) -> str:
    """The same in Hanabi, where only similarity counts and a missing marker means a random listed action."""
    said = _said(response)
    return rng.choice(list(listed)) if said is None else listed[best_match(said, listed)[0]]


def _said(response: str) -> str | None:
    found = _ACTION.search(response)
    if found is None:
        return None
    said = found[1].lower()
    return said.partition("action:")[2].strip() if "action:" in said else said.strip()
