"""Overcooked games of LLM-Coordination: what a logged game becomes, tick by tick, with the kitchen replayed."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from games.coordination import kitchen as rules
from games.coordination.players import PLAYERS, Player, read_of
from ingest.coordination.game import Act, Category, GameParts, PrivateReply, TurnParts, act, grounding, own_moves, reading, state_text
from ingest.coordination.records import CookAction, KitchenStep
from ingest.reading.adapter_types import Difference
from schemas.common.errors import BadInputError
from schemas.records import Json

_BOTH: Final = frozenset(PLAYERS)


_Soup = tuple[str, int, int]
_Thing = tuple[str, _Soup | None]
"""A thing that is held, and what is in it where it is a soup."""

_Fault = tuple[str, str]
"""Code and words."""


class _Replay(NamedTuple):
    """A logged position, and what the rules make of it."""

    before: rules.KitchenState
    ticked: rules.Ticked
    faults: tuple[_Fault | None, ...]
    """Of each cook, where what it did came to nothing."""
    pots: Mapping[str, rules.Item | None]
    """What is in the cookers."""


def kitchen_game(steps: Sequence[KitchenStep]) -> GameParts:
    """A game from its ticks.

    Raises:
        BadInputError: the layout is unknown, or a cook is where none can be.
    """
    first, last = steps[0], steps[-1]
    if first.layout not in rules.LAYOUTS:
        raise BadInputError(f"no layout {first.layout!r}: there are {', '.join(rules.LAYOUTS)}")
    layout = rules.LAYOUTS[first.layout]
    replayed = [_replay_of(entry, layout) for entry in steps]
    befores = [replay.before for replay in replayed]
    afters = [*befores[1:], replayed[-1].ticked.state]
    shown = _shown(layout, steps, befores, afters)
    turns = [_turn(layout, entry, replay, after, pair) for entry, replay, after, pair in zip(steps, replayed, afters, shown, strict=True)]
    turns[0].differences = [*_state_differences("start", rules.start(layout), befores[0]), *turns[0].differences]
    by_alice, by_bob = zip(*(entry.actions for entry in steps), strict=True)
    return GameParts(
        game="overcooked",
        task_id=layout.name,
        condition={"game": "overcooked", "layout": layout.name},
        policies={
            player: next((entry.actions[number].policy for entry in steps if entry.actions[number].policy), None)
            for number, player in enumerate(PLAYERS)
        },
        styles=dict.fromkeys(PLAYERS),
        max_turns=len(steps) if last.terminal else rules.TICKS,
        score=float(last.score),
        stop_reason="out_of_time" if last.terminal else None,
        metrics={
            "score": steps[-1].score,
            "deliveries": sum(entry.sparse_reward // rules.DELIVERY for entry in steps),
            "ticks": len(steps),
            "llm_calls": sum(action.new_macro for action in (*by_alice, *by_bob)),
            "stay_alice": sum(action.low_level == "stay" for action in by_alice),
            "stay_bob": sum(action.low_level == "stay" for action in by_bob),
        },
        turns=turns,
        goal={"soups": "as many as possible", "points_each": rules.DELIVERY},
    )


def _shown(
    layout: rules.Layout, steps: Sequence[KitchenStep], befores: Sequence[rules.KitchenState], afters: Sequence[rules.KitchenState]
) -> Iterator[tuple[Json, Json]]:
    """The kitchen before and after each tick: as a rule one tick begins with the very thing that the one before it has left."""
    left: int | None = None
    last = Json("")
    for entry, before, after in zip(steps, befores, afters, strict=True):
        points = entry.score - entry.sparse_reward
        first = last if left == points else state_text(rules.shown_state(before, points, layout))
        left, last = entry.score, state_text(rules.shown_state(after, entry.score, layout))
        yield first, last


def _turn(
    layout: rules.Layout,
    entry: KitchenStep,
    replay: _Replay,
    after: rules.KitchenState,
    shown: tuple[Json, Json],
) -> TurnParts:
    ticked = replay.ticked
    asked = [action for action in entry.actions if action.new_macro]
    differences = [] if ticked.state == after else _state_differences("state", ticked.state, after)
    if ticked.reward != entry.sparse_reward:
        differences.append(Difference("reward", str(entry.sparse_reward), str(ticked.reward)))
    return TurnParts(
        before=shown[0],
        after=shown[1],
        progress=min(1.0, entry.score / rules.DELIVERY / (layout.pots * rules.TICKS / rules.COOKING_TICKS)),
        goal_reached=False,
        replies=[PrivateReply(action.player, action.response) for action in asked if action.response],
        acts=[
            _acted((action.player, action.low_level), action.current_macro, action.intended, fault, asked=action.new_macro)
            for action, fault in zip(entry.actions, replay.faults, strict=True)
        ],
        categories=own_moves([category for action in asked for category in _categories(replay.pots, action)]),
        injected={action.player: action.injected for action in asked},
        differences=differences,
        metrics={"overcooked_score": entry.score} if entry.sparse_reward else {},
    )


@lru_cache(maxsize=4096)
def _acted(doing: tuple[Player, str], macro: str | None, intended: str | None, fault: _Fault | None, *, asked: bool) -> Act:
    return act(doing, {"macro": macro, "asked": asked}, intended, fault)


def _fault(low: str, number: int, before: rules.KitchenState, after: rules.KitchenState) -> _Fault | None:
    """Why what a cook did came to nothing, if it did."""
    cook, then = before.cooks[number], after.cooks[number]
    partner = [state.cooks[1 - number].spot for state in (before, after)]
    if low in rules.DIRECTIONS and then.spot == cook.spot and cook._replace(facing=low).front in partner:
        return "collision", "the partner is in the way: no one moves"
    if low == "interact" and then.held == cook.held and before.objects.get(cook.front) == after.objects.get(cook.front):
        return "no_effect", "nothing to take, put or deliver there"
    return None


def _categories(pots: Mapping[str, rules.Item | None], action: CookAction) -> list[Category]:
    reply = action.response or ""
    selected = action.selected or action.current_macro or ""
    category, evidence = rules.macro_category(pots, selected)
    return [
        Category(action.player, "overcooked_macro", category, evidence),
        *grounding(action.player, action.intended, selected, slip=(action.intended or "").rstrip(".") != selected.rstrip(".")),
        *reading(action.player, action.read or read_of(reply, selected, at_random=True), reply, action.slips),
    ]


def _replay_of(entry: KitchenStep, layout: rules.Layout) -> _Replay:
    by_name = {cook.name: cook for cook in entry.players}
    if by_name.keys() != _BOTH or [action.player for action in entry.actions] != list(PLAYERS):
        raise BadInputError(f"tick {entry.tick} does not have both players once, Alice first: the game is left out")
    cooks = tuple(
        (*cook.position, cook.orientation, cook.held and (cook.held.name, cook.held.state)) for cook in map(by_name.__getitem__, PLAYERS)
    )
    objects = tuple((*found.position, found.name, found.state) for found in entry.objects)
    replay = _replayed(layout.name, cooks, objects, tuple(action.low_level for action in entry.actions))
    if replay is None:
        raise BadInputError(f"tick {entry.tick} has a cook or an object outside the floor or the kitchen: the game is left out")
    return replay


@lru_cache(maxsize=8192)  # cooks wait, and positions come again in other games of a layout
def _replayed(
    layout_name: str,
    logged_cooks: tuple[tuple[int, int, str, _Thing | None], ...],
    logged_objects: tuple[tuple[int, int, str, _Soup | None], ...],
    actions: tuple[str, ...],
) -> _Replay | None:
    """What the rules make of a logged position and both actions; None where the position cannot be."""
    layout = rules.LAYOUTS[layout_name]
    cooks = tuple(rules.Cook(rules.Spot(x, y), facing, None if held is None else _item(*held)) for x, y, facing, held in logged_cooks)
    objects = {rules.Spot(x, y): _item(name, soup) for x, y, name, soup in logged_objects}
    if any(cook.spot not in layout.floor for cook in cooks) or not objects.keys() <= layout.tiles:
        return None
    before = rules.KitchenState(cooks, objects)
    ticked = rules.step(layout, before, actions)
    faults = tuple(_fault(low, number, before, ticked.state) for number, low in enumerate(actions))
    return _Replay(before, ticked, faults, rules.cookers(layout, before))


def _item(name: str, soup: _Soup | None) -> rules.Item:
    return rules.Item(name) if soup is None else rules.Item(name, *soup[1:])


def _state_differences(name: str, replayed: rules.KitchenState, logged: rules.KitchenState) -> list[Difference]:
    cooks = [
        Difference(f"{name}.{player}", repr(tuple(b)), repr(tuple(a)))
        for player, a, b in zip(PLAYERS, replayed.cooks, logged.cooks, strict=True)
        if a != b
    ]
    objects = [] if replayed.objects == logged.objects else [Difference(f"{name}.objects", repr(logged.objects), repr(replayed.objects))]
    return [*cooks, *objects]
