"""A step of an Einstein game as checks and evidence look at it: who did what, holding which items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from games.einstein.engine.puzzle import ALLOWED, Verbs
from games.einstein.game import AGENTS
from judges.evidence.transcript import ActionView, JsonObject, Transcript, TurnView

_MODES: Final[Mapping[str, Verbs]] = {str(mode): verbs for mode, verbs in ALLOWED.items()}


def item_text(action: ActionView) -> str | None:
    """The item of a share as prompts and states write it; None for any other action."""
    if action.verb != "share":
        return None
    given = action.arguments
    if "in" in given:
        return f"({given.get('block')}, in, {given['in']})"
    return f"({', '.join(map(str, given.get('blocks', ())))}, same, {given.get('same')})"


def mentions(action: ActionView, block: object) -> bool:
    """Whether a share is about an object."""
    return block == action.arguments.get("block") or block in action.arguments.get("blocks", ())


def held_items(turn: TurnView, agent: str) -> Sequence[str]:
    """The items that an agent was given or told before a turn."""
    return tuple(map(str, _knowledge(turn, agent).get("items", ())))


def inferences(turn: TurnView, agent: str) -> Mapping[str, str]:
    """Object -> goal bin, for every goal that follows from what the agent knew before a turn."""
    found = _knowledge(turn, agent).get("infers", {})
    return found if isinstance(found, dict) else {}


def _knowledge(turn: TurnView, agent: str) -> JsonObject:
    found = turn.state_before.get("knowledge", {}).get(agent, {})
    return found if isinstance(found, dict) else {}


def shared_before(game: Transcript, turn: int) -> Iterator[tuple[int, ActionView]]:
    """Successful shares before a turn, with their turns."""
    for earlier in game.turns[: turn - 1]:
        yield from ((earlier.turn, action) for action in earlier.actions if action.verb == "share" and action.accepted)


def asked_about(game: Transcript, turn: int) -> str | None:
    """The object that the partner asked for on the turn directly before, in an action space that has asking; None otherwise.

    Raises:
        LookupError: the partner asked, but the store does not say in which action space.
    """
    if turn < 2:  # noqa: PLR2004 - nothing is before the first turn
        return None
    ask = next((action for action in game.turn(turn - 1).actions if action.verb == "ask"), None)
    if ask is None:
        return None
    modes = game.details.get("modes")
    if not isinstance(modes, list) or len(modes) != len(AGENTS) or ask.agent not in AGENTS:
        raise LookupError("the log does not say in which action spaces the players act")
    verbs = _MODES.get(str(modes[0 if ask.agent == AGENTS[0] else 1]))
    return str(ask.arguments.get("block")) if verbs is not None and verbs.ask else None
