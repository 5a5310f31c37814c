"""What a player of one of the four games answers, and how the answer becomes a listed action."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from games.coordination.qa.wratio import best_match
from schemas.replies import Read as ReadKind

Player = Literal["Alice", "Bob"]
PLAYERS: Final[tuple[Player, Player]] = ("Alice", "Bob")

Injected = Literal["misgrounded_card", "misgrounded_state", "misgrounded_location", "redundant_clue", "unsafe_play", "idle"]
"""What a scripted player does wrong on purpose."""

PLANTED_QUESTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "misgrounded_card": ("coordination_environment", "EC1"),
    "misgrounded_state": ("coordination_environment", "EC1"),
    "misgrounded_location": ("coordination_environment", "EC1"),
    "redundant_clue": ("coordination_theory_of_mind", "TOM1"),
    "unsafe_play": ("coordination_joint_planning", "JP1"),
    "idle": ("coordination_joint_planning", "JP3"),
}
"""What a script does wrong on purpose -> rubric and question whose true answer is then no."""

Read = Literal["exact", "asked_again", "guessed", "random", "default"]

READS: Final[Mapping[Read, str]] = {
    "exact": "the reply names exactly one listed action",
    "asked_again": "an earlier reply named no listed action; the player was asked again, and its last reply names one exactly",
    "guessed": "the reply names no listed action exactly; the published harness took the most similar one",
    "random": "the reply names no listed action; the harness drew one at random",
    "default": "the reply names no listed action; the harness took the action that does nothing",
}
"""How a reply became an action -> what that means."""

KINDS: Final[Mapping[Read, ReadKind]] = {
    "exact": "as asked",
    "asked_again": "repaired",
    "guessed": "guessed",
    "random": "random",
    "default": "unreadable",
}
"""How a reply became an action -> the kind that all games have in common."""

HARNESS_READS: Final[tuple[Read, ...]] = ("guessed", "random", "default")
"""Those whose action is the harness's, not the player's: no verdict is about it, and no player is at fault for it."""

_ACTION: Final = re.compile(r"Action:\s*(.*)")
_MARKER: Final = re.compile(r"\baction[\s*_]*:[\s*_]*", re.IGNORECASE)
_THOUGHT: Final = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.IGNORECASE | re.DOTALL)
_LABEL: Final = re.compile(r"([A-Z])\.? (?=[A-Z])")
_WRITTEN_LABEL: Final = re.compile(r"([a-z])\s*[.):]\s*(?=\S)")
_AROUND: Final = " \t\r\n.,;!`*_\"'()[]{}<>\u201c\u201d\u2018\u2019"
_QUOTES: Final = str.maketrans({"\u2019": "'", "\u2018": "'", "\u00a0": " "})


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


def named_action(response: str, listed: Sequence[str]) -> str | None:
    """Give the listed action that a reply names exactly; None where it names none, or more than one.

    Read is what follows `Action:` up to the end of the line, or the whole reply where there is no such mark, outside of thoughts. Case,
    white space, punctuation and marks around it do not matter, nor does a missing letter. A letter alone, a letter of another action, or
    other words before or after the action do.
    """
    text = _THOUGHT.sub("", response)
    _, *marked = _MARKER.split(text)
    written = {_plain(piece.partition("\n")[0]) for piece in marked if piece.strip()} or {_plain(text)}
    names = {name: text for text in listed for name in _names(text)}
    found = {names.get(text) for text in written}
    return found.pop() if len(found) == 1 else None


def _names(listed: str) -> tuple[str, ...]:
    """A listed action with its letter, and without one."""
    label = _LABEL.match(listed)
    return (_plain(listed),) if label is None else (_plain(listed), _plain(listed[label.end() :]))


def _plain(text: str) -> str:
    words = " ".join(text.translate(_QUOTES).strip(_AROUND).lower().split())
    return _WRITTEN_LABEL.sub(r"\1 ", words, count=1) if _WRITTEN_LABEL.match(words) else words


def ground(response: str, listed: Sequence[str], *, contained: bool = True) -> str | None:
    """The listed action that the published harness takes from a response; None where it has no marker.

    The first listed text that contains the answer (not in Hanabi: ``contained`` False), else the most similar one: slips are part of it
    (docs/coordination.md, "Grounding").
    """
    said = _said(response)
    if said is None:
        return None
    within = next((text for text in listed if said in text.lower()), None) if contained else None
    return within or listed[best_match(said, listed)[0]]


def read_of(response: str, executed: str, *, at_random: bool) -> Read | None:
    """How the published harness came from a response to the action that it carried out; None without a response.

    Args:
        response: the player's last reply.
        executed: the action that was carried out, as listed.
        at_random: whether a reply without a marker is a draw; else the harness does nothing.
    """
    if not response.strip():
        return None
    if named_action(response, [executed]) is not None:
        return "exact"
    if _said(response) is not None:
        return "guessed"
    return "random" if at_random else "default"


def _said(response: str) -> str | None:
    found = _ACTION.search(response)
    if found is None:
        return None
    said = found[1].lower()
    return said.partition("action:")[2].strip() if "action:" in said else said.strip()
