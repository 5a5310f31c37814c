"""CollabEscape games: what a logged game becomes, turn by turn, with the rules replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from games.coordination import escape
from games.coordination.escape import abandons, is_deadly, move_category
from games.coordination.players import PLAYERS, Player, read_of
from games.coordination.value import EscapeMove, EscapeTurn
from ingest.coordination.game import (
    Act,
    Category,
    GameParts,
    PrivateReply,
    TurnParts,
    act,
    differences,
    escape_values,
    grounding,
    listed_actions,
    own_moves,
    policies,
    reading,
    state_text,
    styles,
    unlisted,
)
from ingest.coordination.records import MOST_FACTS, EscapePlayer, EscapeStep
from ingest.reading.adapter_types import Difference
from schemas.records import Json

_REPAIRS = escape.FIXES_NEEDED * len(escape.GENERATORS)


def escape_game(steps: Sequence[EscapeStep]) -> GameParts:
    """A game from its turns.

    Raises:
        BadInputError: an action is none of those that the rules list.
    """
    scenario = steps[0].scenario or escape.PUBLISHED
    turns = _turns(steps, _Expected.of(escape.SCENARIOS.get(scenario, escape.START)))
    for turn, values in zip(turns, escape_values([EscapeTurn(step.turn, _move(step)) for step in steps]), strict=True):
        turn.values = values
    last = steps[-1]
    escaped = last.outcome == "win"
    return GameParts(
        game="collab_escape",
        task_id="escape" if scenario == escape.PUBLISHED else f"escape {scenario}",
        condition={"game": "collab_escape"} | ({} if scenario == escape.PUBLISHED else {"scenario": scenario}),
        policies=policies(steps),
        styles=styles(steps),
        seed=last.seed,
        max_turns=None,
        success=escaped,
        score=float(escaped),
        stop_reason=last.outcome if last.terminal else None,
        metrics={"escaped": escaped, "turns": len(steps)},
        turns=turns,
        goal={"generators": list(escape.GENERATORS), "exit": escape.EXIT},
    )


class _Expected(NamedTuple):
    """Where everybody should be when a turn begins, and whom the killer knows, which no log has."""

    rooms: tuple[tuple[str, int], ...]
    seen: frozenset[Player]
    target: Player | None

    @classmethod
    def of(cls, state: escape.EscapeState) -> _Expected:
        return cls(tuple(state.rooms.items()), state.seen, state.target)


def _turns(steps: Sequence[EscapeStep], expected: _Expected) -> list[TurnParts]:
    """The turns, each replayed from the logged rooms and generators."""
    turns: list[TurnParts] = []
    for step in steps:
        for name, text in _unlisted(step):
            raise unlisted(name, text, step.turn)
        replayed = _replayed(step, expected)
        turns.append(_turn(step, replayed))
        expected = replayed.expected
    return turns


def _turn(step: EscapeStep, replayed: _Replayed) -> TurnParts:
    return TurnParts(
        before=replayed.before,
        after=replayed.after,
        progress=replayed.progress,
        goal_reached=step.outcome == "win",
        replies=[PrivateReply(player.player, call.text) for player in step.players for call in player.calls],
        acts=replayed.acts,
        categories=own_moves([*replayed.categories, *(found for player in step.players for found in _read(player))]),
        injected={player.player: player.injected for player in step.players},
        differences=replayed.differences,
    )


def _read(player: EscapePlayer) -> list[Category]:
    reply = next((call.text for call in reversed(player.calls) if call.stage == "generator"), "")
    found = player.read or read_of(reply, player.executed, at_random=False)
    return reading(player.player, found, reply, player.slips)


@lru_cache(maxsize=MOST_FACTS)
def _move(step: EscapeStep) -> EscapeMove:
    return EscapeMove(
        rooms=_rooms(step.rooms_before),
        generators=_generators(step.generators_before),
        chosen={player.player: player.executed for player in step.players},
        killer=escape.room_in(step.adversary_choice) or 0,
        rooms_after=_rooms(step.rooms_after),
        generators_after=_generators(step.generators_after),
        outcome="continue" if step.outcome == "turn_cap" else step.outcome,
    )


@lru_cache(maxsize=MOST_FACTS)
def _unlisted(step: EscapeStep) -> Sequence[tuple[Player, str]]:
    """Actions that the rules do not list, by player."""
    move = _move(step)
    return [(name, text) for name, text in move.chosen.items() if text not in escape.actions(move, name)]


class _Replayed(NamedTuple):
    """What the rules make of a turn."""

    before: Json
    after: Json
    progress: float
    acts: Sequence[Act]
    categories: Sequence[Category]
    differences: Sequence[Difference]
    expected: _Expected
    """When the next turn begins."""


@lru_cache(maxsize=MOST_FACTS)
def _replayed(step: EscapeStep, expected: _Expected) -> _Replayed:
    move = _move(step)
    state = escape.EscapeState(move.rooms, move.generators, expected.seen, expected.target)
    options = escape.killer_options(state)
    choice = next((option for option in options if option.room == move.killer), options[0])
    after, outcome = escape.step(state, choice, move.chosen)
    repaired = sum(min(counter, escape.FIXES_NEEDED) for counter in step.generators_after.values())
    target = {"adversary_target": step.adversary_target, "adversary_choice": step.adversary_choice}
    return _Replayed(
        before=state_text(_shown(move.rooms, move.generators, gate=step.exit_gate_before) | target),
        after=state_text(_shown(move.rooms_after, move.generators_after, gate=step.exit_gate_after) | {"outcome": step.outcome}),
        progress=(repaired + (step.outcome == "win")) / (_REPAIRS + 1),
        acts=[_act(player, move.chosen, state) for player in step.players],
        categories=[
            *(Category(name, "escape_move", *move_category(state, name, move.chosen)) for name in PLAYERS),
            *(grounding(player, slip=player.intended != player.executed) for player in step.players if player.intended),
        ],
        differences=differences(
            {
                **listed_actions({name: escape.actions(state, name) for name in PLAYERS}, step.players),
                "rooms_before": (move.rooms, dict(expected.rooms)),
                "adversary_choice": (move.killer, choice.room),
                "adversary_target": (step.adversary_target, choice.target),
                "rooms_after": (move.rooms_after, after.rooms),
                "generators_after": (move.generators_after, after.generators),
                "exit_gate_after": (step.exit_gate_after, after.gate_open),
                "outcome": (move.outcome, outcome),
            }
        ),
        expected=_Expected.of(after),
    )


def _act(player: EscapePlayer, chosen: Mapping[Player, str], state: escape.EscapeState) -> Act:
    name, text = player.player, player.executed
    arguments = {} if (room := escape.room_in(text)) is None else {"room": room}
    fault = ("deadly", "the killer was known to go to that room") if is_deadly(state, name, text) else None
    done = act((name, text.split(" ", 1)[0]), arguments, player.intended, fault)
    return done._replace(undoes=abandons(state, name, chosen))


def _rooms(record: Mapping[Any, str]) -> dict[str, int]:
    return {name: escape.room_in(room) or 0 for name, room in record.items()}


def _generators(record: Mapping[Any, int]) -> dict[int, int]:
    return {escape.room_in(room) or 0: counter for room, counter in record.items()}


def _shown(rooms: Mapping[str, int], generators: Mapping[int, int], *, gate: bool) -> dict[str, object]:
    return {"rooms": rooms, "generators": {str(room): count for room, count in generators.items()}, "exit_gate": gate}
