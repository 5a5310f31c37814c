"""Plays Overcooked with scripted cooks, tick by tick, as lines of the step log `overcooked_step/1`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from games.coordination.kitchen.layouts import LAYOUTS, Layout
from games.coordination.kitchen.macros import MOVE_AWAY, listed, low_level
from games.coordination.kitchen.policies import POLICIES
from games.coordination.kitchen.rules import TICKS, Item, KitchenState, start, step
from games.coordination.kitchen.wording import inventory
from games.coordination.players import PLAYERS, Player

__all__ = ["is_stuck", "play_kitchen", "shown_kitchen"]


def play_kitchen(name: str, policies: Mapping[Player, str], layout_name: str, *, seed: int, ticks: int = TICKS) -> Iterator[dict[str, Any]]:
    """Play a game: a player is asked again when its macro action is finished.

    Args:
        name: of the game in the log.
        policies: player -> name of one of `POLICIES`.
        layout_name: one of `LAYOUTS`.
        seed: of the players' random numbers.
        ticks: length of the game.
    """
    layout, rng, score = LAYOUTS[layout_name], Random(seed), 0
    state = start(layout)
    macros: dict[int, str] = {}
    stuck = False
    for tick in range(ticks):
        asked = {cook: _ask(layout, state, cook, policies, rng) for cook in range(len(PLAYERS)) if cook not in macros}
        current = macros | {cook: str(answer["selected"]) for cook, answer in asked.items()}
        moves = {cook: low_level(layout, state, cook, macro) for cook, macro in current.items()}
        if stuck:  # Bob makes room when he could not go on, as in the published game; Alice does not
            moves[1] = low_level(layout, state, 1, MOVE_AWAY)
        after, reward = step(layout, state, [moves[cook][0] for cook in range(len(PLAYERS))])
        score += reward
        yield {
            "schema": "overcooked_step/1",
            "game": "overcooked",
            "episode": name,
            "layout": layout_name,
            "tick": tick,
            **shown_kitchen(state),
            "actions": [
                {
                    "player": player,
                    "policy": policies[player],
                    "current_macro": current[cook],
                    "new_macro": cook in asked,
                    "low_level": moves[cook][0],
                    **asked.get(cook, {}),
                }
                for cook, player in enumerate(PLAYERS)
            ],
            "sparse_reward": reward,
            "shaped_reward": 0,
            "score": score,
            "terminal": tick + 1 == ticks,
        }
        macros = {cook: macro for cook, macro in current.items() if not moves[cook][1]}
        stuck = is_stuck(state, after, moves[1][0])
        state = after


def is_stuck(before: KitchenState, after: KitchenState, action: str) -> bool:
    """Bob, who moves second, wanted the tile that his partner took in this very tick: he did not move."""
    return action not in {"interact", "stay"} and before.cooks[1] == after.cooks[1]


def _ask(layout: Layout, state: KitchenState, cook: int, policies: Mapping[Player, str], rng: Random) -> dict[str, Any]:
    actions = listed(layout, state, cook)
    decision = POLICIES[policies[PLAYERS[cook]]](layout, state, cook, actions, rng)
    return {
        "observation_text": f"{inventory(state, cook)}\nAvailable Actions:\n[{', '.join(actions)}]",
        "response": decision.response,
        "intended": decision.intended,
        "selected": decision.intended,
        "injected": decision.injected,
    }


def shown_kitchen(state: KitchenState) -> dict[str, Any]:
    """Cooks and objects as a line of the step log has them."""
    players = [
        {"name": player, "position": list(cook.spot), "orientation": cook.facing, "held": _item(cook.held)}
        for player, cook in zip(PLAYERS, state.cooks, strict=True)
    ]
    return {
        "players": players,
        "objects": [{"position": list(spot), **(_item(item) or {})} for spot, item in sorted(state.objects.items())],
    }


def _item(item: Item | None) -> dict[str, Any] | None:
    if item is None:
        return None
    return {"name": item.name} | ({"state": ["onion", item.onions, item.ticks]} if item.name == "soup" else {})
