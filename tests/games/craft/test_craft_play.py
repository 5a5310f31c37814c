"""Playing CRAFT experiments: the files, their format, the same bytes from the same seed, going on after a cut."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from games.craft.engine.board import Board
from games.craft.engine.rules import DEFAULT_SAMPLE, sample
from games.craft.game import replay
from games.craft.measures import followed_action_position_layer, progress
from games.craft.players.builders import BUILDERS
from games.craft.players.directors import PERSONAS
from games.craft.targets import START_BOARDS, StartBoard, generate_structures, start_board
from games.craft.text.replies import NO_MESSAGE, ParsedMove, read_answer
from schemas.common.errors import UsageError
from tests.scripted import CraftRequest as PlayRequest
from tests.scripted import play

Line = dict[str, Any]

HEADER = {
    "cotrace_log": int,
    "benchmark": str,
    "episode": str,
    "run": dict,
    "task": dict,
    "team": dict,
    "agents": list,
    "model": str,
    "seed": int,
    "max_turns": int,
    "started_at": str,
    "details": dict,
}
TURN = {
    "turn": int,
    "at": str,
    "state_before": dict,
    "utterances": list,
    "oracle": (list, type(None)),
    "oracle_followed": (bool, type(None)),
    "actions": list,
    "state_after": dict,
    "goal_reached": bool,
    "error": type(None),
    "labels": list,
    "samples": type(None),
    "progress": type(None),
    "failures": list,
    "metrics": dict,
    "calls": list,
    "replies": list,
}
END = {"success": bool, "score": float, "stop_reason": str, "turns_taken": int, "error": type(None), "metrics": dict, "survey": list}
UTTERANCE = {"agent": str, "channel": str, "audience": list, "text": str, "superseded": bool, "claims": (list, type(None))}
ACTION = {
    "agent": str,
    "verb": str,
    "arguments": dict,
    "raw": str,
    "accepted": (bool, type(None)),
    "error_code": (str, type(None)),
    "error_text": (str, type(None)),
    "undoes": bool,
    "read": (str, type(None)),
    "used": (str, type(None)),
}
LABEL = {"rubric": str, "question": str, "agent": (str, type(None)), "answer": str, "basis": str, "planted": str}
RUBRICS = {"SG": "spatial_grounding", "MM": "mind_modeling", "PS": "pragmatic_sufficiency"}


def lines_of(path: Path) -> list[Line]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def small_request(out: Path, **changes: Any) -> PlayRequest:
    settings: dict[str, Any] = {"personas": ("mixed",), "builders": ("sloppy",), "structures": 2, "turns": 6, "processes": 1} | changes
    return PlayRequest(out=out, **settings)


def assert_shape(found: Line, shape: dict[str, Any]) -> None:
    assert list(found) == list(shape)
    wrong = {key: found[key] for key, kind in shape.items() if not isinstance(found[key], kind)}
    assert not wrong


@pytest.fixture(
    scope="module", params=[("sloppy", "clarifier"), pytest.param(tuple(BUILDERS), marks=pytest.mark.long)], ids=["some", "all"]
)
def experiment(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[list[Line]]:
    """Every persona with these builders on one target, with candidates."""
    out = tmp_path_factory.mktemp("experiment")
    report = play(PlayRequest(out=out, personas=tuple(PERSONAS), builders=request.param, structures=1, processes=1))
    return [lines_of(path) for path in report.paths]


def test_files_are_named_by_team_structure_and_seed(tmp_path: Path) -> None:
    """A game lies where its team, target and seed say."""
    report = play(small_request(tmp_path, personas=("clear", "clear+vague+mixed"), seed=8))
    names = [str(path.relative_to(tmp_path)) for path in report.paths]
    assert names == [
        "clear_sloppy/structure_001_8.jsonl",
        "clear+vague+mixed_sloppy/structure_001_8.jsonl",
        "clear_sloppy/structure_002_8.jsonl",
        "clear+vague+mixed_sloppy/structure_002_8.jsonl",
    ]
    assert (report.played, report.stored) == (4, 0)
    assert report.turns == sum(len(lines_of(path)) - 2 for path in report.paths)


def test_same_request_gives_same_bytes(tmp_path: Path) -> None:
    """Two folders of the same request are equal byte by byte, whatever the number of processes; another seed differs."""
    here = play(small_request(tmp_path / "a", structures=70, turns=2))
    there = play(small_request(tmp_path / "b", structures=70, turns=2, processes=2))
    other = play(small_request(tmp_path / "c", structures=1, turns=2, seed=4))
    assert [path.read_bytes() for path in here.paths] == [path.read_bytes() for path in there.paths]
    assert here.paths[0].read_bytes() != other.paths[0].read_bytes()


def test_every_line_keeps_to_the_format(experiment: list[list[Line]]) -> None:
    """Each line has the documented fields in order, with values of the documented types."""
    for header, *turns, end in experiment:
        assert_shape(header, HEADER)
        assert header["cotrace_log"] == 1
        assert_shape(end["end"], END)
        assert end["end"]["turns_taken"] == len(turns)
        assert [turn["turn"] for turn in turns] == list(range(1, len(turns) + 1))
        for turn in turns:
            assert_shape(turn, TURN)
            for key, shape in (("utterances", UTTERANCE), ("actions", ACTION), ("labels", LABEL)):
                for entry in turn[key]:
                    assert_shape(entry, shape)


def test_private_text_is_for_its_author_only(experiment: list[list[Line]]) -> None:
    """Reasoning has its author as its whole audience, messages are for all four, the stand-in for a missing one for directors."""
    for _, *turns, _ in experiment:
        for said in (said for turn in turns for said in turn["utterances"]):
            everybody = ["D1", "D2", "D3", *([] if said["text"] == NO_MESSAGE else ["Builder"])]
            assert said["audience"] == ([said["agent"]] if said["channel"] == "private" else everybody)


def test_labels_have_the_names_of_rubrics_and_one_answer_a_question(experiment: list[list[Line]]) -> None:
    """A question is answered once a turn and agent, group questions without agent, by agents that spoke."""
    for _, *turns, _ in experiment:
        for turn in turns:
            labels = turn["labels"]
            keys = [(label["question"], label["agent"]) for label in labels]
            assert len(set(keys)) == len(keys)
            speakers = {said["agent"] for said in turn["utterances"]}
            for label in labels:
                assert label["rubric"] == RUBRICS[label["question"][:2]]
                assert label["answer"] in {"Yes", "No", "N/A"}
                assert (label["agent"] is None) == label["question"].startswith("PS")
                assert label["agent"] is None or label["agent"] in speakers


def test_every_question_but_mm3_is_answered_both_ways(experiment: list[list[Line]]) -> None:
    """The personas together determine Yes and No of every question that can be determined."""
    found = {(label["question"], label["answer"]) for game in experiment for turn in game[1:-1] for label in turn["labels"]}
    numbered = [f"SG{n}" for n in range(1, 8)] + [f"MM{n}" for n in (1, 2, 4, 5, 6, 7, 8)] + [f"PS{n}" for n in range(1, 7)]
    assert {(question, answer) for question in numbered for answer in ("Yes", "No")} <= found
    assert "MM3" not in {question for question, _ in found}


def test_log_replays_to_its_own_states(experiment: list[list[Line]]) -> None:
    """The engine, fed with the raw lines, reaches every logged state, answer and candidate list."""
    for header, *turns, end in experiment:
        goal = header["task"]["goal"]
        target = Board.from_json(goal["stacks"], goal["spans"])
        parsed = [read_answer(turn["actions"][0]["raw"]) for turn in turns]
        moves = [answer.move if isinstance(answer, ParsedMove) else None for answer in parsed]
        for turn, again in zip(turns, replay(Board(), target, moves), strict=True):
            action = turn["actions"][0]
            after = {"stacks": again.board_after.structure_json(ghosts=True), "spans": again.board_after.spans_json()}
            assert turn["state_after"] == after
            assert action["error_text"] == (again.error.message if again.error else None)
            shown = sample(again.candidates, DEFAULT_SAMPLE, again.turn)
            followed = followed_action_position_layer(shown, again.attempted) if shown and again.attempted else None
            assert turn["oracle_followed"] == followed
            logged = [move.to_log() for move in shown]
            listed = [{"verb": verb, "arguments": move, "undoes": verb == "remove"} for move in logged for verb in [move.pop("action")]]
            assert turn["oracle"] == listed
            assert (action["verb"] in ("clarify", "unreadable")) == (again.attempted is None)
        assert end["end"]["score"] == pytest.approx(progress(again.board_after, target).overall_progress)


def test_states_are_chained(experiment: list[list[Line]]) -> None:
    """A turn begins where the one before ended."""
    for _, *turns, _ in experiment:
        assert all(first["state_after"] == second["state_before"] for first, second in pairwise(turns))


def test_without_oracle_nothing_is_listed(tmp_path: Path) -> None:
    """In the no-oracle condition the list is null, not empty, and nothing was followed."""
    report = play(small_request(tmp_path, oracle=False))
    for header, *turns, _ in map(lines_of, report.paths):
        assert header["run"]["condition"]["use_oracle"] is False
        assert header["run"]["name"] == "mixed_sloppy"
        assert {(turn["oracle"], turn["oracle_followed"]) for turn in turns} == {(None, None)}


@pytest.mark.parametrize("start", START_BOARDS)
def test_start_boards(tmp_path: Path, start: StartBoard) -> None:
    """A game begins with the board asked for."""
    report = play(small_request(tmp_path, start=start, structures=1, personas=("clear", "over_remover")))
    for header, first, *_ in map(lines_of, report.paths):
        goal = header["task"]["goal"]
        expected = start_board(Board.from_json(goal["stacks"], goal["spans"]), start)
        assert first["state_before"] == {"stacks": expected.structure_json(), "spans": {}}


def test_structures_come_from_the_seed_or_from_a_file(tmp_path: Path) -> None:
    """Targets are generated from the seed; a structure file replaces them."""
    structures = list(generate_structures(3, seed=50))
    file = tmp_path / "structures.json"
    file.write_text(json.dumps([structure.to_json() for structure in structures]))
    generated = play(small_request(tmp_path / "a", seed=50, structures=2)).paths
    loaded = play(small_request(tmp_path / "b", structures_file=file, structures=3)).paths
    goals = [lines_of(path)[0]["task"]["goal"]["stacks"] for path in (*generated, *loaded)]
    assert goals == [structures[number].target.structure_json() for number in (0, 1, 0, 1, 2)]


def test_finished_games_are_kept_and_cut_ones_played_again(tmp_path: Path) -> None:
    """A second run touches only the log that lost its end, and mends it to the same bytes."""
    request = small_request(tmp_path)
    first, second = play(request).paths
    whole, kept = first.read_bytes(), second.stat().st_mtime_ns
    first.write_bytes(whole[: len(whole) * 2 // 3])
    report = play(request)
    assert (report.played, report.stored) == (1, 1)
    assert first.read_bytes() == whole
    assert second.stat().st_mtime_ns == kept


def test_a_game_cut_anywhere_is_a_readable_prefix_and_mended(tmp_path: Path) -> None:
    """Whole lines before a cut are the game's lines, and playing again mends a cut at any byte."""
    request = small_request(tmp_path, structures=1, turns=1)
    (path,) = play(request).paths
    whole = path.read_bytes()
    for size in (0, 1, whole.index(b"\n"), whole.index(b"\n") + 1, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        complete = whole[:size].split(b"\n")[:-1]
        assert [json.loads(line) for line in complete] == lines_of_bytes(whole)[: len(complete)]
        assert play(request).played == 1
        assert path.read_bytes() == whole


def lines_of_bytes(content: bytes) -> list[Line]:
    return [json.loads(line) for line in content.splitlines()]


def test_a_log_of_another_game_is_not_overwritten(tmp_path: Path) -> None:
    """Other settings under the same name are refused with the file's name."""
    play(small_request(tmp_path))
    with pytest.raises(UsageError, match=r"structure_001_3\.jsonl holds another game"):
        play(small_request(tmp_path, turns=7))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"personas": ("clever",)}, "directors=script:clever: no script of that name for a director: did you mean clear"),
        ({"personas": ("clear+vague",)}, "names 2 scripts for 3 agents"),
        (
            {"builders": ("lazy",)},
            "script:lazy: no script of that name for a builder: there are plain, simulating, oracle_follower",
        ),
        ({"structures": 0}, "generate is 0: input should be greater than or equal to 1"),
        ({"turns": 0}, "turns is 0: input should be greater than or equal to 1"),
    ],
)
def test_wrong_requests_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    """What cannot be played is said before anything is written."""
    with pytest.raises(UsageError, match=message):
        play(small_request(tmp_path, **changes))
    assert not list(tmp_path.rglob("*.jsonl"))


def test_progress_is_reported_game_by_game(tmp_path: Path) -> None:
    """The callback counts up to the number of games."""
    seen: list[tuple[int, int]] = []
    play(small_request(tmp_path, structures=3), lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.shared
def test_published_structures_can_be_played(tmp_path: Path, shared: Path) -> None:
    """The 20 published targets are played under their own names and tiers."""
    file = shared / "data" / "craft" / "structures_dataset_20.json"
    report = play(small_request(tmp_path, structures_file=file, structures=20, turns=1))
    tasks = [lines_of(path)[0]["task"] for path in report.paths]
    published = json.loads(file.read_bytes())
    assert [(task["id"], task["level"], task["goal"]["stacks"]) for task in tasks] == [
        (entry["id"], entry["complexity"], entry["structure"]) for entry in published
    ]
