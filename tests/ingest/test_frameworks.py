"""Files that frameworks for agents write by themselves (AutoGen, AG2, CrewAI, ADK, MetaGPT, SOTOPIA), and messages in any envelope.

The shapes are those that the packages wrote when they were run; the words are our own.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.ingest.asked import Ingested, ingested, written

_CALL = {"id": "c1", "name": "look", "arguments": '{"place": "the gate"}'}
_USAGE = {"prompt_tokens": 7, "completion_tokens": 3}
_WROTE: list[dict[str, Any]] = [
    {"id": "1", "source": "user", "models_usage": None, "content": "Which colour is it?", "type": "TextMessage"},
    {"id": "2", "source": "planner", "models_usage": _USAGE, "content": [_CALL], "type": "ToolCallRequestEvent"},
    {
        "id": "3",
        "source": "planner",
        "models_usage": None,
        "content": [{"content": "a grey gate", "name": "look", "call_id": "c1", "is_error": False}],
        "type": "ToolCallExecutionEvent",
    },
    {"id": "4", "source": "critic", "models_usage": None, "content": "Grey, I think.", "type": "TextMessage"},
]
_CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": "Which colour is it?", "name": "admin"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": _CALL}]},
    {"role": "tool", "content": "a grey gate", "tool_call_id": "c1"},
    {"role": "assistant", "content": "It is grey."},
]
_EVENTS: list[dict[str, Any]] = [
    {"author": "user", "content": {"role": "user", "parts": [{"text": "Which colour is it?"}]}, "id": "e1", "timestamp": 1.8e9},
    {
        "author": "guide",
        "content": {
            "role": "model",
            "parts": [{"text": "I look.", "thought": True}, {"functionCall": {**_CALL, "args": {"place": "the gate"}}}],
        },
        "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3},
        "actions": {"stateDelta": {}},
        "id": "e2",
    },
    {
        "author": "guide",
        "content": {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "look", "response": {"seen": "a grey gate"}}}]},
        "id": "e3",
    },
    {
        "author": "guide",
        "content": {"role": "model", "parts": [{"text": "It is grey.", "functionCall": None, "inlineData": None}]},
        "id": "e4",
    },
]


def _remembered(*messages: tuple[str, str, str]) -> dict[str, Any]:
    stored = [
        {"id": id_, "content": text, "role": role, "cause_by": "a.B", "sent_from": "", "send_to": ["<all>"]} for id_, role, text in messages
    ]
    return {"goal": "do it", "rc": {"memory": {"storage": stored, "index": {"a.B": stored}}}, "latest_observed_msg": stored[-1]}


_IDEA, _PLAN, _DESIGN = ("1", "user", "Make a game"), ("2", "Manager", "The plan is short"), ("3", "Architect", "The design is a grid")
_TASK = {"description": "Tell the colour", "agent": "Guide", "summary": "Tell the colour...", "output_format": "raw"}
_ANSWERED = {**_TASK, "raw": "It is grey.", "messages": _CHAT}
_UNANSWERED = {**_TASK, "agent": "Critic", "raw": "That is wrong.", "messages": [{"role": "user", "content": "Criticise this"}]}

_FILES: dict[str, tuple[Any, dict[str, list[str]]]] = {
    "autogen_result": (
        {"messages": _WROTE, "stop_reason": "the most messages"},
        {"user": ["Which colour is it?"], "tool": ["a grey gate"], "critic": ["Grey, I think."]},
    ),
    "autogen_stream": (
        [*_WROTE, {"messages": _WROTE, "stop_reason": "the most messages"}],
        {"user": ["Which colour is it?"], "tool": ["a grey gate"], "critic": ["Grey, I think."]},
    ),
    "ag2_result": (
        {"chat_id": 1, "chat_history": _CHAT, "summary": "It is grey.", "cost": {"total_cost": 0, "m": _USAGE}},
        {"admin": ["Which colour is it?"], "tool": ["a grey gate"], "assistant": ["It is grey."]},
    ),
    "crewai": (
        {"raw": "That is wrong.", "tasks_output": [_ANSWERED, _UNANSWERED], "token_usage": {"total_tokens": 10, **_USAGE}},
        {
            "admin": ["Which colour is it?"],
            "user": ["Criticise this"],
            "tool": ["a grey gate"],
            "Guide": ["It is grey."],
            "Critic": ["That is wrong."],
        },
    ),
    "crewai_without_messages": (
        {
            "raw": "That is wrong.",
            "tasks_output": [{**_TASK, "raw": "It is grey."}, {**_TASK, "raw": "That is wrong.", "agent": "Critic"}],
            "token_usage": {"total_tokens": 10},
        },
        {"Guide": ["It is grey."], "Critic": ["That is wrong."]},
    ),
    "crewai_log": (
        [
            {"timestamp": "2026-02-01 10:00:00", "task_name": None, "task": "Tell the colour", "agent": "Guide", "status": "started"},
            {
                "timestamp": "2026-02-01 10:00:09",
                "task_name": None,
                "task": "Tell the colour",
                "agent": "Guide",
                "status": "completed",
                "output": "It is grey.",
            },
        ],
        {"user": ["Tell the colour"], "Guide": ["It is grey."]},
    ),
    "adk_session": (
        {"id": "s1", "appName": "trip", "userId": "u", "state": {}, "events": _EVENTS},
        {"user": ["Which colour is it?"], "guide": ["I look.", "It is grey."], "tool": ['{"seen":"a grey gate"}']},
    ),
    "adk_events": (
        _EVENTS,
        {"user": ["Which colour is it?"], "guide": ["I look.", "It is grey."], "tool": ['{"seen":"a grey gate"}']},
    ),
    "metagpt": (
        {
            "env": {"desc": "", "roles": {"Manager": _remembered(_IDEA, _PLAN), "Architect": _remembered(_PLAN, _DESIGN)}},
            "idea": "Make a game",
            "investment": 10.0,
        },
        {"user": ["Make a game"], "Manager": ["The plan is short"], "Architect": ["The design is a grid"]},
    ),
    "adp": (
        {
            "id": "t1",
            "content": [
                {"class_": "text_observation", "content": "Find the gate", "name": None, "source": "user"},
                {"class_": "api_action", "function": "look", "kwargs": {"place": "the gate"}, "description": "I look."},
                {"class_": "web_observation", "html": None, "axtree": "a grey gate", "viewport_size": [1, 2]},
                {"class_": "message_action", "content": "It is grey.", "description": None},
            ],
            "details": {},
        },
        {"user": ["Find the gate"], "assistant": ["I look.", "It is grey."], "tool": ['{"axtree":"a grey gate"}']},
    ),
    "agent_reward_bench": (
        {
            "benchmark": "web",
            "agent": "Clicker",
            "model": "m-4",
            "goal": "Buy a lamp",
            "experiment": "e-1",
            "summary_info": {"cum_reward": 1.0, "n_steps": 1},
            "steps": [{"num": 0, "action": "click('12')", "chat_messages": [*_CHAT[:1], {"role": "assistant", "content": "I click."}]}],
        },
        {"admin": ["Which colour is it?"], "Clicker": ["I click."]},
    ),
    "sotopia": (
        {
            "environment": "01E",
            "agents": ["a", "b"],
            "models": ["m-0", "m-1", "m-2"],
            "messages": [
                [["Environment", "Ann", "You want the chair"], ["Environment", "Bo", "You own the chair"]],
                [["Ann", "Environment", "Sell it to me?"], ["Bo", "Environment", "did nothing"]],
            ],
            "rewards": [[3.5, {"goal": 4}], [2.0, {"goal": 1}]],
        },
        {"Environment": ["You want the chair", "You own the chair"], "Ann": ["Sell it to me?"], "Bo": ["did nothing"]},
    ),
}


def _event(kind: str, **data: Any) -> dict[str, Any]:
    """An event as AG2 1.2 logs it: the path of its class, and what the class holds; parts and counts name theirs too."""
    return {"type": f"ag2.events.{kind}", "data": {"created_at": 1.8e9, **data}}


_INPUT = {"__event__": "ag2.events.input_events.TextInput", "created_at": 1.8e9, "metadata": {}}
_COUNTS = {"__dataclass__": "ag2.events.types.Usage", "data": {**_USAGE, "thinking_tokens": None}}
_CALLS = {"__event__": "ag2.events.tool_events.ToolCallsEvent", "calls": [{"__event__": "ag2.events.tool_events.ToolCallEvent", **_CALL}]}
_SEEN = {"__dataclass__": "ag2.events.tool_events.ToolResult", "data": {"parts": [{**_INPUT, "content": "a grey gate"}], "final": False}}
_REPLY = {"__event__": "ag2.events.types.ModelMessage", "content": "It is grey."}
_FILES["ag2_events"] = (
    [
        _event("input_events.ModelRequest", parts=[{**_INPUT, "content": "Which colour is it?"}]),
        _event("types.UsageEvent", model="m-1", usage=_COUNTS),
        _event("types.ModelResponse", message=None, tool_calls=_CALLS, usage=_COUNTS, model="m-1", finish_reason="tool_calls"),
        _event("tool_events.ToolCallsEvent", **_CALLS),
        _event(
            "tool_events.ToolErrorEvent", parent_id="c1", name="look", result=_SEEN, error={"__exception__": "OSError", "message": "fog"}
        ),
        _event("types.ModelResponse", message=_REPLY, tool_calls={**_CALLS, "calls": []}, usage=_COUNTS, model="m-1"),
    ],
    {"user": ["Which colour is it?"], "tool": ["a grey gate"], "assistant": ["It is grey."]},
)
_ASKED = json.dumps({"model": "m-1", "messages": [{"role": "system", "content": "Look at gates."}, _CHAT[0]]})
_STEP = {"toolCallId": "c1", "toolName": "look", "input": {"place": "the gate"}}
_STEPS: list[dict[str, Any]] = [
    {
        "content": [{"type": "tool-call", **_STEP}, {"type": "tool-result", **_STEP, "output": "a grey gate"}],
        "finishReason": "tool-calls",
        "usage": {"inputTokens": 7, "outputTokens": 3},
        "request": {"body": _ASKED},
        "response": {
            "modelId": "m-1",
            "messages": [{"role": "tool", "content": [{"type": "tool-result", **_STEP, "output": "a grey gate"}]}],
        },
    },
    {
        "content": [{"type": "text", "text": "It is grey."}],
        "finishReason": "stop",
        "request": {"body": _ASKED},
        "response": {"modelId": "m-1"},
    },
]
_FILES["ai_sdk"] = (
    {"steps": _STEPS},
    {"system": ["Look at gates."], "admin": ["Which colour is it?"], "tool": ["a grey gate"], "assistant": ["It is grey."]},
)


def _spoken(found: Ingested) -> dict[str, list[str]]:
    spoken: dict[str, list[str]] = {}
    for agent, text in found.rows("SELECT agent, text FROM utterances ORDER BY episode_id, turn, seq"):
        spoken.setdefault(agent, []).append(text)
    return spoken


@pytest.fixture(scope="module")
def frameworks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ingested]:
    """The files, one of each framework, in one store."""
    folder = tmp_path_factory.mktemp("frameworks")
    for name, (document, _) in _FILES.items():
        parts = document if isinstance(document, list) and "crewai" not in name else [document]
        written(folder / f"{name}.json", *parts)
    return folder, ingested(folder, folder)


def test_nothing_of_them_is_refused(frameworks: tuple[Path, Ingested]) -> None:
    """Each file is a game of its own, and its receipt has equal counts."""
    _, found = frameworks
    assert found.refused == []
    assert found.rows("SELECT count(*) FROM episodes") == [(len(_FILES),)]
    assert found.rows("SELECT path, kind FROM receipts WHERE kind <> 'keys' AND counted > coalesce(stored, 0)") == []
    called = found.rows("SELECT verb, arguments, count(*) FROM actions GROUP BY 1, 2 ORDER BY 1")
    expected = [("action", {"value": "click('12')"}, 1), ("look", {"place": "the gate"}, 9)]
    assert [(verb, json.loads(arguments), count) for verb, arguments, count in called] == expected


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", _FILES)
def test_who_wrote_what(frameworks: tuple[Path, Ingested], name: str) -> None:
    """Each word is of the agent that wrote it, once, in order."""
    _, found = frameworks
    rows = found.rows(
        f"SELECT u.agent, u.text FROM utterances u JOIN episodes e USING (episode_id) WHERE e.file = '{name}.json' ORDER BY u.turn, u.seq"
    )
    spoken: dict[str, list[str]] = {}
    for agent, text in rows:
        spoken.setdefault(agent, []).append(text)
    assert spoken == _FILES[name][1]


def test_scores_of_every_agent_and_models_in_order(frameworks: tuple[Path, Ingested]) -> None:
    """Rewards in lists and objects are a number each; a list of models has one for each agent."""
    _, found = frameworks
    metrics = found.rows("SELECT metric, value FROM episode_metrics WHERE metric LIKE 'sotopia%' ORDER BY 1")
    assert [value for _, value in metrics] == [3.5, 4.0, 2.0, 1.0]
    models = found.rows("SELECT agent, model FROM agents WHERE model IN ('m-0', 'm-1', 'm-2') ORDER BY 1")
    assert models == [("Ann", "m-1"), ("Bo", "m-2"), ("Environment", "m-0"), ("assistant", "m-1"), ("assistant", "m-1")]
    counts = found.rows("SELECT sum(tokens_in), sum(tokens_out) FROM calls JOIN episodes USING (episode_id) WHERE file = 'ag2_events.json'")
    assert counts == [(14, 6)]
    assert found.rows("SELECT error_text FROM actions WHERE NOT accepted") == [("fog",)]


_ENVELOPES: dict[str, Any] = {
    "under_data": {"data": {"result": {"log": _CHAT}}},
    "by_name": {"runs": {"a": {"turns": _CHAT, "score": 1}, "b": {"turns": _CHAT[:1], "score": 0}}},
    "a_list_of_lists": [_CHAT, _CHAT[:2]],
    "as_text": {"run": {"dialogue": json.dumps(_CHAT)}},
    "sharegpt": [{"id": "a", "conversations": [{"from": "human", "value": "Which colour?"}, {"from": "gpt", "value": "Grey"}]}],
    "chatgpt": {
        "title": "t",
        "mapping": [{"message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Which colour?"]}}}],
    },
}


def test_messages_are_found_in_whatever_envelope(tmp_path: Path) -> None:
    """A file that no format claims is read where it has messages of a known dialect; scores next to them are theirs."""
    for name, document in _ENVELOPES.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    (tmp_path / "settings.json").write_text('{"name": "a tool", "servers": [{"name": "b", "port": 1}]}', encoding="utf-8")
    found = ingested(tmp_path, tmp_path)
    assert [Path(part.path).name for part in found.report.rejected] == ["settings.json"]
    games = found.rows("SELECT file, count(*), sum(turns_taken), max(score) FROM episodes GROUP BY 1 ORDER BY 1")
    assert games == [
        ("a_list_of_lists.json", 2, 6, None),
        ("as_text.json", 1, 4, None),
        ("by_name.json", 2, 5, 1.0),
        ("chatgpt.json", 1, 1, None),
        ("sharegpt.json", 1, 2, None),
        ("under_data.json", 1, 4, None),
    ]
    assert found.rows("SELECT path, kind FROM receipts WHERE kind <> 'keys' AND counted > coalesce(stored, 0)") == []


_SPAN = {
    "traceId": "ab",
    "spanId": "1",
    "name": "chat",
    "startTimeUnixNano": "1770000000000000000",
    "attributes": [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
        {"key": "gen_ai.input.messages", "value": {"stringValue": json.dumps(_CHAT[:1])}},
        {"key": "gen_ai.output.messages", "value": {"stringValue": json.dumps([{"role": "assistant", "content": "It is grey."}])}},
    ],
}
_RUN = {
    "schema_version": "ATIF-v1.5",
    "session_id": "s",
    "agent": {"name": "a", "model_name": "m"},
    "steps": [{"step_id": 1, "source": "user", "message": "Look at it"}, {"step_id": 2, "source": "agent", "message": "It is grey."}],
}


def test_requests_and_replies_are_one_conversation(tmp_path: Path) -> None:
    """A log of requests repeats the conversation with each: it is one game, with the tokens of every reply. Another one begins anew."""
    asked = [{"role": "system", "content": "You sell lamps."}, {"role": "user", "content": "Is there a red lamp?"}]
    replies = ["Yes, for ten.", "That is twenty."]

    def logged(messages: list[dict[str, str]], reply: str) -> dict[str, Any]:
        choice = {"message": {"role": "assistant", "content": reply}}
        return {"request": {"messages": messages}, "response": {"model": "m-1", "choices": [choice], "usage": _USAGE}}

    more = [*asked, {"role": "assistant", "content": replies[0]}, {"role": "user", "content": "I take two."}]
    found = ingested(tmp_path, written(tmp_path / "a.jsonl", *map(logged, (asked, more, asked[:1]), (*replies, "Good day."))))
    assert found.refused == []
    assert [tuple(row) for row in found.rows("SELECT turns_taken FROM episodes ORDER BY 1")] == [(2,), (5,)]
    assert _spoken(found)["assistant"] in ([*replies, "Good day."], ["Good day.", *replies])
    assert found.rows("SELECT sum(tokens_in), sum(tokens_out) FROM calls") == [(21, 9)]
    assert found.rows("SELECT task_id FROM episodes WHERE turns_taken = 5") == [("line 1 request.messages",)]


_STATE = [
    {"type": "human", "content": "Plan a trip to the coast", "id": "m0"},
    {"type": "ai", "name": "planner", "content": "I ask what it costs", "id": "m1"},
    {"type": "ai", "name": "budget", "content": "Nine hundred in all", "id": "m2"},
]
_STATES: dict[str, list[Any]] = {
    "values of a stream": [{"messages": _STATE[:end], "step": end} for end in (1, 2, 3)],
    "values that a node did not change": [{"messages": _STATE[:end]} for end in (1, 2, 2, 3, 3)],
    "messages without ids": [
        {"messages": [{"role": "user", "content": "a b"}, {"role": "user", "content": "c d"}][:end]} for end in (1, 2)
    ],
    "checkpoints, the last first": [{"values": {"messages": _STATE[:end]}, "next": []} for end in (3, 2, 1)],
    "checkpoints": [{"values": {"messages": _STATE[:end]}, "next": []} for end in (1, 2, 3)],
    "a state of the game with each": [{"messages": _STATE[:end], "game": {"step": end}} for end in (1, 2, 3)],
    "what came in, and all that went out": [{"inputs": {"messages": _STATE[:1]}, "outputs": {"messages": _STATE}}],
    "events": [
        {"data": {"input": {"messages": _STATE[:1]}}},
        {"data": {"input": {"messages": [_STATE[:1]]}}},
        {"data": {"messages": _STATE}},
    ],
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", _STATES)
def test_states_of_a_conversation_are_one_game(name: str, tmp_path: Path) -> None:
    """A program that logs the whole state after each step logs one conversation, with each message once."""
    found = ingested(tmp_path, written(tmp_path / "a.jsonl", *_STATES[name]))
    most = 2 if "without ids" in name else len(_STATE)
    assert found.rows("SELECT turns_taken FROM episodes") == [(most,)]
    assert found.rows("SELECT count(DISTINCT text), count(*) FROM utterances") == [(most, most)]
    assert found.refused == []


_LAMPS: list[dict[str, Any]] = [{"role": "user", "content": "Is there a red lamp?"}, {"role": "assistant", "content": "Yes, for ten."}]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "rows",
    [
        [{"messages": _LAMPS}, {"messages": _LAMPS}],
        [{"conversation_id": "a", "messages": _LAMPS[:1]}, {"conversation_id": "b", "messages": _LAMPS}],
        [{"conversation_id": "a", "log": {"held": _LAMPS[:1]}}, {"conversation_id": "b", "log": {"held": _LAMPS}}],
        [{"model": "m", "messages": _LAMPS[:1]}, {"model": "n", "messages": _LAMPS}],
        [{"rollout": 1, "messages": _LAMPS[:1]}, {"rollout": 2, "messages": _LAMPS}],
        [{"messages": _LAMPS[:1], "success": False}, {"messages": _LAMPS, "success": True}],
    ],
)
def test_games_that_begin_alike_stay_apart(rows: list[Any], tmp_path: Path) -> None:
    """Ids, models and outcomes tell games apart, and a game that was played twice alike is two."""
    assert ingested(tmp_path, written(tmp_path / "a.jsonl", *rows)).rows("SELECT count(*) FROM episodes") == [(2,)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("reply", "texts"),
    [
        ({"response": "Yes, for ten."}, ["Is there a red lamp?", "Yes, for ten."]),
        ({"response": {"choices": [{"message": _LAMPS[1]}], "usage": _USAGE}}, ["Is there a red lamp?", "Yes, for ten."]),
        ({"response": "Yes, for ten.", "usage": _USAGE}, ["Is there a red lamp?", "Yes, for ten."]),
        ({"output": _LAMPS}, ["Is there a red lamp?", "Yes, for ten."]),
        ({"output": [_LAMPS[1]]}, ["Is there a red lamp?", "Yes, for ten."]),
        ({"output": _LAMPS[1]}, ["Is there a red lamp?", "Yes, for ten."]),
        ({"output": "ten"}, ["Is there a red lamp?"]),
    ],
)
def test_a_reply_next_to_its_messages_is_a_message(reply: dict[str, Any], texts: list[str], tmp_path: Path) -> None:
    """What a model answered to the messages of its row is one more; a text that may be what it should have answered is none."""
    found = ingested(tmp_path, written(tmp_path / "a.jsonl", *({"id": name, "messages": _LAMPS[:1], **reply} for name in "ab")))
    assert found.rows("SELECT list(text ORDER BY turn) FROM utterances GROUP BY episode_id") == [(texts,), (texts,)]
    assert found.rows("SELECT sum(tokens_out) FROM calls") == [(6,) if "usage" in str(reply) else (None,)]


def test_requests_that_continue_one_another_keep_tokens_and_task(tmp_path: Path) -> None:
    """Of each request, although only the first names the task; a row whose messages are none costs no other."""
    rows = [
        {"task_id": "lamps", "messages": _LAMPS[:1], "response": "Yes, for ten.", "usage": _USAGE},
        {"messages": [*_LAMPS, {"role": "user", "content": "And a blue one?"}], "response": "No.", "usage": _USAGE},
        {"messages": ["no message"]},
        {"messages": [7]},
    ]
    found = ingested(tmp_path, written(tmp_path / "a.jsonl", *rows))
    assert found.rows("SELECT task_id, turns_taken FROM episodes") == [("lamps", 4)]
    assert found.rows("SELECT count(*), sum(tokens_in), sum(tokens_out) FROM calls") == [(2, 14, 6)]
    assert len(found.refused) == 2


_CHATS: dict[str, Any] = {
    "telegram": {"messages": [{"id": 1, "type": "message", "from": "Ann", "text": ["see ", {"type": "link", "text": "the gate"}]}]},
    "discord": {"messages": [{"id": "1", "type": "Default", "author": {"id": "9", "name": "Ann"}, "content": "see the gate"}]},
}


@pytest.mark.parametrize("name", _CHATS)
def test_chats_of_people_are_read_and_counted(tmp_path: Path, name: str) -> None:
    """As Telegram and Discord export them; the receipt sees their messages."""
    found = ingested(tmp_path, written(tmp_path / "a.json", _CHATS[name]))
    assert (found.refused, {agent: " ".join("".join(texts).split()) for agent, texts in _spoken(found).items()}) == (
        [],
        {"Ann": "see the gate"},
    )
    assert found.rows("SELECT counted, stored FROM receipts WHERE kind = 'messages'") == [(1, 1)]


def test_a_known_format_is_found_when_it_is_packed_or_inside_of_an_object(tmp_path: Path) -> None:
    """By its keys, in objects by name and in each line too; what gzip packed is unpacked if it is whole."""
    spans = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": [_SPAN]}]}]}
    logs = tmp_path / "logs"
    written(logs / "spans.json", {"status": "ok", "data": spans})
    written(logs / "named.json", {"first": _RUN, "second": {**_RUN, "session_id": "t"}})
    written(logs / "lines.jsonl", {"result": {"run": _RUN}}, {"result": {"run": {**_RUN, "session_id": "t"}}})
    (logs / "packed.json.gz").write_bytes(gzip.compress(json.dumps(_CHAT).encode()))
    (logs / "cut.json.gz").write_bytes(gzip.compress(json.dumps(_CHAT).encode())[:-12])
    (logs / "followed.json.gz").write_bytes(gzip.compress(json.dumps(_CHAT).encode()) + b"and more that nobody packed")
    found = ingested(tmp_path, logs)
    assert found.refused == []
    assert [(Path(path).name, reason[:10]) for path, reason in found.report.others] == [
        ("cut.json.gz", "compressed"),
        ("followed.json.gz", "compressed"),
    ]
    games = found.rows("SELECT file, benchmark, count(*), sum(turns_taken) FROM episodes GROUP BY ALL ORDER BY 1")
    assert games == [
        ("lines.jsonl", "atif", 2, 4),
        ("named.json", "atif", 2, 4),
        ("packed.json.gz", "chat", 1, 4),
        ("spans.json", "otel", 1, 2),
    ]


def _rollout(folder: Path, day: str, name: str, *payloads: dict[str, Any]) -> str:
    lines = [
        json.dumps(
            {"timestamp": f"2026-02-01T10:00:0{at}.000Z", "type": "session_meta" if "source" in one else "response_item", "payload": one}
        )
        for at, one in ((one.pop("at"), one) for one in payloads)
    ]
    written(folder / day / f"rollout-2026-02-{day}T10-00-00-{name}.jsonl", *lines)
    return lines[1]


def test_threads_and_trajectories_are_read_with_the_agent_that_called_them(tmp_path: Path) -> None:
    """Codex names the parent's thread in the child, whose copy of the parent's words is left out; ATIF names the child's file."""

    def written_at(at: int, role: str, text: str) -> dict[str, Any]:
        return {"at": at, "type": "message", "role": role, "content": [{"type": "output_text", "text": text}]}

    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "p-1", "agent_nickname": "Euler", "agent_role": "explorer"}}}
    messages = [written_at(1, "user", "Fix the gate."), written_at(7, "assistant", "It is fixed.")]
    asked = _rollout(tmp_path / "codex", "01", "p-1", {"at": 0, "id": "p-1", "source": "cli"}, *messages)
    child = {"at": 2, "id": "c-1", "source": spawned}
    _rollout(tmp_path / "codex", "02", "c-1", child, written_at(3, "user", "Look for gates"), written_at(4, "assistant", "Two gates."))
    path = next((tmp_path / "codex" / "02").iterdir())
    path.write_text(path.read_text(encoding="utf-8").replace("\n", f"\n{asked}\n", 1), encoding="utf-8")
    for name, steps in {
        "trajectory": [("user", "Do it"), ("agent", "I hand over"), ("agent", "All done")],
        "trajectory.sum": [("user", "Sum it up"), ("agent", "It is summed")],
    }.items():
        document = {"schema_version": "ATIF-v1.5", "session_id": name, "agent": {"name": "a", "model_name": "m"}}
        held: list[dict[str, Any]] = [{"step_id": at, "source": who, "message": text} for at, (who, text) in enumerate(steps, start=1)]
        if name == "trajectory":
            refers = [{"session_id": "x", "trajectory_path": "agent/trajectory.sum.json"}]
            held[1]["observation"] = {"results": [{"content": "summed", "subagent_trajectory_ref": refers}]}
        written(tmp_path / "atif" / f"{name}.json", {**document, "steps": held})
    found = ingested(tmp_path, tmp_path / "codex", tmp_path / "atif")
    assert found.refused == []
    assert found.rows("SELECT benchmark FROM episodes ORDER BY 1") == [("atif",), ("codex",)]
    by_codex = found.rows("SELECT agent, text FROM utterances JOIN episodes USING (episode_id) WHERE benchmark = 'codex' ORDER BY turn")
    assert by_codex == [("user", "Fix the gate."), ("assistant", "Look for gates"), ("Euler", "Two gates."), ("assistant", "It is fixed.")]
    by_atif = found.rows("SELECT text FROM utterances JOIN episodes USING (episode_id) WHERE benchmark = 'atif' ORDER BY turn, seq")
    assert [text for (text,) in by_atif] == ["Do it", "I hand over", "summed", "Sum it up", "It is summed", "All done"]
    counted = found.rows("SELECT count(*), sum(counted), sum(stored) FROM receipts WHERE kind = 'words'")
    assert counted == [(4, 28, 28)]


@pytest.mark.parametrize("damaged", [b'{"steps": [{"step_id": 1, "mess', b"\xff\xfe{\0a"], ids=["cut", "half a character"])
def test_a_damaged_file_that_another_refers_to_is_a_reject(tmp_path: Path, damaged: bytes) -> None:
    """It was left out and said to be read, or ended the reading of its parent."""
    refers = {"results": [{"content": "done", "subagent_trajectory_ref": [{"session_id": "x", "trajectory_path": "sub.json"}]}]}
    steps = [
        {"step_id": 1, "source": "user", "message": "Do it"},
        {"step_id": 2, "source": "agent", "message": "I hand over", "observation": refers},
    ]
    logs = tmp_path / "logs"
    written(logs / "run.json", {**_RUN, "session_id": "s", "steps": steps})
    written(logs / "other.json", _RUN)
    (logs / "sub.json").write_bytes(damaged)
    found = ingested(tmp_path, logs)
    assert found.rows("SELECT file FROM episodes ORDER BY 1") == [("other.json",), ("run.json",)]
    assert [reject.reason for reject in found.report.rejected if "sub.json, to which it refers" in reject.reason]


def test_no_file_outside_of_the_folder_is_read_through_a_link(tmp_path: Path) -> None:
    """A log may name any path, and a folder may hold links."""
    refers = {"results": [{"content": "done", "subagent_trajectory_ref": [{"session_id": "x", "trajectory_path": "sub.json"}]}]}
    logs = tmp_path / "logs"
    written(logs / "run.json", {**_RUN, "steps": [{"step_id": 1, "source": "agent", "message": "I hand over", "observation": refers}]})
    written(tmp_path / "secret.json", {**_RUN, "steps": [{"step_id": 1, "source": "user", "message": "private"}]})
    (logs / "sub.json").symlink_to(tmp_path / "secret.json")
    assert ("private",) not in ingested(tmp_path, logs).rows("SELECT text FROM utterances")
