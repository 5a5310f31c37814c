"""Spans as instrumentations really write them, in every file form: who spoke, what was called, and every word.

The files are written here after the public specifications of the instrumentations, in words of our own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.ingest.asked import ingested, written

_TRACE = "0af7651916cd43dd8448eb211c80319c"
_ASK, _ANSWER = "Book a room", "Room 7 is free."
_CHAT = [{"role": "user", "content": _ASK}, {"role": "assistant", "content": _ANSWER}]
_ASKED = {"messages": _CHAT[:1]}
_AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "planner"}
_USED = {"gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 4}


def _span(number: int, parent: int, name: str, attributes: dict[str, Any]) -> dict[str, Any]:
    held = [
        {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": _text(value)}}
        for key, value in attributes.items()
    ]
    start = 1790000000000000000 + number * 10**9
    times = {"startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 5 * 10**8)}
    return (
        {"traceId": _TRACE, "spanId": f"{number:016x}", "parentSpanId": f"{parent:016x}" if parent else "", "name": name}
        | times
        | {"attributes": held}
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "s"}, "spans": list(spans)}]}]}


_MODEL = {"gen_ai.request.model": "m"}
_AI_CALL = {"toolCallId": "c1", "toolName": "search", "input": {"q": "room"}}
_ADK_CALL = {"role": "model", "parts": [{"function_call": {"name": "search", "args": {"q": "room"}, "id": "c1"}}]}
_ADK_ASK = {"role": "user", "parts": [{"text": _ASK}]}
_EVENTS = [
    {"event.name": "gen_ai.user.message", "role": "user", "content": _ASK},
    {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "content": _ANSWER}},
]
_SPANS: dict[str, list[tuple[int, int, str, dict[str, Any]]]] = {
    "Logfire, events": [
        (1, 0, "agent run", {"agent_name": "planner", "all_messages_events": _CHAT}),
        (2, 1, "chat", {"gen_ai.operation.name": "chat", **_MODEL, **_USED, "events": _EVENTS}),
    ],
    "Logfire, requests": [
        (1, 0, "run", {"agent_name": "planner"}),
        (2, 1, "Chat", {
            **_MODEL, "request_data": _ASKED,
            "response_data": {"message": _CHAT[1], "usage": {"prompt_tokens": 9, "completion_tokens": 4}},
        }),
    ],
    "AI SDK": [
        (1, 0, "ai.generateText", {"ai.telemetry.functionId": "planner", "ai.prompt": _ASKED, "ai.response.text": _ANSWER}),
        (2, 1, "do", {"ai.prompt.messages": _CHAT[:1], "ai.response.toolCalls": [_AI_CALL], **_MODEL, **_USED}),
        (3, 1, "ai.toolCall", {
            "ai.operationId": "ai.toolCall", "ai.toolCall.name": "search", "ai.toolCall.id": "c1", "ai.toolCall.args": {"q": "room"},
            "ai.toolCall.result": "room seven",
        }),
        (4, 1, "do", {
            "ai.prompt.messages": [_CHAT[0], {"role": "assistant", "content": [{"type": "tool-call", **_AI_CALL}]}],
            "ai.response.text": _ANSWER, **_MODEL,
        }),
    ],
    "ADK": [
        (1, 0, "agent_run", _AGENT),
        (2, 1, "call_llm", {
            **_MODEL, **_USED, "gcp.vertex.agent.llm_request": {"contents": [_ADK_ASK]},
            "gcp.vertex.agent.llm_response": {"content": _ADK_CALL},
        }),
        (3, 2, "execute_tool", {
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.id": "c1",
            "gcp.vertex.agent.tool_call_args": {"q": "room"}, "gcp.vertex.agent.tool_response": "room seven",
        }),
        (4, 1, "call_llm", {
            **_MODEL, "gcp.vertex.agent.llm_request": {"contents": [_ADK_ASK, _ADK_CALL]},
            "gcp.vertex.agent.llm_response": {"content": {"role": "model", "parts": [{"text": _ANSWER}]}},
        }),
    ],
    "OpenInference, values": [
        (1, 0, "planner", {"openinference.span.kind": "AGENT", "agent.name": "planner"}),
        (2, 1, "llm", {
            "openinference.span.kind": "LLM", "llm.model_name": "m", "input.value": _ASK, "output.value": _ANSWER,
            "llm.token_count.prompt": 9, "llm.token_count.completion": 4,
        }),
    ],
    "pydantic-ai": [
        (1, 0, "agent run", {**_AGENT, "pydantic_ai.all_messages": [{"role": "user", "parts": [{"type": "text", "content": _ASK}]}]}),
        (2, 1, "chat", {
            "gen_ai.operation.name": "chat", **_MODEL, **_USED,
            "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": _ASK}]}],
            "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": _ANSWER}]}],
        }),
    ],
}  # fmt: skip
_NUMBERED = {
    "openinference.span.kind": "LLM", "llm.model_name": "m", "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": _ASK, "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": _ANSWER, "llm.token_count.prompt": 9, "llm.token_count.completion": 4,
}  # fmt: skip
_TEXT_OF_AGENT = {"openinference.span.kind": "AGENT", "agent.name": "planner"}


def _other(number: int, parent: int | None, attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    context = {"trace_id": "t", "span_id": f"s{number}"}
    times = {"start_time": f"2026-09-21T10:00:0{number}Z", "end_time": f"2026-09-21T10:00:0{number}.5Z"}
    return {"name": f"n{number}", "context": context, "parent_id": parent and f"s{parent}", "attributes": attributes} | times | more


def _tree(number: int, attributes: dict[str, Any], *children: dict[str, Any]) -> dict[str, Any]:
    at = {"timestamp": f"2026-09-21T10:00:0{number}Z", "trace_id": "t", "span_id": f"s{number}", "span_name": f"n{number}"}
    parent = {"parent_span_id": f"s{number - 1}" if number > 1 else None}
    return at | parent | {"span_attributes": attributes, "child_spans": list(children), "status_code": "Ok"}


def _run(number: int, kind: str, inputs: Any, outputs: Any, **metadata: str) -> dict[str, Any]:
    at = {"start_time": f"2026-09-21T10:00:0{number}", "end_time": f"2026-09-21T10:00:0{number}.5"}
    ids = {"id": f"r{number}", "trace_id": "t", "parent_run_id": "r1" if number > 1 else None, "name": "search"}
    return (
        ids
        | at
        | {"run_type": kind, "inputs": inputs, "outputs": outputs, "extra": {"metadata": {"langgraph_node": "planner", **metadata}}}
    )


_HUMAN = {"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": {"content": _ASK, "type": "human"}}
_NESTED = {
    "llm": {
        "model_name": "m", "token_count": {"prompt": 9, "completion": 4},
        "input_messages": [{"message": _CHAT[0]}], "output_messages": [{"message": _CHAT[1]}],
    }
}  # fmt: skip


def _ai(**kwargs: Any) -> dict[str, Any]:
    return {"generations": [[{"message": {"lc": 1, "type": "constructor", "id": ["AIMessage"], "kwargs": {"type": "ai", **kwargs}}}]]}


_COUNTED = {"input_tokens": 9, "output_tokens": 4}


def _sdk(number: int, parent: int, kind: str, **data: Any) -> dict[str, Any]:
    times = {"started_at": f"2026-09-21T10:00:0{number}+00:00", "ended_at": f"2026-09-21T10:00:0{number}.5+00:00"}
    ids = {"object": "trace.span", "id": f"s{number}", "trace_id": "t", "parent_id": f"s{parent}" if parent else None}
    return ids | times | {"span_data": {"type": kind, **data}, "error": None}


_SDK_CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": json.dumps(_AI_CALL["input"])}}
_SDK_CALLED = {"role": "assistant", "content": None, "tool_calls": [_SDK_CALL]}
_FOUND = _SPANS["AI SDK"][2][3]["ai.toolCall.result"]
_SDK_RESULT = {"role": "tool", "tool_call_id": "c1", "content": _FOUND}
_FILES: dict[str, list[Any]] = {
    **{name: [_otlp(*(_span(*one) for one in spans))] for name, spans in _SPANS.items()},
    "console exporter": [json.dumps(one, indent=4) for one in (_other(1, None, _TEXT_OF_AGENT), _other(2, 1, _NUMBERED))],
    "Phoenix": [_other(1, None, {"agent": {"name": "planner"}}, span_kind="AGENT"), _other(2, 1, _NESTED, span_kind="LLM")],
    "TRAIL": [{"trace_id": "t", "spans": [_tree(1, {}, _tree(2, _TEXT_OF_AGENT, _tree(3, _NUMBERED)))]}],
    "LangSmith": [
        _run(1, "chain", {"input": _ASK}, {"output": _ANSWER}),
        _run(2, "llm", {"messages": [[_HUMAN]]}, _ai(content="", tool_calls=[{"name": "search", "args": {"q": "room"}, "id": "c1"}])),
        _run(3, "tool", {"input": "{'q': 'room'}"}, {"output": "room seven"}),
        _run(4, "llm", {"messages": [[_HUMAN]]}, _ai(content=_ANSWER, usage_metadata=_COUNTED), ls_model_name="m"),
    ],
}  # fmt: skip
_FILES["Agents SDK"] = [
    {"object": "trace", "id": "t", "workflow_name": "booking", "group_id": None},
    _sdk(1, 0, "agent", name="planner", handoffs=[], tools=["search"]),
    _sdk(2, 1, "generation", input=_CHAT[:1], output=[_SDK_CALLED], model="m"),
    _sdk(3, 1, "function", name="search", input=json.dumps(_AI_CALL["input"]), output=_FOUND),
    _sdk(4, 1, "generation", input=[_CHAT[0], _SDK_CALLED, _SDK_RESULT], output=_CHAT[1:], model="m", usage=_COUNTED),
]
_FILES["what the Agents SDK sends at once"] = [{"data": _FILES["Agents SDK"]}]
_FILES["a page of LangSmith"] = [{"runs": _FILES["LangSmith"], "cursors": {"next": None}}]
_WITH_TOOL = {"AI SDK", "ADK", "LangSmith", "a page of LangSmith", "Agents SDK", "what the Agents SDK sends at once"}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("form", _FILES)
def test_spans_of_every_form_are_one_conversation_with_its_agent(form: str, tmp_path: Path) -> None:
    """The planner answers, calls where the file has a call, and its tokens are counted; nothing is lost or doubled."""
    found = ingested(tmp_path, written(tmp_path / "spans.json", *_FILES[form]))
    assert found.refused == []
    texts = [("user", _ASK), *([("tool", "room seven")] if form in _WITH_TOOL else []), ("planner", _ANSWER)]
    assert found.rows("SELECT agent, text FROM utterances ORDER BY turn, seq") == texts
    calls = [("planner", "search", '{"q":"room"}')] if form in _WITH_TOOL else []
    assert found.rows("SELECT agent, verb, arguments FROM actions ORDER BY turn") == calls
    assert found.rows("SELECT sum(tokens_in), sum(tokens_out) FROM calls") == [(9, 4)]
    assert found.rows("SELECT kind FROM receipts WHERE kind <> 'keys' AND coalesce(stored, 0) < counted") == []


def test_a_response_of_the_agents_sdk_is_of_its_model(tmp_path: Path) -> None:
    """Spans of the newer interface have the response as a whole, which names the model."""
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": _ANSWER}]}]
    response = {"model": "m", "output": output, "usage": {"input_tokens": 9, "output_tokens": 4}}
    spans = [_sdk(1, 0, "agent", name="planner"), _sdk(2, 1, "response", input=_CHAT[:1], response=response)]
    found = ingested(tmp_path, written(tmp_path / "spans.json", *spans))
    assert found.rows("SELECT agent, model, tokens_in, tokens_out FROM calls") == [("planner", "m", 9, 4)]
