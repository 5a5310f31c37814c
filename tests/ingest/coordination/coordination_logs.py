"""Games of scripts as step logs, one file a game: the published form, with what scripts mean and do wrong on purpose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import orjson

from games.coordination.capture import TURN_LIMIT, Action, CaptureState, listed
from games.coordination.capture import observation as seen_in_capture
from games.coordination.capture import start as capture_start
from games.coordination.capture import step as capture_step
from games.coordination.courses import capture, escape, hanabi, kitchen
from games.coordination.courses.agent import CoordinationGame
from games.coordination.courses.scripts import POLICIES
from games.coordination.escape import (
    FIXES_NEEDED,
    GENERATORS,
    PUBLISHED,
    TURN_CAP,
    EscapeState,
    KillerChoice,
    actions,
    killer_options,
    shown_rooms,
)
from games.coordination.escape import SCENARIOS as ESCAPES
from games.coordination.escape import observation as seen_in_escape
from games.coordination.escape import step as escape_step
from games.coordination.hanabi import (
    PLAYERS_IN_ORDER,
    HanabiTable,
    action_text,
    deck_of_seed,
    legal_moves,
    shown_effect,
    shown_move,
    shown_table,
)
from games.coordination.hanabi import listed as listed_moves
from games.coordination.hanabi import observation as seen_in_hanabi
from games.coordination.kitchen import LAYOUTS, MOVE_AWAY, TICKS, KitchenState, Layout, inventory, low_level, shown_kitchen
from games.coordination.kitchen import listed as listed_macros
from games.coordination.kitchen import start as kitchen_start
from games.coordination.kitchen import step as kitchen_step
from games.coordination.players import PLAYERS, Injected, Player, ScriptDecision
from games.coordination.setup import VARIANTS
from games.players.running import RunReport
from games.players.setup import onset_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayRequest:
    """Every policy with every partner, on every variant and seed."""

    game: CoordinationGame
    out: Path
    """Folder for ``<game>/<episode>.jsonl``."""
    policies: Sequence[str] = ()
    """Alice's; empty: all there are."""
    partners: Sequence[str] = ()
    """Bob's; empty: each policy plays with itself."""
    variants: Sequence[str] = ()
    """Empty: all, of the escape the published one."""
    seeds: Sequence[int] = (1, 2, 3)
    ticks: int = TICKS


def play(asked: PlayRequest) -> RunReport:
    """Write such logs."""
    report, known = RunReport(), VARIANTS[asked.game]
    for alice in asked.policies or POLICIES[asked.game]:
        for bob in asked.partners or (alice,):
            for variant in asked.variants or known[: 1 if asked.game == "collab_escape" else None] or ("",):
                for seed in asked.seeds:
                    pair = alice if alice == bob else f"{alice}_{bob}"
                    name = "_".join(filter(None, (pair, "" if variant == PUBLISHED else variant, f"s{seed}")))
                    path = asked.out / asked.game / f"{name}.jsonl"
                    path.parent.mkdir(parents=True, exist_ok=True)
                    steps = list(_steps(asked, name, {"Alice": alice, "Bob": bob}, variant, seed))
                    path.write_bytes(b"".join(orjson.dumps(step, option=orjson.OPT_APPEND_NEWLINE) for step in steps))
                    report.paths = [*report.paths, path]
                    report.turns += len(steps)
                    report.played += 1
    return report


def _steps(asked: PlayRequest, name: str, policies: Mapping[Player, str], variant: str, seed: int) -> Iterator[dict[str, Any]]:
    if asked.game == "hanabi":
        return play_hanabi(name, policies, seed)
    if asked.game == "overcooked":
        return play_kitchen(name, policies, variant, seed=seed, ticks=asked.ticks)
    return (play_capture if asked.game == "collab_capture" else play_escape)(name, policies, variant, seed=seed)


def play_hanabi(name: str, policies: Mapping[Player, str], seed: int, deck: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Play a game.

    Args:
        name: of the game in the log.
        policies: player -> name of one of `hanabi.POLICIES`, or `policy@turn`: from that turn on.
        seed: of the deck, where none is given, and of the players.
        deck: 50 cards in the order of dealing.
    """
    table, rng, turn = HanabiTable(deck or deck_of_seed(seed)), Random(seed), 0
    onsets = {player: onset_of(name, hanabi.POLICIES, "policy") for player, name in policies.items()}
    while not table.is_over:
        turn += 1
        seat, before = table.player_index, table.state
        player = PLAYERS_IN_ORDER[seat]
        actions = listed_moves(legal_moves(before, seat), player)
        move, reason, injected = hanabi.POLICIES[onsets[player].at(turn, hanabi.FAULTLESS)](before, seat, player, rng)
        intended = next(action for action in actions if action.endswith(action_text(move, player)))
        decision = ScriptDecision(intended=intended, explanation=reason, injected=injected)
        effect = table.play(move)
        yield {
            "schema": "hanabi_step/1",
            "game": "hanabi",
            "episode": name,
            "seed": seed,
            "turn": turn,
            "player": player,
            "seat": seat,
            "policy": policies[player],
            "style": "clean",
            "state_before": shown_table(before),
            "observation_text": seen_in_hanabi(before, player, seat, actions),
            "legal_actions": actions,
            **_decided(decision),
            "engine_move": shown_move(move),
            "effect": shown_effect(effect),
            "state_after": shown_table(table.state),
            "terminal": table.is_over,
            "fireworks_sum": table.state.stacked,
            "engine_score": table.engine_score,
        }


def _decided(decision: ScriptDecision) -> dict[str, Any]:
    return {
        "calls": [{"stage": "generator", "text": decision.response}],
        "n_generator_calls": 1,
        "n_rejections": 0,
        "intended_action": decision.intended,
        "selected_action": decision.intended,
        "injected": decision.injected,
    }


def play_kitchen(name: str, policies: Mapping[Player, str], layout_name: str, *, seed: int, ticks: int = TICKS) -> Iterator[dict[str, Any]]:
    """Play a game: a player is asked again when its macro action is finished.

    Args:
        name: of the game in the log.
        policies: player -> name of one of `kitchen.POLICIES`.
        layout_name: one of `LAYOUTS`.
        seed: of the players' random numbers.
        ticks: length of the game.
    """
    layout, rng, score = LAYOUTS[layout_name], Random(seed), 0
    state = kitchen_start(layout)
    macros: dict[int, str] = {}
    stuck = False
    for tick in range(ticks):
        asked = {cook: _ask(layout, state, cook, policies, rng) for cook in range(len(PLAYERS)) if cook not in macros}
        current = macros | {cook: str(answer["selected"]) for cook, answer in asked.items()}
        moves = {cook: low_level(layout, state, cook, macro) for cook, macro in current.items()}
        if stuck:  # Bob makes room when he could not go on, as in the published game; Alice does not
            moves[1] = low_level(layout, state, 1, MOVE_AWAY)
        after, reward = kitchen_step(layout, state, [moves[cook][0] for cook in range(len(PLAYERS))])
        score += reward
        yield {
            "schema": "overcooked_step/1",
            "game": "overcooked",
            "episode": name,
            "layout": layout_name,
            "tick": tick,
            **shown_kitchen(state),
            "actions": [
                {
                    "player": player,
                    "policy": policies[player],
                    "current_macro": current[cook],
                    "new_macro": cook in asked,
                    "low_level": moves[cook][0],
                    **asked.get(cook, {}),
                }
                for cook, player in enumerate(PLAYERS)
            ],
            "sparse_reward": reward,
            "shaped_reward": 0,
            "score": score,
            "terminal": tick + 1 == ticks,
        }
        macros = {cook: macro for cook, macro in current.items() if not moves[cook][1]}
        stuck = _is_stuck(state, after, moves[1][0])
        state = after


def _is_stuck(before: KitchenState, after: KitchenState, action: str) -> bool:
    """Bob, who moves second, wanted the tile that his partner took in this very tick: he did not move."""
    return action not in {"interact", "stay"} and before.cooks[1] == after.cooks[1]


def _ask(layout: Layout, state: KitchenState, cook: int, policies: Mapping[Player, str], rng: Random) -> dict[str, Any]:
    actions = listed_macros(layout, state, cook)
    decision = kitchen.POLICIES[policies[PLAYERS[cook]]](layout, state, cook, actions, rng)
    return {
        "observation_text": f"{inventory(state, cook)}\nAvailable Actions:\n[{', '.join(actions)}]",
        "response": decision.response,
        "intended": decision.intended,
        "selected": decision.intended,
        "injected": decision.injected,
    }


def play_capture(name: str, policies: Mapping[Player, str], scenario: str, *, seed: int) -> Iterator[dict[str, Any]]:
    """Play a game.

    Args:
        name: of the game in the log.
        policies: player -> name of one of `capture.POLICIES`, or `policy@turn`: from that turn on.
        scenario: one of `SCENARIOS`.
        seed: of the players' random numbers.
    """
    state, rng = capture_start(scenario), Random(seed)
    onsets = {player: onset_of(policies[player], capture.POLICIES, "policy") for player in PLAYERS}
    for turn in range(1, TURN_LIMIT + 1):
        answers = {player: capture.POLICIES[onsets[player].at(turn, capture.FAULTLESS)](state, player, rng) for player in PLAYERS}
        turned = capture_step(state, {player: answer[0] for player, answer in answers.items()}, first=turn == 1)
        over = turned.capture is not None or turn == TURN_LIMIT
        yield {
            "schema": "collab_capture_step/1",
            "game": "collab_capture",
            "episode": name,
            "scenario": scenario,
            "turn": turn,
            "rooms_before": state.rooms,
            "doors_before": state.doors,
            "players": [_capture_player(state, player, policies[player], answers[player]) for player in PLAYERS],
            "buttons_pressed": turned.pressed,
            "rooms_after": turned.state.rooms,
            "doors_after": turned.state.doors,
            "captured": turned.capture is not None,
            "capture_kind": turned.capture,
            "terminal": over,
        }
        if over:
            return
        state = turned.state


def _capture_player(state: CaptureState, player: Player, policy: str, answer: tuple[Action, str, tuple[Injected, ...]]) -> dict[str, Any]:
    action, reason, injected = answer
    actions = state.actions(player)
    decision = ScriptDecision(intended=listed(actions.index(action), action), explanation=reason, injected=injected)
    return {
        "player": player,
        "policy": policy,
        "style": "clean",
        "observation_text": seen_in_capture(state, player, actions),
        "available_actions": [other.room if other.verb == "move" else other.text for other in actions],
        "response": decision.response,
        "intended": decision.intended,
        "executed": action.text,
        "grounding_ok": True,
        "injected": decision.injected,
    }


def play_escape(name: str, policies: Mapping[Player, str], scenario: str = PUBLISHED, *, seed: int) -> Iterator[dict[str, Any]]:
    """Play a game; the killer's random steps and the players' share the seed.

    Args:
        name: of the game in the log.
        policies: player -> name of one of `escape.POLICIES`, or `policy@turn`: from that turn on.
        scenario: one of `ESCAPES`.
        seed: of all random numbers.
    """
    state, rng = ESCAPES[scenario], Random(seed)
    onsets = {player: onset_of(policies[player], escape.POLICIES, "policy") for player in PLAYERS}
    for turn in range(1, TURN_CAP + 1):
        choice = rng.choice(killer_options(state))
        decisions = {player: escape.POLICIES[onsets[player].at(turn, escape.FAULTLESS)](state, player, rng) for player in PLAYERS}
        after, outcome = escape_step(state, choice, {player: decision.intended for player, decision in decisions.items()})
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
            "players": [_escape_player(state, player, policies[player], decisions[player], choice) for player in PLAYERS],
            **shown_rooms(after, "after"),
            "generators_fixed": {f"room {room}": after.generators[room] >= FIXES_NEEDED for room in GENERATORS},
            "outcome": "turn_cap" if over and outcome == "continue" else outcome,
            "terminal": over,
        }
        if over:
            return
        state = after


def _escape_player(state: EscapeState, player: Player, policy: str, decision: ScriptDecision, choice: KillerChoice) -> dict[str, Any]:
    return {
        "player": player,
        "policy": policy,
        "style": "clean",
        "observation_text": seen_in_escape(state, player, choice),
        "available_actions": actions(state, player),
        "calls": [{"stage": "generator", "text": decision.response}],
        "intended": decision.intended,
        "executed": decision.intended,
        "injected": decision.injected,
    }
