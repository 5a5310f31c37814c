"""Pieces of evidence that only Einstein puzzles have: items, placed objects, reach, questions, shares, the chosen action."""

from typing import Final

from games.einstein.engine.puzzle import DESTINATIONS, REACH
from games.einstein.game import AGENTS
from judges.einstein.checks import asked_about, held_items, inferences, item_text, shared_before
from judges.evidence.frame import Entry, Frame
from judges.evidence.pieces import AGENT_UNITS, Pieces, UnitContext, action_text
from judges.evidence.transcript import ActionView

PIECES: Final = Pieces("einstein")


@PIECES.add("chosen_action", "the action that the judged player chose; not whether it worked", AGENT_UNITS)
def _chosen_action(context: UnitContext) -> list[Entry]:
    action = context.now.action_of(context.agent_name)
    return [] if action is None else [Entry(Frame("{} chose:", context.agent_name), _written(action))]


def _written(action: ActionView) -> str:
    """An action in the words of the game; of an unreadable one what stood there."""
    given = action.arguments
    if action.verb == "move":
        return f"move {given.get('block')} from {given.get('from')} to {given.get('to')}"
    item = item_text(action)
    if item is not None:
        return f"share {item}"
    return f"ask {given.get('block')}" if action.verb == "ask" else action_text(action.verb, given)


@PIECES.add("held_items", "the knowledge items that the judged player held before the step", AGENT_UNITS)
def _held(context: UnitContext) -> list[Entry]:
    return [
        Entry(Frame("Items that {} holds before this step:", context.agent_name), "\n".join(held_items(context.now, context.agent_name)))
    ]


@PIECES.add("placed_objects", "the objects that lay in their goal bins before the step", AGENT_UNITS)
def _placed(context: UnitContext) -> list[Entry]:
    bins = context.now.state_before.get("bins", {})
    lines = [f"{name}: {', '.join(map(str, bins[name]))}" for name in DESTINATIONS if bins.get(name)]
    return [Entry(Frame("Objects that lie in their goal bins, for both players to see:"), "\n".join(lines) or "none")]


@PIECES.add("reachable_bins", "the bins that the judged player reaches", AGENT_UNITS)
def _reach(context: UnitContext) -> list[Entry]:
    if context.agent_name not in AGENTS:
        return []
    bins = REACH[AGENTS.index(context.agent_name)]
    return [Entry(Frame("Bins that {} reaches:", context.agent_name), ", ".join(bins))]


@PIECES.add("shares_so_far", "the items that either player had shared successfully before the step", AGENT_UNITS)
def _shares(context: UnitContext) -> list[Entry]:
    lines = [f"turn {number}, {action.agent}: {item_text(action)}" for number, action in shared_before(context.game, context.now.turn)]
    return [Entry(Frame("Items shared before this step:"), "\n".join(lines) or "none")]


@PIECES.add("question_before", "what the partner asked on the step directly before", AGENT_UNITS)
def _question(context: UnitContext) -> list[Entry]:
    try:
        asked = asked_about(context.game, context.now.turn)
    except LookupError:  # a log that does not say whether the action space has asking
        return []
    return [] if asked is None else [Entry(Frame("On the step before, the partner asked about:"), asked)]


@PIECES.add("inferences", "the goals that follow from what the judged player knows (a leak; for variants)", AGENT_UNITS)
def _inferences(context: UnitContext) -> list[Entry]:
    known = inferences(context.now, context.agent_name)
    lines = [f"{block}: {goal}" for block, goal in known.items()]
    return [Entry(Frame("Goals that follow from what {} knows:", context.agent_name), "\n".join(lines) or "none")]


@PIECES.add("step_outcome", "whether the engine accepted the action (a leak; for variants)", AGENT_UNITS)
def _step_outcome(context: UnitContext) -> list[Entry]:
    action = context.now.action_of(context.agent_name)
    if action is None:
        return []
    return [Entry(Frame("The engine's answer:"), "accepted" if action.accepted else f"refused: {action.error_text}")]
