"""Pieces of evidence that only AsymPuzl has: clues, working hypotheses, the partner's latest message."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from judges.evidence.frame import Entry, Frame
from judges.evidence.pieces import AGENT_UNITS, Pieces, UnitContext, action_text
from judges.evidence.transcript import TurnView, UtteranceView

PIECES: Final = Pieces("asympuzl")


@PIECES.add("own_clues", "the clues of the judged agent", AGENT_UNITS)
def _clues(context: UnitContext) -> list[Entry]:
    view = context.game.agents.get(context.agent_name)
    listed = (view.private_view or {}).get("clues", ()) if view else ()
    return [Entry(Frame("The clues of {}:", context.agent_name), _positions(listed))] if listed else []


@PIECES.add("own_hypothesis", "its working hypothesis before and after its answer", AGENT_UNITS)
def _hypothesis(context: UnitContext) -> list[Entry]:
    states = ((Frame("before its answer"), context.now.state_before), (Frame("after its answer"), context.now.state_after))
    name = context.agent_name
    return [Entry(Frame("The hypothesis of {} {}:", name, when), _positions(state[name])) for when, state in states if state.get(name)]


@PIECES.add("own_actions", "its actions, and which of them were skipped", AGENT_UNITS)
def _own_actions(context: UnitContext) -> list[Entry]:
    lines = [
        _action(action.verb, action.arguments, action.error_text) for action in context.now.actions if action.agent == context.agent_name
    ]
    return [Entry(Frame("The actions of {}, in order:", context.agent_name), "\n".join(lines))] if lines else []


def _action(verb: str, arguments: Mapping[str, Any], error: str | None) -> str:
    return action_text(verb, arguments) + (f" (skipped: {error})" if error else "")


@PIECES.add("partner_message", "the latest message of the partner when it answered", AGENT_UNITS)
def _partner_message(context: UnitContext) -> list[Entry]:
    """The latest message of the partner that this agent had when it answered: of this turn if the partner spoke before it."""
    heard = [message for turn in _recent(context) for message in _before(context, turn) if message.agent != context.agent_name]
    return [Entry(Frame("{} had said last:", heard[-1].agent), heard[-1].text)] if heard else []


@PIECES.add("previous_message", "its own message of the turn before", AGENT_UNITS)
def _previous_message(context: UnitContext) -> list[Entry]:
    earlier = [message for turn in _recent(context)[:-1] for message in turn.by_channel("public", context.agent_name)]
    return [Entry(Frame("{} itself had said before:", context.agent_name), earlier[-1].text)] if earlier else []


def _recent(context: UnitContext) -> Sequence[TurnView]:
    return [turn for turn in context.game.turns if context.now.turn - 1 <= turn.turn <= context.now.turn]


def _before(context: UnitContext, turn: TurnView) -> list[UtteranceView]:
    messages = turn.by_channel("public")
    if turn.turn < context.now.turn:
        return messages
    own = next((place for place, one in enumerate(messages) if one.agent == context.agent_name), len(messages))
    return messages[:own]


@PIECES.add("puzzle_truth", "the right solution, which no agent was shown", AGENT_UNITS)
def _puzzle_truth(context: UnitContext) -> list[Entry]:
    listed = (context.game.goal or {}).get("truth", ())
    return [Entry(Frame("The right solution:"), _positions(listed))] if listed else []


def _positions(listed: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(f"{place}: {one.get('shape')} {one.get('color') or '(color unknown)'}" for place, one in enumerate(listed, start=1))
