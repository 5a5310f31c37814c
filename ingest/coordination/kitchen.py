"""Overcooked games of LLM-Coordination: what a logged game becomes, tick by tick, with the kitchen replayed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from games.coordination.kitchen.layouts import LAYOUTS, Layout, Spot
from games.coordination.kitchen.macros import cookers, macro_category
from games.coordination.kitchen.rules import COOKING_TICKS, DELIVERY, DIRECTIONS, TICKS, Cook, Item, KitchenState, Ticked, start, step
from games.coordination.kitchen.shown import shown_state
from games.coordination.players import PLAYERS
from ingest.coordination.parts import Act, Category, GameParts, PrivateReply, ReplayDifference, TurnParts
from ingest.coordination.records import CookAction, ItemRecord, KitchenStep
from schemas.errors import BadInputError

__all__ = ["kitchen_game"]


def kitchen_game(steps: Sequence[KitchenStep]) -> GameParts:
    """A game from its ticks.

    Raises:
        BadInputError: the layout is unknown, or a cook stands where none can.
    """
    first, last = steps[0], steps[-1]
    if first.layout not in LAYOUTS:
        raise BadInputError(f"no layout {first.layout!r}: there are {', '.join(LAYOUTS)}")
    layout = LAYOUTS[first.layout]
    states = [_state(entry, layout) for entry in steps]
    ticked = [step(layout, state, [action.low_level for action in entry.actions]) for state, entry in zip(states, steps, strict=True)]
    afters = [*states[1:], ticked[-1].state]
    shown = _shown(layout, steps, states, afters)
    turns = [
        _turn(layout, entry, (before, after), tick, pair)
        for entry, before, after, tick, pair in zip(steps, states, afters, ticked, shown, strict=True)
    ]
    turns[0].differences = [*_state_differences("start", start(layout), states[0]), *turns[0].differences]
    policies = {action.player: action.policy for entry in reversed(steps) for action in entry.actions if action.policy}
    return GameParts(
        game="overcooked",
        task_id=layout.name,
        condition={"game": "overcooked", "layout": layout.name},
        policies={player: policies.get(player) for player in PLAYERS},
        styles=dict.fromkeys(PLAYERS),
        seed=None,
        max_turns=len(steps) if last.terminal else TICKS,
        success=last.score > 0,
        score=float(last.score),
        stop_reason="out_of_time" if last.terminal else None,
        metrics=_metrics(steps),
        turns=turns,
        goal={"soups": "as many as possible", "points_each": DELIVERY},
    )


def _metrics(steps: Sequence[KitchenStep]) -> dict[str, float]:
    stays = {player: sum(a.low_level == "stay" for s in steps for a in s.actions if a.player == player) for player in PLAYERS}
    return {
        "score": steps[-1].score,
        "deliveries": sum(entry.sparse_reward // DELIVERY for entry in steps),
        "ticks": len(steps),
        "llm_calls": sum(action.new_macro for entry in steps for action in entry.actions),
        "stay_alice": stays["Alice"],
        "stay_bob": stays["Bob"],
    }


def _shown(
    layout: Layout, steps: Sequence[KitchenStep], befores: Sequence[KitchenState], afters: Sequence[KitchenState]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The kitchen before and after each tick: as a rule one tick begins with the very thing that the one before it has left."""
    last: dict[str, Any] | None = None
    for entry, before, after in zip(steps, befores, afters, strict=True):
        points = entry.score - entry.sparse_reward
        first = last if last is not None and last["score"] == points else shown_state(before, points, layout)
        last = shown_state(after, entry.score, layout)
        yield first, last


def _turn(
    layout: Layout,
    entry: KitchenStep,
    states: tuple[KitchenState, KitchenState],
    ticked: Ticked,
    shown: tuple[dict[str, Any], dict[str, Any]],
) -> TurnParts:
    before, after = states
    asked = [action for action in entry.actions if action.new_macro]
    differences = list(_state_differences("state", ticked.state, after))
    if ticked.reward != entry.sparse_reward:
        differences.append(ReplayDifference("reward", str(entry.sparse_reward), str(ticked.reward)))
    return TurnParts(
        before=shown[0],
        after=shown[1],
        progress=min(1.0, entry.score / DELIVERY / (layout.pots * TICKS / COOKING_TICKS)),
        goal_reached=False,
        said=[PrivateReply(action.player, action.response) for action in asked if action.response],
        acts=[_act(action, number, before, ticked.state) for number, action in enumerate(entry.actions)],
        categories=[category for action in asked for category in _categories(layout, before, action)],
        injected={action.player: action.injected for action in asked},
        differences=differences,
        metrics={"overcooked_score": entry.score} if entry.sparse_reward else {},
    )


def _act(action: CookAction, number: int, before: KitchenState, after: KitchenState) -> Act:
    cook, then = before.cooks[number], after.cooks[number]
    fault = None
    others = (before.cooks[1 - number].spot, after.cooks[1 - number].spot)
    stands = action.low_level in DIRECTIONS and then.spot == cook.spot
    if stands and cook._replace(facing=action.low_level).front in others:
        fault = ("collision", "the partner is in the way: nobody moves")
    elif action.low_level == "interact" and then.held == cook.held and before.objects.get(cook.front) == after.objects.get(cook.front):
        fault = ("no_effect", "nothing to take, put or deliver there")
    return Act(action.player, action.low_level, {"macro": action.current_macro, "asked": action.new_macro}, action.intended, fault)


def _categories(layout: Layout, before: KitchenState, action: CookAction) -> list[Category]:
    selected = action.selected or action.current_macro or ""
    slip = action.intended is not None and action.intended.rstrip(".") != selected.rstrip(".")
    category, evidence = macro_category(cookers(layout, before), selected)
    return [
        Category("overcooked_macro", action.player, category, evidence),
        Category(
            "coordination_grounding",
            action.player,
            "slip" if slip else "as_intended",
            f"meant {action.intended}, did {selected}" if slip else None,
        ),
    ]


def _item(record: ItemRecord | None) -> Item | None:
    if record is None:
        return None
    state = record.state
    return Item(record.name) if state is None else Item(record.name, *state[1:])


def _state(entry: KitchenStep, layout: Layout) -> KitchenState:
    by_name = {cook.name: cook for cook in entry.players}
    if set(by_name) != set(PLAYERS) or [action.player for action in entry.actions] != list(PLAYERS):
        raise BadInputError(f"tick {entry.tick} does not have both players once, Alice first: the game is left out")
    cooks = tuple(Cook(Spot(*by_name[player].position), by_name[player].orientation, _item(by_name[player].held)) for player in PLAYERS)
    objects = {Spot(*found.position): item for found in entry.objects if (item := _item(found)) is not None}
    if any(cook.spot not in layout.floor for cook in cooks) or not objects.keys() <= layout.tiles:
        raise BadInputError(f"tick {entry.tick} has a cook or an object outside the floor or the kitchen: the game is left out")
    return KitchenState(cooks, objects)


def _state_differences(name: str, replayed: KitchenState, logged: KitchenState) -> list[ReplayDifference]:
    cooks = [
        ReplayDifference(f"{name}.{player}", repr(tuple(b)), repr(tuple(a)))
        for player, a, b in zip(PLAYERS, replayed.cooks, logged.cooks, strict=True)
        if a != b
    ]
    objects = (
        [] if replayed.objects == logged.objects else [ReplayDifference(f"{name}.objects", repr(logged.objects), repr(replayed.objects))]
    )
    return [*cooks, *objects]
