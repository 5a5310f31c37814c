"""Which texts a model has still to read: one question for all texts that look the same to it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from judges.claims.extraction import Example, messages_for
from judges.claims.texts import Room, Text, texts
from judges.evidence.reader import Reader, reader_named
from judges.rubric.model import ANY_BENCHMARK, Rubric
from providers.messages import Message
from providers.prices import TokenEstimate, price_of
from providers.provider import ModelSettings
from schemas.errors import UsageError
from schemas.store import Store
from schemas.yaml_lines import read_yaml

_TOKENS_A_CLAIM = 60
_CLAIMS_A_TEXT = 3
"""For the estimate of a dry run."""


class PromptParts(NamedTuple):
    """What may be changed about how a model is asked, by benchmark."""

    instructions: Mapping[str, str] = {}
    """Instead of the family's own."""
    examples: Mapping[str, Sequence[Example]] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadingRequest:
    """Which texts a model reads."""

    settings: ModelSettings
    more_endpoints: tuple[ModelSettings, ...] = ()
    where: str | None = None
    """SQL condition over `episodes` and `turns`; None: every text that makes claims."""
    benchmarks: tuple[str, ...] | None = None
    """Only their games; None: of all."""
    earlier: bool = False
    """With all turns before the selected ones, too: engine checks look back."""
    prompt: PromptParts = field(default_factory=PromptParts)
    cache: Path | None = None
    concurrency: int = 32
    max_cost: float | None = None
    prices: Path | None = None

    @property
    def reader(self) -> Reader:
        """The model alone."""
        return reader_named(f"llm-only:{self.settings.model}")

    @property
    def stored_as(self) -> str:
        """As in the column `claims.reader`."""
        return f"llm:{self.settings.model}"


def benchmarks_of(rubrics: Sequence[Rubric]) -> tuple[str, ...] | None:
    """Whose games rubrics are about; None: of all."""
    named = {benchmark for rubric in rubrics for benchmark in rubric.benchmarks}
    return None if not named or ANY_BENCHMARK in named else tuple(sorted(named))


class ReadingPlan(NamedTuple):
    """What a job would do."""

    texts: int
    """Texts that make claims in the selection."""
    read_before: int
    calls: int
    """Calls to make: equal texts in equal frames are one."""
    tokens_in: int
    tokens_out: int
    cost: float | None
    """Estimate, USD; None if the model has no price."""
    example: list[Message]


@dataclass(slots=True)
class ReadingQuestion:
    """One prompt, and the texts that it stands for."""

    room: Room
    text: str
    messages: list[Message]
    texts: list[Text] = field(default_factory=list)

    @property
    def key(self) -> str:
        """As in the column `claims.prompt_hash`."""
        content = "\0".join(f"{message['role']}\1{message['content']}" for message in self.messages)
        return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


class OpenTexts(NamedTuple):
    """What a model has still to read."""

    questions: list[ReadingQuestion]
    texts: int
    """Of the selection, those that were read before included."""
    read_before: int


def open_texts(request: ReadingRequest, store: Store) -> OpenTexts:
    """What of the selection the model has not read yet, as it is asked now.

    Raises:
        StoreError: the store cannot be opened.
        UsageError: the condition is no SQL.
    """
    questions: dict[str, ReadingQuestion] = {}
    count = before = 0
    for text in texts(store, request.where, request.reader, benchmarks=request.benchmarks, earlier=request.earlier):
        count += 1
        one = question(text, request.prompt)
        if any(row.prompt_hash == one.key for row in text.game.claims.get((text.turn, text.said.seq), ())):
            before += 1
        else:
            questions.setdefault(one.key, one).texts.append(text)
    return OpenTexts(list(questions.values()), count, before)


def question(text: Text, prompt: PromptParts) -> ReadingQuestion:
    """What a model is asked about a text."""
    benchmark = text.game.benchmark
    instructions = prompt.instructions.get(benchmark, text.room.instructions)
    frame = text.room.frame(text.game, text.turn, text.said)
    messages = messages_for(instructions, frame, text.said.text, prompt.examples.get(benchmark, ()), text.room.form)
    return ReadingQuestion(text.room, text.said.text, messages)


def plan_reading(request: ReadingRequest, store: Store) -> ReadingPlan:
    """What the job would do, without asking anything.

    Raises:
        StoreError: the store cannot be opened.
        UsageError: the condition is no SQL, or a price file is malformed.
    """
    questions, count, before = open_texts(request, store)
    price = price_of(request.settings, request.prices)
    tokens_in, tokens_out = _tokens(questions)
    cost = price.cost(tokens_in, tokens_out) if price else None
    return ReadingPlan(count, before, len(questions), tokens_in, tokens_out, cost, questions[0].messages if questions else [])


def _tokens(questions: Iterable[ReadingQuestion]) -> tuple[int, int]:
    estimate, shown = TokenEstimate(), [sum(len(message["content"]) for message in one.messages) for one in questions]
    return round(sum(map(estimate.tokens, shown))), len(shown) * _CLAIMS_A_TEXT * _TOKENS_A_CLAIM


class PromptFile(BaseModel):
    """What stands in the file."""

    model_config = ConfigDict(extra="forbid")

    benchmark: str
    instructions: str
    examples: list[Example] = []


def prompt_in(path: Path | None) -> PromptParts:
    """The prompt of a file; None: the one that is built in.

    Raises:
        UsageError: the file cannot be read, or is no such prompt.
    """
    if path is None:
        return PromptParts()
    try:
        found = PromptFile.model_validate(read_yaml(path, "--prompt"))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise UsageError(f"--prompt {path}: {where}: {first['msg'].lower()} (docs/claims.md)") from error
    return PromptParts({found.benchmark: found.instructions}, {found.benchmark: found.examples})
