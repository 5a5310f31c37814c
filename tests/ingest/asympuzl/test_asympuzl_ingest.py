"""AsymPuzl logs into the store: every row, every difference, nothing lost silently."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from games.asympuzl.game import FEEDBACK_MODES, FeedbackMode, GameSettings
from games.asympuzl.players import PERSONAS
from ingest.asympuzl import adapter as asympuzl
from ingest.files.run import ingest_paths
from ingest.files.writer import Report
from ingest.reading.adapter_types import Place, Reading
from schemas.store.batches import check, to_arrow
from schemas.store.store import Store
from tests.ingest.asympuzl.asympuzl_logs import Line, PlayRequest, answer, log_of, play, replace, write
from tests.masters import held_open

TELL_ORDER = answer("1 crescent, 2 cross, 3 triangle")
SOLVE_B = answer("crescent brown, cross maroon, triangle navy", replace(2, "cross", "maroon"), replace(3, "triangle", "navy"))
SOLVE_A = answer("", replace(1, "crescent", "brown"), replace(2, "cross", "maroon"), replace(3, "triangle", "navy"))
SOLVED = (TELL_ORDER, "Thinking. " + SOLVE_B, SOLVE_A, answer())
"""Two turns: B right after the first, A after the second."""


def taken(path: Path) -> tuple[Store, Report]:
    store = Store(path.parent / "store.duckdb")
    return store, ingest_paths([path], store, workers=1)


def rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    return query(store, sql).rows()


# --- rows --------------------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One game of two turns."""
    store, report = taken(write(tmp_path_factory.mktemp("solved") / "logs.jsonl", log_of(SOLVED)))
    assert (report.episodes, report.turns, report.rejected) == (1, 2, [])
    yield from held_open(store)


def test_the_episode_says_what_was_played_and_what_came_of_it(solved: Store) -> None:
    """Score is the share of right entries at the end; a run is one configuration."""
    found = rows(
        solved, "select benchmark, task_id, level, model, seed, max_turns, turns_taken, success, score, stop_reason, team from episodes"
    )
    assert found == [("asympuzl", "3:0", "3", "m", 0, 6, 2, True, 1.0, "solved", '{"alice":"m","bob":"m"}')]
    ((name, condition),) = rows(solved, "select name, condition from runs")
    assert name == "hand/3_both"
    assert json.loads(condition) == {
        "size": 3,
        "feedback_mode": "both",
        "max_turns": 6,
        "history_length": 1,
        "temperature": 0.0,
        "max_output_tokens": 4096,
        "tokenizer": "regex-v1",
    }


def test_turns_hold_both_hypotheses_and_progress(solved: Store) -> None:
    """B begins with one of six entries right; the last state is the truth twice."""
    found = rows(solved, "select turn, progress, goal_reached, oracle_available, state_before, state_after from turns order by turn")
    assert [row[:4] for row in found] == [(1, 0.5, False, False), (2, 1.0, True, False)]
    assert found[0][5] == found[1][4]
    assert json.loads(found[0][4])["A"] == [{"shape": shape, "color": None} for shape in ("crescent", "cross", "triangle")]
    ((goal,),) = rows(solved, "select goal from episodes")
    assert json.loads(found[1][5]) == dict.fromkeys(("A", "B"), json.loads(goal)["truth"])
    assert rows(solved, "select value from turn_metrics where turn = 0") == [(pytest.approx(1 / 6),)]


def test_messages_are_public_and_thoughts_private(solved: Store) -> None:
    """Empty messages are kept: silence is an answer. Message tokens are the log's."""
    found = rows(solved, "select turn, seq, agent, channel, audience, text, tokens from utterances order by turn, seq")
    assert found == [
        (1, 1, "A", "public", ["A", "B"], "1 crescent, 2 cross, 3 triangle", 8),
        (1, 2, "B", "private", ["B"], "Thinking.", None),
        (1, 3, "B", "public", ["A", "B"], "crescent brown, cross maroon, triangle navy", 8),
        (2, 1, "A", "public", ["A", "B"], "", 0),
        (2, 2, "B", "public", ["A", "B"], "", 0),
    ]


def test_clues_are_the_private_views(solved: Store) -> None:
    """Each agent's, with which kind of knowledge it is."""
    found = rows(solved, "select agent, role, model, persona, view_kind, view_source, private_view from agents order by agent")
    assert [row[:6] for row in found] == [
        ("A", "alice", "m", None, "shapes", "log"),
        ("B", "bob", "m", None, "shuffled_pairs", "log"),
    ]
    assert [entry["shape"] for entry in json.loads(found[1][6])["clues"]] == ["crescent", "triangle", "cross"]


def test_verified_actions_are_those_that_put_a_wrong_entry_right(solved: Store) -> None:
    """At the start of the turn, of both agents; nobody is shown them."""
    found = rows(
        solved,
        "select turn, arguments ->> 'agent', (arguments ->> 'position')::int, undoes, listed, verified "
        "from oracle_actions order by turn, rank",
    )
    assert found == [
        *((1, "A", place, False, False, True) for place in (1, 2, 3)),
        *((1, "B", place, False, False, True) for place in (2, 3)),
        *((2, "A", place, False, False, True) for place in (1, 2, 3)),
    ]


UNDOING = (
    answer("Hello!", replace(1, "crescent", "brown")),
    answer("Hi!", replace(1, "cross", "navy"), replace(0, "cross", "navy")),
    answer("Thanks!", replace(1, "crescent", "navy"), replace(2, "cross", "navy")),
    "no JSON here",
    answer("Great!", replace(1, "crescent", "navy"), replace(2, "cross", "maroon")),
)


def test_actions_say_what_they_undo_and_why_they_were_refused(tmp_path: Path) -> None:
    """Undoing is taking back a right entry, or changing a position again; an answer without JSON is a refused action."""
    store, _ = taken(write(tmp_path / "logs.jsonl", log_of(UNDOING)))
    found = rows(
        store, "select turn, agent, verb, (arguments ->> 'position')::int, accepted, undoes, error_code from actions order by turn, seq"
    )
    assert found == [
        (1, "A", "replace", 1, True, False, None),
        (1, "B", "replace", 1, True, True, None),
        (1, "B", "replace", 0, False, False, "bad_position"),
        (2, "A", "replace", 1, True, True, None),
        (2, "A", "replace", 2, True, False, None),
        (2, "B", "answer", None, False, False, "no_json"),
        (3, "A", "replace", 1, True, False, None),
        (3, "A", "replace", 2, True, True, None),
    ]


def test_labels_become_a_taxonomy_with_a_category_for_what_went_right(tmp_path: Path) -> None:
    """One row for each label of an agent's turn, `correct` where there is none; evidence says by which method."""
    store, _ = taken(write(tmp_path / "logs.jsonl", log_of(UNDOING)))
    found = rows(store, "select turn, agent, category from failures where taxonomy = 'asympuzl_derived' order by all")
    assert found == [
        (1, "A", "correct"),
        (1, "B", "invalid_action"),
        (1, "B", "overcorrection"),
        (2, "A", "overcorrection"),
        (2, "B", "no_json"),
        (3, "A", "wasted_write"),
    ]
    assert {text.partition(":")[0] for (text,) in rows(store, "select evidence from failures")} == {"method rule"}


def test_a_game_that_still_runs_is_kept_as_far_as_it_is(tmp_path: Path) -> None:
    """Its last turn may have A's answer alone, and its last line may be cut; then it is replaced by the whole."""
    lines = log_of(SOLVED)
    path = write(tmp_path / "logs.jsonl", [*lines[:4], json.dumps(lines[4]).encode()[:100]])
    store, report = taken(path)
    assert report.rejected == []
    ((details,),) = rows(store, "select details from episodes")
    assert (json.loads(details)["complete"], json.loads(details)["unfinished_line_bytes"]) == (False, 100)
    assert rows(store, "select turns_taken, success, stop_reason from episodes") == [(2, None, None)]
    assert rows(store, "select turn, goal_reached, progress from turns order by turn") == [(1, False, 0.5), (2, None, 1.0)]

    write(path, lines)
    assert ingest_paths([path], store, workers=1).replaced == 1
    assert rows(store, "select turns_taken, success, stop_reason from episodes") == [(2, True, "solved")]


def test_ingesting_twice_changes_nothing(tmp_path: Path) -> None:
    """The second time nothing is read."""
    path = write(tmp_path / "logs.jsonl", log_of(SOLVED))
    store, _ = taken(path)
    again = ingest_paths([path], store, workers=1)
    assert (again.unchanged, again.episodes) == (1, 0)


@pytest.mark.parametrize("modes", [FEEDBACK_MODES[-1:], pytest.param(FEEDBACK_MODES, marks=pytest.mark.long)], ids=["one mode", "all"])
def test_played_logs_agree_with_their_replay(tmp_path: Path, modes: tuple[FeedbackMode, ...]) -> None:
    """All personas, all modes: no difference, no reject, a cut log is a prefix of the whole."""
    played = play(PlayRequest(out=tmp_path / "logs", personas=tuple(PERSONAS), sizes=(4,), modes=modes, seeds=(3,), history_length=2))
    store = Store(tmp_path / "store.duckdb")
    report = ingest_paths([tmp_path / "logs"], store, workers=1)
    assert (report.episodes, report.rejected) == (played.played, [])
    assert rows(store, "select * from log_disagreements") == []
    assert rows(store, "select distinct persona from agents order by 1") == [(name,) for name in sorted(PERSONAS)]


# --- differences -------------------------------------------------------------------------------------------------------------------------


def changed(where: int, **fields: object) -> list[Line]:
    lines = copy.deepcopy(log_of(SOLVED))
    lines[where].update(fields)
    return lines


WRONG_STATE = [{"shape": "crescent", "color": "brown"}, {"shape": "cross", "color": "navy"}, {"shape": "triangle", "color": "navy"}]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param(changed(1, parse_strict=False), [(1, "A.parse_strict", "false", "true")], id="flag"),
        pytest.param(
            changed(2, message="x", message_tokens=1),
            [(1, "B.message", '"x"', None), (2, "A.received", None, None), (2, "B.received", None, None)],
            id="message",
        ),
        pytest.param(changed(2, output_tokens=3), [(1, "B.output_tokens", "3", None)], id="tokens"),
        pytest.param(changed(3, feedback=None), [(2, "A.feedback", "null", '{"a_ok":false,"b_ok":true}')], id="feedback"),
        pytest.param(changed(3, received=[]), [(2, "A.received", "[]", None)], id="conversation"),
        pytest.param(
            changed(3, hypothesis_after=WRONG_STATE),
            [
                (2, "A.hypothesis_after", None, None),
                *((None, field, None, None) for field in ("last_turn", "solved", "solved_turn", "solved_turn_a")),
            ],
            id="hypothesis",
        ),
        pytest.param(changed(0, seed=1), [(None, name, None, None) for name in ("clues_a", "clues_b", "truth")], id="another seed"),
        pytest.param(changed(5, writes_a=[1, 1, 2]), [(None, "writes_a", "[1,1,2]", "[1,1,1]")], id="writes"),
        pytest.param(
            [{**line, "max_turns": 1} if line["type"] == "game" else line for line in log_of(SOLVED)],
            [(None, "last_turn", "2", "1")],
            id="played on behind the limit",
        ),
        pytest.param(changed(5, solved_turn_b=None), [(None, "solved_turn_b", "null", "1")], id="solved turn"),
    ],
)
def test_where_log_and_rules_differ_both_are_kept(tmp_path: Path, lines: list[Line], expected: list[tuple[Any, ...]]) -> None:
    """Each difference is a row, and breeds no others; None in the expectation: any value."""
    store, report = taken(write(tmp_path / "logs.jsonl", lines))
    assert report.rejected == []
    found = rows(store, "select turn, field, logged, recomputed from log_disagreements order by turn nulls last, field")

    def order(row: tuple[Any, ...]) -> tuple[bool, int, str]:
        return row[0] is None, row[0] or 0, row[1]

    assert [row[:2] for row in found] == [row[:2] for row in sorted(expected, key=order)]
    for row, wanted in zip(found, sorted(expected, key=order), strict=True):
        assert all(want in (None, got) for got, want in zip(row[2:], wanted[2:], strict=True))


def test_what_the_log_says_is_what_is_stored(tmp_path: Path) -> None:
    """A state that the rules would not give stands in the store as logged, and progress follows it."""
    store, _ = taken(write(tmp_path / "logs.jsonl", changed(3, hypothesis_after=WRONG_STATE)))
    ((after, progress),) = rows(store, "select state_after, progress from turns where turn = 2")
    assert json.loads(after)["A"] == WRONG_STATE
    assert progress == pytest.approx(5 / 6)


def test_a_log_may_leave_out_what_can_be_done_without(tmp_path: Path) -> None:
    """No prompts, no flags, no token numbers: null, nothing or as read, no difference."""
    kept = {"type", "game_id", "turn", "agent", "raw_output", "message", "actions", "hypothesis_after"}
    lines = [{k: v for k, v in line.items() if k in kept} if line["type"] == "turn" else line for line in log_of(SOLVED)]
    store, report = taken(write(tmp_path / "logs.jsonl", lines))
    assert report.rejected == []
    assert rows(store, "select * from log_disagreements") == []
    assert rows(store, "select count(*) from turn_metrics where metric like '%tokens%' or metric like '%strict%'") == [(0,)]


# --- bad input ---------------------------------------------------------------------------------------------------------------------------

WHOLE = log_of(SOLVED)
OTHER = log_of(SOLVED, run_id="other")


def test_a_file_with_objects_over_several_lines_is_one_reject(tmp_path: Path) -> None:
    """Pretty-printed: told once, with the command that mends it; the mended file goes in."""
    path = tmp_path / "logs.jsonl"
    path.write_text("\n".join(json.dumps(line, indent=2) for line in WHOLE))
    store, report = taken(path)
    (reject,) = report.rejected
    assert reject.reason.startswith("not JSON Lines: an object is spread over several lines")
    assert "jq -c . FILE > NEW" in reject.reason
    write(path, WHOLE)
    assert ingest_paths([path], store, workers=1).episodes == 1


def without(line: int, field: str) -> list[Line | bytes]:
    return [{k: v for k, v in one.items() if k != field} if number == line else one for number, one in enumerate(WHOLE)]


BAD: dict[str, tuple[list[Line | bytes], str, str, int, int]] = {
    # lines, locator, part of the reason, episodes, turns
    "broken line": ([*WHOLE[:2], b"{oops\n", *WHOLE[2:], *OTHER], "line 3", "no JSON", 2, 4),
    "turn lost": ([*WHOLE[:2], *WHOLE[3:], *OTHER], "line 3.turn", "turn 2 of A is out of order, turn 1 of B is due", 2, 3),
    "not UTF-8": ([*WHOLE[:2], b'{"type": "\xff"}\n', *WHOLE[2:]], "line 3", "UTF-8", 1, 2),
    "no object": ([*WHOLE, b"7\n"], "line 7", "no line of an AsymPuzl log", 1, 2),
    "unknown type": ([*WHOLE, {"type": "note"}], "line 7", "no line of an AsymPuzl log", 1, 2),
    "type is a list": ([*WHOLE, {"type": ["game"]}], "line 7", "no line of an AsymPuzl log", 1, 2),
    "newer schema": ([{**WHOLE[0], "schema": "asympuzl/2"}, *WHOLE[1:], *OTHER], "line 1.schema", "is not asympuzl/1", 1, 2),
    "size too large": ([{**WHOLE[0], "size": 25}, *WHOLE[1:], *OTHER], "line 1.size", "less than or equal to 24", 1, 2),
    "size does not fit": (
        [{**WHOLE[0], "size": 4}, *WHOLE[1:], *OTHER],
        "line 1",
        "truth has 3 entries, the puzzle 4 positions: make them fit",
        1,
        2,
    ),
    "unknown mode": ([{**WHOLE[0], "feedback_mode": "all"}, *WHOLE[1:], *OTHER], "line 1.feedback_mode", "Input should be", 1, 2),
    "no truth": ([*without(0, "truth"), *OTHER], "line 1.truth", "Field required", 1, 2),
    "second game of that name": ([*WHOLE, WHOLE[0]], "line 7.game_id", "a second game with the id", 1, 2),
    "turn without its game": ([OTHER[1], *WHOLE], "line 1.game_id", "whose `game` line does not stand before it", 1, 2),
    "no raw output": ([*without(3, "raw_output"), *OTHER], "line 4.raw_output", "Field required", 2, 3),
    "short hypothesis": ([*WHOLE[:3], {**WHOLE[3], "hypothesis_after": []}, *WHOLE[4:]], "line 4.hypothesis_after", "0 entries", 1, 1),
    "turn in quotes": (
        [*WHOLE[:3], {**WHOLE[3], "turn": "2"}, *WHOLE[4:]],
        "line 4.turn",
        "a valid integer: write a whole number, without quotes; the game is stored",
        1,
        1,
    ),
    "turn behind the end": ([*WHOLE, WHOLE[4]], "line 7", "after the result", 1, 2),
    "second result": ([*WHOLE, WHOLE[5]], "line 7", "a second result", 1, 2),
    "result without solved": (without(5, "solved"), "line 6.solved", "Field required", 1, 2),
    "cut in the first line": ([json.dumps(WHOLE[0]).encode()[:150]], "line 1", "breaks off", 0, 0),
    "a second game cut in its first line": ([*WHOLE, json.dumps(OTHER[0]).encode()[:150]], "line 7", "breaks off", 1, 2),
}


def read_lines(lines: list[Line | bytes]) -> Reading:
    """What the adapter takes from these lines."""
    data = b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)
    return asympuzl.read(data, Place(path="/logs.jsonl", file="logs.jsonl", source_id="0"))


@pytest.mark.parametrize("name", BAD)
def test_bad_lines_are_rejected_one_by_one_and_the_rest_is_kept(name: str) -> None:
    """The reject says where and why; games beside it are whole."""
    lines, locator, reason, episodes, turns = BAD[name]
    found = read_lines(lines)
    assert (len(found.episodes), found.turns, len(found.rejects)) == (episodes, turns, 1)
    (reject,) = found.rejects
    assert (reject.locator, reason in reject.reason) == (locator, True)
    assert reject.reason.isprintable()


def test_lost_turns_are_counted(tmp_path: Path) -> None:
    """In the reject and in the game's details; numbers of the end are not compared with half a game."""
    store, report = taken(write(tmp_path / "logs.jsonl", [*WHOLE[:2], *WHOLE[3:]]))
    assert "2 lines of game hand:3:both:0 are lost" in report.rejected[0].reason
    ((details,),) = rows(store, "select details from episodes")
    assert json.loads(details)["agent_turns_lost"] == 2
    assert rows(store, "select * from log_disagreements") == []


def test_games_may_be_mixed_in_a_file(tmp_path: Path) -> None:
    """Lines are joined by `game_id`, as those of a run that plays several games at a time."""
    mixed = [line for pair in zip(WHOLE, OTHER, strict=True) for line in pair]
    store, report = taken(write(tmp_path / "logs.jsonl", mixed))
    assert (report.episodes, report.turns, report.rejected) == (2, 4, [])
    assert rows(store, "select count(*) from log_disagreements") == [(0,)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("field", ["turns", "solved_turn", "solved_turn_a", "solved_turn_b", "writes_a", "changes_b"])
def test_what_a_result_does_not_say_is_no_difference(tmp_path: Path, field: str) -> None:
    """Only `game_id` and `solved` are required of it."""
    store, _ = taken(write(tmp_path / "logs.jsonl", without(len(WHOLE) - 1, field)))
    assert rows(store, "select field, logged, recomputed from log_disagreements") == []


def test_what_a_skipped_action_leaves_empty_is_no_difference(tmp_path: Path) -> None:
    """The format fixes no values for actions that were not carried out; a valid one that is called skipped still is a difference."""
    skipped = [replace("1", "cross", "maroon"), replace(1, "blob", "maroon"), replace(9, "cross", "maroon"), replace(2, "cross", "plaid")]
    log = log_of((answer("", *skipped), SOLVE_B, SOLVE_A, answer()))
    for action in log[1]["actions"]:
        action.update(dict.fromkeys(("replace", "shape", "color", "before", "after", "changed", "right_before", "right_after")))
    store, report = taken(write(tmp_path / "logs.jsonl", log))
    assert report.rejected == []
    assert rows(store, "select field, logged, recomputed from log_disagreements") == []
    log[2]["actions"][0] = {"index": 0, "valid": False, "reason": "bad_structure"}
    store, _ = taken(write(tmp_path / "other" / "logs.jsonl", log))
    assert rows(store, "select field from log_disagreements where field = 'B.actions'") == [("B.actions",)]


@pytest.mark.usefixtures("with_views")
def test_answers_without_json_are_counted_where_the_log_does_not_say_so(tmp_path: Path) -> None:
    """The raw answer is there to be read: actions, failures and the view count the same."""
    log = log_of(("prose", IDLE, "more prose", IDLE, IDLE, IDLE, IDLE, IDLE, IDLE, IDLE, IDLE, IDLE))
    store, _ = taken(write(tmp_path / "logs.jsonl", [{name: value for name, value in line.items() if name != "parse_ok"} for line in log]))
    ensure_installed(store)
    assert rows(store, "select no_json from asympuzl_games") == [(2,)]
    assert rows(store, "select count(*) from actions where error_code = 'no_json'") == [(2,)]
    assert rows(store, "select count(*) from failures where category = 'no_json'") == [(2,)]


def test_any_missing_field_is_done_without_or_rejected() -> None:
    """Take any one field out of any line: the game goes in, whole or in part, or a reject says what is missing."""
    for line, fields in enumerate(WHOLE):
        for field in fields:
            found = read_lines(without(line, field))
            assert found.episodes or found.rejects


@pytest.mark.sampled(1)
@pytest.mark.parametrize("value", [None, 7, -1, 10**30, "x", [], {}, [None], {"shape": 1}, True, 1.5])
def test_any_wrong_value_is_done_without_or_rejected(value: object) -> None:
    """In any field of any line: never an error, never a game gone without a word, and the rows fit the tables."""
    together = Reading()
    for line in (0, 3, 5):
        for field in WHOLE[line]:
            found = read_lines([{**one, field: value} if one is WHOLE[line] else one for one in WHOLE])
            assert found.episodes or found.rejects
            together.add(found)
    check(to_arrow(together.rows))


# --- spirals -----------------------------------------------------------------------------------------------------------------------------


def flip(color: str) -> str:
    return answer(f"now {color}", replace(2, "cross", color))


IDLE = answer("hm")
REFUSED = answer("again", replace(0, "cross", "navy"))


@pytest.mark.usefixtures("with_views")
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("answers", "kinds"),
    [
        pytest.param((flip("navy"), IDLE, flip("brown"), IDLE, flip("navy"), IDLE), {("undo_loop", 2, 3)}, id="a value comes back"),
        pytest.param((REFUSED, IDLE, REFUSED, IDLE), {("repeated_failure", 1, 2)}, id="the same invalid action"),
        pytest.param(("prose", IDLE, "more prose", IDLE), {("repeated_failure", 1, 2)}, id="no JSON twice"),
        pytest.param((IDLE, answer("a"), answer("b"), answer("c"), answer("d"), answer("e")), {("stall", 1, 3)}, id="nothing written"),
        pytest.param(
            (
                SOLVE_A,
                IDLE,
                answer("", replace(1, "crescent", "navy")),
                IDLE,
                answer("", replace(1, "crescent", "brown"), replace(2, "cross", "navy")),
                IDLE,
                answer("", replace(2, "cross", "maroon"), replace(1, "crescent", "maroon")),
                IDLE,
            ),
            set(),
            id="each time something that had been changed is wrong",
        ),
        pytest.param(
            (
                IDLE,
                answer("", replace(1, "cross", "navy"), replace(1, "crescent", "brown")),
                IDLE,
                answer("", replace(1, "cross", "navy"), replace(1, "crescent", "brown")),
            ),
            {("over_removal", 1, 2)},
            id="right entries taken back for a moment",
        ),
        pytest.param((flip("navy"), IDLE, flip("brown"), IDLE, flip("maroon"), IDLE), set(), id="tries that get there"),
        pytest.param(SOLVED, set(), id="a good game"),
    ],
)
def test_spirals_are_found_where_they_are_planted(tmp_path: Path, answers: tuple[str, ...], kinds: set[tuple[str, int, int]]) -> None:
    """Replacing a position again is the undoing of AsymPuzl (docs/spirals.md)."""
    store, report = taken(write(tmp_path / "logs.jsonl", log_of(answers, settings=GameSettings(max_turns=20))))
    ensure_installed(store)
    assert report.rejected == []
    assert {*rows(store, "select kind, start_turn, end_turn from correction_spirals")} == kinds


PLANTED: dict[str, Callable[[set[str]], bool]] = {
    "sharing": lambda kinds: not kinds,
    "piecewise": lambda kinds: not kinds,
    "guessing": lambda kinds: not kinds,
    "overcorrecting": lambda kinds: "undo_loop" in kinds,
    "ignoring": lambda kinds: kinds == {"stall"},
    "silent": lambda kinds: kinds == {"stall"},
}


@pytest.mark.usefixtures("with_views")
def test_scripted_players_plant_their_spirals(tmp_path: Path) -> None:
    """Those who play well have none, those who over-correct loop, those who do not act stall; in every game."""
    play(PlayRequest(out=tmp_path / "logs", personas=tuple(PLANTED), sizes=(4,), seeds=(0, 1)))
    store = Store(tmp_path / "store.duckdb")
    ingest_paths([tmp_path / "logs"], store, workers=1)
    ensure_installed(store)
    found = rows(
        store,
        "select model, list(distinct kind) filter (kind is not null) from episodes left join correction_spirals using (episode_id, model) "
        "group by model, episode_id",
    )
    assert len(found) == 2 * len(PLANTED)
    assert [model for model, kinds in found if not PLANTED[model](set(kinds or ()))] == []
