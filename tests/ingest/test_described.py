"""Formats that a description tells: sessions of agents and results of benchmarks arrive whole, with who said what and which attempt it was.

The files are written here after the formats' public specifications and tests, in words of our own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.ingest.asked import Ingested, ingested, written

_USAGE = {"input_tokens": 8, "cache_read_input_tokens": 2, "output_tokens": 3}
_AT = "2026-02-01T10:00:0{}.000Z"


def _claude(number: int, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content} | ({"id": f"m{number}", "model": "m-1", "usage": _USAGE} if kind == "assistant" else {})
    return {
        "parentUuid": None,
        "sessionId": "s1",
        "type": kind,
        "uuid": f"u{number}",
        "timestamp": _AT.format(number),
        "message": message,
    } | more


_CLAUDE = [
    {"type": "summary", "summary": "Looking at a folder", "leafUuid": "u5"},
    _claude(0, "user", "What is in the folder?"),
    _claude(1, "assistant", [{"type": "thinking", "thinking": "I ask a helper.", "signature": "x"}]),
    _claude(1, "assistant", [{"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "List it"}}]),
    _claude(5, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "one file"}]}]),
    _claude(6, "assistant", [{"type": "text", "text": "One file is there."}]),
]
_CLAUDE_CHILD = [
    _claude(2, "user", "List it", isSidechain=True),
    _claude(3, "assistant", [{"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "ls"}}], isSidechain=True),
    _claude(4, "user", [{"type": "tool_result", "tool_use_id": "t2", "content": "no such file", "is_error": True}], isSidechain=True),
]


def _codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": _AT.format(0), "type": kind, "payload": payload}


_CODEX = [
    _codex("session_meta", id="r1", cwd="/home/a", cli_version="0.1"),
    _codex("turn_context", model="m-2", effort="low"),
    _codex("response_item", type="message", role="user", content=[{"type": "input_text", "text": "run the tests"}]),
    _codex("event_msg", type="user_message", message="run the tests"),
    _codex("response_item", type="reasoning", summary=[{"type": "summary_text", "text": "use the shell"}], encrypted_content="gAAA"),
    _codex("response_item", type="function_call", name="shell", arguments=json.dumps({"command": ["pytest"]}), call_id="c1"),
    _codex("event_msg", type="token_count", info={"last_token_usage": {"input_tokens": 20, "output_tokens": 5}}),
    _codex("response_item", type="function_call_output", call_id="c1", output="1 failed"),
    _codex("response_item", type="custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="c2"),
    _codex("response_item", type="custom_tool_call_output", call_id="c2", output="done"),
    _codex("response_item", type="message", role="assistant", content=[{"type": "output_text", "text": "It is fixed."}]),
]
_SWE = {
    "environment": "main",
    "trajectory": [{"action": "ls", "observation": "a.py", "response": "I look.\nls", "thought": "I look.", "state": {}}],
    "history": [
        {"role": "system", "content": "You fix code.", "agent": "main", "message_type": "system_prompt"},
        {"role": "user", "content": "Fix it.", "agent": "main", "message_type": "observation"},
        {"role": "assistant", "content": "I look.\nls", "thought": "I look.", "action": "ls", "agent": "main", "message_type": "action"},
        {"role": "user", "content": "a.py", "agent": "main", "message_type": "observation"},
    ],
    "info": {"exit_status": "submitted", "submission": "diff", "model_stats": {"instance_cost": 0.5, "tokens_sent": 9, "api_calls": 1}},
    "replay_config": json.dumps({"agent": {"model": {"name": "m-3"}}}),
}


def _simulation(trial: int, reward: float) -> dict[str, Any]:
    call = {"id": "c1", "name": "cancel", "arguments": {"id": 7}, "requestor": "assistant"}
    return {
        "id": f"x{trial}", "task_id": "t0", "trial": trial, "seed": 300 + trial, "termination_reason": "user_stop",
        "reward_info": {"reward": reward},
        "messages": [
            {"role": "assistant", "content": "How can I help?", "turn_idx": 0},
            {"role": "user", "content": "Cancel order seven", "turn_idx": 1},
            {"role": "assistant", "content": None, "tool_calls": [call], "turn_idx": 2, "usage": {"prompt_tokens": 9}},
            {"role": "tool", "tool_messages": [{"id": "c1", "role": "tool", "content": "cancelled", "error": False}], "turn_idx": 3},
        ],
    }  # fmt: skip


_TAU2 = {
    "timestamp": "2026-02-01",
    "info": {"agent_info": {"llm": "m-4"}, "environment_info": {"domain_name": "d", "policy": "Be kind to all buyers."}},
    "tasks": [{"id": "t0"}],
    "simulations": [_simulation(0, 1.0), _simulation(1, 0.0)],
}
_TAU = [
    {
        "task_id": 3,
        "trial": trial,
        "reward": reward,
        "info": {"task": {"user_id": "a"}},
        "traj": [{"role": "user", "content": "Hello to you"}],
    }
    for trial, reward in ((0, 1.0), (1, 1.0))
]
_ATIF = {
    "schema_version": "ATIF-v1.6",
    "session_id": "S1",
    "agent": {"name": "helper", "version": "1", "model_name": "m-5"},
    "steps": [
        {"step_id": 1, "source": "user", "message": "Make a file"},
        {
            "step_id": 2, "source": "agent", "message": "I make it.", "reasoning_content": "one file",
            "tool_calls": [{"tool_call_id": "c1", "function_name": "edit", "arguments": {"path": "a"}}],
            "observation": {"results": [{"source_call_id": "c1", "content": "file created"}]},
            "metrics": {"prompt_tokens": 10, "completion_tokens": 5, "cost_usd": 0.001},
        },
    ],
    "final_metrics": {"total_prompt_tokens": 10},
}  # fmt: skip
_MINI = {
    "info": {"exit_status": "Submitted", "config": {"model": {"model_name": "m-6"}}, "model_stats": {"instance_cost": 0.1, "api_calls": 1}},
    "instance_id": "i1",
    "messages": [
        {"role": "user", "content": "List the files"},
        {
            "role": "assistant", "content": "I list them.",
            "extra": {"actions": [{"command": "ls"}], "response": {"model": "m-6", "usage": {"prompt_tokens": 4, "completion_tokens": 2}}},
        },
        {"role": "user", "content": "<output>a.py</output>"},
    ],
    "trajectory_format": "mini-swe-agent-1.1",
}  # fmt: skip
_HANDS = {
    "instance_id": "i2",
    "instruction": "Fix the bug",
    "metadata": {"llm_config": {"model": "m-7"}},
    "metrics": {"accumulated_cost": 0.2},
    "report": {"resolved": True},
    "history": [
        {"id": 0, "source": "user", "action": "message", "args": {"content": "Fix the bug"}, "message": "Fix the bug"},
        {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls", "thought": "I look."}, "message": "Running command: ls"},
        {"id": 2, "source": "agent", "observation": "run", "cause": 1, "content": "a.py", "extras": {"command": "ls"}, "success": True},
        {"id": 3, "source": "agent", "action": "finish", "args": {"final_thought": "All is done"}, "message": "All done"},
    ],
}
_SOTOPIA = {
    "pk": "P1", "environment": "E1", "agents": ["A1", "A2"], "tag": "try", "models": ["m-0", "m-8", "m-9"],
    "messages": [
        [["Environment", "Ada", "You want the book."], ["Environment", "Bo", "You own the book."]],
        [["Ada", "Environment", 'said: "May I have it?"']],
        [["Bo", "Environment", 'said: "You may."']],
    ],
    "reasoning": "Both were kind.", "rewards": [[3.5, {"goal": 8}], [2.5, {"goal": 4}]],
    "rewards_prompt": "Rate both of them.",
}  # fmt: skip

FORMATS: dict[str, tuple[str, list[Any], set[str], list[str], list[tuple[str, float | None, bool | None, int | None]]]] = {
    "codex": ("r.jsonl", _CODEX, {"user", "assistant", "tool"}, ["shell", "apply_patch"], [("r", None, None, None)]),
    "swe_agent": ("a.traj", [_SWE], {"system", "user", "main", "tool"}, ["action"], [("a", None, None, None)]),
    "tau2": ("t.json", [_TAU2], {"user", "assistant", "tool"}, ["cancel", "cancel"], [("d/t0", 1.0, True, 1), ("d/t0", 0.0, False, 2)]),
    "tau_bench": ("t.json", [_TAU], {"user"}, [], [("3", 1.0, True, 1), ("3", 1.0, True, 2)]),
    "atif": ("a.json", [_ATIF], {"user", "agent", "tool"}, ["edit"], [("S1", None, None, None)]),
    "mini_swe_agent": ("m.traj.json", [_MINI], {"user", "assistant", "tool"}, ["command"], [("i1", None, None, None)]),
    "openhands": ("output.jsonl", [_HANDS], {"user", "assistant", "tool"}, ["run", "finish"], [("i2", 1.0, True, None)]),
    "sotopia": ("s.json", [_SOTOPIA], {"Environment", "Ada", "Bo"}, [], [("E1", 3.5, None, None)]),
}


def test_what_a_judge_of_sotopia_was_asked_is_stored(tmp_path: Path) -> None:
    """With what it answered, among the details; no key is left unread."""
    found = ingested(tmp_path, written(tmp_path / "s.json", _SOTOPIA))
    assert found.rows("SELECT counted - stored FROM receipts WHERE kind = 'keys'") == [(0,)]
    assert found.rows("SELECT details LIKE '%Rate both of them.%' AND details LIKE '%Both were kind.%' FROM episodes") == [(True,)]


_MARBLE = {
    "task": "Build a wall of stone", "coordination_mode": "graph", "planning_scores": [4, -1, 2], "communication_scores": [-1],
    "iterations": [
        {
            "iteration": 1, "task_assignments": {"agent1": "Fetch some stone", "agent2": "Place the stone"},
            "task_results": [{"agent_id": "agent1", "result": "I have the stone"}, {"agent2": "I placed it there"}],
            "summary": "The wall is built", "continue_simulation": False,
            "communications": ["In Session 7 \nFrom agent1 to agent2: here you are\nFrom agent2 to agent1: thanks,\nso I begin\n"],
        }
    ],
}  # fmt: skip


def test_an_iteration_of_marble_is_a_turn(tmp_path: Path) -> None:
    """Assignments are of the planner to an agent; scores are means of what was scored."""
    found = ingested(tmp_path, written(tmp_path / "out.jsonl", _MARBLE))
    assert (found.refused, _losses(found)) == ([], [])
    assert found.rows("SELECT agent, count(*) FROM utterances GROUP BY ALL ORDER BY ALL") == [("agent1", 2), ("agent2", 2), ("planner", 4)]
    assert found.rows("SELECT audience FROM utterances WHERE text = 'Fetch some stone'") == [(["planner", "agent1"],)]
    assert found.rows("SELECT agent, text FROM utterances WHERE audience = ['agent2', 'agent1']") == [
        ("agent2", "From agent2 to agent1: thanks,\nso I begin")
    ]
    assert found.rows("SELECT counted, missing FROM receipts WHERE kind = 'keys' AND counted > stored") == []
    assert found.rows("SELECT metric, value FROM episode_metrics") == [("marble.planning_scores", 3.0)]
    assert found.rows("SELECT turns_taken FROM episodes") == [(1,)]


def test_chains_trees_and_games_without_iterations_of_marble(tmp_path: Path) -> None:
    """A chain has its agent and result in the iteration, a tree its tasks in a list; a game that ended at once has its scores alone."""
    common = {"task": "Build it", "planning_scores": [2], "agent_kpis": {"agent1": 2}, "total_milestones": 1}
    chain = {"chain_length": 1, "current_agent": "agent1", "result": "I built the wall", "communications": None, "summary": "All is built"}
    tree = {"root_agent": "agent1", "result": None, "task_assignments": [{"agent2": "Fetch the stone"}], "communications": "agent1 asks"}
    tree["task_results"] = [{"agent_id": "agent2", "result": "I have the stone"}]
    games = [
        {**common, "coordination_mode": mode, "iterations": held} for mode, held in (("chain", [chain]), ("tree", [tree]), ("star", []))
    ]
    games[2]["task_evaluation"] = {"root_cause": "none", "accuracy": 0.5}
    found = ingested(tmp_path, written(tmp_path / "out.jsonl", *games))
    assert (found.refused, _losses(found)) == ([], [])
    assert found.rows("SELECT agent, text FROM utterances ORDER BY ALL") == [
        ("agent1", "I built the wall"),
        ("agent2", "I have the stone"),
        ("planner", "All is built"),
        ("planner", "Fetch the stone"),
        ("planner", "agent1 asks"),
    ]
    assert found.rows("SELECT turns_taken, count(*) FROM episodes GROUP BY 1 ORDER BY 1") == [(0, 1), (1, 2)]
    assert found.rows("SELECT metric, max(value), count(*) FROM episode_metrics GROUP BY 1 ORDER BY 1") == [
        ("marble.accuracy", 0.5, 1),
        ("marble.agent_kpis.agent1", 2.0, 3),
        ("marble.planning_scores", 2.0, 3),
        ("marble.total_milestones", 1.0, 3),
    ]


def _losses(found: Ingested) -> list[tuple[Any, ...]]:
    return found.rows("SELECT kind, counted, stored, missing FROM receipts WHERE kind <> 'keys' AND coalesce(stored, 0) < counted")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("log_format", FORMATS)
def test_a_file_of_a_format_arrives_whole(log_format: str, tmp_path: Path) -> None:
    """Speakers, calls, task, score, success and attempt; the receipt has no loss."""
    name, documents, agents, calls, games = FORMATS[log_format]
    found = ingested(tmp_path, written(tmp_path / name, *documents))
    assert (found.refused, _losses(found)) == ([], [])
    assert found.rows("SELECT DISTINCT format FROM sources") == [(log_format,)]
    assert {agent for (agent,) in found.rows("SELECT agent FROM utterances")} == agents
    assert [verb for (verb,) in found.rows("SELECT verb FROM actions ORDER BY episode_id, turn, seq")] == calls
    assert sorted(found.rows("SELECT task_id, score, success, attempt FROM episodes"), key=str) == sorted(games, key=str)


def test_a_session_of_claude_code_has_those_of_its_sub_agents(tmp_path: Path) -> None:
    """Their files are no sessions of their own; each request counts once, though several lines hold parts of its reply."""
    folder = tmp_path / "logs"
    written(folder / "s1.jsonl", *_CLAUDE)
    written(folder / "s1/subagents/agent-ab1.jsonl", *_CLAUDE_CHILD)
    found = ingested(tmp_path, folder)
    assert (found.refused, _losses(found)) == ([], [])
    assert found.rows("SELECT count(*) FROM episodes") == [(1,)]
    assert found.rows("SELECT agent, verb, accepted FROM actions ORDER BY turn") == [("assistant", "Task", True), ("ab1", "Bash", False)]
    assert found.rows("SELECT text FROM utterances ORDER BY turn DESC LIMIT 1") == [("One file is there.",)]
    assert found.rows("SELECT count(*), sum(tokens_in), any_value(model) FROM calls WHERE agent = 'assistant'") == [(2, 20, "m-1")]
    assert [reason for _, reason in found.report.others] == ["of a sub-agent, read with s1.jsonl"]


def test_a_sub_agent_without_its_session_is_a_session(tmp_path: Path) -> None:
    """What was called is still read where the caller is missing."""
    found = ingested(tmp_path, written(tmp_path / "agent-ab1.jsonl", *_CLAUDE_CHILD))
    assert found.rows("SELECT count(*) FROM episodes") == [(1,)]


def test_repeats_are_reported_with_their_numbers(tmp_path: Path) -> None:
    """Tasks, models and attempts, at ingest."""
    found = ingested(tmp_path, written(tmp_path / "t.json", _TAU2))
    assert [note for _, note in found.report.notes] == ["1 task, 1 model, 2 attempts each: statistics group the games by task"]
    assert found.rows("SELECT DISTINCT runs.name, model, seed FROM episodes JOIN runs USING (run_id) ORDER BY seed") == [
        ("d", "m-4", 300),
        ("d", "m-4", 301),
    ]
