"""TOM3: whether a move leaves the partner's way open: around one another in a kitchen, through doors in the capture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from games.coordination.capture import BUTTONS, CaptureState, distance
from games.coordination.kitchen import DIRECTIONS, Cook, KitchenState, Layout, Spot, distances, place_of
from games.coordination.players import PLAYERS, Player, partner_of
from judges.coordination.situation import capture_action, capture_state, kitchen_state
from judges.engine.checks import Decision
from judges.evidence.transcript import TurnView

__all__ = ["capture_way", "kitchen_way"]

_STANDS: Final = Decision("na", "the player does not move on this turn")
_SOON: Final = 1
"""Steps to go from which on a partner is held up at once; farther away, the way may be free again when it comes."""


def kitchen_way(turn: TurnView, player: Player) -> Decision:
    """No where both go for one tile, or where the partner was nearly there and has no way any more."""
    action, partners = turn.action_of(player), turn.action_of(partner_of(player))
    if "cooks" not in turn.state_before:
        return Decision(None, "a player's own file does not say where anybody stands")
    if action is None or action.verb not in DIRECTIONS or partners is None:
        return _STANDS
    layout, state = kitchen_state(turn)
    me = PLAYERS.index(player)
    cook, other = state.cooks[me], state.cooks[1 - me]
    spot, others = _next(layout, cook, action.verb), _next(layout, other, partners.verb)
    if (spot == others or (spot == other.spot and others == cook.spot)) and spot != cook.spot:
        return Decision("no", f"both go for one tile, ({spot.x},{spot.y}), and nobody moves")
    target = layout.names.get(place_of(str(partners.arguments.get("macro"))) or "")
    if target is None:
        return Decision(None, f"{partner_of(player)} is not on its way to a place")
    aside = spot if spot != other.spot else cook.spot
    before, after = (_steps(layout, state, 1 - me, here, target) for here in (cook.spot, aside))
    seen = f"{partner_of(player)} has {_words(after)} to {place_of(str(partners.arguments.get('macro')))}, before the move {_words(before)}"
    if after is None:
        return Decision("no" if before is not None and before <= _SOON else None, seen)
    return Decision("yes" if before is None or after <= before else None, seen)


def _next(layout: Layout, cook: Cook, verb: str) -> Spot:
    """Where a cook wants to be after the tick."""
    if verb not in DIRECTIONS:
        return cook.spot
    ahead = cook._replace(facing=verb).front
    return ahead if layout.tile(ahead) == " " else cook.spot


def _steps(layout: Layout, state: KitchenState, who: int, blocked: Spot, target: Spot) -> int | None:
    """Steps of a cook to a tile beside a place while the other one stands on a tile; None where there is no way."""
    cooks = list(state.cooks)
    cooks[1 - who] = cooks[1 - who]._replace(spot=blocked)
    reach = distances(layout, KitchenState(tuple(cooks), state.objects), who, around_partner=True)
    beside: Sequence[Spot] = [Spot(target.x + dx, target.y + dy) for dx, dy in DIRECTIONS.values()]
    return min((reach[spot] for spot in beside if spot in reach), default=None)


def capture_way(turn: TurnView, player: Player) -> Decision:
    """A button can shut the door through which the partner would come to the thief; nothing else blocks in the capture."""
    action = turn.action_of(player)
    if action is None or action.verb != "press":
        return Decision("na", "no door is moved")
    state = capture_state(turn)
    door = BUTTONS[capture_action(action).room]
    toggled = CaptureState(state.rooms, {**state.doors, door: not state.doors[door]})
    partner, thief = state.rooms[partner_of(player)], state.rooms["Thief"]
    before, after = (distance(one, partner, thief) for one in (state, toggled))
    shut = "open" if toggled.doors[door] else "closed"
    seen = f"with door {door} {shut} {partner_of(player)} has {_words(after)} to the thief, before {_words(before)}"
    if before is not None and (after is None or after > before):
        return Decision("no", seen)
    return Decision("yes" if after is not None else None, seen)


def _words(steps: int | None) -> str:
    return "no way" if steps is None else f"{steps} steps"
