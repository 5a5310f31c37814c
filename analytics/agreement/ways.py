"""Answers about units as numbers with a field for each question and answer, and what one question is in them: a few ways to be answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from analytics.agreement.answers import Role

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int64]

__all__ = ["ORDER", "Answered", "Layout", "Matched", "Pair", "Rater", "layout_for", "numbered", "sums_by"]

Rater = tuple[Role, str]
"""Role and name."""
ORDER: Final[tuple[Role, ...]] = ("truth", "people", "engine", "judge")
"""In this order, who is the reference when two are compared."""

_WORD: Final = 48
"""Bits of a number that are used: its sums over the answers about a unit have to fit in 64."""
_DENSE: Final = 2**23
"""Keys up to which sums stand in one array."""
_SMALL: Final = 2**16


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where a unit's answers are counted: in fields, some of which are a word."""

    width: int
    """Bits of a field."""
    stride: int
    """Fields of a question, those that stay empty included."""
    a_word: int
    """Fields of a word."""
    words: int

    def fields(self, question: int, answers: int) -> Iterator[tuple[int, int]]:
        """Word and first bit of the field of each answer."""
        for slot in range(question * self.stride, question * self.stride + answers):
            yield slot // self.a_word, slot % self.a_word * self.width


def layout_for(questions: int, answers: int, width: int) -> Layout:
    """Fields of so many bits: whole questions in a word, or a question in several."""
    room = _WORD // width
    stride = answers if answers <= room else -(-answers // room) * room
    a_word = room // answers * answers if answers <= room else room
    return Layout(width=width, stride=stride, a_word=a_word, words=-(-questions * stride // a_word))


class Pair(NamedTuple):
    """Two raters, or one twice: a row for each way in which both answered units of a game."""

    games: Codes
    """Of each row, a place in `Answered.games`."""
    first: Sequence[Codes]
    """The words of each row."""
    second: Sequence[Codes]
    units: Floats


class Matched(NamedTuple):
    """The same for one question."""

    games: Codes
    first: Codes
    """Of each row, a place in `counts_first`."""
    second: Codes
    units: Floats
    counts_first: Floats
    """How often each answer was given, and last how often none: shape (ways, answers + 1)."""
    counts_second: Floats


def _no_games() -> NDArray[np.uint64]:
    import numpy as np

    return np.array([], dtype=np.uint64)


@dataclass(frozen=True)
class Answered:
    """What was answered about a rubric."""

    rubric: str
    questions: tuple[str, ...]
    answers: tuple[str, ...]
    layout: Layout
    scores: Mapping[tuple[str, Rater, str | None], float | None] = field(default_factory=dict)
    """Of all that were given, the answers' numbers: question, rater, answer (None: asked without giving one)."""
    games: NDArray[np.uint64] = field(default_factory=_no_games)
    """`hash` of their names in DuckDB."""
    pairs: Mapping[tuple[Rater, Rater], Pair] = field(default_factory=dict)

    def matched(self, first: Rater, second: Rater, question: str) -> Matched:
        """What a pair of `pairs` said of one question; units that one of them was not asked about are there with nothing counted."""
        pair = self.pairs[first, second]
        a, counts = self._ways(pair.first, question)
        b, other_counts = (a, counts) if first == second else self._ways(pair.second, question)
        ways = len(counts) * len(other_counts)
        keys, units = sums_by((pair.games * len(counts) + a) * len(other_counts) + b, pair.units, len(self.games) * ways)
        way = keys % ways
        return Matched(keys // ways, way // len(other_counts), way % len(other_counts), units, counts, other_counts)

    def given(self, words: Sequence[int]) -> Iterator[tuple[str, str | None]]:
        """Which answers to which questions these words hold."""
        for place, question in enumerate(self.questions):
            fields = self.layout.fields(place, len(self.answers) + 1)
            for answer, (word, bit) in zip([*self.answers, None], fields, strict=True):
                if words[word] >> bit & ((1 << self.layout.width) - 1):
                    yield question, answer

    def _ways(self, words: Sequence[Codes], question: str) -> tuple[Codes, Floats]:
        """In which way each row answers the question, and the ways."""
        import numpy as np

        fields = list(self.layout.fields(self.questions.index(question), len(self.answers) + 1))
        mask = (1 << self.layout.width) - 1
        codes = np.zeros(len(words[0]), dtype=np.int64)
        for word in dict.fromkeys(word for word, _ in fields):
            bits = [bit for own, bit in fields if own == word]
            own, found = numbered(words[word] >> min(bits) & ((1 << max(bits) - min(bits) + self.layout.width) - 1))
            codes, _ = numbered(codes * found + own)
        places = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.int64)
        places[codes] = np.arange(len(codes))
        counts = np.column_stack([words[word][places] >> bit & mask for word, bit in fields])
        return codes, counts.astype(float)


def numbered(values: Codes) -> tuple[Codes, int]:
    """Each value's place among those that there are, and how many there are; values from 0."""
    import numpy as np

    if values.max(initial=0) >= _SMALL + 4 * len(values):
        found, places = np.unique(values, return_inverse=True)
        return places, len(found)
    is_there = np.bincount(values) > 0
    return (is_there.cumsum() - 1)[values], int(is_there.sum())


def sums_by(keys: Codes, amounts: Floats, most: int) -> tuple[Codes, Floats]:
    """The keys that there are, ascending, and the sum of the amounts of each; keys are below `most`."""
    import numpy as np

    if most > max(_DENSE, len(keys)):
        found, places = np.unique(keys, return_inverse=True)
        return found, np.bincount(places, weights=amounts).astype(float)
    sums = np.bincount(keys, weights=amounts).astype(float)
    there = np.flatnonzero(sums)
    return there, sums[there]
