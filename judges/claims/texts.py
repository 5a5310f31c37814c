"""The texts of games that make claims: what a reader needs to know of each, which are still to be read, and what is stored of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from judges.claims.extraction import Example, TextPlace, form_of, messages_for, messages_for_sentence, rows_of
from judges.claims.readers import family_reading, read_by
from judges.claims.reading import FamilyReading
from judges.evidence.transcript import Reader, Transcript, UtteranceView, first_found, load, reader_named
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
    with store.reading():  # one opening for all queries before the first text
        selection = games_where(store, where, benchmarks)
        games = first_found(load(store, list(selection), reader))
    for game in games:
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

    @property
    def by_sentence(self) -> bool:
        """Whether each sentence is a call of its own, with a shorter form: where the server is known to be slow."""
        return self.settings.is_slow


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


_SENTENCE: Final = re.compile(r"\S[^.!?\n]*[.!?]*")


class Piece(NamedTuple):
    """What one call asks about a text."""

    messages: list[Message]
    span: tuple[int, int] | None = None
    """Where the sentence is; None: the call is about the whole text."""


@dataclass(slots=True)
class ReadingQuestion:
    """What is asked about a text, and the texts that it is about."""

    family: FamilyReading
    text: str
    pieces: list[Piece]
    """One for the whole text, or one for each sentence."""
    texts: list[Text] = field(default_factory=list)

    @property
    def messages(self) -> list[Message]:
        """Of the only call, or of the first."""
        return self.pieces[0].messages

    @property
    def form(self) -> type[BaseModel]:
        """What the model fills in."""
        prompt, types = self.family.prompt, self.family.types
        if self.pieces[0].span is None:
            return form_of(types, prompt["form"])
        return form_of(types, prompt["sentence"], frozenset(prompt["sentence_fields"].split()))

    @property
    def key(self) -> str:
        """As in the column `claims.prompt_hash`."""
        messages = (message for piece in self.pieces for message in piece.messages)
        content = "\0".join(f"{message['role']}\1{message['content']}" for message in messages)
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
        one = whole = question_of(text, request.prompt)
        if request.by_sentence:
            one = question_of(text, request.prompt, by_sentence=True)
        if any(row.prompt_hash in (one.key, whole.key) for row in text.game.claims.get((text.turn, text.message.seq), ())):
            before += 1
        else:
            questions.setdefault(one.key, one).texts.append(text)
    return OpenTexts(list(questions.values()), count, before)


def question_of(text: Text, prompt: PromptParts, *, by_sentence: bool = False) -> ReadingQuestion:
    """What a model is asked about a text; with instructions of the user's own always about the whole."""
    benchmark, own = text.game.benchmark, text.family.prompt
    frame, written = text.family.frame(text.game, text.turn, text.message), text.message.text
    sentences = [found.span() for found in _SENTENCE.finditer(written) if re.search(r"\w", found[0])]
    if by_sentence and sentences and benchmark not in prompt.instructions:
        short = own.get("short", own["instructions"])
        pieces = [Piece(messages_for_sentence(short, frame, written[slice(*span)], own["sentence"]), span) for span in sentences]
        return ReadingQuestion(text.family, written, pieces)
    instructions = prompt.instructions.get(benchmark, own["instructions"])
    messages = messages_for(instructions, frame, written, prompt.examples.get(benchmark, ()), own["form"])
    return ReadingQuestion(text.family, written, [Piece(messages)])


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
    calls = sum(len(one.pieces) for one in questions)
    return ReadingPlan(count, before, calls, tokens_in, tokens_out, cost, questions[0].messages if questions else [])


def _tokens(questions: Iterable[ReadingQuestion]) -> tuple[int, int]:
    estimate = TokenEstimate()
    shown = [len(message["content"]) for one in questions for piece in one.pieces for message in piece.messages]
    return round(sum(map(estimate.tokens, shown))), sum(max(_CLAIMS_A_TEXT, len(one.pieces)) for one in questions) * _TOKENS_A_CLAIM


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
