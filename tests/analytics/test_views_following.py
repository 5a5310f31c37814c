"""Who followed a candidate: the very one, in every view; the logs' looser flag stands beside it under a name of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.masters import held_open
from tests.scripted import CraftRequest as PlayRequest
from tests.scripted import play

LITERALLY_LISTED = """
    exists (
        from actions inner join oracle_actions using (episode_id, turn, verb)
        where listed and actions.episode_id = outcomes.episode_id and actions.turn = outcomes.turn
            and actions.arguments::json = oracle_actions.arguments::json
    )
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Games of a vague team, whose builder guesses blocks and cells."""
    folder = tmp_path_factory.mktemp("following")
    play(PlayRequest(out=folder / "logs", personas=("vague",), builders=("literal", "sloppy"), structures=4, processes=1))
    found = Store(folder / "s.duckdb")
    ingest_paths([folder / "logs"], found, workers=1)
    ensure_installed(found)
    yield from held_open(found)


def test_a_followed_turn_did_what_was_listed(store: Store) -> None:
    """Turns on which another block was put at a candidate's place are not followed, though the log's flag says so."""
    found = query(
        store, f"select outcome, {LITERALLY_LISTED} as is_listed, count(*) as n from outcomes where outcome like '%followed' group by all"
    )
    assert {(outcome, is_listed) for outcome, is_listed, _ in found.rows()} == {("followed", True), ("not_followed", False)}
    assert query(store, "select count(*) from outcomes where outcome = 'not_followed' and followed_action_position_layer").item() > 5


def test_the_looser_reading_is_the_logs_flag(store: Store) -> None:
    """What the log says stays beside the strict reading, turn by turn and team by team."""
    both = "select count(*) from outcomes inner join turns using (episode_id, turn) where oracle_available and outcome like '%followed'"
    assert query(store, both).item() == query(store, f"{both} and oracle_followed = followed_action_position_layer").item() > 50
    rows = query(
        store,
        "select followed, followed_action_position_layer as looser, oracle_turns, adherence, adherence_action_position_layer "
        "from leaderboard",
    ).to_dicts()
    for row in rows:
        assert row["followed"] < row["looser"]
        assert row["adherence"] == row["followed"] / row["oracle_turns"]
        assert row["adherence_action_position_layer"] == row["looser"] / row["oracle_turns"]
    assert sum(row["followed"] for row in rows) == query(store, "select count(*) from outcomes where outcome = 'followed'").item()


def test_a_wrong_block_at_the_right_place_is_missed(store: Store) -> None:
    """Such turns stand in missed_turns, with what was possible."""
    wrong = "from outcomes where followed_action_position_layer and not followed_full"
    missed = query(store, f"select count(*) from missed_turns where (episode_id, turn) in (select (episode_id, turn) {wrong})").item()
    assert missed == query(store, f"select count(*) {wrong}").item() > 5


def test_candidates_beside_a_question_count_for_no_rate(tmp_path: Path) -> None:
    """Published logs list none there; cotrace's own do, and the same game must have the same rates."""
    play(PlayRequest(out=tmp_path / "logs", personas=("vague",), builders=("clarifier",), structures=2, turns=8, processes=1))
    found = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path / "logs"], found, workers=1)
    ensure_installed(found)
    asked = "(from actions where verb = 'clarify')"
    assert query(found, f"select count(*) from turns inner join {asked} using (episode_id, turn) where oracle_available").item() > 5
    assert query(found, "select count(*) from craft_turns where clarify and (oracle_available or n_oracle > 0)").item() == 0
    for row in query(found, "select * from craft_games").to_dicts():
        categories = sum(row[name] for name in row if name.startswith("tax_") and name != "tax_no_oracle_or_attempt")
        assert row["n_oracle_turns"] == categories == row["n_followed_logged"] + row["communication_failures"]
    counted = query(found, "select sum(n)::bigint from remove_gap").item()
    assert counted == query(found, "select sum(n_oracle_turns)::bigint from craft_games").item()
