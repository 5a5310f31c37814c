"""Values: what each turn cost, against replaying the same games; caches are emptied before every round, code is compiled before."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from benchmarks.figures import Figure, seconds
from benchmarks.replay import CraftGame, craft_games, forget, replay_craft
from benchmarks.timing import medians
from benchmarks.workload import scratch
from games.asympuzl.play import PlayRequest as AsymPuzlRequest
from games.asympuzl.play import play as play_asympuzl
from games.coordination.hanabi.rules import DECK, HAND, HanabiState, Move, apply, deal, is_legal, legal_moves
from games.coordination.value.hanabi import ceilings
from games.craft.replay import ReplayedTurn, replay
from games.craft.value.reach import BoardTurn as CraftStep
from games.craft.value.reach import turn_values
from games.einstein.engine.puzzle import parse_game_id
from games.einstein.engine.rules import RULES
from games.einstein.engine.step import Setting
from games.einstein.match_log import settings_of
from games.einstein.play import PlayRequest as EinsteinRequest
from games.einstein.play import play as play_einstein
from games.einstein.replay import Samples, Step
from games.einstein.replay import replay as replay_einstein
from games.einstein.value.distances import distances
from games.einstein.value.hands import steps_left
from ingest.asympuzl.lines import LoggedGame, sort_lines
from ingest.asympuzl.replay import ReplayedGame
from ingest.asympuzl.replay import replay as replay_asympuzl
from ingest.asympuzl.values import turn_values as asympuzl_values

__all__ = ["run"]

_HanabiGame = tuple[list[str], list[tuple[Move, str | None]]]
"""Deck, and moves with the card drawn after each."""

_ROUNDS: Final = 7
_GOAL: Final = 3
_GAMES: Final = 120
_TURNS: Final = 20
"""Of the published setting; games end sooner where the target is reached."""


def run() -> list[Figure]:
    """Measure."""
    return [_craft(), _einstein(), _asympuzl(), _hanabi()]


def _craft() -> Figure:
    games = craft_games()
    replayed = [(game, list(replay(game.start, game.target, game.moves))) for game in games]
    _value_craft(replayed[:1])
    turns = sum(len(steps) for _, steps in replayed)
    return _figure(f"CRAFT, {turns:,} turns of {len(games)} games", partial(replay_craft, games), partial(_value_craft, replayed))


def _value_craft(games: Sequence[tuple[CraftGame, Sequence[ReplayedTurn]]]) -> None:
    forget()
    for game, steps in games:
        limit = max(_TURNS, len(steps))
        for _ in turn_values([CraftStep(step.board_before, step.board_after, limit - step.turn + 1) for step in steps], game.target):
            pass


def _einstein() -> Figure:
    report = play_einstein(EinsteinRequest(out=scratch() / "einstein-values", games=_GAMES))
    games = [_einstein_game(path.read_text(encoding="utf-8")) for path in report.paths]
    replayed = [(setting, list(replay_einstein(setting, samples))) for setting, samples in games]
    name = f"Einstein, {sum(len(steps) for _, steps in replayed):,} steps of {len(games)} games"
    return _figure(name, partial(_replay_einstein, games), partial(_value_einstein, replayed))


def _einstein_game(text: str) -> tuple[Setting, list[Samples]]:
    header, *lines = map(json.loads, text.splitlines())
    settings = settings_of(header["run"]["condition"])
    setting = Setting(parse_game_id(header["task"]["id"]), settings.modes, RULES[settings.rules], settings.step_limit)
    return setting, [Samples((line["actions"][0]["raw"],)) for line in lines if "turn" in line]


def _replay_einstein(games: Sequence[tuple[Setting, list[Samples]]]) -> None:
    for setting, samples in games:
        for _ in replay_einstein(setting, samples):
            pass


def _value_einstein(games: Sequence[tuple[Setting, list[Step]]]) -> None:
    steps_left.cache_clear()
    for setting, steps in games:
        for _ in distances(setting, steps):
            pass


def _asympuzl() -> Figure:
    report = play_asympuzl(AsymPuzlRequest(out=scratch() / "asympuzl-values", personas=("sharing", "piecewise", "ignoring", "silent")))
    games = [game for path in report.paths for game in sort_lines(path.read_bytes()).games]
    replayed = [replay_asympuzl(game) for game in games]
    name = f"AsymPuzl, {sum(len(game.turns) for game in games):,} answers of {len(games)} games"
    return _figure(name, partial(_replay_asympuzl, games), partial(_value_asympuzl, replayed))


def _replay_asympuzl(games: Sequence[LoggedGame]) -> None:
    for game in games:
        replay_asympuzl(game)


def _value_asympuzl(games: Sequence[ReplayedGame]) -> None:
    for game in games:
        for _ in asympuzl_values("", game, 1):
            pass


def _hanabi() -> Figure:
    """Random games: most moves are hints and discards, cards that fit are played."""
    games = [_hanabi_moves(seed) for seed in range(_GAMES)]
    states = [list(_hanabi_states(game)) for game in games]
    name = f"Hanabi, {sum(len(moves) for _, moves in games):,} turns of {len(games)} games"
    return _figure(name, partial(_replay_hanabi, games), partial(_value_hanabi, states))


def _hanabi_moves(seed: int) -> _HanabiGame:
    rng = random.Random(seed)
    deck = rng.sample(DECK, len(DECK))
    state, drawn, moves = deal(deck), 2 * HAND, list[tuple[Move, str | None]]()
    while state.lives and state.deck:
        legal = legal_moves(state, len(moves) % 2)
        quiet = [move for move in legal if move.verb != "play"]
        fitting = [move for move in legal if move.verb == "play" and state.fits(state.hands[len(moves) % 2][move.card or 0])]
        move = rng.choice(fitting or quiet or legal)
        draw = deck[drawn] if move.verb in {"play", "discard"} else None
        drawn += draw is not None
        state, _ = apply(state, len(moves) % 2, move, draw)
        moves.append((move, draw))
    return deck, moves


def _hanabi_states(game: _HanabiGame) -> Iterator[HanabiState]:
    deck, moves = game
    state = deal(deck)
    yield state
    for turn, (move, draw) in enumerate(moves):
        if not is_legal(state, turn % 2, move):
            raise AssertionError(move)
        state, _ = apply(state, turn % 2, move, draw)
        yield state


def _replay_hanabi(games: Sequence[_HanabiGame]) -> None:
    for game in games:
        for _ in _hanabi_states(game):
            pass


def _value_hanabi(games: Sequence[Sequence[HanabiState]]) -> None:
    for states in games:
        for _ in ceilings(states):
            pass


def _figure(name: str, base: partial[None], ours: partial[None]) -> Figure:
    taken = medians(_ROUNDS, {"base": base, "ours": ours})
    ratio = taken["ours"].cpu_s / taken["base"].cpu_s
    return Figure(name, seconds(taken["ours"].cpu_s), f"{seconds(taken['base'].cpu_s)}: replay", ratio, f"<= {_GOAL}", met=ratio <= _GOAL)
