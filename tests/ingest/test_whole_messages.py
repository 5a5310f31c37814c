"""What a reader once lost, doubled or rounded without a word: each kind in a small file, all of them in one store."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.ingest.asked import Ingested, ingested, written
from tests.ingest.otel.test_otel import chat, document, said

_LONG = 10**29 + 7
_BEGINNING = '{"messages": [{"role": "user", "content": "hello there"}, "'
_USAGE = {"input_tokens": 100, "cache_read_input_tokens": 30, "output_tokens": 5}


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _called(arguments: dict[str, Any], name: str = "find") -> dict[str, Any]:
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _claude(number: int, kind: str, text: str) -> dict[str, Any]:
    message = {"id": "m1", "role": "assistant", "model": "m", "usage": _USAGE, "content": [{"type": kind, kind: text}]}
    return {"type": "assistant", "uuid": f"u{number}", "parentUuid": None, "sessionId": "one", "message": message}


def _ag2(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": f"ag2.events.{kind}", "data": data}


_ASK, _SAY = "input_events.ModelRequest", "types.ModelResponse"
_STEP = {"num": 0, "reasoning": "Open the list.", "action": "click('4')"}
_STEPS = [_STEP, {"num": 1, "action": None}]
_REWARD = {"benchmark": "w", "agent": "a", "goal": "order a lamp", "steps": _STEPS, "summary_info": {"cum_reward": 1.0}}
_REPLIES = json.dumps([said("assistant", "Looking."), said("assistant", "I found it.")])
_EXTRA = {"actions": [{"command": "ls"}], "response": {"usage": {"prompt_tokens": 4, "completion_tokens": 2}}}
_MINI = {"role": "assistant", "content": "I list them.", "extra": _EXTRA}
_AS_TEXT = json.dumps([_user("hello there")])
_SLACK = {"type": "message", "ts": "1767607200.0001"}
_ACTION = {"id": "t1", "name": "run", "arguments": json.dumps({"command": "ls"}), "origin": "completion"}
_EVENTS = [
    {"kind": "SystemPromptEvent", "source": "agent", "system_prompt": {"type": "text", "text": "You fix code."}},
    {"kind": "MessageEvent", "source": "user", "llm_message": {"role": "user", "content": [{"type": "text", "text": "Fix it."}]}},
    {"kind": "ConversationStateUpdateEvent", "source": "environment", "key": "full_state", "value": {"agent_status": "idle"}},
    {
        "kind": "ActionEvent", "source": "agent", "thought": [{"type": "text", "text": "I look."}], "reasoning_content": "first a list",
        "tool_name": "run", "tool_call_id": "t1", "tool_call": _ACTION, "action": {"command": "ls", "kind": "RunAction"},
    },
    {
        "kind": "ObservationEvent", "source": "environment", "tool_name": "run", "tool_call_id": "t1",
        "observation": {"content": [{"type": "text", "text": "a file"}], "is_error": False},
    },
    {"kind": "AgentErrorEvent", "source": "agent", "tool_name": "run", "tool_call_id": "t2", "error": "no such tool"},
]  # fmt: skip


def _simulation(name: str, trial: int, reward: float) -> dict[str, Any]:
    ended = {"termination_reason": "user_stop", "reward_info": {"reward": reward, "reward_breakdown": {"DB": reward}}}
    return {"id": name, "task_id": "t0", "trial": trial, **ended, "messages": [_user("hello there")]}


_FILES: dict[str, list[Any]] = {
    "long.json": [[_user("find it for me"), _called({"ticket": _LONG})]],
    "nameless.json": [[_user("find it for me"), _called({"ticket": 4}, "")]],
    "items.json": [document(chat(1, None, [said("user", "Buy a can.")], None, gen_ai__output__messages=_REPLIES))],
    "parts.jsonl": [_claude(1, "thinking", "Let me see."), _claude(2, "text", "Here it is.")],
    "mini.json": [{"trajectory_format": "mini-swe-agent-1.1", "info": {}, "instance_id": "i1", "messages": [_MINI]}],
    "rewards.json": [_REWARD],
    "rows.jsonl": [{"id": text[:1], "messages": text} for text in (_AS_TEXT, "no JSON at all", f" {_AS_TEXT} ")],
    "aside.json": [{"request": {"messages": [_user("hello there")]}, "response": {"one": {"from": "gpt", "value": "an answer beside it"}}}],
    "s.dropped-1.jsonl": [_ag2(_ASK, parts=[{"content": "The first question?"}])],
    "s.dropped-2.jsonl": [_ag2(_SAY, message={"content": "The second answer."})],
    "s.dropped-10.jsonl": [_ag2(_ASK, parts=[{"content": "The tenth question?"}])],
    "s.jsonl": [_ag2(_SAY, message={"content": "The last answer."})],
    "general/2026-01-05.json": [
        [{**_SLACK, "user_profile": {"real_name": "Ann Lee"}, "text": "shall we go now?"}, {**_SLACK, "user": "U2", "text": "yes"}]
    ],
    "graph.jsonl": [
        {"planner": {"messages": [{"type": "ai", "content": "Let us look."}]}},
        {"looker": {"messages": [{"type": "ai", "content": "It is here."}]}},
    ],
    "events/output.jsonl": [{"instance_id": "i1", "instruction": "fix it", "history": _EVENTS}],
    "tau/results.json": [{"info": {"agent_info": {"llm": "m-4"}}, "tasks": [], "simulation_index": []}],
    "tau/simulations/a.json": [json.dumps(_simulation("a", 0, 1.0), indent=1)],
    "tau/simulations/b.json": [json.dumps(_simulation("b", 1, 0.0), indent=1)],
    "clem/completed.json": [{"timestamp": "2026-01-05T10:00:00"}],
    "clem/run.json": [{"clem_version": "3", "player_models": [], "games": {}}],
    "chat.txt": ["[12/01/24, 10:15:32] Ann: shall we go?", "[12/01/24, 10:16:00] Bo: yes"],
    "readings.jsonl": [{"user": "Write down the claims.", "reading": {"claims": []}}],
    "settings.toml": ["[tool]\nname = 1"],
    "cut.json": [_BEGINNING + "x" * (2**16 - len(_BEGINNING) - 4) + '" 1 '],
}  # fmt: skip


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    """All of them in a store."""
    folder = tmp_path_factory.mktemp("whole")
    for name, documents in _FILES.items():
        written(folder / "logs" / name, *documents)
    return ingested(folder, folder / "logs")


def _of(found: Ingested, file: str, columns: str, table: str) -> list[tuple[Any, ...]]:
    return found.rows(f"SELECT {columns} FROM {table} t JOIN episodes USING (episode_id) WHERE file = '{file}' ORDER BY ALL")


def _receipt(found: Ingested, file: str, kind: str) -> list[tuple[Any, ...]]:
    return found.rows(f"SELECT counted, stored FROM receipts WHERE kind = '{kind}' AND path LIKE '%/{file}'")


def test_numbers_longer_than_64_bits_keep_their_digits(found: Ingested) -> None:
    """Such as ids in the arguments of a call."""
    assert _of(found, "long.json", "arguments ->> 'ticket'", "actions") == [(str(_LONG),)]


def test_a_call_without_a_name_is_one_of_a_tool(found: Ingested) -> None:
    """The receipt finds it by its arguments."""
    assert _of(found, "nameless.json", "verb", "actions") == [("tool",)]
    assert _receipt(found, "nameless.json", "tool_calls") == [(1, 1)]


@pytest.mark.parametrize(("file", "tokens"), [("items.json", 14), ("parts.jsonl", 135), ("mini.json", 6)])
def test_tokens_of_a_reply_count_once(file: str, tokens: int, found: Ingested) -> None:
    """However many items or lines it has, cached ones with them, and wherever a message holds them."""
    assert _of(found, file, "sum(tokens_in + tokens_out)", "calls") == [(tokens,)]
    assert _receipt(found, file, "tokens") == [(tokens, tokens)]


def test_a_part_that_cannot_be_read_costs_no_other(found: Ingested) -> None:
    """A step without messages, and a row whose messages are no JSON."""
    assert _of(found, "rewards.json", "t.text", "utterances") == [("Open the list.",)]
    assert _of(found, "rewards.json", "arguments ->> 'value', score", "actions") == [("click('4')", 1.0)]
    assert _of(found, "rows.jsonl", "t.text", "utterances") == [("hello there",), ("hello there",)]
    assert ["no JSON" in part.reason for part in found.report.rejected if part.path.endswith("rows.jsonl")] == [True]


def test_a_message_among_the_facts_of_a_game_is_a_loss(found: Ingested) -> None:
    """It is stored, but nowhere in the conversation."""
    assert _receipt(found, "aside.json", "messages") == [(2, 1)]
    assert ["an answer beside it" in part.reason for part in found.report.rejected if part.path.endswith("aside.json")] == [True]


def test_parts_of_a_log_that_were_cut_off_come_before_it(found: Ingested) -> None:
    """In the order of their numbers."""
    texts = ["The first question?", "The second answer.", "The tenth question?", "The last answer."]
    assert found.rows("SELECT u.text, turn FROM utterances u JOIN episodes USING (episode_id) WHERE benchmark = 'ag2' ORDER BY turn") == [
        (text, turn) for turn, text in enumerate(texts, start=1)
    ]


def test_messages_of_a_graph_are_by_its_nodes(found: Ingested) -> None:
    """All updates of a stream are one conversation."""
    assert _of(found, "graph.jsonl", "turn, agent, t.text", "utterances") == [(1, "planner", "Let us look."), (2, "looker", "It is here.")]


def test_events_of_openhands_are_messages_calls_and_results(found: Ingested) -> None:
    """Those of its own state are nothing that was said, and no loss."""
    assert _of(found, "events/output.jsonl", "turn, seq, agent, channel, t.text", "utterances") == [
        (1, 1, "system", "public", "You fix code."),
        (2, 1, "user", "public", "Fix it."),
        (3, 1, "assistant", "private", "first a list"),
        (3, 2, "assistant", "public", "I look."),
        (4, 1, "tool", "public", "a file"),
        (5, 1, "tool", "public", "no such tool"),
    ]
    assert _of(found, "events/output.jsonl", "verb, arguments ->> 'command', accepted", "actions") == [("run", "ls", True)]
    assert [part.reason for part in found.report.rejected if "events" in part.path] == []


def test_simulations_in_files_of_their_own_are_read_with_their_results(found: Ingested) -> None:
    """With the model that only the results name, and the parts of the reward."""
    rows = _of(found, "tau/results.json", "attempt, score, model, value", "(SELECT * FROM episode_metrics WHERE metric = 'tau2.reward.DB')")
    assert rows == [(1, 1.0, "m-4", 1.0), (2, 0.0, "m-4", 0.0)]


def test_chats_of_people_have_their_names(found: Ingested) -> None:
    """Slack's export is read; a text is left alone, and the line says how it can be read."""
    assert _of(found, "general/2026-01-05.json", "agent, t.text", "utterances") == [("Ann Lee", "shall we go now?"), ("U2", "yes")]


def test_what_is_no_log_is_named(found: Ingested) -> None:
    """Not as a damaged one; and a damaged one by its place, whatever its size."""
    notes = {path.rpartition("/")[2]: note for path, note in found.report.others}
    assert "columns time, name and content" in notes["chat.txt"]
    assert "readings of messages" in notes["readings.jsonl"]
    assert notes["settings.toml"] == "not a game log"
    assert notes["completed.json"].endswith("mark of a clembench game that ended")
    assert notes["run.json"].endswith("how a run of clembench went")
    assert [part.reason.partition(":")[0] for part in found.report.rejected if part.path.endswith("cut.json")] == [
        "no JSON (Expecting ',' delimiter at column 65535)"
    ]
