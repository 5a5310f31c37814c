"""Asks a model all CoordinationQA questions of a file that the user has, trial by trial; what is answered is not asked again.

The prompt is the published one for OpenAI-style models: instruction, rules, a short acknowledgement, question; one request each, no memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import orjson

from games.coordination.qa.questions import QUESTION_FILE, Question, load_questions
from providers.faults import Fault, classify, wait_after
from providers.pacing import Gate
from providers.provider import ModelSettings, call_arguments, connect, text_of
from schemas.errors import UsageError

__all__ = ["ACKNOWLEDGEMENT", "PUBLISHED_TEMPERATURE", "AskReport", "AskRequest", "ask", "prompt"]

ACKNOWLEDGEMENT: Final = "Got it!"
PUBLISHED_TEMPERATURE: Final = 0.6


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


def prompt(question: Question) -> list[dict[str, str]]:
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
    with path.open("ab") as file:
        failed = asyncio.run(_Asking(request, file, len(items), on_progress).run(left)) if left else 0
    return AskReport(len(left), len(items) - len(left), failed, path)


def _answered(path: Path) -> set[tuple[int, int, str]]:
    """Questions with an answer; a line that was cut is removed from the file."""
    if not path.exists():
        return set()
    whole = path.read_bytes().rpartition(b"\n")[0]
    path.write_bytes(whole + b"\n" if whole else b"")
    lines = [orjson.loads(line) for line in whole.splitlines()]
    return {(line["trial"], line["scenario"], line["type"]) for line in lines if not line["api_error"]}


class _Asking:
    """One run over a model's questions."""

    def __init__(self, request: AskRequest, file: BinaryIO, total: int, on_progress: Callable[[int, int], None] | None) -> None:
        self._request = request
        self._file = file
        self._total = total
        self._tell = on_progress
        self._client = connect(request.settings)
        self._arguments = call_arguments(request.settings)
        self._gate = Gate()
        self._failed = 0

    async def run(self, items: Iterable[_Item]) -> int:
        """Ask all; gives how many came to nothing."""
        waiting = list(items)
        done = self._total - len(waiting)
        places = asyncio.Semaphore(self._request.concurrency)

        async def one(item: _Item) -> None:
            nonlocal done
            async with places:
                self._write(item, await self._reply(item))
            done += 1
            if self._tell is not None:
                self._tell(done, self._total)

        try:
            async with asyncio.TaskGroup() as group:
                for item in waiting:
                    group.create_task(one(item))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        finally:
            await self._close()
        return self._failed

    async def _reply(self, item: _Item) -> str | None:
        from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, Fault) and error.again),
            wait=wait_after,
            stop=stop_after_attempt(self._request.settings.tries),
            reraise=True,
        )
        try:
            return await retrying(self._once, prompt(item.question))
        except Fault:
            self._failed += 1
            return None

    async def _once(self, messages: list[Any]) -> str:
        sent_at = await self._gate.wait()
        try:
            async with asyncio.timeout(self._request.settings.timeout_s):
                completion: Any = await self._client.create(response_model=None, messages=messages, **self._arguments)
        except TimeoutError as error:
            raise Fault("no reply in time", status=None, retry_after_s=None, again=True) from error
        except Exception as error:
            fault = classify(error)
            if fault.limited:
                self._gate.limited(sent_at, fault.retry_after_s)
            raise fault from error
        self._gate.succeeded()
        return text_of(completion)

    def _write(self, item: _Item, response: str | None) -> None:
        question = item.question
        line = {
            "respondent": self._request.settings.model_name,
            "trial": item.trial,
            "scenario": question.scenario,
            "game": question.game_upstream,
            "paper_game": question.game,
            "type": question.type,
            "response": response,
            "api_error": response is None,
        }
        self._file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
        self._file.flush()

    async def _close(self) -> None:
        close = getattr(self._client.client, "close", None) or getattr(self._client.client, "aclose", None)
        if close is not None:
            await close()
