"""Asks a model all CoordinationQA questions of a file that the user has, trial by trial; what is answered is not asked again.

The prompt is the published one for OpenAI-style models: instruction, rules, a short acknowledgement, question; one request each, no memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from games.coordination.qa.questions import QUESTION_FILE, Question, load_questions
from providers.asker import Asker, Reply, Request, Terms
from providers.messages import Message
from providers.provider import ModelSettings
from schemas.errors import UsageError

__all__ = ["ACKNOWLEDGEMENT", "PUBLISHED_TEMPERATURE", "AskReport", "AskRequest", "ask", "prompt"]

ACKNOWLEDGEMENT: Final = "Got it!"
PUBLISHED_TEMPERATURE: Final = 0.6
_PURPOSE: Final = "coordqa"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRequest:
    """Whom to ask what."""

    questions: Path
    """The published question file."""

    out: Path
    """Folder for the answers, ``<model>.jsonl``, and a copy of the question file, which ingest needs beside them."""

    settings: ModelSettings = field(default_factory=lambda: ModelSettings(model="", temperature=PUBLISHED_TEMPERATURE))
    trials: int = 3
    concurrency: int = 8


class AskReport(NamedTuple):
    """What came of a request."""

    asked: int
    kept: int
    """Answers that were there already."""

    failed: int
    """Requests that came to nothing; the same command asks them again."""

    path: Path


class _Item(NamedTuple):
    trial: int
    question: Question

    @property
    def key(self) -> tuple[int, int, str]:
        return (self.trial, self.question.scenario, self.question.type)


def prompt(question: Question) -> list[Message]:
    """The messages of one question."""
    return [
        {"role": "system", "content": question.directive},
        {"role": "user", "content": question.description},
        {"role": "assistant", "content": ACKNOWLEDGEMENT},
        {"role": "user", "content": question.text},
    ]


def ask(request: AskRequest, on_progress: Callable[[int, int], None] | None = None) -> AskReport:
    """Ask what is not answered yet; each answer is a line, flushed at once.

    Args:
        request: whom to ask what.
        on_progress: called with the questions done and the questions in all.

    Raises:
        UsageError: the model's name or key is missing, or a number is out of range.
        BadInputError: the question file is none.
        HopelessError: the server turns every request down; what was answered is kept.
        OSError: a file cannot be read or written.
    """
    if request.trials < 1 or request.concurrency < 1:
        raise UsageError("coordqa: give at least one trial and one request at a time")
    items = [_Item(trial, question) for trial in range(request.trials) for question in load_questions(request.questions)]
    path = request.out / f"{request.settings.model.replace('/', '_')}.jsonl"
    answered = _answered(path)
    left = [item for item in items if item.key not in answered]
    request.out.mkdir(parents=True, exist_ok=True)
    (request.out / QUESTION_FILE).write_bytes(request.questions.read_bytes())
    done = len(items) - len(left)
    with path.open("ab") as file:

        def write(item: _Item, reply: Reply) -> None:
            nonlocal done
            file.write(_line(request, item, reply))
            file.flush()
            done += 1
            if on_progress is not None:
                on_progress(done, len(items))

        failed = asyncio.run(_ask_all(request, left, write)) if left else 0
    return AskReport(len(left), len(items) - len(left), failed, path)


def _answered(path: Path) -> set[tuple[int, int, str]]:
    """Questions with an answer; a line that was cut is removed from the file."""
    if not path.exists():
        return set()
    whole = path.read_bytes().rpartition(b"\n")[0]
    path.write_bytes(whole + b"\n" if whole else b"")
    lines = [orjson.loads(line) for line in whole.splitlines()]
    return {(line["trial"], line["scenario"], line["type"]) for line in lines if not line["api_error"]}


async def _ask_all(request: AskRequest, items: Sequence[_Item], write: Callable[[_Item, Reply], None]) -> int:
    """Ask all; gives how many came to nothing."""
    async with Asker([request.settings], terms=Terms(concurrency=request.concurrency)) as asker:

        async def one(item: _Item) -> None:
            write(item, await asker.ask(Request(messages=prompt(item.question), sample=item.trial + 1, purpose=_PURPOSE)))

        try:
            async with asyncio.TaskGroup() as group:
                for item in items:
                    group.create_task(one(item))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        return asker.usage.failed


def _line(request: AskRequest, item: _Item, reply: Reply) -> bytes:
    question = item.question
    line = {
        "respondent": request.settings.model_name,
        "trial": item.trial,
        "scenario": question.scenario,
        "game": question.game_upstream,
        "paper_game": question.game,
        "type": question.type,
        "response": reply.text if reply.answered else None,
        "api_error": not reply.answered,
    }
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
