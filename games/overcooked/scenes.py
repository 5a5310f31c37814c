"""Kitchens between two steps, each worked out once: games come to the same ones again and again, by each other's ways and by their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple

import orjson

from games.overcooked.engine.drawing import map_text
from games.overcooked.engine.execution import next_move
from games.overcooked.engine.layout import Cell, Layout, neighbour
from games.overcooked.engine.vocabulary import PLACE
from games.overcooked.engine.world import Rules, World, WorldChange, start_world
from games.overcooked.measures.oracle import verified_actions

_MOST: Final = 512
"""Scenes of an order that are held at once: with those of all the others some ten megabytes."""

_Following = Sequence[tuple[str, ...]]

Verified = tuple[tuple[str, ...], ...]
"""Of each agent the actions that would bring the order on."""


class Scene:
    """A kitchen between two steps, whenever that is."""

    def __init__(self, world: World, verified: dict[_Following, Verified]) -> None:
        self.world = world
        """Not to be stepped on: `Scenes.outcome` says what a step leads to."""

        self._verified = verified
        self.outcomes: dict[tuple[str, ...], Outcome] = {}

    @cached_property
    def state(self) -> dict[str, Any]:
        """As it is stored; the same object for all who ask."""
        return self.world.to_json()

    @cached_property
    def state_json(self) -> str:
        """The same as JSON."""
        return orjson.dumps(self.state).decode()

    @cached_property
    def picture(self) -> str:
        """As logs have it."""
        return map_text(self.world)

    def verified(self, following: _Following) -> Verified:
        """Of each agent the actions, among those that were to be tried, that would bring the order on."""
        known = self._verified.get(following)
        if known is None:
            known = self._verified[following] = tuple([verified_actions(self.world, agent, tried) for agent, tried in enumerate(following)])
        return known


class Outcome(NamedTuple):
    """What a step does."""

    scene: Scene
    """The kitchen after it."""

    done: Sequence[WorldChange]
    filled: Mapping[Cell, int]
    """Counters on which something was put, and who did."""

    emptied: frozenset[Cell]
    """Counters from which something was taken."""

    spoiled: Sequence[str]
    """Utensils whose contents made nothing."""

    delivered: bool
    """The order was delivered in this step, rightly."""

    earned: int
    """Points."""


class Scenes:
    """The scenes of an order."""

    def __init__(self, layout: Layout, order: str, rules: Rules) -> None:
        self._start = start_world(layout, order, rules)
        self._scenes: dict[object, Scene] = {}
        self._verified: dict[object, dict[_Following, Verified]] = {}

    def start(self) -> Scene:
        """The kitchen before the first step."""
        return self._scene(self._start)

    def outcome(self, scene: Scene, actions: tuple[str, ...]) -> Outcome:
        """What both agents' actions lead to."""
        known = scene.outcomes.get(actions)
        if known is None:
            known = scene.outcomes[actions] = self._stepped(scene.world.copy(), actions)
        return known

    def _stepped(self, world: World, actions: Iterable[str]) -> Outcome:
        before = frozenset(world.counters)
        done = world.step([next_move(world, agent, action) for agent, action in enumerate(actions)])
        filled = {at: found.agent for found in done if found.text == PLACE for at in _put_by(world, found.agent, before)}
        emptied = before - world.counters.keys()
        return Outcome(self._scene(world), done, filled, emptied, world.spoiled, world.delivered, world.score)

    def _scene(self, world: World) -> Scene:
        position = world.position()
        known = self._scenes.get(position)
        if known is None:
            if len(self._scenes) == _MOST:
                self._scenes.clear()
                self._verified.clear()
            known = self._scenes[position] = Scene(world, self._verified.setdefault(world.stock(), {}))
        return known


@lru_cache(maxsize=32)  # the orders of the benchmark
def scenes_of(layout: Layout, order: str, rules: Rules) -> Scenes:
    """The scenes of an order, as far as games have come to them."""
    return Scenes(layout, order, rules)


def _put_by(world: World, agent: int, full: frozenset[Cell]) -> list[Cell]:
    """The counter that an agent has just filled: the one it faces."""
    body = world.bodies[agent]
    ahead = neighbour(body.at, body.facing)
    return [ahead] if ahead in world.counters and ahead not in full else []
