"""CollabCapture and CollabEscape games: what a logged game becomes, turn by turn, with the rules replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from games.coordination.capture import moves as capture_moves
from games.coordination.capture import rules as capture
from games.coordination.escape import moves as escape_moves
from games.coordination.escape import rules as escape
from games.coordination.players import PLAYERS, Player
from games.coordination.value.escape import EscapeTurn
from ingest.coordination.parts import PRINTED_ON_FAILURE, Act, Category, GameParts, PrivateReply, ReplayDifference, TurnParts
from ingest.coordination.records import CapturePlayer, CaptureStep, EscapePlayer, EscapeStep
from ingest.coordination.values import CaptureTurn, capture_values, escape_values
from schemas.errors import BadInputError
from schemas.text import excerpt

__all__ = ["capture_game", "escape_game"]

_Value = TypeVar("_Value", int, bool)

_REPAIRS = escape.FIXES_NEEDED * len(escape.GENERATORS)


def capture_game(steps: Sequence[CaptureStep]) -> GameParts:
    """A game from its turns.

    Raises:
        BadInputError: an action is none of those that the rules list.
    """
    first, last = steps[0], steps[-1]
    moved = [_capture_moved(step) for step in steps]
    turns = [_capture_turn(step, read.before) for step, read in zip(steps, moved, strict=True)]
    for turn, values in zip(turns, capture_values(moved), strict=True):
        turn.values = values
    if first.scenario in capture.SCENARIOS:
        begins = _differences({"start.rooms": (dict(first.rooms_before), dict(capture.start(first.scenario).rooms))})
        turns[0].differences = [*begins, *turns[0].differences]
    return GameParts(
        game="collab_capture",
        task_id=first.scenario,
        condition={"game": "collab_capture", "scenario": first.scenario},
        policies=_policies(steps),
        styles=_styles(steps),
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


def escape_game(steps: Sequence[EscapeStep]) -> GameParts:
    """A game from its turns.

    Raises:
        BadInputError: an action is none of those that the rules list.
    """
    turns: list[TurnParts] = []
    scenario = steps[0].scenario or escape.PUBLISHED
    state = escape.SCENARIOS.get(scenario, escape.START)
    moved = [_escape_moved(step) for step in steps]
    for step, read in zip(steps, moved, strict=True):
        turn, state = _escape_turn(step, read, state)
        turns.append(turn)
    for turn, values in zip(turns, escape_values(moved), strict=True):
        turn.values = values
    last = steps[-1]
    escaped = last.outcome == "win"
    return GameParts(
        game="collab_escape",
        task_id="escape" if scenario == escape.PUBLISHED else f"escape {scenario}",
        condition={"game": "collab_escape"} | ({} if scenario == escape.PUBLISHED else {"scenario": scenario}),
        policies=_policies(steps),
        styles=_styles(steps),
        seed=last.seed,
        max_turns=None,
        success=escaped,
        score=float(escaped),
        stop_reason=last.outcome if last.terminal else None,
        metrics={"escaped": escaped, "turns": len(steps)},
        turns=turns,
        goal={"generators": list(escape.GENERATORS), "exit": escape.EXIT},
    )


def _policies(steps: Sequence[CaptureStep] | Sequence[EscapeStep]) -> dict[Player, str | None]:
    return {player.player: player.policy for player in steps[0].players}


def _styles(steps: Sequence[CaptureStep] | Sequence[EscapeStep]) -> dict[Player, str | None]:
    return {player.player: player.style for player in steps[0].players}


def _differences(pairs: Mapping[str, tuple[object, object]]) -> list[ReplayDifference]:
    return [ReplayDifference(name, repr(logged), repr(replayed)) for name, (logged, replayed) in pairs.items() if logged != replayed]


def _capture_turn(step: CaptureStep, before: capture.CaptureState) -> TurnParts:
    players: dict[Player, CapturePlayer] = {player.player: player for player in step.players}
    due = {name: before.actions(name) for name in PLAYERS}
    chosen = {name: _listed(due[name], name, player.executed, step.turn) for name, player in players.items()}
    turned, moves = _captured(tuple(before.rooms.items()), tuple(before.doors.items()), tuple(chosen.items()), first=step.turn == 1)
    return TurnParts(
        before={"rooms": step.rooms_before, "doors": step.doors_before},
        after={"rooms": step.rooms_after, "doors": step.doors_after, "captured": step.captured},
        progress=float(step.captured),
        goal_reached=step.captured,
        said=[PrivateReply(player.player, player.response) for player in step.players if player.response],
        acts=[Act(name, action.verb, {"room": action.room}, players[name].intended) for name, action in chosen.items()],
        categories=[
            *moves,
            *(
                _grounding(player.player, player.intended, player.executed, slip=player.grounding_ok is False)
                for player in step.players
                if player.intended
            ),
        ],
        injected={player.player: player.injected for player in step.players},
        differences=_differences(
            {
                **_listed_actions({name: _shorts(actions) for name, actions in due.items()}, step.players),
                "rooms_after": (step.rooms_after, turned.state.rooms),
                "doors_after": (step.doors_after, turned.state.doors),
                "capture_kind": (step.capture_kind, turned.capture),
            }
        ),
    )


@lru_cache(maxsize=65536)  # positions come again, in other games of a scenario above all
def _captured(
    rooms: tuple[tuple[str, int], ...],
    doors: tuple[tuple[str, bool], ...],
    chosen: tuple[tuple[Player, capture.Action], ...],
    *,
    first: bool,
) -> tuple[capture.Turned, tuple[Category, ...]]:
    """What the rules make of a position and both actions."""
    before = capture.CaptureState(dict(rooms), dict(doors))
    moves = tuple(Category("capture_move", name, *capture_moves.move_category(before, name, action)) for name, action in chosen)
    return capture.step(before, dict(chosen), first=first), moves


def _capture_moved(step: CaptureStep) -> CaptureTurn:
    before = capture.CaptureState(_by_name(step.rooms_before), _by_name(step.doors_before))
    after = capture.CaptureState(_by_name(step.rooms_after), _by_name(step.doors_after))
    return CaptureTurn(step.turn, before, after, step.captured)


@lru_cache(maxsize=1024)
def _shorts(actions: tuple[capture.Action, ...]) -> list[str | int]:
    """Actions as the log lists them."""
    return [action.room if action.verb == "move" else action.text for action in actions]


def _listed_actions(
    due: Mapping[Player, Sequence[str | int]], players: Sequence[CapturePlayer] | Sequence[EscapePlayer]
) -> dict[str, tuple[object, object]]:
    """The actions that a player was offered against those that the rules list, where the log has them."""
    return {
        f"{player.player}.available_actions": (player.available_actions, list(due[player.player]))
        for player in players
        if player.available_actions
    }


def _listed(due: tuple[capture.Action, ...], player: Player, text: str, turn: int) -> capture.Action:
    found = _by_text(due).get(text)
    if found is None:
        raise _unlisted(player, text, turn)
    return found


@lru_cache(maxsize=1024)
def _by_text(actions: tuple[capture.Action, ...]) -> Mapping[str, capture.Action]:
    return {action.text: action for action in actions}


def _unlisted(player: Player, text: str, turn: int) -> BadInputError:
    return BadInputError(f"{player}'s action {excerpt(text)!r} of turn {turn} is none that the rules list: the game is left out")


def _escape_turn(step: EscapeStep, moved: EscapeTurn, expected: escape.EscapeState) -> tuple[TurnParts, escape.EscapeState]:
    """A turn replayed from the logged rooms and generators; whom the killer has seen is carried on, since no log says it."""
    chosen, due = moved.chosen, {name: escape.actions(moved, name) for name in PLAYERS}
    for name in PLAYERS:
        if chosen.get(name) not in due[name]:
            raise _unlisted(name, str(chosen.get(name)), step.turn)
    position = tuple(moved.rooms.items()), tuple(moved.generators.items()), expected.seen, expected.target
    choice, after, outcome, moves, acts = _escaped(_Hunted(*position, tuple(chosen.items()), moved.killer))
    repaired = sum(min(counter, escape.FIXES_NEEDED) for counter in step.generators_after.values())
    turn = TurnParts(
        before=_shown(moved.rooms, moved.generators, gate=step.exit_gate_before)
        | {"adversary_target": step.adversary_target, "adversary_choice": step.adversary_choice},
        after=_shown(moved.rooms_after, moved.generators_after, gate=step.exit_gate_after) | {"outcome": step.outcome},
        progress=(repaired + (step.outcome == "win")) / (_REPAIRS + 1),
        goal_reached=step.outcome == "win",
        said=[PrivateReply(player.player, call.text) for player in step.players for call in player.calls],
        acts=[act._replace(raw=player.intended) for act, player in zip(acts, step.players, strict=True)],
        categories=[
            *moves,
            *(_grounding(p.player, p.intended, p.executed, slip=p.intended != p.executed) for p in step.players if p.intended),
        ],
        injected={player.player: player.injected for player in step.players},
        differences=_differences(
            {
                **_listed_actions(due, step.players),
                "rooms_before": (moved.rooms, expected.rooms),
                "adversary_choice": (moved.killer, choice.room),
                "adversary_target": (step.adversary_target, choice.target),
                "rooms_after": (moved.rooms_after, after.rooms),
                "generators_after": (moved.generators_after, after.generators),
                "exit_gate_after": (step.exit_gate_after, after.gate_open),
                "outcome": (moved.outcome, outcome),
            }
        ),
    )
    return turn, after


class _Hunted(NamedTuple):
    """A position of CollabEscape, mappings as pairs, and what everybody is said to do there."""

    rooms: tuple[tuple[str, int], ...]
    generators: tuple[tuple[int, int], ...]
    seen: frozenset[Player]
    target: Player | None
    chosen: tuple[tuple[Player, str], ...]
    killer: int


class _Escaped(NamedTuple):
    """What the rules make of it."""

    choice: escape.KillerChoice
    """The killer's: as logged where the rules allow that, else the first that they do."""

    after: escape.EscapeState
    outcome: escape.Outcome
    moves: tuple[Category, ...]
    acts: tuple[Act, ...]


@lru_cache(maxsize=65536)
def _escaped(position: _Hunted) -> _Escaped:
    state = escape.EscapeState(dict(position.rooms), dict(position.generators), position.seen, position.target)
    chosen, options = dict(position.chosen), escape.killer_options(state)
    choice = next((option for option in options if option.room == position.killer), options[0])
    moves = tuple(Category("escape_move", name, *escape_moves.move_category(state, name, chosen)) for name in PLAYERS)
    return _Escaped(choice, *escape.step(state, choice, chosen), moves, tuple(_escape_act(name, chosen, state) for name in PLAYERS))


def _escape_moved(step: EscapeStep) -> EscapeTurn:
    return EscapeTurn(
        turn=step.turn,
        rooms=_rooms(step.rooms_before),
        generators=_generators(step.generators_before),
        chosen={player.player: player.executed for player in step.players},
        killer=escape.room_in(step.adversary_choice) or 0,
        rooms_after=_rooms(step.rooms_after),
        generators_after=_generators(step.generators_after),
        outcome="continue" if step.outcome == "turn_cap" else step.outcome,
    )


def _escape_act(player: Player, chosen: Mapping[Player, str], state: escape.EscapeState) -> Act:
    verb = chosen[player].split(" ", 1)[0]
    arguments = {} if (room := escape.room_in(chosen[player])) is None else {"room": room}
    deadly = escape_moves.is_deadly(state, player, chosen[player])
    fault = ("deadly", "the killer was known to go to that room") if deadly else None
    return Act(player, verb, arguments, None, fault, undoes=escape_moves.abandons(state, player, chosen))


def _grounding(player: Player, intended: str | None, executed: str, *, slip: bool) -> Category:
    evidence = f"meant {intended}, did {executed}" if slip else None
    return Category("coordination_grounding", player, "slip" if slip else "as_intended", evidence)


def _by_name(record: Mapping[Any, _Value]) -> Mapping[str, _Value]:
    """A mapping whose keys are known more exactly than as strings, as one of strings."""
    return record


def _rooms(record: Mapping[Any, str]) -> dict[str, int]:
    return {name: escape.room_in(room) or 0 for name, room in record.items()}


def _generators(record: Mapping[Any, int]) -> dict[int, int]:
    return {escape.room_in(room) or 0: counter for room, counter in record.items()}


def _shown(rooms: Mapping[str, int], generators: Mapping[int, int], *, gate: bool) -> dict[str, object]:
    return {"rooms": rooms, "generators": {str(room): count for room, count in generators.items()}, "exit_gate": gate}
