"""Words to items: each reader is tried in turn, then what belongs together is joined."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import NamedTuple

from judges.craft.language import phrases
from judges.craft.language.vocabulary import (
    ADJECTIVES,
    BLOCK_NOUNS,
    CELL_NOUNS,
    COLORS,
    COUNTS,
    DETERMINERS,
    LAYER_NOUNS,
    PHRASES,
    PLACES,
    SIZES,
    Found,
    Meaning,
    Stretch,
    Token,
    at,
    kind_of,
    make,
    word_set,
)

_PAIR = 2
_LISTING = 3
"""As many cells in a row name a wall, not the place of a block."""

_NEAR = 8
"""Words behind a verb among which its object ends."""

_SHORT = 4
"""Letters up to which no word counts as a participle."""

Reader = Callable[[Sequence[str], int], Found]

_LONGEST: Mapping[str, int] = {phrase[0]: len(phrase) for phrase in sorted(PHRASES, key=len)}
"""Words in the longest phrase that begins with a word."""

_NOUN_LIKE = word_set("lexer", "noun_like")
_BEFORE_NOUN = DETERMINERS | word_set("lexer", "before_noun")
_BEHIND_NOUN = frozenset(("", ".", ",", ";", ":", "!", "?", "\n", "of", "is"))
_AFTER_TO = word_set("lexer", "after_to")
_CARRIERS = word_set("lexer", "carriers")
_KNOWN_AFTER_TO = (
    DETERMINERS
    | CELL_NOUNS
    | LAYER_NOUNS
    | phrases.SIDES.keys()
    | phrases.MIDDLES
    | phrases.BOTTOMS
    | phrases.TOPS
    | COLORS.keys()
    | SIZES.keys()
    | _AFTER_TO
)
_PLACE_WORDS = CELL_NOUNS | LAYER_NOUNS | phrases.SIDES.keys() | phrases.MIDDLES | phrases.BOTTOMS | phrases.TOPS
_TELLING = phrases.SIDES.keys() | phrases.MIDDLES | phrases.BOTTOMS | phrases.TOPS | SIZES.keys()
"""Words that, where they were passed over, could name a place, a layer or a size elsewhere."""

_PERSONS = frozenset(("you", "we", "i", "someone", "somebody", "it", "they"))
_AT_BEGIN = frozenset(("repair", "void"))
_CODES = frozenset(color + size for color in "gbryo" for size in "sl")


class Lexed(NamedTuple):
    """What the words of a sentence are."""

    items: list[Stretch]
    """In text order; words without a meaning here are left out."""
    unknown: list[Token]
    """Words that have no meaning here and are no talk either; sides and sizes that were passed over, too."""


def lexed(sentence: Sequence[Token]) -> Lexed:
    """Read the words of one sentence."""
    words = [token.word for token in sentence]
    items: list[Stretch] = []
    unknown: list[Token] = []
    index = 0
    while index < len(words):
        found = _read_by_any(words, index)
        item, used = found or (None, 1)
        if item is not None:
            item.start, item.end = sentence[index].start, sentence[index + used - 1].end
            items.append(item)
        elif found is None and (kind_of(words[index]) != "talk" or words[index] in SIZES):
            unknown.append(sentence[index])
        else:
            unknown += [token for token in sentence[index : index + used] if token.word in _TELLING]
        index += used
    return Lexed(_without_listings(_changes(_merge_sizes(_without_corrections(items)))), unknown)


def _read_by_any(words: Sequence[str], index: int) -> Found:
    word = words[index]
    readers = _READERS.get(word)
    if readers is None:
        readers = () if word.isalpha() else _OTHER_READERS
    for reader in readers:
        found = reader(words, index)
        if found is not None:
            return found
    return None


def _mark(words: Sequence[str], index: int) -> Found:
    word = words[index]
    if word in ",;:":
        return make("comma", value=word), 1
    if word in ".!?\n":
        return make("end", value=word), 1
    return None


def _aim(words: Sequence[str], index: int) -> Found:
    """Read ``to`` before a verb that is none of ours: what follows is the purpose, not the place."""
    word, after = words[index], at(words, index + 1)
    if word != "to" or not after.isalpha() or after in _KNOWN_AFTER_TO or at(words, index - 1) in _CARRIERS:
        return None
    return (make("aim"), 1) if (after,) not in PHRASES else None


def _over(words: Sequence[str], index: int) -> Found:
    """Read ``on the orange block`` as on top of it, unlike ``on the left`` or ``over the left and middle``."""
    if words[index] not in ("over", "on", "onto"):
        return None
    begin = index + 1 + (at(words, index + 1) in DETERMINERS)
    on_it = at(words, index + 1) in ("it", "that") and at(words, index + 2) in ("", ".", ",", ";", "!", "?", "\n", "and")
    return (make("on_top"), 1) if on_it or phrases.leads_to_block(words, begin) else None


def _relative(words: Sequence[str], index: int) -> Found:
    """Leave out the ``that is`` of ``the block that is on the right``: it only describes the block."""
    if at(words, index - 1) not in BLOCK_NOUNS:
        return None
    if at(words, index + 1) not in ("is", "are", "sits"):
        return None
    adverb = at(words, index + 2) in ("already", "currently", "now", "still")
    return None, 2 + adverb + (at(words, index + 2 + adverb) in ("there", "here"))


def _lacking(words: Sequence[str], index: int) -> Found:
    """Read ``short of a red block``, and leave out the ``short`` of ``we are one red block short``; else it is a size."""
    if words[index] == "short" and at(words, index + 1) in ("of", "on"):
        return make("need"), 2
    return (None, 1) if _closes_need(words, index) else None


def _size_letter(words: Sequence[str], index: int) -> Found:
    """Read the ``s`` of ``red, s`` and ``size s``: a size as one letter."""
    if words[index] not in ("s", "l"):
        return None
    before = at(words, index - 2 if at(words, index - 1) == "," else index - 1)
    return (make("block", value="size", size=words[index]), 1) if before in COLORS or before == "size" else None


def _particle(words: Sequence[str], index: int) -> Found:
    """Read the ``out`` of ``green out``, the ``in`` of ``small red in``, the ``off`` of ``red off, left``: short for a verb."""
    word, before, after = words[index], at(words, index - 1), at(words, index + 1)
    if word not in ("out", "in", "off"):
        return None
    if word == "out" and after == ":":
        return make("act_base", value="remove"), 1
    named = before in COLORS or before in SIZES or before in BLOCK_NOUNS
    closes = after in ("", ",", ".", ";", "!", "\n", "and", "then", "please")
    parted = before in (",", ":") and any(other in COLORS for other in words[:index])
    named = named or (parted and word != "in")
    bare = not any((other,) in PHRASES and PHRASES[other,].kind.startswith(("act", "state")) for other in words[max(0, index - 4) : index])
    return (make("belong" if word == "in" else "go_away"), 1) if named and closes and bare else None


def _closes_need(words: Sequence[str], index: int) -> bool:
    """Whether ``short`` follows the block that is lacking."""
    closes = words[index] == "short" and at(words, index - 1) in BLOCK_NOUNS and not phrases.leads_to_block(words, index + 1)
    return closes and any(word in COLORS for word in words[max(0, index - 4) : index])


def _phrase(words: Sequence[str], index: int) -> Found:
    for length in range(min(_LONGEST.get(words[index], 0), len(words) - index), 0, -1):
        meaning = PHRASES.get(tuple(words[index : index + length]))
        if meaning is None:
            continue
        if words[index] == "correct" and length == 1 and _corrects(words, index):
            return make("act_base", value="fix"), 1
        if length > 1 and words[index + length - 1] == "if" and at(words, index + length) in _PERSONS:
            continue  # "grateful if you placed", unlike "grateful if a red block came"
        if meaning.kind in _AT_BEGIN and not _begins(words, index, meaning.kind):
            continue
        other = _other_meaning(words, index, length, meaning)
        if other is not None:
            return other, length
        if _is_idle(words, index, length, meaning.kind):
            return None, length
        return make(meaning.kind, value=meaning.value or words[index]), length
    return None


def _begins(words: Sequence[str], index: int, kind: str) -> bool:
    """Whether a correction or an order can begin at the phrase."""
    before = at(words, index - 1)
    if words[index] == "whether" or at(words, index + 1) == "if" or at(words, index + 2) == "if":
        return not {"could", "can", "would", "might"} & set(words[index : index + 6])  # "I wonder if we could put"
    if kind == "repair" or words[index] in ("suppose", "supposing", "imagine", "had", "were"):
        return before in ("", ",", ";", ":", ".", "but", "no", "oh")
    return True


def _tells(words: Sequence[str], index: int) -> bool:
    """Whether a block was already put, by the text: ``you put the red one there``, unlike ``could you put``."""
    before = at(words, index - 1)
    if before == "just" or (before == "builder" and at(words, index - 2) == "the"):
        return "please" not in words and before != "just"
    opens = at(words, index - 2) in ("", ",", "but", "and", ";", "that", "block", "one")
    return before in ("you", "they", "he", "she") and opens and words[-1] != "?"


def _hosts(words: Sequence[str], index: int) -> bool:
    """Whether a place is what takes the block: ``the left cell takes a small red block``."""
    after = at(words, index + 1)
    indefinite = after in ("a", "an", "one", "two", "another") or after in SIZES or after in COLORS
    return at(words, index - 1) in _PLACE_WORDS and indefinite and phrases.leads_to_block(words, index + 1 + (after in DETERMINERS))


def _fetches(words: Sequence[str], index: int) -> bool:
    """Whether a block that is not on the board yet is taken: ``take a small red block and set it on the left``."""
    after = at(words, index + 1)
    return after in ("a", "an", "one", "some", "another") and phrases.leads_to_block(words, index + 1 + (after in DETERMINERS))


def _other_meaning(words: Sequence[str], index: int, length: int, meaning: Meaning) -> Stretch | None:
    """Give what a phrase means before or behind certain words, None where the table holds."""
    if meaning.kind == "on_top" and words[index + length - 1] == "on" and _names_place(words, index + length):
        tells = words[index] in ("sits", "sit", "rests", "rest")  # "it sits on the right", unlike "the block sitting on the right"
        return make("state", value="is") if tells else make("prep", value="on")
    verb = _verb_in_place(words, index) if length == 1 else None
    if verb is not None:
        return verb
    if meaning.kind == "should" and _unknown_participle(words, index + length):
        return make("state", value="is")
    if meaning.kind == "state" and any(_closes_need(words, here) for here in range(index + 2, min(index + _NEAR, len(words)))):
        return make("need")  # "we are one red block short"
    return None


def _verb_in_place(words: Sequence[str], index: int) -> Stretch | None:
    """Give what ``take``, ``complete`` and ``put`` mean where the words around them turn their sense."""
    word = words[index]
    if word in ("take", "takes") and _hosts(words, index):
        return make("need")
    if word in ("take", "takes") and _fetches(words, index):
        return make("act_base", value="place")
    if word in ("complete", "finish") and at(words, index - 1) in ("to", "lets", "please"):
        return make("act_base", value="place")
    if word in ("put", "set") and (_tells(words, index) or at(words, index - 1) in BLOCK_NOUNS):
        return make("act_ed", value="place")  # "you put the red block on the left", "have a block put at the left"
    return None


def _unknown_participle(words: Sequence[str], index: int) -> bool:
    """Whether something is to be done that no table knows: ``must be polished``."""
    word = at(words, index)
    return len(word) > _SHORT and word.endswith("ed") and (word,) not in PHRASES and word not in COLORS


def _names_place(words: Sequence[str], index: int) -> bool:
    """Whether a side or a layer follows, as in ``sitting on the right``, and no block."""
    begin = index + (at(words, index) in DETERMINERS)
    return at(words, begin) in _PLACE_WORDS | {"far"} and not phrases.leads_to_block(words, begin + 1)


def _is_idle(words: Sequence[str], index: int, length: int, kind: str) -> bool:
    """Whether a phrase states nothing where it is: ``in the empty corner``, ``that left one``, ``the leftmost position``."""
    after = at(words, index + length)
    if kind == "empty":
        return after in _PLACE_WORDS
    if words[index] in ("keep", "keeps", "kept", "start", "started") and length == 1 and after.endswith("ing") and (after,) not in PHRASES:
        return True  # "I keep staring at"
    if kind == "confirm" and length == 1:
        return after in LAYER_NOUNS | {"version", "request", "order", "entry"}
    if kind == "pron" and length == 1:
        return after in _PLACE_WORDS | {"far", "top"}
    return kind == "skip" or (length == 1 and kind.startswith("act") and _is_noun(words, index))


def _corrects(words: Sequence[str], index: int) -> bool:
    """Tell the verb ``correct that`` from the adjective."""
    return at(words, index - 1) in ("to", "lets", "please", "") or at(words, index + 1) in ("that", "it", "this", "my", "the")


def _is_noun(words: Sequence[str], index: int) -> bool:
    """Tell the noun of ``the leftmost position`` from the verb."""
    if words[index].removesuffix("s") not in _NOUN_LIKE or (index == 0 and at(words, 1) == ","):
        return False
    before, after = at(words, index - 1), at(words, index + 1)
    if before in ("that", "this") and phrases.leads_to_block(words, index + 1 + (after in DETERMINERS)):
        return False
    return before in _BEFORE_NOUN or after in _BEHIND_NOUN


def _without_corrections(items: list[Stretch]) -> list[Stretch]:
    """Leave out what a sentence begins by ruling out: ``not the right but the left``, ``not the red one; the blue one``."""
    begin = next((index for index, item in enumerate(items) if item.kind == "not"), None)
    if begin is None or any(item.kind not in ("skip", "comma", "then") for item in items[:begin]):
        return items
    for here in range(begin + 1, len(items)):
        if items[here].kind in ("but", "comma"):
            return items[:begin] + items[here + 1 :] if here > begin + 1 else items
        if items[here].kind not in PLACES | {"prep", "block"}:
            return items
    return items


def _merge_sizes(items: list[Stretch]) -> list[Stretch]:
    """Join ``blue, large``, ``red (size 1)`` and a later ``(size 1)`` to one block."""
    merged: list[Stretch] = []
    for item in items:
        size_only = (item.kind == "block" and item.size and not (item.color or item.noun)) or _sizes_color(merged, item)
        if size_only and item.value == "all" and any(_is_colored(other) for other in merged):
            merged = [replace(other, size=item.size) if _is_colored(other) and not other.size else other for other in merged]
            continue  # "red left, blue right, both small"
        here = _block_before(merged, anywhere=item.value == "size") if size_only else None
        if _is_apposition(merged, item):
            here = _named_before(merged, item)
            merged[here] = replace(merged[here], color=item.color, size=merged[here].size or item.size)  # "a block, small, red"
            continue
        adjective = item.kind == "block" and item.color and not (item.noun or item.size) and len(merged) > 1
        joins = adjective and (merged[-1].kind == "and" or merged[-1].value == ",")
        if joins and merged[-2].size and not (merged[-2].color or merged[-2].noun):
            merged[-2:] = [replace(item, size=merged[-2].size, start=merged[-2].start)]  # "small and orange"
        elif here is not None and merged[here].size in (None, item.size):
            merged[here] = replace(merged[here], size=item.size)
        else:
            merged.append(item)
    return merged


def _sizes_color(merged: Sequence[Stretch], item: Stretch) -> bool:
    """Whether a sized noun behind a comma belongs to a bare colour: ``orange, large block``."""
    if item.kind != "block" or not item.size or item.color or item.indefinite or len(merged) < _PAIR or merged[-1].value != ",":
        return False
    before = merged[-2]
    return before.kind == "block" and before.color is not None and not (before.noun or before.size)


def _named_before(merged: Sequence[Stretch], item: Stretch) -> int:
    """Give the index of the block of an apposition: before the comma, or before the place: ``the top one there, the red one``."""
    here = -2
    while len(merged) + here > 0 and (merged[here].value == "," or (item.noun and item.definite and merged[here].kind in PLACES)):
        here -= 1
    return here


def _is_apposition(merged: Sequence[Stretch], item: Stretch) -> bool:
    """Whether a colour behind a comma belongs to the block before it: ``a small block, red``, ``the top one, the red one``."""
    if not _is_colored(item) or item.indefinite or item.absent or len(merged) < _PAIR or merged[-1].value != ",":
        return False
    here = _named_before(merged, item)
    before = merged[here]
    if before.kind != "block" or before.color is not None or not before.noun or before.number not in (None, 1):
        return False
    bare = not item.noun or (item.definite and (before.definite or before.topmost))
    return bare and None in (before.size, item.size)


def _block_before(items: Sequence[Stretch], *, anywhere: bool) -> int | None:
    """Give the index of the last block, if it is right before, or only a comma or ``with`` between."""
    for here in range(len(items) - 1, -1, -1):
        if items[here].kind == "block":
            return here
        if not anywhere and not (items[here].kind == "with" or items[here].value == ","):
            return None
    return None


def _is_colored(item: Stretch) -> bool:
    return item.kind == "block" and item.color is not None


def _changes(items: list[Stretch]) -> list[Stretch]:
    """Read ``green -> blue`` as a replacement; other arrows only point to a place."""
    result: list[Stretch] = []
    for index, item in enumerate(items):
        if item.kind != "arrow":
            result.append(item)
            continue
        follower = items[index + 1] if index + 1 < len(items) else None
        if follower is not None and _is_colored(follower) and result and _is_colored(result[-1]):
            verb = Stretch(kind="act_base", value="replace", start=result[-1].start, end=result[-1].start)
            result[-1:] = [verb, result[-1], replace(item, kind="with", value="with")]
    return result


def _without_listings(items: list[Stretch]) -> list[Stretch]:
    """Turn three or more cells in a row into one item: usually the speaker's wall, not a place."""
    result: list[Stretch] = []
    index = 0
    while index < len(items):
        run = index
        while run < len(items) and (
            items[run].kind == "cell" or (run > index and items[run].kind in ("comma", "and") and items[run].value != ":")
        ):
            run += 1
        cells = [item for item in items[index:run] if item.kind == "cell"]
        if len(cells) >= _LISTING:
            listed = "".join(item.value for item in cells)
            result.append(Stretch(kind="listing", start=items[index].start, end=cells[-1].end, value=listed))
            while items[run - 1].kind != "cell":
                run -= 1
            index = run
        else:
            result.append(items[index])
            index += 1
    return result


_BY_OPENER: tuple[tuple[Reader, AbstractSet[str]], ...] = (
    (_mark, frozenset(",;:.!?\n")),
    (phrases.read_shared, phrases.PLACE_OPENERS),
    (phrases.read_viewpoint, phrases.PLACE_OPENERS),
    (phrases.read_director, phrases.PLACE_OPENERS),
    (phrases.read_number_layer, phrases.LAYER_OPENERS),
    (phrases.read_spatial, phrases.PLACE_OPENERS),
    (_lacking, frozenset(("short",))),
    (_size_letter, frozenset("sl")),
    (
        phrases.read_block,
        DETERMINERS | COLORS.keys() | BLOCK_NOUNS.keys() | COUNTS.keys() | ADJECTIVES | _CODES | phrases.TOPS | {"no", "more", "s", "l"}
        | {size.split()[0] for size in SIZES},
    ),
    (_particle, frozenset(("out", "in", "off"))),
    (_aim, frozenset(("to",))),
    (_over, frozenset(("over", "on", "onto"))),
    (_relative, frozenset(("that", "which"))),
    (_phrase, _LONGEST.keys()),
)  # fmt: skip
"""The readers in the order in which they are tried, each with the words that can open what it reads."""

_READERS: Mapping[str, tuple[Reader, ...]] = {
    word: tuple(reader for reader, openers in _BY_OPENER if word in openers)
    for word in frozenset().union(*(openers for _, openers in _BY_OPENER))
}
_OTHER_READERS: tuple[Reader, ...] = (phrases.read_cell, *(reader for reader, _ in _BY_OPENER))
"""For what is not a word: cells, numbers, signs."""
