"""Scripted cooks: each chooses a listed macro action and says why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Final, NamedTuple

from games.coordination.kitchen.layouts import Layout
from games.coordination.kitchen.macros import MOVE_AWAY, WAIT, low_level, place_of
from games.coordination.kitchen.rules import COOKING_TICKS, ONIONS, KitchenState, is_cooked
from games.coordination.players import ScriptDecision

Policy = Callable[[Layout, KitchenState, int, tuple[str, ...], Random], ScriptDecision]
"""(kitchen, state, which cook, listed actions, random numbers) -> decision."""

_STEP_ASIDE: Final = 0.25
"""Share of otherwise idle decisions in which a cook makes way, so that two cooks cannot block one another for good."""

_MAKE_ROOM: Final = 0.5
"""The same where the partner blocks the way."""

_HAND_OVER: Final = "I cannot bring it there myself, so I hand it over."
_SOON: Final = COOKING_TICKS // 2


class Pots(NamedTuple):
    """Cookers by what they need."""

    wanting: list[str]
    """Onions."""

    cooked: list[str]
    soon: list[str]
    """Cooked, or half way there."""


class Wish(NamedTuple):
    """Something that would help: how the action begins, where it helps (anywhere if empty), and why."""

    begins: str
    places: list[str]
    reason: str


def _greedy(layout: Layout, state: KitchenState, cook: int, actions: tuple[str, ...], rng: Random) -> ScriptDecision:
    """Takes the first of what moves a soup on; where the partner blocks the way, now and then makes room."""
    for wish in wishes(state, cook, _pots(layout, state)):
        found = [text for text in actions if text.startswith(wish.begins) and (not wish.places or place_of(text) in wish.places)]
        if not found:
            continue
        if low_level(layout, state, cook, found[0]) == ("stay", True) and rng.random() < _MAKE_ROOM:
            return ScriptDecision(intended=MOVE_AWAY, explanation="My partner is in the way, so I make room.")
        return ScriptDecision(intended=found[0], explanation=wish.reason)
    aside = rng.random() < _STEP_ASIDE
    return ScriptDecision(intended=MOVE_AWAY if aside else WAIT, explanation="There is nothing to do at once, so I leave the way free.")


def _pots(layout: Layout, state: KitchenState) -> Pots:
    pots = {name: state.objects.get(spot) for name, spot in layout.names.items() if name.startswith("c")}
    wanting = [name for name, soup in pots.items() if soup is None or soup.onions < ONIONS]
    cooked = [name for name, soup in pots.items() if is_cooked(soup)]
    cooking = [name for name, soup in pots.items() if soup and soup.onions == ONIONS and soup.ticks >= _SOON]
    return Pots(wanting, cooked, cooked or cooking)


def wishes(state: KitchenState, cook: int, pots: Pots) -> list[Wish]:
    """What would help, best first."""
    held = state.cooks[cook].held
    if held is None:
        return _wishes_with_free_hands(state, cook, pots)
    if held.name == "onion":
        put_down = bool(pots.soon) and not pots.wanting and not _partner_has_plate(state, cook)
        aside = [Wish("place onion on k", [], "A plate is wanted more than this onion.")] if put_down else []
        placed = [Wish("place onion in c", pots.wanting, "This cooker wants more onions.")] if pots.wanting else []
        return [*placed, Wish("place onion in s", [], _HAND_OVER), *aside]
    if held.name == "dish":
        aside = [] if pots.soon else [Wish("place plate on k", [], "No soup is near its end, so I need my hands.")]
        loads = [Wish("load soup", pots.cooked, "The soup is cooked.")] if pots.cooked else []
        return [*loads, Wish("place plate in s", [], _HAND_OVER), *aside]
    return [Wish("place soup for delivery", [], "The soup is ready to be delivered."), Wish("place cooked soup in s", [], _HAND_OVER)]


def _wishes_with_free_hands(state: KitchenState, cook: int, pots: Pots) -> list[Wish]:
    wishes = [Wish("pick up cooked soup", [], "A cooked soup waits to be delivered.")]
    if pots.soon and not _partner_has_plate(state, cook):
        wishes += [Wish("pick up plate", [], "A soup is nearly ready and needs a plate.")]
        wishes += [Wish("pick up a plate", [], "A soup is nearly ready and needs a plate.")]
    if pots.wanting:
        wishes += [Wish(begins, [], "A cooker wants more onions.") for begins in ("pick up onion from s", "pick up onion")]
    return wishes


def _partner_has_plate(state: KitchenState, cook: int) -> bool:
    held = state.cooks[1 - cook].held
    return held is not None and held.name == "dish"


def _waiter(_layout: Layout, _state: KitchenState, _cook: int, _actions: tuple[str, ...], _rng: Random) -> ScriptDecision:
    return ScriptDecision(intended=WAIT, explanation="My partner will do it.", injected=("idle",))


def _random(_layout: Layout, _state: KitchenState, _cook: int, actions: tuple[str, ...], rng: Random) -> ScriptDecision:
    return ScriptDecision(intended=rng.choice(actions), explanation="Any action is fine.")


def _contrary(layout: Layout, state: KitchenState, cook: int, actions: tuple[str, ...], rng: Random) -> ScriptDecision:
    """Acts as the greedy cook, but now and then says the opposite of how the first cooker is."""
    decision = _greedy(layout, state, cook, actions, rng)
    if rng.random() >= _STEP_ASIDE:
        return decision
    soup = state.objects.get(layout.names["c0"])
    said = "c0 is empty." if soup is not None else "c0 holds a cooked soup."
    return ScriptDecision(intended=decision.intended, explanation=said, injected=("misgrounded_state",))


POLICIES: Final[Mapping[str, Policy]] = {"greedy": _greedy, "waiter": _waiter, "random": _random, "contrary": _contrary}
