"""Reads Who&When (arXiv 2505.00212): failed runs of multi-agent systems, one JSON object a file, with people's labels of who and when.

The labelled agent and step become labels of the rubric `decisive_error`: question `agent` has the agent's name, question `step` the turn,
from 1 (files count from 0). If another agent speaks then, `log_disagreements` has a row; the label stays as people gave it.
An agent or a step that the log does not have is reported, and is not a label.
"""

import re
from dataclasses import replace
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from ingest.conversation.chat import ParsedMessage, logged_messages
from ingest.conversation.rows import Conversation, LoggedMessage, reading_of
from ingest.reading.adapter_types import Place, Reading, begins, validated
from ingest.reading.text import loads
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt
from schemas.records import Agent, Label, LogDisagreement

FORMAT: Final = "whoandwhen"
VERSION: Final = 4

BENCHMARK: Final = "whoandwhen"
RUBRIC: Final = "decisive_error"
_ANNOTATOR: Final = "whoandwhen"
_ADDRESSED: Final = re.compile(r"(?P<agent>.*?)\s*\(\s*(?:->\s*(?P<to>.+?)|(?P<manner>.+?))\s*\)\s*")
_THOUGHT: Final = "thought"


class _Message(BaseModel):
    model_config = ConfigDict(extra="allow")

    content: Any = None
    role: str | None = None
    name: str | None = None


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    history: list[_Message]
    question: str | None = None
    question_ID: str | None = None  # noqa: N815 - as the files spell it
    ground_truth: Any = None
    level: Any = None
    is_correct: bool | None = None
    is_corrected: bool | None = None
    mistake_agent: str | None = None
    mistake_step: Any = None
    mistake_reason: str | None = None
    mistake_type: Any = None
    system_prompt: dict[str, Any] | None = None


class _Speaker(NamedTuple):
    agent: str
    to: str | None
    private: bool


KEYS: Final = (frozenset({"history", "mistake_agent", "mistake_step"}),)
"""Of a document whose beginning does not say what it is."""


sniff: Final = begins(rb"\A\s*\{", rb'"history"\s*:\s*\[', rb'"mistake_agent"\s*:', rb'"mistake_step"\s*:')
"""Other programs have a `history` too, and no labels."""


def read(data: bytes, place: Place) -> Reading:
    """Read a file.

    Raises:
        BadInputError: it is not such an object, or it has no messages.
    """
    found = validated(_File, loads(data))
    if not found.history:
        raise BadInputError("history is empty: it has no messages", locator=".history")
    speakers = [_speaker(message, index) for index, message in enumerate(found.history)]
    everybody = list(dict.fromkeys(speaker.agent for speaker in speakers))
    messages = [_logged(message, speaker, everybody) for message, speaker in zip(found.history, speakers, strict=True)]
    part = "algorithm_generated" if found.system_prompt is not None or any(message.name for message in found.history) else "hand_crafted"
    right = found.is_correct if found.is_correct is not None else found.is_corrected
    reading = reading_of(
        Conversation(
            benchmark=BENCHMARK,
            run=part,
            task=found.question_ID or place.file,
            messages=messages,
            received={agent: {"system_prompt": text} for agent, text in (found.system_prompt or {}).items()},
            level=None if found.level in (None, "") else str(found.level),
            goal={"question": found.question, "ground_truth": found.ground_truth},
            success=right,
            score=None if right is None else float(right),
            details={"mistake_reason": found.mistake_reason, "mistake_type": found.mistake_type},
        ),
        place,
    )
    _add_labels(reading, found, speakers, place)
    return reading


def _speaker(message: _Message, index: int) -> _Speaker:
    """Who speaks to whom: `name`, else `role`, the words in brackets apart."""
    written = (message.name or message.role or "").strip()
    if not written:
        raise BadInputError("a message has neither name nor role: say who speaks", locator=f".history[{index}]")
    addressed = None if message.name else _ADDRESSED.fullmatch(written)
    if addressed is None:
        return _Speaker(written, None, private=False)
    return _Speaker(addressed["agent"], addressed["to"], private=addressed["manner"] == _THOUGHT)


def _logged(message: _Message, speaker: _Speaker, everybody: list[str]) -> LoggedMessage:
    held = message.model_extra or {}
    (logged,) = logged_messages([ParsedMessage(raw={**held, "role": "tool", "content": message.content})])  # a message of tool stays whole
    audience = [speaker.agent] if speaker.private else [speaker.agent, speaker.to] if speaker.to else everybody
    return replace(logged, agent=speaker.agent, role=message.role, private=speaker.private, audience=list(dict.fromkeys(audience)))


def _add_labels(reading: Reading, found: _File, speakers: list[_Speaker], place: Place) -> None:
    """The labels that are about this log, and what is wrong with others."""
    (episode,) = reading.episodes
    step, agent = _step(found.mistake_step), found.mistake_agent
    if found.mistake_step not in (None, "") and (step is None or not 0 <= step < len(speakers)):
        reading.rejects.append(
            BadInputError(
                f"mistake_step is {excerpt(repr(found.mistake_step), 40)}, and the {len(speakers)} messages are steps 0 to "
                f"{len(speakers) - 1}: there is no label of the step, correct the file",
                locator=".mistake_step",
            )
        )
        step = None
    if agent:
        agents = [one.agent for one in reading.rows["agents"] if isinstance(one, Agent)]
        agent = _named(agent, agents)
        if agent is None:
            written, names = excerpt(repr(found.mistake_agent), 60), excerpt(", ".join(agents))
            reading.rejects.append(
                BadInputError(
                    f"mistake_agent is {written}, which names none or several of the agents ({names}): there is no label of the agent, "
                    "correct the file",
                    locator=".mistake_agent",
                )
            )
        elif agent != found.mistake_agent:
            reading.notes.append(f"mistake_agent {excerpt(repr(found.mistake_agent), 60)} is read as {excerpt(repr(agent), 60)}")
    turn = None if step is None else step + 1
    answers = {"agent": agent, "step": None if turn is None else str(turn)}
    reading.rows["labels"] += [
        Label(place.path, _ANNOTATOR, RUBRIC, question, episode, episode, None, None, answer, None)
        for question, answer in answers.items()
        if answer
    ]
    if step is not None and agent and speakers[step].agent != agent:
        reading.rows["log_disagreements"].append(LogDisagreement(episode, turn, "mistake_agent", agent, speakers[step].agent))


def _named(written: str, agents: list[str]) -> str | None:
    """The agent that is meant: by its name, else by the only one that is the same but for case, blanks, and words in brackets."""
    if written in agents:
        return written
    meant = [name for name in agents if _plain(name) == _plain(written)]
    return meant[0] if len(meant) == 1 else None


def _plain(name: str) -> str:
    addressed = _ADDRESSED.fullmatch(name)
    return re.sub(r"[\s_-]+", "", name if addressed is None else addressed["agent"]).casefold()


def _step(written: Any) -> int | None:
    """A whole number, also as text and with a decimal point (`10.0`)."""
    try:
        step = float(written)
        return None if isinstance(written, bool) or step != int(step) else int(step)
    except (TypeError, ValueError, OverflowError):
        return None
