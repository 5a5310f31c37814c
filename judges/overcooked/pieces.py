"""Pieces of evidence that only Collab-Overcooked has: order and recipe, the kitchen, what was done, requests and answers."""

from typing import Final

from games.overcooked.engine.layout import AGENTS, kitchen
from games.overcooked.engine.tasks import recipe_text
from games.overcooked.measures import TimestepOutput
from games.overcooked.text.replies import NOTHING, requests_meant
from judges.evidence.frame import Entry, Frame
from judges.evidence.pieces import AGENT_UNITS, TURN_UNITS, Pieces, UnitContext
from judges.evidence.transcript import JsonObject
from judges.overcooked.checks import done_before, event_at, layout_in, messages_of, task_in

PIECES: Final = Pieces("overcooked")


@PIECES.add("order_recipe", "the order with the recipe", TURN_UNITS)
def _order(context: UnitContext) -> list[Entry]:
    task = task_in(context.game)
    if task is None:
        return []
    return [Entry(Frame("The order and its recipe, which only the Chef is given:"), recipe_text(task.order, task.layout))]


@PIECES.add("kitchen", "hands, utensils and counters before the step", TURN_UNITS)
def _kitchen(context: UnitContext) -> list[Entry]:
    return [Entry(Frame("The kitchen before this step:"), "\n".join(_lines(context.now.state_before, _cook_time(context))))]


def _lines(state: JsonObject, cook_time: int) -> list[str]:
    hands = [f"{agent} holds {body['held'] or 'nothing'}" for agent, body in zip(AGENTS, state["agents"], strict=True)]
    utensils = [f"{name}: {_contents(pot, cook_time)}" for name, pot in state["utensils"].items()]
    counters = [f"counter {place}: {item}" for place, item in state["counters"].items()]
    return [*hands, *(utensils or ["all utensils are empty"]), *(counters or ["all counters are empty"])]


def _contents(pot: JsonObject, cook_time: int) -> str:
    if pot["product"] is None:
        return ", ".join(pot["contents"])
    return f"{pot['product']}, {'ready' if pot['timer'] >= cook_time else 'still processing'}"


def _cook_time(context: UnitContext) -> int:
    return (layout_in(context.game) or kitchen()).cook_time


@PIECES.add("partner_done", "what the partner of the judged agent has done before this turn", AGENT_UNITS)
def _partner_done(context: UnitContext) -> list[Entry]:
    return [
        Entry(Frame("What {} has done so far:", agent), "\n".join(done_before(context.game, context.now.turn, agent)) or "nothing")
        for agent in AGENTS
        if agent != context.agent_name
    ]


@PIECES.add("own_done", "what the judged agent has done before this turn", AGENT_UNITS)
def _own_done(context: UnitContext) -> list[Entry]:
    name = context.agent_name
    return [Entry(Frame("What {} has done so far:", name), "\n".join(done_before(context.game, context.now.turn, name)) or "nothing")]


@PIECES.add("requests", "actions that the judged agent requests in its plans of this turn", AGENT_UNITS)
def _requests(context: UnitContext) -> list[Entry]:
    """What the judged agent's plans request, as written for the evaluation; the partner sees only what was stated."""
    asked = [
        action
        for message in messages_of(context.game, context.now, context.agent_name)
        if AGENTS[message.agent] == context.agent_name
        for action in requests_meant(message.plan)
    ]
    return [Entry(Frame("{} requests:", context.agent_name), "\n".join(asked))] if asked else []


_SILENT: Final = TimestepOutput(-1, "", "", NOTHING)
"""What an answer leaves that was empty, or could not be read."""


@PIECES.add("opening", "what the judged agent said to open a conversation", AGENT_UNITS)
def _opening(context: UnitContext) -> list[Entry]:
    if event_at(context.game, context.now.turn, context.agent_name) is None:
        return []
    reply = context.now.by_channel("public", context.agent_name)[:1]
    return [Entry(Frame("{} said:", context.agent_name), entry.text) for entry in reply]


@PIECES.add("partner_opening", "what the partner said to open a conversation", AGENT_UNITS)
def _asked(context: UnitContext) -> list[Entry]:
    partner = next(name for name in AGENTS if name != context.agent_name)
    reply = context.now.by_channel("public", partner)[:1] if event_at(context.game, context.now.turn, partner) else []
    return [Entry(Frame("{} said:", partner), entry.text) for entry in reply]


@PIECES.add("answer", "plan and words with which the judged agent answered its partner", AGENT_UNITS)
def _answer(context: UnitContext) -> list[Entry]:
    partner = next(name for name in AGENTS if name != context.agent_name)
    if event_at(context.game, context.now.turn, partner) is None:
        return []
    answers = (message for message in messages_of(context.game, context.now, partner) if AGENTS[message.agent] == context.agent_name)
    first = next(answers, _SILENT)
    name = context.agent_name
    return [Entry(Frame("{} planned:", name), first.plan or "nothing"), Entry(Frame("{} said:", name), first.say)]
