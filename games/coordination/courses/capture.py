"""CollabCapture played by models, scripts and people."""

from __future__ import annotations

from games.coordination.capture.rules import STAY, TURN_LIMIT, Action, CaptureState, listed, observation, start, step
from games.coordination.courses.agent import CourseSetup, Decided, Situation, Table, decide, earlier, rules_of, voices
from games.coordination.players import PLAYERS, Player, ground, partner_of
from games.players.course import Course
from games.players.texts import texts_of
from schemas.game import ActionEntry, End, Turn


def course(at: CourseSetup, table: Table) -> Course:
    """Play a game; ``table.steps`` fills with its turns as the step log has them."""
    state, steps = start(at.variant), table.steps
    done: dict[Player, list[str]] = {"Alice": [], "Bob": []}
    caught = False
    while not caught and len(steps) < at.turns:
        table.state = state
        chosen: dict[Player, Action] = {}
        decisions: dict[Player, Decided] = {}
        for player in PLAYERS:
            now = _situation(at, state, player, done, len(steps) + 1)
            decisions[player] = yield from decide(now, at.switches)
            chosen[player] = state.actions(player)[list(now.actions).index(decisions[player].action)]
        for player in PLAYERS:
            done[player].append(chosen[player].text)
        turned = step(state, chosen, first=not steps)
        caught = turned.capture is not None
        steps.append(
            {
                "schema": "collab_capture_step/1",
                "game": "collab_capture",
                "episode": at.name,
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
                "terminal": caught or len(steps) + 1 == TURN_LIMIT,
            }
        )
        yield Turn(
            turn=len(steps),
            state_before={"rooms": state.rooms, "doors": state.doors},
            state_after={"rooms": turned.state.rooms, "doors": turned.state.doors, "captured": caught},
            utterances=[said for player in PLAYERS for said in voices(player, decisions[player])],
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


def _situation(at: CourseSetup, state: CaptureState, player: Player, done: dict[Player, list[str]], turn: int) -> Situation:
    partner = partner_of(player)
    actions = tuple(listed(place, action) for place, action in enumerate(state.actions(player)))
    stay = next(text for text in actions if STAY in text)
    told = done[partner][-1] if done[partner] and at.switches.theory_of_mind else None
    return Situation(
        game="collab_capture",
        player=player,
        turn=turn,
        rules=rules_of("collab_capture", player, partner),
        state=f"{earlier(done[player], at.switches)}{observation(state, player, ()).strip()}",
        actions=actions,
        layout=texts_of(__package__)["games"]["collab_capture"]["layout"],
        partner_did=told,
        ground=ground,
        otherwise=lambda left: stay if stay in left else left[0],
        scene=lambda: {"rooms": state.rooms, "doors": state.doors},
    )
