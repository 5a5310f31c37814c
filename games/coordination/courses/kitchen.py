"""Overcooked-AI played by models, scripts and people."""

from __future__ import annotations

from typing import Any

from games.coordination.courses.agent import CourseSetup, Decided, Situation, Table, decide, earlier, rules_of, voices
from games.coordination.kitchen.layouts import LAYOUTS, Layout
from games.coordination.kitchen.macros import MOVE_AWAY, WAIT, listed, low_level
from games.coordination.kitchen.rules import COOKING_TICKS, DELIVERY, DIRECTIONS, TICKS, KitchenState, start, step
from games.coordination.kitchen.shown import shown_kitchen, shown_state
from games.coordination.kitchen.wording import state_text
from games.coordination.players import PLAYERS, Player, ground
from games.players.course import Course
from games.players.texts import texts_of
from schemas.game import ActionEntry, End, Turn


def course(at: CourseSetup, table: Table) -> Course:
    """Play a game; ``table.steps`` fills with its ticks as the step log has them.

    A cook is asked again when its macro action is finished.
    """
    layout, score = LAYOUTS[at.variant], 0
    state, steps = start(layout), table.steps
    macros: dict[int, str] = {}
    done: dict[Player, list[str]] = {"Alice": [], "Bob": []}
    most = layout.pots * TICKS / COOKING_TICKS
    stuck = False
    while len(steps) < at.turns:
        table.state = state
        asked: dict[int, Decided] = {}
        for cook, player in enumerate(PLAYERS):
            if cook not in macros:
                asked[cook] = yield from decide(_situation(at, (layout, state), cook, done, len(steps) + 1), at.switches)
                done[player].append(asked[cook].action)
        current = macros | {cook: decided.action for cook, decided in asked.items()}
        moves = {cook: low_level(layout, state, cook, macro) for cook, macro in current.items()}
        if stuck:  # Bob makes room when he could not go on, as in the published game; Alice does not
            moves[1] = low_level(layout, state, 1, MOVE_AWAY)
        lows = [moves[cook][0] for cook in range(len(PLAYERS))]
        after, reward = step(layout, state, lows)
        shown = shown_state(state, score, layout)
        score += reward
        steps.append(
            {
                "schema": "overcooked_step/1",
                "game": "overcooked",
                "episode": at.name,
                "layout": at.variant,
                "tick": len(steps),
                **shown_kitchen(state),
                "actions": [
                    {
                        "player": player,
                        "policy": at.taken[player],
                        "current_macro": current[cook],
                        "new_macro": cook in asked,
                        "low_level": lows[cook],
                        **({"selected": current[cook], **asked[cook].reading} if cook in asked else {}),
                    }
                    for cook, player in enumerate(PLAYERS)
                ],
                "sparse_reward": reward,
                "score": score,
                "terminal": len(steps) + 1 == at.turns,
            }
        )
        yield Turn(
            turn=len(steps),
            state_before=shown,
            state_after=shown_state(after, score, layout),
            utterances=[said for cook, decided in asked.items() for said in voices(PLAYERS[cook], decided)],
            actions=[_action(cook, (state, after), lows[cook], current[cook], asked.get(cook)) for cook in range(len(PLAYERS))],
            goal_reached=False,
            progress=min(1.0, score / DELIVERY / most),
        )
        macros = {cook: macro for cook, macro in current.items() if not moves[cook][1]}
        stuck = lows[1] not in {"interact", "stay"} and state.cooks[1] == after.cooks[1]  # Alice took his tile in this very tick
        state = after
    return End(score=float(score), stop_reason="out_of_time", turns_taken=len(steps))


def _situation(at: CourseSetup, seen: tuple[Layout, KitchenState], cook: int, done: dict[Player, list[str]], turn: int) -> Situation:
    layout, state = seen
    player, partner = PLAYERS[cook], PLAYERS[1 - cook]
    texts = texts_of(__package__)["games"]["overcooked"]
    return Situation(
        game="overcooked",
        player=player,
        turn=turn,
        rules=rules_of("overcooked", player, partner, layout=texts["layouts"][layout.name]),
        state=earlier(done[player], at.switches) + state_text(layout, state, cook, partner=at.switches.partner_information),
        actions=listed(layout, state, cook),
        layout=texts["layout"],
        joint=", ",
        ground=ground,
        otherwise=lambda left: WAIT if WAIT in left else left[0],
        scene=lambda: _scene(layout, state, player, at),
    )


def _scene(layout: Layout, state: KitchenState, player: Player, at: CourseSetup) -> dict[str, Any]:
    """The kitchen for a player; without information about the partner that one is not in it."""
    shown = shown_state(state, 0, layout)
    if not at.switches.partner_information:
        shown["cooks"] = {player: shown["cooks"][player]}
    return {name: value for name, value in shown.items() if name != "score"}


def _action(cook: int, states: tuple[KitchenState, KitchenState], low: str, macro: str, decided: Decided | None) -> ActionEntry:
    fault = _fault(cook, states, low)
    return ActionEntry(
        agent=PLAYERS[cook],
        verb=low,
        arguments={"macro": macro, "asked": decided is not None},
        raw=None if decided is None else decided.response,
        accepted=fault is None,
        error_code=None if fault is None else fault[0],
        error_text=None if fault is None else fault[1],
        read=None if decided is None else decided.kind,
    )


def _fault(cook: int, states: tuple[KitchenState, KitchenState], low: str) -> tuple[str, str] | None:
    """Why a tick's action came to nothing."""
    (before, after), number = states, 1 - cook
    was, now = before.cooks[cook], after.cooks[cook]
    if (
        low in DIRECTIONS
        and now.spot == was.spot
        and was._replace(facing=low).front in (before.cooks[number].spot, after.cooks[number].spot)
    ):
        return "collision", "the partner is in the way: nobody moves"
    if low == "interact" and now.held == was.held and before.objects.get(was.front) == after.objects.get(was.front):
        return "no_effect", "nothing to take, put or deliver there"
    return None
