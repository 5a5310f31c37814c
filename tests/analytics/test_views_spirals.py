"""Correction spirals: each kind where it is planted, and none where it is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

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


class Spiral(NamedTuple):
    """What a test expects of a row."""

    kind: str
    start_turn: int
    end_turn: int
    turns_wasted: int


def refused(what: str, agent: str = "Builder") -> Move:
    return Move("place", f'{{"at":"{what}"}}', accepted=False, agent=agent)


def spirals(folder: Path, steps: Sequence[Step], *, start: str = A, benchmark: str = "einstein", at_start: float = 0.0) -> list[Spiral]:
    store = store_with(folder, [Game(steps, start=start, benchmark=benchmark, start_progress=at_start)])
    found = query(store, "select kind, start_turn, end_turn, turns_wasted from correction_spirals order by kind, start_turn")
    return [Spiral(*row) for row in found.rows()]


def games_with(folder: Path, kind: str, games: Mapping[str, Sequence[Step]]) -> list[str]:
    """The names of the games, each of these steps, that have a spiral of this kind."""
    store = store_with(folder, [Game(steps, name=name, start=A) for name, steps in games.items()])
    found = query(store, "select distinct episode_id from correction_spirals where kind = $kind order by 1", {"kind": kind})
    return found["episode_id"].to_list()


def of_kind(kind: str, found: Sequence[Spiral]) -> list[tuple[int, int]]:
    return [(spiral.start_turn, spiral.end_turn) for spiral in found if spiral.kind == kind]


def test_progress_has_no_spiral(tmp_path: Path) -> None:
    """A game that goes forward on every turn has none."""
    steps = [Step(B, (FORWARD,), progress=0.1), Step(C, (FORWARD,), progress=0.2), Step(D, (FORWARD,), progress=0.3)]
    assert spirals(tmp_path, steps) == []


# --- repeated_failure -------------------------------------------------------------------------------------------------------------------


def test_a_refused_action_tried_again_is_a_repeated_failure(tmp_path: Path) -> None:
    """It lasts from the first refusal to the last, and wastes every turn of it."""
    steps = [Step(A, (refused("x"),)), Step(A, (refused("x"),))]
    assert spirals(tmp_path, steps) == [Spiral("repeated_failure", 1, 2, 2)]


def test_a_repeated_failure_outlasts_other_tries_in_the_same_state(tmp_path: Path) -> None:
    """Another action in between does not end it: the state has not changed."""
    steps = [Step(B, (FORWARD,)), Step(B, (refused("x"),)), Step(B, (refused("y"),)), Step(B, (refused("x"),))]
    assert of_kind("repeated_failure", spirals(tmp_path, steps)) == [(2, 4)]


def test_two_repeated_actions_in_one_unchanged_state_are_one_stretch(tmp_path: Path) -> None:
    """Stretches are maximal."""
    steps = [Step(A, (refused("x"),)), Step(A, (refused("y"),)), Step(A, (refused("x"),)), Step(A, (refused("y"),))]
    assert of_kind("repeated_failure", spirals(tmp_path, steps)) == [(1, 4)]


def test_no_repeated_failure(tmp_path: Path) -> None:
    """Only the same agent's same action in the same state counts."""
    games = {
        "another action": [Step(A, (refused("x"),)), Step(A, (refused("y"),))],
        "another agent": [Step(A, (refused("x"),)), Step(A, (refused("x", "Other"),))],
        "the state has changed": [Step(A, (refused("x"),)), Step(B, (FORWARD,)), Step(B, (refused("x"),))],
        "never refused": [Step(B, (FORWARD,)), Step(C, (FORWARD,))],
        "asking twice": [Step(A, (ASK,)), Step(A, (ASK,))],
    }
    assert games_with(tmp_path, "repeated_failure", games) == []


def test_a_return_to_the_state_opens_a_new_chance(tmp_path: Path) -> None:
    """The state has changed in between, even if it came back: no repeated failure (but an undo loop)."""
    steps = [Step(A, (refused("x"),)), Step(B, (FORWARD,)), Step(A, (BACK,)), Step(A, (refused("x"),))]
    assert [spiral.kind for spiral in spirals(tmp_path, steps)] == ["undo_loop"]


# --- undo_loop --------------------------------------------------------------------------------------------------------------------------


def test_placing_and_taking_away_is_an_undo_loop(tmp_path: Path) -> None:
    """From the turn that left the state to the turn that brings it back; the first of them had raised progress."""
    steps = [Step(B, (FORWARD,), progress=0.2), Step(A, (BACK,), MAY_REMOVE)]
    assert spirals(tmp_path, steps) == [Spiral("undo_loop", 1, 2, 1)]


def test_loops_that_share_a_turn_are_one_stretch(tmp_path: Path) -> None:
    """A B A B A is one loop over four turns."""
    steps = [Step(B), Step(A), Step(B), Step(A)]
    assert of_kind("undo_loop", spirals(tmp_path, steps)) == [(1, 4)]


def test_a_loop_that_begins_with_the_turn_that_ended_another_goes_on_with_it(tmp_path: Path) -> None:
    """A B A B: the turn that is back in A leaves B, to which the next one comes back."""
    assert of_kind("undo_loop", spirals(tmp_path, [Step(B), Step(A), Step(B)])) == [(1, 3)]


def test_an_inner_loop_belongs_to_the_outer_one(tmp_path: Path) -> None:
    """A B C B A: the return to B lies inside the return to A."""
    assert of_kind("undo_loop", spirals(tmp_path, [Step(B), Step(C), Step(B), Step(A)])) == [(1, 4)]


def test_loops_without_a_common_turn_are_two(tmp_path: Path) -> None:
    """A B A after which the game goes on C D C: the way from A to C lies in none."""
    steps = [Step(B), Step(A), Step(C), Step(D), Step(C)]
    assert of_kind("undo_loop", spirals(tmp_path, steps)) == [(1, 2), (4, 5)]


def test_no_undo_loop(tmp_path: Path) -> None:
    """A state must be left and come back."""
    games = {
        "never left": [Step(A), Step(A)],
        "never back": [Step(B), Step(C), Step(D)],
        "stays where it went": [Step(B), Step(B)],
    }
    assert games_with(tmp_path, "undo_loop", games) == []


def test_span_records_and_stray_cells_do_not_make_a_new_craft_state(tmp_path: Path) -> None:
    """In CRAFT the state is the stacks of the nine cells: an emptied layer's record, or a cell named with a blank, changes nothing."""
    left, placed = board(), board(c00=["gs"])
    back = left.replace('"spans":{}', '"spans":{"0":[]}')
    stray = left.replace('"(2,2)":[]', '"(2,2)":[],"(0, 0)":["gs"]')

    found = spirals(tmp_path, [Step(placed, (FORWARD,)), Step(back, (BACK,), MAY_REMOVE)], start=left, benchmark="craft")
    assert of_kind("undo_loop", found) == [(1, 2)]

    (tmp_path / "stray").mkdir()
    still = [Step(stray, (FORWARD,)), Step(stray, (ASK,)), Step(stray, (ASK,))]
    assert of_kind("stall", spirals(tmp_path / "stray", still, start=left, benchmark="craft")) == [(1, 3)]


# --- over_removal -----------------------------------------------------------------------------------------------------------------------


def test_two_undoing_turns_without_a_reason_are_over_removal(tmp_path: Path) -> None:
    """Refused ones count: the turn went into undoing all the same."""
    steps = [Step(B, (BACK,)), Step(B, (NO_BACK,)), Step(C, (FORWARD,))]
    assert spirals(tmp_path, steps) == [Spiral("over_removal", 1, 2, 2)]


def test_no_over_removal(tmp_path: Path) -> None:
    """Only undoing turns in a row, where it is known that nothing needed undoing."""
    not_listed = (Candidate("remove", listed=False),)
    games = {
        "one is not enough": [Step(B, (BACK,)), Step(C, (FORWARD,))],
        "not in a row": [Step(B, (BACK,)), Step(B, (ASK,)), Step(C, (BACK,))],
        "a verified action undoes": [Step(B, (BACK,), MAY_REMOVE), Step(C, (BACK,), MAY_REMOVE)],
        "on one of the turns a verified action undoes": [Step(B, (BACK,)), Step(C, (BACK,), MAY_REMOVE)],
        "a verified action undoes though it was not listed": [Step(B, (BACK,), not_listed), Step(C, (BACK,), not_listed)],
        "nothing was ever verified in this game": [Step(B, (BACK,), ()), Step(C, (BACK,), ())],
    }
    assert games_with(tmp_path, "over_removal", games) == []


def test_undoing_a_listed_but_unverified_removal_is_over_removal(tmp_path: Path) -> None:
    """What counts is that the replay verifies the candidate, not that the log lists it."""
    wrong = (Candidate("place"), Candidate("remove", verified=False))
    assert of_kind("over_removal", spirals(tmp_path, [Step(B, (BACK,), wrong), Step(C, (BACK,), wrong)])) == [(1, 2)]


def test_exhausted_candidates_do_not_excuse_undoing(tmp_path: Path) -> None:
    """Once candidates have run out, none of them undoes."""
    steps = [Step(B, (FORWARD,)), Step(C, (BACK,), ()), Step(D, (BACK,), ())]
    assert of_kind("over_removal", spirals(tmp_path, steps)) == [(2, 3)]


# --- stall ------------------------------------------------------------------------------------------------------------------------------


def test_three_turns_without_a_change_are_a_stall(tmp_path: Path) -> None:
    """Whatever the reason: refused, asked, or nothing done."""
    steps = [Step(B, (FORWARD,)), Step(B, (refused("x"),)), Step(B, (ASK,)), Step(B), Step(C, (FORWARD,))]
    assert spirals(tmp_path, steps) == [Spiral("stall", 2, 4, 3)]


def test_stalls_are_maximal_and_end_with_a_change(tmp_path: Path) -> None:
    """Five unchanged turns are one stall, and a change begins another."""
    steps = [*[Step(A, (ASK,))] * 5, Step(B, (FORWARD,)), *[Step(B, (ASK,))] * 3]
    assert of_kind("stall", spirals(tmp_path, steps)) == [(1, 5), (7, 9)]


def test_two_turns_without_a_change_are_no_stall(tmp_path: Path) -> None:
    """Neither in a row nor with a change between."""
    steps = [Step(A, (ASK,)), Step(A, (ASK,)), Step(B, (FORWARD,)), Step(B, (ASK,)), Step(B, (ASK,))]
    assert of_kind("stall", spirals(tmp_path, steps)) == []


# --- what is said about a spiral --------------------------------------------------------------------------------------------------------


def test_only_turns_that_stay_at_or_below_the_start_are_wasted(tmp_path: Path) -> None:
    """Progress before the stretch is 0.3; the turns after which it is 0.3, 0.2 and 0.3 are wasted, the one with 0.4 is not."""
    steps = [
        Step(B, progress=0.3),
        Step(C, progress=0.4),
        Step(B, progress=0.3),
        Step(D, progress=0.2),
        Step(B, progress=0.3),
    ]
    assert spirals(tmp_path, steps) == [Spiral("undo_loop", 2, 5, 3)]
    again = tmp_path / "again"
    again.mkdir()
    worse_then_as_before = [Step(B, progress=0.3), Step(C, progress=0.4), Step(D, progress=0.1), Step(B, progress=0.3)]
    assert spirals(again, worse_then_as_before) == [Spiral("undo_loop", 2, 4, 2)]


def test_the_first_turn_is_measured_against_the_progress_of_the_start_board(tmp_path: Path) -> None:
    """A board that begins at 0.2 and stays there has wasted its turns, though 0.2 is above 0."""
    assert spirals(tmp_path, [Step(A, (ASK,), progress=0.2)] * 3, at_start=0.2) == [Spiral("stall", 1, 3, 3)]


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


def test_evidence_names_turns_and_actions(tmp_path: Path) -> None:
    """A reader can check each spiral by its evidence alone."""
    game = Game([*[Step(A, (NO_BACK,))] * 3, Step(B, (FORWARD,)), Step(A, (BACK,), MAY_REMOVE)], start=A)
    found = dict(query(store_with(tmp_path, [game]), "select kind, evidence from correction_spirals").rows())
    assert found == {
        "repeated_failure": "Builder: remove {} refused on turns 1, 2, 3",
        "over_removal": (
            "turn 1: remove {} (refused); turn 2: remove {} (refused); turn 3: remove {} (refused); no verified action undoes there"
        ),
        "stall": "no change of state; actions refused: 3, clarifications: 0",
        "undo_loop": "the state left on turn 4 is back after turn 5",
    }


def test_games_do_not_run_into_each_other(tmp_path: Path) -> None:
    """Two unchanged turns at the end of one game and one at the start of the next are no stall."""
    games = [Game([Step(A, (ASK,))] * 2, name="first", start=A), Game([Step(A, (ASK,))] * 2, name="second", start=A)]
    assert query(store_with(tmp_path, games), "select * from correction_spirals").is_empty()


def test_turns_above_nine_are_listed_in_order(tmp_path: Path) -> None:
    """Turn 10 comes after turn 9, not after turn 1."""
    game = Game([*[Step(A, (ASK,))] * 8, *[Step(A, (refused("x"),))] * 3], start=A)
    evidence = query(store_with(tmp_path, [game]), "select evidence from correction_spirals where kind = 'repeated_failure'").item()
    assert evidence == 'Builder: place {"at":"x"} refused on turns 9, 10, 11'
