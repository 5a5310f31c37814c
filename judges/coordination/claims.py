"""Statements about the state in a player's reasoning that a rule can read and check; everything else it leaves alone.

Each game has a list of forms (`claims_hanabi`, `claims_kitchen`, `claims_rooms`): a pattern, and what makes it true. A sentence counts up
to its first word that makes it a plan, a guess or a condition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from games.coordination.players import Player
from judges.coordination import claims_hanabi, claims_kitchen, claims_rooms
from judges.evidence.transcript import TurnView

__all__ = ["Statement", "claims"]

_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+(?=[A-Z\"'])|\n")
_ACTION: Final = re.compile(r"\s*\**Action\b", re.IGNORECASE)
_HEDGE: Final = re.compile(
    r"\b(?:if|would|could|might|may|will|'ll|should|suppos\w+|assum\w+|unless|until|once|when|whether|likely|probably|perhaps|maybe|"
    r"believes?|thinks?|guess|hop(?:e|ing)|wants?|was|were|had|after|then|so that|make sure|ensures?|expect\w*|predict\w*|chose|"
    r"next turn)\b",
    re.IGNORECASE,
)

_Truth = Callable[[re.Match[str]], bool | None]
_FORMS: Final[Mapping[str, Callable[[TurnView, Player], Sequence[tuple[re.Pattern[str], _Truth]]]]] = {
    "hanabi": claims_hanabi.forms,
    "overcooked": claims_kitchen.forms,
    "collab_capture": claims_rooms.capture_forms,
    "collab_escape": claims_rooms.escape_forms,
}
"""Game -> its forms for a turn and a player: pattern, and whether what it matched is true; None where the state does not tell."""


class Statement(NamedTuple):
    """A statement."""

    text: str
    is_true: bool


def claims(game: str, turn: TurnView, player: Player, text: str) -> list[Statement]:
    """The statements that can be checked, in the order of the forms."""
    if game not in _FORMS:
        return []
    said = list(_statements(text))
    return [
        Statement(match[0].strip(), is_true)
        for pattern, truth in _FORMS[game](turn, player)
        for sentence in said
        for match in pattern.finditer(sentence)
        if (is_true := truth(match)) is not None
    ]


def _statements(text: str) -> Iterator[str]:
    """Sentences without the chosen action, each up to its first word that says it is no statement of fact."""
    for sentence in _SENTENCE.split(text):
        if _ACTION.match(sentence) or sentence.rstrip().endswith("?"):
            continue
        hedge = _HEDGE.search(sentence)
        yield sentence[: hedge.start()] if hedge else sentence
