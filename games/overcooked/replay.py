"""A logged game played again from its macro actions: states, what each step changed, and where the log differs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from games.overcooked.engine.drawing import map_text
from games.overcooked.engine.execution import next_move
from games.overcooked.engine.layout import Cell, Layout, kitchen, neighbour
from games.overcooked.engine.vocabulary import PLACE
from games.overcooked.engine.world import Rules, World, WorldChange, start_world
from games.overcooked.measures.oracle import verified_actions

__all__ = ["ReplayedStep", "replay"]


class ReplayedStep(NamedTuple):
    """A timestep as the engine plays it."""

    before: dict[str, Any]
    after: dict[str, Any]
    done: Sequence[WorldChange]
    undoes: Sequence[bool]
    """Of each change: an agent takes back from a counter what it put there itself."""

    map_before: str
    """Picture of the kitchen before the step, as logs have it."""

    delivered: bool
    score: int
    """Points so far."""

    order: str
    notices: Sequence[str]
    """What the step tells both agents: contents that made nothing."""

    verified: Sequence[Sequence[str]]
    """Of each agent the actions, among those that were to be tried, that would have brought the order on."""


def replay(
    order: str,
    actions: Iterable[Sequence[str]],
    rules: Rules = "published",
    following: Sequence[Sequence[Sequence[str]]] = (),
    layout: Layout | None = None,
) -> Iterator[ReplayedStep]:
    """Execute the macro actions that were in force, one pair a step.

    Args:
        order: what is cooked.
        actions: of each step both agents' actions; drawn one by one.
        rules: the reading of the rules.
        following: of each step both agents' next actions by the references; each is tried against the kitchen as it stands.
        layout: the kitchen; None: the published one.
    """
    world = start_world(layout or kitchen(), order, rules)
    before = world.to_json()
    placed_by: dict[Cell, int] = {}
    verifier = _Verifier(world)
    for step, pair in enumerate(actions):
        picture = map_text(world)
        verified = verifier.verified(following[step] if following else ())
        full = set(world.counters)
        done = world.step([next_move(world, agent, action) for agent, action in enumerate(pair)])
        after = world.to_json()
        put = [(at, found.agent) for found in done if found.text == PLACE for at in _put_by(world, found.agent, full)]
        undoes = [found.text.endswith(", counter)") and _own(found.agent, full - set(world.counters), placed_by) for found in done]
        placed_by |= dict(put)
        yield ReplayedStep(before, after, done, undoes, picture, world.delivered, world.score, order, world.notices, verified)
        before = after


class _Verifier:
    """Looks which actions are verified; they are the same while agents only walk."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._seen: tuple[object, ...] = ()
        self._found: Sequence[Sequence[str]] = ()

    def verified(self, following: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
        seen = (following, self._world.stock())
        if seen != self._seen:
            self._seen = seen
            self._found = [verified_actions(self._world, agent, tried) for agent, tried in enumerate(following)]
        return self._found


def _own(agent: int, emptied: set[Cell], placed_by: dict[Cell, int]) -> bool:
    return any(placed_by.get(at) == agent for at in emptied)


def _put_by(world: World, agent: int, full: set[Cell]) -> list[Cell]:
    """The counter that an agent has just filled: the one it faces."""
    body = world.bodies[agent]
    ahead = neighbour(body.at, body.facing)
    return [ahead] if ahead in world.counters and ahead not in full else []
