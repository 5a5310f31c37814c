"""Published CRAFT logs become rows: every turn kind, every special content, every difference from replay."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from games.craft.engine.board import ViewKind, director_view, views_json
from games.craft.engine.rules import Move
from ingest.files.run import ingest_paths
from ingest.files.writer import Report
from schemas.store.store import Store
from tests.ingest.asked import rows
from tests.ingest.craft.craft_logs import TARGET, published, write

Json = dict[str, Any]


def ingest(store: Store, tmp_path: Path, log: Json, name: str = "logs/game.json") -> Report:
    return ingest_paths([write(tmp_path / name, log)], store)


def test_episode_says_what_the_log_says(store: Store, tmp_path: Path) -> None:
    """Identity, team, seed, end and goal stand in the log's own values."""
    report = ingest(store, tmp_path, published())
    assert (report.episodes, report.turns, report.rejected) == (1, 5, [])
    found = rows(
        store,
        "SELECT task_id, level, model, team ->> 'builder', seed, max_turns, turns_taken, success, stop_reason, error, file, "
        "goal ->> '$.stacks.\"(0,0)\"', started_at::VARCHAR FROM episodes",
    )
    expected = ("structure_001", "simple", "some-model", "other-model", 3, 5, 5, False, "max_turns_reached", None, "game.json")
    assert found == [(*expected, '["gs","bl"]', "2026-04-06 13:48:40")]


def test_score_is_the_progress_after_the_last_turn(store: Store, tmp_path: Path) -> None:
    """One right block of ten entries, the rest of its cell missing: IoU and completion 1/10, one cell of nine right (it is to be empty)."""
    ingest(store, tmp_path, published())
    assert rows(store, "SELECT round(score, 9) FROM episodes") == [(round((0.1 + 0.1 + 1 / 9) / 3, 9),)]
    assert rows(store, "SELECT round(value, 9) FROM turn_metrics WHERE turn = 0 AND metric = 'craft.overall_progress'") == [
        (round(1 / 27, 9),)
    ]


def test_kinds_of_turns(store: Store, tmp_path: Path) -> None:
    """Accepted, refused, question: what was attempted, what was listed, what was followed."""
    ingest(store, tmp_path, published())
    found = rows(
        store,
        "SELECT turn, verb, accepted, error_code, undoes, oracle_available, oracle_followed "
        "FROM actions JOIN turns USING (episode_id, turn) ORDER BY turn",
    )
    assert found == [
        (1, "place", True, None, False, True, True),
        (2, "place", False, "P2", False, True, False),
        (3, "clarify", None, None, False, None, None),
        (4, "place", True, None, False, True, True),
        (5, "remove", True, None, True, True, False),
    ]


def test_removed_block_is_named_and_the_raw_move_kept(store: Store, tmp_path: Path) -> None:
    """The engine adds the block of a removal to the arguments; the raw move has none."""
    ingest(store, tmp_path, published())
    arguments, raw = rows(store, "SELECT arguments, raw FROM actions WHERE turn = 5")[0]
    assert json.loads(arguments) == {"block": "rs", "position": "(0,1)", "layer": 0, "span_to": None}
    assert "block" not in json.loads(raw)


def test_candidates_of_a_question_come_from_replay(store: Store, tmp_path: Path) -> None:
    """Listed candidates are also verified; on a question they are verified and not listed."""
    ingest(store, tmp_path, published())
    found = rows(
        store, "SELECT turn, bool_and(listed), bool_and(verified) FROM oracle_actions WHERE turn IN (1, 3) AND rank = 1 GROUP BY turn"
    )
    assert sorted(found) == [(1, True, True), (3, False, True)]


def test_director_drawn_twice_has_both_messages(store: Store, tmp_path: Path) -> None:
    """The earlier message is superseded, has no reasoning, and the builder was not shown it."""
    ingest(store, tmp_path, published())
    found = rows(store, "SELECT seq, agent, channel, text, superseded, len(audience) FROM utterances WHERE turn = 2 ORDER BY seq")
    assert found == [
        (1, "D2", "public", "words 2a", True, 3),
        (2, "D1", "private", "thoughts of D1", False, 1),
        (3, "D1", "public", "words 2", False, 4),
        (4, "D2", "private", "thoughts of D2", False, 1),
        (5, "D2", "public", "words 2b", False, 4),
        (6, "Builder", "public", "done", False, 4),
    ]


def test_missing_message_is_not_shown_to_the_builder(store: Store, tmp_path: Path) -> None:
    """The stand-in text of a missing message goes into the history that directors read, not to the builder."""
    log = published()
    turn = log["games"][0]["turns"][0]
    turn["director_responses"]["D1"]["public_message"] = "No message provided"
    turn["conversation_snapshot"][1] = "D1: No message provided"
    ingest(store, tmp_path, log)
    found = rows(store, "SELECT audience FROM utterances WHERE turn = 1 AND agent = 'D1' AND channel = 'public'")
    assert found == [(["D1", "D2", "D3"],)]


def test_a_thought_that_is_not_the_raw_answers_and_a_question_that_was_carried_out_are_told(store: Store, tmp_path: Path) -> None:
    """The thought by itself where the message agrees; nothing is carried out on a turn with a question."""
    log = published()
    turns = log["games"][0]["turns"]
    turns[0]["director_responses"]["D1"]["internal_thinking"] = "another"
    turns[2]["move_executed"] = True
    ingest(store, tmp_path, log)
    assert rows(store, "SELECT turn, field, logged, recomputed FROM log_disagreements ORDER BY turn") == [
        (1, "director_responses.D1.internal_thinking", '"another"', '"thoughts of D1"'),
        (3, "move_executed", "true", "false"),
    ]


def test_question_keeps_its_leading_blank(store: Store, tmp_path: Path) -> None:
    """Clarifications are stored verbatim, as action and as utterance."""
    ingest(store, tmp_path, published())
    assert rows(store, "SELECT arguments ->> 'question' FROM actions WHERE verb = 'clarify'") == [(" which one?",)]
    assert rows(store, "SELECT text FROM utterances WHERE turn = 3 AND agent = 'Builder'") == [(" which one?",)]


def test_turn_that_broke_off(store: Store, tmp_path: Path) -> None:
    """An exception ends the game: the turn is there with its error and without a move."""
    log = published()
    turns = log["games"][0]["turns"]
    broken = {key: turns[4][key] for key in ("turn_number", "timestamp", "structure_before", "spans_before", "director_responses")}
    turns[4] = broken | {"error": "Connection error."}
    log["games"][0] |= {
        "final_structure": broken["structure_before"],
        "final_progress": turns[3]["progress_data"]["metrics"]["overall_progress"],
    }
    ingest(store, tmp_path, log)
    assert rows(store, "SELECT error, goal_reached, oracle_available FROM turns WHERE turn = 5") == [("Connection error.", None, None)]
    assert rows(store, "SELECT error FROM episodes") == [("Connection error.",)]
    assert rows(store, "SELECT count(*) FROM actions WHERE turn = 5") == [(0,)]
    assert rows(store, "FROM log_disagreements") == []


def test_game_that_could_not_be_set_up(store: Store, tmp_path: Path) -> None:
    """The short error record is an episode without turns, score and success."""
    log = published()
    log["games"] = [{"structure_id": "structure_005", "error": "bad target", "completed": False, "turns_taken": 0, "final_progress": 0.0}]
    report = ingest(store, tmp_path, log)
    assert report.rejected == []
    found = rows(store, "SELECT task_id, error, turns_taken, success, score, details ->> 'completed' FROM episodes")
    assert found == [("structure_005", "bad target", 0, None, None, "false")]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("folder", "name", "group"),
    [
        ("api/oracle5_no_tools_run3/some-model_other-model", "api/oracle5_no_tools_run3/some-model_other-model", "api"),
        ("local/no_oracle_tools_run3/some-model_other-model,,x", "local/no_oracle_tools_run3/some-model_other-model", "local"),
        ("else/oracle5_no_tools_run3/some-model_other-model", "oracle5_no_tools_run3/some-model_other-model", None),
        ("anything", "oracle5_no_tools_run3/some-model_other-model", None),
    ],
)
def test_run_is_named_by_its_folder_or_its_conditions(store: Store, tmp_path: Path, folder: str, name: str, group: str | None) -> None:
    """Only the folder tells whether a model ran locally."""
    ingest(store, tmp_path, published(), f"{folder}/craft_structure_001_3.json")
    assert rows(store, "SELECT name, condition ->> 'provider_group' FROM runs") == [(name, group)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["spans", "flat", "spans_mirrored", "flat_mirrored"])
def test_view_is_the_one_in_the_prompt(store: Store, tmp_path: Path, kind: ViewKind) -> None:
    """What a director was shown is read out of the prompt, whatever the log states elsewhere."""
    log = published()
    for turn in log["games"][0]["turns"]:
        for director in ("D1", "D2"):
            view = views_json({director: director_view(TARGET, director, kind)})[director]
            turn[f"director_prompt_{director}"] = (
                '### HOW TO INTERPRET YOUR TARGET VIEW\n{"row_0": []}\n'
                f"    ### YOUR TARGET VIEW (what you need)\n    {json.dumps(view)}\n### CONVERSATION SO FAR\n### YOUR TARGET VIEW\n{{}}"
            )
    ingest(store, tmp_path, log)
    found = rows(store, "SELECT agent, view_kind, view_source FROM agents WHERE role = 'director' ORDER BY agent")
    d1 = "flat" if kind.startswith("flat") else "spans"
    assert found[1:] == [("D2", kind, "prompt"), ("D3", found[2][1], "log")]
    assert found[0][1] in {d1, kind}


def test_shortened_prompt_leaves_the_logged_view(store: Store, tmp_path: Path) -> None:
    """A prompt without the view says nothing; a view that is no reading of the target is called so."""
    log = published()
    log["games"][0]["turns"][0]["director_prompt_D1"] = "You are Director D1 [shortened]"
    log["games"][0]["target_director_views"]["D3"] = {"row_0": []}
    ingest(store, tmp_path, log)
    found = rows(store, "SELECT agent, view_kind, view_source FROM agents WHERE role = 'director' ORDER BY agent")
    assert found == [("D1", "spans", "log"), ("D2", "spans", "log"), ("D3", "other", "log")]


def test_blank_in_a_coordinate_makes_a_ghost_cell_and_no_difference(store: Store, tmp_path: Path) -> None:
    """The published engine pushes the block under the key as written; the log is right about its own engine."""
    ingest(store, tmp_path, published((Move("place", "gs", "(0, 0)", 0), Move("place", "gs", "(0,0)", 0))))
    assert rows(store, "SELECT state_before ->> '$.stacks.\"(0, 0)\"' FROM turns WHERE turn = 2") == [('["gs"]',)]
    assert rows(store, "FROM log_disagreements") == []


def test_infinity_in_the_log_is_no_fault(store: Store, tmp_path: Path) -> None:
    """The bare token Infinity, which strict JSON does not know, is kept as text."""
    ingest(store, tmp_path, published())
    assert rows(store, "SELECT details ->> '$.an_odd_number' FROM episodes") == [("Infinity",)]


def turn_of(log: Json, number: int) -> Json:
    found: Json = log["games"][0]["turns"][number - 1]
    return found


DIFFERENCES: dict[str, tuple[int | None, Callable[[Json], object]]] = {
    "structure_before": (2, lambda log: turn_of(log, 2)["structure_before"].update({"(2,2)": ["bs"]})),
    "spans_before": (4, lambda log: turn_of(log, 4)["spans_before"].update({"2": [["(0,0)", "(0,1)"]]})),
    "structure_after": (1, lambda log: turn_of(log, 1)["progress_data"]["structure_snapshot"].update({"(2,2)": ["bs"]})),
    "oracle_moves": (1, lambda log: turn_of(log, 1)["oracle_moves"].reverse()),
    "builder_followed_oracle": (1, lambda log: turn_of(log, 1).update(builder_followed_oracle=False)),
    "move_attempted": (5, lambda log: turn_of(log, 5)["move_attempted"].update(block="gs")),
    "move_executed": (2, lambda log: turn_of(log, 2).update(move_executed=True)),
    "error": (2, lambda log: turn_of(log, 2)["progress_data"].update(error="Stack full at (0,0) (3 blocks already)")),
    "iou_score": (1, lambda log: turn_of(log, 1)["progress_data"]["metrics"].update(iou_score=0.5)),
    "correct_side_placement": (1, lambda log: turn_of(log, 1).update(correct_side_placement=False)),
    "goal_reached": (1, lambda log: turn_of(log, 1).update(target_achieved=True)),
    "final_structure": (None, lambda log: log["games"][0]["final_structure"].update({"(2,2)": ["bs"]})),
    "final_spans": (None, lambda log: log["games"][0].update(final_spans={"0": [["(0,0)", "(0,1)"]]})),
    "final_progress": (None, lambda log: log["games"][0].update(final_progress=0.9)),
    "completed": (None, lambda log: log["games"][0].update(completed=True)),
    "turns_taken": (None, lambda log: log["games"][0].update(turns_taken=4)),
}


def test_whole_log_has_no_differences(store: Store, tmp_path: Path) -> None:
    """Nothing is reported where nothing was changed."""
    ingest(store, tmp_path, published())
    assert rows(store, "FROM log_disagreements") == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize("field", DIFFERENCES)
def test_changed_log_is_told_apart_from_its_replay(store: Store, tmp_path: Path, field: str) -> None:
    """Each fact that replay can check is checked, and named where it differs, on the turn where it differs."""
    log = published()
    turn, change = DIFFERENCES[field]
    change(log)
    ingest(store, tmp_path, log)
    assert (turn, field) in rows(store, "SELECT turn, field FROM log_disagreements")


def test_a_difference_is_not_repeated_on_later_turns(store: Store, tmp_path: Path) -> None:
    """Replay goes on from the logged board."""
    log = published()
    for turn in log["games"][0]["turns"][2:]:
        turn["structure_before"]["(2,2)"] = ["bs"]
        if "progress_data" in turn:
            turn["progress_data"]["structure_snapshot"]["(2,2)"] = ["bs"]
    ingest(store, tmp_path, log)
    assert rows(store, "SELECT turn FROM log_disagreements WHERE field = 'structure_before'") == [(3,)]


def test_malformed_turn_costs_itself_and_what_follows(store: Store, tmp_path: Path) -> None:
    """The game is kept up to the turn before; the reject says where, why and how much is lost."""
    log = published()
    turn_of(log, 4)["move_attempted"]["layer"] = "zero"
    report = ingest(store, tmp_path, log)
    assert (report.ingested, report.turns) == (1, 3)
    (reject,) = report.rejected
    assert reject.locator == "games[0].turns[3].move_attempted.layer"
    assert "valid integer" in reject.reason
    assert "2 of 5 turns are lost" in reject.reason
    assert rows(store, "SELECT turns_taken, details ->> 'turns_lost' FROM episodes") == [(3, "2")]
    assert rows(store, "SELECT turn, field FROM log_disagreements") == []


def test_bad_game_leaves_the_others(store: Store, tmp_path: Path) -> None:
    """Games of one file stand and fall alone."""
    log = published()
    log["games"] = [{"structure_id": 5}, *log["games"], "no game"]
    report = ingest(store, tmp_path, log)
    assert report.episodes == 1
    assert [reject.locator for reject in report.rejected] == ["games[0].structure_id", "games[2]"]


def test_unknown_fields_are_named(store: Store, tmp_path: Path) -> None:
    """Fields of a game are kept; fields of turns are counted, since turns have no place for them."""
    log = published(mood="sunny")
    log["games"][0]["weather"] = {"rain": 1}
    turn_of(log, 2)["tool_calls"] = []
    ingest(store, tmp_path, log)
    (details,) = rows(store, "SELECT details FROM episodes")[0]
    found = json.loads(details)
    assert (found["mood"], found["weather"], found["unknown_turn_fields"]) == ("sunny", {"rain": 1}, {"tool_calls": 1})


def test_contradictory_target_does_not_hang(store: Store, tmp_path: Path) -> None:
    """A span record over a small block makes verified moves go in circles; the ceiling is worked out all the same."""
    log = published()
    log["games"][0]["target_spans"] = {"0": [["(1,0)", "(0,0)"]], "1": []}
    assert ingest(store, tmp_path, log).episodes == 1
