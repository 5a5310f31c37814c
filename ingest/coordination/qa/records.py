"""Answers to CoordinationQA as typed records, out of both kinds of log."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from games.coordination.qa.questions import QUESTION_TYPES, QuestionType
from games.coordination.qa.reading import PLACEHOLDER
from ingest.reading.adapter_types import Reading
from ingest.reading.json_text import loads
from ingest.reading.malformed import malformed
from schemas.errors import BadInputError
from schemas.game import CallEntry
from schemas.text import excerpt

__all__ = ["Response", "Trial", "from_arrays", "from_lines"]

_FILE_NAME: Final = re.compile(r"^(?P<test>[^_]+)_(?P<family>[^_]+)_(?P<model>.+?)(?P<trial>\d)\.json$")
"""The trial is the last digit: three trials were published, and model names end in digits too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A response to one question."""

    scenario: int
    type: QuestionType
    response: str | None
    """None: the call came to nothing."""

    intended: str | None
    """The letter that a scripted respondent meant; None where it meant none or nobody knows."""

    locator: str
    index: int
    """Place in the file, from 0."""

    call: CallEntry | None = None
    """What the request took, where the log says so."""

    claims: Mapping[str, object] = field(default_factory=dict)
    """What else the line says of question and answer, all of which can be checked; empty for published logs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The answers of one respondent in one trial, in the order of the log."""

    respondent: str
    family: str | None
    """Prompt template as the file's name says: openai, mistral, vicuna, ...; None if it does not."""

    trial: int | None
    answers: tuple[Response, ...]

    @property
    def fingerprint(self) -> str:
        """Hash of all responses: the same trial logged twice has the same, whichever way failed calls are written."""
        responses = sorted(
            (answer.scenario, answer.type, "" if answer.response in (None, PLACEHOLDER) else answer.response) for answer in self.answers
        )
        return hashlib.blake2b(repr(responses).encode(errors="surrogateescape"), digest_size=8).hexdigest()


def from_arrays(log: Mapping[str, Any], file_name: str) -> tuple[Trial, ...]:
    """The trial of a published log; who answered stands in the file's name only.

    Raises:
        BadInputError: an entry is no text.
    """
    named = _FILE_NAME.match(file_name)
    answers: list[Response] = []
    for kind in QUESTION_TYPES:
        responses = log.get(f"{kind}_ANSWERS", [])
        if not isinstance(responses, list) or not all(response is None or isinstance(response, str) for response in responses):
            raise BadInputError(f"{kind}_ANSWERS is no list of texts: write the file again", locator=f"{kind}_ANSWERS")
        answers += [_logged(kind, scenario, response) for scenario, response in enumerate(responses)]
    return (
        Trial(
            respondent=named["model"] if named else file_name.removesuffix(".json"),
            family=named["family"] if named else None,
            trial=int(named["trial"]) if named else None,
            answers=tuple(answers),
        ),
    )


def _logged(kind: QuestionType, scenario: int, response: str | None) -> Response:
    return Response(
        scenario=scenario,
        type=kind,
        response=response,
        intended=None,
        locator=f"{kind}_ANSWERS[{scenario}]",
        index=len(QUESTION_TYPES) * scenario + QUESTION_TYPES.index(kind),
    )


_CLAIMS: Final = ("game", "paper_game", "n_options", "key", "extracted", "correct", "intended_correct")


_CALL: Final = TypeAdapter(CallEntry)


def _call(value: object) -> object:
    """A strict record takes no object for a dataclass: it is read before."""
    return _CALL.validate_python(value, strict=False) if isinstance(value, dict) else value


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    respondent: str
    trial: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    scenario: Annotated[int, Field(ge=0, lt=2**31)]
    type: QuestionType
    response: str | None
    intended: str | None = None
    call: Annotated[CallEntry | None, BeforeValidator(_call)] = None
    api_error: bool = False
    game: str | None = None
    paper_game: str | None = None
    n_options: int | None = None
    key: str | None = None
    extracted: str | None = None
    correct: bool | int | None = None
    intended_correct: bool | int | None = None

    @property
    def claims(self) -> dict[str, object]:
        """What the line says that question and response say too."""
        return {name: getattr(self, name) for name in _CLAIMS if name in self.model_fields_set}


def from_lines(data: bytes, found: Reading) -> tuple[Trial, ...]:
    """The trials in a file with one answer a line; lines that cannot be used become rejects."""
    answers: dict[tuple[str, int | None], dict[tuple[int, QuestionType], Response]] = defaultdict(dict)
    for index, text in enumerate(data.split(b"\n")):
        where = f"line {index + 1}"
        if not text.strip():
            continue
        try:
            line = _Line.model_validate(loads(text))
        except ValidationError as error:
            found.rejects.append(malformed(error, where, "the answer is left out"))
        except BadInputError as error:
            found.rejects.append(BadInputError(error.reason, locator=where, excerpt=excerpt(text[:200].decode(errors="replace"))))
        else:
            answer = Response(
                scenario=line.scenario,
                type=line.type,
                response=None if line.api_error else line.response,
                intended=line.intended,
                locator=where,
                index=index,
                call=line.call,
                claims=line.claims,
            )
            answers[line.respondent, line.trial][line.scenario, line.type] = answer  # a question asked again: the last answer counts
    return tuple(
        Trial(respondent=respondent, family=None, trial=trial, answers=_sorted(given)) for (respondent, trial), given in answers.items()
    )


def _sorted(given: Mapping[tuple[int, QuestionType], Response]) -> tuple[Response, ...]:
    return tuple(given[key] for key in sorted(given, key=lambda key: (key[0], QUESTION_TYPES.index(key[1]))))
