"""What counts as an answer: a corpus of recorded replies in every protocol, each with its right reading.

A line of `replies/<protocol>.jsonl` is a reply as a server sends it, what it was to be (`answers`: two questions, `one answer`, or
`text`), by which rule it is read, and the answer to the first question. A rule that is new begins with a new line.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from pydantic import BaseModel, Field, create_model

from judges.rubric import Group, answer_model
from judges.rubric_files.load import find
from judges.runs.batches import read_replies, taken_of
from providers.clients.openai import completion_of, response_in
from providers.forms import Form
from schemas.chat.answers import Answer, read_answer
from schemas.chat.messages import NO_TOKENS, Completion, probability_of


def _anthropic(body: bytes) -> Completion:
    types = pytest.importorskip("anthropic.types")
    from providers.clients import anthropic

    return anthropic.completion_of(types.Message.construct(**json.loads(body)))


def _google(body: bytes) -> Completion:
    warnings.filterwarnings("ignore", message=".* is not a valid FinishReason")
    types = pytest.importorskip("google.genai.types")
    from providers.clients import google

    return google.completion_of(types.GenerateContentResponse.model_validate_json(body))


def _bedrock(body: bytes) -> Completion:
    pytest.importorskip("aiobotocore")
    from providers.clients import bedrock

    return bedrock.completion_of(json.loads(body))


PROTOCOLS: Final[Mapping[str, Callable[[bytes], Completion]]] = {
    "openai": lambda body: completion_of(response_in(body)),
    "anthropic": _anthropic,
    "google": _google,
    "bedrock": _bedrock,
}
"""How the body of a reply is read, by the provider's own client."""
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
    found = PROTOCOLS[protocol](json.dumps(line["reply"]).encode())
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
        answer = read_answer(PROTOCOLS["openai"](replies[known].read_bytes()), asked)
        assert (answer.read_as, first(answer)) == right[known]


@pytest.mark.parametrize(
    "text", ["{" * 100_000, '{"a":' * 50_000, "<think>" * 50_000, "</think>" * 50_000, "<|channel|>" * 50_000, "<tool_call>" * 50_000]
)
def test_a_hostile_reply_is_refused_in_no_time(text: str) -> None:
    """Whatever it repeats."""
    body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    assert not read_answer(PROTOCOLS["openai"](json.dumps(body).encode()), FORMS["answers"]).counts


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
            answer = read_answer(PROTOCOLS["openai"](json.dumps(body).encode()), asked)
            assert (answer.read_as, answer.read) == ("refused: echo", "unreadable"), text


JUDGED: Final = {
    "as asked": ("as asked", "no"),
    "yes": ("refused: contradiction", None),
    "Yes.": ("refused: contradiction", None),
    "no": ("as asked", "no"),
    "Yes, one is named, but it is the wrong one.": ("as asked", "no"),
    "": ("as asked", "no"),
}


@pytest.mark.parametrize("reason", JUDGED)
def test_a_reason_that_is_another_answer_is_a_contradiction(reason: str) -> None:
    """A judge's form: nothing but the one answer as the reason of the other one."""
    group = find("spatial_grounding").groups()[0]
    filled = {question.id: {"reason": reason, "answer": "no"} for question in group.questions}
    body = {"choices": [{"message": {"content": json.dumps(filled)}, "finish_reason": "stop"}]}
    answer = read_answer(PROTOCOLS["openai"](json.dumps(body).encode()), answer_model(group))
    assert (answer.read_as, first(answer)) == JUDGED[reason]
    assert answer.counts or 'the reason is "yes" and the answer is "no"' in (answer.why_not or "")


@pytest.mark.shared
def test_replies_of_small_models_are_read_right(shared: Path) -> None:
    """What Qwen2.5-Coder 0.5B wrote as a judge."""
    question = find("spatial_grounding").groups()[0].questions[0].model_copy()
    question.settle("T1", ("yes", "no", "unclear"))
    one = Group(shows=(), questions=(question,))
    right = {
        "judge_json_wrong_shape": [("unwrapped: no reason", "yes")] * 2,
        "judge_tools_name_arguments_fence_flips_yes_no": [
            ("unwrapped: text around + call object + only question", "yes"),
            ("unwrapped: text around + call object + only question", "no"),
        ],
        "judge_tools_prose_cut_then_parrot": [("refused: cut", None), ("refused: wrong form", None), ("refused: wrong form", None)],
        "tool_choice_required": [("refused: cut", None)],
    }
    for name, expected in right.items():
        recorded = json.loads((shared / "cases/models" / f"{name}.json").read_bytes())
        replies = [each["resp"] for each in (recorded if isinstance(recorded, list) else [recorded])]
        answers = [read_answer(PROTOCOLS["openai"](json.dumps(reply).encode()), answer_model(one)) for reply in replies]
        assert [(answer.read_as, first(answer)) for answer in answers] == expected, name
    for reply in json.loads((shared / "cases/models/reason_yes_answer_no.json").read_bytes()):
        found = PROTOCOLS["openai"](json.dumps(reply["resp"]).encode())
        answer = read_answer(found, answer_model(find("spatial_grounding").groups()[0]))
        assert answer.read_as == "refused: contradiction"


def test_how_a_reply_was_read_is_one_of_few_words() -> None:
    """The words of `calls.read`, with the rule of `calls.read_as`."""
    right = {
        '{"text": "so"}': ("as asked", "as asked"),
        '```json\n{"text": "so"}\n```': ("repaired", "unwrapped: text around"),
        '{"name": "Text", "arguments": {"text": "so"}}': ("repaired", "unwrapped: call object"),
        '{"text": "<<text>>"}': ("unreadable", "refused: echo"),
        "so": ("unreadable", "refused: wrong form"),
    }
    asked = create_model("Text", text=(str, ...))
    for text, expected in right.items():
        answer = read_answer(Completion(text, "stop", NO_TOKENS), asked)
        assert (answer.read, answer.read_as) == expected, text
    assert read_answer(Completion('{"text": "so"}', "length", NO_TOKENS), asked).read == "cut"
    declined = read_answer(Completion('{"text": "so"}', "content_filter", NO_TOKENS), asked)
    assert (declined.read, declined.is_declined) == ("unreadable", True)


@pytest.mark.shared
def test_probabilities_are_found_where_a_fence_is_left_out_of_the_text(shared: Path) -> None:
    """The server left it in the tokens."""
    recorded = json.loads((shared / "cases/models/logprobs_fence_lost.json").read_bytes())
    (reply,) = [each["resp"] for each in (recorded if isinstance(recorded, list) else [recorded])]
    found = PROTOCOLS["openai"](json.dumps(reply).encode())
    sure = probability_of(found, "T1", "answer")
    assert sure is not None
    assert 0 < sure <= 1


def test_probabilities_are_those_of_the_value() -> None:
    """Behind a fence as without one; none where the tokens are not those of the text."""
    text = '{"Q1": {"reason": "so", "answer": "yes"}}'
    tokens = (('{"Q1": {"reason": "so", "answer": "', -0.5), ("yes", math.log(0.8)), ('"}}', -0.1))
    for before, after in (((), ()), ((("```json\n", -2.0),), (("\n```", -1.0),))):
        found = Completion(text, "stop", NO_TOKENS, probabilities=(*before, *tokens, *after))
        assert probability_of(found, "Q1", "answer") == pytest.approx(0.8)
    assert probability_of(Completion(text, "stop", NO_TOKENS, probabilities=tokens[1:]), "Q1", "answer") is None


@pytest.mark.parametrize(("finish", "status"), [("stop", "answered"), ("length", "failed")])
def test_replies_of_batches_pass_the_same_gate(finish: str, status: str) -> None:
    """A cut one is a failed call with its reason."""
    filled = {"Q1": {"reason": "so", "answer": "yes"}, "Q2": {"reason": "so", "answer": "no"}}
    body = {"choices": [{"message": {"content": json.dumps(filled)}, "finish_reason": finish}], "usage": {}}
    line = json.dumps({"custom_id": "0", "response": {"body": body}}).encode() + b"\n"
    (reply,) = read_replies(line)
    taken = taken_of(reply, FORMS["answers"], None)
    assert (taken.status, taken.answer is not None and taken.answer.counts) == (status, status == "answered")
    assert status == "answered" or "longest length" in (taken.error or "")
