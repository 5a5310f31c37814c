"""What another move of one agent would have kept of a step, the partner's as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from games.overcooked.engine.actions import parse_call
from games.overcooked.engine.layout import AGENTS, INGREDIENT_DISPENSER, STEPS
from games.overcooked.engine.references import workflow
from games.overcooked.engine.tasks import Task
from games.overcooked.engine.world import Body, Move, Pot, World
from games.overcooked.value import left_of, steps_left
from judges.evidence.transcript import JsonObject, TurnView

__all__ = ["gains", "moves_of", "needless", "stood", "world_of"]


def world_of(task: Task, state: JsonObject) -> World:
    """The kitchen of a stored state, to be played on from."""
    bodies = [Body((body["at"][0], body["at"][1]), body["facing"], body["held"]) for body in state["agents"]]
    world = World(task.layout, task.order, "published", (bodies[0], bodies[1]))
    world.utensils = {name: Pot(tuple(pot["contents"]), pot["product"], pot["timer"]) for name, pot in state["utensils"].items()}
    for name, item in state["counters"].items():
        x, y = name.strip("()").split(",")
        world.counters[int(x), int(y)] = item
    return world


def moves_of(view: TurnView) -> list[Move]:
    """Both agents' moves in a step, from what it changed."""
    found = []
    for agent, (before, after) in enumerate(zip(view.state_before["agents"], view.state_after["agents"], strict=True)):
        done = next((action for action in view.actions if action.accepted and action.agent == AGENTS[agent]), None)
        if done is not None:
            found.append(Move(interact=True, item=done.arguments.get("object")))
        else:
            found.append(Move() if before == after else Move(after["facing"]))
    return found


def stood(view: TurnView, agent: int) -> bool:
    """Whether an agent neither walked nor turned nor did anything."""
    return moves_of(view)[agent] == Move()


def needless(task: Task, state: JsonObject, agent: int) -> str | None:
    """What an agent holds that nothing left to do takes."""
    held: str | None = state["agents"][agent]["held"]
    if held is None:
        return None
    left = left_of(task.order, state, task.layout)
    begun = any(found.begun and found.unit.agent == agent for found in left.values())
    return None if begun else held


def gains(task: Task, view: TurnView, after: float) -> Sequence[float]:
    """For each agent how many steps its best move in the place of its own would have kept; 0 where none would.

    Hands that hold what nothing takes are emptied first: what was picked up wrongly holds up until it is put down.

    Args:
        task: what is cooked, and where.
        view: the step.
        after: the fewest steps left after it.
    """
    logged = moves_of(view)
    return [max((after - left for left in _others(task, view, agent, logged)), default=0.0) for agent in range(len(AGENTS))]


def _others(task: Task, view: TurnView, agent: int, logged: Sequence[Move]) -> Iterator[float]:
    rid = needless(task, view.state_before, agent) is not None
    for move in _moves(task, view.state_before, agent, free=rid):
        world = world_of(task, view.state_before)
        if rid:
            world.bodies[agent].held = None
        world.step([move if who == agent else made for who, made in enumerate(logged)])
        yield float(steps_left(task.order, world.to_json(), delivered=world.delivered, layout=task.layout))


def _moves(task: Task, state: JsonObject, agent: int, *, free: bool) -> Iterator[Move]:
    """What an agent could do in a step: stay, walk or turn, use what it faces."""
    yield Move()
    yield from (Move(direction) for direction in STEPS)
    yield Move(interact=True)
    if free or state["agents"][agent]["held"] is None:
        yield from (Move(interact=True, item=item) for item in _raw_items(task, agent))


def _raw_items(task: Task, agent: int) -> Iterator[str]:
    """What an agent has to fetch from the ingredient dispenser."""
    for unit in workflow(task.order, task.layout).of(agent):
        call = parse_call(unit.actions[0])
        if call is not None and call.arguments[1:] == (INGREDIENT_DISPENSER,):
            yield call.arguments[0]
