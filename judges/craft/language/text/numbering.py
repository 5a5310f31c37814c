"""Numbers of layers and columns: whether a text counts from nought or from one, and what the numbers then mean.

Layers are counted from nought in the game's own notation, so that is what a bare ``layer 1`` means; a ``layer 3``, or ``layer 1 (bottom)``,
shows that a text counts from one. Columns have no notation of their own: without such a sign they stay unread.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from judges.craft.language.text.tokens import Token
from judges.craft.language.words.spatial import BOTTOMS, TOPS
from judges.craft.language.words.vocabulary import LAYER_NOUNS, word_set

__all__ = ["counted"]

_LAYERS = LAYER_NOUNS - {"line"}
_COLUMNS = word_set("numbering", "columns")
_NUMBERS = {"0": 0, "zero": 0, "1": 1, "one": 1, "2": 2, "two": 2, "3": 3, "three": 3}
_ORDINALS = ("first", "second", "third")
_CODES = ("l0", "l1", "l2", "l3")
_TELLING = frozenset((*_NUMBERS, *_CODES, "ground", "column", "file"))
"""Words without which there is nothing to count."""

_SHORT = 2
_COUNTING = frozenset(("counting", "counted", "numbered", "starting", "count", "indexed", "index"))
_WIDTH = 3
_SQUARE = re.compile("[abc][0-3]")
_FILES = {"a": "left", "b": "middle", "c": "right"}
_STOREYS = frozenset(("floor", "storey", "story", "level"))

Sentence = list[Token]


def counted(sentences: list[Sentence]) -> list[Sentence]:
    """Give the sentences with ordinals in place of the numbers of layers and columns whose first number the text tells."""
    present = {token.word for sentence in sentences for token in sentence}
    if present.isdisjoint(_TELLING) and not any(_SQUARE.fullmatch(word) for word in present if len(word) == _SHORT):
        return sentences
    sentences = _without_squares(_above_ground(sentences))
    sentences = [_with_coordinates(sentence) for sentence in sentences]
    layers = [number for sentence in sentences for _, _, number in _numbered(sentence, _LAYERS)]
    columns = [number for sentence in sentences for _, _, number in _numbered(sentence, _COLUMNS)]
    if not layers and not columns:
        return sentences
    told = next((base for sentence in sentences if (base := _told(sentence)) is not None), None)
    layer_base = _base(layers, told if told is not None else _glossed(sentences))
    column_base = _base(columns, 1 if told is None and layer_base == 1 and 0 not in columns else told)
    if layer_base != 1 and column_base is None:
        return sentences
    return [_rewritten(_rewritten(sentence, _COLUMNS, column_base, "cell"), _LAYERS, layer_base or None, "layer") for sentence in sentences]


def _above_ground(sentences: list[Sentence]) -> list[Sentence]:
    """Count the first floor from above the ground floor where a text has both."""
    pairs = [(one.word, other.word) for sentence in sentences for one, other in itertools.pairwise(sentence)]
    if not any(one == "ground" and other in _STOREYS for one, other in pairs):
        return sentences
    if any(one == "third" and other in _STOREYS for one, other in pairs):
        return sentences
    result = [list(sentence) for sentence in sentences]
    for sentence in result:
        for index, (one, other) in enumerate(itertools.pairwise(list(sentence))):
            if one.word in ("first", "second") and other.word in _STOREYS:
                sentence[index] = replace(one, word="second" if one.word == "first" else "third")
    return result


def _without_squares(sentences: list[Sentence]) -> list[Sentence]:
    """Read ``b3`` and ``column b`` as on a chess board: letters from the left, numbers from the bottom; not beside a layer of its own."""
    squares = [token.word for sentence in sentences for token in sentence if _SQUARE.fullmatch(token.word)]
    base = 0 if any(word[1] == "0" for word in squares) else 1
    return [_without_files(_squares_told(sentence, base) if squares else sentence) for sentence in sentences]


def _with_coordinates(sentence: Sentence) -> Sentence:
    """Read ``row 0, column 2, layer 1`` as a coordinate of the board: the layer is named apart, so the row is none."""
    words = [token.word for token in sentence]
    if "row" not in words or not {"column", "col"} & set(words) or not {"layer", "level", "tier", *_CODES} & set(words):
        return sentence
    row = words.index("row")
    column = next((index for index in range(row + 2, min(row + 5, len(words) - 1)) if words[index] in ("column", "col")), None)
    if column is None:
        return sentence
    numbers = (words[row + 1], words[column + 1])
    if not all(number.isdigit() and int(number) in range(_WIDTH) for number in numbers):
        return sentence
    cell = Token(f"({numbers[0]},{numbers[1]})", sentence[row].start, sentence[column + 1].end)
    return [*sentence[:row], cell, *sentence[column + 2 :]]


def _squares_told(sentence: Sentence, base: int) -> Sentence:
    if any(token.word in LAYER_NOUNS or token.word in _CODES for token in sentence):
        return sentence
    result: Sentence = []
    for token in sentence:
        number = int(token.word[1]) - base if _SQUARE.fullmatch(token.word) else -1
        if number in range(_WIDTH):
            words = (_FILES[token.word[0]], "cell", _ORDINALS[number], "layer")
            result += [replace(token, word=word) for word in words]
        else:
            result.append(token)
    return result


def _without_files(sentence: Sentence) -> Sentence:
    """Read ``column b``; an ``a`` before a block is an article."""
    result = list(sentence)
    for index in range(len(result) - 1):
        letter, after = result[index + 1].word, result[index + 2].word if index + 2 < len(result) else ""
        article = letter == "a" and after.isalpha() and after not in ("on", "at", "is", "needs", "in", "layer", "row", "level")
        if result[index].word in ("column", "file") and letter in _FILES and not article:
            result[index], result[index + 1] = replace(result[index], word=_FILES[letter]), replace(result[index + 1], word="cell")
    return result


def _numbered(sentence: Sentence, nouns: frozenset[str]) -> Iterator[tuple[int, int, int]]:
    """Give begin, length and number of ``layer 2``, ``row number two``, ``L2``."""
    for index, token in enumerate(sentence):
        if token.word in _CODES and nouns is _LAYERS:
            yield index, 1, int(token.word[1])
        if token.word not in nouns:
            continue
        skipped = 1 + (index + 1 < len(sentence) and sentence[index + 1].word in ("number", "no", "index"))
        number = _NUMBERS.get(sentence[index + skipped].word) if index + skipped < len(sentence) else None
        if number is not None and not _counts_blocks(sentence, index + skipped):
            yield index, skipped + 1, number


def _counts_blocks(sentence: Sentence, index: int) -> bool:
    """Tell ``my bottom layer one small red block`` and ``in that corner two blocks`` from a layer's number."""
    if sentence[index].word.isdigit():
        return False
    after = sentence[index + 1].word if index + 1 < len(sentence) else ""
    return after.isalpha() and after not in ("of", "on", "in", "and", "at", "is", "needs", "wants", "should")


def _base(numbers: Sequence[int], told: int | None) -> int | None:
    if told is not None:
        return told
    if 0 in numbers:
        return None if _WIDTH in numbers else 0
    return 1 if _WIDTH in numbers else None


def _told(sentence: Sentence) -> int | None:
    """Read ``counting from 1``, ``numbered from zero``."""
    words = [token.word for token in sentence]
    for index, word in enumerate(words):
        if word in _COUNTING and index + 2 < len(words) and words[index + 1] in ("from", "at", "with"):
            base = _NUMBERS.get(words[index + 2])
            return base if base in (0, 1) else None
    return None


def _glossed(sentences: Sequence[Sentence]) -> int | None:
    """Read ``layer 1 (bottom)`` and ``layer 2 = top``."""
    for sentence in sentences:
        words = [token.word for token in sentence]
        for index, length, number in _numbered(sentence, _LAYERS):
            gloss = next((word for word in words[index + length : index + length + 3] if word not in (",", "the", "is", "or")), "")
            if gloss in BOTTOMS and number in (0, 1):
                return number
            if gloss in TOPS and number in (2, _WIDTH):
                return number - 2
    return None


def _rewritten(sentence: Sentence, nouns: frozenset[str], base: int | None, noun: str) -> Sentence:
    if base is None:
        return sentence
    result = list(sentence)
    for index, length, number in reversed(list(_numbered(sentence, nouns))):
        if number - base in range(_WIDTH):
            begin, end = sentence[index].start, sentence[index + length - 1].end
            result[index : index + length] = [Token(_ORDINALS[number - base], begin, end), Token(noun, begin, end)]
    return result
