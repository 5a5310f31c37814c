"""Hanabi played by models, scripts and people."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from games.coordination.courses.agent import CourseSetup, Decided, Situation, Table, decide, rules_of, voices
from games.coordination.hanabi.rules import COLORS, MAX_SCORE, HanabiState, Move, legal_moves
from games.coordination.hanabi.table import PLAYERS_IN_ORDER, HanabiTable, deck_of_seed, shown_effect, shown_move, shown_table
from games.coordination.hanabi.wording import COLOR_NAMES, action_text, listed, observation
from games.coordination.players import Player, ground, partner_of
from games.players.course import Course
from games.players.texts import texts_of
from schemas.game import ActionEntry, End, Turn

_ACTIONS = "Available Legal Actions:"


def course(at: CourseSetup, table: Table) -> Course:
    """Play a game; ``table.steps`` fills with its turns as the step log has them."""
    played, steps = HanabiTable(at.deck or deck_of_seed(at.seed)), table.steps
    done: dict[Player, list[str]] = {"Alice": [], "Bob": []}
    while not played.is_over and len(steps) < at.turns:
        seat, before = played.seat, played.state
        table.state = before
        player, moves = PLAYERS_IN_ORDER[seat], legal_moves(before, seat)
        actions = listed(moves, player)
        turn = len(steps) + 1
        decided = yield from decide(_situation(at, (before, seat), actions, done, turn), at.switches)
        move = moves[actions.index(decided.action)]
        effect = played.play(move)
        done[player].append(action_text(move, player))
        misplay = f"{effect.card} does not fit its stack: a life is lost" if effect.life_lost else None
        told = {"card": move.card, "was": effect.card} if move.value is None else {"value": move.value, "touched": effect.touched or None}
        steps.append(_step(at, played, (before, seat, move), decided, actions) | {"effect": shown_effect(effect)})
        stacked = played.state.stacked
        yield Turn(
            turn=turn,
            state_before=shown_table(before) | {"player": player},
            state_after=shown_table(played.state),
            utterances=list(voices(player, decided)),
            actions=[
                ActionEntry(
                    agent=player,
                    verb=move.verb,
                    arguments=told | {"text": decided.action},
                    raw=decided.response,
                    accepted=misplay is None,
                    error_code=misplay and "misplay",
                    error_text=misplay,
                    read=decided.kind,
                )
            ],
            goal_reached=stacked == MAX_SCORE,
            progress=stacked / MAX_SCORE,
        )
    after = played.state
    reason = (
        "out_of_lives"
        if not after.lives
        else "complete"
        if after.stacked == MAX_SCORE
        else "out_of_cards"
        if played.is_over
        else "turn_limit"
    )
    return End(score=float(after.stacked), stop_reason=reason, turns_taken=len(steps))


def _situation(
    at: CourseSetup, seen: tuple[HanabiState, int], actions: Sequence[str], done: dict[Player, list[str]], turn: int
) -> Situation:
    state, seat = seen
    player: Player = PLAYERS_IN_ORDER[seat]
    partner = partner_of(player)
    text = observation(state, player, seat, ()).partition(_ACTIONS)[0]
    history = f"My Action History: {', '.join(done[player])}\n" if at.switches.memory and done[player] else ""
    rng = Random(f"hanabi-marker:{at.seed}:{turn}")
    texts = texts_of(__package__)["games"]["hanabi"]
    return Situation(
        game="hanabi",
        player=player,
        turn=turn,
        rules=rules_of("hanabi", player, partner, without_lives=texts["without_lives"][at.switches.harness]),
        state=f"{text}{history}{_next_cards(state)}",
        actions=actions,
        layout=texts["layout"],
        partner_did=done[partner][-1] if done[partner] else None,
        interprets=bool(done[partner]),
        ground=lambda reply, left: ground(reply, left, contained=False),
        otherwise=lambda left: rng.choice(list(left)),
        at_random=True,
        scene=lambda: _scene(state, player),
    )


def _scene(state: HanabiState, player: Player) -> dict[str, Any]:
    """The table for a player, who does not see its own cards."""
    shown = shown_table(state)
    return shown | {"hands": shown["hands"] | {player: [None] * len(shown["hands"][player])}}


def _next_cards(state: HanabiState) -> str:
    """What fits next, since models miscount."""
    open_stacks = [color for color in COLORS if state.fireworks[color] < MAX_SCORE // len(COLORS)]
    cards = ", ".join(f"{COLOR_NAMES[color]} {state.fireworks[color] + 1}" for color in open_stacks)
    full = ", ".join(COLOR_NAMES[color] for color in COLORS if color not in open_stacks)
    return f"The next playable cards: {cards or 'none'}." + (f" Complete stacks: {full}." if full else "")


def _step(
    at: CourseSetup, table: HanabiTable, moved: tuple[HanabiState, int, Move], decided: Decided, actions: Sequence[str]
) -> dict[str, Any]:
    before, seat, move = moved
    player = PLAYERS_IN_ORDER[seat]
    return {
        "schema": "hanabi_step/1",
        "game": "hanabi",
        "episode": at.name,
        "seed": at.seed,
        "turn": table.turns,
        "player": player,
        "seat": seat,
        "policy": at.taken[player],
        "state_before": shown_table(before),
        "legal_actions": actions,
        "calls": [{"stage": stage, "text": said.text} for stage, said in decided.said],
        **decided.reading,
        "n_generator_calls": sum(stage == "generator" for stage, _ in decided.said),
        "n_rejections": decided.rejections,
        "selected_action": decided.action,
        "engine_move": shown_move(move),
        "state_after": shown_table(table.state),
        "terminal": table.is_over,
        "fireworks_sum": table.state.stacked,
        "engine_score": table.engine_score,
    }
