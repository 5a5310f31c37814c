"""CollabEscape played by models, scripts and people.

Each scripted player decides from the whole state, gives a reason, and may do one thing wrong on purpose.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from random import Random
from typing import Any, Final

from games.coordination import escape as rules
from games.coordination.courses.agent import Decided, GameSetup, Situation, Table, decide, earlier, rules_of, voices
from games.coordination.players import PLAYERS, Player, ScriptDecision, ground, partner_of
from games.coordination.value import choice_turns
from games.players.course import Course
from games.players.player import texts_of
from schemas.common.errors import BadInputError
from schemas.game import ActionEntry, End, Turn

_PARTS = rules.FIXES_NEEDED * len(rules.GENERATORS) + 1
"""Repairs, and the way out."""


def course(at: GameSetup, table: Table) -> Course:
    """Play a game; ``table.steps`` fills with its turns as the step log has them."""
    state, steps = rules.SCENARIOS[at.variant], table.steps
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
        after, came = rules.step(state, choice, chosen)
        outcome = "turn_cap" if came == "continue" and len(steps) + 1 >= at.turns else came
        ended = {"turn": len(steps) + 1, "outcome": outcome, "terminal": outcome != "continue"}
        steps.append(_step(at, (state, after), choice, decisions) | ended)
        repaired = sum(min(counter, rules.FIXES_NEEDED) for counter in after.generators.values())
        yield Turn(
            turn=len(steps),
            state_before=_shown(state) | {"adversary_target": choice.target, "adversary_choice": f"room {choice.room}"},
            state_after=_shown(after) | {"outcome": outcome},
            utterances=[utterance for player in PLAYERS for utterance in voices(player, decisions[player])],
            actions=[_action(state, player, chosen, decisions[player]) for player in PLAYERS],
            goal_reached=outcome == "win",
            progress=(repaired + (outcome == "win")) / _PARTS,
        )
        state = after
    won = outcome == "win"
    return End(success=won, score=float(won), stop_reason=outcome, turns_taken=len(steps))


def _killer(state: rules.EscapeState, table: Table) -> rules.KillerChoice:
    """What the killer decides: as in the log of the game, else by chance.

    Raises:
        BadInputError: the rules do not let it go where it went.
    """
    options, went = rules.killer_options(state), next(table.killer, None)
    if went is None:
        return table.rng.choice(options)
    found = next((option for option in options if option.room == went), None)
    if found is None:
        raise BadInputError(f"the killer cannot go to room {went}", locator=".state_before.adversary_choice")
    return found


def _situation(
    at: GameSetup, seen: tuple[rules.EscapeState, rules.KillerChoice], player: Player, done: dict[Player, list[str]], turn: int
) -> Situation:
    state, choice = seen
    partner = partner_of(player)
    text = rules.observation(state, player, choice).partition("Available Actions:")[0].strip()
    repairs = "".join(_repair(who, done[who], state) for who in (player, partner))
    names = {player: "I", partner: partner}
    for who, name in names.items():
        repairs = repairs.replace(f"<{who}>", name)
    options = rules.actions(state, player)
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
        otherwise=lambda left: rules.WAIT if rules.WAIT in left else left[0],
        scene=lambda: _shown(state),
    )


def _repair(player: Player, done: list[str], state: rules.EscapeState) -> str:
    """What a player's repair in the last turn came to."""
    if not done or not done[-1].startswith("fix"):
        return ""
    room = rules.room_in(done[-1])
    state_of = "finished" if state.generators.get(room or 0, 0) >= rules.FIXES_NEEDED else "started"
    return f" In the last turn <{player}> {state_of} the repair of the generator in room {room}."


def _action(state: rules.EscapeState, player: Player, chosen: Mapping[Player, str], decided: Decided) -> ActionEntry:
    deadly = rules.is_deadly(state, player, chosen[player])
    room = rules.room_in(chosen[player])
    return ActionEntry(
        agent=player,
        verb=chosen[player].split(" ", 1)[0],
        arguments={} if room is None else {"room": room},
        raw=decided.response,
        accepted=not deadly,
        error_code="deadly" if deadly else None,
        error_text="the killer was known to go to that room" if deadly else None,
        undoes=rules.abandons(state, player, chosen),
        read=decided.kind,
    )


def _shown(state: rules.EscapeState) -> dict[str, Any]:
    generators = {str(room): counter for room, counter in state.generators.items()}
    return {"rooms": state.rooms, "generators": generators, "exit_gate": state.gate_open}


def _step(
    at: GameSetup, states: tuple[rules.EscapeState, rules.EscapeState], choice: rules.KillerChoice, decisions: Mapping[Player, Decided]
) -> dict[str, Any]:
    before, after = states
    return {
        "schema": "collab_escape_step/1",
        "game": "collab_escape",
        "episode": at.episode,
        "seed": at.seed,
        **({} if at.variant == rules.PUBLISHED else {"scenario": at.variant}),
        **rules.shown_rooms(before, "before"),
        "adversary_target": choice.target,
        "adversary_choice": f"room {choice.room}",
        "players": [
            {"player": player, "policy": at.taken[player], "executed": decisions[player].action, **decisions[player].reading}
            for player in PLAYERS
        ],
        **rules.shown_rooms(after, "after"),
        "generators_fixed": {f"room {room}": after.generators[room] >= rules.FIXES_NEEDED for room in rules.GENERATORS},
    }


FAULTLESS: Final = "ideal"
"""Who plays before the turn from which `policy@turn` falls into its fault."""

Policy = Callable[[rules.EscapeState, Player, Random], ScriptDecision]
"""(state, own name, random numbers) -> decision."""

_FAULT_RATE: Final = 0.3


def _way(start_room: int, goal: int, avoided: frozenset[int]) -> int | None:
    """The first room on a shortest way that avoids rooms; None where there is none."""
    first: dict[int, int] = {}
    waiting = deque((room, room) for room in rules.ROOMS[start_room] if room not in avoided)
    while waiting:
        room, begin = waiting.popleft()
        if room in first:
            continue
        first[room] = begin
        waiting.extend((other, begin) for other in rules.ROOMS[room] if other not in avoided and other not in first)
    return first.get(goal)


def _fixer(state: rules.EscapeState, player: Player, _rng: Random) -> ScriptDecision:
    """Avoids the killer's next room, repairs, and leaves when the gate is open."""
    # rooms to which the killer may go
    here, danger = state.rooms[player], frozenset(option.room for option in rules.killer_options(state))
    known = rules.killer_options(state)[0].target is not None
    if here in danger and known:
        away = [room for room in rules.ROOMS[here] if room not in danger and room != state.rooms["Adversary"]] or list(rules.ROOMS[here])
        return ScriptDecision(intended=f"move to room {away[0]}", explanation=f"The killer comes to room {here}, so I leave.")
    open_rooms = [room for room in rules.GENERATORS if state.generators[room] < rules.FIXES_NEEDED]
    if here in open_rooms:
        left = rules.FIXES_NEEDED - state.generators[here]
        return ScriptDecision(intended=f"fix generator in room {here}", explanation=f"The generator here still needs {left} repairs.")
    goal = rules.EXIT if not open_rooms else min(open_rooms, key=lambda room: (room == state.rooms[partner_of(player)], room))
    room = _way(here, goal, danger | {state.rooms["Adversary"]})
    if room is None or here == goal:
        return ScriptDecision(intended=rules.WAIT, explanation=f"The way to room {goal} is not safe now, so I wait.")
    return ScriptDecision(intended=f"move to room {room}", explanation=f"I go to room {goal} through room {room}.")


def _reckless(state: rules.EscapeState, player: Player, rng: Random) -> ScriptDecision:
    """As the fixer, but without a thought for the killer."""
    here = state.rooms[player]
    open_rooms = [room for room in rules.GENERATORS if state.generators[room] < rules.FIXES_NEEDED]
    if here in open_rooms:
        return ScriptDecision(intended=f"fix generator in room {here}", explanation="I repair the generator.")
    room = _way(here, open_rooms[0] if open_rooms else rules.EXIT, frozenset()) or rng.choice(rules.ROOMS[here])
    return ScriptDecision(intended=f"move to room {room}", explanation=f"I go on through room {room}.")


def _confused(state: rules.EscapeState, player: Player, rng: Random) -> ScriptDecision:
    """As the fixer, but now and then wrong about a generator."""
    decision = _fixer(state, player, rng)
    if rng.random() >= _FAULT_RATE:
        return decision
    progress = "not been touched yet" if state.generators[rules.GENERATORS[0]] else "been fixed"
    text = f"The generator in room {rules.GENERATORS[0]} has {progress}."
    return ScriptDecision(intended=decision.intended, explanation=text, injected=("misgrounded_state",))


def _ideal(state: rules.EscapeState, player: Player, _rng: Random) -> ScriptDecision:
    """Its own part of the joint choice with the fewest expected turns among those that escape surely; two who play so choose the same."""

    def turns(both: Sequence[str]) -> float:
        return choice_turns(state, dict(zip(PLAYERS, both, strict=True)))

    best = min(product(*(rules.actions(state, each) for each in PLAYERS)), key=turns)[PLAYERS.index(player)]
    return ScriptDecision(intended=best, explanation="Together we are out soonest, and surely, if I do this.")


POLICIES: Final[Mapping[str, Policy]] = {
    "fixer": _fixer,
    "reckless": _reckless,
    "camper": lambda *_: ScriptDecision(intended=rules.WAIT, explanation="I wait for my partner to do it.", injected=("idle",)),
    "confused": _confused,
    "random": lambda state, player, rng: ScriptDecision(
        intended=rng.choice(rules.actions(state, player)), explanation="Any action is fine."
    ),
    FAULTLESS: _ideal,
}
