"""cotrace's own log becomes rows, whole or while it grows, with the planted truth as labels."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.ingest.asked import rows
from tests.scripted import CraftRequest as PlayRequest
from tests.scripted import play

Json = dict[str, Any]
TURNS = 6


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """One scripted game."""
    request = PlayRequest(
        out=tmp_path_factory.mktemp("play"),
        personas=("over_remover",),
        builders=("literal",),
        structures=1,
        turns=TURNS,
        processes=1,
    )
    (path,) = play(request).paths
    return path.read_bytes()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "game.jsonl"


def lines(content: bytes) -> list[Json]:
    return [json.loads(line) for line in content.splitlines()]


def write(path: Path, entries: list[Json]) -> None:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))


def test_every_entry_becomes_a_row(store: Store, log: Path, played: bytes) -> None:
    """As many rows as the log has entries, in their order and wording."""
    log.write_bytes(played)
    report = ingest_paths([log], store)
    header, *turns, end = lines(played)
    assert (report.episodes, report.turns, report.rejected) == (1, TURNS, [])
    assert rows(store, "SELECT turn, seq, agent, channel, audience, text, superseded FROM utterances ORDER BY turn, seq") == [
        (turn["turn"], seq, said["agent"], said["channel"], said["audience"], said["text"], said["superseded"])
        for turn in turns
        for seq, said in enumerate(turn["utterances"], start=1)
    ]
    found = rows(store, "SELECT arguments, verb, raw, accepted, undoes, error_code, error_text FROM actions ORDER BY turn, seq")
    assert [(json.loads(arguments), *rest) for arguments, *rest in found] == [
        (done["arguments"], done["verb"], done["raw"], done["accepted"], done["undoes"], done["error_code"], done["error_text"])
        for turn in turns
        for done in turn["actions"]
    ]
    said = [one for turn in turns for one in turn["utterances"]]
    counts = "SELECT counted, stored FROM receipts WHERE kind IN ('messages', 'words') ORDER BY kind"
    assert rows(store, counts) == [(len(said),) * 2, (sum(len(one["text"].split()) for one in said),) * 2]
    states = rows(store, "SELECT state_before, state_after, oracle_followed, goal_reached FROM turns ORDER BY turn")
    assert [(json.loads(before), json.loads(after), *rest) for before, after, *rest in states] == [
        (turn["state_before"], turn["state_after"], turn["oracle_followed"], turn["goal_reached"]) for turn in turns
    ]
    (episode,) = rows(store, "SELECT task_id, level, model, seed, stop_reason, success, goal, details FROM episodes")
    assert episode[:6] == (header["task"]["id"], header["task"]["level"], "over_remover", 3, end["end"]["stop_reason"], False)
    assert json.loads(episode[6]) == header["task"]["goal"]
    assert json.loads(episode[7])["complete"] is True


def test_listed_candidates_keep_their_order(store: Store, log: Path, played: bytes) -> None:
    """Listed candidates come first, in the log's order, and replay confirms each."""
    log.write_bytes(played)
    ingest_paths([log], store)
    for turn in lines(played)[1:-1]:
        found = rows(store, f"SELECT arguments, verified FROM oracle_actions WHERE listed AND turn = {turn['turn']} ORDER BY rank")
        assert [(json.loads(arguments), verified) for arguments, verified in found] == [
            (entry["arguments"], True) for entry in turn["oracle"]
        ]


def test_replay_agrees_with_the_log(store: Store, log: Path, played: bytes) -> None:
    """The log was written by the same engine: nothing differs, and the scores are those of the last line."""
    log.write_bytes(played)
    ingest_paths([log], store)
    assert rows(store, "FROM log_disagreements") == []
    assert rows(store, "SELECT round(score, 9) FROM episodes") == [(round(lines(played)[-1]["end"]["score"], 9),)]


def test_a_log_with_objects_over_several_lines_is_one_reject(store: Store, log: Path, played: bytes) -> None:
    """Pretty-printed: told once, with the mend."""
    log.write_text("\n".join(json.dumps(entry, indent=2) for entry in lines(played)))
    (reject,) = ingest_paths([log], store).rejected
    assert reject.reason.startswith("not JSON Lines: an object is spread over several lines")


def test_planted_truth_becomes_labels(store: Store, log: Path, played: bytes) -> None:
    """One label an entry, by persona; units are named after the episode, the group's without an agent."""
    log.write_bytes(played)
    ingest_paths([log], store)
    (episode,) = rows(store, "SELECT episode_id FROM episodes")[0]
    scores = {"Yes": 1.0, "No": 0.0, "N/A": None}
    expected = [
        (
            "planted",
            "over_remover",
            label["rubric"],
            label["question"],
            f"{episode}/{turn['turn']}" + (f"/{label['agent']}" if label["agent"] else ""),
            episode,
            turn["turn"],
            label["agent"],
            label["answer"],
            scores[label["answer"]],
            label["basis"],
            label["planted"],
            None,  # `imported_at` is of labels out of files
            None,  # `sampling_probability` is of drawn labels
        )
        for turn in lines(played)[1:-1]
        for label in turn["labels"]
    ]
    assert len(expected) > TURNS
    assert sorted(rows(store, "FROM labels"), key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize("parts", [3, pytest.param(40, marks=pytest.mark.long)])
def test_game_cut_at_any_byte_is_its_prefix(store: Store, log: Path, played: bytes, parts: int) -> None:
    """Behind the first line nothing is a reject: whole turns are the episode, the rest is still being written."""
    header = played.index(b"\n") + 1
    steps = range(header, len(played), max(1, len(played) // parts))
    for cut in steps:
        log.write_bytes(played[:cut])
        report = ingest_paths([log], store)
        assert report.rejected == []
        turns = played[header:cut].count(b"\n")
        (found,) = rows(store, "SELECT turns_taken, stop_reason, details ->> 'complete', details ->> 'unfinished_line_bytes' FROM episodes")
        left = cut - played.rfind(b"\n", 0, cut) - 1
        assert found[:3] in {(turns, None, "false"), (turns + 1, None, "false")}  # a turn may be whole before its line break comes
        assert found[3] in {None, str(left)}


def test_grown_game_is_replaced_and_keeps_its_id(store: Store, log: Path, played: bytes) -> None:
    """The episode of a running game grows; its planted labels are not doubled."""
    whole = played.splitlines(keepends=True)
    log.write_bytes(b"".join(whole[:3]))
    ingest_paths([log], store)
    (first,) = rows(store, "SELECT episode_id FROM episodes")
    log.write_bytes(played)
    assert ingest_paths([log], store).replaced == 1
    assert rows(store, "SELECT episode_id, turns_taken FROM episodes") == [(*first, TURNS)]
    assert rows(store, "SELECT count(*) FROM labels") == [(sum(len(turn["labels"]) for turn in lines(played)[1:-1]),)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("change", "locator"),
    [
        pytest.param({"turn": "4"}, "line 5.turn", id="wrong type"),
        pytest.param({"turn": 3}, "line 5.turn", id="turn twice"),
        pytest.param({"utterances": None}, "line 5.utterances", id="missing list"),
        pytest.param({"state_before": {"stacks": 7}}, "line 5.state_before.stacks", id="state that the rules cannot read"),
    ],
)
def test_bad_line_costs_itself_and_what_follows(store: Store, log: Path, played: bytes, change: Json, locator: str) -> None:
    """The game is kept up to the line before."""
    entries = lines(played)
    entries[4] |= change
    write(log, entries)
    report = ingest_paths([log], store)
    assert (report.ingested, report.turns) == (1, 3)
    (reject,) = report.rejected
    assert reject.locator == locator
    assert "the game is stored up to the line before, 4 lines are lost" in reject.reason
    assert rows(store, "FROM log_disagreements") == []


def test_a_line_that_is_no_json_is_told_with_its_column(store: Store, log: Path, played: bytes) -> None:
    """By the line of the file; within the line there is no other."""
    entries = played.split(b"\n")
    entries[4] = b'{"turn":\x00' + entries[4][8:]
    log.write_bytes(b"\n".join(entries))
    (reject,) = ingest_paths([log], store).rejected
    assert (reject.locator, reject.reason.partition(":")[0]) == ("line 5, column 9", "no JSON (Expecting value at column 9)")


@pytest.mark.parametrize("limit", ["99999999999999999999", "1e400", "9" * 5000, "[" * 20000 + "]" * 20000])
def test_a_number_or_nesting_beyond_all_bounds_is_one_reject(store: Store, log: Path, played: bytes, limit: str) -> None:
    """Told as the log's fault, with the place; nothing of it is in the store."""
    log.write_bytes(re.sub(rb'"max_turns":\d+', f'"max_turns":{limit}'.encode(), played))
    report = ingest_paths([log], store)
    (reject,) = report.rejected
    assert "please report" not in reject.reason
    assert len(reject.reason) < 400


def test_whole_but_wrong_last_line_is_a_reject(store: Store, log: Path, played: bytes) -> None:
    """Only a line that breaks off is still being written."""
    write(log, lines(played)[:3])
    log.write_bytes(log.read_bytes() + b'{"turn": 3}')
    report = ingest_paths([log], store)
    assert (report.turns, [reject.locator for reject in report.rejected]) == (2, ["line 4.state_before"])


def test_line_behind_the_end_is_a_reject(store: Store, log: Path, played: bytes) -> None:
    """A game that has ended does not go on."""
    write(log, [*lines(played), lines(played)[-2]])
    report = ingest_paths([log], store)
    assert (report.turns, [reject.locator for reject in report.rejected]) == (TURNS, [f"line {TURNS + 3}"])


def test_what_only_the_patient_reader_takes_is_read(store: Store, log: Path, played: bytes) -> None:
    """`NaN` and half a surrogate pair are no JSON, yet Python's `json` writes them: such turns are read like the others."""
    header, first, second, *rest = played.splitlines(keepends=True)
    odd = [first.replace(b'"goal_reached"', b'"more":NaN,"goal_reached"'), second.replace(b'"text":"', b'"text":"\\ud83d', 1)]
    log.write_bytes(b"".join([header, *odd, *rest]))
    report = ingest_paths([log], store)
    assert (report.turns, report.rejected) == (TURNS, [])
    ((text,),) = rows(store, "SELECT text FROM utterances WHERE turn = 2 AND seq = 1")
    assert text == "\ufffd" + json.loads(second)["utterances"][0]["text"]


def test_a_game_of_no_family_is_taken_as_written(store: Store, log: Path, played: bytes) -> None:
    """Nothing can be replayed, so nothing is recomputed: what the log says is there, what only a replay knows is null."""
    write(log, [lines(played)[0] | {"benchmark": "chess"}, *lines(played)[1:]])
    report = ingest_paths([log], store)
    assert (report.turns, report.rejected) == (TURNS, [])
    with store.reading() as connection:
        (known,) = connection.execute("SELECT DISTINCT progress IS NULL AND state_after IS NOT NULL FROM turns").fetchall()
        (score,) = connection.execute("SELECT score FROM episodes WHERE benchmark = 'chess'").fetchall()
    assert (known, score) == ((True,), (lines(played)[-1]["end"]["score"],))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("change", "field"),
    [
        pytest.param(lambda turn: turn["state_after"]["stacks"].update({"(2,2)": ["zz"]}), "structure_after", id="state after"),
        pytest.param(lambda turn: turn["state_after"]["spans"].update({"2": [["(0,0)", "(0,1)"]]}), "spans_after", id="spans after"),
        pytest.param(lambda turn: turn["oracle"].reverse(), "oracle_moves", id="candidates"),
        pytest.param(lambda turn: turn.update(goal_reached=True), "goal_reached", id="goal"),
    ],
)
def test_changed_log_is_told_apart_from_its_replay(store: Store, log: Path, played: bytes, change: Any, field: str) -> None:
    """What replay can check of our own logs is checked too."""
    entries = lines(played)
    change(entries[1])
    write(log, entries)
    ingest_paths([log], store)
    assert (1, field) in rows(store, "SELECT turn, field FROM log_disagreements")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["flat", "spans_mirrored", "flat_mirrored"])
def test_view_that_is_not_of_its_kind_is_a_difference(store: Store, log: Path, played: bytes, kind: str) -> None:
    """A log that shows a view `spans` and names it otherwise, in any documented spelling, contradicts itself."""
    entries = lines(played)
    assert {agent["view_kind"] for agent in entries[0]["agents"]} == {"spans", None}
    entries[0]["agents"][1]["view_kind"] = kind
    write(log, entries)
    ingest_paths([log], store)
    assert rows(store, "SELECT turn, field FROM log_disagreements") == [(None, "private_view.D2")]
    assert rows(store, "SELECT view_kind, view_source FROM agents WHERE agent = 'D2'") == [(kind, "log")]


def test_view_of_its_kind_is_no_difference(store: Store, log: Path, played: bytes) -> None:
    """A view that was shown mirrored, and is called so, is checked against the mirrored target."""
    entries = lines(played)
    d2 = entries[0]["agents"][1]
    d2["view_kind"] = "spans_mirrored"
    d2["private_view"] = {row: cells[::-1] for row, cells in d2["private_view"].items()}
    write(log, entries)
    ingest_paths([log], store)
    assert rows(store, "FROM log_disagreements") == []


def test_view_kind_nobody_knows_is_told(store: Store, log: Path, played: bytes) -> None:
    """A spelling that is not documented cannot be checked, and must not pass in silence."""
    entries = lines(played)
    entries[0]["agents"][1]["view_kind"] = "mirrored_size1"
    write(log, entries)
    ingest_paths([log], store)
    assert rows(store, "SELECT turn, field, logged, recomputed FROM log_disagreements") == [
        (None, "view_kind.D2", "mirrored_size1", "spans")
    ]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("blank", [b"\n", b"\r\n \t\n\n", b"\xef\xbb\xbf\n"])
def test_blank_lines_before_the_header_carry_nothing(store: Store, log: Path, played: bytes, blank: bytes) -> None:
    """The game is read as without them."""
    log.write_bytes(blank + played)
    report = ingest_paths([log], store)
    assert (report.ingested, report.turns, report.rejected) == (1, TURNS, [])
    assert rows(store, "SELECT stop_reason IS NOT NULL FROM episodes") == [(True,)]


def test_lines_are_counted_as_they_stand_in_the_file(store: Store, log: Path, played: bytes) -> None:
    """Faults of the header and of a later line are told where an editor shows them."""
    head, first, *rest = played.splitlines(keepends=True)
    log.write_bytes(b"\n\n" + head.replace(b'"agents":', b'"nobody":') + first)
    (log.parent / "later.jsonl").write_bytes(b"\n\n" + head + first + first + b"".join(rest))
    report = ingest_paths([log.parent], store)
    assert [part.locator.split(".")[0] for part in report.rejected] == ["line 3", "line 5"]


def test_the_order_of_agents_makes_no_other_team(store: Store, tmp_path: Path, played: bytes) -> None:
    """46 teams of Avalon's 60 games were one model: roles stood in the order of the players, which is dealt."""
    header, *rest = lines(played)
    header.pop("team", None)
    for name, agents in {"a": header["agents"], "b": header["agents"][::-1]}.items():
        write(tmp_path / f"{name}.jsonl", [header | {"agents": agents, "seed": ord(name)}, *rest])
    ingest_paths([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], store)
    assert rows(store, "SELECT count(*), count(DISTINCT team::VARCHAR) FROM episodes") == [(2, 1)]
