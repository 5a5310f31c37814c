"""Rubrics: files of data from which prompt, answer type, documentation and validation are made.

A rubric file is this model written as YAML: its keys are the fields. `judges.rubric_files.load` reads and checks files; those in
`judges/<family>/rubrics` show every key in use.

The typed answer of a judge is a Pydantic model made from the questions of a group.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, NamedTuple

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, create_model, model_validator
from pydantic_core import PydanticCustomError

from providers.forms import form_of
from schemas.chat.answers import CONTRADICTION, STATED
from schemas.common.errors import UsageError
from schemas.replies import is_echo

UnitKind = Literal["utterance", "agent_turn", "turn", "episode", "window", "action", "event", "pair", "row"]

WINDOW_TOKENS: Final = 4000
"""Tokens, estimated, of evidence that grows with a conversation, unless a rubric states another number."""

ANY_BENCHMARK = "any"
"""Means all benchmarks in a rubric's `benchmarks`."""

PROBE = "probe:"
"""Begins the name of the variant under which perturbed units are judged (`judges.evidence.perturbations`)."""

NONE_CHOSEN = "none"
"""How a choice of none of several answers is written."""

MOST_REPEATS = 100
"""Of a file, where each unit of every game is meant; for few units, `cotrace judge --repeats` takes any number."""

_Text = Annotated[str, Field(min_length=1)]
_Names = Annotated[tuple[str, ...], Field(strict=False)]  # YAML has lists
_QuestionId = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Question(_Part):
    """One question of a rubric."""

    ask: _Text
    na_when: _Text | None = None
    """When the question does not apply; None: it always applies, and N/A is not a possible answer."""
    na_if: _Names = ()
    """Conditions under which the log itself shows that it does not apply (`judges.evidence.pieces`): no judge is asked then."""
    examples: dict[str, _Text] = {}
    """Answer -> a case in which it is right; one for each possible answer."""
    engine: _Text | None = None
    """Name of the deterministic check that knows the truth (`judges.checks`); None if there is none."""
    also_shows: _Names = ()
    """Pieces that this question needs beyond the rubric's: it is then asked in a call of its own."""
    fault: bool = False
    """Whether a high score states that something went wrong, as of a question that asks for a failure; it changes no prompt and no hash."""
    _id: str = PrivateAttr("")
    _answers: tuple[str, ...] = PrivateAttr(())

    @property
    def id(self) -> str:
        """The key that it has in its rubric, such as PS2."""
        return self._id

    @property
    def answers(self) -> tuple[str, ...]:
        """Possible answers: those of its rubric, without the ones that mean "does not apply" unless `na_when` is given."""
        return self._answers

    def settle(self, name: str, answers: tuple[str, ...]) -> None:
        """What a question takes from the rubric that it is in; the rubric alone states it, once."""
        self._id, self._answers = name, answers


class Variant(_Part):
    """Visible evidence or wording that is changed on purpose, so that the effect can be measured."""

    why: _Text
    shows_add: _Names = ()
    shows_remove: _Names = ()
    version: Annotated[int, Field(ge=1)] | None = None
    """The rubric's version that had this wording; None: today's."""
    instructions: _Text | None = None
    questions: dict[_QuestionId, Question] = {}
    """Other wordings, by the rubric's ids."""
    wording: str | None = None
    """The variant whose version, instructions and questions hold here, too."""
    other_meaning: _Names = ()
    """Questions that ask for something else than the rubric's of the same id: their answers cannot be compared with its answers."""


class ShownEntry(_Part):
    """One entry of a demonstrated piece of evidence."""

    head: _Text
    """A line of the frame, such as ``D1 said:``."""
    text: str


class RightAnswer(_Part):
    """The right answer to a question about a demonstrated case, as a verdict would have it."""

    answer: _Text
    reason: _Text | None = None


class Demonstration(_Part):
    """A case with its right answers, which the judge is shown before the one it has to judge."""

    shown: Annotated[dict[str, Annotated[tuple[ShownEntry, ...], Field(strict=False)]], Field(min_length=1)]
    """Piece -> its entries; only visible evidence reaches the prompt."""
    answers: Annotated[dict[str, RightAnswer], Field(min_length=1)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Questions of a rubric that may see the same pieces, and so share one call."""

    shows: tuple[str, ...]
    questions: tuple[Question, ...]
    several: bool = False
    """Whether a question takes any number of its answers."""

    def only(self, names: Collection[str]) -> Group:
        """The same with these questions alone."""
        return replace(self, questions=tuple(question for question in self.questions if question.id in names))


class Rubric(_Part):
    """A set of questions about one kind of unit, and what the judge can see."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    version: Annotated[int, Field(ge=1)]
    """Raised when an answer could change."""
    source: str = ""
    """Where the questions come from."""
    unit: UnitKind
    unit_sql: _Text | None = None
    """Query whose rows are the units; None unless `unit` is row."""
    benchmarks: Annotated[_Names, Field(min_length=1)]
    roles: _Names = ()
    """Roles whose utterances and turns are judged; empty: all."""
    about: str | None = None
    """The piece that is judged: a unit in which it is empty is `skipped`, not asked. None: every unit is asked."""
    shows: Annotated[_Names, Field(min_length=1)]
    """All that the judge may see."""
    window_tokens: Annotated[int, Field(ge=200)] = WINDOW_TOKENS
    """Tokens, estimated at 4 characters each, that a piece of evidence of a conversation may take; what is left out is counted there."""
    answers: Annotated[dict[str, Annotated[float, Field(ge=0, le=1, strict=False)] | None], Field(min_length=2)]
    """Answer -> score; None: an answer without a score. Categories have none; ordinal answers have rising ones."""
    choice: Literal["one", "several"] = "one"
    """Whether a question takes one of its answers or any number of them."""
    repeats: Annotated[int, Field(ge=1, le=MOST_REPEATS)] = 1
    """How often each unit is asked unless the caller states otherwise."""
    instructions: _Text
    questions: Annotated[dict[_QuestionId, Question], Field(min_length=1)]
    """By id."""
    variants: dict[str, Variant] = {}
    """By name."""
    demonstrations: Annotated[tuple[Demonstration, ...], Field(strict=False)] = ()
    """In the order in which they are shown."""
    provenance: dict[str, Any] = {}
    """Where a rubric that was not written by hand comes from."""
    _variant: str | None = PrivateAttr(None)

    def model_post_init(self, _context: Any, /) -> None:
        """Tell each question its id and its possible answers."""
        never = self.na_answers()
        for name, question in self.questions.items():
            question.settle(name, tuple(answer for answer in self.answers if question.na_when is not None or answer not in never))

    @property
    def variant(self) -> str | None:
        """Name of the variant in force; None: the rubric as written."""
        return self._variant

    @property
    def hash(self) -> str:
        """16 hex digits over everything that could change an answer: not over `repeats`, `source` or variants not in force."""
        return self._hash_of(self.questions.values())

    def question_hashes(self) -> dict[str, str]:
        """Question -> 16 hex digits over everything that could change its answer, but for the questions that are asked with it."""
        return {name: self._hash_of([question]) for name, question in self.questions.items()}

    def _hash_of(self, questions: Collection[Question]) -> str:
        content: dict[str, object] = {
            "name": self.name,
            "version": self.version,
            "unit": self.unit,
            "roles": self.roles,
            "about": self.about,
            "shows": self.shows,
            "answers": list(self.answers.items()),
            "instructions": self.instructions,
            "questions": [_question_content(question) for question in questions],
        }
        if self.choice != "one":
            content["choice"] = self.choice
        if self.window_tokens != WINDOW_TOKENS:
            content["window_tokens"] = self.window_tokens
        if self.unit_sql is not None:
            content["unit_sql"] = self.unit_sql
        if self.demonstrations:
            names = {question.id for question in questions}
            content["demonstrations"] = [_demonstration_content(case, names) for case in self.demonstrations if names & case.answers.keys()]
        return hashlib.blake2b(orjson.dumps(content), digest_size=8).hexdigest()

    def na_answers(self) -> tuple[str, ...]:
        """Answers that mean "does not apply": those without a score, or, where no answer has one, `na`."""
        if all(score is None for score in self.answers.values()):
            return tuple(answer for answer in self.answers if answer == "na")
        return tuple(answer for answer, score in self.answers.items() if score is None)

    def score(self, answer: str | None) -> float | None:
        """The answer's number; None for N/A, categories, several answers at once, and where there is no answer."""
        return None if answer is None else self.answers.get(answer)

    def allows(self, answer: str, question: Question | None = None) -> bool:
        """Whether that could be a verdict's answer, of the question if one is given: a possible one, or several as `joined` writes them."""
        possible = self.answers if question is None else question.answers
        if self.choice == "one":
            return answer in possible
        return answer == NONE_CHOSEN or set(answer.split("|")) <= set(possible)

    def groups(self) -> tuple[Group, ...]:
        """The questions by what they may see, in the order of their first question."""
        found: dict[tuple[str, ...], list[Question]] = {}
        for question in self.questions.values():
            extra = tuple(piece for piece in question.also_shows if piece not in self.shows)
            found.setdefault(self.shows + extra, []).append(question)
        return tuple(Group(shows=shows, questions=tuple(questions), several=self.choice == "several") for shows, questions in found.items())

    def with_variant(self, name: str | None) -> Rubric:
        """The rubric with that variant in force.

        Raises:
            UsageError: the rubric declares no such variant.
        """
        if name is None:
            return self
        if name not in self.variants:
            raise UsageError(f"rubric {self.name} has no variant {name}: it declares {', '.join(self.variants) or 'none'}")
        variant = self.variants[name]
        retained = tuple(piece for piece in self.shows if piece not in variant.shows_remove)
        words = self.variants.get(variant.wording or name, variant)
        return self.changed(
            shows=retained + variant.shows_add,
            version=words.version or self.version,
            instructions=words.instructions or self.instructions,
            questions={**self.questions, **words.questions},
        ).under(name)

    def under(self, variant: str) -> Rubric:
        """The same rubric, its verdicts stored under that variant."""
        found = self.model_copy()
        found._variant = variant  # noqa: SLF001 - another rubric's, but of this class
        return found

    def changed(self, **fields: Any) -> Rubric:
        """A copy with other values in these fields, in the form of a file or as parts of the model.

        Raises:
            pydantic.ValidationError: a value that the field may not have.
        """
        found = Rubric.model_validate({**self.model_dump(), **{name: _plain(value) for name, value in fields.items()}})
        return found if self._variant is None else found.under(self._variant)


def joined(chosen: Collection[str], answers: Sequence[str]) -> str:
    """Several answers as one text: in the order of the rubric, with | between them; `none` if none was chosen."""
    return "|".join(answer for answer in answers if answer in chosen) or NONE_CHOSEN


def _plain(value: Any) -> Any:
    """Parts as a file has them: a copy must not share its questions, which know the rubric's answers, with the rubric."""
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def _question_content(question: Question) -> dict[str, object]:
    content = {name: getattr(question, name) for name in ("id", "ask", "na_when", "examples", "engine", "also_shows", "answers")}
    return content | ({"na_if": question.na_if} if question.na_if else {})


def _demonstration_content(case: Demonstration, questions: Collection[str]) -> dict[str, object]:
    answers = {question: given for question, given in case.answers.items() if question in questions}
    return {
        "shown": {piece: [(entry.head, entry.text) for entry in entries] for piece, entries in case.shown.items()},
        "answers": {question: given.answer for question, given in answers.items()},
        "reasons": {question: given.reason for question, given in answers.items() if given.reason is not None},
    }


EXAMPLE: Final = "<<example: {}>>"
"""How a prompt writes an example: no one who answers would write these marks."""
_EXAMPLE_MARK: Final = re.compile(r"<<\s*example\b", re.IGNORECASE)


@lru_cache(maxsize=64)
def asked_in(form: type[BaseModel]) -> str:
    """The last part of a prompt: the form, with marks in each place. A text between such marks is never an answer."""
    return f"Fill in this form. Write your own answer in each place between << and >>, without the marks:\n{form_of(form).example}"


def own_words(*examples: str) -> Any:
    """A validator of forms: it refuses a reply that repeats a part of its prompt, in any field, asked for or not."""
    shown: dict[type[BaseModel], tuple[str, ...]] = {}

    def refuse_copies(cls: type[BaseModel], reply: Any) -> Any:
        if cls not in shown:
            shown[cls] = (*examples, *_descriptions(cls.model_json_schema()))
        for where, text in _texts(reply):
            if _EXAMPLE_MARK.search(text) or is_echo(text, shown[cls]):
                raise PydanticCustomError("echo", "{where} repeats an example of the prompt, which is not an answer", {"where": where})
        return reply

    return model_validator(mode="before")(refuse_copies)


def _texts(value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield where or "it", value
    elif isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(part, f"{where}.{key}" if where else str(key))


def _descriptions(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for part in schema:
            yield from _descriptions(part)
    elif isinstance(schema, dict):
        for key, part in schema.items():
            if key == "description" and isinstance(part, str):
                yield part
            else:
                yield from _descriptions(part)


_AROUND: Final = " \t\r\n\"'`.,;:!()[]{}“”«»"
"""What a model puts around an answer that means nothing."""
_MARKED: Final = re.compile(r"(\*+)(.+)\1", re.DOTALL)
"""Markdown's emphasis; a star on one side alone can be part of the answer."""
_INSIDE: Final = re.compile(r"(?<=[^\W\d_])[\s_/.-]+(?=[^\W\d_])")
"""What only holds words apart. Next to digits, or at an end, a sign can be all that tells answers apart: -1, A+, <."""


_BEGINS: Final = re.compile(r"\W*(yes|no)\s*[,.:;!\u2013\u2014-]", re.IGNORECASE)


class Given(NamedTuple):
    """A judge's answer to one question."""

    question: str
    answer: str
    reason: str
    contradicts: bool | None = None
    """Whether the reason states another answer, as far as that is certain; None of several answers at once, and without a reason."""


def answer_model(group: Group) -> type[BaseModel]:
    """A model with one field a question, each with a reason and, after it, one of the question's answers.

    An answer that is written exactly so is taken as it is. Others are read loosely (`loosely`: N/A as na, "Too loud." as too_loud), because
    the judges of the published code write them in several ways; what fits no answer, or more than one, is none. Nor is a reply that
    repeats a question or an example, in whatever part of it (`judges.rubric`).
    """
    asked = (_Asked(question.id, question.ask, question.answers, tuple(question.examples.values())) for question in group.questions)
    return _answer_model(tuple(asked), group.several)


class _Asked(NamedTuple):
    """What a question's place in the form depends on."""

    id: str
    ask: str
    answers: tuple[str, ...]
    examples: tuple[str, ...]


@lru_cache(maxsize=64)
def _answer_model(questions: tuple[_Asked, ...], several: bool) -> type[BaseModel]:  # noqa: FBT001
    """Cached: to make it and its JSON schema takes as long as many a call, and prompts and each run of a process ask for the same."""
    kinds: dict[tuple[str, ...], type[BaseModel]] = {}
    fields: dict[str, Any] = {}
    for question in questions:
        if question.answers not in kinds:
            kinds[question.answers] = _one_answer(question.answers, len(kinds), several=several)
        asked = f'Question {question.id}: "{question.ask}" First the reason, then the answer.'
        fields[question.id] = (kinds[question.answers], Field(description=asked))
    shown = [text for question in questions for text in (question.ask, *question.examples)]
    validators: dict[str, Any] = {"_own": own_words(*shown)}
    return create_model("Answers", __doc__="The answers to all questions.", __validators__=validators, **fields)


def _one_answer(answers: tuple[str, ...], number: int, *, several: bool) -> type[BaseModel]:
    allowed: Any = Literal[answers]
    checked: Any = Annotated[allowed, BeforeValidator(_reader(answers))]
    if several:
        checked = list[checked]
    validators: dict[str, Any] = {"agree": model_validator(mode="after")(_agreeing(answers))}
    return create_model(
        "Answer" if number == 0 else f"Answer{number}",
        reason=(str, Field(description="A whole sentence, not the answer alone: what in the evidence decides it.")),
        answer=(checked, Field(description="All that hold." if several else "One of the allowed answers.")),
        __validators__=validators,
    )


def _agreeing(answers: Sequence[str]) -> Callable[[Any], Any]:
    """Refuses a reason that is nothing but another of the question's answers."""
    read = _reader(answers)

    def agree(one: Any) -> Any:
        reply, given = read(one.reason), one.answer if isinstance(one.answer, list) else [one.answer]
        if reply in answers and reply not in given:
            message = 'the reason is "{reason}" and the answer is "{answer}"'
            raise PydanticCustomError(CONTRADICTION, message, {"reason": reply, "answer": joined(given, answers)})
        return one

    return agree


def _reader(answers: Sequence[str]) -> Callable[[Any], Any]:
    """What a model wrote -> the answer it means, or itself if that is none or not clear."""
    meant: dict[str, set[str]] = {}
    for answer in answers:
        meant.setdefault(loosely(answer), set()).add(answer)

    def read(value: Any) -> Any:
        if not isinstance(value, str) or value in answers:
            return value
        found = meant.get(loosely(value), set())
        return next(iter(found)) if len(found) == 1 else value

    return read


def loosely(answer: str) -> str:
    """The answer without what writers vary: case, quotes and stops around it, and what holds its words apart (`Too-Loud.`, too_loud).

    Two answers of a rubric that read the same cannot be distinguished; `cotrace rubric check` refuses them. Empty only for blank text.
    """
    plain = _MARKED.sub(r"\2", answer.strip().casefold())
    return _INSIDE.sub("", plain.strip(_AROUND)) or plain


def given(group: Group, answers: BaseModel) -> list[Given]:
    """The answers of a filled model, in the order of the questions."""
    found = []
    for question in group.questions:
        one = getattr(answers, question.id)
        answer = joined(one.answer, question.answers) if group.several else one.answer
        against = None if group.several or not one.reason.strip() else contradicts(one.reason, answer, question.answers)
        found.append(Given(question.id, answer, one.reason, against))
    return found


def contradicts(reason: str, answer: str, answers: Sequence[str]) -> bool:
    """Whether a reason states another answer in so many words: it is nothing but that, begins with `No,`, or states what the answer is."""
    read = _reader(answers)
    stated = {read(reason), *(read(word) for word in STATED.findall(reason))}
    if answer in ("yes", "no") and (first := _BEGINS.match(reason)):
        stated.add(first[1].lower())
    stated &= {*answers}
    return bool(stated) and answer not in stated
