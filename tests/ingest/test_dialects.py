"""Messages of any dialect: words, calls, results and speakers come in, and what does not come in is reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ingest.foreign.chat_lines import MappedChat
from tests.ingest.asked import Ingested, ingested, written

ASKED = {"role": "user", "content": "read a.txt"}
ANSWER = {"role": "assistant", "content": "Seven."}
ARGUMENTS = {"path": "a.txt"}
AS_TEXT = json.dumps(ARGUMENTS)

DIALECTS: dict[str, list[dict[str, Any]]] = {
    "Responses": [
        {"role": "user", "content": [{"type": "input_text", "text": "read a.txt"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "need tool"}]},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read", "arguments": AS_TEXT},
        {"type": "function_call_output", "call_id": "c1", "output": "seven lines"},
        {"role": "assistant", "type": "message", "content": [{"type": "output_text", "text": "Seven."}]},
    ],
    "Anthropic": [
        ASKED,
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "need tool"},
                {"type": "tool_use", "id": "c1", "name": "read", "input": ARGUMENTS},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "seven lines"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Seven."}]},
    ],
    "Bedrock": [
        {"role": "user", "content": [{"text": "read a.txt"}]},
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "need tool"}}},
                {"toolUse": {"toolUseId": "c1", "name": "read", "input": ARGUMENTS}},
            ],
        },
        {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "seven lines"}], "status": "success"}}]},
        {"role": "assistant", "content": [{"text": "Seven."}]},
    ],
    "LangChain": [
        {"type": "human", "content": "read a.txt"},
        {"type": "ai", "content": "", "reasoning_content": "need tool", "tool_calls": [{"id": "c1", "name": "read", "args": ARGUMENTS}]},
        {"type": "tool", "content": "seven lines", "tool_call_id": "c1", "name": "read"},
        {"type": "ai", "data": {"content": "Seven."}},
    ],
    "AutoGen": [
        {"source": "user", "type": "TextMessage", "content": "read a.txt"},
        {"source": "assistant", "type": "ThoughtEvent", "content": "need tool"},
        {"source": "assistant", "type": "ToolCallRequestEvent", "content": [{"id": "c1", "name": "read", "arguments": AS_TEXT}]},
        {
            "source": "assistant",
            "type": "ToolCallExecutionEvent",
            "content": [{"call_id": "c1", "name": "read", "content": "seven lines", "is_error": False}],
        },
        {"source": "assistant", "type": "TextMessage", "content": "Seven."},
    ],
    "OpenTelemetry": [
        {"role": "user", "parts": [{"type": "text", "content": "read a.txt"}]},
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "need tool"},
                {"type": "tool_call", "id": "c1", "name": "read", "arguments": ARGUMENTS},
            ],
        },
        {"role": "user", "parts": [{"type": "tool_call_response", "id": "c1", "response": "seven lines"}]},
        {"role": "assistant", "parts": [{"type": "text", "content": "Seven."}]},
    ],
    "AI SDK": [
        ASKED,
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "text": "need tool"},
                {"type": "tool-call", "toolCallId": "c1", "toolName": "read", "input": ARGUMENTS},
            ],
        },
        {
            "role": "tool",
            "content": [
                {"type": "tool-result", "toolCallId": "c1", "toolName": "read", "output": {"type": "text", "value": "seven lines"}}
            ],
        },
        ANSWER,
    ],
    "Gemini": [
        {"role": "user", "parts": [{"text": "read a.txt"}]},
        {
            "role": "model",
            "parts": [{"text": "need tool", "thought": True}, {"functionCall": {"id": "c1", "name": "read", "args": ARGUMENTS}}],
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "c1", "name": "read", "response": {"result": "seven lines"}}}],
        },
        {"role": "model", "parts": [{"text": "Seven."}]},
    ],
    "pydantic-ai": [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "read a.txt"}]},
        {
            "kind": "response",
            "model_name": "m",
            "parts": [
                {"part_kind": "thinking", "content": "need tool"},
                {"part_kind": "tool-call", "tool_name": "read", "args": AS_TEXT, "tool_call_id": "c1"},
            ],
        },
        {
            "kind": "request",
            "parts": [{"part_kind": "tool-return", "tool_name": "read", "content": "seven lines", "tool_call_id": "c1"}],
        },
        {"kind": "response", "model_name": "m", "parts": [{"part_kind": "text", "content": "Seven."}]},
    ],
    "Haystack": [
        {"role": "user", "content": [{"text": "read a.txt"}]},
        {
            "role": "assistant",
            "content": [
                {"reasoning": {"reasoning_text": "need tool", "extra": {}}},
                {"tool_call": {"tool_name": "read", "arguments": ARGUMENTS, "id": "c1"}},
            ],
        },
        {
            "role": "tool",
            "content": [
                {
                    "tool_call_result": {
                        "result": "seven lines",
                        "origin": {"tool_name": "read", "arguments": ARGUMENTS, "id": "c1"},
                        "error": False,
                    }
                }
            ],
        },
        {"role": "assistant", "content": [{"text": "Seven."}]},
    ],
    "LlamaIndex": [
        {"role": "user", "blocks": [{"block_type": "text", "text": "read a.txt"}]},
        {
            "role": "assistant",
            "additional_kwargs": {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": AS_TEXT}}]},
            "blocks": [{"block_type": "thinking", "content": "need tool"}],
        },
        {"role": "tool", "additional_kwargs": {"tool_call_id": "c1"}, "blocks": [{"block_type": "text", "text": "seven lines"}]},
        {"role": "assistant", "blocks": [{"block_type": "text", "text": "Seven."}]},
    ],
    "Semantic Kernel": [
        {"role": "user", "items": [{"content_type": "text", "text": "read a.txt"}]},
        {
            "role": "assistant",
            "items": [
                {"content_type": "reasoning", "text": "need tool"},
                {"content_type": "function_call", "id": "c1", "name": "read", "arguments": AS_TEXT},
            ],
        },
        {"role": "tool", "items": [{"content_type": "function_result", "id": "c1", "name": "read", "result": "seven lines"}]},
        {"role": "assistant", "items": [{"content_type": "text", "text": "Seven."}]},
    ],
    "MCP": [
        {"role": "user", "content": {"type": "text", "text": "read a.txt"}},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "need tool"},
                {"type": "tool_use", "id": "c1", "name": "read", "input": ARGUMENTS},
            ],
        },
        {"role": "user", "content": {"type": "tool_result", "toolUseId": "c1", "content": [{"type": "text", "text": "seven lines"}]}},
        {"role": "assistant", "content": {"type": "text", "text": "Seven."}},
    ],
    "OpenAI before tools": [
        ASKED,
        {"role": "assistant", "content": None, "reasoning": "need tool", "function_call": {"name": "read", "arguments": AS_TEXT}},
        {"role": "function", "name": "read", "content": "seven lines"},
        ANSWER,
    ],
}


def chat(tmp_path: Path, *messages: dict[str, Any], reader: MappedChat | None = None) -> Ingested:
    return ingested(tmp_path, written(tmp_path / "chat.jsonl", {"messages": messages}), reader=reader)


@pytest.fixture(scope="module")
def every_dialect(tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    """The conversation, a file in each dialect: a list of messages, one of them alone a line."""
    folder = tmp_path_factory.mktemp("dialects")
    for name, messages in DIALECTS.items():
        written(folder / "logs" / f"{name}.json", messages)
        written(folder / "logs" / f"{name}.jsonl", *messages)
    return ingested(folder, folder / "logs")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_one_conversation_is_the_same_in_every_dialect(dialect: str, every_dialect: Ingested) -> None:
    """Result by the tool, whoever carries it; a call alone is an action and no message; nothing is refused, and the receipt is whole."""
    assert every_dialect.refused == []
    for ending in ("json", "jsonl"):
        of_file = f"JOIN episodes USING (episode_id) WHERE file = '{dialect}.{ending}'"
        assert every_dialect.rows(f"SELECT agent, channel, u.text FROM utterances u {of_file} ORDER BY turn, seq") == [
            ("user", "public", "read a.txt"),
            ("assistant", "private", "need tool"),
            ("tool", "public", "seven lines"),
            ("assistant", "public", "Seven."),
        ]
        accepted = None if dialect == "OpenAI before tools" else True
        assert every_dialect.rows(f"SELECT agent, verb, arguments ->> 'path', accepted FROM actions {of_file}") == [
            ("assistant", "read", "a.txt", accepted)
        ]


def test_results_between_other_parts_are_messages_of_the_tool(tmp_path: Path) -> None:
    """A user's words behind a result stay the user's, calls and words of one message stay one message; an error of a tool is an error."""
    found = chat(
        tmp_path,
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "c1", "name": "read", "input": {}}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "no file", "is_error": True},
                {"type": "text", "text": "Go on."},
            ],
        },
    )
    assert found.rows("SELECT turn, agent, text FROM utterances ORDER BY turn") == [
        (1, "assistant", "I look."),
        (2, "tool", "no file"),
        (3, "user", "Go on."),
    ]
    assert found.rows("SELECT accepted, error_text FROM actions") == [(False, "no file")]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "refusal": "I cannot."},
        {"content": [{"type": "refusal", "refusal": "I cannot."}]},
        {"content": [{"type": "text", "text": {"value": "I cannot.", "annotations": []}}]},
        {"content": {"type": "text", "text": "I cannot."}},
        {"content": [{"text": "I cannot."}]},
        {"content": ["I cannot."]},
    ],
)
def test_words_are_found_in_every_form_of_content(tmp_path: Path, message: dict[str, Any]) -> None:
    """A refusal is what the model wrote."""
    found = chat(tmp_path, ASKED, {"role": "assistant", **message})
    assert found.refused == []
    assert found.rows("SELECT text FROM utterances WHERE agent = 'assistant'") == [("I cannot.",)]


def test_messages_of_which_nothing_is_read_are_reported_with_their_keys(tmp_path: Path) -> None:
    """Exit code 1, since words are lost; an answer that is empty in the log is none of them."""
    found = chat(
        tmp_path,
        {"role": "user", "sentence": "hello there"},
        ANSWER,
        {"role": "user", "utterance": {"en": "Hi"}},
        {"role": "tool", "content": ""},
    )
    assert [reason.split(";")[:2] for reason in found.refused] == [
        [": 3 of 4 messages have no text and no call", " keys not read: sentence, utterance"]
    ]
    assert not found.report.is_clean
    (tmp_path / "silent").mkdir()
    assert chat(tmp_path / "silent", ASKED, {"role": "assistant", "content": "", "finish_reason": "stop"}, ANSWER).refused == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize("key", ["said", "bid", "values", "wording", "step", "payload"])
def test_words_under_any_key_are_missed(tmp_path: Path, key: str) -> None:
    """Whatever the key looks like; what a message holds about itself is no word of it."""
    about = {"uuid": "a-b", "created_at": "2025-01-01 10:00", "conversationId": "x y", "status": "done"}
    found = chat(tmp_path, ASKED, {"role": "user", key: "Open the door.", **about}, ANSWER)
    assert [f"1 of 3 messages have no text and no call; keys not read: {key};" in reason for reason in found.refused] == [True]


def test_keys_that_are_not_read_beside_words_are_a_note(tmp_path: Path) -> None:
    """Nothing is refused: it is reported what a mapping could name."""
    found = chat(tmp_path, ASKED, {**ANSWER, "citations": ["a.txt"]})
    assert found.refused == []
    assert ["citations (1)" in note for _, note in found.report.notes] == [True]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("lines", [True, False])
def test_a_file_of_messages_is_one_conversation(tmp_path: Path, lines: bool) -> None:  # noqa: FBT001
    """With and without a mapping, as JSON and as JSON Lines; `file` names what no column does."""
    messages = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "name": "Asker", "content": "2+2"},
        {"role": "assistant", "content": "4"},
    ]
    path = written(tmp_path / "talk.json", *(messages if lines else [messages]))
    readers: list[MappedChat | None] = [None]
    for text in ("benchmark: chat\n", "conversation: {id: file}\n"):
        (tmp_path / f"{len(readers)}.yaml").write_text(text)
        readers.append(MappedChat.of(tmp_path / f"{len(readers)}.yaml"))
    for number, reader in enumerate(readers):
        (tmp_path / str(number)).mkdir()
        found = ingested(tmp_path / str(number), path, reader=reader)
        assert found.refused == []
        assert found.rows("SELECT task_id, turns_taken FROM episodes") == [("talk", 3)]
        assert found.rows("SELECT agent FROM utterances ORDER BY turn") == [("system",), ("Asker",), ("assistant",)]


def test_messages_that_name_their_conversation_are_grouped_by_it(tmp_path: Path) -> None:
    """An id of the message itself groups nothing."""
    rows = [{"id": number, "session_id": f"s{number % 2}", **ASKED} for number in range(4)]
    found = ingested(tmp_path, written(tmp_path / "talk.jsonl", *rows))
    assert found.rows("SELECT task_id, turns_taken FROM episodes ORDER BY 1") == [("s0", 2), ("s1", 2)]


def test_one_message_alone_is_no_conversation(tmp_path: Path) -> None:
    """A prompt that lies beside logs."""
    (reason,) = ingested(tmp_path, written(tmp_path / "prompt.json", ASKED)).refused
    assert "one message alone" in reason


def test_long_words_stay_and_embedded_data_does_not(tmp_path: Path) -> None:
    """A text in a script without blanks is none; a picture in a result of a tool is its length."""
    found = chat(
        tmp_path,
        {"role": "tool", "content": [{"type": "tool_result", "id": "c", "content": {"text": "\u6f22" * 900, "picture": "iVBOR" * 900}}]},
        {"role": "user", "content": [{"type": "made_up", "text": "\u5b57" * 900}]},
    )
    texts = [text for (text,) in found.rows("SELECT text FROM utterances ORDER BY turn")]
    assert "\u6f22" * 900 in texts[0]
    assert "4500 characters of data" in texts[0]
    assert len(texts[0]) < 1200
    assert texts[1] == "\u5b57" * 900


ENVELOPE = {
    "info": {"llm": "m"},
    "simulations": [
        {
            "id": f"s{trial}",
            "task_id": "7",
            "trial": trial,
            "reward": float(trial),
            "messages": [ASKED, {"role": "assistant", "content": "ok"}],
        }
        for trial in (0, 1)
    ],
}


def test_conversations_inside_an_object_are_read_where_the_mapping_says(tmp_path: Path) -> None:
    """The repetition tells two attempts at a task apart; a mapping that names no list is refused, and no mapping at all finds it."""
    path = written(tmp_path / "runs.json", ENVELOPE)
    (tmp_path / "map.yaml").write_text("conversation: {id: id, messages: messages, rows: simulations}\noutcome: {score: reward}\n")
    found = ingested(tmp_path, path, reader=MappedChat.of(tmp_path / "map.yaml"))
    assert found.refused == []
    facts = "SELECT task_id, seed, attempt, score, turns_taken FROM episodes ORDER BY seed"
    assert found.rows(facts) == [("7", 0, 1, 0.0, 2), ("7", 1, 2, 1.0, 2)]
    assert [note.split(":")[0] for _, note in found.report.notes] == ["1 task, 1 model, 2 attempts each"]

    path = written(tmp_path / "own.json", {"results": ENVELOPE["simulations"]})  # the keys above are those of tau2
    for folder in ("mapped", "plain"):
        (tmp_path / folder).mkdir()
    (tmp_path / "map.yaml").write_text("conversation: {id: id, messages: messages}\n")
    (reason,) = ingested(tmp_path / "mapped", path, reader=MappedChat.of(tmp_path / "map.yaml")).refused
    assert "messages is not a list of messages, and there are results" in reason
    found = ingested(tmp_path / "plain", path)
    assert found.refused == []
    assert found.rows("SELECT task_id, attempt, score, turns_taken FROM episodes ORDER BY score") == [("7", 1, 0.0, 2), ("7", 2, 1.0, 2)]


def test_a_mapping_names_tools_actions_and_observations(tmp_path: Path) -> None:
    """A tool with its arguments, an action by itself, and what came of both; calls in a list with results by their ids."""
    (tmp_path / "map.yaml").write_text(
        "conversation: {messages: steps}\nmessage: {speaker: by, text: says, tool: uses, action: does, observation: sees, role: kind}\n"
    )
    calls = [{"tool_call_id": "c", "function_name": "edit", "arguments": {"at": 3}}]
    steps = [
        {"by": "ann", "says": "I look.", "uses": "look", "does": {"at": "shelf"}, "sees": "three cans"},
        {"by": "bob", "does": "three"},
        {"by": "bob", "says": "Now.", "tool_calls": calls, "sees": {"results": [{"source_call_id": "c", "content": "done"}]}},
    ]
    found = ingested(tmp_path, written(tmp_path / "run.json", {"steps": steps}), reader=MappedChat.of(tmp_path / "map.yaml"))
    assert found.refused == []
    assert found.rows("SELECT agent, verb, arguments, accepted FROM actions ORDER BY turn") == [
        ("ann", "look", '{"at":"shelf"}', None),
        ("bob", "does", '{"value":"three"}', None),
        ("bob", "edit", '{"at":3}', True),
    ]
    assert found.rows("SELECT agent, text FROM utterances ORDER BY turn") == [
        ("ann", "I look."),
        ("tool", "three cans"),
        ("bob", "Now."),
        ("tool", "done"),
    ]


CITY = {"city": "Paris"}
ELSEWHERE: dict[str, list[dict[str, Any]]] = {
    "transcript of a spoken answer": [{"role": "assistant", "content": None, "audio": {"id": "a", "data": "UklG", "transcript": "Hm."}}],
    "transcript of a spoken part": [{"role": "assistant", "content": [{"type": "output_audio", "transcript": "Hm.", "audio": None}]}],
    "refusal of LangChain": [{"type": "ai", "data": {"content": "", "additional_kwargs": {"refusal": "Hm."}}}],
    "a whole response": [{"object": "response", "output": [{"type": "message", "role": "assistant", "content": "Hm."}]}],
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", ELSEWHERE)
def test_words_outside_of_the_content_are_read(form: str, tmp_path: Path) -> None:
    """What was spoken, refused, or is inside of a whole response is said by the assistant."""
    found = chat(tmp_path, ASKED, *ELSEWHERE[form])
    assert found.refused == []
    assert found.rows("SELECT agent, text FROM utterances ORDER BY turn") == [("user", "read a.txt"), ("assistant", "Hm.")]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "held",
    [
        {"thinking": "Hm."},
        {"thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]},
        {"reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
        {
            "reasoning": "Hm.",
            "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}, {"type": "reasoning.encrypted", "data": "x"}],
        },
    ],
)
def test_thoughts_outside_of_the_content_are_read_once(held: dict[str, Any], tmp_path: Path) -> None:
    """Ollama's, LiteLLM's and OpenRouter's."""
    found = chat(tmp_path, ASKED, {"role": "assistant", "content": "", **held})
    assert found.refused == []
    assert found.rows("SELECT agent, channel, text FROM utterances WHERE turn = 2") == [("assistant", "private", "Hm.")]


CALLS: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "custom tool": (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "weather", "input": "Paris"}}],
        },
        ("weather", "Paris"),
    ),
    "search of the Responses API": ({"type": "web_search_call", "action": CITY}, ("web_search_call", "Paris")),
    "shell of the Responses API": ({"type": "local_shell_call", "call_id": "c", "action": CITY}, ("local_shell_call", "Paris")),
    "code of the Responses API": ({"type": "code_interpreter_call", "code": "Paris", "outputs": None}, ("code_interpreter_call", "Paris")),
    "code of Gemini": ({"role": "model", "parts": [{"executableCode": {"code": "Paris"}}]}, ("executableCode", "Paris")),
    "dynamic tool": (
        {
            "role": "assistant",
            "parts": [{"type": "dynamic-tool", "toolName": "weather", "toolCallId": "c", "input": CITY, "errorText": "no such city"}],
        },
        ("weather", "Paris"),
    ),
    "call of LangChain": (
        {
            "type": "ai",
            "data": {"content": "", "additional_kwargs": {"tool_calls": [{"function": {"name": "weather", "arguments": CITY}}]}},
        },
        ("weather", "Paris"),
    ),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("form", CALLS)
def test_calls_of_every_form_are_actions_with_their_arguments(form: str, tmp_path: Path) -> None:
    """A call alone is no message, and nothing of it is reported as unread."""
    message, expected = CALLS[form]
    found = chat(tmp_path, ASKED, message)
    assert (found.refused, found.report.notes) == ([], [])
    assert found.rows("SELECT agent, verb, coalesce(arguments ->> 'city', raw) FROM actions") == [("assistant", *expected)]
    assert found.rows("SELECT text FROM utterances") == [("read a.txt",)]


def test_an_error_in_the_part_of_a_call_is_its_outcome(tmp_path: Path) -> None:
    """The AI SDK writes it beside the call."""
    found = chat(tmp_path, ASKED, CALLS["dynamic tool"][0])
    assert found.rows("SELECT accepted, error_text FROM actions") == [(False, "no such city")]


def test_results_are_read_whatever_they_hold_and_may_be_of_nothing(tmp_path: Path) -> None:
    """Hits of a search and output of code have keys of their own; a tool that gives back nothing loses no words."""
    hit = {"type": "web_search_result", "title": "Seven lines", "url": "http://a"}
    found = chat(
        tmp_path,
        ASKED,
        {"role": "assistant", "content": [{"type": "web_search_tool_result", "tool_use_id": "c1", "content": [hit]}]},
        {"role": "model", "parts": [{"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "seven"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c2"}]},
        {
            "role": "tool",
            "tool_responses": [{"tool_call_id": "c3", "content": "7"}, {"tool_call_id": "c4", "content": "8"}],
            "content": "7, 8",
        },
        ANSWER,
    )
    assert found.refused == []
    assert found.rows("SELECT agent, text FROM utterances WHERE turn > 1 ORDER BY turn") == [
        ("tool", '{"title":"Seven lines","url":"http://a"}'),
        ("tool", "seven"),
        ("tool", ""),
        ("tool", "7\n8"),
        ("assistant", "Seven."),
    ]


def test_chat_of_an_experiment_is_no_log_of_craft(tmp_path: Path) -> None:
    """Others write an `experiment_info` beside their messages too."""
    found = ingested(tmp_path, written(tmp_path / "run.json", {"experiment_info": {"seed": 1}, "messages": [ASKED, ANSWER]}))
    assert found.refused == []
    assert found.rows("SELECT benchmark, turns_taken FROM episodes") == [("chat", 2)]
