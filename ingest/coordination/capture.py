"""CollabCapture games: what a logged game becomes, turn by turn, with the rules replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from games.coordination import capture
from games.coordination.capture import listed as listed_text
from games.coordination.capture import move_category
from games.coordination.players import PLAYERS, Player, read_of
from games.coordination.value import best_actions
from ingest.coordination.game import (
    PRINTED_ON_FAILURE,
    Act,
    CaptureTurn,
    Category,
    GameParts,
    PrivateReply,
    TurnParts,
    Valued,
    act,
    capture_values,
    differences,
    grounding,
    listed_actions,
    own_moves,
    policies,
    reading,
    state_text,
    styles,
    unlisted,
)
from ingest.coordination.records import MOST_FACTS, CapturePlayer, CaptureStep
from ingest.reading.adapter_types import Difference
from schemas.records import Json

_Value = TypeVar("_Value", int, bool)


def capture_game(steps: Sequence[CaptureStep]) -> GameParts:
    """A game from its turns.

    Raises:
        BadInputError: an action is none of those that the rules list.
    """
    first, last = steps[0], steps[-1]
    turns = [_turn(step) for step in steps]
    if first.scenario in capture.SCENARIOS:
        begins = differences({"start.rooms": (dict(first.rooms_before), dict(capture.start(first.scenario).rooms))})
        turns[0].differences = [*begins, *turns[0].differences]
    return GameParts(
        game="collab_capture",
        task_id=first.scenario,
        condition={"game": "collab_capture", "scenario": first.scenario},
        policies=policies(steps),
        styles=styles(steps),
        seed=None,
        max_turns=capture.TURN_LIMIT,
        success=last.captured,
        score=float(last.captured),
        stop_reason=None if not last.terminal else "captured" if last.captured else "turn_limit",
        metrics={
            "captured": last.captured,
            "turns": len(steps),
            "turns_printed_upstream": len(steps) if last.captured else PRINTED_ON_FAILURE,
        },
        turns=turns,
        goal={"captured": True},
    )


def _turn(step: CaptureStep) -> TurnParts:
    replayed = _replayed(step)
    return TurnParts(
        before=replayed.before,
        after=replayed.after,
        progress=float(step.captured),
        goal_reached=step.captured,
        replies=[PrivateReply(player.player, player.response) for player in step.players if player.response],
        acts=replayed.acts,
        categories=own_moves([*replayed.categories, *(found for player in step.players for found in _read(player, replayed.state))]),
        injected={player.player: player.injected for player in step.players},
        differences=replayed.differences,
        values=replayed.values,
    )


def _read(player: CapturePlayer, state: capture.CaptureState) -> list[Category]:
    reply = player.response or ""
    offered = {action.text: listed_text(place, action) for place, action in enumerate(state.actions(player.player))}
    found = player.read or read_of(reply, offered[player.executed], at_random=True)
    return reading(player.player, found, reply, player.slips)


class _Replayed(NamedTuple):
    """What the rules make of a turn."""

    state: capture.CaptureState
    """Before it."""
    before: Json
    after: Json
    acts: Sequence[Act]
    categories: Sequence[Category]
    differences: Sequence[Difference]
    values: Sequence[Valued]


@lru_cache(maxsize=MOST_FACTS)
def _replayed(step: CaptureStep) -> _Replayed:
    before = capture.CaptureState(_by_name(step.rooms_before), _by_name(step.doors_before))
    after = capture.CaptureState(_by_name(step.rooms_after), _by_name(step.doors_after))
    due = {name: before.actions(name) for name in PLAYERS}
    chosen = {player.player: _listed(due[player.player], player.player, player.executed, step.turn) for player in step.players}
    turned = capture.step(before, chosen, first=step.turn == 1)
    best = best_actions(before, first=step.turn == 1)
    return _Replayed(
        state=before,
        before=state_text({"rooms": before.rooms, "doors": before.doors}),
        after=state_text({"rooms": after.rooms, "doors": after.doors, "captured": step.captured}),
        acts=[act((who.player, chosen[who.player].verb), {"room": chosen[who.player].room}, who.intended) for who in step.players],
        categories=[
            *(Category(name, "capture_move", *move_category(before, name, action, best[name])) for name, action in chosen.items()),
            *(grounding(player, slip=player.grounding_ok is False) for player in step.players if player.intended),
        ],
        differences=differences(
            {
                **listed_actions(
                    {name: [action.room if action.verb == "move" else action.text for action in actions] for name, actions in due.items()},
                    step.players,
                ),
                "rooms_after": (after.rooms, turned.state.rooms),
                "doors_after": (after.doors, turned.state.doors),
                "capture_kind": (step.capture_kind, turned.capture),
            }
        ),
        values=capture_values(CaptureTurn(step.turn, before, after, step.captured)),
    )


def _listed(due: Sequence[capture.Action], player: Player, text: str, turn: int) -> capture.Action:
    found = next((action for action in due if action.text == text), None)
    if found is None:
        raise unlisted(player, text, turn)
    return found


def _by_name(record: Mapping[Any, _Value]) -> Mapping[str, _Value]:
    """A mapping whose keys are known more exactly than as strings, as one of strings."""
    return record
