"""The question file: 66 rows with three questions each, as published (docs/coordination.md, "The question file")."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple, get_args

from schemas.errors import BadInputError
from schemas.packaged import packaged_yaml

QuestionType = Literal["EC", "TOM", "JP"]
"""Environment comprehension, theory of mind, joint planning."""

QUESTION_TYPES: Final[tuple[QuestionType, ...]] = get_args(QuestionType)
QUESTION_FILE: Final = "single_turn_trials.csv"

_HEADER: Final = re.compile(r"available\s+(?:answers|actions)\s*:", re.IGNORECASE)
_OPTION: Final = re.compile(r"\s*([A-Z])\s*\.\s*(.*?)[\s.]*$")
_BY_CONTENT: Final = (("thief", "CollabCapture"), ("killer", "CollabEscape"), ("onion", "Overcooked"), ("hanabi", "Hanabi"))
"""A word of the game's description -> the game, in the paper's grouping of 25, 28, 6 and 7."""


class AnswerOption(NamedTuple):
    """One listed option."""

    letter: str
    """As printed; six lists have a letter twice or skip one."""

    text: str
    """Without the dots after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QaQuestion:
    """One question."""

    scenario: int
    """Row of the file, from 0."""

    type: QuestionType
    game: str
    """By content: Hanabi, Overcooked, CollabCapture or CollabEscape."""

    game_upstream: str
    """The column `Game`: Hanabi, Overcooked or CollabGames; five Overcooked scenarios stand under the last."""

    text: str
    """Whole question with state and options."""

    options: tuple[AnswerOption, ...]
    description: str
    """Rules and layout, for the respondent."""

    directive: str
    """The instruction, for the respondent."""

    key: str
    """As printed: letters separated by commas, in one case with a blank."""

    answer: str
    """The answer in words, as printed."""

    correct_options: frozenset[int]
    """Indices, from 0, of the options that are right by the corrected key."""

    @property
    def name(self) -> str:
        """`EC 12`."""
        return f"{self.type} {self.scenario}"

    @property
    def keyed_letters(self) -> frozenset[str]:
        """Letters that the published key accepts, blanks stripped."""
        return frozenset(letter.strip() for letter in self.key.split(","))

    @property
    def lines(self) -> tuple[str, ...]:
        """What follows the header, split at newlines: what the published random model chooses from, the empty lines included."""
        return tuple(_HEADER.split(self.text.strip())[-1].split("\n"))


class _Correction(NamedTuple):
    published: str
    options: frozenset[int]


def load_questions(path: Path) -> tuple[QaQuestion, ...]:
    """Read a question file.

    Raises:
        BadInputError: it is none, or a cell that scoring needs is empty.
        OSError: it cannot be read.
    """
    return parse_questions(path.read_bytes())


@cache
def parse_questions(data: bytes) -> tuple[QaQuestion, ...]:
    """The questions of a file: EC, TOM and JP of scenario 0, then of scenario 1, and so on.

    Raises:
        BadInputError: the bytes are no question file, or a cell that scoring needs is empty.
    """
    rows = csv.DictReader(io.StringIO(data.decode("utf-8-sig", errors="replace"), newline=""), restval="")
    columns = {f"{kind} {part}" for kind in QUESTION_TYPES for part in ("Question", "Answer", "Answer Ordinal", "Directive")}
    missing = sorted((columns | {"Game", "Game Description"}) - set(rows.fieldnames or ()))
    if missing:
        raise BadInputError(f"no CoordinationQA question file: it has no column {missing[0]!r}; take {QUESTION_FILE} as published")
    return tuple(_questions(rows))


def _questions(rows: csv.DictReader[str]) -> Iterator[QaQuestion]:
    for scenario, row in enumerate(rows):
        for kind in QUESTION_TYPES:
            yield _question(scenario, kind, row)


def _question(scenario: int, kind: QuestionType, row: Mapping[str, str]) -> QaQuestion:
    text, key = row[f"{kind} Question"] or "", row[f"{kind} Answer Ordinal"] or ""
    options = tuple(_options(text))
    if not options or not key.strip():
        what = "options" if not options else "key"
        raise BadInputError(f"{kind} {scenario} has no {what}: take {QUESTION_FILE} as published", locator=f"row {scenario}")
    correction = _corrections().get(f"{kind} {scenario}")
    letters = {letter.strip() for letter in key.split(",")}
    right = frozenset(index for index, option in enumerate(options) if option.letter in letters)
    return QaQuestion(
        scenario=scenario,
        type=kind,
        game=_game(row),
        game_upstream=row["Game"],
        text=text,
        options=options,
        description=row["Game Description"],
        directive=row[f"{kind} Directive"],
        key=key,
        answer=row[f"{kind} Answer"] or "",
        correct_options=correction.options if correction and correction.published == key else right,
    )


def _options(text: str) -> Iterator[AnswerOption]:
    parts = _HEADER.split(text)
    for line in parts[-1].split("\n") if len(parts) > 1 else ():
        if found := _OPTION.match(line):
            yield AnswerOption(found[1], found[2])


def _game(row: Mapping[str, str]) -> str:
    description = row["Game Description"].lower()
    return next((game for word, game in _BY_CONTENT if word in description), row["Game"])


@cache
def _corrections() -> Mapping[str, _Correction]:
    entries = packaged_yaml(__package__, "corrections.yaml")
    return {entry["question"]: _Correction(entry["published"], frozenset(place - 1 for place in entry["options"])) for entry in entries}
