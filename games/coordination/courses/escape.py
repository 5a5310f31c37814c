"""CollabEscape played by models, scripts and people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.coordination.courses.agent import CourseSetup, Decided, Situation, Table, decide, earlier, rules_of, voices
from games.coordination.escape.moves import abandons, is_deadly
from games.coordination.escape.rules import (
    FIXES_NEEDED,
    GENERATORS,
    PUBLISHED,
    SCENARIOS,
    WAIT,
    EscapeState,
    KillerChoice,
    actions,
    killer_options,
    observation,
    room_in,
    shown_rooms,
    step,
)
from games.coordination.players import PLAYERS, Player, ground, partner_of
from games.players.course import Course
from games.players.texts import texts_of
from schemas.errors import BadInputError
from schemas.game import ActionEntry, End, Turn

_PARTS = FIXES_NEEDED * len(GENERATORS) + 1
"""Repairs, and the way out."""


def course(at: CourseSetup, table: Table) -> Course:
    """Play a game; ``table.steps`` fills with its turns as the step log has them."""
    state, steps = SCENARIOS[at.variant], table.steps
    done: dict[Player, list[str]] = {"Alice": [], "Bob": []}
    outcome = "continue"
    while outcome == "continue":
        table.state = state
        choice = _killer(state, table)
        decisions: dict[Player, Decided] = {}
        for player in PLAYERS:
            decisions[player] = yield from decide(_situation(at, (state, choice), player, done, len(steps) + 1), at.switches)
        chosen = {player: decisions[player].action for player in PLAYERS}
        for player in PLAYERS:
            done[player].append(chosen[player])
        after, came = step(state, choice, chosen)
        outcome = "turn_cap" if came == "continue" and len(steps) + 1 >= at.turns else came
        ended = {"turn": len(steps) + 1, "outcome": outcome, "terminal": outcome != "continue"}
        steps.append(_step(at, (state, after), choice, decisions) | ended)
        repaired = sum(min(counter, FIXES_NEEDED) for counter in after.generators.values())
        yield Turn(
            turn=len(steps),
            state_before=_shown(state) | {"adversary_target": choice.target, "adversary_choice": f"room {choice.room}"},
            state_after=_shown(after) | {"outcome": outcome},
            utterances=[said for player in PLAYERS for said in voices(player, decisions[player])],
            actions=[_action(state, player, chosen, decisions[player]) for player in PLAYERS],
            goal_reached=outcome == "win",
            progress=(repaired + (outcome == "win")) / _PARTS,
        )
        state = after
    won = outcome == "win"
    return End(success=won, score=float(won), stop_reason=outcome, turns_taken=len(steps))


def _killer(state: EscapeState, table: Table) -> KillerChoice:
    """What the killer decides: as in the log of the game, else by chance.

    Raises:
        BadInputError: the rules do not let it go where it went.
    """
    options, went = killer_options(state), next(table.killer, None)
    if went is None:
        return table.rng.choice(options)
    found = next((option for option in options if option.room == went), None)
    if found is None:
        raise BadInputError(f"the killer cannot go to room {went}", locator=".state_before.adversary_choice")
    return found


def _situation(
    at: CourseSetup, seen: tuple[EscapeState, KillerChoice], player: Player, done: dict[Player, list[str]], turn: int
) -> Situation:
    state, choice = seen
    partner = partner_of(player)
    text = observation(state, player, choice).partition("Available Actions:")[0].strip()
    repairs = "".join(_repair(who, done[who], state) for who in (player, partner))
    names = {player: "I", partner: partner}
    for who, said in names.items():
        repairs = repairs.replace(f"<{who}>", said)
    options = actions(state, player)
    return Situation(
        game="collab_escape",
        player=player,
        turn=turn,
        rules=rules_of("collab_escape", player, partner),
        state=f"{earlier(done[player], at.switches)}{text}{repairs}",
        actions=options,
        layout=texts_of(__package__)["games"]["collab_escape"]["layout"],
        joint=", ",
        ground=ground,
        otherwise=lambda left: WAIT if WAIT in left else left[0],
        scene=lambda: _shown(state),
    )


def _repair(player: Player, done: list[str], state: EscapeState) -> str:
    """What a player's repair in the last turn came to."""
    if not done or not done[-1].startswith("fix"):
        return ""
    room = room_in(done[-1])
    state_of = "finished" if state.generators.get(room or 0, 0) >= FIXES_NEEDED else "started"
    return f" In the last turn <{player}> {state_of} the repair of the generator in room {room}."


def _action(state: EscapeState, player: Player, chosen: Mapping[Player, str], decided: Decided) -> ActionEntry:
    deadly = is_deadly(state, player, chosen[player])
    room = room_in(chosen[player])
    return ActionEntry(
        agent=player,
        verb=chosen[player].split(" ", 1)[0],
        arguments={} if room is None else {"room": room},
        raw=decided.response,
        accepted=not deadly,
        error_code="deadly" if deadly else None,
        error_text="the killer was known to go to that room" if deadly else None,
        undoes=abandons(state, player, chosen),
        read=decided.kind,
    )


def _shown(state: EscapeState) -> dict[str, Any]:
    generators = {str(room): counter for room, counter in state.generators.items()}
    return {"rooms": state.rooms, "generators": generators, "exit_gate": state.gate_open}


def _step(
    at: CourseSetup, states: tuple[EscapeState, EscapeState], choice: KillerChoice, decisions: Mapping[Player, Decided]
) -> dict[str, Any]:
    before, after = states
    return {
        "schema": "collab_escape_step/1",
        "game": "collab_escape",
        "episode": at.name,
        "seed": at.seed,
        **({} if at.variant == PUBLISHED else {"scenario": at.variant}),
        **shown_rooms(before, "before"),
        "adversary_target": choice.target,
        "adversary_choice": f"room {choice.room}",
        "players": [
            {"player": player, "policy": at.taken[player], "executed": decisions[player].action, **decisions[player].reading}
            for player in PLAYERS
        ],
        **shown_rooms(after, "after"),
        "generators_fixed": {f"room {room}": after.generators[room] >= FIXES_NEEDED for room in GENERATORS},
    }
