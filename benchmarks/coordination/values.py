"""What Hanabi's turns cost, against replaying its games."""

import random
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from benchmarks.values import ValueWork
from games.coordination.hanabi import DECK, HAND, HanabiState, Move, apply, deal, is_legal, legal_moves
from games.coordination.value import ceilings

__all__ = ["work"]

_Game = tuple[list[str], list[tuple[Move, str | None]]]
"""Deck, and moves with the card drawn after each."""

_GAMES: Final = 120


def work() -> ValueWork:
    """Random games: most moves are hints and discards, cards that fit are played."""
    games = [_moves(seed) for seed in range(_GAMES)]
    states = [list(_states(game)) for game in games]
    name = f"Hanabi, {sum(len(moves) for _, moves in games):,} turns of {len(games)} games"
    return ValueWork(name, partial(_replay, games), partial(_value, states))


def _moves(seed: int) -> _Game:
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


def _states(game: _Game) -> Iterator[HanabiState]:
    deck, moves = game
    state = deal(deck)
    yield state
    for turn, (move, draw) in enumerate(moves):
        if not is_legal(state, turn % 2, move):
            raise AssertionError(move)
        state, _ = apply(state, turn % 2, move, draw)
        yield state


def _replay(games: Sequence[_Game]) -> None:
    for game in games:
        for _ in _states(game):
            pass


def _value(games: Sequence[Sequence[HanabiState]]) -> None:
    for states in games:
        for _ in ceilings(states):
            pass
