"""Small sound files beyond the families' logs: of other programs, of labels, and those that a log is read with, damaged beside it."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import polars as pl

from games.overcooked.engine.own_kitchen import read_kitchen
from games.overcooked.engine.tasks import task_of
from tests.fuzz.specimens import ReadAs, Specimen, shared_specimens
from tests.ingest.asympuzl.asympuzl_logs import log_of
from tests.ingest.asympuzl.test_asympuzl_ingest import SOLVED
from tests.ingest.chat_lines import test_chat_lines as chat
from tests.ingest.clembench import test_clembench as clembench
from tests.ingest.coordination.coordination_logs import PlayRequest
from tests.ingest.coordination.coordination_logs import play as play_coordination
from tests.ingest.mast import test_mast as mast
from tests.ingest.otel import test_otel as otel
from tests.ingest.overcooked.overcooked_logs import play_order
from tests.ingest.parquet import test_parquet as parquet
from tests.ingest.whoandwhen import test_whoandwhen as whoandwhen
from tests.places import SHARED
from tests.servers.seats.overcooked import KITCHEN


def _lines(*rows: Any) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _parquet(*rows: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    pl.DataFrame(list(rows)).write_parquet(out)
    return out.getvalue()


def _hanabi(policy: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        play_coordination(PlayRequest(game="hanabi", out=Path(folder), policies=(policy,), seeds=(1,)))
        (log,) = Path(folder).rglob("*.jsonl")
        return log.read_bytes()


@cache
def _inspect() -> Mapping[str, bytes]:
    """A team with a helper, tools, thoughts and parts as an archive; samples that fail and stop as JSON."""
    from inspect_ai.log import read_eval_log, write_eval_log

    from tests.ingest.inspect_logs.played import broken_log, team_log

    with tempfile.TemporaryDirectory() as folder:
        team_log(Path(folder))
        broken_log(Path(folder))
        (doors,), (kitchen,) = (list(Path(folder).glob(f"*_{name}_*.eval")) for name in ("doors", "kitchen"))
        as_json = Path(folder) / "kitchen.json"
        write_eval_log(read_eval_log(str(kitchen)), str(as_json))
        return {"doors.eval": doors.read_bytes(), "kitchen.json": as_json.read_bytes()}


_CALL: Final = {"id": "c", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
_CHAT: Final = {
    "id": "x",
    "score": 1,
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "1+1?"}, {"type": "image_url", "image_url": {"url": "http://x/y.png"}}]},
        {"role": "assistant", "content": None, "tool_calls": [_CALL], "reasoning_content": "I add."},
        {"role": "tool", "tool_call_id": "c", "content": "2"},
        {"role": "assistant", "name": "adder", "content": "2"},
    ],
}
_TALK: Final = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
_SCORES: Final = {"turn scores": {"0": {"Accuracy": 1}}, "episode scores": {"Success": 1, "Lose": 0, "Aborted": 0, "Main Score": 50}}
_TRANSCRIPT: Final = {
    "transcript_id": "a",
    "source_type": "eval_log",
    "date": "2026-01-02T03:04:05+00:00",
    "task_set": "tasks",
    "task_id": "7",
    "task_repeat": 2,
    "agent": "team",
    "model": "m/x",
    "score": '{"polite": 0.5}',
    "success": True,
    "total_tokens": 12,
    "limit": "token",
    "messages": json.dumps(parquet.MESSAGES),
    "events": "[]",
}
_MESSAGES_MAP: Final = "conversation: {id: game}\nmessage: {speaker: by, text: text, order: at, time: when}\noutcome: {score: points}\n"
_MESSAGES: Final = (
    {"game": 1, "by": "a", "text": "second", "at": 10, "when": "2026-01-02T03:04:05Z"},
    {"game": 2, "by": "b", "text": "only", "at": 1},
    {"game": 1, "by": "b", "text": "first", "at": 9, "points": 0.5},
)
_ANNOTATED: Final = {
    "mas_name": "AG2",
    "benchmark_name": "GSM",
    "trace_id": 7,
    "round": "Round 1",
    "trace": mast.AG2,
    "annotations": [
        {"failure mode": "2.4 Step repetition", "annotator_1": True, "annotator_2": False},
        {"failure mode": "1.5 Poor task constraint compliance", "annotator_1": True},
    ],
}
_OLDER_SPANS: Final = [otel.span(index, "chat") | {"events": events} for index, events in enumerate(otel.BEFORE_1_37.values())]
_LABEL: Final = {"rubric": "r", "question": "Q1", "annotator": "a", "unit_key": "game-0/3/D2", "answer": "often", "score": 0.75}
_OWN_LABELS: Final = """\
rubric,question,annotator,unit_key,episode_id,turn,agent,answer,score
mind_modeling,MM1,ann,,game-0,1,D1,Yes,
mind_modeling,MM2,ann,game-1/2/D2,,,,N/A,
own,Q1,bob,,game-1,2,,often,0.75
own,Q1,bob,,gone,2,,unclear,
"""
_PLANTED: Final = """\
model,builder,structure_id,run,turn,director,judge,question,truth,basis,planted_defect
vague,scripted-builder,structure_001,3,1,D1,SG,SG7,Yes,construction,vague_location
vague,scripted-builder,structure_001,3,1,GROUP,MM,MM2,No,construction,vague_location
"""
_VALIDATION: Final = """\
Key,Judge,Question,Index,User,UserType,Response,ResponseScore
m-1_structure_015_3,MM,MM1,0,m-1,llm,No,0
m-1_structure_015_3,PS,PS6,1,ann,human,N/A,
"""

_LOGS: Final[Mapping[str, tuple[str, Callable[[], bytes]]]] = {
    "asympuzl, record": ("asympuzl.jsonl", lambda: _lines(*log_of(SOLVED))),
    "coordination, hanabi, own log": ("hanabi/bomber_s1.jsonl", lambda: _hanabi("bomber")),
    "inspect, archive": ("doors.eval", lambda: _inspect()["doors.eval"]),
    "inspect, JSON": ("kitchen.json", lambda: _inspect()["kitchen.json"]),
    "parquet, Scout's transcripts": ("transcripts.parquet", lambda: _parquet(_TRANSCRIPT, _TRANSCRIPT | {"transcript_id": "b"})),
    "parquet, chat": ("chat.parquet", lambda: _parquet({"id": "x", "messages": _TALK, "score": 1.0}, {"id": "y", "messages": _TALK})),
    "clembench, episode": ("taboo/0_high_en/episode_0/interactions.json", lambda: _json(clembench.NEW)),
    "mast, traces": ("mad.json", lambda: _json([mast.TRACE, mast.TRACE | {"trace_id": 8}])),
    "mast, people's annotations": ("human.json", lambda: _json([_ANNOTATED])),
    "otel, spans": ("spans.jsonl", lambda: _lines(otel.team())),
    "otel, older events": ("spans.json", lambda: _json(otel.document(*_OLDER_SPANS))),
    "whoandwhen, own run": ("1.json", lambda: _json(whoandwhen.RUN)),
    "chat_lines, OpenAI's form": ("chat.jsonl", lambda: _lines(_CHAT, _CHAT | {"id": "y"})),
    "chat_lines, by a mapping": ("talks.jsonl", lambda: _lines(chat.DEAL, chat.DEAL | {"deal": "d2"})),
    "chat_lines, messages by a mapping": ("talks.jsonl", lambda: _lines(*_MESSAGES)),
    "chat_lines, Parquet by a mapping": ("talks.parquet", lambda: _parquet(*_MESSAGES)),
    "chat_lines, CSV by a mapping": ("talks.csv", lambda: pl.DataFrame(_MESSAGES).write_csv().encode()),
    "labels, own columns": ("people.csv", _OWN_LABELS.encode),
    "labels, lines": ("people.jsonl", lambda: _lines(_LABEL, _LABEL | {"question": "Q2"})),
    "labels, list": ("people.json", lambda: json.dumps([_LABEL, _LABEL | {"question": "Q2"}]).encode()),
    "labels, planted truth": ("labels.csv", _PLANTED.encode),
    "labels, human validation": ("validation.csv", _VALIDATION.encode),
}
"""Name, which begins with the family's -> path, and what makes the file."""

_MAPPINGS: Final[Mapping[str, str]] = {
    "chat_lines, by a mapping": chat.MAP,
    "chat_lines, messages by a mapping": _MESSAGES_MAP,
    "chat_lines, Parquet by a mapping": _MESSAGES_MAP,
    "chat_lines, CSV by a mapping": _MESSAGES_MAP,
}
"""Name -> the mapping that it is read by."""

_NEEDS_INSPECT: Final = "inspect"


def own_others(*, run_inspect: bool = True) -> Iterator[Specimen]:
    """Made here."""
    for name, (path, make) in _LOGS.items():
        family = name.partition(",")[0]
        if family == _NEEDS_INSPECT and not (run_inspect and find_spec("inspect_ai")):
            continue
        read_as: ReadAs = "labels" if family == "labels" else "log"
        yield Specimen(name=name, family=family, path=path, data=make(), mapping=_MAPPINGS.get(name, ""), read_as=read_as)
    yield Specimen(
        name="clembench, scores",
        family="clembench",
        path="taboo/0_high_en/episode_0/scores.json",
        data=_json(_SCORES),
        beside={"taboo/0_high_en/episode_0/interactions.json": _json(clembench.OLD)},
    )
    yield Specimen(
        name="chat_lines, mapping",
        family="chat_lines",
        path="map.yaml",
        data=chat.MAP.encode(),
        beside={"talks.jsonl": _lines(chat.DEAL)},
        read_as="mapping",
    )
    yield Specimen(
        name="overcooked, kitchen file",
        family="overcooked",
        path="kitchen.yaml",
        data=KITCHEN.read_bytes(),
        beside={"m/pesto_toast/experiment_2025-01-01_00-00-00_pesto_toast.json": _anothers_kitchen()},
    )


def _anothers_kitchen() -> bytes:
    """A log of another program, which does not say in which kitchen it was played."""
    log = list(play_order(task_of("pesto_toast", read_kitchen(KITCHEN)), "optimal"))[-1]
    return _json({key: value for key, value in log.items() if key != "cotrace"})


_SHARED: Final[Mapping[str, str]] = {
    "inspect, published archive": "interop/inspect_logs/log_read_sample.eval",
    "inspect, published archive of games": "interop/inspect_two_games.eval",
    "inspect, published JSON": "interop/inspect_logs/log_tool_call_error.json",
    "parquet, published transcripts": "interop/scout_two_games.parquet",
    "whoandwhen, published run by algorithm": "whoandwhen/algorithm_generated/2.json",
    "whoandwhen, published run by hand": "whoandwhen/hand_crafted/*.json",
}
"""Name -> pattern; the shortest is taken."""

_COMPANIONS: Final[Mapping[str, tuple[str, str]]] = {
    "einstein, manifest": ("einstein, published dialog, with verifier", "manifest.csv"),
    "coordination, hanabi, partner's file": ("coordination, hanabi, players' files", "Bob_*"),
    "coordination, questions": ("coordination, questions, lines", "single_turn_trials.csv"),
}
"""Name -> the specimen beside which it lies, and its name there."""


def shared_others() -> Iterator[Specimen]:
    """Published ones, and files beside published logs; none where they do not lie beside the project."""
    for name, pattern in _SHARED.items():
        found = sorted((SHARED / "data").glob(pattern), key=lambda path: (path.stat().st_size, path))
        if found:
            yield Specimen(name=name, family=name.partition(",")[0], path=found[0].name, data=found[0].read_bytes())
    logs = {specimen.name: specimen for specimen in shared_specimens()}
    for name, (of, pattern) in _COMPANIONS.items():
        if of in logs:
            yield _beside(logs[of], name, pattern)


def _beside(log: Specimen, name: str, pattern: str) -> Specimen:
    """The file that is read with a log, as what is damaged; the log lies beside it."""
    files = {**log.above, **log.beside}
    (path,) = (path for path in files if Path(path).match(pattern))
    others = {other: data for other, data in files.items() if other != path}
    return replace(log, name=name, path=path, data=files[path], beside=others | {log.path: log.data}, above={})
