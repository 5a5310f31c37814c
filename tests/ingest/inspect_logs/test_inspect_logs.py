"""Inspect's logs: every sample, epoch, message, score and error goes in, sub-agents' words too, and what is missing is told."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Mapping
from copy import copy
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analytics.installation import ensure_installed
from tests.ingest.asked import Ingested, ingested

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

# importing Inspect takes seconds, which each process that collects tests would spend
pytestmark = pytest.mark.skipif(not find_spec("inspect_ai"), reason="the extra [inspect] is not installed")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a log of a team and one with failures."""
    from tests.ingest.inspect_logs.played import broken_log, team_log

    folder = tmp_path_factory.mktemp("inspect")
    team_log(folder)
    broken_log(folder)
    return folder


@pytest.fixture(scope="module")
def read(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    """The store of both."""
    return ingested(tmp_path_factory.mktemp("store"), logs)


def whole(folder: Path, name: str) -> EvalLog:
    from inspect_ai.log import read_eval_log

    (path,) = folder.glob(f"*_{name}_*.eval")
    return read_eval_log(str(path), resolve_attachments=True)


def test_every_sample_and_epoch_is_a_game_and_every_message_a_turn(read: Ingested, logs: Path) -> None:
    """As many games as samples, ids with slashes included; each message of a sample stands in its game, in order."""
    samples = [sample for name in ("doors", "kitchen") for sample in whole(logs, name).samples or []]
    assert read.refused == []
    assert read.report.episodes == len(samples) == 4
    for sample in samples:
        said = read.rows(
            f"SELECT text FROM utterances JOIN episodes USING (episode_id) WHERE task_id = '{sample.id}' AND seed = {sample.epoch} "
            "AND channel = 'public' ORDER BY turn"
        )
        texts = iter(text for (text,) in said)
        for message in sample.messages:
            assert any(text.startswith(message.text) for text in texts), message.text


def test_what_only_a_sub_agent_was_told_stands_where_it_came_up_and_says_who_read_it(read: Ingested) -> None:
    """The helper's prompt, its calls and their results are in no message of the sample; nothing is taken twice."""
    said = read.rows(
        "SELECT agent, audience, left(text, 13) FROM utterances JOIN episodes USING (episode_id) "
        "WHERE task_id = 'doors/1' AND seed = 1 AND channel = 'public' ORDER BY turn"
    )
    assert [(agent, text) for agent, _, text in said][2:11] == [
        ("leader", "tool call for"),
        ("system", "You try doors"),
        ("user", "Which door?"),
        ("helper", "tool call for"),
        ("tool", "the left door"),
        ("helper", "tool call for"),
        ("tool", "the right doo"),
        ("helper", "tool call for"),
        ("tool", "tool call for"),
    ]
    assert [sorted(audience) for _, audience, _ in said][3] == ["helper", "system"]
    assert len(said) == 14


def test_tools_thoughts_attachments_and_media_arrive(read: Ingested) -> None:
    """A tool's error stands at its call; reasoning is private; a long text is whole again; an image is told, its data left out."""
    from tests.ingest.inspect_logs.played import LONG

    actions = read.rows("SELECT DISTINCT verb, arguments ->> 'side', accepted, error_text FROM actions WHERE verb = 'door' ORDER BY 2")
    assert actions == [("door", "left", False, "the left door is locked"), ("door", "right", True, None)]
    assert read.rows("SELECT DISTINCT agent, text FROM utterances WHERE channel = 'private'") == [("leader", "I trust the helper.")]
    ((asked,),) = read.rows("SELECT DISTINCT text FROM utterances WHERE agent = 'user' AND text LIKE 'A long rule%'")
    assert asked.startswith(LONG)
    assert asked.removeprefix(LONG).startswith("\n[image: data:image/png")
    assert len(asked) < len(LONG) + 200


def test_scores_of_all_scorers_go_in_and_the_first_one_decides(read: Ingested) -> None:
    """A grade is success and score; an object gives a number a key."""
    assert read.rows("SELECT DISTINCT success, score FROM episodes WHERE task_id = 'doors/1'") == [(True, 1.0)]
    metrics = read.rows("SELECT DISTINCT metric, value FROM episode_metrics JOIN episodes USING (episode_id) WHERE task_id = 'doors/1'")
    assert sorted(metrics) == [("inspect.aspects.polite", 0.5), ("inspect.aspects.turns", 7.0), ("inspect.grade", 1.0)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("values", "known"), [((1, 7.0), {None}), ((1, 0.0), {True, False}), (("C", "I"), {True, False}), (("C", "P"), {True, False})]
)
def test_a_number_is_a_grade_only_where_all_are_0_or_1(
    logs: Path, tmp_path: Path, values: tuple[float | str, ...], known: set[object]
) -> None:
    """One point of ten is no success."""
    from inspect_ai.log import write_eval_log
    from inspect_ai.scorer import Score

    log = whole(logs, "doors")
    assert log.samples is not None
    for sample, value in zip(log.samples, values, strict=True):
        sample.scores = {"points": Score(value=value)}
    write_eval_log(log, str(tmp_path / "points.json"))
    assert {success for (success,) in ingested(tmp_path, tmp_path / "points.json").rows("SELECT success FROM episodes")} == known


@pytest.mark.usefixtures("with_views")
def test_a_sample_that_two_logs_hold_counts_once(logs: Path, tmp_path: Path) -> None:
    """A log and the same as JSON: both are in the store, and no rate counts a sample twice."""
    from inspect_ai.log import write_eval_log

    log = whole(logs, "doors")
    for name in ("doors.eval", "doors.json"):
        write_eval_log(log, str(tmp_path / name))
    found = ingested(tmp_path, tmp_path / "doors.eval", tmp_path / "doors.json")
    ensure_installed(found.store)
    samples = len(log.samples or [])
    assert found.rows("SELECT count(*) FROM episodes") == [(2 * samples,)]
    assert found.rows("SELECT sum(games)::int FROM leaderboard") == [(samples,)]
    assert found.rows("SELECT count(*) FROM games") == [(samples,)]


def test_errors_limits_and_calls_are_told(read: Ingested) -> None:
    """A sample that failed has its error and no outcome; requests to models have their tokens, cached and reasoning ones apart."""
    games = read.rows("SELECT task_id, success, error, stop_reason FROM episodes WHERE task_id IN ('1', '2') ORDER BY 1")
    assert games[0] == ("1", None, "ValueError('the kitchen is on fire')", "error")
    assert games[1][:3] == ("2", True, None)
    calls = read.rows("SELECT DISTINCT model, served_model, tokens_in, tokens_out, tokens_cached, tokens_reasoning, purpose FROM calls")
    assert calls == [("mockllm/model", "mock/m", 103, 7, 3, 2, "player")]
    assert read.rows("SELECT count(*) FROM calls") == [(2 * 6 + 2,)]


def test_twice_changes_nothing(read: Ingested, logs: Path) -> None:
    """The same folder again."""
    before = read.rows("SELECT count(*), sum(turns_taken) FROM episodes")
    again = ingested(read.store.path.parent, logs)
    assert (again.report.unchanged, again.report.episodes) == (2, 0)
    assert again.rows("SELECT count(*), sum(turns_taken) FROM episodes") == before


def test_a_log_of_a_run_that_broke_off_gives_what_it_holds_and_tells_the_rest(logs: Path, tmp_path: Path) -> None:
    """No header, one sample damaged, one listed and missing: the others go in."""
    (path,) = logs.glob("*_doors_*.eval")
    (kitchen,) = logs.glob("*_kitchen_*.eval")
    broken = tmp_path / "broken.eval"
    with zipfile.ZipFile(path) as whole_log, zipfile.ZipFile(kitchen) as other, zipfile.ZipFile(broken, "w") as cut:
        cut.writestr("_journal/start.json", whole_log.read("_journal/start.json"))
        names = sorted(name for name in whole_log.namelist() if name.startswith("samples/"))
        cut.writestr(names[0], whole_log.read(names[0]))
        cut.writestr(names[1], whole_log.read(names[1])[:500])
        cut.writestr("_journal/summaries/1.json", other.read("summaries.json"))
    found = ingested(tmp_path, broken)
    assert found.report.episodes == 1
    assert sorted(reason.split(": ")[0] for reason in found.refused) == ["samples/1_epoch_1.json", "samples/2_epoch_1.json", names[1]]
    assert sum("not in the log" in reason for reason in found.refused) == 2


def test_json_and_eval_of_one_evaluation_give_the_same_games(logs: Path, tmp_path: Path, read: Ingested) -> None:
    """The two ways of writing a log."""
    from inspect_ai.log import read_eval_log, write_eval_log

    (path,) = logs.glob("*_doors_*.eval")
    write_eval_log(read_eval_log(str(path)), str(tmp_path / "doors.json"))
    found = ingested(tmp_path, tmp_path / "doors.json")
    words = (
        "SELECT seed, turn, agent, channel, text FROM utterances JOIN episodes USING (episode_id) WHERE task_id = 'doors/1' ORDER BY ALL"
    )
    assert found.rows(words) == read.rows(words)


@pytest.mark.parametrize(
    ("cut", "reason"),
    [pytest.param(lambda data: data[:-400], "zip is not whole", id="zip"), pytest.param(None, "without samples", id="bare")],
)
def test_bad_logs_are_one_line(logs: Path, tmp_path: Path, cut: object, reason: str) -> None:
    """A zip that was cut, and a log that was written without samples."""
    from inspect_ai.log import read_eval_log

    (path,) = logs.glob("*_kitchen_*.eval")
    if callable(cut):
        (tmp_path / "bad.eval").write_bytes(cut(path.read_bytes()))
    else:
        log = json.loads(read_eval_log(str(path), header_only=True).model_dump_json(exclude_none=True))
        (tmp_path / "bad.json").write_text(json.dumps(log), encoding="utf-8")
    found = ingested(tmp_path, *tmp_path.glob("bad.*"))
    assert len(found.refused) == 1
    assert reason in found.refused[0]


def test_a_log_that_unpacks_to_more_than_any_log_has_is_refused_with_the_limit(logs: Path, tmp_path: Path) -> None:
    """One part too large costs itself alone; too much in all costs the log. Nothing of it is unpacked: the directory states the sizes."""
    (path,) = logs.glob("*_kitchen_*.eval")
    for name, size, times in (("part", 140 * 2**20, 1), ("all", 100 * 2**20, 21)):
        shutil.copy(path, tmp_path / f"{name}.eval")
        with zipfile.ZipFile(tmp_path / f"{name}.eval", "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            first = zipfile.ZipInfo("samples/bomb_1_epoch_1.json")
            archive.writestr(first, b'{"id": "b", "epoch": 1, "input": "A"}', zipfile.ZIP_DEFLATED)
            archive.getinfo(first.filename).file_size = size
            for number in range(2, times + 1):  # further entries of the directory for the same bytes
                again = copy(archive.getinfo(first.filename))
                again.filename = f"samples/bomb_{number}_epoch_1.json"
                archive.filelist.append(again)
                archive.NameToInfo[again.filename] = again
    part = ingested(tmp_path, tmp_path / "part.eval")
    assert len(part.refused) == 1
    assert "unpacks to 140 MiB, and no more than 128 MiB of one part" in part.refused[0]
    assert part.report.episodes > 0
    (tmp_path / "other").mkdir()
    whole = ingested(tmp_path / "other", tmp_path / "all.eval")
    assert len(whole.refused) == 1
    assert "no more than 2048 MiB are read" in whole.refused[0]
    assert whole.report.episodes == 0


@pytest.mark.usefixtures("with_views")
@pytest.mark.shared
def test_published_logs_arrive_whole(shared: Path, tmp_path: Path) -> None:
    """Samples and messages as counted there; the newer compression too."""
    found = ingested(tmp_path, shared / "data/interop")
    counts = dict(found.rows("SELECT file, [count(*), sum(turns_taken)::bigint] FROM episodes GROUP BY file"))
    assert counts == {
        "inspect_logs/popularity.eval": [100, 300],
        "inspect_logs/websearch_addition.eval": [1, 2],
        "inspect_logs/log_read_sample.eval": [1, 3],
        "inspect_logs/log_read_sample.json": [1, 3],
        "inspect_logs/log_tool_call_error.json": [1, 11],
        "inspect_logs/input_task.json": [1, 3],
        "inspect_two_games.eval": [2, 12],
        "inspect_two_games.json": [2, 12],
        "scout_two_games.parquet": [2, 12],
    }
    assert found.refused == []
    ensure_installed(found.store)
    rate = found.rows("SELECT successes, n FROM leaderboard WHERE condition = 'popularity' AND model = 'openai/gpt-4o-mini'")
    assert rate == [(63, 100)]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"samples": 0.5}, id="samples"),
        pytest.param({"reductions": [], "results": [1]}, id="results of an older log"),
        pytest.param({"results": 7.0, "reductions": []}, id="a number for results"),
    ],
)
def test_damage_that_the_library_trips_over_is_one_line(logs: Path, tmp_path: Path, change: dict[str, object]) -> None:
    """What mends older logs there expects sound ones."""
    from inspect_ai.log import read_eval_log

    (path,) = logs.glob("*_kitchen_*.eval")
    log = json.loads(read_eval_log(str(path)).model_dump_json(exclude_none=True)) | change
    (tmp_path / "bad.json").write_text(json.dumps(log), encoding="utf-8")
    (reason,) = ingested(tmp_path, tmp_path / "bad.json").refused
    assert "the log is damaged, copy it again" in reason


def test_events_inside_of_a_tools_may_be_objects_of_json_and_one_bad_event_costs_no_other(tmp_path: Path) -> None:
    """As older logs have them: a sandbox's says nothing, a request is read with its messages, at any depth; a damaged one costs none."""
    moment = "2025-03-05T10:00:01+00:00"
    answered = {"model": "m", "choices": [{"message": {"role": "assistant", "content": "sub answer"}, "stop_reason": "stop"}]}
    request = {
        "timestamp": moment,
        "event": "model",
        "model": "mock/m",
        "input": [{"role": "user", "content": "sub question"}],
        "tools": [],
        "tool_choice": "auto",
        "config": {},
        "output": answered,
    }
    short = {key: value for key, value in request.items() if key not in {"tools", "tool_choice", "config"}}
    sandbox = {"timestamp": moment, "event": "sandbox", "action": "exec", "cmd": "ls", "result": 0, "output": "a.txt"}

    def tool(*inside: Mapping[str, object]) -> dict[str, object]:
        call = {"timestamp": moment, "event": "tool", "type": "function", "id": "c1", "function": "bash", "arguments": {"cmd": "ls"}}
        return {**call, "result": "a.txt", "events": list(inside)}

    def sample(name: str, *events: Mapping[str, object]) -> dict[str, object]:
        messages = [
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}, "type": "function"}],
            },
            {"role": "tool", "content": "a.txt", "tool_call_id": "c1", "function": "bash"},
        ]
        return {"id": name, "epoch": 1, "input": "x", "target": "a.txt", "messages": messages, "scores": {}, "events": list(events)}

    log = {
        "version": 2,
        "status": "success",
        "eval": {"task": "t", "task_id": "T", "run_id": "R", "created": moment, "dataset": {}, "model": "mock/m", "config": {}},
        "samples": [
            sample("plain", tool(sandbox)),
            sample("deep", tool(tool(request), sandbox)),
            sample("bad", tool({**request, "input": 7}, {"event": "model"}, {"event": "tool", "events": [short]})),
            sample("after", tool(sandbox, {"event": "made up"})),
        ],
    }
    (tmp_path / "log.json").write_text(json.dumps(log), encoding="utf-8")
    found = ingested(tmp_path, tmp_path / "log.json")
    assert found.rows("SELECT task_id, turns_taken FROM episodes ORDER BY task_id") == [("after", 2), ("bad", 4), ("deep", 4), ("plain", 2)]
    assert [reason.partition(" (")[0] for reason in found.refused] == ["bad: Inspect does not read a model event inside of a tool's"] * 2
    assert found.rows("SELECT text FROM utterances WHERE text LIKE 'sub%' ORDER BY turn") == [
        *(("sub question",), ("sub question",)),
        *(("sub answer",), ("sub answer",)),
    ]
    assert found.rows("SELECT agent, tokens_in, tokens_out FROM calls") == [("assistant", None, None)] * 2
    assert found.rows("SELECT DISTINCT verb, arguments ->> 'cmd', accepted FROM actions") == [("bash", "ls", True)]
    assert found.rows("SELECT count(*) FROM utterances WHERE text = ''") == [(0,)]
