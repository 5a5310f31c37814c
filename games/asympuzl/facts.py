"""What a message states about the puzzle, read by sentence patterns.

Best effort on free text (format description, section 9): what cannot be read is left out, never guessed. Questions, conditions and
negations state nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from games.asympuzl.puzzle import Agent, Vocabulary

__all__ = ["Facts", "color_words", "read_facts", "shape_words"]


@dataclass(frozen=True, slots=True)
class Facts:
    """Statements of one message, true or not."""

    order: frozenset[tuple[int, str]] = frozenset()
    """Pairs (position from 1, shape)."""

    colors: frozenset[tuple[str, str]] = frozenset()
    """Pairs (shape, color)."""

    places: frozenset[tuple[int, str]] = frozenset()
    """Pairs (position from 1, color)."""


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    """``shape``, ``color``, ``position``, ``number``, ``word`` or ``mark``."""

    text: str
    number: int = 0


_TOKEN: Final = re.compile(r"\d+(?:st|nd|rd|th)?\b|[a-z]+(?:'[a-z]+)?|->|[^\w\s]")
_SENTENCE_END: Final = re.compile(r"(?<=[!?])\s*|(?<!\d\.)(?<=\.)\s+|\n+")
_REWRITTEN: Final = tuple(
    (re.compile(pattern), written)
    for pattern, written in (
        (r"\([^()]*\?\s*\)", " "),  # a question in brackets: (color?)
        (r"[’']s\b", " "),
        (r"\bfirst to last\b", "order"),
        (r"\(\s*(\w+)\s*,\s*(\w+)\s*\)", r"(\1 \2)"),  # a pair in brackets is one item
        (r",\s*(?=[\"']?colou?r[\"']?\s*(?:[:=]|is\b|\w))", " "),  # shape crescent, color brown
        (r"\b((?:position|pos|slot|spot|place|number|to|in|at|and|is)\s+#?\d{1,2})\.(?=\s|$)", r"\1 ."),  # a full stop, no enumeration
    )
)
"""Applied one after the other to the message in lower case."""

_QUESTION_START: Final = re.compile(
    r"(?:^|[,:;–-]\s*|\b(?:and|but|so|now)\s+)"
    r"(?:what|which|who|where|how|when|is|are|do|does|did|can|could|would|will|should|have|has|tell|please)\b"
)
_ORDINALS: Final = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
    "eleventh": 11,
    "twelfth": 12,
}
_POSITION_WORDS: Final = frozenset(("position", "positions", "pos", "slot", "spot", "place", "number", "no", "#"))
_NOTHING_STATED: Final = frozenset(("if", "whether", "unless", "maybe", "perhaps", "not", "never", "neither", "cannot", "without"))
_LINKS: Final = frozenset(
    (
        *("is", "are", "has", "have", "had", "was", "should", "must", "be", "being"),
        *("goes", "belongs", "holds", "contains", "gets", "sits", "of", "with", "as", "in", "at", "on", "to", "for"),
        *("the", "a", "an", "it", "its", "s", "one", "shape", "color", "colour", "colored", "coloured"),
        *("=", ":", "-", "->", "–", "—", "→", ".", "/", "(", ")", "[", "]", "{", "}", '"', "'", "`", "*"),
    )
)
_RANGE_MARKS: Final = frozenset(("-", "–", "->", "→", "to"))
_MOST_LINKS: Final = 7
_SEPARATORS: Final = frozenset((",", ";", "|", "and", "then", "&", ">", "•", "while", "but"))
_ORDER_CUES: Final = frozenset(("order", "ordered", "sequence", "positions", "position"))
_NO_ORDER_CUES: Final = frozenset(("random", "unordered", "shuffled", "scrambled", "unsorted"))


def shape_words(message: str, words: Vocabulary) -> frozenset[str]:
    """Shapes of the puzzle that the message mentions in any way, questions included."""
    return frozenset(re.findall(r"[a-z]+", message.lower())) & words.shapes


def color_words(message: str, words: Vocabulary) -> frozenset[str]:
    """Colors of the puzzle that the message mentions in any way, questions included."""
    return frozenset(re.findall(r"[a-z]+", message.lower())) & words.colors


@lru_cache(maxsize=8192)
def read_facts(message: str, words: Vocabulary, speaker: Agent) -> Facts:
    """What a message of that speaker states.

    A bare list of all shapes is an order when A says it; from B, who knows no order, only if the message calls it one.
    """
    order: set[tuple[int, str]] = set()
    pairs: set[tuple[str, str]] = set()
    places: set[tuple[int, str]] = set()
    for sentence in _SENTENCE_END.split(_rewritten(message.lower())):
        tokens = _tokens(_stated(sentence), words)
        if any(token.text in _NOTHING_STATED or token.text.endswith("n't") for token in tokens):
            continue
        order |= _listed_order(tokens, words.size, speaker)
        for item in _items(_without_ranges(tokens)):
            order |= {(place.number, shape.text) for place, shape in _joined(item, "position", "shape")}
            pairs |= {(shape.text, color.text) for shape, color in _joined(item, "shape", "color")}
            places |= {(place.number, color.text) for place, color in _joined(item, "position", "color")}
    return Facts(frozenset(order), frozenset(pairs), frozenset(places))


def _rewritten(text: str) -> str:
    for pattern, written in _REWRITTEN:
        text = pattern.sub(written, text)
    return text


def _stated(sentence: str) -> str:
    """The sentence; of a question only what stands before the asking begins."""
    if not sentence.rstrip().endswith("?"):
        return sentence
    asking = _QUESTION_START.search(sentence)
    return "" if asking is None else sentence[: asking.start()]


def _tokens(sentence: str, words: Vocabulary) -> list[_Token]:
    tokens: list[_Token] = []
    for text in _TOKEN.findall(sentence):
        number = _number(text)
        if text in words.shapes:
            tokens.append(_Token("shape", text))
        elif text in words.colors:
            tokens.append(_Token("color", text))
        elif 1 <= number <= words.size:
            tokens.append(_Token("position", text, number))
        else:
            tokens.append(_Token("word" if text[0].isalpha() else "mark", text))
    return tokens


def _number(text: str) -> int:
    digits = re.match(r"\d{1,2}(?!\d)", text)
    return int(digits[0]) if digits else _ORDINALS.get(text, 0)


def _without_ranges(tokens: Sequence[_Token]) -> list[_Token]:
    """The tokens without ranges of positions (``2-4``, ``2 to 4``), which belong to a list and not to the next shape."""
    kept = list(tokens)
    for place in reversed(range(len(tokens) - 2)):
        first, middle, last = tokens[place : place + 3]
        if first.kind == last.kind == "position" and middle.text in _RANGE_MARKS:
            del kept[place : place + 3]
    return kept


def _items(tokens: Sequence[_Token]) -> Iterator[list[_Token]]:
    """The parts of a sentence between commas and the like; a position that opens a part goes with it."""
    item: list[_Token] = []
    for token in tokens:
        if token.text in _SEPARATORS:
            yield item
            item = []
        else:
            item.append(token)
    yield item


def _joined(item: Sequence[_Token], first: str, second: str) -> list[tuple[_Token, _Token]]:
    """Neighbours of the two kinds, in either order, with nothing but linking words between them.

    In an item with several of them (``1 square 2 circle``, ``square blue circle red``) the kind that comes first opens each pair.
    """
    places = [place for place, token in enumerate(item) if token.kind in (first, second)]
    opening = item[places[0]].kind if places else first
    found: list[tuple[_Token, _Token]] = []
    for left, right in pairwise(places):
        if item[left].kind == opening and item[right].kind != opening and _linked(item, left, right, {first, second}):
            pair = (item[left], item[right])
            found.append(pair if opening == first else (pair[1], pair[0]))
    return found


def _linked(item: Sequence[_Token], left: int, right: int, kinds: set[str]) -> bool:
    between = item[left + 1 : right]
    third = {"shape", "color", "position"} - kinds
    allowed = all(token.text in _LINKS or token.text in _POSITION_WORDS or token.kind in third for token in between)
    return allowed and len(between) <= _MOST_LINKS


def _listed_order(tokens: Sequence[_Token], size: int, speaker: Agent) -> set[tuple[int, str]]:
    """An order told by a list of all shapes, or of those of a range of positions (``positions 2-4: ...``)."""
    words = {token.text for token in tokens}
    if words & _NO_ORDER_CUES or (speaker == "B" and not words & _ORDER_CUES):
        return set()
    first = next((place for place, token in enumerate(tokens) if token.kind == "shape"), len(tokens))
    shapes = [token.text for token in tokens if token.kind == "shape"]
    numbers = [token.number for token in tokens[:first] if token.kind == "position"]
    later_numbers = any(token.kind == "position" for token in tokens[first:])
    if later_numbers or len(set(shapes)) != len(shapes) or (speaker == "B" and any(token.kind == "color" for token in tokens)):
        return set()
    start, end = (numbers[0], numbers[-1]) if len(numbers) == 2 else (1, size)  # noqa: PLR2004 - a range has two ends
    if len(numbers) not in (0, 2) or len(shapes) != end - start + 1 or len(shapes) < min(size, 2):
        return set()
    return set(enumerate(shapes, start=start))
