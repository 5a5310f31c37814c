"""Asks a player all CoordinationQA questions of a file that the user has, trial by trial; what is answered is not asked again.

The prompt is the published one for OpenAI-style models: instruction, rules, a short acknowledgement, question; one request each, no memory.
"""

import asyncio
import fcntl
import os
import random
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from games.coordination.players import GRADES
from games.coordination.qa import questions as coordqa
from games.players.player import ModelPlayer, Observation, OutOfBudgetError, PersonPlayer, Player, PlayerReply, ScriptPlayer, call_entry
from games.players.setup import PERSON, SCRIPT, is_model
from providers.asker import Asker, JobTerms, run_to_end, summed
from providers.prices import Budget, price_of
from providers.provider import ModelSettings
from schemas.chat.messages import Message
from schemas.common.errors import UsageError

ACKNOWLEDGEMENT: Final = "Got it!"
PUBLISHED_TEMPERATURE: Final = 0.6
RESPONDENT: Final = "respondent"
"""The one player, and its role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRequest:
    """Whom to ask what."""

    questions: Path
    """The published question file."""
    out: Path
    """Folder for the answers, ``<model>.jsonl``, and a copy of the question file, which ingest needs next to them."""
    respondent: str = ""
    """A player: script:NAME, human, or a model; empty: the model of the settings."""
    named: str = ""
    """Under which name the answers are logged, such as a person's or that of a team in its games; empty: the player's."""
    settings: ModelSettings = field(default_factory=lambda: ModelSettings(model="", temperature=PUBLISHED_TEMPERATURE))
    trials: int = 3
    take: int | None = None
    """Only the first so many questions; None: all."""
    concurrency: int = 8
    prices: Path | None = None
    """A price file of the user's own."""
    max_cost: float | None = None
    """USD for all answers, those of earlier starts included; None: no limit."""

    @property
    def player(self) -> str:
        """Who answers, as written for a player."""
        return self.respondent or self.settings.model

    @property
    def name(self) -> str:
        """Who answers, as logged."""
        return self.named or (self.settings.model_name if is_model(self.player) else self.player)


class AskReport(NamedTuple):
    """What came of a request."""

    asked: int
    stored: int
    """Answers that were there already."""
    failed: int
    """Requests that came to nothing; the same command asks them again."""
    path: Path
    unasked: int = 0
    """Questions that wait for money: a start with a higher budget asks them."""
    answered: int = 0
    """Questions with an answer, of this start or an earlier one."""
    right: int = 0
    """Those of them that are right by the published rule."""
    unread: int = 0
    """Those of them in whose answer no option can be read with care."""
    tokens_in: int | None = 0
    """Of the requests of this start; None if the server has not counted all tokens."""
    tokens_out: int | None = 0
    cost: float | None = 0.0
    """USD of them; None if it is not known."""


class _Item(NamedTuple):
    trial: int
    question: coordqa.QaQuestion

    @property
    def key(self) -> tuple[int, int, str]:
        return (self.trial, self.question.scenario, self.question.type)


def prompt(question: coordqa.QaQuestion) -> list[Message]:
    """The messages of one question."""
    return [
        {"role": "system", "content": question.directive},
        {"role": "user", "content": question.description},
        {"role": "assistant", "content": ACKNOWLEDGEMENT},
        {"role": "user", "content": question.text},
    ]


def ask_questions(request: AskRequest, on_progress: Callable[[int, int], None] | None = None) -> AskReport:
    """Ask what is not answered yet; each answer is a line, flushed at once.

    Args:
        request: whom to ask what.
        on_progress: called with the questions done and the questions in all.

    Raises:
        UsageError: the model's name or key is missing, a number is out of range, or another process asks into this folder.
        BadInputError: the question file is none.
        HopelessError: the server turns every request down; what was answered is stored.
        OSError: a file cannot be read or written.
    """
    if request.trials < 1 or request.concurrency < 1:
        raise UsageError("coordqa: give at least one trial and one request at a time")
    items = [
        _Item(trial, question) for trial in range(request.trials) for question in coordqa.load_questions(request.questions)[: request.take]
    ]
    path = request.out / f"{(request.named or request.player).replace('/', '_').replace(':', '-')}.jsonl"
    request.out.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"another process is writing answers to {path}: wait for it, or stop it first") from None
        lines = _lines(path)
        answered = {(line["trial"], line["scenario"], line["type"]) for line in lines if not line["api_error"]}
        left = [item for item in items if item.key not in answered]
        (request.out / coordqa.QUESTION_FILE).write_bytes(request.questions.read_bytes())
        done = len(items) - len(left)

        def write(item: _Item, reply: PlayerReply) -> None:
            nonlocal done
            file.write(_line(request, item, reply))
            file.flush()
            done += 1
            if on_progress is not None:
                on_progress(done, len(items))

        spent = sum(line.get("call", {}).get("cost") or 0.0 for line in lines)
        failed, unasked = run_to_end(_ask_all(request, left, spent, write)) if left else (0, 0)
        now = _lines(path)
    calls = [line["call"] for line in now[len(lines) :] if "call" in line]
    responses = {(line["trial"], line["scenario"], line["type"]): line["response"] for line in now if not line["api_error"]}
    answers = [(item.question, responses[item.key]) for item in items if item.key in responses]
    right = sum(coordqa.correct_upstream(question, coordqa.extract(question, response).letter) for question, response in answers)
    return AskReport(
        len(left) - unasked,
        len(items) - len(left),
        failed,
        path,
        unasked,
        *(len(answers), right, sum(coordqa.read_answer(question, response).letter is None for question, response in answers)),
        *(summed(call[name] for call in calls) for name in ("tokens_in", "tokens_out", "cost")),
    )


def _lines(path: Path) -> list[dict[str, Any]]:
    """What earlier starts have written; a line that was cut is removed from the file."""
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        os.truncate(path, len(whole))
    return [orjson.loads(line) for line in whole.splitlines()]


async def _ask_all(
    request: AskRequest, items: Sequence[_Item], spent: float, write: Callable[[_Item, PlayerReply], None]
) -> tuple[int, int]:
    """Ask all; gives how many came to nothing, and how many the budget had nothing left for."""
    failed = unasked = 0
    people = request.player == PERSON
    free = asyncio.Semaphore(1 if people else len(items))  # a model's asker bounds itself
    async with AsyncExitStack() as stack:
        player = await _player_of(request, spent, stack)

        async def one(item: _Item) -> None:
            nonlocal failed, unasked
            try:
                async with free:
                    reply = await player.reply(_observation(item), episode=f"{item.question.type} {item.question.scenario}")
            except OutOfBudgetError:
                unasked += 1
                return
            failed += reply.error is not None
            write(item, reply)

        try:
            async with asyncio.TaskGroup() as group:
                for item in items:
                    group.create_task(one(item))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors
    return failed, unasked


async def _player_of(request: AskRequest, spent: float, stack: AsyncExitStack) -> Player:
    if request.player == PERSON:
        return PersonPlayer(print, input)
    if not is_model(request.player):
        name = request.player.removeprefix(SCRIPT)
        return ScriptPlayer(name, SCRIPTS[RESPONDENT][name])
    budget = Budget(None if request.max_cost is None else request.max_cost - spent)
    price = price_of(request.settings, request.prices)
    asker = await stack.enter_async_context(Asker([request.settings], price, JobTerms(budget=budget, concurrency=request.concurrency)))
    return ModelPlayer(request.settings.model, asker, run=str(request.out), game="coordqa")


def _observation(item: _Item) -> Observation:
    """A question without its key."""
    question = item.question
    place = len(coordqa.QUESTION_TYPES) * question.scenario + coordqa.QUESTION_TYPES.index(question.type) + 1
    messages = prompt(question)
    return Observation(
        agent=RESPONDENT,
        role=RESPONDENT,
        turn=question.scenario + 1,
        place=place,
        purpose=question.type,
        sample=item.trial + 1,
        messages=messages,
        data=Put(question.directive, question.description, question.text, item.trial, sorted(question.keyed_letters)),
    )


class Put(NamedTuple):
    """A question as it is put to a script: the text of the messages, which trial it is, and for graded ones the key."""

    directive: str
    description: str
    text: str
    trial: int
    right: Sequence[str]


def _letters(put: Put) -> list[str]:
    return re.findall(r"^\s*([A-Z])\s*\.", put.text, re.MULTILINE) or ["A"]


def _graded(skill: int, put: Put) -> str:
    """The same for the same question and trial."""
    rng = random.Random(f"coordqa:{put.trial}:{put.text}")
    guess = rng.choice(_letters(put))
    return f"Action: {rng.choice(put.right) if rng.random() * 100 < skill else guess}."


SCRIPTS: Final[Mapping[str, Mapping[str, Callable[[Any], str]]]] = {
    RESPONDENT: {
        "first": lambda put: f"Action: {_letters(put)[0]}.",
        "random": lambda put: _graded(0, put),
        **{f"graded_{skill}": partial(_graded, skill) for skill in GRADES},
    }
}
"""Role -> script -> policy over the question as it is put; `graded_N` answers N % by the key, others at random."""


def _line(request: AskRequest, item: _Item, reply: PlayerReply) -> bytes:
    question = item.question
    line = {
        "respondent": request.name,
        "trial": item.trial,
        "scenario": question.scenario,
        "game": question.game_upstream,
        "paper_game": question.game,
        "type": question.type,
        "response": reply.text if reply.error is None else None,
        "api_error": reply.error is not None,
        **({} if reply.call is None else {"call": call_entry(reply.call, RESPONDENT)}),
    }
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
