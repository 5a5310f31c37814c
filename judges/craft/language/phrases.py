"""Words to blocks (determiner, count, size, colour and noun, in any usual order) and to places (cells, sides, corners, layers, walls)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from judges.craft.language.vocabulary import (
    ADJECTIVES,
    BLOCK_NOUNS,
    CELL_NOUNS,
    COLORS,
    COUNTS,
    DETERMINERS,
    LAYER_NOUNS,
    NUMERALS,
    PHRASES,
    SIZES,
    Found,
    at,
    make,
    word_set,
)

_OFTEN_PLAIN = frozenset(("single", "short", "long", "little", "wide", "double", "narrow"))
"""Size words that say nothing about a block unless a noun or a colour follows: ``a little higher``."""

_TINTING = frozenset(("in", "of", "color", "colour", "colored", "coloured", "the"))
"""Words between a noun and its colour."""

_SIZING = frozenset(("size", "sized", "kind", "variety", "format", "type"))
"""Nouns that a size alone may stand before."""

_LETTERS = frozenset("sl")
"""Sizes as one letter, next to a colour only."""

_JOINING = word_set("blocks", "joining")
"""Words that may follow a size without a noun; others are nouns of their own: ``a tiny correction``."""

_CODE = re.compile("[gbryo][sl]")


@dataclass
class _Words:
    """What is known of one block so far."""

    color: str | None = None
    size: str | None = None
    noun: bool = False
    named: bool = False
    """A noun proper stood there, not only a plural colour or a code."""
    again: bool = False
    indefinite: bool = False
    definite: bool = False
    absent: bool = False
    number: int | None = None
    topmost: bool = False
    labelled: bool = False
    """The size was given as ``size 1``."""

    def take(self, words: Sequence[str], here: int, *, opening: bool) -> int:
        """Take in the next words; gives how many, 0 if they do not belong to the block."""
        for part in (self._take_size, self._take_color, self._take_noun, self._take_count):
            taken = part(words, here)
            if taken:
                self.labelled = self.labelled or (opening and taken > 1 and words[here] == "size")
                return taken
        word = words[here]
        if (word in DETERMINERS or self._denies(words, here)) and not (self.color or self.size or self.noun):
            self.again = self.again or word in ("another", "those", "these")
            self.absent = self.absent or word == "no"
            self.definite = self.definite or word in ("the", "that", "this", "those", "these")
            self.indefinite = self.indefinite or word in ("a", "an", "another")
            return 1
        if word in ADJECTIVES and (not self.noun or word in ("de", "color")):
            return int(bool(self.color or self.size or not opening or leads_to_block(words, here + 1)))
        if word in ("top", "topmost", "upper", "uppermost") and not self.noun and leads_to_block(words, here + 1):
            self.topmost = True
            return 1
        return 0

    def _take_size(self, words: Sequence[str], here: int) -> int:
        pair = " ".join(words[here : here + 2])
        if self.size is None and " " in pair and pair in SIZES:
            self.size = SIZES[pair]
            return 2
        before_noun = not self.noun or words[here - 1] == "bloque"  # Spanish puts the size behind the noun
        if self.size is None and before_noun and words[here] in SIZES and words[here] not in BLOCK_NOUNS:
            self.size = SIZES[words[here]]
            return 1
        if self.size is None and words[here] in _LETTERS and (self.color or at(words, here + 1) in COLORS):
            self.size = words[here]
            return 1
        return 0

    def _take_color(self, words: Sequence[str], here: int) -> int:
        word = words[here]
        if self.color is not None:
            return 0
        if self.named and (tinted := _tint(words, here)):
            self.color = COLORS[words[here + tinted - 1]]
            return tinted
        if word in COLORS:
            self.color = COLORS[word]
            self.noun = self.noun or word.endswith("s")
            return 1
        if _CODE.fullmatch(word):
            self.color, self.size, self.noun = word[0], self.size or word[1], True
            return 1
        return 0

    def _take_noun(self, words: Sequence[str], here: int) -> int:
        word = words[here]
        if word not in BLOCK_NOUNS or self.named or (word == "one" and _counts(words, here)):
            return 0
        self.named = self.noun = True
        self.size = self.size or BLOCK_NOUNS[word]
        self.again = self.again or word in ("one", "ones")
        return 1

    def _take_count(self, words: Sequence[str], here: int) -> int:
        if words[here] not in COUNTS or self.noun:
            return 0
        self.number = COUNTS[words[here]]
        return 1

    @staticmethod
    def _denies(words: Sequence[str], here: int) -> bool:
        """Tell ``no red block`` and ``no more red`` from ``no, red``."""
        more = at(words, here + 1) in ("more", "other", "further", "such")
        if words[here] == "more":
            return at(words, here - 1) == "no"
        return words[here] == "no" and leads_to_block(words, here + 1 + more) and at(words, here + 1 + more) != "one"


def read_block(words: Sequence[str], index: int) -> Found:
    """Read a block: determiner, count, size, colour and noun in any usual order; at least a colour, a size or a noun."""
    seen = _Words()
    here = index
    while here < len(words) and (taken := seen.take(words, here, opening=here == index)):
        here += taken
    while here > index + 1 and (seen.color or seen.noun) and words[here - 1] in ADJECTIVES - SIZES.keys():
        here -= 1  # "blue, same spot"
    if not (seen.color or seen.size or seen.noun):
        return (make("block", again=True, number=1), 1) if here == index + 1 and words[index] == "another" else None
    if not (seen.color or seen.noun) and at(words, here) in _SIZING:
        return make("block", value="size", size=seen.size), here - index + 1
    if not (seen.color or seen.noun) and words[here - 1] in _OFTEN_PLAIN and not _is_apart(words, index, here):
        return None
    after = at(words, here)
    own_noun = after.isalpha() and after not in _JOINING and not leads_to_block(words, here + 1)
    if not (seen.color or seen.noun) and not seen.labelled and own_noun:
        return None
    of_all = words[index] in ("all", "both", "each")
    block = make("block", value="size" if seen.labelled else "all" if of_all else "", color=seen.color, size=seen.size, noun=seen.noun,
                 number=seen.number, again=seen.again, topmost=seen.topmost, indefinite=seen.indefinite,
                 definite=seen.definite, absent=seen.absent)  # fmt: skip
    return block, here - index


def _is_apart(words: Sequence[str], index: int, here: int) -> bool:
    """Whether a size is before a noun, or between two commas: ``a brick, long, painted red``."""
    return at(words, here) in BLOCK_NOUNS or (at(words, index - 1) == "," and at(words, here) in (",", "and", "."))


def _tint(words: Sequence[str], here: int) -> int:
    """Give the length of ``in red``, ``of colour red``, ``colored red`` behind a noun, 0 if none is there."""
    if words[here] not in _TINTING:
        return 0
    end = here
    while at(words, end) in _TINTING:
        end += 1
    return end + 1 - here if at(words, end) in COLORS and at(words, end + 1) not in BLOCK_NOUNS else 0


def _counts(words: Sequence[str], here: int) -> bool:
    """Tell the number ``one`` (one small block) from the pronoun (a small one)."""
    after = at(words, here + 1)
    return after in COLORS or after in SIZES or after in BLOCK_NOUNS or after in CELL_NOUNS


def leads_to_block(words: Sequence[str], here: int) -> bool:
    """Whether a colour, a size or a block noun follows, with only adjectives and counts before it."""
    for word in words[here : here + 4]:
        if word in COLORS or word in BLOCK_NOUNS or word in SIZES:
            return True
        if word not in ADJECTIVES and word not in COUNTS:
            return False
    return False


def opens_block(words: Sequence[str], index: int) -> bool:
    """Tell ``left of the red block`` from ``left of my top layer``."""
    word = at(words, index)
    if word in ("it", "that", "them"):
        return at(words, index + 1) not in LAYER_NOUNS | CELL_NOUNS
    return leads_to_block(words, index + 1 if word in DETERMINERS else index)


_LEFT, _MIDDLE, _RIGHT = 0, 1, 2
SIDES = dict.fromkeys(word_set("spatial", "left"), _LEFT) | dict.fromkeys(word_set("spatial", "right"), _RIGHT)
MIDDLES = word_set("spatial", "middles")
BOTTOMS = word_set("spatial", "bottoms")
TOPS = word_set("spatial", "tops")
_ORDINALS = {"first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2}
_JOINS_SIDES = frozenset({"and", "to", "through", "or"})
_UNSEEN = frozenset(("only", "nobody", "no", "none", "not", "neither", "alone", "unshared", "private"))
_BOTH = frozenset(("both", "common", "share", "shared", "two", "together"))
_AFTER_ORDINAL = CELL_NOUNS | SIDES.keys() | _JOINS_SIDES | {"from"}
_AFTER_ADVERB = word_set("spatial", "after_adverb")
_LINKING = word_set("spatial", "linking")
_BEFORE_SIDE = word_set("spatial", "before_side")
_DIRECTORS = frozenset(("d1", "d2", "d3"))
_LAYER_CODES = frozenset(("l0", "l1", "l2"))
_TOWARDS = frozenset(("closest", "nearest", "near", "nearer", "closer", "next", "adjacent", "toward", "towards"))
_AWAY = frozenset(("farthest", "furthest", "opposite", "away", "farther", "further"))
_SPEECH = word_set("spatial", "speech")
"""After a director's name: her message is meant, not her wall."""

_OUTERMOST = frozenset(("end", "corner", "edge"))
_BOTH_OF = frozenset(("both", "each", "either", "two", "2"))
_OUTER = frozenset(("outer", "outermost", "outside"))
_OUTER_CELLS = frozenset(("cells", "columns", "spots", "positions", "slots", "outer"))
_ENDS = frozenset(("end", "ends", "corner", "corners", "edges", "edge", "sides", "side"))
_RARE = _BOTH_OF | _OUTER | {"one", "a", "1", "single", "just", "directly", "immediately", "right"}
_BEFORE_ADJACENT = frozenset(("the", "left", "right", "just", "directly", "immediately", "", ",", ";", ":", "and", "is", "goes"))
_CLAUSE = 9
"""Words in which a relative clause states who sees a place."""

PLACE_STOPS = word_set("spatial", "place_stops")
_SHARING = frozenset({"shared", "share", "sharing", "common"})
_VIEWS = word_set("spatial", "views")
_DEPTH_WORDS = frozenset(("far", "near", "front", "back", "nearest", "closest", "farthest", "rear"))
_DEPTH_NOUNS = word_set("spatial", "depth_nouns")

PLACE_OPENERS = frozenset(
    SIDES.keys() | MIDDLES | BOTTOMS | TOPS | _ORDINALS.keys() | LAYER_NOUNS | NUMERALS.keys() | _LAYER_CODES | _DIRECTORS
    | _SHARING | _TOWARDS | _AWAY | _OUTERMOST | _BOTH_OF | _OUTER | _DEPTH_WORDS
    | {"back", "far", "three", "all", "just", "directly", "immediately", "a", "single"}
)  # fmt: skip
"""Words with which a place can begin."""

LAYER_OPENERS = frozenset(LAYER_NOUNS | _LAYER_CODES | _ORDINALS.keys() | NUMERALS.keys())
"""Words with which a numbered layer can begin."""


def read_cell(words: Sequence[str], index: int) -> Found:
    """Read a coordinate; one outside the grid has no meaning."""
    word = words[index]
    if word[0] != "(":
        return None
    inside = word[1] in "012" and word[3] in "012"
    return (make("cell", value=word) if inside else None), 1


def read_shared(words: Sequence[str], index: int) -> Found:
    """Read ``the corner shared with D2``, ``our shared corner``: a cell that two walls have in common."""
    if words[index] in _TOWARDS | _AWAY:
        here = index + 1
        while at(words, here) in ("to", "from", "away", "the", "director"):
            here += 1
        if at(words, here) not in _DIRECTORS or at(words, here + 1) in LAYER_NOUNS | SIDES.keys() | MIDDLES | BOTTOMS | TOPS:
            return None
        if words[index] == "next" and here == index + 1:
            return None
        return make("shared", number=int(words[here][1]), value="away" if words[index] in _AWAY else ""), here - index + 1
    if words[index] in _OUTERMOST and at(words, index + 1) in ("that", "which", "of", "only", "no", "nobody", "i", "we"):
        return _seen_by(words, index)
    return _shared(words, index) if words[index] in _SHARING else None


def _shared(words: Sequence[str], index: int) -> Found:
    ahead = [here for here in range(index + 1, min(index + 5, len(words))) if words[here] in _DIRECTORS]
    if ahead and "with" in words[index : ahead[0]]:
        return make("shared", number=int(words[ahead[0]][1])), ahead[0] - index + 1
    return (make("shared"), 2) if at(words, index + 1) in CELL_NOUNS else None


def _seen_by(words: Sequence[str], index: int) -> Found:
    """Read ``the end that no one else can see`` and ``the corner that belongs to both of us``: shared or not tells which end it is."""
    here = index + 1
    clause: list[str] = []
    while here < len(words) and here < index + _CLAUSE and (words[here].isalpha() or words[here] in _DIRECTORS):
        with_director = words[here] == "with" and at(words, here + 1) in _DIRECTORS
        if words[here] in PLACE_STOPS and clause and not with_director:
            break
        clause.append(words[here])
        here += 1
    seeing = {"see", "sees", "visible", "mine", "watch", "view", "looks", "belongs", "share", "shared", "common", "have"} & set(clause)
    if not seeing:
        return None
    if _UNSEEN & set(clause) and not _DIRECTORS & set(clause):
        return make("shared", value="away"), 1 + len(clause)
    if _BOTH & set(clause):
        partners = {word for word in words if word in _DIRECTORS}
        if len(partners) <= 1:
            return make("shared", number=int(partners.pop()[1]) if partners else None), 1 + len(clause)
    return None


def read_viewpoint(words: Sequence[str], index: int) -> Found:
    """Read ``from my right side, ...`` and ``right side wall``: whose wall it is, not a cell."""
    word, after = words[index], at(words, index + 1)
    number = {"left": 1, "back": 2, "far": 2, "right": 3}.get(word)
    if number is None:
        return None
    opening = "from" in words[max(0, index - 2) : index] and "from" in words[:2]
    if after in ("side", "hand") and at(words, index + 2) in ("wall", "view", "perspective"):
        return make("wall", number=number), 3
    if after in _VIEWS and (after != "side" or opening) and (opening or after != "angle"):
        return make("wall", number=number), 2
    return None


def read_director(words: Sequence[str], index: int) -> Found:
    """Read the name of a director, whose wall is meant."""
    word = words[index]
    if word in _DIRECTORS:
        if at(words, index + 1) in _SPEECH or at(words, index - 1) == "as":
            return None, 1
        return make("director", number=int(word[1])), 1
    return None


def read_number_layer(words: Sequence[str], index: int) -> Found:
    """Read ``layer 0``, ``row_2``, ``level one``; and ``first layer``, ``2nd tier``."""
    return _layer_between(words, index) or _numbered_layer(words, index) or _ordinal_layer(words, index)


def _layer_between(words: Sequence[str], index: int) -> Found:
    """Read ``the layer in between`` and ``layer: middle``."""
    word, after = words[index], at(words, index + 1)
    if word not in LAYER_NOUNS:
        return None
    if after in MIDDLES:
        return (make("layer", number=1), 2) if at(words, index + 2) not in CELL_NOUNS else None
    named = 0 if after in BOTTOMS else 2 if after in TOPS else _ORDINALS.get(after)
    if named is not None and at(words, index + 2) in ("", ",", ".", ";", "!", "?", "please", "and", "in", "on", "at"):
        return make("layer", number=named), 2  # "in the left cell of layer second"
    end = index + (2 if after == "between" else 3)
    between = after == "between" or (after == "in" and at(words, index + 2) == "between")
    return (
        (make("layer", number=1), end - index) if between and at(words, end) not in ("the", "my", "left", "those", "these", "a") else None
    )


def _numbered_layer(words: Sequence[str], index: int) -> Found:
    word = words[index]
    if word in _LAYER_CODES:
        return make("layer", number=int(word[1])), 1
    if word not in ("layer", "row", "level", "tier"):
        return None
    here = index + 1 + (at(words, index + 1) in ("index", "number", "no"))
    return (make("layer", number=NUMERALS[words[here]]), here - index + 1) if at(words, here) in NUMERALS else None


def _ordinal_layer(words: Sequence[str], index: int) -> Found:
    word, after = words[index], at(words, index + 1)
    if word in _ORDINALS and after in LAYER_NOUNS and not (at(words, index + 2) == "from" and TOPS & set(words[index + 3 : index + 5])):
        return make("layer", number=_ORDINALS[word]), 2
    return None


def read_spatial(words: Sequence[str], index: int) -> Found:
    """Read a side, a corner, a layer or a depth."""
    word = words[index]
    if tuple(words[index : index + 2]) in PHRASES or tuple(words[index : index + 3]) in PHRASES:
        return None
    for reader in _RARE_READERS + _READERS if word in _RARE else _READERS:
        found = reader(words, index, word)
        if found is not None:
            return found
    return None


def _ends(words: Sequence[str], index: int, word: str) -> Found:
    """Read ``both ends``, ``each end``, ``the two corners``: the first and the last cell."""
    after = at(words, index + 1)
    if word in _OUTER:
        return (make("cells", value="02"), 2) if after in _OUTER_CELLS else None
    if word not in _BOTH_OF or after not in _ENDS | {"outer"}:
        return None
    return make("cells", value="02"), 2 + (after == "outer")


def _step(words: Sequence[str], index: int, word: str) -> Found:
    """Read ``one cell to the left``, ``one spot further to the right of that stack``: a step from a place spoken of."""
    here = index
    if word in ("one", "a", "1", "single") and at(words, here + 1) in CELL_NOUNS:
        here += 2
    elif word not in ("just", "directly", "immediately", "right"):
        return None
    else:
        here += 1
    here += at(words, here) in ("further", "over", "farther")
    if at(words, here) != "to" or at(words, here + 1) not in ("the", "its"):
        return None
    side = at(words, here + 2)
    if side not in ("left", "right"):
        return None
    of = at(words, here + 3) == "of"
    return make("left_of" if side == "left" else "right_of"), here + 3 + of - index


def _pair(words: Sequence[str], index: int, word: str) -> Found:
    """Read ``left two cells``, ``two rightmost``, ``middle two``, ``first two positions``, ``all three cells``."""
    after = at(words, index + 1)
    first, second = (word, after)
    if first in ("two", "2") and (second in SIDES or second in MIDDLES):
        first, second = second, first
    if first in SIDES and second in ("half", "pair"):
        return make("cells", value="01" if SIDES[first] == _LEFT else "12"), 2
    if second not in ("two", "2"):
        if word in ("three", "all") and (after in CELL_NOUNS or after == "three"):
            return (make("cells", value="012"), 2) if at(words, index + (1 if after in CELL_NOUNS else 2)) in CELL_NOUNS else None
        return None
    pairs = {_LEFT: "01", _RIGHT: "12"}
    if first in SIDES:
        return make("cells", value=pairs[SIDES[first]]), 2
    if first in ("first", "last") and (at(words, index + 2) in CELL_NOUNS or leads_to_block(words, index + 2)):
        return make("cells", value="01" if first == "first" else "12"), 2
    return (make("cells", value="?"), 2) if first in MIDDLES else None


def _ordinal_side(words: Sequence[str], index: int, word: str) -> Found:
    if word not in _ORDINALS or at(words, index + 1) not in _AFTER_ORDINAL:
        return None
    number = _ORDINALS[word]
    if at(words, index + 1) in _JOINS_SIDES:
        paired = at(words, index + 2) in _ORDINALS.keys() | SIDES.keys() | MIDDLES and at(words, index + 3) in CELL_NOUNS
        return (make("side", number=number), 1) if paired else None
    tail = words[index + 1 : index + 6]
    if "from" in tail and any(other in SIDES for other in tail):
        return make("side", number=2 - number if "right" in tail else number), 2 + tail.index("from") + 2
    if at(words, index + 1) not in CELL_NOUNS:
        return None
    return make("side", number=number), 2


def _side(words: Sequence[str], index: int, word: str) -> Found:
    if word not in SIDES:
        return None
    before, after = at(words, index - 1), at(words, index + 1)
    if after in MIDDLES and at(words, index + 2) not in LAYER_NOUNS | CELL_NOUNS | {"and"} and before not in ("and", ","):
        return make("middle_side", number=SIDES[word]), 2  # "right middle", as "middle right"
    other = _left_over(before, after) if word == "left" else _rightly(words, index) if word == "right" else None
    if other is not None:
        return other
    if before == "its" and at(words, index - 2) in ("to", "on") and after not in CELL_NOUNS:
        return make("left_of" if SIDES[word] == _LEFT else "right_of"), 1
    if after == "of" and before in _BEFORE_ADJACENT and opens_block(words, index + 2):
        return make("left_of" if SIDES[word] == _LEFT else "right_of"), 2
    return make("side", number=SIDES[word], value="side" if after == "side" and before == "my" else ""), 1


def _left_over(before: str, after: str) -> Found:
    """Read the ``left`` of ``nothing left`` and ``left over``."""
    if before in ("from", "the", "my", "far"):
        return None
    return (None, 1) if after in ("over", "off") or before in ("is", "are", "nothing", "have", "blocks", "anything") else None


def _rightly(words: Sequence[str], index: int) -> Found:
    """Read the ``right`` of ``is right``, ``right now`` and ``reading my side right``."""
    before, after = at(words, index - 1), at(words, index + 1)
    if after in ("spot", "position", "location") and {"is", "are", "looks"} & set(words[max(0, index - 3) : index]):
        return make("confirm"), 2
    if before in _BEFORE_SIDE or after in CELL_NOUNS | LAYER_NOUNS:
        return None
    if before in _LINKING and after not in _AFTER_ADVERB:
        return make("wrong" if before == "not" else "confirm"), 1
    judged = before in _VIEWS | {"view", "target", "it", "this", "that"} or (before in CELL_NOUNS and at(words, index - 2) != ",")
    rightly = judged and after in (",", ".", ";", "!", "")
    return (None, 1) if rightly or after in _AFTER_ADVERB or before in _LINKING else None


def _middle(words: Sequence[str], index: int, word: str) -> Found:
    if word not in MIDDLES:
        return None
    after = at(words, index + 1)
    if after in LAYER_NOUNS:
        return make("layer", number=1), 2
    if after in SIDES:
        both = at(words, index + 2) in ("cells", "columns", "spots", "slots", "positions")
        return (make("cells", value="?") if both else make("middle_side", number=SIDES[after])), 2
    if after in MIDDLES:
        return make("middle_side", number=_MIDDLE), 2
    return make("side", number=_MIDDLE), 1


def _bottom(words: Sequence[str], index: int, word: str) -> Found:
    if word not in BOTTOMS or at(words, index - 1) in _ORDINALS:  # "the second lowest"
        return None
    if word == "lower" and at(words, index + 1) not in LAYER_NOUNS | SIDES.keys() | CELL_NOUNS | MIDDLES:
        return None, 1
    return make("layer", number=0), 2 if at(words, index + 1) in LAYER_NOUNS else 1


def _top(words: Sequence[str], index: int, word: str) -> Found:
    if word not in TOPS or at(words, index - 1) in _ORDINALS:
        return None
    after = at(words, index + 1)
    if after in LAYER_NOUNS:
        return make("layer", number=2), 2
    if after in ("most", "of"):
        if after == "of" and opens_block(words, index + 2):
            return make("on_top"), 2
        return (make("top_of"), 2) if after == "of" else _top([*words[: index + 1], *words[index + 2 :]], index, word)
    block = read_block(words, index + 1)
    if block is not None and block[0] is not None:
        return replace(block[0], topmost=True), 1 + block[1]
    return make("layer", number=2), 1


def _depth(words: Sequence[str], index: int, word: str) -> Found:
    """Read ``far``, ``near``, ``front``, ``back`` as a depth where no side follows: which cell it is depends on the wall."""
    if word not in _DEPTH_WORDS:
        return None
    after = at(words, index + 1)
    if after in SIDES and word == "far":
        return None, 1
    if after in SIDES:
        return make("depth", value="?", number=SIDES[after]), 2
    if after not in _DEPTH_NOUNS:
        return None, 1
    return make("depth", value="near" if word in ("near", "front", "nearest", "closest") else "far"), 1


_READERS = (_pair, _ordinal_side, _side, _middle, _bottom, _top, _depth)
_RARE_READERS = (_ends, _step)
