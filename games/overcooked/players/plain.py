"""A plain Chef and a plain Assistant who know what they are shown and nothing else: no memory, no script that they share.

The Chef works backwards from the order: what it needs and can make, it makes; what only the Assistant can bring, it asks for, action by
action, when the Assistant is free. The Assistant does the actions that are written out in the Chef's message.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from games.overcooked.engine.layout import AGENTS, DELIVER, DISH, DISH_DISPENSER, INGREDIENT_DISPENSER, PLACE, Layout, Utensil
from games.overcooked.text.replies import NOTHING, AgentInput, KitchenView, calls_of, read_scene

_WAIT: Final = "wait(1)"


def chef(shown: AgentInput) -> str:
    """The Chef's output."""
    if shown.kind == "reflect":
        return "Rethink: When an action is refused, look at the state before trying again."
    scene = read_scene(shown.text)
    if shown.kind == "validator":
        return _output(0, [_WAIT])
    kind, actions = _next(scene, shown.layout)
    if shown.kind in ("answer", "closing"):
        return _output(0, [_WAIT] if kind == "ask" else actions, "Good. [END]")
    if kind == "ask":
        return _output(0, [f"request('{action}')" for action in actions], f"Please do this: {'; '.join(actions)}")
    return _output(0, actions)


def assistant(shown: AgentInput) -> str:
    """The Assistant's output."""
    if shown.kind == "reflect":
        return "Rethink: When an action is refused, look at the state before trying again."
    scene = read_scene(shown.text)
    if shown.kind in ("answer", "closing"):
        asked = [call.text for call in calls_of(scene.messages[-1][1])] if scene.messages else []
        # the actions, with a pause behind each operation until its product is ready
        plan: list[str] = []
        for action in asked:
            plan.append(action)
            if shown.layout.is_operation(action):
                # pauses until what was started is ready, each as long as one may be
                steps, longest = shown.layout.cook_time - 1, shown.layout.wait_limit
                plan += [f"wait({min(longest, steps - waited)})" for waited in range(0, steps, longest)]
        return _output(1, plan or [_WAIT], "I will do that. [END]" if asked else "There is nothing to do. [END]")
    if shown.kind == "turn" and scene.holds[1] is not None and len(scene.counters) < len(shown.layout.shared_counters):
        return _output(1, [PLACE])
    return _output(1, [_WAIT])


def _output(agent: int, plan: Sequence[str], say: str = NOTHING) -> str:
    role = AGENTS[agent]
    thought = "I ask for what I cannot reach." if "request" in plan[0] else "I do what the state allows."
    return f"{role} analysis: {thought}\n{role} plan: {'; '.join(plan)}\n{role} say: {say}"


_Step = tuple[str, list[str]]
"""`do` own actions, or `ask` the Assistant for some."""


def _next(scene: KitchenView, layout: Layout) -> _Step:
    """What the Chef does next."""
    held = scene.holds[0]
    if held == scene.order:
        return "do", [DELIVER]
    if not layout.needs_dish.get(scene.order):
        return _get(scene, layout, scene.order)
    utensil = layout.maker(scene.order)
    assert utensil is not None
    if utensil.name not in scene.running and scene.ready.get(utensil.name) != scene.order:
        return _make(scene, layout, utensil, scene.order)
    if held == DISH:
        return "do", [f"fill_dish_with_food({utensil.name})"]
    return _get(scene, layout, DISH)


def _get(scene: KitchenView, layout: Layout, item: str) -> _Step:
    """Come to hold an item; with something else in the hand, put that down first."""
    utensil = layout.maker(item)
    place = "counter" if item in scene.counters else None
    if place is None and utensil is not None and utensil.name in layout.reaches[0]:
        if scene.ready.get(utensil.name) != item:
            return _make(scene, layout, utensil, item)
        place = utensil.name
    if place is None:
        # have the Assistant bring an item, as soon as it is free
        if scene.planned[1].strip() not in ("", _WAIT) or scene.holds[1] is not None or (utensil and utensil.name in scene.running):
            return "do", [_WAIT]
        if utensil is None:
            return "ask", [f"pickup({item},{DISH_DISPENSER if item == DISH else INGREDIENT_DISPENSER})", PLACE]
        return _fetch_made(scene, layout, item, utensil)
    return "do", [f"pickup({item},{place})"] if scene.holds[0] is None else [PLACE]


def _make(scene: KitchenView, layout: Layout, utensil: Utensil, item: str) -> _Step:
    """Bring an own utensil to make an item."""
    if utensil.name in scene.running:
        return "do", [_WAIT]
    inputs, inside = utensil.makes[item], scene.raw.get(utensil.name, ())
    missing = [part for part in inputs if part not in inside]
    if not missing:
        operate = f"{utensil.operation}({utensil.name})"
        return "do", [operate] if scene.holds[0] is None else [PLACE]
    if scene.holds[0] in missing:
        return "do", [f"put_obj_in_utensil({utensil.name})"]
    return _get(scene, layout, next((part for part in missing if part in scene.counters), missing[0]))


def _fetch_made(scene: KitchenView, layout: Layout, item: str, utensil: Utensil) -> _Step:
    """Have the Assistant make an item; where it needs something of the Chef's for that, make and pass it first."""
    fetch = [f"pickup({item},{utensil.name})", PLACE]
    if scene.ready.get(utensil.name) == item:
        return "ask", fetch
    operate = f"{utensil.operation}({utensil.name})"
    part = utensil.makes[item][0]
    if part in scene.raw.get(utensil.name, ()):
        return "ask", [operate, *fetch]
    if part not in layout.ingredients and part not in scene.counters:
        # put an own product on a counter, so that the Assistant can go on with it
        if scene.holds[0] == part:
            return "do", [PLACE]
        return _get(scene, layout, part)
    source = "counter" if part in scene.counters else INGREDIENT_DISPENSER
    return "ask", [f"pickup({part},{source})", f"put_obj_in_utensil({utensil.name})", operate, *fetch]


SCRIPTS: Final[Mapping[str, Mapping[str, Callable[[AgentInput], str]]]] = {"chef": {"plain": chef}, "assistant": {"plain": assistant}}
"""Role -> script -> policy."""
