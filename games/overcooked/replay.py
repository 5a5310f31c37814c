"""A logged game played again from its macro actions: states, changes, verified next actions, and cotrace's log entries.

A next action is verified if a reference has it next and the kitchen allows it. That a reference has it next makes progress rise
(`games.overcooked.engine.references`), but references do not know what went wrong meanwhile. So the validator must accept the action now,
and what is put, placed, operated or filled must belong to the order.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from games.overcooked.engine.actions import next_move, parse_call, verb_of
from games.overcooked.engine.layout import AGENTS, PLACE, Cell, Layout, kitchen, neighbour
from games.overcooked.engine.references import workflow
from games.overcooked.engine.validator import code_of, refusal
from games.overcooked.engine.world import Rules, World, WorldChange, map_text, spoiled_notice, start_world
from games.overcooked.text.replies import Fields, message_parts
from schemas.game import ActionEntry, Turn, UtteranceEntry

_FILL: Final = "fill_dish_with_food"
_PUT: Final = "put_obj_in_utensil"


def verified_actions(world: World, agent: int, following: Sequence[str]) -> tuple[str, ...]:
    """Give those among the references' next actions of an agent that can be done now and serve the order."""
    return tuple(action for action in following if _serves(world, agent, action) and refusal(world, agent, action) is None)


def _serves(world: World, agent: int, action: str) -> bool:
    held = world.bodies[agent].held
    if action == PLACE:
        free = world.layout.shared_counters - set(world.counters)
        return bool(free) and f"pass {held}" in workflow(world.order, world.layout).units
    call = parse_call(action)
    if call is None or len(call.arguments) != 1 or call.arguments[0] not in world.layout.utensils:
        return True  # pickups and the delivery: what they need is all that the validator asks for
    name = call.arguments[0]
    pot = world.utensils.get(name)
    if call.name == _FILL:
        return pot is not None and pot.product == world.order
    units = workflow(world.order, world.layout).units
    wanted = [Counter(items) for product, items in world.layout.utensils[name].makes.items() if f"start {product}" in units]
    contents = Counter(pot.contents if pot is not None else ())
    if call.name == _PUT:
        return held is not None and any(contents + Counter([held]) <= items for items in wanted)
    return contents in wanted


_MOST: Final = 512
"""Scenes of an order that are held at once: with those of all the others some ten megabytes."""

_Following = Sequence[tuple[str, ...]]

Verified = tuple[tuple[str, ...], ...]
"""Of each agent the actions that would bring the order on."""


class Scene:
    """A kitchen between two steps, whenever that is."""

    def __init__(self, world: World, verified: dict[_Following, Verified]) -> None:
        self.world = world
        """Not to be stepped on: `Scenes.outcome` has what a step leads to."""

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
        ahead = [neighbour(body.at, body.facing) for body in world.bodies]  # what is put down is put where an agent looks
        filled = {ahead[found.agent]: found.agent for found in done if found.text == PLACE}
        filled = {at: agent for at, agent in filled.items() if at in world.counters and at not in before}
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


class ReplayedStep(NamedTuple):
    """A timestep as the engine plays it."""

    before: dict[str, Any]
    after: dict[str, Any]
    """Not to be changed: other steps that lead to the same state hold the same object."""
    before_json: str
    after_json: str
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
    verified: Verified
    """Of each agent the actions, among those that were to be tried, that would have brought the order on."""


def replay(
    order: str,
    actions: Iterable[Sequence[str]],
    rules: Rules = "published",
    following: Sequence[tuple[tuple[str, ...], ...]] = (),
    layout: Layout | None = None,
) -> Iterator[ReplayedStep]:
    """Execute the macro actions that were in force, one pair a step.

    Args:
        order: what is cooked.
        actions: of each step both agents' actions; drawn one by one.
        rules: the reading of the rules.
        following: of each step both agents' next actions by the references; each is tried against the kitchen as it is then.
        layout: the kitchen; None: the published one.
    """
    scenes = scenes_of(layout or kitchen(), order, rules)
    scene, delivered, score = scenes.start(), False, 0
    placed_by: dict[Cell, int] = {}
    for step, pair in enumerate(actions):
        verified = scene.verified(following[step] if following else ())
        outcome = scenes.outcome(scene, tuple(pair))
        delivered, score = delivered or outcome.delivered, score + outcome.earned
        undoes = [
            found.text.endswith(", counter)") and any(placed_by.get(at) == found.agent for at in outcome.emptied) for found in outcome.done
        ]
        placed_by |= outcome.filled
        notices = [spoiled_notice(name, step + 1) for name in outcome.spoiled]
        after = outcome.scene
        yield ReplayedStep(
            scene.state,
            after.state,
            scene.state_json,
            after.state_json,
            outcome.done,
            undoes,
            scene.picture,
            delivered,
            score,
            order,
            notices,
            verified,
        )
        scene = after


_Refused: TypeAlias = tuple[int, str, str]
"""Agent, the action as written, and why it was refused."""


def turn_entry(
    entry: Mapping[str, Any], result: ReplayedStep, refused: Sequence[_Refused], thoughts: Sequence[tuple[int, str]], *, at: str
) -> Turn:
    """Give a timestep, of its log entry as the published code writes it; `thoughts`: agent and what it thought apart from its text."""
    return Turn(
        turn=entry["timestamp"] + 1,
        at=at,
        state_before=result.before,
        state_after=result.after,
        utterances=[*(_private(AGENTS[agent], text) for agent, text in thoughts), *_utterances(entry)],
        actions=[*map(_refusal, refused), *_done(entry, result)],
        goal_reached=entry["statistical_data"]["score"] > 0,
    )


def _utterances(entry: Mapping[str, Any]) -> Iterator[UtteranceEntry]:
    for messages in entry["content"]["content"]:
        for message in messages:
            agent = AGENTS[message["agent"]]
            for part, text in message_parts(Fields(message["analysis"], message["plan"], message["say"])):
                spoken = UtteranceEntry(agent=agent, channel="public", audience=list(AGENTS), text=text)
                yield spoken if part == "say" else _private(agent, text)
    for name, lessons in zip(AGENTS, entry["content"]["reflection"], strict=True):
        for lesson in lessons:
            yield _private(name, f"Rethink: {lesson}")


def _private(agent: str, text: str) -> UtteranceEntry:
    return UtteranceEntry(agent=agent, channel="private", audience=[agent], text=text)


def _refusal(refused: _Refused) -> ActionEntry:
    agent, written, message = refused
    verb, arguments = verb_of(written)
    return ActionEntry(
        agent=AGENTS[agent],
        verb=verb,
        arguments=arguments,
        raw=written,
        accepted=False,
        error_code=code_of(message),
        error_text=message.strip(),
    )


def _done(entry: Mapping[str, Any], result: ReplayedStep) -> Iterator[ActionEntry]:
    """What changed the world; walking and waiting leave no action."""
    for done, undoes in zip(result.done, result.undoes, strict=True):
        verb, arguments = verb_of(done.text)
        raw = entry["actions"][done.agent].strip()
        yield ActionEntry(agent=AGENTS[done.agent], verb=verb, arguments=arguments, raw=raw, accepted=True, undoes=undoes)
