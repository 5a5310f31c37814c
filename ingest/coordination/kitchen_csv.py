"""A published Overcooked player's own CSV file: one row a decision.

It has no tick, no position and no score, so the two players' decisions cannot be put side by side: each file is a record of its own, with
the score unknown. Format: docs/coordination.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from games.coordination.kitchen.layouts import LAYOUTS, Layout
from games.coordination.kitchen.macros import macro_category
from games.coordination.kitchen.rules import COOKING_TICKS, Item
from games.coordination.players import PLAYERS, Player, partner_of, read_of
from ingest.coordination.csv_consistency import kitchen_row_differences
from ingest.coordination.csv_rows import TextTable
from ingest.coordination.parts import Category, GameParts, PrivateReply, TurnParts, act, own_moves, reading, state_text
from schemas.errors import BadInputError
from schemas.text import excerpt

__all__ = ["HEADING", "kitchen_record", "player_of"]

HEADING: Final = b",action_history,player_held_object,other_player_held_object,"
"""How such a file begins."""

_DISTANCE: Final = re.compile(r"([opcds]\d+)_distance_from_(Alice|Bob)")
_NO_REPLY: Final = ("failed_call", "no reply: the published harness waits instead")
_MOST_DIGITS: Final = 9
_TICKS: Final = {"not cooking": 0, "still cooking": 1, "cooked": COOKING_TICKS}
"""Words for a soup -> ticks that mean the same to the rules."""


def player_of(rows: TextTable) -> Player:
    """Whose file it is: the own distances come first.

    Raises:
        BadInputError: it does not say.
    """
    found = next(filter(None, map(_DISTANCE.fullmatch, rows.names)), None)
    if found is None:
        raise BadInputError("no column such as o0_distance_from_Alice: this is no Overcooked player's file")
    return "Alice" if found[2] == "Alice" else "Bob"


def kitchen_record(player: Player, rows: TextTable, model: str | None) -> GameParts:
    """The decisions of one player.

    Raises:
        BadInputError: no kitchen has the places that the columns name, or a cooker's contents cannot be read.
    """
    layout = _layout(rows)
    states = [_state(layout, player, row, place) for place, row in enumerate(rows.rows)]
    unknown = dict.fromkeys(states[0]) | {"layout": layout.name, "player": player}
    turns = [_turn(player, row, before, after) for row, before, after in zip(rows.rows, states, [*states[1:], unknown], strict=True)]
    chosen = [row["selected_action"] for row in rows.rows]
    for turn, row in zip(turns, rows.rows, strict=True):
        turn.differences = list(kitchen_row_differences(row, chosen))
    return GameParts(
        game="overcooked",
        task_id=layout.name,
        condition={"game": "overcooked", "layout": layout.name, "record": "one player"},
        policies={name: model if name == player else None for name in PLAYERS},
        styles=dict.fromkeys(PLAYERS),
        seed=None,
        max_turns=None,
        success=None,
        score=None,
        stop_reason=None,
        metrics={"decisions": len(turns), "deliveries_seen": sum(map(_delivered, chosen, states, [*states[1:], unknown]))},
        turns=turns,
        goal={"soups": "as many as possible"},
    )


def _layout(rows: TextTable) -> Layout:
    """The kitchen that has just the places of the columns; kitchen counters have none."""
    named = {found[1] for found in map(_DISTANCE.fullmatch, rows.names) if found}
    for layout in LAYOUTS.values():
        if {name for name in layout.names if not name.startswith("k")} == named:
            return layout
    raise BadInputError(f"no known kitchen has just the places {', '.join(sorted(named))}: there are {', '.join(LAYOUTS)}")


def _state(layout: Layout, player: Player, row: Mapping[str, str], place: int) -> dict[str, Any]:
    """What the row says of the kitchen, and of whose hands and ways the player was told."""
    cookers = {name: _cooker(name, row, place) for name in layout.names if name.startswith("c")}
    partner = partner_of(player)
    told = f"{partner} is holding" in row["full_state_description"]
    distances = {who: {name: row[column] for name in layout.names if (column := f"{name}_distance_from_{who}") in row} for who in PLAYERS}
    return {
        "layout": layout.name,
        "player": player,
        "held": {player: row["player_held_object"]} | ({partner: row["other_player_held_object"]} if told else {}),
        "cookers": cookers,
        "counters": {name: row[f"{name} object"] for name in layout.names if f"{name} object" in row},
        "distances": {who: found for who, found in distances.items() if found},
    }


def _cooker(name: str, row: Mapping[str, str], place: int) -> dict[str, object]:
    onions, soup = row.get(f"{name}_num_onions", ""), row.get(f"{name}_soup_in_cooker_status", "")
    if not onions.isdecimal() or len(onions) > _MOST_DIGITS or soup not in _TICKS:
        raise BadInputError(
            f"the contents of cooker {name} cannot be read ({excerpt(onions, 20)!r} onions, soup {excerpt(soup, 20)!r})",
            locator=f"row {place}",
        )
    return {"onions": int(onions), "soup": soup}


def _turn(player: Player, row: Mapping[str, str], before: Mapping[str, Any], after: Mapping[str, Any]) -> TurnParts:
    macro, reply = row["selected_action"], row["llm_response"]
    pots = {
        name: Item("soup", cooker["onions"], _TICKS[cooker["soup"]]) if cooker["onions"] else None
        for name, cooker in before["cookers"].items()
    }
    fault = None if reply.strip() else _NO_REPLY
    done = act((player, _verb(macro)), {"macro": macro, "asked": True}, None, fault)
    return TurnParts(
        before=state_text(before),
        after=state_text(after),
        progress=None,
        goal_reached=None,
        said=[PrivateReply(player, reply)] if reply.strip() else [],
        acts=[done if fault else done._replace(accepted=None)],  # the file does not say what came of it
        categories=own_moves(
            [
                Category(player, "overcooked_macro", *macro_category(pots, macro)),
                *reading(player, read_of(reply, macro, at_random=True), reply),
            ]
        ),
    )


def _verb(macro: str) -> str:
    """`pick_up`, `place`, `load`, `wait` or `move_away`."""
    first, _, rest = macro.rstrip(".").partition(" ")
    return f"{first}_{rest.split(' ', 1)[0]}" if first in {"pick", "move"} else first


def _delivered(macro: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """A soup was meant for delivery, and at the next decision it is not in the hand any more."""
    held = None if after["held"] is None else after["held"][before["player"]]
    return macro.startswith("place soup for delivery") and held == "nothing"
