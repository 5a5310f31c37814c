"""Spans of generative AI: each message once, whoever repeats it, tools and evaluations where they belong, older names of attributes too."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.ingest.asked import Ingested, ingested, written


def value(given: Any) -> dict[str, Any]:
    if isinstance(given, int):
        return {"intValue": str(given)}
    if isinstance(given, float):
        return {"doubleValue": given}
    return {"arrayValue": {"values": [value(one) for one in given]}} if isinstance(given, list) else {"stringValue": given}


def span(number: int, operation: str, parent: Any = None, error: Any = None, **told: Any) -> dict[str, Any]:
    attributes = {"gen_ai.operation.name": operation} | {key.replace("__", "."): one for key, one in told.items()}
    return {
        "traceId": "t1",
        "spanId": f"s{number}",
        "name": f"{operation} {number}",
        "startTimeUnixNano": str(1_760_000_000_000_000_000 + number * 1_000_000_000),
        "endTimeUnixNano": str(1_760_000_000_500_000_000 + number * 1_000_000_000),
        "attributes": [{"key": key, "value": value(one)} for key, one in attributes.items()],
        **({"parentSpanId": f"s{parent}"} if parent is not None else {}),
        **({"status": {"code": 2, "message": error}} if error else {}),
    }


def document(*spans: dict[str, Any]) -> dict[str, Any]:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}


def said(role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": one} if isinstance(one, str) else one for one in parts], **more}


def chat(number: int, parent: int | None, inputs: list[Any], output: Any, **told: Any) -> dict[str, Any]:
    return span(
        number,
        "chat",
        parent,
        **{
            "gen_ai__input__messages": json.dumps(inputs),
            "gen_ai__output__messages": json.dumps([output]),
            "gen_ai__request__model": "gpt-x",
            "gen_ai__usage__input_tokens": 10,
            "gen_ai__usage__output_tokens": 4,
            **told,
        },
    )


CALL = {"type": "tool_call", "id": "c1", "name": "look", "arguments": {"at": "shelf"}}
RESULT = {"type": "tool_call_response", "id": "c1", "response": "three cans"}


def team() -> dict[str, Any]:
    """A buyer and a seller; the buyer looks something up, each reads the other's words in the role of a user."""
    first = said("user", "Buy a can.")
    asks, looked = said("assistant", {"type": "reasoning", "content": "Let me see."}, "Looking.", CALL), said("tool", RESULT)
    offer, deal = said("assistant", "One can, please."), said("assistant", "Deal.")
    return document(
        span(0, "invoke_agent", gen_ai__agent__name="buyer", gen_ai__conversation__id="k1"),
        chat(1, 0, [first], asks),
        span(2, "execute_tool", 0, gen_ai__tool__name="look", gen_ai__tool__call__id="c1"),
        chat(3, 0, [first, asks, looked], offer),
        span(4, "invoke_agent", gen_ai__agent__name="seller"),
        chat(5, 4, [said("user", "One can, please.")], deal),
        chat(6, 0, [first, asks, looked, offer, said("user", "Deal.")], said("assistant", "Thanks.")),
    )


def read(tmp_path: Path, *documents: Any) -> Ingested:
    return ingested(tmp_path, written(tmp_path / "spans.jsonl", *documents))


def test_repeated_histories_are_not_repeated_words(tmp_path: Path) -> None:
    """Five requests repeat each other: six messages, each by who said it, with who read it."""
    found = read(tmp_path, team())
    assert found.refused == []
    assert found.rows("SELECT turn, agent, text, list_sort(audience) FROM utterances WHERE channel = 'public' ORDER BY turn") == [
        (1, "user", "Buy a can.", ["buyer", "user"]),
        (2, "buyer", "Looking.", ["buyer"]),
        (3, "tool", "three cans", ["buyer", "tool"]),
        (4, "buyer", "One can, please.", ["buyer", "seller"]),
        (5, "seller", "Deal.", ["buyer", "seller"]),
        (6, "buyer", "Thanks.", ["buyer", "seller", "tool", "user"]),
    ]
    assert found.rows("SELECT agent, text FROM utterances WHERE channel = 'private'") == [("buyer", "Let me see.")]
    assert found.rows("SELECT turn, agent, verb, arguments ->> 'at', accepted FROM actions") == [(2, "buyer", "look", "shelf", True)]
    assert found.rows("SELECT count(*), sum(tokens_in), sum(tokens_out) FROM calls") == [(4, 40, 16)]
    assert found.rows("SELECT task_id, model FROM episodes") == [("k1", "gpt-x")]


def test_the_same_words_said_twice_in_one_history_are_two_messages(tmp_path: Path) -> None:
    """What one request holds twice was said twice."""
    go = said("user", "Go on.")
    found = read(
        tmp_path,
        document(chat(1, 9, [go], said("assistant", "Yes.")), chat(2, 9, [go, said("assistant", "Yes."), go], said("assistant", "Yes."))),
    )
    assert [text for (text,) in found.rows("SELECT text FROM utterances ORDER BY turn")] == ["Go on.", "Yes.", "Go on.", "Yes."]


def test_each_line_and_each_trace_is_read_evaluations_are_scores_and_silent_tools_actions(tmp_path: Path) -> None:
    """Two documents, a line that is none, a trace without messages; a score in an event; a tool that no message calls."""
    scored = span(
        1, "chat", gen_ai__input__messages=json.dumps([said("user", "2+2?")]), gen_ai__output__messages=json.dumps([said("assistant", "4")])
    )
    told = {"gen_ai.evaluation.name": "right", "gen_ai.evaluation.score.value": 1}
    scored["events"] = [
        {"name": "gen_ai.evaluation.result", "attributes": [{"key": key, "value": value(one)} for key, one in told.items()]}
    ]
    tool = span(2, "execute_tool", error="no such file", gen_ai__tool__name="open", gen_ai__tool__call__arguments='{"path": "x"}')
    silent = span(3, "chat") | {"traceId": "t2"}
    found = read(tmp_path, document(scored, tool), '{"resourceSpans": [', document(silent))
    assert found.rows("SELECT success, score FROM episodes") == [(True, 1.0)]
    assert found.rows("SELECT verb, arguments ->> 'path', accepted FROM actions") == [("open", "x", False)]
    assert found.rows("SELECT error FROM turns WHERE error IS NOT NULL") == [("error: no such file",)]
    assert sorted(reason.split(":")[0] for reason in found.refused) == ["line 2", "t2"]


def test_older_names_of_attributes_are_read(tmp_path: Path) -> None:
    """Numbered attributes, of two instrumentations."""
    numbered = {"gen_ai__prompt__0__role": "user", "gen_ai__prompt__0__content": "Hi.", "gen_ai__completion__0__role": "assistant"}
    llama = {"llm__input_messages__0__message__role": "user", "llm__input_messages__0__message__content": "Ho."}
    found = read(tmp_path, document(span(1, "chat", gen_ai__completion__0__content="Yes?", **numbered), span(2, "chat", **llama)))
    assert found.rows("SELECT agent, text FROM utterances ORDER BY turn") == [
        ("user", "Hi."),
        ("assistant", "Yes?"),
        ("user", "Ho."),
    ]


def event(name: str, **told: Any) -> dict[str, Any]:
    return {"name": f"gen_ai.{name}", "attributes": [{"key": key.replace("__", "."), "value": value(one)} for key, one in told.items()]}


BEFORE_1_37 = {
    "an event a message": [
        event("system.message", gen_ai__system="openai", content="Be kind."),
        event("user.message", gen_ai__system="openai", content="{1, 2}?"),
        event("assistant.message", tool_calls=json.dumps([{"id": "c1", "function": {"name": "look", "arguments": '{"at": "shelf"}'}}])),
        event("tool.message", id="c1", content="three cans"),
        event("choice", index=0, finish_reason="stop", message=json.dumps({"role": "assistant", "content": "Three."})),
    ],
    "JSON in one attribute": [
        event("system.message", gen_ai__event__content=json.dumps({"role": "system", "content": "Be kind."})),
        event("user.message", gen_ai__event__content=json.dumps({"content": [{"type": "text", "text": "{1, 2}?"}]})),
        event("assistant.message", gen_ai__event__content=json.dumps({"tool_calls": [CALL]})),
        event("tool.message", gen_ai__event__content=json.dumps({"id": "c1", "content": "three cans"})),
        event("choice", gen_ai__event__content=json.dumps({"message": {"content": "Three."}, "finish_reason": "stop", "index": 0})),
    ],
    "all in two events": [
        event(
            "content.prompt",
            gen_ai__prompt=json.dumps(
                [
                    {"role": "system", "content": "Be kind."},
                    {"role": "user", "content": "{1, 2}?"},
                    {"role": "assistant", "tool_calls": [CALL]},
                    {"role": "tool", "id": "c1", "content": "three cans"},
                ]
            ),
        ),
        event("content.completion", gen_ai__completion=json.dumps([{"role": "assistant", "content": "Three."}])),
    ],
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", BEFORE_1_37)
def test_events_from_before_1_37_are_read(form: str, tmp_path: Path) -> None:
    """The same messages, the tool and what came of it, in each of the older forms."""
    asked = span(1, "chat", gen_ai__request__model="gpt-x", gen_ai__response__model="gpt-x-2026", gen_ai__usage__input_tokens=7) | {
        "events": BEFORE_1_37[form]
    }
    found = read(tmp_path, document(asked))
    assert found.refused == []
    assert found.rows("SELECT agent, text FROM utterances ORDER BY turn") == [
        ("system", "Be kind."),
        ("user", "{1, 2}?"),
        ("tool", "three cans"),
        ("assistant", "Three."),
    ]
    assert found.rows("SELECT agent, verb, arguments ->> 'at', accepted FROM actions") == [("assistant", "look", "shelf", True)]
    assert found.rows("SELECT model, served_model, reply, tokens_in FROM calls") == [("gpt-x", "gpt-x-2026", "Three.", 7)]


def test_events_without_content_are_refused_by_their_right_cause(tmp_path: Path) -> None:
    """What was recorded without content, or elsewhere, is told with both mends."""
    bare = [event("user.message", gen_ai__system="openai"), event("choice", index=0, finish_reason="stop", message='{"role": "assistant"}')]
    (reason,) = read(tmp_path, document(span(1, "chat") | {"events": bare})).refused
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in reason
    assert "log records" in reason


@pytest.mark.parametrize(("key", "held"), [("resourceLogs", "log records"), ("resourceMetrics", "metrics")])
def test_other_signals_are_refused_by_name(tmp_path: Path, key: str, held: str) -> None:
    """Not as a file that nobody knows."""
    (reason,) = read(tmp_path, {key: []}).refused
    assert f"OTLP {held}" in reason
    assert "export spans" in reason


def test_a_request_that_failed_keeps_its_model_and_its_error(tmp_path: Path) -> None:
    """It is a call without a reply; the team and the agent have the model that was asked."""
    failed = span(1, "chat", 0, "rate limited", gen_ai__request__model="gpt-x", gen_ai__input__messages=json.dumps([said("user", "Hi.")]))
    found = read(tmp_path, document(span(0, "invoke_agent", gen_ai__agent__name="buyer"), failed))
    assert found.refused == []
    assert found.rows("SELECT text FROM utterances") == [("Hi.",)]
    assert found.rows("SELECT model FROM episodes") == [("gpt-x",)]
    assert found.rows("SELECT agent, model FROM agents WHERE model IS NOT NULL") == [("buyer", "gpt-x")]
    assert found.rows("SELECT agent, turn, model, status, reply, error FROM calls") == [
        ("buyer", None, "gpt-x", "failed", None, "rate limited"),
    ]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param({"startTimeUnixNano": "soon"}, "startTimeUnixNano is 'soon', no whole number of 64 bits", id="time"),
        pytest.param({"endTimeUnixNano": str(10**30)}, "no whole number of 64 bits", id="late"),
        pytest.param({"attributes": 7}, "attributes is not a list of objects", id="attributes"),
        pytest.param({"attributes": [{"key": "a", "value": {"intValue": [1]}}]}, "intValue is [1], no whole number", id="integer"),
        pytest.param({"events": [True]}, "events is not a list of objects", id="event"),
        pytest.param({"status": "bad"}, "status is not an object", id="status"),
    ],
)
def test_damaged_spans_are_one_line(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    """What, and where."""
    found = read(tmp_path, document(span(1, "chat") | change))
    assert len(found.refused) == 1
    assert reason in found.refused[0]


def test_tokens_that_no_span_counts_are_unknown(tmp_path: Path) -> None:
    """An answer of which nobody says how long it was is not one of no tokens; one of which somebody says that it has none is."""
    told = {"gen_ai__input__messages": json.dumps([said("user", "2?")]), "gen_ai__output__messages": json.dumps([said("assistant", "2.")])}
    found = read(tmp_path, document(span(1, "chat", **told), chat(2, None, [said("user", "3?")], said("assistant", "3."))))
    assert found.rows("SELECT text, tokens FROM utterances WHERE agent = 'assistant' ORDER BY text") == [("2.", None), ("3.", 4)]

    none = chat(1, None, [said("user", "4?")], said("assistant", "4."), gen_ai__usage__output_tokens=0)
    (tmp_path / "none").mkdir()
    assert read(tmp_path / "none", document(none)).rows("SELECT tokens FROM utterances WHERE agent = 'assistant'") == [(0,)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("tokens", [math.inf, math.nan, -3, 2.5, 10**15])
def test_a_count_of_tokens_that_is_none_is_one_line(tmp_path: Path, tokens: float) -> None:
    found = read(tmp_path, document(chat(1, 0, [said("user")], said("assistant"), gen_ai__usage__output_tokens=tokens)))
    assert len(found.refused) == 1
    assert f"gen_ai.usage.output_tokens is {tokens!r}, no count of tokens: the span is damaged" in found.refused[0]


def test_an_operation_that_is_no_name_is_none(tmp_path: Path) -> None:
    """A list where the name of an operation belongs: the messages are read all the same."""
    asked = chat(1, 9, [said("user", "Hi.")], said("assistant", "Ho."))
    asked["attributes"][0]["value"] = {"arrayValue": {"values": [{"stringValue": "chat"}]}}
    found = read(tmp_path, document(asked))
    assert found.refused == []
    assert found.rows("SELECT text FROM utterances ORDER BY turn") == [("Hi.",), ("Ho.",)]


def test_a_role_that_is_no_name_costs_no_message(tmp_path: Path) -> None:
    """An object where a role belongs, in a history that another request repeats."""
    odd = said("user", "Hi.") | {"role": {"a": 1}}
    found = read(tmp_path, document(chat(1, 9, [odd], said("assistant", "Ho.")), chat(2, 9, [odd], said("assistant", "He."))))
    assert [reason for reason in found.refused if "please report" in reason] == []


def llm(number: int, parent: int | None, kind: str = "LLM", **told: Any) -> dict[str, Any]:
    """A span of OpenInference, or of OpenLLMetry where `told` says so."""
    mine = {} if "traceloop__span__kind" in told else {"openinference__span__kind": kind}
    made = span(number, "x", parent, **{**mine, **told})
    made["attributes"] = made["attributes"][1:]
    return made


def parts(side: str, role: str, *texts: str) -> dict[str, str]:
    numbered = {
        f"contents__{n}__message_content__{key}": one for n, text in enumerate(texts) for key, one in (("type", "text"), ("text", text))
    }
    return {f"llm__{side}_messages__0__message__{key}": one for key, one in {"role": role, **numbered}.items()}


def test_messages_in_parts_and_token_counts_of_openinference_are_read(tmp_path: Path) -> None:
    """Several parts of a message are its words; a count that no span has is null."""
    asked = {**parts("input", "user", "Plan", "the trip."), **parts("output", "assistant", "Book the train.")}
    counts: dict[str, Any] = {
        "llm__token_count__prompt": 800,
        "llm__token_count__completion": 100,
        "llm__token_count__prompt_details__cache_read": 7,
    }
    found = read(
        tmp_path, document(llm(1, None, llm__model_name="gpt-x", **asked, **counts), llm(2, None, **parts("output", "assistant", "Go.")))
    )
    assert found.refused == []
    assert found.rows("SELECT text FROM utterances ORDER BY turn") == [("Plan\nthe trip.",), ("Book the train.",), ("Go.",)]
    assert found.rows("SELECT tokens_in, tokens_out, tokens_cached, tokens_reasoning FROM calls ORDER BY asked_at") == [
        (800, 100, 7, None),
        (None, None, None, None),
    ]


OPENLLMETRY = (
    {"traceloop__span__kind": "agent", "traceloop__entity__name": "{}"},
    {"traceloop__span__kind": "tool", "traceloop__entity__name": "look"},
)
OPENINFERENCE = ({"openinference__span__kind": "AGENT", "agent__name": "{}"}, {"openinference__span__kind": "TOOL", "tool__name": "look"})


@pytest.mark.parametrize(("agent", "tool"), [OPENLLMETRY, OPENINFERENCE])
def test_agents_of_spans_speak_and_tools_of_spans_act(agent: dict[str, str], tool: dict[str, str], tmp_path: Path) -> None:
    """The agent around a request wrote its answer, with its model; a tool that no message calls is an action of it."""
    spans = []
    for number, name in ((10, "planner"), (20, "checker")):
        named = {key: one.format(name) for key, one in agent.items()}
        asked = {**parts("input", "user", f"Ask {name}"), **parts("output", "assistant", f"I am {name}.")}
        spans += [llm(number, None, **named), llm(number + 1, number, llm__model_name=f"m-{name}", **asked)]
    spans.append(
        llm(12, 10, **tool, input__value='{"at": "shelf"}', output__value="three cans", traceloop__entity__input='{"at": "shelf"}')
    )
    found = read(tmp_path, document(*spans))
    assert found.rows("SELECT agent, text FROM utterances WHERE text LIKE 'I am%' ORDER BY turn") == [
        ("planner", "I am planner."),
        ("checker", "I am checker."),
    ]
    assert found.rows("SELECT agent, model FROM agents WHERE model IS NOT NULL ORDER BY agent") == [
        ("checker", "m-checker"),
        ("planner", "m-planner"),
    ]
    assert found.rows("SELECT agent, verb, arguments ->> 'at' FROM actions") == [("planner", "look", "shelf")]


def test_the_result_of_a_call_that_no_later_request_repeats_is_read_from_the_tools_span(tmp_path: Path) -> None:
    """The call is the message's, told once."""
    look = span(2, "execute_tool", gen_ai__tool__name="look", gen_ai__tool__call__id="c1", gen_ai__tool__call__result="three cans")
    found = read(tmp_path, document(chat(1, None, [said("user", "Look.")], said("assistant", CALL)), look))
    assert found.rows("SELECT agent, text FROM utterances ORDER BY turn") == [("user", "Look."), ("tool", "three cans")]
    assert found.rows("SELECT agent, verb, accepted FROM actions") == [("assistant", "look", True)]


@pytest.mark.parametrize("form", ["the same names", "other names"])
def test_a_request_traced_by_its_wrapper_too_is_one_request(form: str, tmp_path: Path) -> None:
    """Parent and child with the same content: calls, tokens and words once, and a note; another request inside is another one."""
    asked, answer = said("user", "Buy a can."), said("assistant", "Bought.")
    counts: dict[str, Any] = {"gen_ai__usage__reasoning_tokens": 3}
    if form == "the same names":
        wrapper = chat(1, 0, [asked], answer, **counts)
    else:
        wrapper = llm(
            1, 0, llm__model_name="gpt-x", **parts("input", "user", "Buy a can."), **parts("output", "assistant", "Bought."), **counts
        )
    inner = chat(3, 1, [said("user", "How much?")], said("assistant", "Two."))
    found = read(tmp_path, document(span(0, "invoke_agent", gen_ai__agent__name="buyer"), wrapper, chat(2, 1, [asked], answer), inner))
    assert found.rows("SELECT count(*), sum(tokens_in), sum(tokens_out), sum(tokens_reasoning) FROM calls") == [(2, 20, 8, 3)]
    assert found.rows("SELECT agent, text FROM utterances ORDER BY turn") == [
        ("user", "Buy a can."),
        ("buyer", "Bought."),
        ("user", "How much?"),
        ("buyer", "Two."),
    ]
    assert ["1 span repeats the request of another" in note for _, note in found.report.notes] == [True]


def test_an_agents_span_with_messages_and_no_request_inside_is_read(tmp_path: Path) -> None:
    """Some frameworks write no span a request."""
    told = {
        "gen_ai__input__messages": json.dumps([said("user", "Hi.")]),
        "gen_ai__output__messages": json.dumps([said("assistant", "Ho.")]),
    }
    found = read(tmp_path, document(span(1, "invoke_agent", gen_ai__agent__name="buyer", **told)))
    assert found.rows("SELECT agent, text FROM utterances ORDER BY turn") == [("user", "Hi."), ("buyer", "Ho.")]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["input.value", "my.prompts", "gcp.vertex.agent.llm_request", "events", "my.request"])
def test_content_that_was_recorded_under_other_names_is_refused_by_these_names(name: str, tmp_path: Path) -> None:
    """It is not said that nothing was recorded."""
    (reason,) = read(tmp_path, document(span(1, "chat", **{name: '{"messages": ["Hi."]}'}))).refused
    assert f"under attributes that are not read: {name}" in reason
    assert "not recorded" not in reason
    (tmp_path / "beside").mkdir()
    beside = chat(2, None, [said("user", "Hi.")], said("assistant", "Ho."))
    found = read(tmp_path / "beside", document(beside, span(1, "chat", **{name: '{"messages": ["Hi."]}'})))
    assert found.report.turns == 2
    assert [f"1 requests hold messages under attributes that are not read: {name}" in reason for reason in found.refused] == [True]


def beside(writers: tuple[str, str], **told: str) -> dict[str, Any]:
    """A request with an answer by two instrumentations, one of which lasts through the other, and an id of each answer."""
    scopes = []
    for number, (writer, named) in enumerate(zip(writers, told.get("ids", "--"), strict=True), start=1):
        answered = {} if named == "-" else {"gen_ai__response__id": named}
        one = chat(number, None, [said("user", "Go?")], said("assistant", "Yes."), **answered)
        one["endTimeUnixNano"] = str(1_760_000_100_000_000_000 - number)
        scopes.append({"scope": {"name": writer}, "spans": [one]})
    return {"resourceSpans": [{"scopeSpans": scopes}]}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("spans", "requests"),
    [
        (beside(("litellm", "openai")), 1),
        (beside(("litellm", "openai"), ids="aa"), 1),
        (beside(("openai", "openai"), ids="aa"), 1),
        (beside(("openai", "openai")), 2),  # asked twice at the same time
        (beside(("litellm", "openai"), ids="ab"), 2),
    ],
)
def test_spans_side_by_side_are_one_request_only_where_that_is_proved(spans: dict[str, Any], requests: int, tmp_path: Path) -> None:
    """By the id of the answer; or by another instrumentation, the time and the tokens."""
    found = read(tmp_path, spans)
    assert found.rows("SELECT count(*), sum(tokens_out) FROM calls") == [(requests, 4 * requests)]
    assert found.rows("SELECT count(*) FROM utterances WHERE text = 'Yes.'") == [(requests,)]


def test_what_a_tools_span_holds_is_said_by_the_tool_and_called_by_the_agent(tmp_path: Path) -> None:
    """OpenLLMetry writes what its decorator adds around the arguments; the call of a message is found again by them."""
    asked = {**parts("input", "user", "Look."), **parts("output", "assistant", "I look.")}
    tool = {"traceloop__span__kind": "tool", "traceloop__entity__name": "look", "traceloop__entity__output": "three cans"}
    agent = llm(0, None, traceloop__span__kind="agent", traceloop__entity__name="buyer")
    given = json.dumps({"args": [], "kwargs": {"at": "shelf"}})
    found = read(tmp_path, document(agent, llm(1, 0, llm__model_name="m", **asked), llm(2, 0, **tool, traceloop__entity__input=given)))
    assert found.rows("SELECT agent, text FROM utterances ORDER BY turn") == [
        ("user", "Look."),
        ("buyer", "I look."),
        ("tool", "three cans"),
    ]
    assert found.rows("SELECT agent, verb, arguments ->> 'at', accepted FROM actions") == [("buyer", "look", "shelf", True)]
