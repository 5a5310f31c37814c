"""Kinds of words, speakers and numbers that files of public programs and data sets hold in places of their own; all arrive.

The files are written here, in words of our own, with the keys that these programs write.
"""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

from tests.ingest.asked import Ingested, ingested, written

_AT = "2026-02-01T10:00:0{}.000Z"


def _claude(number: int, kind: str, content: Any = None, **more: Any) -> dict[str, Any]:
    model = {"model": "m-0", "usage": {"input_tokens": 3, "output_tokens": 2}} if kind == "assistant" else {}
    held = {} if content is None else {"message": {"role": kind, "content": content, **model}}
    return {"sessionId": "s-1", "parentUuid": None, "type": kind, "uuid": f"u{number}", "timestamp": _AT.format(number), **held, **more}


_SESSION = [
    _claude(0, "user", "Sort the shelf."),
    _claude(0, "user", "Sort the shelf."),
    _claude(1, "system", subtype="api_error", level="error", error={"type": "overloaded"}, retryAttempt=1),
    _claude(2, "assistant", [{"type": "tool_use", "id": "t1", "name": "Workflow", "input": {"prompt": "Count the books"}}]),
    _claude(5, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "eleven books"}]),
    _claude(6, "assistant", [{"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "touch done"}}]),
    _claude(7, "user", [{"type": "tool_result", "tool_use_id": "t2", "content": ""}], toolUseResult={"stdout": "", "interrupted": False}),
    _claude(8, "system", subtype="turn_duration", durationMs=12),
]
_WORKER = [
    _claude(3, "user", "Count the books", isSidechain=True, agentId="w1"),
    _claude(4, "assistant", [{"type": "text", "text": "eleven"}], isSidechain=True, agentId="w1"),
]
_DOJO: dict[str, Any] = {
    "suite_name": "travel",
    "pipeline_name": "m-1",
    "user_task_id": "user_task_3",
    "injection_task_id": None,
    "attack_type": None,
    "injections": {},
    "messages": [
        {"role": "user", "content": [{"type": "text", "content": "Book a bed."}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"function": "book", "args": {"n": 1}, "id": "c1", "placeholder_args": None}],
        },
        {
            "role": "tool",
            "content": [],
            "tool_call_id": "c1",
            "tool_call": {"function": "book", "args": {"n": 1}},
            "error": "ValueError: full",
        },
        {"role": "assistant", "content": [{"type": "text", "content": "There is none."}], "tool_calls": None},
    ],
    "error": None,
    "utility": False,
    "security": True,
    "duration": 2.5,
}
_RUN = {"trajectory_id": "r-1", "instance_id": "repo-7", "resolved": 1, "exit_status": "submit", "reward": 0.25}
_RUN_MESSAGES = [
    {"role": "user", "content": "Fix the gate."},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}]},
    {"role": "tool", "content": "gate.py", "tool_call_id": "c1"},
]
_ROW = {
    "instance_id": "repo-8",
    "model_name": "m-2",
    "target": True,
    "exit_status": "submitted",
    "generated_patch": "diff",
    "eval_logs": "ok",
}
_ROW_MESSAGES = [
    {"role": "system", "system_prompt": "You repair code.", "text": None, "mask": False, "cutoff_date": None},
    {"role": "user", "system_prompt": None, "text": "The door sticks.", "mask": False, "cutoff_date": None},
    {"role": "ai", "system_prompt": None, "text": "I oil it.", "mask": True, "cutoff_date": None},
]
_TRACE: dict[str, Any] = {
    "trace_id": "ab",
    "spans": [
        {
            "timestamp": "2026-02-01T10:00:00Z",
            "trace_id": "ab",
            "span_id": "1",
            "span_name": "LiteLLMModel.__call__",
            "span_kind": "Internal",
            "span_attributes": {
                "openinference.span.kind": "LLM",
                "llm.model_name": "m-3",
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.content": "How tall is the tower?",
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": "Forty metres.",
            },
            "child_spans": [],
        }
    ],
}
_ERRORS = [
    {"category": "Tool-related", "location": "1", "evidence": "Forty", "description": "It was not measured.", "impact": "HIGH"},
    {"category": "Formatting Errors", "location": "?", "evidence": "", "description": "", "impact": "LOW"},
]
_SCORES = {"trace_id": "ab", "errors": _ERRORS, "scores": [{"reliability_score": 4, "overall": 3.5}]}


def _span(number: int, parent: int | None, name: str, conversation: str, agent: str, **attributes: Any) -> dict[str, Any]:
    named = {"gen_ai.operation.name": name, "gen_ai.conversation.id": conversation, "gen_ai.agent.name": agent, **attributes}
    return {
        "traceId": "cd",
        "spanId": str(number),
        **({} if parent is None else {"parentSpanId": str(parent)}),
        "name": name,
        "startTimeUnixNano": str(1_770_000_000_000_000_000 + number),
        "endTimeUnixNano": str(1_770_000_000_000_000_100 - number),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in named.items()],
    }


def _words(asked: str, replied: str) -> dict[str, str]:
    held = {"gen_ai.input.messages": ("user", asked), "gen_ai.output.messages": ("assistant", replied)}
    return {key: json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}]) for key, (role, text) in held.items()}


_DELEGATED = [
    _span(1, None, "invoke_agent", "outer", "boss"),
    _span(2, 1, "execute_tool", "outer", "boss", **{"gen_ai.tool.name": "ask"}),
    _span(3, 2, "invoke_agent", "inner", "helper"),
    _span(4, 3, "chat", "inner", "helper", **_words("Which way?", "Left.")),
    _span(5, 1, "chat", "outer", "boss", **_words("Lead us.", "We go left.")),
]

_ITEMS = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List the drawers."}]},
    {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"},
    {"type": "local_shell_call", "call_id": "c1", "status": "completed", "action": {"type": "exec", "command": ["ls"]}},
    {"type": "local_shell_call_output", "call_id": "c1", "output": "three drawers"},
    {"type": "function_call", "call_id": "c2", "name": "apply_patch", "arguments": "*** Begin Patch"},
    {"type": "mcp_tool_call", "call_id": "c3", "server": "fs", "tool": "read", "arguments": {"path": "a"}},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "There are three."}]},
]
_META = {"id": "a-1", "timestamp": "2025-06-01T10:00:00Z", "instructions": None}


def _attempt(text: str, score: float) -> dict[str, Any]:
    history = [
        {"role": "user", "content": "Fix the lamp.", "agent": "main", "message_type": "observation"},
        {"role": "assistant", "content": text, "thought": "", "action": "", "agent": "main", "message_type": "action"},
    ]
    return {"environment": "main", "trajectory": [], "history": history, "info": {"exit_status": "submitted", "review": {"accept": score}}}


_RETRIED = {"attempts": [_attempt("I turn it.", 0.2), _attempt("I change the bulb.", 0.9)], **_attempt("I change the bulb.", 0.9)}


def _step(number: int, source: str, message: str, **more: Any) -> dict[str, Any]:
    return {"step_id": number, "source": source, "message": message, **more}


def _trajectory(name: str, *steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    agent = {"name": "harness", "version": "1", "model_name": f"m-{name}"}
    return {"schema_version": "ATIF-v1.7", "session_id": "x", "trajectory_id": name, "agent": agent, "steps": list(steps), **more}


_CALL = {"tool_call_id": "c1", "function_name": "delegate", "arguments": {"to": "scout"}}
_RESULT = {"source_call_id": "c1", "content": "all clear", "subagent_trajectory_ref": [{"trajectory_id": "scout"}]}
_ATIF = _trajectory(
    "lead",
    _step(1, "user", "Is the path clear?"),
    _step(2, "agent", "", tool_calls=[_CALL], observation={"results": [_RESULT]}),
    _step(3, "agent", "The path is clear."),
    subagent_trajectories=[_trajectory("scout", _step(1, "user", "Look ahead."), _step(2, "agent", "I see no one."))],
)
_CLEM: dict[str, Any] = {
    "meta": {
        "game_name": "reference",
        "experiment_name": "grids",
        "game_id": 4,
        "clem_version": "3.7.2",
        "round_count": 1,
        "completed": True,
    },
    "player_models": [{"model_name": "m-5"}],
    "players": {
        "GM": {"game_role": "Game Master", "model_name": "programmatic"},
        "Player 1": {"game_role": "Describer", "model_name": "m-5"},
    },
    "turns": [
        [
            {
                "from": "GM",
                "to": "Player 1",
                "timestamp": "2026-02-01T10:00:00",
                "action": {"type": "send message", "content": "Describe it.", "label": "context", "image": ["grid.png"]},
            },
            {
                "from": "Player 1",
                "to": "GM",
                "timestamp": "2026-02-01T10:00:01",
                "action": {"type": "get message", "content": "A red cross.", "label": "response"},
            },
        ]
    ],
    "Request Count": [1],
    "Aborted": 0,
    "Success": 1,
    "Lose": 0,
}
_CLEM_SCORES = {"round scores": {"0": {"Request Count": 1}}, "episode scores": {"Main Score": 100, "Success": 1, "Aborted": 0, "Lose": 0}}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    """One store of all the files."""
    folder = tmp_path_factory.mktemp("public")
    logs = folder / "logs"
    written(logs / "other-name.jsonl", *_SESSION)
    written(logs / "other-name" / "subagents" / "workflows" / "one" / "agent-w1.jsonl", *_WORKER)
    written(logs / "dojo.json", json.dumps(_DOJO))
    pl.DataFrame([_RUN | {"trajectory": _RUN_MESSAGES}]).write_parquet(logs / "runs.parquet")
    pl.DataFrame([_ROW | {"trajectory": _ROW_MESSAGES}]).write_parquet(logs / "rows.parquet")
    pl.DataFrame([{"trace": json.dumps(_TRACE), "labels": json.dumps(_SCORES)}]).write_parquet(logs / "trail.parquet")
    written(logs / "spans.json", json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": _DELEGATED}]}]}))
    written(logs / "rollout-1.json", json.dumps({"session": _META, "items": _ITEMS}))
    written(logs / "rollout-2.jsonl", _META, {"record_type": "state"}, *_ITEMS)
    written(logs / "lamp__lamp-1.traj", json.dumps(_RETRIED))
    written(logs / "trajectory.json", json.dumps(_ATIF))
    written(logs / "clem" / "episode_4" / "interactions.json", json.dumps(_CLEM))
    written(logs / "clem" / "episode_4" / "scores.json", json.dumps(_CLEM_SCORES))
    written(logs / "traces" / "one.json", json.dumps({**_TRACE, "trace_id": "ef", "spans": [{**_TRACE["spans"][0], "trace_id": "ef"}]}))
    written(logs / "annotations" / "one.json", json.dumps({**_SCORES, "trace_id": "ef"}))
    return ingested(folder, logs)


def _messages(found: Ingested, file: str) -> list[tuple[Any, ...]]:
    """Agent and text of all messages, and agent, tool and success of all calls, of the one game of a file."""
    assert found.rows(f"SELECT count(*) FROM episodes WHERE file LIKE '%{file}'") == [(1,)]
    of_file = f"(SELECT episode_id FROM episodes WHERE file LIKE '%{file}')"
    return [
        *found.rows(f"SELECT agent, text FROM utterances WHERE episode_id IN {of_file} ORDER BY turn, seq"),
        *found.rows(f"SELECT agent, verb, accepted FROM actions WHERE episode_id IN {of_file} ORDER BY turn, seq"),
    ]


def test_no_file_is_refused_and_nothing_is_lost(found: Ingested) -> None:
    """The receipts of all files are whole; marks without words are not messages that lost theirs."""
    assert found.refused == []
    assert found.rows("SELECT path, kind FROM receipts WHERE stored < counted AND kind <> 'keys'") == []


def test_sub_agents_of_workflows_are_part_of_their_session(found: Ingested) -> None:
    """In whatever folder below the session they are; what they are asked, their caller wrote; a copied entry counts once."""
    assert _messages(found, "other-name.jsonl") == [
        ("user", "Sort the shelf."),
        ("assistant", "Count the books"),
        ("w1", "eleven"),
        ("tool", "eleven books"),
        ("tool", ""),
        ("assistant", "Workflow", True),
        ("assistant", "Bash", True),
    ]
    assert found.rows("SELECT model, team ->> '$' FROM episodes WHERE benchmark = 'claude_code'") == [("m-0", '{"model":"m-0"}')]


def test_runs_of_agentdojo_have_both_outcomes(found: Ingested) -> None:
    """Whether the task was done, whether the attack was, and the error that a tool gave instead of words."""
    assert _messages(found, "dojo.json") == [
        ("user", "Book a bed."),
        ("tool", "ValueError: full"),
        ("assistant", "There is none."),
        ("assistant", "book", False),
    ]
    assert found.rows("SELECT task_id, level, model, success FROM episodes WHERE benchmark = 'agentdojo'") == [
        ("travel/user_task_3", "travel", "m-1", False)
    ]
    assert found.rows("SELECT metric, value FROM episode_metrics WHERE metric = 'agentdojo.security'") == [("agentdojo.security", 1.0)]


def test_data_sets_in_parquet_name_their_columns_in_several_ways(found: Ingested) -> None:
    """Runs of coding agents: messages under `trajectory`, success as `resolved` or `target`."""
    columns = "task_id, model, success, score, stop_reason FROM episodes WHERE file LIKE"
    assert _messages(found, "runs.parquet") == [("user", "Fix the gate."), ("tool", "gate.py"), ("assistant", "bash", True)]
    assert found.rows(f"SELECT {columns} '%runs.parquet'") == [("repo-7", "unknown", True, 0.25, "submit")]
    assert _messages(found, "rows.parquet") == [("system", "You repair code."), ("user", "The door sticks."), ("assistant", "I oil it.")]
    assert found.rows(f"SELECT {columns} '%rows.parquet'") == [("repo-8", "m-2", True, 1.0, "submitted")]


def test_rows_of_trail_are_traces_with_scores(found: Ingested) -> None:
    """A trace is JSON text in a column, people's scores in another."""
    assert _messages(found, "trail.parquet") == [("user", "How tall is the tower?"), ("assistant", "Forty metres.")]
    assert found.rows("SELECT DISTINCT metric, value FROM episode_metrics WHERE metric LIKE 'trail.%' ORDER BY metric") == [
        ("trail.overall", 3.5),
        ("trail.reliability_score", 4.0),
    ]


@pytest.mark.parametrize("file", ["trail.parquet", "traces/one.json"])
def test_people_s_errors_are_labels_of_the_turns_of_their_spans(found: Ingested, file: str) -> None:
    """By a column, or by a file of the trace's name in a folder of annotations; one whose span is not there is of the whole trace."""
    labels = found.rows(
        "SELECT question, labels.turn, agent, answer FROM labels INNER JOIN episodes USING (episode_id) "
        f"WHERE rubric = 'trail' AND file LIKE '%{file}' ORDER BY 1"
    )
    assert labels == [("formatting_errors", None, None, "low"), ("tool_related", 2, "assistant", "high")]
    blamed = found.rows(f"SELECT agent, turn FROM blamed_agents INNER JOIN episodes USING (episode_id) WHERE file LIKE '%{file}'")
    assert blamed == [("assistant", 2)]


def test_an_agent_that_another_calls_is_in_its_conversation(found: Ingested) -> None:
    """Though its spans name a conversation of their own."""
    assert [one[:2] for one in _messages(found, "spans.json") if one[0] in {"boss", "helper"}][:2] == [
        ("helper", "Left."),
        ("boss", "We go left."),
    ]


@pytest.mark.parametrize("file", ["rollout-1.json", "rollout-2.jsonl"])
def test_early_sessions_of_codex_hold_bare_items(found: Ingested, file: str) -> None:
    """In one document, or a line each after a line about the session."""
    assert _messages(found, file) == [
        ("user", "List the drawers."),
        ("tool", "three drawers"),
        ("assistant", "There are three."),
        ("assistant", "local_shell_call", True),
        ("assistant", "apply_patch", None),
        ("assistant", "read", None),
    ]
    assert found.rows("SELECT DISTINCT arguments ->> 'value' FROM actions WHERE verb = 'apply_patch'") == [("*** Begin Patch",)]


def test_retries_of_swe_agent_are_attempts_at_one_task(found: Ingested) -> None:
    """The document repeats the chosen attempt, which counts once."""
    episodes = "episodes INNER JOIN utterances USING (episode_id) INNER JOIN episode_metrics USING (episode_id)"
    assert found.rows(
        f"SELECT task_id, attempt, text, value FROM {episodes} WHERE benchmark = 'swe_agent' AND agent = 'main' "
        "AND metric = 'swe_agent.review' ORDER BY attempt"
    ) == [("lamp__lamp-1", 1, "I turn it.", 0.2), ("lamp__lamp-1", 2, "I change the bulb.", 0.9)]


def test_sub_agents_of_atif_speak_where_they_were_called(found: Ingested) -> None:
    """An embedded trajectory is by its own agent; what it was asked, its caller wrote."""
    assert _messages(found, "trajectory.json") == [
        ("user", "Is the path clear?"),
        ("tool", "all clear"),
        ("agent", "Look ahead."),
        ("scout", "I see no one."),
        ("agent", "The path is clear."),
        ("agent", "delegate", True),
    ]


def test_episodes_of_clembench_3_have_images_and_scores_of_rounds(found: Ingested) -> None:
    """Files of version 3."""
    assert _messages(found, "interactions.json") == [("GM", "Describe it.\n[image: grid.png]"), ("Player 1", "A red cross.")]
    assert found.rows("SELECT success, score FROM episodes WHERE benchmark = 'clembench'") == [(True, 100.0)]
    assert found.rows("SELECT turn, value FROM turn_metrics WHERE metric = 'clembench.Request Count'") == [(1, 1.0)]
