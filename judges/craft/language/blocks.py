"""Words to blocks: determiner, count, size, colour and noun, in any usual order."""

from __future__ import annotations

from collections.abc import Sequence

from judges.craft.language.items import Found, at, make
from judges.craft.language.vocabulary import ADJECTIVES, BLOCK_NOUNS, CELL_NOUNS, COLORS, COUNTS, DETERMINERS, LAYER_NOUNS, SIZES

__all__ = ["leads_to_block", "opens_block", "read_block"]


def read_block(words: Sequence[str], index: int) -> Found:
    """Read a block: determiner, count, size, colour and noun in any usual order; at least a colour, a size or a noun."""
    here, color, size, noun, again, number = index, "", "", False, False, None
    topmost = labelled = named = False
    while here < len(words):
        word = words[here]
        pair = " ".join(words[here : here + 2])
        step = 1
        if pair in SIZES and not size and " " in pair:
            size, step, labelled = SIZES[pair], 2, here == index and word == "size"
        elif word in SIZES and not size and (not noun or words[here - 1] == "bloque") and not _is_block_noun(words, here):
            size = SIZES[word]
        elif word in COLORS and not color:
            color = COLORS[word]
            noun = noun or word.endswith("s")
        elif (len(word) == 2 and word[0] in "gbryo" and word[1] in "sl" and not color and word != "os") or (word == "os" and not color):
            color, size, noun = word[0], size or word[1], True
        elif word in BLOCK_NOUNS and not named and not (word == "one" and _counts(words, here)):
            named = noun = True
            size = size or (BLOCK_NOUNS[word] or "")
            again = again or word in ("one", "ones")
        elif word in COUNTS and not noun:
            number = COUNTS[word]
        elif word in DETERMINERS and not (color or size or noun):
            again = again or word in ("another", "those", "these")
        elif (
            word in ADJECTIVES
            and (not noun or word in ("de", "color"))
            and (color or size or here > index or leads_to_block(words, here + 1))
        ):
            pass
        elif word in ("top", "topmost", "upper", "uppermost") and not noun and leads_to_block(words, here + 1):
            topmost = True
        else:
            break
        here += step
    if not (color or size or noun):
        if at(words, index) == "another" and here == index + 1:
            return make("block", again=True, number=1), 1
        return None
    if (
        not (color or noun)
        and size
        and words[here - 1] in ("single", "short", "long", "little", "wide", "double", "narrow")
        and not _size_counts(words, here)
    ):
        return None
    return make(
        "block",
        value="size" if labelled else "",
        color=color or None,
        size=size or None,
        noun=noun,
        number=number,
        again=again,
        topmost=topmost,
    ), here - index


def _is_block_noun(words: Sequence[str], here: int) -> bool:
    return words[here] == "domino"


def _counts(words: Sequence[str], here: int) -> bool:
    """Tell the number ``one`` (one small block) from the pronoun (a small one)."""
    after = at(words, here + 1)
    return after in COLORS or after in SIZES or after in BLOCK_NOUNS or after in CELL_NOUNS


def _size_counts(words: Sequence[str], here: int) -> bool:
    return at(words, here) in BLOCK_NOUNS


def leads_to_block(words: Sequence[str], here: int) -> bool:
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
