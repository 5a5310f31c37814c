"""Correction spirals: each kind where it is planted, and none where it is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from analytics.query import query
from schemas.records import TurnMetric
from schemas.store import batches
from tests.analytics.little_games import Candidate, Game, Move, Step, board, store_with

A, B, C, D = '"A"', '"B"', '"C"', '"D"'
FORWARD = Move("place")
BACK = Move("remove")
NO_BACK = Move("remove", accepted=False)
ASK = Move("clarify", accepted=None)
MAY_REMOVE = (Candidate("place"), Candidate("remove"))


Test = Callable[..., None]


class Spiral(NamedTuple):
    """What a test expects of a row."""

    kind: str
    start_turn: int
    end_turn: int
    turns_wasted: int


def refused(what: str, agent: str = "Builder") -> Move:
    return Move("place", f'{{"at":"{what}"}}', accepted=False, agent=agent)


Row = dict[str, Any]
_PLANTED: dict[str, Game] = {}
"""Test, with what distinguishes the game -> the game; all lie in one store."""


def planted(*steps: Step, why: str = "", start: str = A, benchmark: str = "einstein", at_start: float = 0.0) -> Callable[[Test], Test]:
    """The test looks at a game of these steps."""

    def register(test: Test) -> Test:
        name = f"{test.__name__}: {why}"
        _PLANTED[name] = Game(steps, name=name, start=start, benchmark=benchmark, start_progress=at_start)
        return test

    return register


def planted_each(games: Mapping[str, Sequence[Step]]) -> Callable[[Test], Test]:
    """The test looks at each of these games."""

    def register(test: Test) -> Test:
        for why, steps in games.items():
            planted(*steps, why=why)(test)
        return test

    return register


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """Of all planted games."""
    store = store_with(tmp_path_factory.mktemp("planted"), _PLANTED.values())
    return query(store, "select * from correction_spirals order by kind, start_turn").to_dicts()


@pytest.fixture
def each(rows: list[Row], request: pytest.FixtureRequest) -> dict[str, list[Row]]:
    """What distinguishes a game of the test -> its spirals."""
    names = [name for name in _PLANTED if name.startswith(f"{request.function.__name__}: ")]
    return {name.partition(": ")[2]: [row for row in rows if row["episode_id"] == name] for name in names}


@pytest.fixture
def found(each: dict[str, list[Row]]) -> list[Row]:
    """The spirals of the test's only game."""
    return each[""]


def spirals(found: Sequence[Row]) -> list[Spiral]:
    return [Spiral(*(row[field] for field in Spiral._fields)) for row in found]


def of_kind(kind: str, found: Sequence[Row]) -> list[tuple[int, int]]:
    return [(row["start_turn"], row["end_turn"]) for row in found if row["kind"] == kind]


@planted(Step(B, (FORWARD,), progress=0.1), Step(C, (FORWARD,), progress=0.2), Step(D, (FORWARD,), progress=0.3))
def test_progress_has_no_spiral(found: list[Row]) -> None:
    """A game that goes forward on every turn has none."""
    assert spirals(found) == []


# --- repeated_failure -------------------------------------------------------------------------------------------------------------------


@planted(Step(A, (refused("x"),)), Step(A, (refused("x"),)))
def test_a_refused_action_tried_again_is_a_repeated_failure(found: list[Row]) -> None:
    """It lasts from the first refusal to the last, and wastes every turn of it."""
    assert spirals(found) == [Spiral("repeated_failure", 1, 2, 2)]


@planted(Step(B, (FORWARD,)), Step(B, (refused("x"),)), Step(B, (refused("y"),)), Step(B, (refused("x"),)))
def test_a_repeated_failure_outlasts_other_tries_in_the_same_state(found: list[Row]) -> None:
    """Another action in between does not end it: the state has not changed."""
    assert of_kind("repeated_failure", found) == [(2, 4)]


@planted(Step(A, (refused("x"),)), Step(A, (refused("y"),)), Step(A, (refused("x"),)), Step(A, (refused("y"),)))
def test_two_repeated_actions_in_one_unchanged_state_are_one_stretch(found: list[Row]) -> None:
    """Stretches are maximal."""
    assert of_kind("repeated_failure", found) == [(1, 4)]


@planted_each(
    {
        "another action": [Step(A, (refused("x"),)), Step(A, (refused("y"),))],
        "another agent": [Step(A, (refused("x"),)), Step(A, (refused("x", "Other"),))],
        "the state has changed": [Step(A, (refused("x"),)), Step(B, (FORWARD,)), Step(B, (refused("x"),))],
        "never refused": [Step(B, (FORWARD,)), Step(C, (FORWARD,))],
        "asking twice": [Step(A, (ASK,)), Step(A, (ASK,))],
    }
)
def test_no_repeated_failure(each: dict[str, list[Row]]) -> None:
    """Only the same agent's same action in the same state counts."""
    assert len(each) > 2
    assert [why for why, found in each.items() if of_kind("repeated_failure", found)] == []


@planted(Step(A, (refused("x"),)), Step(B, (FORWARD,)), Step(A, (BACK,)), Step(A, (refused("x"),)))
def test_a_return_to_the_state_opens_a_new_chance(found: list[Row]) -> None:
    """The state has changed in between, even if it came back: no repeated failure (but an undo loop)."""
    assert [row["kind"] for row in found] == ["undo_loop"]


# --- undo_loop --------------------------------------------------------------------------------------------------------------------------


@planted(Step(B, (FORWARD,), progress=0.2), Step(A, (BACK,), MAY_REMOVE))
def test_placing_and_taking_away_is_an_undo_loop(found: list[Row]) -> None:
    """From the turn that left the state to the turn that brings it back; the first of them had raised progress."""
    assert spirals(found) == [Spiral("undo_loop", 1, 2, 1)]


@planted(Step(B), Step(A), Step(B), Step(A))
def test_loops_that_share_a_turn_are_one_stretch(found: list[Row]) -> None:
    """A B A B A is one loop over four turns."""
    assert of_kind("undo_loop", found) == [(1, 4)]


@planted(Step(B), Step(A), Step(B))
def test_a_loop_that_begins_with_the_turn_that_ended_another_goes_on_with_it(found: list[Row]) -> None:
    """A B A B: the turn that is back in A leaves B, to which the next one comes back."""
    assert of_kind("undo_loop", found) == [(1, 3)]


@planted(Step(B), Step(C), Step(B), Step(A))
def test_an_inner_loop_belongs_to_the_outer_one(found: list[Row]) -> None:
    """A B C B A: the return to B lies inside the return to A."""
    assert of_kind("undo_loop", found) == [(1, 4)]


@planted(Step(B), Step(A), Step(C), Step(D), Step(C))
def test_loops_without_a_common_turn_are_two(found: list[Row]) -> None:
    """A B A after which the game goes on C D C: the way from A to C lies in none."""
    assert of_kind("undo_loop", found) == [(1, 2), (4, 5)]


@planted_each(
    {
        "never left": [Step(A), Step(A)],
        "never back": [Step(B), Step(C), Step(D)],
        "stays where it went": [Step(B), Step(B)],
    }
)
def test_no_undo_loop(each: dict[str, list[Row]]) -> None:
    """A state must be left and come back."""
    assert len(each) > 2
    assert [why for why, found in each.items() if of_kind("undo_loop", found)] == []


LEFT, PLACED = board(), board(c00=["gs"])
LEFT_AGAIN = LEFT.replace('"spans":{}', '"spans":{"0":[]}')
STRAY = LEFT.replace('"(2,2)":[]', '"(2,2)":[],"(0, 0)":["gs"]')


@planted(Step(PLACED, (FORWARD,)), Step(LEFT_AGAIN, (BACK,), MAY_REMOVE), why="spans", start=LEFT, benchmark="craft")
@planted(Step(STRAY, (FORWARD,)), Step(STRAY, (ASK,)), Step(STRAY, (ASK,)), why="stray", start=LEFT, benchmark="craft")
def test_span_records_and_stray_cells_do_not_make_a_new_craft_state(each: dict[str, list[Row]]) -> None:
    """In CRAFT the state is the stacks of the nine cells: an emptied layer's record, or a cell named with a blank, changes nothing."""
    assert of_kind("undo_loop", each["spans"]) == [(1, 2)]
    assert of_kind("stall", each["stray"]) == [(1, 3)]


# --- over_removal -----------------------------------------------------------------------------------------------------------------------


@planted(Step(B, (BACK,)), Step(B, (NO_BACK,)), Step(C, (FORWARD,)))
def test_two_undoing_turns_without_a_reason_are_over_removal(found: list[Row]) -> None:
    """Refused ones count: the turn went into undoing all the same."""
    assert spirals(found) == [Spiral("over_removal", 1, 2, 2)]


NOT_LISTED = (Candidate("remove", listed=False),)


@planted_each(
    {
        "one is not enough": [Step(B, (BACK,)), Step(C, (FORWARD,))],
        "not in a row": [Step(B, (BACK,)), Step(B, (ASK,)), Step(C, (BACK,))],
        "a verified action undoes": [Step(B, (BACK,), MAY_REMOVE), Step(C, (BACK,), MAY_REMOVE)],
        "on one of the turns a verified action undoes": [Step(B, (BACK,)), Step(C, (BACK,), MAY_REMOVE)],
        "a verified action undoes though it was not listed": [Step(B, (BACK,), NOT_LISTED), Step(C, (BACK,), NOT_LISTED)],
        "nothing was ever verified in this game": [Step(B, (BACK,), ()), Step(C, (BACK,), ())],
    }
)
def test_no_over_removal(each: dict[str, list[Row]]) -> None:
    """Only undoing turns in a row, where it is known that nothing needed undoing."""
    assert len(each) > 2
    assert [why for why, found in each.items() if of_kind("over_removal", found)] == []


UNVERIFIED = (Candidate("place"), Candidate("remove", verified=False))


@planted(Step(B, (BACK,), UNVERIFIED), Step(C, (BACK,), UNVERIFIED))
def test_undoing_a_listed_but_unverified_removal_is_over_removal(found: list[Row]) -> None:
    """What counts is that the replay verifies the candidate, not that the log lists it."""
    assert of_kind("over_removal", found) == [(1, 2)]


@planted(Step(B, (FORWARD,)), Step(C, (BACK,), ()), Step(D, (BACK,), ()))
def test_exhausted_candidates_do_not_excuse_undoing(found: list[Row]) -> None:
    """Once candidates have run out, none of them undoes."""
    assert of_kind("over_removal", found) == [(2, 3)]


# --- stall ------------------------------------------------------------------------------------------------------------------------------


@planted(Step(B, (FORWARD,)), Step(B, (refused("x"),)), Step(B, (ASK,)), Step(B), Step(C, (FORWARD,)))
def test_three_turns_without_a_change_are_a_stall(found: list[Row]) -> None:
    """Whatever the reason: refused, asked, or nothing done."""
    assert spirals(found) == [Spiral("stall", 2, 4, 3)]


@planted(*[Step(A, (ASK,))] * 5, Step(B, (FORWARD,)), *[Step(B, (ASK,))] * 3)
def test_stalls_are_maximal_and_end_with_a_change(found: list[Row]) -> None:
    """Five unchanged turns are one stall, and a change begins another."""
    assert of_kind("stall", found) == [(1, 5), (7, 9)]


@planted(Step(A, (ASK,)), Step(A, (ASK,)), Step(B, (FORWARD,)), Step(B, (ASK,)), Step(B, (ASK,)))
def test_two_turns_without_a_change_are_no_stall(found: list[Row]) -> None:
    """Neither in a row nor with a change between."""
    assert of_kind("stall", found) == []


# --- what is said about a spiral --------------------------------------------------------------------------------------------------------


@planted(Step(B, progress=0.3), Step(C, progress=0.4), Step(B, progress=0.3), Step(D, progress=0.2), Step(B, progress=0.3), why="above it")
@planted(Step(B, progress=0.3), Step(C, progress=0.4), Step(D, progress=0.1), Step(B, progress=0.3), why="worse, then as before")
def test_only_turns_that_stay_at_or_below_the_start_are_wasted(each: dict[str, list[Row]]) -> None:
    """Progress before the stretch is 0.3; the turns after which it is 0.3, 0.2 and 0.3 are wasted, the one with 0.4 is not."""
    assert spirals(each["above it"]) == [Spiral("undo_loop", 2, 5, 3)]
    assert spirals(each["worse, then as before"]) == [Spiral("undo_loop", 2, 4, 2)]


@planted(*[Step(A, (ASK,), progress=0.2)] * 3, at_start=0.2)
def test_the_first_turn_is_measured_against_the_progress_of_the_start_board(found: list[Row]) -> None:
    """A board that begins at 0.2 and stays there has wasted its turns, though 0.2 is above 0."""
    assert spirals(found) == [Spiral("stall", 1, 3, 3)]


def test_a_single_turn_of_known_progress_says_what_was_wasted(tmp_path: Path) -> None:
    """Of three turns without a change the log gives progress after the first alone: that one was wasted, of the others nothing is known."""
    store = store_with(tmp_path, [Game([Step(A, (ASK,), progress=0.2)] * 3, start=A, start_progress=0.2)])
    with store.writing() as connection:
        connection.execute("update turns set progress = null where turn > 1")
    assert query(store, "select kind, turns, turns_wasted from correction_spirals").rows() == [("stall", 3, 1)]


def test_progress_of_a_stretch_is_that_before_and_after_it(tmp_path: Path) -> None:
    """A loop that falls from 0.3 to 0.1 and is back at 0.3; other metrics of the game, and of the start, do not change its rows."""
    store = store_with(tmp_path, [Game([Step(B, progress=0.2), Step(C, progress=0.1), Step(A, progress=0.4)], start=A, start_progress=0.3)])
    others = [TurnMetric("game", 0, "einstein.other", 0.9), TurnMetric("game", 2, "einstein.overall_progress", 0.8)]
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"turn_metrics": others}))
    found = query(store, "select turns, turns_wasted, progress_start, progress_end from correction_spirals")
    assert found.rows() == [(3, 2, 0.3, 0.4)]


@planted(*[Step(A, (NO_BACK,))] * 3, Step(B, (FORWARD,)), Step(A, (BACK,), MAY_REMOVE))
def test_evidence_names_turns_and_actions(found: list[Row]) -> None:
    """A reader can check each spiral by its evidence alone."""
    assert {row["kind"]: row["evidence"] for row in found} == {
        "repeated_failure": "Builder: remove {} refused on turns 1, 2, 3",
        "over_removal": (
            "turn 1: remove {} (refused); turn 2: remove {} (refused); turn 3: remove {} (refused); no verified action undoes there"
        ),
        "stall": "no change of state; actions refused: 3, clarifications: 0",
        "undo_loop": "the state left on turn 4 is back after turn 5",
    }


@planted_each({"first": [Step(A, (ASK,))] * 2, "second": [Step(A, (ASK,))] * 2})
def test_games_do_not_run_into_each_other(each: dict[str, list[Row]]) -> None:
    """Two unchanged turns at the end of one game and one at the start of the next are no stall."""
    assert each == {"first": [], "second": []}


@planted(*[Step(A, (ASK,))] * 8, *[Step(A, (refused("x"),))] * 3)
def test_turns_above_nine_are_listed_in_order(found: list[Row]) -> None:
    """Turn 10 comes after turn 9, not after turn 1."""
    (evidence,) = (row["evidence"] for row in found if row["kind"] == "repeated_failure")
    assert evidence == 'Builder: place {"at":"x"} refused on turns 9, 10, 11'
