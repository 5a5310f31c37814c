"""The failure map: one kind of failure for each category, and what it makes comparable."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import get_args

import pytest

from analytics.query import query
from games.coordination import hanabi as hanabi_moves
from games.coordination.players import READS
from games.craft.measures import RepairedCategory
from games.einstein.labels import CATEGORIES
from games.overcooked.engine.validator import OTHER, VALIDATOR_CODES
from games.overcooked.taxonomy import INITIATING, RESPONDING
from schemas.common.packages import packaged_yaml
from schemas.records import Failure
from schemas.store import batches
from schemas.store.store import Store
from tests.masters import published_store
from tests.played import played_store

MOVES = packaged_yaml("games.coordination", "categories.yaml")
KINDS = {
    "none",
    "format",
    "infeasible_action",
    "wrong_reference",
    "redundant_talk",
    "unanswered_request",
    "unhelpful_message",
    "wrong_inference",
    "unsupported_guess",
    "no_progress",
    "harness",
}
_OF_CRAFT = {"limited_search", "inefficient_inference", "flawed_pragmatics"}
"""CRAFT's names of its own failure modes F1, F3 and F2 (section 3.1)."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Nine CRAFT games."""
    return played_store(tmp_path_factory.mktemp("map"), judged=False)


def test_every_category_has_one_kind_and_a_source(store: Store) -> None:
    """No category twice, only known kinds, no line without a source."""
    lines = query(store, "from failure_map")
    assert lines.select("taxonomy", "category").is_unique().all()
    assert set(lines["common"]) <= KINDS
    assert lines.filter(lines["source"].str.len_chars() < 10).is_empty()


def test_no_kind_has_a_name_that_craft_gives_another_failure(store: Store) -> None:
    """CRAFT's F1 to F3 have fixed meanings; what the map means by its kinds is other things. The former name is in a column of its own."""
    lines = query(store, "select common, category, common_before from failure_map")
    assert not set(lines["common"]) & _OF_CRAFT
    assert set(lines["common_before"]) >= _OF_CRAFT
    before = dict(
        lines.filter(lines["category"].is_in(["idle", "wrong_rule", "no_request"])).select("category", "common_before").iter_rows()
    )
    assert before == {"idle": "limited_search", "wrong_rule": "inefficient_inference", "no_request": "flawed_pragmatics"}


def test_former_names_of_a_family_from_another_package_are_mapped(tmp_path: Path) -> None:
    """A family that was written for the former names is counted under today's."""
    store = played_store(tmp_path, judged=False)
    with store.writing() as connection:
        connection.execute(
            "create or replace view craft_failure_map as select * from (values ('other', 'a', 'limited_search', 'm', 's'), "
            "('other', 'b', 'flawed_pragmatics', 'm', 's')) as lines (taxonomy, category, common, meaning, source)"
        )
        mapped = connection.execute("select common from failure_map where taxonomy = 'other' order by category").fetchall()
    assert mapped == [("no_progress",), ("unhelpful_message",)]


@pytest.mark.parametrize(
    ("taxonomy", "categories"),
    [
        ("craft_repaired", set(get_args(RepairedCategory)) - {"no_oracle_or_attempt"}),
        ("einstein_published", {category.key for category in CATEGORIES} | {"no_error"}),
        ("overcooked_engine", {code for code, _ in VALIDATOR_CODES} | {OTHER, "accepted", "format", "wrong_synthesis"}),
        ("overcooked_initiating", set(INITIATING)),
        ("overcooked_responding", set(RESPONDING)),
        ("coordination_read", set(READS)),
        ("hanabi_move", set(MOVES["hanabi"])),
        ("capture_move", set(MOVES["collab_capture"])),
        ("escape_move", set(MOVES["collab_escape"])),
        ("overcooked_macro", set(MOVES["overcooked"])),
    ],
)
def test_mapped_taxonomies_are_mapped_whole(store: Store, taxonomy: str, categories: set[str]) -> None:
    """A category that a rule can give has a line, and no line is about a category that does not exist."""
    mapped = set(query(store, "select category from failure_map where taxonomy = $taxonomy", {"taxonomy": taxonomy})["category"])
    assert mapped == categories


def test_a_play_fails_if_and_only_if_the_card_does_not_fit(store: Store) -> None:
    """Whatever the player knew: a right play counted as a guess, so games had failures that cost nothing."""
    mapped = dict(query(store, "select category, common from failure_map where taxonomy = 'hanabi_move'").iter_rows())
    rng, seen = Random(1), set[str]()
    for seed in range(20):
        table = hanabi_moves.HanabiTable(hanabi_moves.deck_of_seed(seed))
        clued: tuple[int, ...] = ()
        while not table.is_over:
            state, player = table.state, table.player_index
            moves = hanabi_moves.legal_moves(state, player)
            for move in (move for move in moves if move.verb == "play"):
                category, _ = hanabi_moves.move_category(state, player, move, clued)
                assert move.card is not None
                assert (mapped[category] == "none") == state.fits(state.hands[player][move.card]), category
                seen.add(category)
            hints = [move for move in moves if move.value]
            move = rng.choice(hints or [move for move in moves if move.verb != "play"])
            clued = hanabi_moves.newly_named(state, player, move)
            table.play(move)
    assert seen >= {"lucky_play", "clued_play", "misplay"}


_FURTHER = [pytest.param(name, marks=pytest.mark.long) for name in ("overcooked/runs", "coordination", "einstein")]


@pytest.mark.shared
@pytest.mark.parametrize("name", ["craft/craft_results", *_FURTHER])
def test_published_logs_have_no_unmapped_category(shared: Path, tmp_path: Path, name: str) -> None:
    """Every category that the rules give on real logs of mapped taxonomies has a line."""
    store = published_store(shared, tmp_path, name)
    assert not query(store, "select * from failures_common").is_empty()
    assert query(store, "select * from failures_common where common = 'unmapped'").is_empty()


def test_turn_that_fails_in_two_ways_of_one_kind_counts_once(store: Store) -> None:
    """Turns are counted, not categories; a category that nobody mapped shows up as such."""
    (episode,) = query(store, "select episode_id from games where model = 'clear' order by 1 limit 1")["episode_id"]
    before = query(store, "select sum(turns) as n from failures_common where model = 'clear' and common = 'format'").item() or 0
    extra = [
        Failure(episode, 1, "Builder", "craft_repaired", name, None)
        for name in ("engine_block_error", "engine_coordinate_error", "made_up")
    ]
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"failures": extra}))
        connection.execute("delete from materialized.games where episode_id = ?", [episode])  # as if they had come with its log

    counts = dict(query(store, "select common, sum(turns) from failures_common where model = 'clear' group by all").iter_rows())

    assert counts["format"] == before + 1
    assert counts["unmapped"] == 1
