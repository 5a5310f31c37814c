"""The questions of CoordinationQA, and what a response to one means.

The question file has 66 rows with three questions each, as published (docs/coordination.md, "The question file"). A response is read
twice:

- `read_answer` with care: a bare letter counts, the last marked line wins, an option's text must nearly be there in full, and refusals,
  truncated texts and failed calls are distinguished. Nothing is guessed.
- `extract` as the published scoring does, its faults included (formats description of LLM-Coordination, sections 1.6 and 1.9).

`chance` is what guessing gives, exactly: for each question, the listed letters in the accepted set over all listed letters (section 1.10).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, Literal, NamedTuple, get_args

from games.coordination.players import best_match
from schemas.common.errors import BadInputError
from schemas.common.packages import packaged_yaml

QuestionType = Literal["EC", "TOM", "JP", "NR"]
"""Environment comprehension, theory of mind, joint planning; next request, which only files of `cotrace probe-states` have."""

QUESTION_TYPES: Final[tuple[QuestionType, ...]] = get_args(QuestionType)
PUBLISHED_TYPES: Final = QUESTION_TYPES[:3]
QUESTION_FILE: Final = "single_turn_trials.csv"

_HEADER: Final = re.compile(r"available\s+(?:answers|actions)\s*:", re.IGNORECASE)
_OPTION: Final = re.compile(r"\s*([A-Z])\s*\.\s*(.*?)[\s.]*$")
_BY_CONTENT: Final = (("thief", "CollabCapture"), ("killer", "CollabEscape"), ("onion", "Overcooked"), ("hanabi", "Hanabi"))
"""A word of the game's description -> the game, in the paper's grouping of 25, 28, 6 and 7."""


_PUBLISHED_GAMES: Final = ("Hanabi", "Overcooked", "CollabGames")


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
    columns = {f"{kind} {part}" for kind in PUBLISHED_TYPES for part in ("Question", "Answer", "Answer Ordinal", "Directive")}
    missing = sorted((columns | {"Game", "Game Description"}) - set(rows.fieldnames or ()))
    if missing:
        raise BadInputError(f"no CoordinationQA question file: it has no column {missing[0]!r}; take {QUESTION_FILE} as published")
    return tuple(_questions(rows))


def _questions(rows: csv.DictReader[str]) -> Iterator[QaQuestion]:
    for scenario, row in enumerate(rows):
        for kind in QUESTION_TYPES if "NR Question" in row else PUBLISHED_TYPES:
            text, key = row[f"{kind} Question"] or "", row[f"{kind} Answer Ordinal"] or ""
            options = tuple(_options(text))
            if not options or not key.strip():
                what = "options" if not options else "key"
                raise BadInputError(f"{kind} {scenario} has no {what}: take {QUESTION_FILE} as published", locator=f"row {scenario}")
            correction = _corrections().get(f"{kind} {scenario}") if row["Game"] in _PUBLISHED_GAMES else None
            letters = {letter.strip() for letter in key.split(",")}
            right = frozenset(index for index, option in enumerate(options) if option.letter in letters)
            description = row["Game Description"].lower()
            yield QaQuestion(
                scenario=scenario,
                type=kind,
                game=next((game for word, game in _BY_CONTENT if word in description), row["Game"]),
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


@cache
def _corrections() -> Mapping[str, _Correction]:
    entries = packaged_yaml(__package__, "corrections.yaml")
    return {entry["question"]: _Correction(entry["published"], frozenset(place - 1 for place in entry["options"])) for entry in entries}


def chance(question: QaQuestion) -> float:
    """Probability, 0 to 1, that an option drawn uniformly has a letter of the published key."""
    return sum(option.letter in question.keyed_letters for option in question.options) / len(question.options)


def chance_corrected(question: QaQuestion) -> float:
    """The same with the corrected key."""
    return len(question.correct_options) / len(question.options)


def chance_upstream(question: QaQuestion) -> float:
    """Probability that the published random model is counted as right: it draws among the lines after the header, empty ones included."""
    letters = [chr(ord("A") + place) for place in range(len(question.lines))]
    accepted = set(question.key.split(","))
    return sum(letter in accepted for letter in letters) / len(letters)


PLACEHOLDER: Final = "Explanation: Blah.\n Answer: Z."
"""What the published code stores instead of a response when the request fails."""

AnswerKind = Literal["letter", "bare_letter", "text", "several", "not_an_option", "refusal", "truncated", "failed_call", "no_answer"]

_LEAST_SIMILARITY: Final = 90.0
"""0..100, RapidFuzz `fuzz.ratio`: an option's text with a slip or two."""

_MARKED: Final = re.compile(
    r"(?:\b(?:final\s+)?(?:answer|action|choice)[\"'*_]*\s*(?:is\b\s*)?[:\uFF1A=][\"'*_]*"
    r"|\b(?:best|correct|right|final)\s+(?:answer|action|choice|option|move)\s+(?:is|would\s+be)\b[:\uFF1A]?)[ \t]*\n?[ \t]*([^\n]*)",
    re.IGNORECASE,
)
_FIELD: Final = re.compile(r'"(?:final[ _])?(?:answer|action|choice)"\s*:\s*"([^"\n]*)"', re.IGNORECASE)
"""The answer of a JSON object, whatever fields stand behind it."""

_MARKUP: Final = " \t\"'`*_[]{}<>"
_END_TAGS: Final = re.compile(r"</?s>|<\|[^|]*\|>")
_BARE: Final = re.compile(r"^(?:option\s+)?\(?([A-Za-z])\)?[\s.:\uFF1A\uFF0E,;*\"'\])}]*$", re.IGNORECASE)
_LETTERED: Final = re.compile(r"^(?:option\s+)?(?:\(([A-Z])\)|([A-Z])[\"'*_]*\s*[.):\uFF1A\uFF0E—–-])[\"'*_]*\s*(\S.*)?$", re.DOTALL)
_SMALL: Final = re.compile(r"^\(?([a-z])\s*[.)]\s*(\S.*)$", re.DOTALL)
_SEVERAL: Final = re.compile(r"^\(?([A-Z])\)?[.)]?(?:\s*(?:,|/|&|\band\b|\bor\b)\s*\(?([A-Z])\)?[.)]?)+\s*$")
_REFUSAL: Final = re.compile(
    r"\b(?:i\s+(?:am|'m)\s+(?:not\s+able|unable)|i(?:'m| am)\s+sorry|as an ai\b|i\s+(?:can(?:'t|not| not)|won't|will not)\b)", re.IGNORECASE
)
_ITEM: Final = re.compile(r"\s*[-*•]\s")
"""A line of a list: an option that is weighed, not chosen."""

_ENDED: Final = re.compile(r"[.!?)\]}\"'*`。]\s*$")
_WORDS: Final = re.compile(r"\w+")


class ReadAnswer(NamedTuple):
    """What was read."""

    kind: AnswerKind
    option: int | None
    """Index of the named option, from 0; None where none is named."""
    letter: str | None
    """The letter of the answer: printed in the response, or printed before the named option; None where there is none."""


def read_answer(question: QaQuestion, response: str | None) -> ReadAnswer:
    """Read a response: its last marked line that names something; else, unless it refuses, the whole or its last line."""
    if response is None or not response.strip() or response == PLACEHOLDER:
        return ReadAnswer("failed_call", None, None)
    text = _END_TAGS.sub("", response.replace("’", "'")).strip()
    marked = sorted((found.start(1), found[1]) for pattern in (_MARKED, _FIELD) for found in pattern.finditer(text))
    marked_lines = [line for _, line in marked]
    for line in reversed(marked_lines):
        found = _answer_in(line, question.options)
        if found is not None:
            return found
    if _REFUSAL.search(text):
        return ReadAnswer("refusal", None, None)
    last_line = text.rsplit("\n", 1)[-1]
    whole = _answer_in(text, question.options) or (None if _ITEM.match(last_line) else _answer_in(last_line, question.options))
    if whole is not None:
        return whole
    return ReadAnswer("no_answer" if _ENDED.search(text) or _is_whole(marked_lines, question) else "truncated", None, None)


def _is_whole(marked_lines: list[str], question: QaQuestion) -> bool:
    """Whether the last marked line differs from the beginning of an option."""
    wording = _words(marked_lines[-1]) if marked_lines else ""
    return bool(wording) and not any(_words(option.text).startswith(wording) for option in question.options)


def _answer_in(text: str, options: tuple[AnswerOption, ...]) -> ReadAnswer | None:
    """The answer that a text is; None if it is something else, such as a sentence."""
    stripped = text.strip(_MARKUP)
    if not stripped:
        return None
    if found := _BARE.match(stripped):
        return _by_letter("bare_letter", found[1].upper(), "", options)
    if _SEVERAL.match(stripped):
        return ReadAnswer("several", None, None)
    if found := _LETTERED.match(stripped):
        return _by_letter("letter", found[1] or found[2], found[3] or "", options)
    if (
        (found := _SMALL.match(stripped))
        and (named := _by_text(found[2], options)) is not None
        and options[named].letter == found[1].upper()
    ):
        return ReadAnswer("letter", named, options[named].letter)
    index = _by_text(stripped, options)
    return None if index is None else ReadAnswer("text", index, options[index].letter)


def _by_letter(kind: AnswerKind, letter: str, text: str, options: tuple[AnswerOption, ...]) -> ReadAnswer:
    """The option with a letter; among several with that letter, the one whose text follows."""
    places = [index for index, option in enumerate(options) if option.letter == letter]
    if not places:
        return ReadAnswer("not_an_option", None, letter)
    named = _by_text(text, options) if text else None
    return ReadAnswer(kind, named if named in places else places[0], letter)


def _by_text(text: str, options: tuple[AnswerOption, ...]) -> int | None:
    from rapidfuzz import fuzz

    wording = _words(text)
    same = [index for index, option in enumerate(options) if _words(option.text) == wording]
    if same:
        return same[0]
    scores = sorted(((fuzz.ratio(wording, _words(option.text)), index) for index, option in enumerate(options)), reverse=True)
    best = scores[0]
    clear = len(scores) == 1 or scores[1][0] < best[0]
    same_numbers = re.findall(r"\d+", wording) == re.findall(r"\d+", options[best[1]].text)
    return best[1] if best[0] >= _LEAST_SIMILARITY and clear and same_numbers else None


def _words(text: str) -> str:
    return " ".join(_WORDS.findall(text.lower()))


_MARKERS: Final = (re.compile(r"Action:\s*(.*)"), re.compile(r"Answer:\s*(.*)"))
_LETTER: Final = re.compile(r"([A-Z])[.)]")
_OPTION_LETTER: Final = re.compile(r"^[a-z]\.\s*")
_MARKER_LENGTH: Final = 7


class Extraction(NamedTuple):
    """A letter and how it was found."""

    letter: str
    """`2` where the published code fails on the response; it is never right."""
    way: Literal["marker_letter", "letter", "fuzzy", "failed"]
    """A letter on a marked line, a letter anywhere in an unmarked response, the most similar option, or none."""
    similarity: int | None
    """0 to 100 of the most similar option; None where nothing was compared."""


def extract(question: QaQuestion, response: str | None) -> Extraction:
    """The letter that the published scoring reads; None as response is a call that came to nothing."""
    if response is None:
        return Extraction("2", "failed", None)
    marked = next((found[1] for marker in _MARKERS if (found := marker.search(response))), None)
    text = response if marked is None else marked
    if found := _LETTER.search(text):
        return Extraction(found[1], "letter" if marked is None else "marker_letter", None)
    index, similarity = best_match(_answer_text(text), _fuzzy_options(question.text))
    return Extraction(chr(ord("A") + index), "fuzzy", similarity)


def correct_upstream(question: QaQuestion, letter: str) -> bool:
    """Whether the published scoring counts a letter as right: the key is split at commas and its blanks stay."""
    return letter in question.key.split(",")


def _answer_text(text: str) -> str:
    for marker in ("Action:", "Answer:"):
        if marker in text:
            text = text[text.index(marker) + _MARKER_LENGTH :].strip()
            break
    return _OPTION_LETTER.sub("", text).strip()


@lru_cache(maxsize=1024)
def _fuzzy_options(question: str) -> tuple[str, ...]:
    """Option texts; a line of two blanks stays as an option of its own, so that the letters after it are off by one."""
    lowered = question.strip().lower()
    header = "available actions:" if "actions" in lowered else "available answers:"
    items = [item for item in lowered.split(header)[-1].split("\n") if item not in {"", " "}]
    texts = [_OPTION_LETTER.sub("", item).strip() for item in items]
    return tuple(texts)
