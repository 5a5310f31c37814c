"""The texts of games that make claims: what a reader needs to know of each, which are still to be read, and what is stored of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from judges.claims.extraction import Example, TextPlace, form_of, messages_for, rows_of
from judges.claims.readers import family_reading, read_by
from judges.claims.reading import FamilyReading
from judges.evidence.transcript import Reader, Transcript, UtteranceView, load, reader_named
from judges.evidence.units import games_where
from judges.rubric import ANY_BENCHMARK, Rubric
from providers.asker import ModelJob
from providers.prices import TokenEstimate, price_of
from providers.provider import ModelSettings
from schemas.chat.messages import Message
from schemas.common.errors import UsageError
from schemas.common.yaml_lines import read_yaml
from schemas.records import Call, Claim
from schemas.store.batches import checked
from schemas.store.store import Store, Transaction

if TYPE_CHECKING:
    import polars as pl


class Text(NamedTuple):
    """A text in its game."""

    game: Transcript
    turn: int
    message: UtteranceView
    family: FamilyReading

    @property
    def place(self) -> TextPlace:
        """Where it is."""
        return TextPlace(self.game.episode_id, self.turn, self.message)

    @property
    def author(self) -> str:
        """Who wrote it: a scripted player's persona, else the model."""
        agent = self.game.agents.get(self.message.agent)
        return str(self.persona or self.game.team.get(agent.role if agent else "") or self.game.model)

    @property
    def persona(self) -> str | None:
        """The scripted player that wrote it; None: somebody else did."""
        agent = self.game.agents.get(self.message.agent)
        return agent.persona if agent else None


def texts(
    store: Store, where: str | None = None, reader: Reader | None = None, *, benchmarks: Sequence[str] | None = None, earlier: bool = False
) -> Iterator[Text]:
    """All texts that make claims, game by game, with what a reader has made of them.

    Args:
        store: where the games are.
        where: SQL condition over `episodes` and `turns`; None: all.
        reader: whose claims come along; None: read by rules.
        benchmarks: only theirs; None: of all.
        earlier: with all turns before the selected ones, too: checks look back.

    Raises:
        StoreError: the store cannot be opened.
        UsageError: the condition is not SQL.
    """
    selection = games_where(store, where, benchmarks)
    for game in load(store, list(selection), reader):
        family, turns = family_reading(game.benchmark), selection[game.episode_id]
        for turn in game.turns:
            if turns is None or turn.turn in turns or (earlier and turn.turn < max(turns)):
                yield from (Text(game, turn.turn, message, family) for message in turn.utterances if family.reads(message))


_EARLIER = "reader = ? AND (episode_id, turn, seq) IN (SELECT (unnest(?::VARCHAR[]), unnest(?::BIGINT[]), unnest(?::BIGINT[])))"


def stored_claims(store: Store, reader: Reader, where: str | None) -> pl.DataFrame:
    """The rows of the table `claims` by a reader on the selected turns; what the rules read is read anew, for they get better.

    Raises:
        StoreError: the store cannot be read or written.
        UsageError: the condition is not SQL.
    """
    import polars as pl

    store.create()  # one that an older cotrace has made may lack the table
    rows = list(_rows(store, reader, where))
    if reader.rules:
        put(store, reader.name, rows)
    if not rows:
        return pl.DataFrame(schema=dict.fromkeys(Claim._fields, pl.String))
    return pl.DataFrame(rows, schema=Claim._fields, orient="row", infer_schema_length=None)  # the first hundred may all lack a column


def _rows(store: Store, reader: Reader, where: str | None) -> Iterator[Claim]:
    for text in texts(store, where, reader):
        found = read_by(text.game, text.turn, text.message, reader)
        if found is not None:
            yield from rows_of(found, text.place, reader.name if reader.rules else reader.stored or reader.name)


def put(store: Store, reader: str, rows: Sequence[Claim], calls: Sequence[Call] = ()) -> None:
    """Write a reader's claims of some texts in place of its earlier ones, and the calls made for them.

    Raises:
        StoreError: the store cannot be written.
    """
    places = sorted({(row.episode_id, row.turn, row.seq) for row in rows})
    columns = checked({"claims": rows, "calls": calls})

    def write(transaction: Transaction) -> None:
        transaction.delete("claims", _EARLIER, [reader, *([place[at] for place in places] for at in range(3))])
        transaction.delete("calls", "call_id IN (SELECT unnest(?::VARCHAR[]))", [[call.call_id for call in calls]])
        transaction.insert_columns(columns)

    store.transact(write)


_TOKENS_A_CLAIM = 60
_CLAIMS_A_TEXT = 3
"""For the estimate of a dry run."""


class PromptParts(NamedTuple):
    """What may be changed about how a model is asked, by benchmark."""

    instructions: Mapping[str, str] = {}
    """Instead of the family's own."""
    examples: Mapping[str, Sequence[Example]] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadingRequest(ModelJob):
    """Which texts a model reads."""

    settings: ModelSettings
    where: str | None = None
    """SQL condition over `episodes` and `turns`; None: every text that makes claims."""
    benchmarks: tuple[str, ...] | None = None
    """Only their games; None: of all."""
    earlier: bool = False
    """With all turns before the selected ones, too: engine checks look back."""
    prompt: PromptParts = field(default_factory=PromptParts)

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
    """One prompt, and the texts that it asks about."""

    family: FamilyReading
    text: str
    messages: list[Message]
    texts: list[Text] = field(default_factory=list)

    @property
    def form(self) -> type[BaseModel]:
        """What the model fills in."""
        return form_of(self.family.types, self.family.prompt["form"])

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
        UsageError: the condition is not SQL.
    """
    questions: dict[str, ReadingQuestion] = {}
    count = before = 0
    for text in texts(store, request.where, request.reader, benchmarks=request.benchmarks, earlier=request.earlier):
        count += 1
        one = question_of(text, request.prompt)
        if any(row.prompt_hash == one.key for row in text.game.claims.get((text.turn, text.message.seq), ())):
            before += 1
        else:
            questions.setdefault(one.key, one).texts.append(text)
    return OpenTexts(list(questions.values()), count, before)


def question_of(text: Text, prompt: PromptParts) -> ReadingQuestion:
    """What a model is asked about a text."""
    benchmark = text.game.benchmark
    instructions = prompt.instructions.get(benchmark, text.family.prompt["instructions"])
    frame = text.family.frame(text.game, text.turn, text.message)
    messages = messages_for(instructions, frame, text.message.text, prompt.examples.get(benchmark, ()), text.family.prompt["form"])
    return ReadingQuestion(text.family, text.message.text, messages)


def plan_reading(request: ReadingRequest, store: Store) -> ReadingPlan:
    """What the job would do, without asking anything.

    Raises:
        StoreError: the store cannot be opened.
        UsageError: the condition is not SQL, or a price file is malformed.
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
    """What is in the file."""

    model_config = ConfigDict(extra="forbid")

    benchmark: str
    instructions: str
    examples: list[Example] = []


def prompt_in(path: Path | None) -> PromptParts:
    """The prompt of a file; None: the one that is built in.

    Raises:
        UsageError: the file cannot be read, or is not such a prompt.
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
