"""What counts as an answer: a corpus of recorded replies in every protocol, each with its right reading.

A line of `replies/<protocol>.jsonl` is a reply as a server sends it, what it was to be (`answers`: two questions, `one answer`, or
`text`), by which rule it is read, and the answer to the first question. A rule that is new begins with a new line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from pydantic import BaseModel, Field, create_model

from providers.answers import Answer, read_answer
from providers.forms import Form
from providers.protocols.anthropic_messages import AnthropicMessages
from providers.protocols.bedrock_converse import BedrockConverse
from providers.protocols.google_content import GoogleContent
from providers.protocols.openai_chat import OpenAIChat
from providers.protocols.protocol import WireProtocol

PROTOCOLS: Final[Mapping[str, WireProtocol]] = {
    "openai": OpenAIChat(),
    "anthropic": AnthropicMessages(),
    "google": GoogleContent(),
    "bedrock": BedrockConverse(),
}
REPLIES: Final = Path(__file__).with_name("replies")


class OneAnswer(BaseModel):
    """An answer with its reason."""

    reason: str = Field(description="One sentence that names the evidence.")
    answer: Literal["yes", "no", "na"]


def form(*questions: str) -> type[BaseModel]:
    """A form as judges have it."""
    fields: dict[str, Any] = dict.fromkeys(questions, (OneAnswer, ...))
    return create_model("Answers", **fields)


FORMS: Final[Mapping[str, type[BaseModel] | None]] = {"answers": form("Q1", "Q2"), "one answer": form("Q1"), "text": None}


def lines(protocol: str) -> list[dict[str, Any]]:
    """The recorded replies of a protocol."""
    return [json.loads(line) for line in (REPLIES / f"{protocol}.jsonl").read_text("utf-8").splitlines()]


RECORDED: Final = [pytest.param(protocol, line, id=f"{protocol}: {line['name']}") for protocol in PROTOCOLS for line in lines(protocol)]


@pytest.mark.parametrize(("protocol", "line"), RECORDED)
def test_a_recorded_reply_is_read_by_its_rule(protocol: str, line: dict[str, Any]) -> None:
    """The rule, the answer, and a reason wherever a reply does not count."""
    found = PROTOCOLS[protocol].read(json.dumps(line["reply"]).encode())
    answer = read_answer(found, FORMS[line["form"]])

    assert answer.read_as == line["read_as"], answer.why_not
    assert first(answer) == line["answer"]
    assert answer.counts is not answer.read_as.startswith("refused")
    assert answer.counts or (answer.why_not and answer.filled is None)


def first(answer: Answer) -> Any:
    """The answer to the first question; None if there is none."""
    return None if answer.filled is None else next(iter(answer.filled.model_dump().values()))["answer"]


@pytest.mark.parametrize("name", ["01-draft-in-thoughts", "02-contradicting-tool-calls", "03-wrapped-forms"])
@pytest.mark.shared
def test_replies_of_public_reports_are_read_right(shared: Path, name: str) -> None:
    """Where they are, so that the folder can grow."""
    right = {
        "a-reasoning_content": ("refused: cut", None),
        "b-harmony": ("refused: cut", None),
        "f-stop": ("refused: only thoughts", None),
        "a-differ": ("refused: contradiction", None),
        "b-empty-first": ("as asked", "no"),
        "a-tagged": ("unwrapped: tagged call + call object", "yes"),
        "b-bare": ("unwrapped: call object", "yes"),
        "e-twice": ("unwrapped: encoded twice", "yes"),
    }
    asked = form(*(f"PS{number}" for number in range(1, 7)))
    replies = {path.name.removesuffix(".reply.json"): path for path in (shared / "cases/replies" / name).glob("*.reply.json")}
    assert replies.keys() & right.keys()
    for known in replies.keys() & right.keys():
        answer = read_answer(PROTOCOLS["openai"].read(replies[known].read_bytes()), asked)
        assert (answer.read_as, first(answer)) == right[known]


@pytest.mark.parametrize(
    "text", ["{" * 100_000, '{"a":' * 50_000, "<think>" * 50_000, "</think>" * 50_000, "<|channel|>" * 50_000, "<tool_call>" * 50_000]
)
def test_a_hostile_reply_is_refused_in_no_time(text: str) -> None:
    """Whatever it repeats."""
    body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    assert not read_answer(PROTOCOLS["openai"].read(json.dumps(body).encode()), FORMS["answers"]).counts


def test_the_example_of_a_form_is_no_answer() -> None:
    """Nor is it one with a real answer in some of its places."""
    for asked in (
        FORMS["answers"],
        FORMS["one answer"],
        create_model("Text", text=(str, ...)),
        create_model("Whole", agent=(str, ...), turn=(int, ...)),
    ):
        assert asked is not None
        example = Form(asked).example
        for text in (example, example.replace("<<one of: yes, no, na>>", "yes"), example.replace("<<integer>>", "3")):
            body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
            assert read_answer(PROTOCOLS["openai"].read(json.dumps(body).encode()), asked).read_as == "refused: wrong form", text
