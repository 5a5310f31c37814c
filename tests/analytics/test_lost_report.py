"""The report `lost`: means over all of a team's games, and words that say no more than is known."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from analytics.losses.lost import losses_interval, lost_report
from analytics.query import query
from dashboards.address import Address
from dashboards.pages import why
from dashboards.reader import reader
from judges.attribution.job import attribute_games
from schemas.store.store import Store
from tests.games.seats import ingested, play, seat_server
from tests.masters import held_open
from tests.played import played_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Nine games; `clear` completes some, which lost nothing and so have nothing attributed."""
    yield from held_open(played_store(tmp_path_factory.mktemp("lost")))


@pytest.fixture(scope="module")
def whole(store: Store) -> pl.DataFrame:
    """The report of all games."""
    return lost_report(store)


def changed(store: Store, folder: Path, *statements: str) -> Store:
    """A copy after these statements."""
    other = Store(shutil.copy(store.path, folder / "changed.duckdb"))
    with other.writing() as connection:
        for statement in statements:
            connection.execute(statement)
    return other


NOTHING_LOST = "UPDATE turn_values SET cost = 0 WHERE episode_id = '{0}'"
NOT_ATTRIBUTED = "DELETE FROM attributions WHERE episode_id = '{0}'"


def test_a_team_s_mean_is_over_all_its_games(store: Store, whole: pl.DataFrame, tmp_path: Path) -> None:
    """A game that lost nothing has nothing to attribute; left out, a team looked the worse the more of its games went well."""
    game = query(store, "SELECT min(episode_id) FROM games WHERE model = 'over_remover'").item()
    before = whole.filter(what="model", model="over_remover").row(0, named=True)
    lost = query(store, f"SELECT sum(greatest(cost, 0)) FROM turn_costs WHERE episode_id = '{game}'").item()
    spared = lost_report(changed(store, tmp_path, NOTHING_LOST.format(game), NOT_ATTRIBUTED.format(game)))
    for what in ("model", "condition", "role"):
        assert spared.filter(what=what)["games"].to_list() == whole.filter(what=what)["games"].to_list()
    after = spared.filter(what="model", model="over_remover").row(0, named=True)
    assert (before["games"], after["games"]) == (3, 3)
    assert after["lost"] == pytest.approx(before["lost"] - lost / 3)
    assert game not in spared.filter(what="game")["name"].to_list()


def test_a_mean_has_the_interval_of_losses_that_one_bounds(store: Store, whole: pl.DataFrame) -> None:
    """A game of CRAFT cannot lose more than all progress."""
    rows = query(store, "SELECT model, sum(greatest(cost, 0)) FROM turn_costs GROUP BY model, episode_id ORDER BY ALL").rows()
    for row in whole.filter(what="model").iter_rows(named=True):
        ends = losses_interval([lost for model, lost in rows if model == row["model"]], most=1.0)
        assert ends is not None
        assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high))


def test_a_team_that_lost_nothing_has_a_row(store: Store, tmp_path: Path) -> None:
    games = query(store, "SELECT episode_id FROM games WHERE model = 'over_remover'")["episode_id"]
    spared = changed(store, tmp_path, *(text.format(game) for game in games for text in (NOTHING_LOST, NOT_ATTRIBUTED)))
    row = lost_report(spared).filter(what="model", model="over_remover").row(0, named=True)
    assert (row["games"], row["turns"], row["lost"], row["sentence"]) == (
        3,
        0,
        0,
        "director over_remover, builder literal (3 games): mean loss per game 0 [0, .56] of progress.",
    )


def test_of_a_team_that_is_attributed_in_part_only_that_part_counts(store: Store, tmp_path: Path) -> None:
    """Its games that lost nothing are not told from a choice of `cotrace attribute --where`; nor are families without any."""
    first, second, third = query(store, "SELECT episode_id FROM games WHERE model = 'over_remover' ORDER BY 1")["episode_id"]
    partly = changed(store, tmp_path, NOTHING_LOST.format(first), NOT_ATTRIBUTED.format(first), NOT_ATTRIBUTED.format(second))
    found = lost_report(partly)
    assert found.filter(what="model", model="over_remover")["games"].to_list() == [1]
    assert found.filter(pl.col("name").is_in([first, second, third]))["name"].to_list() == [third]
    with partly.writing() as connection:
        connection.execute("DELETE FROM attributions")
    assert lost_report(partly).filter(what="model").is_empty()


def test_a_side_without_turns_has_no_loss(store: Store, whole: pl.DataFrame, tmp_path: Path) -> None:
    """Where no turn was in a spiral, none can have lost 0 there."""
    rows = query(store, "SELECT team_name, turns_inside, turns_outside FROM cost_in_spirals").rows()
    told = {row["name"]: row["sentence"] for row in whole.filter(what="spirals").iter_rows(named=True)}
    for model, inside, outside in rows:
        assert ("no turn was inside" in told.get(model, "no turn was inside")) == (inside == 0 or model not in told), (
            model,
            inside,
            outside,
        )
    straight = changed(store, tmp_path, "UPDATE materialized.game_costs SET spiral_turns = 0, spiral_lost = 0")
    for sentence in lost_report(straight).filter(what="spirals")["sentence"]:
        assert "no turn was inside a correction spiral; a turn lost ." in sentence
        assert "spirals carry" not in sentence


def test_an_interval_of_losses_without_a_bound() -> None:
    """Student's t of logs by hand: mean 3, standard error 1.5275, t of 2 degrees 4.3027; so 3 times exp(+-2.1908)."""
    ends = losses_interval([1.0, 2.0, 6.0], most=None)
    assert ends is not None
    assert (ends.low, ends.high) == pytest.approx((0.33547, 26.828), rel=1e-3)
    for values, most in (([1.0], None), ([1.0], 1.0), ([1.0, 2.0], None), ([2.0, 2.0, 2.0], None)):
        assert losses_interval(values, most=most) is None
    assert losses_interval([1.0, 1.0], most=1.0) is not None


def test_turns_in_spirals_counted_turn_by_turn(store: Store) -> None:
    """The first and the last turn of a spiral are inside, a turn of two spirals counts once; and by game, what any order would give."""
    spirals = query(store, "SELECT episode_id, start_turn, end_turn FROM correction_spirals").rows()
    inside = {(game, turn) for game, start, end in spirals for turn in range(start, end + 1)}
    costs: dict[str, dict[str, list[tuple[bool, float]]]] = {}
    for model, game, turn, cost in query(store, "SELECT model, episode_id, turn, greatest(cost, 0) FROM turn_costs").rows():
        costs.setdefault(model, {}).setdefault(game, []).append(((game, turn) in inside, cost))
    rows = query(store, "SELECT * FROM cost_in_spirals").rows(named=True)
    assert {row["model"] for row in rows} == costs.keys()
    assert any(row["turns_inside"] for row in rows)
    for row in rows:
        turns = [one for game in costs[row["model"]].values() for one in game]
        within, outside = ([cost for is_inside, cost in turns if is_inside == side] for side in (True, False))
        assert (row["turns_inside"], row["turns_outside"]) == (len(within), len(outside))
        assert row["cost_inside"] == (pytest.approx(sum(within) / len(within)) if within else None)
        assert row["cost_outside"] == (pytest.approx(sum(outside) / len(outside)) if outside else None)
        assert row["share_inside"] == pytest.approx(sum(within) / (sum(within) + sum(outside)))
        if within:
            of_games = [np.array(game, dtype=float).T for game in costs[row["model"]].values()]
            expected = sum(is_inside.sum() * cost.mean() for is_inside, cost in of_games) / len(within)
            assert row["cost_expected"] == pytest.approx(expected)
            assert row["more"] == pytest.approx(row["cost_inside"] - expected)
            assert row["more_low"] is None or row["more_low"] < row["more"] < row["more_high"]


def test_bad_games_with_long_spirals_are_no_loss_by_spirals(store: Store, tmp_path: Path) -> None:
    """All turns of a game lose the same, bad games more and with more turns inside: inside seemed to lose more than outside."""
    lost = "UPDATE turn_values SET cost = (SELECT 1 + count(*) FROM turns_in WHERE turns_in.episode_id = turn_values.episode_id) / 100.0"
    many = "CREATE TEMP VIEW turns_in AS SELECT episode_id, unnest(range(start_turn, end_turn + 1)) FROM correction_spirals"
    other = changed(store, tmp_path, f"{many}; {lost}", "DELETE FROM materialized.games")
    found = query(other, "SELECT * FROM cost_in_spirals WHERE cost_inside > cost_outside * 1.01").rows(named=True)
    assert found
    assert [row["more"] for row in found] == pytest.approx([0.0] * len(found), abs=1e-12)
    sentences = {row["name"]: row["sentence"] for row in lost_report(other).filter(what="spirals").iter_rows(named=True)}
    assert all("not shown to be more in these games" in sentences[row["team_name"]] for row in found)


def test_categories_counted_turn_by_turn(store: Store) -> None:
    """What the turns of a category lost, each once, of all that the model lost."""
    costs = {
        (game, turn): (model, cost)
        for model, game, turn, cost in query(store, "SELECT model, episode_id, turn, greatest(cost, 0) FROM turn_costs").rows()
    }
    marked = set(query(store, "SELECT taxonomy, category, episode_id, turn FROM failure_turns").rows())
    expected: dict[tuple[str, str, str], list[float]] = {}
    for taxonomy, category, *turn in marked:
        if tuple(turn) in costs:
            model, cost = costs[turn[0], turn[1]]
            expected.setdefault((model, taxonomy, category), []).append(cost)
    rows = query(store, "SELECT * FROM cost_by_category").rows(named=True)
    assert {(row["model"], row["taxonomy"], row["category"]) for row in rows} == expected.keys()
    for row in rows:
        found = expected[row["model"], row["taxonomy"], row["category"]]
        lost = sum(cost for model, cost in costs.values() if model == row["model"])
        assert (row["turns"], row["cost"]) == (len(found), pytest.approx(sum(found)))
        assert (row["cost_a_turn"], row["share"]) == pytest.approx((sum(found) / len(found), sum(found) / lost))


def test_an_evidence_that_is_cut_says_so(whole: pl.DataFrame) -> None:
    """At a word, with dots."""
    cut = [part for sentence in whole.filter(what="game")["sentence"] for part in sentence.split("(turn ")[1:] if " ...)" in part]
    assert cut
    assert all(len(part.partition(" ...)")[0]) <= 170 for part in cut)


def test_an_evidence_without_spaces_is_quoted_all_the_same(store: Store, tmp_path: Path) -> None:
    """What players say in Chinese was cut to three dots."""
    said = changed(store, tmp_path, f"UPDATE attributions SET evidence = 'D1: {'说' * 300}'")
    told = " ".join(lost_report(said).filter(what="game")["sentence"])
    assert f": D1: {'说' * 156} ...)" in told


def test_builders_of_different_models_are_not_pooled_and_the_one_at_fault_is_named(tmp_path: Path) -> None:
    """Directors of one script, two models as builders: a row a team, and what the builder lost is never put down to the directors' name."""
    for model in ("openai/stub-a", "openai/stub-b"):
        with seat_server("garbage") as address:
            seats = ["directors=script:plain", f"builder={model}"]
            play("craft", tmp_path / "logs", seats, "--games", "1", "--turns", "3", "--base-url", f"{address}/v1")
    store = ingested(tmp_path)
    attribute_games(store)
    rows = lost_report(store).filter(what="model").to_dicts()
    assert [row["model"] for row in rows] == ["script:plain"] * 2
    assert {row["name"] for row in rows} == {f"director script:plain, builder openai/stub-{letter}" for letter in "ab"}
    for row in rows:
        assert f"; builder {row['name'].rpartition(' ')[2]} 100 %, mostly answers that cannot be read" in row["sentence"]
    with reader(store, Address(why.PATH, {})) as read:
        drawn = why.report_figure(read)
    assert drawn is not None
    labels = [text.partition("<br>")[0] for text in drawn.layout.yaxis.ticktext]
    assert {*labels} == {"openai/stub-a", "openai/stub-b"}
