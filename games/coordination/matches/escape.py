"""Plays CollabEscape with scripted players, turn by turn, as lines of the step log `collab_escape_step/1`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from random import Random
from typing import Any, Final

from games.coordination.escape.rules import (
    EXIT,
    FIXES_NEEDED,
    GENERATORS,
    PUBLISHED,
    ROOMS,
    SCENARIOS,
    WAIT,
    EscapeState,
    KillerChoice,
    actions,
    killer_choice,
    killer_options,
    step,
)
from games.coordination.players import PLAYERS, Player, ScriptDecision, partner_of
from games.coordination.value.escape import choice_turns
from games.players.onset import onset_of

__all__ = ["FAULTLESS", "POLICIES", "TURN_CAP", "Policy", "observation", "play_escape", "shown_rooms"]

FAULTLESS: Final = "ideal"
"""Who plays before the turn from which `policy@turn` falls into its fault."""

TURN_CAP: Final = 40
"""Turns after which a game is called off; the published game has no limit."""

Policy = Callable[[EscapeState, Player, Random], ScriptDecision]
"""(state, own name, random numbers) -> decision."""

_FAULT_RATE: Final = 0.3


def _way(start_room: int, goal: int, avoided: frozenset[int]) -> int | None:
    """The first room on a shortest way that avoids rooms; None where there is none."""
    first: dict[int, int] = {}
    waiting = deque((room, room) for room in ROOMS[start_room] if room not in avoided)
    while waiting:
        room, begin = waiting.popleft()
        if room in first:
            continue
        first[room] = begin
        waiting.extend((other, begin) for other in ROOMS[room] if other not in avoided and other not in first)
    return first.get(goal)


def _danger(state: EscapeState) -> frozenset[int]:
    """Rooms to which the killer may go."""
    return frozenset(option.room for option in killer_options(state))


def _fixer(state: EscapeState, player: Player, _rng: Random) -> ScriptDecision:
    """Keeps out of the killer's next room, repairs, and leaves when the gate is open."""
    here, danger = state.rooms[player], _danger(state)
    known = killer_options(state)[0].target is not None
    if here in danger and known:
        away = [room for room in ROOMS[here] if room not in danger and room != state.rooms["Adversary"]] or list(ROOMS[here])
        return ScriptDecision(intended=f"move to room {away[0]}", explanation=f"The killer comes to room {here}, so I leave.")
    open_rooms = [room for room in GENERATORS if state.generators[room] < FIXES_NEEDED]
    if here in open_rooms:
        left = FIXES_NEEDED - state.generators[here]
        return ScriptDecision(intended=f"fix generator in room {here}", explanation=f"The generator here still needs {left} repairs.")
    goal = EXIT if not open_rooms else min(open_rooms, key=lambda room: (room == state.rooms[partner_of(player)], room))
    room = _way(here, goal, danger | {state.rooms["Adversary"]})
    if room is None or here == goal:
        return ScriptDecision(intended=WAIT, explanation=f"The way to room {goal} is not safe now, so I wait.")
    return ScriptDecision(intended=f"move to room {room}", explanation=f"I go to room {goal} through room {room}.")


def _reckless(state: EscapeState, player: Player, rng: Random) -> ScriptDecision:
    """As the fixer, but without a thought for the killer."""
    here = state.rooms[player]
    open_rooms = [room for room in GENERATORS if state.generators[room] < FIXES_NEEDED]
    if here in open_rooms:
        return ScriptDecision(intended=f"fix generator in room {here}", explanation="I repair the generator.")
    room = _way(here, open_rooms[0] if open_rooms else EXIT, frozenset()) or rng.choice(ROOMS[here])
    return ScriptDecision(intended=f"move to room {room}", explanation=f"I go on through room {room}.")


def _camper(_state: EscapeState, _player: Player, _rng: Random) -> ScriptDecision:
    return ScriptDecision(intended=WAIT, explanation="I wait for my partner to do it.", injected=("idle",))


def _confused(state: EscapeState, player: Player, rng: Random) -> ScriptDecision:
    """As the fixer, but now and then wrong about a generator."""
    decision = _fixer(state, player, rng)
    if rng.random() >= _FAULT_RATE:
        return decision
    said = "not been touched yet" if state.generators[GENERATORS[0]] else "been fixed"
    text = f"The generator in room {GENERATORS[0]} has {said}."
    return ScriptDecision(intended=decision.intended, explanation=text, injected=("misgrounded_state",))


def _ideal(state: EscapeState, player: Player, _rng: Random) -> ScriptDecision:
    """Its own part of the joint choice with the fewest expected turns among those that escape surely; two who play so choose the same."""

    def turns(both: Sequence[str]) -> float:
        return choice_turns(state, dict(zip(PLAYERS, both, strict=True)))

    best = min(product(*(actions(state, each) for each in PLAYERS)), key=turns)[PLAYERS.index(player)]
    return ScriptDecision(intended=best, explanation="Together we are out soonest, and surely, if I do this.")


def _random(state: EscapeState, player: Player, rng: Random) -> ScriptDecision:
    return ScriptDecision(intended=rng.choice(actions(state, player)), explanation="Any action is fine.")


POLICIES: Final[Mapping[str, Policy]] = {
    "fixer": _fixer,
    "reckless": _reckless,
    "camper": _camper,
    "confused": _confused,
    "random": _random,
    FAULTLESS: _ideal,
}


def play_escape(name: str, policies: Mapping[Player, str], scenario: str = PUBLISHED, *, seed: int) -> Iterator[dict[str, Any]]:
    """Play a game; the killer's random steps and the players' share the seed.

    Args:
        name: of the game in the log.
        policies: player -> name of one of `POLICIES`, or `policy@turn`: from that turn on.
        scenario: one of `SCENARIOS`.
        seed: of all random numbers.
    """
    state, rng = SCENARIOS[scenario], Random(seed)
    onsets = {player: onset_of(policies[player], POLICIES, "policy") for player in PLAYERS}
    for turn in range(1, TURN_CAP + 1):
        choice = killer_choice(state, rng)
        decisions = {player: POLICIES[onsets[player].at(turn, FAULTLESS)](state, player, rng) for player in PLAYERS}
        after, outcome = step(state, choice, {player: decision.intended for player, decision in decisions.items()})
        over = outcome != "continue" or turn == TURN_CAP
        yield {
            "schema": "collab_escape_step/1",
            "game": "collab_escape",
            "episode": name,
            "seed": seed,
            "scenario": scenario,
            "turn": turn,
            **shown_rooms(state, "before"),
            "adversary_target": choice.target,
            "adversary_choice": f"room {choice.room}",
            "players": [_player(state, player, policies[player], decisions[player], choice) for player in PLAYERS],
            **shown_rooms(after, "after"),
            "generators_fixed": {f"room {room}": after.generators[room] >= FIXES_NEEDED for room in GENERATORS},
            "outcome": "turn_cap" if over and outcome == "continue" else outcome,
            "terminal": over,
        }
        if over:
            return
        state = after


def shown_rooms(state: EscapeState, when: str) -> dict[str, Any]:
    """Rooms, generators and gate as a line of the step log has them; ``when``: before or after."""
    return {
        f"rooms_{when}": {name: f"room {room}" for name, room in state.rooms.items()},
        f"generators_{when}": {f"room {room}": counter for room, counter in state.generators.items()},
        f"exit_gate_{when}": state.gate_open,
    }


def _player(state: EscapeState, player: Player, policy: str, decision: ScriptDecision, choice: KillerChoice) -> dict[str, Any]:
    return {
        "player": player,
        "policy": policy,
        "style": "clean",
        "observation_text": observation(state, player, choice),
        "available_actions": actions(state, player),
        "calls": [{"stage": "generator", "text": decision.response}],
        "intended": decision.intended,
        "executed": decision.intended,
        "injected": decision.injected,
    }


def observation(state: EscapeState, player: Player, choice: KillerChoice) -> str:
    """What a player sees."""
    partner = partner_of(player)
    killer = f"The killer is in room {state.rooms['Adversary']}."
    goal = f"He will go to the room of {choice.target}." if choice.target else "We do not know where he goes next."
    needs = " ".join(
        f"The generator in room {room} needs {max(0, FIXES_NEEDED - state.generators[room])} more repairs." for room in GENERATORS
    )
    gate = f"The exit gate is {'open' if state.gate_open else 'closed'}."
    own = f"My name is {player}. I am in room {state.rooms[player]}. {partner} is in room {state.rooms[partner]}."
    return f"{own} {killer} {goal} {needs} {gate} Available Actions: {', '.join(actions(state, player))}"
