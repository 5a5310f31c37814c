"""The published players' own CSV files: two make a game of Hanabi, what they do not hold is null, and damaged ones say so."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from ingest.files.run import ingest_paths
from ingest.files.writer import Report
from schemas.store.store import Store

_STAMP = "gpt-scripted_2024-03-28_16-39-54.csv"
_Table = list[list[str]]


def _taken(folder: Path, store: Store) -> Report:
    return ingest_paths([folder], store, workers=1)


@pytest.fixture
def hanabi(shared: Path, tmp_path: Path) -> Path:
    """A copy of the two files of a game of 65 turns."""
    return Path(shutil.copytree(shared / "data/coordination/hanabi/native/cautious_s212", tmp_path / "game", copy_function=shutil.copyfile))


@pytest.fixture
def kitchen(shared: Path, tmp_path: Path) -> Path:
    """A copy of the two files of a game in the forced kitchen, and of one whose players were told of each other."""
    for game in ("head_default_forced_coordination", "greedy_waiter_asymmetric_advantages"):
        shutil.copytree(shared / "data/coordination/overcooked/native" / game, tmp_path / "kitchen" / game, copy_function=shutil.copyfile)
    return tmp_path / "kitchen"


def _edit(path: Path, change: Callable[[_Table], _Table]) -> None:
    csv.field_size_limit(sys.maxsize)
    path.parent.chmod(0o755)
    path.chmod(0o644)
    with path.open(newline="", encoding="utf-8") as file:
        table = list(csv.reader(file))
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(change(table))


def test_two_hanabi_files_tell_the_whole_game(recorded: Store) -> None:
    """Of the five games, moves, cards, states and scores are those of the step logs; the seed is null."""
    store = recorded
    assert query(store, "select (select count(*) from rejects) + (select count(*) from log_disagreements)").item() == 0
    pairs = """with pairs as (
            select own.episode_id as own, log.episode_id as log, own.score = log.score and own.turns_taken = log.turns_taken
                and own.stop_reason = log.stop_reason and own.success is not distinct from log.success as same, own.seed, own.model
            from episodes as own inner join episodes as log on own.details ->> 'fingerprint' = log.details ->> 'fingerprint'
            where own.details ->> 'console' = 'true' and log.details ->> 'console' = 'false' and own.level = 'hanabi')
        """
    assert query(store, pairs + "select count(*), bool_and(same), count(seed), max(model) from pairs").rows() == [
        (5, True, 0, "gpt-scripted")
    ]
    states = """select count(*) as n, count(*) filter (a.state_before = b.state_before) as before,
            count(*) filter (a.state_after = b.state_after) as after
        from pairs inner join turns a on a.episode_id = own inner join turns b on b.episode_id = log and a.turn = b.turn"""
    assert query(store, pairs + states).rows() == [(160, 160, 160)]
    said = """select count(*) from pairs inner join utterances a on a.episode_id = own
        inner join utterances b on b.episode_id = log and (a.turn, a.seq, a.agent, a.superseded) = (b.turn, b.seq, b.agent, b.superseded)
            and trim(a.text) = trim(b.text)"""
    assert (
        query(store, pairs + said).item()
        == query(store, pairs + "select count(*) from utterances inner join pairs on episode_id = own").item()
    )
    assert query(store, "select count(*) from coordination_games where game = 'hanabi'").item() == 6


def test_the_verifiers_rejections_come_out_of_the_message_list(hanabi: Path, tmp_path: Path) -> None:
    """Rejected choices are superseded replies; the rejections are counted."""
    store = Store(tmp_path / "s.duckdb")
    _taken(hanabi, store)
    assert query(store, "select value from episode_metrics where metric like '%verification_rejections'").item() == 2
    assert query(store, "select turn, agent from utterances where superseded order by turn").rows() == [(33, "Bob"), (53, "Bob")]
    assert query(store, "select * from failures where taxonomy = 'coordination_grounding'").is_empty()


def test_half_a_game_of_hanabi_waits_for_the_other_half(hanabi: Path, tmp_path: Path) -> None:
    """One file is a reject that names the mend; with the other beside it the game is read, and then nothing changes."""
    store = Store(tmp_path / "s.duckdb")
    (hanabi / f"Alice_{_STAMP}").rename(tmp_path / f"Alice_{_STAMP}")
    (rejected,) = _taken(hanabi, store).rejected
    assert "Bob's own cards stand in Alice's file only; put Alice_<model>_<time>.csv" in rejected.reason
    (tmp_path / f"Alice_{_STAMP}").rename(hanabi / f"Alice_{_STAMP}")
    mended = _taken(hanabi, store)
    assert (mended.episodes, mended.refused, mended.is_clean) == (1, 0, True)
    assert (str(hanabi / f"Alice_{_STAMP}"), f"the other half of the game in Bob_{_STAMP}") in mended.others
    assert query(store, "select * from rejects").is_empty()
    assert _taken(hanabi, store).unchanged == 2


def test_halves_that_have_exchanged_their_names_are_told(hanabi: Path, tmp_path: Path) -> None:
    """Models stand in the names only: each would be put down to the other's player."""
    alice, bob = hanabi / f"Alice_{_STAMP}", hanabi / f"Bob_{_STAMP}"
    alice.rename(tmp_path / "kept")
    bob.rename(alice)
    (tmp_path / "kept").rename(bob)
    rejected = {part.path: part.reason for part in _taken(hanabi, Store(tmp_path / "s.duckdb")).rejected}
    assert rejected.keys() == {str(alice), str(bob)}
    assert "its rows are Bob's, though it is called Alice's: give both halves of the game their own names" in rejected[str(alice)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_half_may_have_been_written_anew_by_a_spreadsheet(hanabi: Path, tmp_path: Path, encoding: str) -> None:
    """The other half is read as a file of its own would be."""
    path = hanabi / f"Alice_{_STAMP}"
    path.parent.chmod(0o755)
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().decode().encode(encoding))
    report = _taken(hanabi, Store(tmp_path / "s.duckdb"))
    assert (report.episodes, report.rejected) == (1, [])


@pytest.mark.shared
@pytest.mark.sampled(1)
@pytest.mark.parametrize("log", ["collab_capture_pincer_open_closed_console.txt", "collab_escape_random_a_game_state.txt"])
def test_a_text_of_windows_and_two_games_in_one_are_what_they_were(shared: Path, tmp_path: Path, log: str) -> None:
    """Actions end with the line, whatever ends the line; games that were appended to one file stay two."""
    text = (shared / "data/coordination/collab_games/native" / log).read_bytes()
    rows = []
    for name, content in (("once", text), ("windows", text.replace(b"\n", b"\r\n")), ("twice", text + text)):
        (tmp_path / name).mkdir()
        (tmp_path / name / log).write_bytes(content)
        store = Store(tmp_path / f"{name}.duckdb")
        report = _taken(tmp_path / name, store)
        assert report.rejected == []
        rows.append(query(store, "SELECT turn, agent, verb, raw, accepted FROM actions ORDER BY ALL").rows())
    assert rows[1] == rows[0]
    assert sorted(rows[2]) == sorted([*rows[0], *rows[0]])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("player", ["Alice", "Bob"])
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: b"\0" * 2000 + data[2000:], id="the first bytes are zero"),
        pytest.param(lambda data: data[300:], id="the first bytes are missing"),
        pytest.param(lambda data: b"#" + data, id="one byte too many"),
        pytest.param(lambda data: data[:0], id="empty"),
        pytest.param(lambda data: b"\0" * len(data), id="all bytes are zero"),
        pytest.param(lambda data: data[:240], id="nothing but the heading"),
        pytest.param(lambda data: b"\n\n" + data, id="empty lines before the heading"),
    ],
)
def test_a_pair_with_one_damaged_file_is_not_lost_in_silence(
    hanabi: Path, tmp_path: Path, player: str, damage: Callable[[bytes], bytes]
) -> None:
    """The damaged file is a reject, under its own path and its published name alike; the game is there, or its loss is told."""
    path = hanabi / f"{player}_{_STAMP}"
    path.parent.chmod(0o755)
    path.chmod(0o644)
    path.write_bytes(damage(path.read_bytes()))
    store = Store(tmp_path / "s.duckdb")
    report = _taken(hanabi, store)
    assert str(path) in {part.path for part in report.rejected}
    assert not report.is_clean
    assert str(path) not in dict(report.others)
    assert query(store, "select count(*) from rejects where path = $path", {"path": str(path)}).item() == 1


def test_a_renamed_file_with_a_damaged_heading_is_a_reject(kitchen: Path, tmp_path: Path) -> None:
    """What is left of a heading tells as much as a name."""
    (path, *_) = sorted(kitchen.rglob("*.csv"))
    folder = tmp_path / "renamed"
    folder.mkdir()
    (folder / "first.csv").write_bytes(path.read_bytes()[20:])
    (rejected,) = _taken(folder, Store(tmp_path / "s.duckdb")).rejected
    assert rejected.reason == "a log of format coordination_players whose beginning is damaged: copy the file again"


def test_stamps_a_second_apart_are_one_game(hanabi: Path, tmp_path: Path) -> None:
    """The players take their stamps one after the other; a game of another time in the same folder does not disturb."""
    (hanabi / f"Alice_{_STAMP}").rename(hanabi / "Alice_other-model_2024-03-28_16-39-55.csv")
    shutil.copyfile(hanabi / f"Bob_{_STAMP}", hanabi / "Bob_gpt-scripted_2024-03-28_18-00-00.csv")
    store = Store(tmp_path / "s.duckdb")
    report = _taken(hanabi, store)
    assert query(store, "select model, turns_taken from episodes").rows() == [("other-model+gpt-scripted", 65)]
    assert [part.path.endswith("18-00-00.csv") for part in report.rejected] == [True]


def test_the_card_drawn_after_a_cut_is_null(shared: Path, hanabi: Path, tmp_path: Path) -> None:
    """Alice's fifth move discards her first card; with the rest of both files gone, nobody saw what she drew."""
    for player in ("Alice", "Bob"):
        _edit(hanabi / f"{player}_{_STAMP}", lambda table: table[:6])
    store = Store(tmp_path / "s.duckdb")
    assert _taken(hanabi, store).is_clean
    lines = (shared / "data/coordination/hanabi/hanabi_steps.jsonl").read_text(encoding="utf-8").splitlines()
    (logged,) = (step["state_after"] for step in map(json.loads, lines) if (step["episode"], step["turn"]) == ("cautious_s212", 10))
    sql = "select stop_reason, state_after from turns inner join episodes using (episode_id) where turn = 10 and turns_taken = 10"
    ((stop_reason, text),) = query(store, sql).rows()
    known = json.loads(text)
    assert stop_reason is None
    assert known["hands"]["Alice"] == [*logged["hands"]["Alice"][:4], None]
    assert known | {"hands": None} == logged | {"hands": None}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("change", "turns", "reason"),
    [
        (lambda table: [*table[:6], *table[7:]], 11, "row '6' comes where 5 belongs"),
        (lambda table: table[:6], 11, "missing, though the partner's file goes on"),
        (lambda table: [*table[:6], table[6][:4], *table[7:]], 11, "4 fields where the heading has 16"),
        (lambda table: [*table[:6], [*table[6][:-1], "(Swap 1)"], *table[7:]], 11, "the move cannot be read"),
        (lambda table: [*table[:6], [*table[6][:-1], "(Play 9)"], *table[7:]], 11, "the move is against the rules"),
        (lambda table: [*table[:6], [cell.replace("Lives: 3", "Lives: 1") for cell in table[6]], *table[7:]], 11, "lives do not follow"),
        (
            lambda table: [*table[:9], [cell.replace("[Card ", "[") for cell in table[9]], *table[10:]],
            17,
            "deck, partner cards, partner knowledge do not follow",
        ),
        (lambda table: [table[0], *([str(n), *row[1:]] for n, row in enumerate(table[3:]))], 0, "the two files are not of one game"),
        (lambda table: [table[0]], 0, "no row"),
    ],
)
def test_a_damaged_hanabi_file_ends_the_game_there(
    change: Callable[[_Table], _Table], turns: int, reason: str, hanabi: Path, tmp_path: Path
) -> None:
    """The turns before the damage are kept; where it stands and what it is, is told."""
    _edit(hanabi / f"Alice_{_STAMP}", change)
    store = Store(tmp_path / "s.duckdb")
    report = _taken(hanabi, store)
    assert reason in " | ".join(part.reason for part in report.rejected)
    assert query(store, "select coalesce(max(turns_taken), 0) from episodes").item() == turns
    assert query(store, "select count(*) from episodes where stop_reason is not null").item() == 0


@pytest.mark.usefixtures("with_views")
def test_overcooked_files_hold_decisions_and_no_score(kitchen: Path, tmp_path: Path) -> None:
    """Four records of one player each; score, success and progress are null, so no mean takes them in; contents and hands are as logged."""
    store = Store(tmp_path / "s.duckdb")
    assert _taken(kitchen, store).is_clean
    ensure_installed(store)
    rows = query(store, "select task_id, model, turns_taken, score, success from episodes order by turns_taken").rows()
    assert [row[2] for row in rows] == [76, 81, 85, 150]
    assert {row[0] for row in rows} == {"forced_coordination", "asymmetric_advantages"}
    assert {row[3:] for row in rows} == {(None, None)}
    assert {row[1] for row in rows} == {"gpt-scripted"}
    assert query(store, "select count(progress) from turns").item() == 0
    assert query(store, "select * from coordination_games").is_empty()
    told = "select distinct turns_taken, json_keys(state_before -> 'held') from turns inner join episodes using (episode_id) order by 1"
    assert query(store, told).rows() == [(76, ["Bob"]), (81, ["Alice"]), (85, ["Alice", "Bob"]), (150, ["Bob", "Alice"])]
    seen = "select sum(value)::int from episode_metrics where metric = 'coordination.overcooked_deliveries_seen'"
    assert query(store, seen).item() == (80 + 60) // 20
    sql = """select state_before -> '$.cookers.c0', state_after ->> '$.held.Bob', arguments ->> 'macro', verb, accepted
        from turns inner join actions using (episode_id, turn) inner join episodes using (episode_id) where turns_taken = 76 and turn = 6"""
    assert query(store, sql).rows() == [('{"onions":1,"soup":"not cooking"}', "nothing", "place onion in s0.", "place", None)]


def test_categories_of_decisions_are_those_of_the_step_log(recorded: Store) -> None:
    """The same decisions, told by the players' files and by the step log, are of the same use by rule."""
    store = recorded
    sql = """select contains(details ->> 'episode', '_ai_') as own, agent, category, count(*) as n
        from failures inner join episodes using (episode_id)
        where taxonomy = 'overcooked_macro' and (contains(details ->> 'episode', '_ai_')
            or details ->> 'episode' in ('head_default_forced_coordination', 'greedy_waiter_asymmetric_advantages'))
        group by all order by all"""
    rows = query(store, sql).rows()
    assert len(rows) > 4
    assert [row[1:] for row in rows if row[0]] == [row[1:] for row in rows if not row[0]]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda table: [[*row[:-1], ""] if row is table[3] else row for row in table], None),
        (lambda table: [table[0], table[1][:-2]], "fields where the heading has"),
        (lambda table: [[cell.replace("c1_", "c7_") for cell in table[0]], *table[1:]], "no known kitchen has just the places"),
        (
            lambda table: [*table[:2], [cell.replace("still cooking", "burnt").replace("not cooking", "burnt") for cell in table[2]]],
            "cooker c0",
        ),
        (lambda table: [[cell.replace("_distance_from_", "_far_from_") for cell in table[0]], *table[1:]], "no column such as"),
    ],
)
def test_a_damaged_overcooked_file_says_what_is_wrong(
    change: Callable[[_Table], _Table], reason: str | None, kitchen: Path, tmp_path: Path
) -> None:
    """One clear line each; an empty reply is no damage but a failed call."""
    folder = kitchen / "head_default_forced_coordination"
    (path,) = folder.glob("*player_1*.csv")
    _edit(path, change)
    store = Store(tmp_path / "s.duckdb")
    report = ingest_paths([path], store, workers=1)
    if reason is None:
        assert query(store, "select turn, error_code, accepted from actions where error_code is not null").rows() == [
            (3, "failed_call", False)
        ]
    else:
        assert [reason in part.reason for part in report.rejected] == [True]


def test_a_file_that_breaks_off_in_a_cell_loses_that_row(kitchen: Path, tmp_path: Path) -> None:
    """The last row is told, the others are kept."""
    (path,) = (kitchen / "head_default_forced_coordination").glob("*player_1*.csv")
    text = path.read_text(encoding="utf-8")
    cut = tmp_path / path.name
    cut.write_text(text[:-10], encoding="utf-8")
    store = Store(tmp_path / "s.duckdb")
    (rejected,) = ingest_paths([cut], store, workers=1).rejected
    assert (rejected.locator, query(store, "select turns_taken from episodes").item()) == ("row 75", 75)


def test_answers_wait_for_their_questions(shared: Path, tmp_path: Path) -> None:
    """Answers without the question file are rejected; once it lies beside them they are read, though they have not changed."""
    folder = tmp_path / "answers"
    folder.mkdir()
    data = shared / "data" / "coordination"
    shutil.copyfile(data / "coordqa" / "native_logs" / "all_openai_refusal0.json", folder / "all_openai_refusal0.json")
    store = Store(tmp_path / "s.duckdb")
    assert _taken(folder, store).refused == 1
    shutil.copyfile(data / "single_turn_trials.csv", folder / "single_turn_trials.csv")
    assert _taken(folder, store).episodes == 198


def test_an_older_store_takes_records_without_progress(kitchen: Path, tmp_path: Path) -> None:
    """A column that could not be null when the store was made is relaxed."""
    store = Store(tmp_path / "s.duckdb")
    store.create()
    with store.writing() as connection:
        connection.execute("ALTER TABLE turns ALTER COLUMN progress SET NOT NULL")
    assert _taken(kitchen, store).is_clean
