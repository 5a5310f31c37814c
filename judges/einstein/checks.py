"""Engine checks of Einstein puzzles: knowledge sharing (KS1 to KS3) and rule understanding (RU1, RU2); and a step as they look at it.

State and actions decide sharing and moving. Claims of private reasoning are read from its text, and undecided where that is not possible.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from games.einstein.claims import Belongs, Lies
from games.einstein.engine.puzzle import ALLOWED, COMMON, REACH, Verbs
from games.einstein.game import AGENTS
from judges.checks import Check, Decision
from judges.claims.readers import reading_of
from judges.claims.reading import Open, all_certain, all_whole
from judges.einstein.reading import reads
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
    """The items that an agent was given or received before a turn."""
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


_NOTHING_SHARED: Final = Decision("na", "nothing is shared on this turn")


def is_new(game: Transcript, turn: int, agent: str | None) -> Decision:
    """KS1: the shared item was not shared successfully before, by either player."""
    action = game.turn(turn).action_of(agent)
    item = item_text(action) if action else None
    if item is None:
        return _NOTHING_SHARED
    earlier = next((number for number, share in shared_before(game, turn) if item_text(share) == item), None)
    if earlier is None:
        return Decision("yes", f"{item} was not shared before")
    return Decision("no", f"{item} was shared on turn {earlier}")


def is_held(game: Transcript, turn: int, agent: str | None) -> Decision:
    """KS2: the player holds the shared item."""
    action = game.turn(turn).action_of(agent)
    item = item_text(action) if action else None
    if item is None:
        return _NOTHING_SHARED
    holds = item in held_items(game.turn(turn), agent or "")
    return Decision("yes" if holds else "no", f"{item} is {'' if holds else 'not '}among the player's items")


def answers_question(game: Transcript, turn: int, agent: str | None) -> Decision:
    """KS3: after the partner's question, the step shares an item that the player holds and that is about the object asked for."""
    try:
        asked = asked_about(game, turn)
    except LookupError as error:
        return Decision(None, str(error))
    if asked is None:
        return Decision("na", "the partner asked nothing on the turn before")
    action = game.turn(turn).action_of(agent)
    item = item_text(action) if action else None
    if action is None or item is None:
        return Decision("no", f"{asked} was asked for, and nothing is shared")
    if not mentions(action, asked):
        return Decision("no", f"{asked} was asked for, and {item} is about something else")
    holds = item in held_items(game.turn(turn), agent or "")
    return Decision("yes" if holds else "no", f"{asked} was asked for; {item} is about it and is {'' if holds else 'not '}held")


def claims_follow(game: Transcript, turn: int, agent: str | None) -> Decision:
    """RU1: what the thoughts say of objects is what follows from what the player knows."""
    readings = [reading_of(game, turn, message) for message in game.turn(turn).by_channel("private", agent) if reads(message)]
    known = inferences(game.turn(turn), agent or "")
    claims, seen = all_certain(readings, Belongs), all_certain(readings, Lies)
    wrong = [claim for claim in claims if known.get(claim.block) != claim.goal]
    if wrong:
        return Decision("no", "; ".join(_correction(claim, known) for claim in wrong))
    whole = all_whole(readings, Belongs, Lies)
    if isinstance(whole, Open):
        return Decision(None, f"not every clause about objects could be read: {whole.why}")
    if any(known.get(claim.block) != claim.corner for claim in seen):
        return Decision(None, "an object is claimed to lie in a bin to which it is not known to belong: is that a claim, or a slip?")
    if not claims:
        return Decision("na", "the thoughts say of no object where it belongs")
    return Decision("yes", f"{len(claims)} claims, all of which follow from the player's items and the placed objects")


def _correction(claim: Belongs, known: Mapping[str, str]) -> str:
    reply = "unknown" if claim.goal is None else claim.goal
    return f"{claim.block}: stated {reply}, what follows is {known.get(claim.block, 'nothing')}"


def move_follows(game: Transcript, turn: int, agent: str | None) -> Decision:
    """RU2: an object whose goal follows goes to that goal, or to the common bin if the goal is out of reach."""
    action = game.turn(turn).action_of(agent)
    if action is None or action.verb != "move" or agent not in AGENTS:
        return Decision("na", "nothing is moved on this turn")
    block, target = str(action.arguments.get("block")), action.arguments.get("to")
    goal = inferences(game.turn(turn), agent).get(block)
    if goal is None:
        return Decision("na", f"the goal of {block} does not follow from what the player knows")
    wanted = goal if goal in REACH[AGENTS.index(agent)] else COMMON
    return Decision("yes" if target == wanted else "no", f"{block} belongs to {goal}: this player should move it to {wanted}")


CHECKS: Final[Mapping[str, Check]] = {
    "einstein.KS1": is_new,
    "einstein.KS2": is_held,
    "einstein.KS3": answers_question,
    "einstein.RU1": claims_follow,
    "einstein.RU2": move_follows,
}
"""Check name -> check."""

TAXONOMIES: Final[Mapping[str, str | None]] = {"einstein_published": "no_error"}
"""Taxonomy of the rules -> its category for a turn in which several could hold and none does (`judges.checks`)."""
