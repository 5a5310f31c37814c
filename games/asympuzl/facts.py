"""What a message states about the puzzle, read by sentence patterns, and what it can claim, whoever reads it.

Best effort on free text (format description, section 9): what cannot be read is left out, never guessed, and listed as unread. Questions,
conditions and negations state nothing. A message proves that something was not stated only if all of it was read.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from games.asympuzl.puzzle import Agent, Vocabulary
from schemas.common.packages import packaged_yaml


@dataclass(frozen=True, slots=True)
class Facts:
    """Statements of one message, true or not."""

    order: frozenset[tuple[int, str]] = frozenset()
    """Pairs (position from 1, shape)."""
    colors: frozenset[tuple[str, str]] = frozenset()
    """Pairs (shape, color)."""
    places: frozenset[tuple[int, str]] = frozenset()
    """Pairs (position from 1, color)."""
    unread: tuple[str, ...] = field(default=(), compare=False)
    """Clauses that were not understood in every word: what they say or retract is unknown."""


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    """``shape``, ``color``, ``position``, ``number``, ``word`` or ``mark``."""
    text: str
    number: int = 0


_TOKEN: Final = re.compile(r"\d+(?:st|nd|rd|th)?\b|[a-z]+(?:'[a-z]+)?|->|[^\w\s]")
_SENTENCE_END: Final = re.compile(r"(?<=[!?])\s*|(?<!\d\.)(?<=\.)\s+|\n+")

_OF_PARTNER: Final = re.compile(
    r"\bin your (?:\w+ )?(?:clues?|list|hypothesis|view|set|arrangement|version|puzzle|board|side)\b"
    r"|\byou(?:'ve| have| had)? (?:have|had|put|placed|wrote|written|said|got|set|listed|called|told|gave|sent|mentioned)\b"
)
"""What the partner has or wrote: it is not what the speaker states."""

_CHANGE_ASKED: Final = re.compile(
    r"\b(?:can|could|would|will|please)\b.*\b(?:swap|switch|exchange|flip|reverse|move|put|change|set|replace|undo|turn|shift)\b"
)

_QUESTION_START: Final = re.compile(
    r"(?:^|[,:;–-]\s*|\b(?:and|but|so|now)\s+)"
    r"(?:what|which|who|where|how|when|is|are|do|does|did|can|could|would|will|should|have|has|tell|please)\b"
)
_TABLES: Final = packaged_yaml(__package__, "facts.yaml")
_REWRITTEN: Final = tuple((re.compile(pattern), written) for pattern, written in _TABLES["rewritten"])
_ORDINALS: Final = {word: number for number, word in enumerate(_TABLES["ordinals"].split(), start=1)}
_CARDINALS: Final = {word: number for number, word in enumerate(_TABLES["cardinals"].split(), start=1)}
"""Positions after a word such as `position` only: `one` has other meanings, too."""
_POSITION_WORDS: Final = frozenset(("position", "positions", "pos", "slot", "spot", "place", "number", "no", "#"))
_NOTHING_STATED: Final = frozenset(_TABLES["nothing_stated"].split())
"""Words with which a sentence states nothing that could be held for certain."""
_NEGATIONS: Final = frozenset(("not", "never", "cannot", "without", "neither", "nor", "if", "or"))
_LINKS: Final = frozenset((*_TABLES["links"].split(), *"=:-–—→./()[]{}\"'`*", "->"))
_CHATTER: Final = frozenset((*_TABLES["chatter"].split(), "!", "?", "…"))
"""Words that state nothing about positions. None confirms, denies or changes a statement, as "yes", "right", "same" and "other" do."""
_RANGE_MARKS: Final = frozenset(("-", "–", "->", "→", "to"))
_MOST_LINKS: Final = 7
_SEPARATORS: Final = frozenset((",", ";", "|", "and", "then", "&", ">", "•", "while", "but"))
_ORDER_CUES: Final = frozenset(("order", "ordered", "sequence", "positions", "position"))
_REQUESTS: Final = frozenset(("color", "colors", "colour", "colours", "me", "them", "need", "want"))
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

    A list of all shapes is an order only if the message calls it one.
    """
    order: set[tuple[int, str]] = set()
    pairs: set[tuple[str, str]] = set()
    places: set[tuple[int, str]] = set()
    unread: list[str] = []
    text = message.lower()
    for pattern, written in _REWRITTEN:
        text = pattern.sub(written, text)
    for sentence in _SENTENCE_END.split(text):
        stated, asked = _parts(sentence)
        # "what color is the cube at position 1" states where the cube is
        if _CHANGE_ASKED.search(asked) or any(any(_found(item)) for _, item in _items(_tokens(asked, words))):
            unread.append(asked.strip())
        tokens = _tokens(stated, words)
        of_partner = _OF_PARTNER.search(stated) is not None
        if of_partner or any(token.text in _NOTHING_STATED or token.text.endswith("n't") for token in tokens):
            if of_partner or any(_says(token) or not _is_known(token, denied=True) for token in tokens):
                unread.append(stated.strip())
            continue
        listed = _listed_order(tokens, words.size, speaker)
        order |= listed
        place: int | None = None
        for opening, item in _items(_without_ranges(tokens)):
            found = _found(item, speaker, is_listed=bool(listed))
            place = _next_place(item, found, after=place if opening == "then" else None)
            if place is not None and place <= words.size and not found.order:
                found.order.extend((_Token("position", "then", place), token) for token in item if token.kind == "shape")
            order |= {(one.number, shape.text) for one, shape in found.order}
            pairs |= {(shape.text, color.text) for shape, color in found.pairs}
            places |= {(one.number, color.text) for one, color in found.places}
            used = {id(token) for joined in found for pair in joined for token in pair}
            if listed:
                used |= {id(token) for token in item if token.kind in ("shape", "position")}
            if any(id(token) not in used if _says(token) else not _is_known(token) for token in item):
                unread.append(" ".join(token.text for token in item))
    return Facts(frozenset(order), frozenset(pairs), frozenset(places), tuple(unread))


class _Found(NamedTuple):
    """What is joined in a part of a sentence."""

    order: list[tuple[_Token, _Token]]
    pairs: list[tuple[_Token, _Token]]
    places: list[tuple[_Token, _Token]]


def _found(item: Sequence[_Token], speaker: Agent = "A", *, is_listed: bool = False) -> _Found:
    """Positions of a listed order are the ends of its range; B, which knows no positions, may number the pairs of its own list."""
    pairs = _joined(item, "shape", "color")
    order = [] if is_listed else _joined(item, "position", "shape")
    return _Found(order, pairs, [] if pairs and speaker == "B" else _joined(item, "position", "color"))


def _says(token: _Token) -> bool:
    """Whether a word is one of the puzzle's: what it states has to be known."""
    return token.kind in ("shape", "color", "position")


def _is_known(token: _Token, *, denied: bool = False) -> bool:
    text = token.text.removesuffix("n't") if denied else token.text
    is_place_word = text in _POSITION_WORDS and text != "no"  # which denies as well
    return is_place_word or text in _LINKS or text in _CHATTER or (denied and text in _NEGATIONS)


def _next_place(item: Sequence[_Token], found: _Found, *, after: int | None) -> int | None:
    """The position that a part of a sentence is about; of "then the star" the one after the part before."""
    if found.order:
        return found.order[-1][0].number
    is_next = sum(token.kind == "shape" for token in item) == 1 and all(token.kind != "position" for token in item)
    return after + 1 if is_next and after is not None else None


def _parts(sentence: str) -> tuple[str, str]:
    """What a sentence states, and what it asks: a question states what comes before the asking begins."""
    if not sentence.rstrip().endswith("?"):
        return sentence, ""
    asking = _QUESTION_START.search(sentence)
    begins = 0 if asking is None else asking.start()
    return sentence[:begins], sentence[begins:]


def _tokens(sentence: str, words: Vocabulary) -> list[_Token]:
    tokens: list[_Token] = []
    for text in _TOKEN.findall(sentence):
        digits = re.match(r"\d{1,2}(?!\d)", text)
        number = int(digits[0]) if digits else _ORDINALS.get(text, 0)
        if text in words.shapes:
            tokens.append(_Token("shape", text))
        elif text in words.colors:
            tokens.append(_Token("color", text))
        elif text in _CARDINALS and tokens and tokens[-1].text in _POSITION_WORDS and _CARDINALS[text] <= words.size:
            tokens.append(_Token("position", text, _CARDINALS[text]))
        elif text == "last":
            tokens.append(_Token("position", text, words.size))
        elif 1 <= number <= words.size:
            tokens.append(_Token("position", text, number))
        else:
            tokens.append(_Token("word" if text[0].isalpha() else "mark", text))
    return tokens


def _without_ranges(tokens: Sequence[_Token]) -> list[_Token]:
    """The tokens without ranges of positions (``2-4``, ``2 to 4``), which belong to a list and not to the next shape."""
    kept = list(tokens)
    for place in reversed(range(len(tokens) - 2)):
        first, middle, last = tokens[place : place + 3]
        if first.kind == last.kind == "position" and middle.text in _RANGE_MARKS:
            del kept[place : place + 3]
    return kept


def _items(tokens: Sequence[_Token]) -> Iterator[tuple[str, list[_Token]]]:
    """The parts of a sentence between commas and the like, each with the word that opens it; a position that opens a part goes with it."""
    opening, item = "", list[_Token]()
    for token in tokens:
        if token.text not in _SEPARATORS:
            item.append(token)
            continue
        if item:
            yield opening, item
            opening, item = "", []
        opening = "then" if "then" in (opening, token.text) else token.text
    yield opening, item


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
    """An order given by a list of all shapes, or of those of a range of positions (``positions 2-4: ...``)."""
    words = {token.text for token in tokens}
    if words & _NO_ORDER_CUES or not words & _ORDER_CUES:
        return set()
    first = next((place for place, token in enumerate(tokens) if token.kind == "shape"), len(tokens))
    before = {token.text for token in tokens[:first]}
    if "let" not in before and not _REQUESTS.isdisjoint(before):  # "send the colors in this order: ..." asks for something
        return set()
    shapes = [token.text for token in tokens if token.kind == "shape"]
    numbers = [token.number for token in tokens[:first] if token.kind == "position"]
    later_numbers = any(token.kind == "position" for token in tokens[first:])
    if later_numbers or len(set(shapes)) != len(shapes) or (speaker == "B" and any(token.kind == "color" for token in tokens)):
        return set()
    start, end = (numbers[0], numbers[-1]) if len(numbers) == 2 else (1, size)  # noqa: PLR2004 - a range has two ends
    if len(numbers) not in (0, 2) or len(shapes) != end - start + 1 or len(shapes) < min(size, 2):
        return set()
    return set(enumerate(shapes, start=start))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A shape, a color and a position are said to go together: two of the three, or all."""

    position: Annotated[int, Field(ge=1)] | None = None
    """From 1."""
    shape: str | None = None
    """One word, in lower case."""
    color: str | None = None
    """One word, in lower case."""
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The partner is asked for something."""

    about: Literal["colors", "order", "other"]
    """Which colors the shapes have; which shapes stand where; anything else."""
    words: str = ""


AsymPuzlClaim = Fact | Question

TYPES: Final[tuple[type, ...]] = (Fact, Question)
"""All kinds of claim that a message can make."""


def facts_of(claims: Iterable[Fact]) -> Facts:
    """Claims as the rules of the game take them."""
    read = list(claims)
    return Facts(
        order=frozenset((one.position, one.shape) for one in read if one.position is not None and one.shape is not None),
        colors=frozenset((one.shape, one.color) for one in read if one.shape is not None and one.color is not None),
        places=frozenset((one.position, one.color) for one in read if one.position is not None and one.color is not None),
    )
