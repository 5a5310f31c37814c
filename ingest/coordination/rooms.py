"""CollabCapture and CollabEscape games: what a logged game becomes, turn by turn, with the rules replayed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from games.coordination import capture, escape
from games.coordination.players import PLAYERS, Player, read_of
from games.coordination.value import EscapeMove, EscapeTurn, EscapeWorth, best_actions, turn_worths, turns_left
from ingest.coordination import game
from ingest.coordination.records import MOST_FACTS, CapturePlayer, CaptureStep, EscapePlayer, EscapeStep
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt

_Value = TypeVar("_Value", int, bool)
_REPAIRS = escape.FIXES_NEEDED * len(escape.GENERATORS)


def capture_game(steps: Sequence[CaptureStep]) -> game.GameParts:
    """A game of CollabCapture from its turns.

    Raises:
        BadInputError: an action is none of those that the rules list.
    """
    first, last = steps[0], steps[-1]
    turns = [_captured(step) for step in steps]
    if first.scenario in capture.SCENARIOS:
        begins = game.differences({"start.rooms": (dict(first.rooms_before), dict(capture.start(first.scenario).rooms))})
        turns[0].differences = [*begins, *turns[0].differences]
    return game.GameParts(
        game="collab_capture",
        task_id=first.scenario,
        condition={"game": "collab_capture", "scenario": first.scenario},
        policies={player.player: player.policy for player in first.players},
        styles={player.player: player.style for player in first.players},
        max_turns=capture.TURN_LIMIT,
        success=last.captured,
        score=float(last.captured),
        stop_reason=None if not last.terminal else "captured" if last.captured else "turn_limit",
        metrics={
            "captured": last.captured,
            "turns": len(steps),
            "turns_printed_upstream": len(steps) if last.captured else game.PRINTED_ON_FAILURE,
        },
        turns=turns,
        goal={"captured": True},
    )


def escape_game(steps: Sequence[EscapeStep]) -> game.GameParts:
    """A game of CollabEscape from its turns.

    Raises:
        BadInputError: an action is none of those that the rules list.
    """
    first, last = steps[0], steps[-1]
    scenario = first.scenario or escape.PUBLISHED
    expected = _Expected.of(escape.SCENARIOS.get(scenario, escape.START))
    turns: list[game.TurnParts] = []
    for step in steps:  # each is replayed from the logged rooms and generators
        for player in step.players:
            if player.executed not in escape.actions(_move(step), player.player):
                raise _unlisted(player.player, player.executed, step.turn)
        rules, expected = _escape_rules(step, expected)
        replies = [game.PrivateReply(player.player, call.text) for player in step.players for call in player.calls]
        turns.append(_with_players(step, rules, replies, (found for player in step.players for found in _escape_read(player))))
    for turn, (worth, exact) in zip(turns, turn_worths([EscapeTurn(step.turn, _move(step)) for step in steps]), strict=True):
        turn.values = _of_worth(worth, "exact" if exact else "bound")
    escaped = last.outcome == "win"
    return game.GameParts(
        game="collab_escape",
        task_id="escape" if scenario == escape.PUBLISHED else f"escape {scenario}",
        condition={"game": "collab_escape"} | ({} if scenario == escape.PUBLISHED else {"scenario": scenario}),
        policies={player.player: player.policy for player in first.players},
        styles={player.player: player.style for player in first.players},
        seed=last.seed,
        success=escaped,
        score=float(escaped),
        stop_reason=last.outcome if last.terminal else None,
        metrics={"escaped": escaped, "turns": len(steps)},
        turns=turns,
        goal={"generators": list(escape.GENERATORS), "exit": escape.EXIT},
    )


def _with_players(
    step: CaptureStep | EscapeStep, rules: game.TurnParts, replies: Sequence[game.PrivateReply], read: Iterable[game.Category]
) -> game.TurnParts:
    """What the rules make of a turn, with what its players wrote and did wrong on purpose."""
    injected = {player.player: player.injected for player in step.players}
    return replace(rules, replies=replies, categories=game.own_moves([*rules.categories, *read]), injected=injected)


def _listed_actions(
    due: Mapping[Player, Sequence[str | int]], players: Sequence[CapturePlayer | EscapePlayer]
) -> dict[str, tuple[object, object]]:
    """The actions that a player was offered against those that the rules list, where the log has them."""
    return {
        f"{player.player}.available_actions": (list(player.available_actions), list(due[player.player]))
        for player in players
        if player.available_actions
    }


def _unlisted(player: Player, text: str, turn: int) -> BadInputError:
    return BadInputError(
        f"{player}'s action {excerpt(text)!r} of turn {turn} is not among the actions that the rules list: the game is left out"
    )


def _lost(before: float, after: float) -> float | None:
    """Turns lost; None where neither value is finite."""
    return None if math.inf == before == after else 1 + after - before


# -- CollabCapture ------------------------------------------------------------------------------------------------------------------------


def _captured(step: CaptureStep) -> game.TurnParts:
    state, rules = _capture_rules(step)
    replies = [game.PrivateReply(player.player, player.response) for player in step.players if player.response]
    return _with_players(step, rules, replies, (found for player in step.players for found in _capture_read(player, state)))


def _capture_read(player: CapturePlayer, state: capture.CaptureState) -> list[game.Category]:
    reply = player.response or ""
    offered = {action.text: capture.listed(place, action) for place, action in enumerate(state.actions(player.player))}
    found = player.read or read_of(reply, offered[player.executed], at_random=True)
    return game.reading(player.player, found, reply, player.slips)


@lru_cache(maxsize=MOST_FACTS)
def _capture_rules(step: CaptureStep) -> tuple[capture.CaptureState, game.TurnParts]:
    """The state before a turn, and what the rules make of it."""
    before = capture.CaptureState(_by_name(step.rooms_before), _by_name(step.doors_before))
    after = capture.CaptureState(_by_name(step.rooms_after), _by_name(step.doors_after))
    due = {name: before.actions(name) for name in PLAYERS}
    chosen: dict[Player, capture.Action] = {}
    for who in step.players:
        found = next((action for action in due[who.player] if action.text == who.executed), None)
        if found is None:
            raise _unlisted(who.player, who.executed, step.turn)
        chosen[who.player] = found
    turned = capture.step(before, chosen, first=step.turn == 1)
    best = best_actions(before, first=step.turn == 1)
    offered = {name: [action.room if action.verb == "move" else action.text for action in actions] for name, actions in due.items()}
    left = turns_left(before, first=step.turn == 1), 0.0 if step.captured else turns_left(after, first=False)
    return before, game.TurnParts(
        before=game.state_text({"rooms": before.rooms, "doors": before.doors}),
        after=game.state_text({"rooms": after.rooms, "doors": after.doors, "captured": step.captured}),
        progress=float(step.captured),
        goal_reached=step.captured,
        acts=[game.act((who.player, chosen[who.player].verb), {"room": chosen[who.player].room}, who.intended) for who in step.players],
        categories=[
            *(
                game.Category(name, "capture_move", *capture.move_category(before, name, action, best[name]))
                for name, action in chosen.items()
            ),
            *(
                found
                for who in step.players
                for found in game.grounding(who.player, who.intended or None, who.executed, slip=who.grounding_ok is False)
            ),
        ],
        differences=game.differences(
            {
                **_listed_actions(offered, step.players),
                "rooms_after": (after.rooms, turned.state.rooms),
                "doors_after": (after.doors, turned.state.doors),
                "capture_kind": (step.capture_kind, turned.capture),
            }
        ),
        values=[game.Valued(f"{game.BENCHMARK}.capture_turns", *left, _lost(*left), "turns")],
    )


def _by_name(record: Mapping[Any, _Value]) -> Mapping[str, _Value]:
    """A mapping whose keys are known more exactly than as strings, as one of strings."""
    return record


# -- CollabEscape -------------------------------------------------------------------------------------------------------------------------


class _Expected(NamedTuple):
    """Where everybody should be when a turn begins, and whom the killer knows, which no log has."""

    rooms: tuple[tuple[str, int], ...]
    seen: frozenset[Player]
    target: Player | None

    @classmethod
    def of(cls, state: escape.EscapeState) -> _Expected:
        return cls(tuple(state.rooms.items()), state.seen, state.target)


def _escape_read(player: EscapePlayer) -> list[game.Category]:
    reply = next((call.text for call in reversed(player.calls) if call.stage == "generator"), "")
    found = player.read or read_of(reply, player.executed, at_random=False)
    return game.reading(player.player, found, reply, player.slips)


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
def _escape_rules(step: EscapeStep, expected: _Expected) -> tuple[game.TurnParts, _Expected]:
    """What the rules make of a turn, and what they expect when the next one begins."""
    move = _move(step)
    state = escape.EscapeState(move.rooms, move.generators, expected.seen, expected.target)
    options = escape.killer_options(state)
    choice = next((option for option in options if option.room == move.killer), options[0])
    after, outcome = escape.step(state, choice, move.chosen)
    repaired = sum(min(counter, escape.FIXES_NEEDED) for counter in step.generators_after.values())
    target = {"adversary_target": step.adversary_target, "adversary_choice": step.adversary_choice}
    rules = game.TurnParts(
        before=game.state_text(_shown(move.rooms, move.generators, gate=step.exit_gate_before) | target),
        after=game.state_text(_shown(move.rooms_after, move.generators_after, gate=step.exit_gate_after) | {"outcome": step.outcome}),
        progress=(repaired + (step.outcome == "win")) / (_REPAIRS + 1),
        goal_reached=step.outcome == "win",
        acts=[_act(player, move.chosen, state) for player in step.players],
        categories=[
            *(game.Category(name, "escape_move", *escape.move_category(state, name, move.chosen)) for name in PLAYERS),
            *(
                found
                for who in step.players
                for found in game.grounding(who.player, who.intended or None, who.executed, slip=who.intended != who.executed)
            ),
        ],
        differences=game.differences(
            {
                **_listed_actions({name: escape.actions(state, name) for name in PLAYERS}, step.players),
                "rooms_before": (move.rooms, dict(expected.rooms)),
                "adversary_choice": (move.killer, choice.room),
                "adversary_target": (step.adversary_target, choice.target),
                "rooms_after": (move.rooms_after, after.rooms),
                "generators_after": (move.generators_after, after.generators),
                "exit_gate_after": (step.exit_gate_after, after.gate_open),
                "outcome": (move.outcome, outcome),
            }
        ),
    )
    return rules, _Expected.of(after)


def _act(player: EscapePlayer, chosen: Mapping[Player, str], state: escape.EscapeState) -> game.Act:
    name, text = player.player, player.executed
    arguments = {} if (room := escape.room_in(text)) is None else {"room": room}
    fault = ("deadly", "the killer was known to go to that room") if escape.is_deadly(state, name, text) else None
    done = game.act((name, text.split(" ", 1)[0]), arguments, player.intended, fault)
    return done._replace(undoes=escape.abandons(state, name, chosen))


def _rooms(record: Mapping[Any, str]) -> dict[str, int]:
    return {name: escape.room_in(room) or 0 for name, room in record.items()}


def _generators(record: Mapping[Any, int]) -> dict[int, int]:
    return {escape.room_in(room) or 0: counter for room, counter in record.items()}


def _shown(rooms: Mapping[str, int], generators: Mapping[int, int], *, gate: bool) -> dict[str, object]:
    return {"rooms": rooms, "generators": {str(room): count for room, count in generators.items()}, "exit_gate": gate}


@lru_cache(maxsize=4096)  # positions come again, in other games too
def _of_worth(worth: EscapeWorth, kind: str) -> tuple[game.Valued, ...]:
    """What the players' choice did to a turn, and what the killer's draw did after it."""
    name, before, chosen = f"{game.BENCHMARK}.escape", worth.mean_before, worth.mean_chosen
    return (
        game.Valued(
            f"{name}_chance", worth.chance_before, worth.chance_chosen, worth.chance_before - worth.chance_chosen, "probability", kind
        ),
        game.Valued(f"{name}_luck", worth.chance_chosen, worth.chance_after, worth.chance_chosen - worth.chance_after, "probability", kind),
        game.Valued(f"{name}_turns", before, chosen, chosen - before, "turns", kind),
        game.Valued(f"{name}_turns_after", before, worth.mean_after, _lost(before, worth.mean_after), "turns", kind),
        game.Valued(f"{name}_best", worth.best_before, worth.best_after, _lost(worth.best_before, worth.best_after), "turns", kind),
        game.Valued(f"{name}_sure", worth.sure_before, worth.sure_after, _lost(worth.sure_before, worth.sure_after), "turns", kind),
    )
