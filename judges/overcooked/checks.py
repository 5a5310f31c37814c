"""Engine checks of Collab-Overcooked: categories of requests and answers (`games.overcooked.taxonomy`) in stored games."""

from collections.abc import Mapping, Sequence
from typing import Final

from games.overcooked.engine.actions import Trajectory, normalised
from games.overcooked.engine.layout import AGENTS, Layout
from games.overcooked.engine.own_kitchen import kitchen_of
from games.overcooked.engine.references import published_references
from games.overcooked.engine.tasks import Task, task_of
from games.overcooked.measures import Event, TimestepOutput, event_of
from games.overcooked.taxonomy import as_meant, initiating_category, not_understood, responding_category
from games.overcooked.text.replies import NOTHING
from judges.checks import Check, Decision
from judges.evidence.transcript import ActionView, Transcript, TurnView
from schemas.common.errors import BadInputError, UsageError


def task_in(game: Transcript) -> Task | None:
    """What was cooked and where; None where the order is not one of the kitchen's."""
    order = (game.goal or {}).get("order", game.task_id)
    try:
        return task_of(str(order), kitchen_of(game.goal))
    except (UsageError, BadInputError):
        return None


def layout_in(game: Transcript) -> Layout | None:
    """The kitchen of a game; None: the published one."""
    task = task_in(game)
    return None if task is None else task.layout


def action_call(action: ActionView) -> str:
    """An action as trajectories have it: `pickup(egg,counter)`."""
    return normalised(f"{action.verb}({','.join(str(value) for value in action.arguments.values())})")


def done_before(game: Transcript, turn: int, agent: str) -> list[str]:
    """What an agent had done before a turn, by name of the agent."""
    return [
        action_call(action)
        for earlier in game.turns
        if earlier.turn < turn
        for action in earlier.actions
        if action.agent == agent and action.accepted
    ]


def messages_of(game: Transcript, turn: TurnView, opener: str) -> list[TimestepOutput]:
    """The messages of the conversation that an agent opened on a turn; empty if it opened none."""
    place = next(
        (entry for entry in game.details.get("conversations", ()) if entry["turn"] == turn.turn and entry["opener"] == opener), None
    )
    if place is None:
        return []
    found: list[TimestepOutput] = []
    for message in turn.utterances:
        if place["first_seq"] <= message.seq <= place["last_seq"]:
            agent = AGENTS.index(message.agent)
            part = "say" if message.channel == "public" else "plan" if message.text.startswith(_PLANS) else "analysis"
            rank = ("analysis", "plan", "say").index(part)
            last = found[-1] if found else None
            if last is None or last.agent != agent or rank <= (2 if last.say != NOTHING else bool(last.plan)):
                found.append(TimestepOutput(agent, "", "", NOTHING))
            parts = {"analysis": found[-1].analysis, "plan": found[-1].plan, "say": found[-1].say} | {part: message.text}
            found[-1] = TimestepOutput(agent, parts["analysis"], parts["plan"], parts["say"])
    return found


_PLANS = tuple(f"{agent} plan" for agent in AGENTS)


def references_of(game: Transcript, agent: int) -> Sequence[Trajectory]:
    """The published references of an agent."""
    task = task_in(game)
    return [] if task is None else [(pair.chef, pair.assistant)[agent] for pair in published_references(task.order, task.layout)]


def event_at(game: Transcript, turn: int, opener: str) -> Event | None:
    """The conversation that an agent opened on a turn; None if it opened none, or the order is not one of the benchmark's."""
    if task_in(game) is None or opener not in AGENTS:
        return None
    messages = messages_of(game, game.turn(turn), opener)
    recorded = [done_before(game, turn, agent) for agent in AGENTS]
    return event_of(messages, turn - 1, recorded, [references_of(game, 0), references_of(game, 1)], layout_in(game))


def initiating(game: Transcript, turn: int, agent: str | None) -> Decision:
    """IC1: what kind of request the agent opened its conversation with."""
    opener = agent or ""
    event = event_at(game, turn, opener)
    if event is None:
        return Decision("na", "the agent opens no conversation on this turn")
    own, messages, layout = references_of(game, event.responder), messages_of(game, game.turn(turn), opener), layout_in(game)
    unread = not_understood(event, messages, layout)
    if unread:
        return Decision(None, f"message not understood: {'; '.join(map(repr, unread))}")
    category, meant = initiating_category(event, messages, own, layout), as_meant(event, messages, own, layout)
    asked = "; ".join(meant.request) or "nothing the partner can do"
    return Decision(category, f"requested: {asked}; the partner's trajectory score would change by {meant.initiating:+.3f}")


def responding(game: Transcript, turn: int, agent: str | None) -> Decision:
    """RC1: what kind of answer the agent gave to a conversation that its partner opened."""
    opener = next((name for name in AGENTS if name != agent), "")
    event = event_at(game, turn, opener)
    if event is None:
        return Decision("na", "the partner opens no conversation on this turn")
    own = references_of(game, event.responder)
    messages, layout = messages_of(game, game.turn(turn), opener), layout_in(game)
    category = responding_category(event, messages, own, layout)
    if category is None:
        return Decision(None, f"message not understood: {'; '.join(map(repr, not_understood(event, messages, layout)))}")
    planned = "; ".join(event.plan) or "nothing that counts"
    return Decision(category, f"planned: {planned}; the agent's trajectory score would change by {event.responding:+.3f}")


CHECKS: Final[Mapping[str, Check]] = {"overcooked.IC1": initiating, "overcooked.RC1": responding}
"""Name -> check."""
