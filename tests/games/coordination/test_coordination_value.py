"""Values of Hanabi, CollabCapture and CollabEscape against the games' own rules, one turn ahead."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise, product

import pytest

from games.coordination.capture import rules as capture
from games.coordination.escape import rules as escape
from games.coordination.hanabi.rules import COPIES, DECK, HanabiState, Move, apply, deal, legal_moves
from games.coordination.players import PLAYERS, Player
from games.coordination.value.capture import turns_left
from games.coordination.value.escape_tables import Tables, number, tables
from games.coordination.value.hanabi import ceilings


def capture_states(count: int) -> Iterator[capture.CaptureState]:
    rng = random.Random(1)
    for _ in range(count):
        rooms = {name: rng.choice(list(capture.ROOMS)) for name in (*PLAYERS, "Thief")}
        yield capture.CaptureState(rooms, {door: rng.random() < 0.5 for door in capture.BUTTONS.values()})


@pytest.mark.parametrize("first", [False, True])
def test_capture_is_one_turn_more_than_from_the_best_state_after_it(*, first: bool) -> None:
    """By the rules of the game, for all joint actions, in the first turn and later."""
    for state in capture_states(150):
        ahead = []
        for chosen in product(*(state.actions(player) for player in PLAYERS)):
            turned = capture.step(state, dict(zip(PLAYERS, chosen, strict=True)), first=first)
            ahead.append(0.0 if turned.capture else turns_left(turned.state, first=False))
        assert turns_left(state, first=first) == 1 + min(ahead)


def test_capture_from_the_four_starts() -> None:
    """As the reference says of its games' first turns."""
    assert [turns_left(capture.start(scenario), first=True) for scenario in capture.SCENARIOS] == [2, 3, 2, 3]


def escape_states(count: int) -> Iterator[escape.EscapeState]:
    rng = random.Random(2)
    while count:
        rooms = {name: rng.choice(list(escape.ROOMS)) for name in (*PLAYERS, "Adversary")}
        seen = frozenset(player for player in PLAYERS if rng.random() < 0.4)
        target = rng.choice(sorted(seen)) if seen else None
        if rooms["Adversary"] not in (rooms["Alice"], rooms["Bob"]):
            yield escape.EscapeState(rooms, {room: rng.randrange(3) for room in escape.GENERATORS}, seen, target)
            count -= 1


def place(state: escape.EscapeState) -> int:
    rooms, counters = state.rooms, state.generators
    seen = tuple(player for player in PLAYERS if player in state.seen)
    return number((rooms["Alice"], rooms["Bob"], rooms["Adversary"]), (counters[1], counters[6]), seen, state.target)


def test_escape_is_the_best_joint_action_over_the_killers_draws() -> None:
    """Chance, expected, luckiest and worst turns, each against the rules one turn ahead."""
    table = tables(keeps=False)
    for state in escape_states(120):
        options = escape.killer_options(state)
        looked = [ahead(table, state, options, dict(zip(PLAYERS, chosen, strict=True))) for chosen in choices(state)]
        here = place(state)
        assert table.chance[7, here] == pytest.approx(max(sum(found[0] for found in draws) / len(draws) for draws in looked))
        assert table.mean[here] == pytest.approx(1 + min(sum(found[1] for found in draws) / len(draws) for draws in looked))
        assert table.best[here] == 1 + min(min(found[2] for found in draws) for draws in looked)
        assert table.sure[here] == 1 + min(max(found[3] for found in draws) for draws in looked)


def choices(state: escape.EscapeState) -> Iterator[tuple[str, ...]]:
    return product(*(escape.actions(state, player) for player in PLAYERS))


def ahead(
    table: Tables, state: escape.EscapeState, options: tuple[escape.KillerChoice, ...], chosen: Mapping[Player, str]
) -> list[tuple[float, ...]]:
    """Of each draw: chance in six turns, expected, luckiest and worst turns."""
    found: list[tuple[float, ...]] = []
    for option in options:
        after, outcome = escape.step(state, option, chosen)
        if outcome == "continue":
            there = place(after)
            found.append((table.chance[6, there], table.mean[there], table.best[there], table.sure[there]))
        else:
            found.append((1.0, 0.0, 0.0, 0.0) if outcome == "win" else (0.0, math.inf, math.inf, math.inf))
    return found


def test_escape_can_be_forced_from_everywhere() -> None:
    """Eleven turns at most against the worst draws; eight from the start, six and a half expected."""
    table, start = tables(keeps=False), place(escape.START)
    assert (table.sure[start], table.mean[start], table.sure.max()) == (8, 6.5, 11)


@pytest.mark.parametrize("seed", range(6))
def test_hanabi_bound_holds_never_rises_and_ends_at_the_score(seed: int) -> None:
    """Random games: 25 at the start, no rise, and at the end the points on the table."""
    states = hanabi_game(seed)
    bounds = [ceiling.bound for ceiling in ceilings(states)]
    assert bounds[0] == 25
    assert all(later <= now for now, later in pairwise(bounds))
    assert all(bound >= states[-1].stacked for bound in bounds)
    assert bounds[-1] == states[-1].stacked


def hanabi_game(seed: int) -> list[HanabiState]:
    """Random legal moves, most of them hints and discards, to the end of the game."""
    rng = random.Random(seed)
    deck = rng.sample(DECK, len(DECK))
    states, drawn, last = [deal(deck)], 10, 2
    for turn in range(200):
        state, seat = states[-1], turn % 2
        if not state.lives or not last:
            break
        last -= state.deck == 0
        legal = legal_moves(state, seat)
        fitting = [move for move in legal if move.verb == "play" and state.fits(state.hands[seat][move.card or 0])]
        move = rng.choice(fitting) if fitting and rng.random() < 0.7 else rng.choice([m for m in legal if m.verb != "play"] or list(legal))
        draws = move.verb in {"play", "discard"} and state.deck
        states.append(apply(state, seat, move, deck[drawn] if draws else None)[0])
        drawn += bool(draws)
    return states


def test_hanabi_last_copies_and_lives() -> None:
    """Discarding both threes of a colour costs its 3, 4 and 5; the third life costs all that is not on the table."""
    start = deal(sorted(DECK))
    gone = replace(start, discards=("R3",) * COPIES["3"])
    dead = replace(start, lives=0, fireworks={**start.fireworks, "B": 2})
    assert [next(ceilings([state])).bound for state in (start, gone, dead)] == [25, 22, 2]
    assert Move("play", card=0) in legal_moves(start, 0)
