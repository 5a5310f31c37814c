"""CollabCapture played by models, scripts and people.

Each scripted player decides from the whole state, gives a reason, and may do one thing wrong on purpose.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from random import Random
from typing import Final

from games.coordination import capture as rules
from games.coordination.courses.agent import Decided, GameSetup, Situation, Table, decide, earlier, rules_of, voices
from games.coordination.players import PLAYERS, Injected, Player, ground, partner_of
from games.coordination.value import turns_left
from games.players.course import Course
from games.players.player import texts_of
from schemas.game import ActionEntry, End, Turn


def course(at: GameSetup, table: Table) -> Course:
    """Play a game; ``table.steps`` fills with its turns as the step log has them."""
    state, steps = rules.start(at.variant), table.steps
    done: dict[Player, list[str]] = {"Alice": [], "Bob": []}
    caught = False
    while not caught and len(steps) < at.turns:
        table.state = state
        chosen: dict[Player, rules.Action] = {}
        decisions: dict[Player, Decided] = {}
        for player in PLAYERS:
            now = _situation(at, state, player, done, len(steps) + 1)
            decisions[player] = yield from decide(now, at.switches)
            chosen[player] = state.actions(player)[list(now.actions).index(decisions[player].action)]
        for player in PLAYERS:
            done[player].append(chosen[player].text)
        turned = rules.step(state, chosen, first=not steps)
        caught = turned.capture is not None
        steps.append(
            {
                "schema": "collab_capture_step/1",
                "game": "collab_capture",
                "episode": at.episode,
                "scenario": at.variant,
                "turn": len(steps) + 1,
                "rooms_before": state.rooms,
                "doors_before": state.doors,
                "players": [
                    {"player": player, "policy": at.taken[player], "executed": chosen[player].text, **decisions[player].reading}
                    for player in PLAYERS
                ],
                "buttons_pressed": turned.pressed,
                "rooms_after": turned.state.rooms,
                "doors_after": turned.state.doors,
                "captured": caught,
                "capture_kind": turned.capture,
                "terminal": caught or len(steps) + 1 == rules.TURN_LIMIT,
            }
        )
        yield Turn(
            turn=len(steps),
            state_before={"rooms": state.rooms, "doors": state.doors},
            state_after={"rooms": turned.state.rooms, "doors": turned.state.doors, "captured": caught},
            utterances=[utterance for player in PLAYERS for utterance in voices(player, decisions[player])],
            actions=[
                ActionEntry(
                    agent=player,
                    verb=chosen[player].verb,
                    arguments={"room": chosen[player].room},
                    raw=decisions[player].response,
                    accepted=True,
                    read=decisions[player].kind,
                )
                for player in PLAYERS
            ],
            goal_reached=caught,
            progress=float(caught),
        )
        state = turned.state
    return End(success=caught, score=float(caught), stop_reason="captured" if caught else "turn_limit", turns_taken=len(steps))


def _situation(at: GameSetup, state: rules.CaptureState, player: Player, done: dict[Player, list[str]], turn: int) -> Situation:
    partner = partner_of(player)
    actions = tuple(rules.listed(place, action) for place, action in enumerate(state.actions(player)))
    stay = next(text for text in actions if rules.STAY in text)
    partner_last = done[partner][-1] if done[partner] and at.switches.theory_of_mind else None
    return Situation(
        game="collab_capture",
        player=player,
        turn=turn,
        rules=rules_of("collab_capture", player, partner),
        state=f"{earlier(done[player], at.switches)}{rules.observation(state, player, ()).strip()}",
        actions=actions,
        layout=texts_of(__package__)["games"]["collab_capture"]["layout"],
        partner_did=partner_last,
        ground=ground,
        otherwise=lambda left: stay if stay in left else left[0],
        scene=lambda: {"rooms": state.rooms, "doors": state.doors},
    )


FAULTLESS: Final = "ideal"
"""Who plays before the turn from which `policy@turn` falls into its fault."""

Policy = Callable[[rules.CaptureState, Player, Random], tuple[rules.Action, str, tuple[Injected, ...]]]
"""(state, own name, random numbers) -> action, reason, what was done wrong on purpose."""

_FAULT_RATE: Final = 0.3


def _steps(state: rules.CaptureState, room: int, goal: int) -> int:
    found = rules.distance(state, room, goal)
    return len(state.rooms) ** 2 * 2 if found is None else found


def _bfs(state: rules.CaptureState, player: Player, _rng: Random) -> tuple[rules.Action, str, tuple[Injected, ...]]:
    """Goes the shortest open way to the thief; where there is none, stays."""
    here, thief = state.rooms[player], state.rooms["Thief"]
    if rules.distance(state, here, thief) is None:
        return rules.Action("stay", here), f"There is no open way from room {here} to the thief in room {thief}, so I stay.", ()
    room = min(state.reachable(here), key=lambda other: _steps(state, other, thief))
    return rules.Action("move", room), f"The thief is in room {thief}; the shortest open way leads through room {room}.", ()


def _button(state: rules.CaptureState, player: Player, rng: Random) -> tuple[rules.Action, str, tuple[Injected, ...]]:
    """Where no way is open, goes to a button of a closed door and presses it."""
    here, thief = state.rooms[player], state.rooms["Thief"]
    goals = [room for room, door in rules.BUTTONS.items() if not state.doors[door] and rules.distance(state, here, room) is not None]
    if rules.distance(state, here, thief) is not None or not goals:
        return _bfs(state, player, rng)
    if here in goals:
        return rules.Action("press", here), f"Door {rules.BUTTONS[here]} is closed, so I press its button.", ()
    goal = min(goals, key=lambda room: _steps(state, here, room))
    room = min(state.reachable(here), key=lambda other: _steps(state, other, goal))
    return rules.Action("move", room), f"No way to the thief is open; the button in room {goal} opens door {rules.BUTTONS[goal]}.", ()


def _pincer(state: rules.CaptureState, player: Player, rng: Random) -> tuple[rules.Action, str, tuple[Injected, ...]]:
    """Chooses the step after which the thief, if the partner goes straight for it, is caught or has least room."""
    partner = partner_of(player)
    partners, *_ = _bfs(state, partner, rng)

    def outcome(action: rules.Action) -> tuple[int, int]:
        both = {player: action, partner: partners}
        turned = rules.step(state, both, first=False)
        return (0 if turned.capture else 1, _steps(turned.state, action.room, rules.thief_choice(state, both)))

    best = min((action for action in state.actions(player) if action.verb != "press"), key=outcome)
    return best, f"{partner} goes to room {partners.room}; from room {best.room} I cut off the way of the thief.", ()


def _greedy(state: rules.CaptureState, player: Player, _rng: Random) -> tuple[rules.Action, str, tuple[Injected, ...]]:
    """The paper's baseline: a button after which the thief's room is next, else into that room, else to the first neighbour.

    The button comes first, although the room may be next already: only so does the paper's row come out (docs/coordination.md).
    """
    here, thief = state.rooms[player], state.rooms["Thief"]
    if here in rules.BUTTONS:
        toggled = rules.CaptureState(state.rooms, {**state.doors, rules.BUTTONS[here]: not state.doors[rules.BUTTONS[here]]})
        if thief in toggled.reachable(here):
            return rules.Action("press", here), f"The thief is in room {thief}, which is next door whatever the button does.", ()
    if thief in state.reachable(here):
        return rules.Action("move", thief), f"The thief is in room {thief}, which is next door.", ()
    room = state.reachable(here)[0]
    return rules.Action("move", room), f"The thief is in room {thief}; I go to room {room}.", ()


def _confused(state: rules.CaptureState, player: Player, rng: Random) -> tuple[rules.Action, str, tuple[Injected, ...]]:
    """Goes for the thief, and now and then names a wrong room for it."""
    action, reason, _ = _bfs(state, player, rng)
    if rng.random() >= _FAULT_RATE:
        return action, reason, ()
    wrong = state.rooms["Thief"] % 9 + 1
    return action, f"The thief is in room {wrong}; I go on.", ("misgrounded_location",)


def _ideal(state: rules.CaptureState, player: Player, _rng: Random) -> tuple[rules.Action, str, tuple[Injected, ...]]:
    """Its own part of a joint choice that leaves the fewest turns; of several the one that leaves fewest if the partner stays."""
    first = state.rooms == rules.start(rules.SCENARIOS[0]).rooms  # only there is an exchange with the thief no capture

    def left(both: Sequence[rules.Action]) -> float:
        turned = rules.step(state, dict(zip(PLAYERS, both, strict=True)), first=first)
        return 0.0 if turned.capture is not None else turns_left(turned.state, first=False)

    joint = [*product(*(state.actions(each) for each in PLAYERS))]
    fewest, me = min(map(left, joint)), PLAYERS.index(player)
    still = rules.Action("stay", state.rooms[partner_of(player)])

    def alone(both: Sequence[rules.Action]) -> float:
        return left((both[0], still) if me == 0 else (still, both[1]))

    best = min((both for both in joint if left(both) == fewest), key=alone)[me]
    return best, f"Together we catch the thief soonest if I do this: {best.text}.", ()


POLICIES: Final[Mapping[str, Policy]] = {
    "bfs": _bfs,
    "button": _button,
    "pincer": _pincer,
    "greedy": _greedy,
    "stayer": lambda state, player, _: (rules.Action("stay", state.rooms[player]), "My partner will catch the thief.", ("idle",)),
    "confused": _confused,
    "random": lambda state, player, rng: (rng.choice(state.actions(player)), "Any action is fine.", ()),
    FAULTLESS: _ideal,
}
