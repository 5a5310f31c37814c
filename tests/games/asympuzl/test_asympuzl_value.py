"""Turns left in AsymPuzl, by hand and over whole played games."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from games.asympuzl.puzzle import Agent, Entry, Puzzle
from games.asympuzl.value import Standing, TurnsLeft, concluded, turns_left, understood
from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.ingest.asympuzl.asympuzl_logs import PlayRequest, answer, log_of, play, write
from tests.masters import held_open

TRUTH = (Entry("square", "red"), Entry("circle", "blue"), Entry("star", "green"))
PUZZLE = Puzzle(TRUTH, tuple(Entry(entry.shape, None) for entry in TRUTH), (TRUTH[1], TRUTH[2], TRUTH[0]))


def standing(a: tuple[Entry, ...] = PUZZLE.clues_a, b: tuple[Entry, ...] = PUZZLE.clues_b, **said: str) -> Standing:
    shown: dict[Agent, tuple[str, ...]] = {"A": (said.get("A", ""),), "B": (said.get("B", ""),)}
    return Standing({"A": a, "B": b}, shown)


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ("", 2),
        ("The square is red, the circle is blue.", 2),
        ("The square is red, the circle is blue, the star is green.", 1),
        ("The square is blue, the circle is red, the star is green.", 2),
        ("The square is red. The square is blue. The circle is blue, the star is green.", 2),
    ],
)
def test_a_needs_every_color_and_b_only_this_turn(told: str, left: int) -> None:
    """False and contradictory statements tell nothing; whoever knows everything needs one turn."""
    assert turns_left(PUZZLE, standing(B=told)) == TurnsLeft(1, left)


@pytest.mark.parametrize(
    "told", ["The square wears red, the others too.", "square red, circle blue, and the star is like grass", "Yes, exactly!"]
)
def test_what_was_not_understood_is_not_taken_for_unsaid(told: str) -> None:
    """It may have told every color: the turns left are a bound from below. Its empty message has told nothing for certain."""
    assert turns_left(PUZZLE, standing(B=told)) == TurnsLeft(1, 1, exact=False)
    assert not understood(PUZZLE, standing(B=told), "A")
    assert turns_left(PUZZLE, standing(B="")) == TurnsLeft(1, 2)
    assert understood(PUZZLE, standing(B="Hello, A! The square comes in red."), "A")


def test_a_turn_whose_messages_were_not_understood_is_a_bound_in_the_store(tmp_path: Path) -> None:
    """Of `know` the least that it can be; what was lost of the positions known is unknown."""
    path = write(tmp_path / "a.jsonl", log_of((answer(), answer("The crescent wears brown."), answer(), answer())))
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([path], store, workers=1)
    found = query(
        store, "select turn, measure, value_before, value_after, cost, kind from turn_values where measure <> 'asympuzl.hands' order by all"
    )
    assert found.rows() == [
        (1, "asympuzl.know", 2, 1, 0, "bound"),
        (1, "asympuzl.known_a", 0, 0, None, "bound"),
        (1, "asympuzl.known_b", 1, 1, 0, "exact"),
        (2, "asympuzl.know", 1, 2, 2, "bound"),
        (2, "asympuzl.known_a", 0, 0, None, "bound"),
        (2, "asympuzl.known_b", 1, 1, 0, "exact"),
    ]


def test_what_stands_right_already_need_not_be_told() -> None:
    """Two colors stand, the third was told; and a solved game needs no turn."""
    assert turns_left(PUZZLE, standing(a=(*TRUTH[:2], PUZZLE.clues_a[2]), B="The star is green.")) == TurnsLeft(1, 1)
    assert turns_left(PUZZLE, standing(a=TRUTH, b=TRUTH)) == TurnsLeft(0, 0)


def test_b_finds_the_last_place_itself() -> None:
    """It knows all pairs: two places of three are enough."""
    assert concluded(PUZZLE, standing(A="Position 1 is the square."), "B") == {1}
    assert concluded(PUZZLE, standing(A="Position 1 is the square, position 2 is the circle."), "B") == {1, 2, 3}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("asympuzl_values")
    play(
        PlayRequest(
            out=folder, personas=("sharing", "piecewise", "silent", "misreading"), partners=("sharing",), sizes=(5,), seeds=(0, 1, 2)
        )
    )
    store = Store(folder / "games.duckdb")
    ingest_paths([folder], store, workers=1)
    ensure_installed(store)
    yield from held_open(store)


def test_costs_sum_to_what_was_lost(played: Store) -> None:
    """Turns made and left = turns left at the start + costs, by both measures; positions known: first - costs = last."""
    games = query(
        played,
        "select sum(cost) + arg_min(value_before, turn) = count(*) + arg_max(value_after, turn) as sound from turn_values "
        "where measure in ('asympuzl.hands', 'asympuzl.know') group by episode_id, measure",
    )
    known = query(
        played,
        "select arg_min(value_before, turn) - sum(cost) = arg_max(value_after, turn) as sound from turn_values "
        "where starts_with(measure, 'asympuzl.known') group by episode_id, measure",
    )
    assert len(games) == len(known) == 24
    assert games["sound"].all()
    assert known["sound"].all()


def test_who_shares_all_loses_nothing_and_who_does_not_loses_turns(played: Store) -> None:
    """Two turns are needed; piece by piece takes one a position that does not stand right, silence and misreading never end."""
    found = query(
        played, "select model, sum(know_cost)::int as cost, bool_or(lost_after) as lost from values_asympuzl group by all order by 1"
    )
    assert found.rows() == [
        ("misreading+sharing", 27, True),
        ("piecewise+sharing", 8, False),
        ("sharing", 0, False),
        ("silent+sharing", 27, True),
    ]


def test_the_view_shows_the_values_as_they_are(played: Store) -> None:
    """Every cell against the rows that it is made of, put together here."""
    measured: dict[tuple[str, int], dict[str, float]] = {}
    for episode, turn, measure, before, after, cost in query(
        played, "select episode_id, turn, measure, value_before, value_after, cost from turn_values"
    ).rows():
        name = measure.removeprefix("asympuzl.")
        measured.setdefault((episode, turn), {}).update({f"{name}_before": before, f"{name}_after": after, f"{name}_cost": cost})
    rows = query(played, "select * from values_asympuzl").rows(named=True)
    assert {(row["episode_id"], row["turn"]) for row in rows} == measured.keys()
    assert len(rows) == len(measured)
    limits = {episode: (seed, limit) for episode, seed, limit in query(played, "select episode_id, seed, max_turns from episodes").rows()}
    assert {seed for seed, _ in limits.values()} == {0, 1, 2}
    for row in rows:
        found = measured[row["episode_id"], row["turn"]] | {"cost": measured[row["episode_id"], row["turn"]]["hands_cost"]}
        assert {name: row[name] for name in found if name in row} == {name: value for name, value in found.items() if name in row}
        seed, limit = limits[row["episode_id"]]
        assert (row["size"], row["seed"], row["feedback_mode"]) == (5, seed, "both")
        assert row["turns_left"] == limit - row["turn"] + 1
        assert row["lost_after"] == (row["turn"] + row["know_after"] > limit)
