"""Values of Hanabi, CollabCapture and CollabEscape against the games' own rules, one turn ahead."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest

from games.coordination import capture, escape
from games.coordination.escape_tables import HORIZON, Tables, number, tables
from games.coordination.hanabi import COPIES, DECK, HanabiState, Move, apply, deal, legal_moves
from games.coordination.players import PLAYERS, Player
from games.coordination.value import EscapeMove, EscapeTurn, ceilings, choice_chance, choice_turns, turn_worths, turns_left


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
    table = tables(mark_stays=False)
    for state in escape_states(120):
        options = escape.killer_options(state)
        looked = [ahead(table, state, options, dict(zip(PLAYERS, chosen, strict=True))) for chosen in choices(state)]
        here = place(state)
        assert table.chance[7, here] == pytest.approx(max(sum(found[0] for found in draws) / len(draws) for draws in looked))
        assert table.mean[here] == pytest.approx(1 + min(sum(found[1] for found in draws) / len(draws) for draws in looked))
        assert table.best[here] == 1 + min(min(found[2] for found in draws) for draws in looked)
        assert table.sure[here] == 1 + min(max(found[3] for found in draws) for draws in looked)
        for chosen, draws in zip(choices(state), looked, strict=True):
            both = dict(zip(PLAYERS, chosen, strict=True))
            assert choice_chance(state, HORIZON - 6, both) == pytest.approx(sum(found[0] for found in draws) / len(draws))
            assert choice_turns(state, both) == pytest.approx(1 + sum(found[1] for found in draws) / len(draws))


@pytest.mark.parametrize("keeps", [False, True])
def test_escape_is_possible_from_the_luckiest_turn_on_and_certain_from_the_worst_on(*, keeps: bool) -> None:
    """In every state but those in which the killer has somebody already, by either reading of the rules."""
    table = tables(mark_stays=keeps)
    turns = np.arange(HORIZON + 1)[:, np.newaxis]
    assert ((table.chance > 0) == (turns >= table.best)).all()
    assert ((table.chance == 1) == (turns >= table.sure)).all()
    assert ((table.best <= table.mean) & (table.mean <= table.sure)).all()


@pytest.mark.parametrize("seed", range(8))
def test_escape_turns_are_valued_by_both_readings_of_the_rules(seed: int) -> None:
    """Random games from random rooms: a turn's values are those of the first reading, and exact where the second gives the same."""
    turns = escape_game(seed)
    found = list(turn_worths(turns))
    told = [reckoned(turns, keeps=keeps) for keeps in (False, True)]
    assert [tuple(worth) for worth, _ in found] == [pytest.approx(worth) for worth in told[0]]
    assert [exact for _, exact in found] == [one == pytest.approx(other) for one, other in zip(*told, strict=True)]


def test_some_escape_turns_are_worth_something_else_by_the_other_reading() -> None:
    assert {exact for seed in range(8) for _, exact in turn_worths(escape_game(seed))} == {False, True}


def escape_game(seed: int) -> list[EscapeTurn]:
    """Random choices to the end, or past the turns for which chances are worked out."""
    rng = random.Random(seed)
    state, turns = replace(escape.START, rooms={**escape.START.rooms, "Adversary": rng.choice([3, 5, 8, 9])}), []
    for turn in range(1, HORIZON + 3):
        options = escape.killer_options(state)
        looked = sorted(choices(state), key=lambda _: rng.random())
        drawn = rng.choice(options)
        # most often a choice that nobody dies of, so that games last
        chosen = next(
            (one for one in looked if escape.step(state, drawn, dict(zip(PLAYERS, one, strict=True)))[1] == "continue"), looked[0]
        )
        both = dict(zip(PLAYERS, looked[0] if rng.random() < 0.05 else chosen, strict=True))
        after, outcome = escape.step(state, drawn, both)
        move = EscapeMove(state.rooms, state.generators, both, drawn.room, after.rooms, after.generators, outcome)
        turns.append(EscapeTurn(turn, move))
        state = after
        if outcome != "continue":
            break
    return turns


def reckoned(turns: list[EscapeTurn], *, keeps: bool) -> list[tuple[float, ...]]:
    """The values of a game's turns from the tables, the players' marks as seen carried on by one reading."""
    table, found = tables(mark_stays=keeps), list[tuple[float, ...]]()
    seen, target = escape.START.seen, escape.START.target
    for turn, move in turns:
        before = escape.EscapeState(move.rooms, move.generators, seen, target)
        near = {player for player in PLAYERS if move.rooms[player] in escape.ROOMS[move.rooms["Adversary"]]}
        stays = seen if keeps and len(near) == 1 else frozenset[Player]()
        options = [option._replace(seen=option.seen | stays) for option in escape.killer_options(before)]
        left = max(HORIZON - turn + 1, 0)
        draws = [worth_of(table, *escape.step(before, option, move.chosen), left - 1) for option in options]
        seen, target = frozenset(near) | stays, options[0].target if near else None
        after = worth_of(table, escape.EscapeState(move.rooms_after, move.generators_after, seen, target), move.outcome, left - 1)
        chance, mean = (sum(column) / len(draws) for column in list(zip(*draws, strict=True))[:2])
        here = place(before)
        now = table.chance[left, here], table.mean[here], table.best[here], table.sure[here]
        found.append((now[0], chance, after[0], now[1], 1 + mean, after[1], now[2], after[2], now[3], after[3]))
    return found


def worth_of(table: Tables, state: escape.EscapeState, outcome: escape.Outcome, left: int) -> tuple[float, ...]:
    if outcome == "continue":
        there = place(state)
        return table.chance[max(left, 0), there], table.mean[there], table.best[there], table.sure[there]
    return (1.0, 0.0, 0.0, 0.0) if outcome == "win" else (0.0, math.inf, math.inf, math.inf)


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
    table, start = tables(mark_stays=False), place(escape.START)
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
