"""Numbers of layers: whether a text counts from nought or from one, and what the numbers then mean.

Layers are counted from nought in the game's own notation, so that is what a bare ``layer 1`` means; a ``layer 3``, or ``counting
from 1``, shows that a text counts from one. Columns have no notation of their own: they stay unread, but for the squares of a chess board.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from judges.craft.language.words.items import Token
from judges.craft.language.words.vocabulary import LAYER_NOUNS

__all__ = ["counted"]

_LAYERS = LAYER_NOUNS - {"line"}
_NUMBERS = {"0": 0, "zero": 0, "1": 1, "one": 1, "2": 2, "two": 2, "3": 3, "three": 3}
_ORDINALS = ("first", "second", "third")
_CODES = ("l0", "l1", "l2", "l3")
_TELLING = frozenset((*_NUMBERS, *_CODES, "ground"))
"""Words without which there is nothing to count."""

_SHORT = 2
_COUNTING = frozenset(("counting", "counted", "numbered", "starting", "count", "indexed", "index"))
_WIDTH = 3
_SQUARE = re.compile("[abc][0-3]")
_FILES = {"a": "left", "b": "middle", "c": "right"}
_STOREYS = frozenset(("floor", "storey", "story"))
_HIGHER = {"first": "second", "second": "third"}


Sentence = list[Token]


def counted(sentences: list[Sentence]) -> list[Sentence]:
    """Give the sentences with ordinals in place of the numbers of layers that count from one."""
    present = {token.word for sentence in sentences for token in sentence}
    if present.isdisjoint(_TELLING) and not any(_SQUARE.fullmatch(word) for word in present if len(word) == _SHORT):
        return sentences
    if "ground" in present and "third" not in present:
        sentences = [_above_ground(sentence) for sentence in sentences]
    sentences = _without_squares(sentences)
    layers = {number for sentence in sentences for _, _, number in _numbered(sentence)}
    told = next((base for sentence in sentences if (base := _told(sentence)) is not None), None)
    from_one = told == 1 or (told is None and _WIDTH in layers and 0 not in layers)
    return [_rewritten(sentence) for sentence in sentences] if from_one else sentences


def _above_ground(sentence: Sentence) -> Sentence:
    """Count the first floor from above the ground floor where a text has both."""
    pairs = itertools.pairwise([*sentence, sentence[-1]])
    return [replace(one, word=_HIGHER.get(one.word, one.word)) if other.word in _STOREYS else one for one, other in pairs]


def _without_squares(sentences: list[Sentence]) -> list[Sentence]:
    """Read ``b3`` as on a chess board: letters from the left, numbers from the bottom; not beside a layer of its own."""
    squares = [token.word for sentence in sentences for token in sentence if _SQUARE.fullmatch(token.word)]
    base = 0 if any(word[1] == "0" for word in squares) else 1
    return [_squares_told(sentence, base) for sentence in sentences] if squares else sentences


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


def _numbered(sentence: Sentence) -> Iterator[tuple[int, int, int]]:
    """Give begin, length and number of ``layer 2``, ``row number two``, ``L2``."""
    for index, token in enumerate(sentence):
        if token.word in _CODES:
            yield index, 1, int(token.word[1])
        if token.word not in _LAYERS:
            continue
        skipped = 1 + (index + 1 < len(sentence) and sentence[index + 1].word in ("number", "no", "index"))
        number = _NUMBERS.get(sentence[index + skipped].word) if index + skipped < len(sentence) else None
        if number is not None:
            yield index, skipped + 1, number


def _told(sentence: Sentence) -> int | None:
    """Read ``counting from 1``, ``numbered from zero``."""
    words = [token.word for token in sentence]
    for index, word in enumerate(words):
        if word in _COUNTING and index + 2 < len(words) and words[index + 1] in ("from", "at", "with"):
            base = _NUMBERS.get(words[index + 2])
            return base if base in (0, 1) else None
    return None


def _rewritten(sentence: Sentence) -> Sentence:
    """Put ordinals in place of numbers that count from one."""
    result = list(sentence)
    for index, length, number in reversed(list(_numbered(sentence))):
        if number - 1 in range(_WIDTH):
            begin, end = sentence[index].start, sentence[index + length - 1].end
            result[index : index + length] = [Token(_ORDINALS[number - 1], begin, end), Token("layer", begin, end)]
    return result
