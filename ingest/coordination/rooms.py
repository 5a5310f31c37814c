"""What games of CollabCapture and CollabEscape have in common when they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from games.coordination.players import Player
from ingest.coordination.facts import RoomPlayer
from ingest.coordination.parts import Category
from ingest.coordination.records import CaptureStep, EscapeStep
from ingest.reading.difference import Difference
from schemas.errors import BadInputError
from schemas.text import excerpt

__all__ = ["differences", "grounding", "listed_actions", "policies", "styles", "unlisted"]


def policies(steps: Sequence[CaptureStep] | Sequence[EscapeStep]) -> dict[Player, str | None]:
    """Who plays."""
    return {player.player: player.policy for player in steps[0].players}


def styles(steps: Sequence[CaptureStep] | Sequence[EscapeStep]) -> dict[Player, str | None]:
    """How they are to write."""
    return {player.player: player.style for player in steps[0].players}


def differences(pairs: Mapping[str, tuple[object, object]]) -> tuple[Difference, ...]:
    """Where what is logged is not what the rules give."""
    return tuple(Difference(name, repr(logged), repr(replayed)) for name, (logged, replayed) in pairs.items() if logged != replayed)


def listed_actions(due: Mapping[Player, Sequence[str | int]], players: Sequence[RoomPlayer]) -> dict[str, tuple[object, object]]:
    """The actions that a player was offered against those that the rules list, where the log has them."""
    return {
        f"{player.player}.available_actions": (list(player.available_actions), list(due[player.player]))
        for player in players
        if player.available_actions
    }


def grounding(player: RoomPlayer, *, slip: bool) -> Category:
    """Whether a player did what it meant."""
    evidence = f"meant {player.intended}, did {player.executed}" if slip else None
    return Category(player.player, "coordination_grounding", "slip" if slip else "as_intended", evidence)


def unlisted(player: Player, text: str, turn: int) -> BadInputError:
    """An action is none that the rules list."""
    return BadInputError(f"{player}'s action {excerpt(text)!r} of turn {turn} is none that the rules list: the game is left out")
