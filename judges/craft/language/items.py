"""Words to items: blocks, places, layers, actions and the small words that join them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from judges.craft.language.tokens import Token
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
)

__all__ = ["Item", "items_of"]

_LONGEST_PHRASE = max(len(phrase) for phrase in PHRASES)

_LEFT, _MIDDLE, _RIGHT = 0, 1, 2
_SIDES = {
    **dict.fromkeys(("left", "leftmost", "lefthand", "izquierda", "izquierdo", "leftward"), _LEFT),
    **dict.fromkeys(("right", "rightmost", "righthand", "derecha", "derecho", "rightward"), _RIGHT),
}
_MIDDLES = frozenset(["middle", "center", "centre", "mid", "central", "medio", "centro"])
_BOTTOMS = frozenset(
    ["bottom", "bottommost", "buttom", "base", "foundation", "ground", "lowest", "lower", "lowermost", "inferior", "abajo"]
)
_TOPS = frozenset(["top", "topmost", "upper", "uppermost", "highest", "superior", "arriba"])
_ORDINALS = {"first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2}
_NOUN_LIKE = frozenset(
    [
        "place",
        "stack",
        "position",
        "slot",
        "drop",
        "set",
        "change",
        "park",
        "rest",
        "base",
        "build",
        "move",
        "use",
        "pick",
        "lay",
        "turn",
        "try",
        "start",
        "trade",
    ]
)
_BEFORE_NOUN = DETERMINERS | frozenset(
    [
        "left",
        "right",
        "middle",
        "center",
        "centre",
        "far",
        "bottom",
        "top",
        "same",
        "in",
        "next",
        "last",
        "corner",
        "of",
        "right-hand",
        "each",
        "tall",
        "first",
        "second",
        "third",
    ]
)
_AFTER_ADVERB = frozenset(
    ["in", "at", "on", "above", "next", "now", "there", "here", "away", "after", "beside", "where", "under", "below", "over", "onto"]
)
_LINKING = frozenset(
    ["is", "are", "not", "look", "looks", "be", "all", "quite", "already", "now", "just", "still", "be", "totally", "seems"]
)
_BEFORE_SIDE = frozenset(
    [
        "the",
        "my",
        "far",
        "bottom",
        "top",
        "middle",
        "upper",
        "lower",
        "center",
        "centre",
        "and",
        "or",
        "most",
        "to",
        "on",
        "in",
        "at",
        "near",
        "our",
        "its",
        "d1",
        "d2",
        "d3",
        "base",
    ]
)


@dataclass(frozen=True, kw_only=True)
class Item:
    """One meaningful stretch of text; which fields are used depends on the kind."""

    kind: str
    start: int
    end: int
    value: str = ""
    number: int | None = None
    """Index of a position (0 left), number of a layer, count of blocks, or number of a director."""

    color: str | None = None
    size: str | None = None
    noun: bool = False
    """Block: a noun such as ``block`` or ``one`` stands there, not only a colour."""

    topmost: bool = False
    """Block: called the top one of its stack."""

    again: bool = False
    """Block: ``one``, ``another``, ``those``: takes its colour or size from an earlier block."""


def items_of(sentence: Sequence[Token]) -> list[Item]:
    """Give the items of one sentence in text order; words without a meaning here are left out."""
    words = [token.word for token in sentence]
    items: list[Item] = []
    index = 0
    while index < len(words):
        item, used = _next_item(words, index)
        if item is not None:
            items.append(replace(item, start=sentence[index].start, end=sentence[index + used - 1].end))
        index += used
    return _without_listings(_merge_sizes(items))


def _item(kind: str, **fields: object) -> Item:
    return replace(Item(kind=kind, start=0, end=0), **fields)  # type: ignore[arg-type]


def _next_item(words: Sequence[str], index: int) -> tuple[Item | None, int]:
    for reader in (_mark, _cell, _shared, _viewpoint, _director, _number_layer, _spatial, _block, _aim, _phrase):
        found = reader(words, index)
        if found is not None:
            return found
    return None, 1


Found = tuple[Item | None, int] | None


def _at(words: Sequence[str], index: int) -> str:
    return words[index] if 0 <= index < len(words) else ""


def _mark(words: Sequence[str], index: int) -> Found:
    word = words[index]
    if word in ",;:":
        return _item("comma", value=word), 1
    if word in ".!?\n":
        return _item("end", value=word), 1
    return None


def _cell(words: Sequence[str], index: int) -> Found:
    word = words[index]
    if word[0] != "(":
        return None
    inside = word[1] in "012" and word[3] in "012"
    return (_item("cell", value=word) if inside else None), 1


_SHARING = frozenset({"shared", "share", "sharing", "common"})
_VIEWS = frozenset(["wall", "view", "perspective", "side", "angle", "seat", "vantage", "viewpoint"])


def _shared(words: Sequence[str], index: int) -> Found:
    """Read ``the corner shared with D2``, ``our shared corner``: a cell that two walls have in common."""
    if words[index] not in _SHARING:
        return None
    ahead = [at for at in range(index + 1, min(index + 5, len(words))) if re.fullmatch("d[123]", words[at])]
    if ahead and "with" in words[index : ahead[0]]:
        return _item("shared", number=int(words[ahead[0]][1])), ahead[0] - index + 1
    return (_item("shared"), 2) if _at(words, index + 1) in CELL_NOUNS else None


def _viewpoint(words: Sequence[str], index: int) -> Found:
    """Read ``from my right side, ...`` and ``right side wall``: whose wall it is, not a cell."""
    word, after = words[index], _at(words, index + 1)
    number = {"left": 1, "back": 2, "far": 2, "right": 3}.get(word)
    if number is None:
        return None
    opening = (_at(words, index - 2) == "from" and index <= 3) or (_at(words, index - 1) == "from" and index <= 2)
    if after in ("side", "hand") and _at(words, index + 2) in ("wall", "view", "perspective"):
        return _item("wall", number=number), 3
    if after in _VIEWS and (after != "side" or opening) and (opening or after != "angle"):
        return _item("wall", number=number), 2
    return None


def _director(words: Sequence[str], index: int) -> Found:
    word = words[index]
    if len(word.removesuffix("'s")) == 2 and word[0] == "d" and word[1] in "123":
        return _item("director", number=int(word[1])), 1
    return None


def _number_layer(words: Sequence[str], index: int) -> Found:
    """Read ``layer 0``, ``row_2``, ``level one``; and ``first layer``, ``2nd tier``."""
    word, after = words[index], _at(words, index + 1)
    if word in ("layer", "row", "level", "tier") and after in NUMERALS:
        return _item("layer", number=NUMERALS[after]), 2
    if word in _ORDINALS and after in LAYER_NOUNS:
        return _item("layer", number=_ORDINALS[word]), 2
    if word.isdigit() and after in ("st", "nd", "rd", "th"):
        place = int(word) - 1
        if _at(words, index + 2) in LAYER_NOUNS and place in (0, 1, 2):
            return _item("layer", number=place), 3
        if _at(words, index + 2) in CELL_NOUNS and place in (0, 1, 2):
            return _item("side", number=place), 3
    return None


def _spatial(words: Sequence[str], index: int) -> Found:
    word = words[index]
    if tuple(words[index : index + 2]) in PHRASES or tuple(words[index : index + 3]) in PHRASES:
        return None
    for reader in (_pair, _ordinal_side, _side, _middle, _bottom, _top, _depth):
        found = reader(words, index, word)
        if found is not None:
            return found
    return None


def _pair(words: Sequence[str], index: int, word: str) -> Found:
    """Read ``left two cells``, ``two rightmost``, ``middle two``, ``first two positions``, ``all three cells``."""
    after = _at(words, index + 1)
    first, second = (word, after)
    if first in ("two", "2") and (second in _SIDES or second in _MIDDLES):
        first, second = second, first
    if second not in ("two", "2"):
        if word in ("three", "all") and (after in CELL_NOUNS or after == "three"):
            return (_item("cells", value="012"), 2) if _at(words, index + (1 if after in CELL_NOUNS else 2)) in CELL_NOUNS else None
        return None
    pairs = {_LEFT: "01", _RIGHT: "12"}
    if first in _SIDES:
        return _item("cells", value=pairs[_SIDES[first]]), 2
    if first in ("first", "last") and (_at(words, index + 2) in CELL_NOUNS or _leads_to_block(words, index + 2)):
        return _item("cells", value="01" if first == "first" else "12"), 2
    return (_item("cells", value="?"), 2) if first in _MIDDLES else None


def _ordinal_side(words: Sequence[str], index: int, word: str) -> Found:
    if word not in _ORDINALS or _at(words, index + 1) not in CELL_NOUNS | _SIDES.keys() | {"from"}:
        return None
    number = _ORDINALS[word]
    tail = words[index + 1 : index + 6]
    if "from" in tail and any(other in _SIDES for other in tail):
        return _item("side", number=2 - number if "right" in tail else number), 2 + tail.index("from") + 2
    if _at(words, index + 1) in _SIDES:
        return None
    return _item("side", number=number), 2


def _side(words: Sequence[str], index: int, word: str) -> Found:
    if word not in _SIDES:
        return None
    before, after = _at(words, index - 1), _at(words, index + 1)
    if word == "left" and (after in ("over", "off") or before in ("is", "are", "nothing", "have", "blocks", "anything")):
        return None, 1
    if word == "right" and after in ("spot", "position", "location") and {"is", "are", "looks"} & set(words[max(0, index - 3) : index]):
        return _item("confirm"), 2
    if word == "right" and before not in _BEFORE_SIDE and after not in CELL_NOUNS | LAYER_NOUNS:
        if before in _LINKING and after not in _AFTER_ADVERB:
            return _item("wrong" if before == "not" else "confirm"), 1
        if after in _AFTER_ADVERB or before in _LINKING:
            return None, 1
    if after == "of" and before in ("the", "left", "right", "just", "directly", "immediately") and _opens_block(words, index + 2):
        return _item("left_of" if _SIDES[word] == _LEFT else "right_of"), 2
    return _item("side", number=_SIDES[word], value="side" if after == "side" and before == "my" else ""), 1


def _opens_block(words: Sequence[str], index: int) -> bool:
    """Tell ``left of the red block`` from ``left of my top layer``."""
    word = _at(words, index)
    if word in ("it", "that", "them"):
        return _at(words, index + 1) not in LAYER_NOUNS | CELL_NOUNS
    return _leads_to_block(words, index + 1 if word in DETERMINERS else index)


def _middle(words: Sequence[str], index: int, word: str) -> Found:
    if word not in _MIDDLES:
        return None
    after = _at(words, index + 1)
    if after in LAYER_NOUNS:
        return _item("layer", number=1), 2
    if after in _SIDES:
        both = _at(words, index + 2) in ("cells", "columns", "spots", "slots", "positions")
        return (_item("cells", value="?") if both else _item("middle_side", number=_SIDES[after])), 2
    if after in _MIDDLES:
        return _item("middle_side", number=_MIDDLE), 2
    return _item("side", number=_MIDDLE), 1


def _bottom(words: Sequence[str], index: int, word: str) -> Found:
    if word not in _BOTTOMS:
        return None
    if word == "lower" and _at(words, index + 1) not in LAYER_NOUNS | _SIDES.keys() | CELL_NOUNS | _MIDDLES:
        return None, 1
    return _item("layer", number=0), 2 if _at(words, index + 1) in LAYER_NOUNS else 1


def _top(words: Sequence[str], index: int, word: str) -> Found:
    if word not in _TOPS:
        return None
    after = _at(words, index + 1)
    if after in LAYER_NOUNS:
        return _item("layer", number=2), 2
    if after in ("most", "of"):
        if after == "of" and _opens_block(words, index + 2):
            return _item("on_top"), 2
        return (_item("top_of"), 2) if after == "of" else _top([*words[: index + 1], *words[index + 2 :]], index, word)
    block = _block(words, index + 1)
    if block is not None and block[0] is not None:
        return replace(block[0], topmost=True), 1 + block[1]
    return _item("layer", number=2), 1


_DEPTH_NOUNS = frozenset(["corner", "edge", "end", "cell", "spot", "position", "side", "slot", "and"])


def _depth(words: Sequence[str], index: int, word: str) -> Found:
    """Read ``far``, ``near``, ``front``, ``back`` as a depth where no side follows: which cell it is depends on the wall."""
    if word not in ("far", "near", "front", "back", "nearest", "closest", "farthest", "rear"):
        return None
    after = _at(words, index + 1)
    if after in _SIDES and word == "far":
        return None, 1
    if after in _SIDES:
        return _item("depth", value="?", number=_SIDES[after]), 2
    if after not in _DEPTH_NOUNS:
        return None, 1
    return _item("depth", value="near" if word in ("near", "front", "nearest", "closest") else "far"), 1


def _block(words: Sequence[str], index: int) -> Found:
    """Read a block: determiner, count, size, colour and noun in any usual order; at least a colour, a size or a noun."""
    at, color, size, noun, again, number = index, "", "", False, False, None
    topmost = labelled = named = False
    while at < len(words):
        word = words[at]
        pair = " ".join(words[at : at + 2])
        step = 1
        if pair in SIZES and not size and " " in pair:
            size, step, labelled = SIZES[pair], 2, at == index and word == "size"
        elif word in SIZES and not size and (not noun or words[at - 1] == "bloque") and not _is_block_noun(words, at):
            size = SIZES[word]
        elif word in COLORS and not color:
            color = COLORS[word]
            noun = noun or word.endswith("s")
        elif (len(word) == 2 and word[0] in "gbryo" and word[1] in "sl" and not color and word != "os") or (word == "os" and not color):
            color, size, noun = word[0], size or word[1], True
        elif word in BLOCK_NOUNS and not named and not (word == "one" and _counts(words, at)):
            named = noun = True
            size = size or (BLOCK_NOUNS[word] or "")
            again = again or word in ("one", "ones")
        elif word in COUNTS and not noun:
            number = COUNTS[word]
        elif word in DETERMINERS and not (color or size or noun):
            again = again or word in ("another", "those", "these")
        elif (
            word in ADJECTIVES and (not noun or word in ("de", "color")) and (color or size or at > index or _leads_to_block(words, at + 1))
        ):
            pass
        elif word in ("top", "topmost", "upper", "uppermost") and not noun and _leads_to_block(words, at + 1):
            topmost = True
        else:
            break
        at += step
    if not (color or size or noun):
        if _at(words, index) == "another" and at == index + 1:
            return _item("block", again=True, number=1), 1
        return None
    if (
        not (color or noun)
        and size
        and words[at - 1] in ("single", "short", "long", "little", "wide", "double", "narrow")
        and not _size_counts(words, at)
    ):
        return None
    return _item(
        "block",
        value="size" if labelled else "",
        color=color or None,
        size=size or None,
        noun=noun,
        number=number,
        again=again,
        topmost=topmost,
    ), at - index


def _is_block_noun(words: Sequence[str], at: int) -> bool:
    return words[at] == "domino"


def _counts(words: Sequence[str], at: int) -> bool:
    """Tell the number ``one`` (one small block) from the pronoun (a small one)."""
    after = _at(words, at + 1)
    return after in COLORS or after in SIZES or after in BLOCK_NOUNS or after in CELL_NOUNS


def _size_counts(words: Sequence[str], at: int) -> bool:
    return _at(words, at) in BLOCK_NOUNS


def _leads_to_block(words: Sequence[str], at: int) -> bool:
    for word in words[at : at + 4]:
        if word in COLORS or word in BLOCK_NOUNS or word in SIZES:
            return True
        if word not in ADJECTIVES and word not in COUNTS:
            return False
    return False


_AFTER_TO = frozenset(["sit", "rest", "go", "cover", "span", "stretch", "fill", "reach", "cell", "be"])


def _aim(words: Sequence[str], index: int) -> Found:
    """Read ``to`` before a verb that is none of ours: what follows is the purpose, not the place."""
    word, after = words[index], _at(words, index + 1)
    known = DETERMINERS | CELL_NOUNS | LAYER_NOUNS | _SIDES.keys() | _MIDDLES | _BOTTOMS | _TOPS | COLORS.keys() | SIZES.keys() | _AFTER_TO
    if word != "to" or not after.isalpha() or after in known or _at(words, index - 1) in _CARRIERS:
        return None
    return (_item("aim"), 1) if (after,) not in PHRASES and not re.fullmatch("d[123]", after) else None


_CARRIERS = frozenset(["need", "needs", "want", "wants", "have", "has", "like", "love", "next", "close", "adjacent", "up", "over"])


_PLACE_WORDS = CELL_NOUNS | LAYER_NOUNS | _SIDES.keys() | _MIDDLES | _BOTTOMS | _TOPS


def _phrase(words: Sequence[str], index: int) -> Found:
    for length in range(min(_LONGEST_PHRASE, len(words) - index), 0, -1):
        meaning = PHRASES.get(tuple(words[index : index + length]))
        if meaning is None:
            continue
        if words[index] == "correct" and length == 1 and _corrects(words, index):
            return _item("act_base", value="fix"), 1
        if meaning.kind == "empty" and _at(words, index + length) in _PLACE_WORDS:
            return None, length
        if meaning.kind == "skip":
            return None, length
        if length == 1 and meaning.kind.startswith("act") and _is_noun(words, index):
            return None, 1
        return _item(meaning.kind, value=meaning.value or words[index]), length
    return None


def _corrects(words: Sequence[str], index: int) -> bool:
    """Tell the verb ``correct that`` from the adjective."""
    return _at(words, index - 1) in ("to", "lets", "please", "") or _at(words, index + 1) in ("that", "it", "this", "my", "the")


def _is_noun(words: Sequence[str], index: int) -> bool:
    word = words[index]
    return word.removesuffix("s") in _NOUN_LIKE and _at(words, index - 1) in _BEFORE_NOUN


def _merge_sizes(items: list[Item]) -> list[Item]:
    """Join ``blue, large``, ``red (size 1)`` and a later ``(size 1)`` to one block."""
    merged: list[Item] = []
    for item in items:
        size_only = item.kind == "block" and item.size and not item.color and not item.noun
        at = _block_before(merged, anywhere=item.value == "size") if size_only else None
        adjective = item.kind == "block" and item.color and not (item.noun or item.size) and len(merged) > 1
        if adjective and merged[-1].kind == "and" and merged[-2].size and not (merged[-2].color or merged[-2].noun):
            merged[-2:] = [replace(item, size=merged[-2].size, start=merged[-2].start)]  # "small and orange"
        elif at is not None and merged[at].size in (None, item.size):
            merged[at] = replace(merged[at], size=item.size)
        else:
            merged.append(item)
    return merged


def _block_before(items: Sequence[Item], *, anywhere: bool) -> int | None:
    """Give the index of the last block, if it stands right before or only a comma or ``with`` between."""
    for at in range(len(items) - 1, -1, -1):
        if items[at].kind == "block":
            return at
        if not anywhere and not (items[at].kind == "with" or items[at].value == ","):
            return None
    return None


def _without_listings(items: list[Item]) -> list[Item]:
    """Turn three or more cells in a row into one item: usually the speaker's wall, not a place."""
    result: list[Item] = []
    index = 0
    while index < len(items):
        run = index
        while run < len(items) and (items[run].kind == "cell" or (run > index and items[run].kind in ("comma", "and"))):
            run += 1
        cells = [item for item in items[index:run] if item.kind == "cell"]
        if len(cells) >= 3:
            listed = "".join(item.value for item in cells)
            result.append(Item(kind="listing", start=items[index].start, end=cells[-1].end, value=listed))
            while items[run - 1].kind != "cell":
                run -= 1
            index = run
        else:
            result.append(items[index])
            index += 1
    return result
