"""The wide CRAFT views equal the reference tables: every row, every column."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from analytics.query import query
from schemas.store.store import Store
from tests.masters import held_open, published_store
from tests.places import DOCS

pytestmark = pytest.mark.shared

GAME = ("model", "builder", "structure_id", "run")
TOLERANCE = 1e-6


@pytest.fixture(scope="module")
def engine_store(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    yield from held_open(published_store(shared, tmp_path_factory.mktemp("engine"), "craft/engine_games"))


@pytest.fixture(scope="module")
def real_store(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    yield from held_open(published_store(shared, tmp_path_factory.mktemp("real"), "craft/craft_results"))


def reference(shared: Path, name: str) -> list[dict[str, str]]:
    with (shared / "reference" / name).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def same(expected: str, found: object) -> bool:
    """Compare a cell of a reference file with a value: an empty cell is null, numbers agree to 1e-6, all else as text."""
    if found is None or expected == "":
        return found is None and expected == ""
    if isinstance(found, (int, float)) and not isinstance(found, bool):
        return float(expected) == found or abs(float(expected) - found) <= TOLERANCE
    return str(found) == expected


def differences(expected: list[dict[str, str]], found: pl.DataFrame, key: tuple[str, ...]) -> list[str]:
    """Say where a view and its reference differ: rows missing, rows too many, cells."""
    rows = {tuple(str(row[column]) for column in key): row for row in found.iter_rows(named=True)}
    wanted = {tuple(row[column] for column in key): row for row in expected}
    said = [f"{at}: only on one side" for at in rows.keys() ^ wanted.keys()]
    said += [] if len(rows) == len(found) else ["rows with the same key"]
    for at in rows.keys() & wanted.keys():
        said += [f"{at} {name}: {cell!r} != {rows[at][name]!r}" for name, cell in wanted[at].items() if not same(cell, rows[at][name])]
    return said


def games_view(store: Store, name: str) -> pl.DataFrame:
    """A view whose `file` is cut to the file's name: the reference was made folder by folder."""
    return query(store, f"select * from {name}").with_columns(pl.col("file").str.split("/").list.last())


def test_columns_are_those_of_the_reference(engine_store: Store, shared: Path) -> None:
    """The same names in the same order; craft_models has the condition in front."""
    views = {
        name: query(engine_store, f"select * from {name} limit 0").columns for name in ("craft_games", "craft_turns", "craft_structures")
    }
    assert views == {
        "craft_games": list(reference(shared, "craft_real_logs_games_expected.csv")[0]),
        "craft_turns": list(reference(shared, "craft_real_logs_turns_expected.csv")[0]),
        "craft_structures": list(reference(shared, "craft_structures_expected.csv")[0]),
    }
    models = query(engine_store, "select * from craft_models limit 0").columns
    assert models == ["condition", *reference(shared, "craft_engine_models_expected.csv")[0]]


def test_engine_games(engine_store: Store, shared: Path) -> None:
    """All games of the four personas and the special ones, the one that could not be set up included."""
    assert differences(reference(shared, "craft_engine_games_expected.csv"), games_view(engine_store, "craft_games"), GAME) == []


def test_engine_turns(engine_store: Store, shared: Path) -> None:
    """All their turns."""
    found = query(engine_store, "select * from craft_turns")
    assert differences(reference(shared, "craft_engine_turns_expected.csv"), found, (*GAME, "turn")) == []


def test_engine_models(engine_store: Store, shared: Path) -> None:
    """The four personas; the reference leaves out the special games."""
    found = query(engine_store, "select * from craft_models where model <> 'edge'")
    assert differences(reference(shared, "craft_engine_models_expected.csv"), found, ("model", "builder", "run")) == []


def test_structures(engine_store: Store, shared: Path) -> None:
    """All twenty evaluation targets."""
    found = query(engine_store, "select * from craft_structures")
    assert differences(reference(shared, "craft_structures_expected.csv"), found, ("structure_id",)) == []


def test_real_logs(real_store: Store, shared: Path) -> None:
    """Logs of language models, told apart by their condition."""
    games, turns = games_view(real_store, "craft_games"), query(real_store, "select * from craft_turns")
    assert differences(reference(shared, "craft_real_logs_games_expected.csv"), games, ("condition", *GAME)) == []
    assert differences(reference(shared, "craft_real_logs_turns_expected.csv"), turns, ("condition", *GAME, "turn")) == []


def test_a_wrong_cell_would_be_seen(real_store: Store, shared: Path) -> None:
    """The comparison itself can fail: on a changed number, a missing row, and a null that should be a number."""
    expected, key = reference(shared, "craft_real_logs_games_expected.csv"), ("condition", *GAME)
    games = games_view(real_store, "craft_games")
    assert len(differences(expected, games.with_columns(pl.col("iou_score") + 2e-6), key)) == 3
    assert len(differences(expected, games.head(2), key)) == 1
    assert len(differences(expected, games.with_columns(pl.lit(None).alias("n_turns")), key)) == 3


def test_start_boards_are_told_apart(engine_store: Store) -> None:
    """Two special games share model, builder and run, but not the start board: they are two rows of craft_models."""
    found = query(engine_store, "select condition, n_games from craft_models where model = 'edge' and run = 16 order by condition")
    assert found.rows() == [("oracle5_no_tools_D1Wall", 1), ("oracle5_no_tools_firstTwoLayers", 1)]


def test_outcomes_count_what_the_reference_counts(engine_store: Store, shared: Path) -> None:
    """A second way to the same numbers: the reference's turns, sorted by hand-written rules."""
    expected: Counter[str] = Counter()
    for turn in reference(shared, "craft_engine_turns_expected.csv"):
        if turn["clarify"] == "True":
            expected["clarify"] += 1
        elif not turn["action"]:
            expected["no_move"] += 1
        elif turn["oracle_available"] == "False":
            expected["no_oracle"] += 1
        else:
            expected["followed" if turn["followed_full"] == "True" else "not_followed"] += 1
    assert dict(query(engine_store, "select outcome, count(*) from outcomes group by all").rows()) == expected


def test_leaderboard_counts_what_the_reference_counts(engine_store: Store, shared: Path) -> None:
    """Scores, refused moves, clarifications and adherence of each persona, as craft_engine_models_expected.csv has them."""
    found = query(
        engine_store,
        "select model, n, score_mean, score_sem, turns, attempted, failed_rate, clarify, oracle_turns, adherence, "
        "adherence_action_position_layer, undoing_rate from leaderboard where model <> 'edge' order by model",
    )
    names = (
        "n_games", "overall_progress_mean", "overall_progress_sem", "n_turns", "n_attempted", "failed_rate_pooled", "n_clarify",
        "n_oracle_turns", "adherence_full_pooled", "adherence_logged_pooled", "attempted_remove_rate_pooled",
    )  # fmt: skip
    expected = sorted(reference(shared, "craft_engine_models_expected.csv"), key=lambda row: row["model"])
    assert found["model"].to_list() == [row["model"] for row in expected]
    for row, wanted in zip(found.rows(), expected, strict=True):
        assert row[1:] == pytest.approx(tuple(float(wanted[name]) for name in names), abs=TOLERANCE)


def test_remove_gap_of_models_in_every_reading(engine_store: Store, shared: Path) -> None:
    """Pooled, and as the mean of games."""
    found = query(engine_store, "select model, reading, gap, gap_mean_of_games from remove_gap_models where model <> 'edge'")
    for row in reference(shared, "craft_engine_models_expected.csv"):
        for reading in ("any", "first", "share"):
            gaps = found.filter(model=row["model"], reading=reading).select("gap", "gap_mean_of_games").row(0)
            wanted = (float(row[f"remove_gap_{reading}_pooled"]), float(row[f"remove_gap_{reading}_mean_of_games"]))
            assert gaps == pytest.approx(wanted, abs=TOLERANCE)


@pytest.mark.parametrize("reading", ["any", "first", "share"])
def test_remove_gap_of_a_turn(engine_store: Store, shared: Path, reading: str) -> None:
    """Turn 12 of the over-remover, averaged by hand over the reference's turns."""
    turns = [row for row in reference(shared, "craft_engine_turns_expected.csv") if (row["model"], row["turn"]) == ("over-remover", "12")]
    listed = [row[f"oracle_remove_{reading}"] for row in turns if row["oracle_available"] == "True"]
    as_number = {"True": 1.0, "False": 0.0}
    oracle = sum(as_number[cell] if cell in as_number else float(cell) for cell in listed) / len(listed)
    tried = [row["attempted_remove"] == "True" for row in turns if row["attempted_remove"]]
    found = query(
        engine_store,
        f"select n, n_attempted, oracle_rate, attempted_rate, gap from remove_gap_by('{reading}') "
        "where model = 'over-remover' and turn = 12",
    )
    attempted = sum(tried) / len(tried)
    assert found.row(0) == pytest.approx((len(listed), len(tried), oracle, attempted, attempted - oracle))


def test_the_default_reading_is_share(engine_store: Store) -> None:
    """The view remove_gap is the macro with `share`, and remove_gap_models says so."""
    order = "order by condition, model, builder, turn"
    assert query(engine_store, f"from remove_gap {order}").equals(query(engine_store, f"from remove_gap_by('share') {order}"))
    assert query(engine_store, "select distinct reading from remove_gap_models where is_default").item() == "share"


def test_published_shares_sum_to_one(engine_store: Store) -> None:
    """In each group of each taxonomy the categories of the denominator fill it."""
    found = query(
        engine_store,
        "select sum(share) as total from failure_breakdown where denominator > 0 group by taxonomy, condition, model, level",
    )
    assert found["total"].to_list() == pytest.approx([1.0] * len(found))


def test_spirals_mark_the_over_remover(engine_store: Store) -> None:
    """Only the persona with that defect planted removes again and again for nothing."""
    found = query(engine_store, "select distinct model from correction_spirals where kind = 'over_removal' and model <> 'edge'")
    assert found["model"].to_list() == ["over-remover"]


def test_stalls_agree_with_the_longest_unchanged_run(engine_store: Store, shared: Path) -> None:
    """A game has a stall exactly if its board stayed for three turns; the longest stall is that run.

    One special game differs, and should: a block put into a stray cell (a coordinate with a blank) changes the logged board, so the
    reference's run ends there after 3 turns, but not the nine cells that the engine looks at, so the stall goes on to 5.
    """
    found = query(
        engine_store,
        "select model, task_id, run, max(turns) from correction_spirals inner join (select episode_id, seed as run from episodes) "
        "using (episode_id) where kind = 'stall' group by all",
    )
    expected = {
        (row["model"], row["structure_id"], int(row["run"]), int(row["longest_unchanged_run"]))
        for row in reference(shared, "craft_engine_games_expected.csv")
        if int(row["longest_unchanged_run"] or 0) >= 3
    }
    assert set(found.rows()) ^ expected == {("edge", "structure_010", 20, 5), ("edge", "structure_010", 20, 3)}


def test_the_argument_for_the_default_holds(shared: Path) -> None:
    """The numbers in docs/dev/remove_gap.md for turns on which advice was followed to the letter are those of the reference's turns."""
    turns = [row for row in reference(shared, "craft_engine_turns_expected.csv") if row["followed_full"] == "True"]
    as_number = {"True": 1.0, "False": 0.0}

    def mean(column: str) -> float:
        return sum(as_number[row[column]] if row[column] in as_number else float(row[column]) for row in turns) / len(turns)

    tried = mean("attempted_remove")
    page = (DOCS / "dev" / "remove_gap.md").read_text(encoding="utf-8").replace("*", "")
    assert f"Take the {len(turns)} turns" in page
    assert f"On {100 * tried:.1f} %" in page
    for reading in ("any", "first", "share"):
        rate = mean(f"oracle_remove_{reading}")
        assert f"| `{reading}` | {rate:.3f} | {tried - rate:+.3f} |" in page
