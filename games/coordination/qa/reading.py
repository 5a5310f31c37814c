"""What a response says, read with care: which option it names, or why it names none.

Unlike the published scoring (`extraction`), nothing is guessed: a bare letter counts, the last marked line wins, an option's text must
nearly be there in full, and refusals, cut-off texts and calls that failed are told apart instead of being matched to something.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from games.coordination.qa.questions import AnswerOption, QaQuestion

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
    """Whether the last marked line says something else than the beginning of an option."""
    said = _words(marked_lines[-1]) if marked_lines else ""
    return bool(said) and not any(_words(option.text).startswith(said) for option in question.options)


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

    said = _words(text)
    same = [index for index, option in enumerate(options) if _words(option.text) == said]
    if same:
        return same[0]
    scores = sorted(((fuzz.ratio(said, _words(option.text)), index) for index, option in enumerate(options)), reverse=True)
    best = scores[0]
    clear = len(scores) == 1 or scores[1][0] < best[0]
    same_numbers = re.findall(r"\d+", said) == re.findall(r"\d+", options[best[1]].text)
    return best[1] if best[0] >= _LEAST_SIMILARITY and clear and same_numbers else None


def _words(text: str) -> str:
    return " ".join(_WORDS.findall(text.lower()))
