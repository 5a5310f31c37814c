"""Correction spirals of random games, against a second, plain implementation of docs/spirals.md."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from analytics.query import query
from tests.analytics.little_games import Candidate, Game, Move, Step, store_with

START = "0"
GAMES = 200
TURNS = 14


class Turn(NamedTuple):
    """A step with what it found."""

    number: int
    before: str
    progress_before: float
    step: Step

    @property
    def changed(self) -> bool:
        """Whether it left another state than it found."""
        return self.before != self.step.after


def random_game(seed: int) -> Game:
    """Few states, few actions, so that everything happens often."""
    dice = random.Random(seed)
    state, steps = START, []
    for _ in range(dice.randint(1, TURNS)):
        state = dice.choice([state, state, "0", "1", "2", "3"])
        moves = tuple(
            Move(dice.choice(["place", "back"]), dice.choice(["{}", '{"a":1}']), dice.choice([True, False]), dice.choice("AB"))
            for _ in range(dice.choice([0, 1, 1, 1, 2]))
        )
        oracle = tuple(
            Candidate(dice.choice(["place", "place", "back"]), verified=dice.random() < 0.8) for _ in range(dice.choice([0, 1, 2]))
        )
        steps.append(Step(state, moves, oracle, progress=dice.choice([0.1, 0.2, 0.3])))
    return Game(steps, name=f"g{seed}", start=START, start_progress=0.2)


def turns_of(game: Game) -> list[Turn]:
    before, progress, turns = game.start, game.start_progress, []
    for number, step in enumerate(game.steps, start=1):
        turns.append(Turn(number, before, progress, step))
        before, progress = step.after, step.progress
    return turns


def joined(stretches: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Merge stretches that share a turn."""
    open_start, open_end = -1, -1
    for start, end in sorted(stretches):
        if start <= open_end:
            open_end = max(open_end, end)
            continue
        if open_start > 0:
            yield open_start, open_end
        open_start, open_end = start, end
    if open_start > 0:
        yield open_start, open_end


def in_a_row(numbers: Sequence[int], least: int) -> Iterator[tuple[int, int]]:
    """Runs of consecutive numbers that are long enough."""
    for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        turns = [number for _, number in run]
        if len(turns) >= least:
            yield turns[0], turns[-1]


def stalls(turns: Sequence[Turn]) -> Iterator[tuple[int, int]]:
    return in_a_row([turn.number for turn in turns if not turn.changed], 3)


def over_removals(turns: Sequence[Turn]) -> Iterator[tuple[int, int]]:
    verified = [{candidate.verb for candidate in turn.step.oracle if candidate.verified} for turn in turns]
    if not any(verified):
        return iter(())
    tried = [{move.verb for move in turn.step.moves} for turn in turns]
    idle = [turn.number for turn, did, might in zip(turns, tried, verified, strict=True) if "back" in did and "back" not in might]
    return in_a_row(idle, 2)


def repeated_failures(turns: Sequence[Turn]) -> Iterator[tuple[int, int]]:
    refused = [(turn.number, {(m.agent, m.verb, m.arguments) for m in turn.step.moves if m.accepted is False}) for turn in turns]
    changed = {turn.number for turn in turns if turn.changed}
    pairs = [
        (first, second)
        for first, moves in refused
        for second, again in refused
        if first < second and moves & again and not changed & set(range(first, second))
    ]
    segments: dict[int, list[tuple[int, int]]] = {}
    for pair in pairs:
        segments.setdefault(sum(number < pair[0] for number in changed), []).append(pair)
    return ((min(first for first, _ in found), max(second for _, second in found)) for found in segments.values())


def undo_loops(turns: Sequence[Turn]) -> Iterator[tuple[int, int]]:
    return joined(
        [
            (left.number, back.number)
            for left in turns
            for back in turns
            if left.number < back.number and left.changed and back.changed and left.before == back.step.after
        ]
    )


KINDS = {"repeated_failure": repeated_failures, "undo_loop": undo_loops, "over_removal": over_removals, "stall": stalls}


def expected(game: Game) -> Iterator[tuple[str, str, int, int, int]]:
    turns = turns_of(game)
    for kind, find in KINDS.items():
        for start, end in find(turns):
            wasted = sum(turn.step.progress <= turns[start - 1].progress_before for turn in turns[start - 1 : end])
            yield game.name, kind, start, end, wasted


def test_random_games_have_the_spirals_of_the_plain_definition(tmp_path: Path) -> None:
    """The view and a second implementation find the same stretches with the same wasted turns, every kind many times."""
    games = [random_game(seed) for seed in range(GAMES)]
    wanted = sorted(row for game in games for row in expected(game))
    found = query(
        store_with(tmp_path, games),
        "select episode_id, kind, start_turn, end_turn, turns_wasted from correction_spirals order by all",
    )
    assert found.rows() == wanted
    assert all(sum(row[1] == kind for row in wanted) > 20 for kind in KINDS)
