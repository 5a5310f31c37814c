"""A clause by its words: which of them are unknown, what cues they give, what no claim took up, and what leaves it open.

A claim may be read from an open clause, and may be right; but another clause, block or player decides what it means. So it is not
understood, and nothing is concluded from what it states or leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Final

from judges.craft.language.phrases import BOTTOMS, MIDDLES, SIDES, TOPS
from judges.craft.language.places import WALLS, Board, height
from judges.craft.language.vocabulary import (
    AMBIGUOUS,
    CELL_NOUNS,
    COLORS,
    DETERMINERS,
    LAYER_NOUNS,
    NUMERALS,
    SIZES,
    Claim,
    Stretch,
    Token,
    kind_of,
)
from schemas.common.packages import packaged_yaml

_TABLES: Final = packaged_yaml(__package__, "cues.yaml")
_CUES: Final[Mapping[str, str]] = {kind: cue for cue, kinds in _TABLES["cues"].items() for kind in kinds.split()}
AGAINST: Final[Mapping[str, frozenset[str]]] = {verb: frozenset(cues.split()) for verb, cues in _TABLES["against"].items()}
"""Verb of a claim -> cues next to which it may have been misread."""

ASKS: Final = frozenset(_TABLES["asks"].split())
"""Cues of asking for a block."""

TAKES: Final = frozenset(_TABLES["takes"].split())
"""Cues of having a block taken away."""

_LIGHT: Final = frozenset(_TABLES["light"].split())
_SPEECH: Final = frozenset(_TABLES["speech"].split())
_CARRYING: Final = frozenset(_TABLES["carrying"].split())
_GAME: Final = frozenset(_TABLES["game"].split())
_PLACES: Final = frozenset(("side", "middle_side", "cell", "cells", "depth", "shared", "last", "listing"))
_UNPLACED: Final = frozenset(("respectively", "unplaced"))
_POINTING: Final = _PLACES | {"block", "layer", "pron", "there"}
_RELATIONS: Final = frozenset(("on_top", "below", "next_to", "left_of", "right_of", "between"))
_PARTED: Final = frozenset((",", ";", ":"))
_MEASURES: Final = frozenset(("high", "tall", "deep", *"0123456789"))
_HEIGHTS: Final = _MEASURES | {"height", "stack", "stacked", "below", "beneath", "under", "free", "blocks", "s"}
_PERSONS: Final = frozenset(_TABLES["persons"].split())
_SEEING: Final = tuple(_TABLES["seeing"].split())
_THROWING: Final = frozenset(("away", "out", "off", "down", "hence", "gone", "begone", "minus", "less", "without"))
_ADVERBS: Final = frozenset(("there", "yet"))
_OWN: Final = frozenset(("my", "our", "mine"))
_PAIR: Final = 2
_LABEL: Final = 2
"""Words before a colon up to which they are the name of what follows: ``board: empty``."""

_PLAIN_NOUNS: Final = frozenset(_TABLES["plain_nouns"].split())
_MEASURED: Final = frozenset(("width", "length", "stature", "girth", "format", "size", "sized"))
"""Words that follow or precede a size."""

_PREPOSITIONS: Final = frozenset(_TABLES["prepositions"].split())


def cues_of(items: Iterable[Stretch], words: Sequence[Token] = ()) -> frozenset[str]:
    """Give the cues of some items, and of the words of denial among those that are none."""
    cues = {cue for item in items if (cue := _cue(item)) is not None}
    if "leave" in cues and "act.place" in cues and any(token.word in AMBIGUOUS for token in words):
        cues.remove("act.place")  # "get it out of there"
    return frozenset(cues)


def _cue(item: Stretch) -> str | None:
    if item.kind == "act_ed" and item.number is None and item.value != "remove":
        return "done"
    if item.kind.startswith("act"):
        return f"act.{item.value}"
    if item.kind == "block" and item.absent:
        return "denial"
    return _CUES.get(item.kind)


@dataclass(frozen=True, eq=False)
class ClauseWords:
    """One sentence: its words, what was made of them, and the claims that came of it."""

    words: Sequence[Token]
    items: Sequence[Stretch]
    strange: Sequence[Token]
    """Words that are no items and no talk either."""
    claims: Sequence[Claim]
    speaker: str
    remarks: Sequence[tuple[int, int]]
    """Stretches that say who sees a place, or what is thought of another director."""
    cells: frozenset[str] = frozenset()
    """Cells of all claims of the text."""
    layers: frozenset[int | None] = frozenset()
    """Layers of all claims of the text."""
    sole: Claim | None = None
    """The text's only claim, where it is one and no other block is named."""

    @cached_property
    def unknown(self) -> list[Token]:
        """Words without a meaning here that may change what is asked for or named."""
        odd = [token for token in self.strange if not self._is_harmless(token)]
        odd += [token for token in self._talk if token not in self.strange and self._may_name(token)]
        return sorted((token for token in odd if not self._is_remark(token)), key=lambda token: token.start)

    @cached_property
    def _talk(self) -> list[Token]:
        return [token for token in self.words if kind_of(token.word) == "talk"]

    def _may_name(self, token: Token) -> bool:
        """Whether a word of talk is where a size or a place would: ``a great red block``, ``at the heart of my wall``."""
        if token.word in _PLAIN_NOUNS or not self._asks_here or any(item.start <= token.start < item.end for item in self.items):
            return False
        here = self.words.index(token)
        before = [other.word for other in reversed(self.words[max(0, here - 2) : here])]
        unsized = not self.claims or any(claim.size is None for claim in self.claims)
        unplaced = not self.claims or any(not claim.cells for claim in self.claims)
        article = before[:1] and before[0] in DETERMINERS
        placed = bool(before) and (before[0] in _PREPOSITIONS or (bool(article) and before[-1] in _PREPOSITIONS))
        return (unsized and (token.word in _MEASURED or self._describes_block(here))) or (unplaced and placed)

    def _describes_block(self, here: int) -> bool:
        """Whether only words of talk stand between this one and a block without a size, and an article before it."""
        end = next((number for number in range(here, len(self.words)) if kind_of(self.words[number].word) != "talk"), len(self.words))
        begin = next((number for number in range(here, -1, -1) if kind_of(self.words[number].word) != "talk"), 0)
        block = end < len(self.words) and any(i.start == self.words[end].start and i.color and not i.size for i in self.items)
        return block and (self.words[begin].word in DETERMINERS or begin == here == 0)

    @property
    def _asks_here(self) -> bool:
        """Whether the clause may ask for a block, or say where one belongs that is asked for elsewhere."""
        asks = any(cue.startswith("act.") or cue in ("wish", "leave") for cue in self.cues)
        return bool(self.blocks) or (asks and any(item.kind in ("pron", "there") for item in self.items))

    def _is_remark(self, token: Token) -> bool:
        return any(start <= token.start < end for start, end in self.remarks)

    def _is_harmless(self, token: Token) -> bool:
        """Whether a word that is not an item adds nothing to what the clause names."""
        rule = next((rule for words, rule in self._RULES if token.word in words), self._RULES_OF_KINDS.get(kind_of(token.word)))
        return rule is not None and rule(self, token)

    def _is_known_layer(self, _: Token) -> bool:
        return not self.blocks or any(item.kind == "layer" for item in self.items)

    def _is_known_cell(self, _: Token) -> bool:
        return self._is_placed or any(other.word in DETERMINERS or kind_of(other.word) == "vague" for other in self.words)

    def _is_known_size(self, _: Token) -> bool:
        return bool(self.claims) and all(claim.size is not None for claim in self.claims)

    def _is_known_side(self, _: Token) -> bool:
        return self.is_about_support or (all(claim.cells for claim in self.claims) and (self._is_placed or not self.blocks))

    def _is_known_height(self, _: Token) -> bool:
        return not self.blocks or (bool(self.claims) and all(claim.layer is not None for claim in self.claims))

    def _is_known_quantity(self, token: Token) -> bool:
        """Tell the ``both`` and ``one ... other`` of a large block's cells from those of several blocks."""
        cells = {cell for claim in self.claims for cell in claim.cells or ()}
        return not self.blocks or self._is_apart(token) or (len(cells) == _PAIR and token.word != "all")

    def _is_apart(self, token: Token) -> bool:
        """Whether no block is named in the same part between commas and buts."""
        begin, end = next(bounds for bounds in self.bounds if bounds[0] <= token.start < bounds[1])
        return not any(begin <= block.start < end for block in self.blocks)

    def _tells_height(self, token: Token) -> bool:
        """Whether a number or a measure only tells how high a stack is: ``the stack is 1 high, so the next free layer is 1``."""
        here = self.words.index(token)
        near = {other.word for other in self.words[max(0, here - 2) : here + 3]}
        return not self.blocks or bool(near & _HEIGHTS) or (bool(self.claims) and all(claim.layer is not None for claim in self.claims))

    _RULES: ClassVar[Sequence[tuple[Collection[str], Callable[[ClauseWords, Token], bool]]]] = (
        (LAYER_NOUNS, _is_known_layer),
        (CELL_NOUNS, _is_known_cell),
        (_MEASURES, _tells_height),
        (SIZES, _is_known_size),
        (SIDES, _is_known_side),
        (MIDDLES, _is_known_side),
        (BOTTOMS | TOPS, _is_known_height),
    )
    """Words that name something, and when they add nothing all the same."""
    _RULES_OF_KINDS: ClassVar[Mapping[str, Callable[[ClauseWords, Token], bool]]] = {
        "quantity": _is_known_quantity,
        "particle": _is_apart,
        "denial": lambda _, __: True,
        "vague": lambda _, __: True,
    }
    """The same by the list of `ordinary.yaml` that a word is in."""

    @property
    def _is_placed(self) -> bool:
        return any(item.kind in _PLACES for item in self.items)

    @cached_property
    def cues(self) -> frozenset[str]:
        """All cues of the clause; denial only where it is in one part with a block or with the words of asking."""
        cues = cues_of(self.items, self.words)
        denied = any("denial" in part and part & (ASKS | TAKES | {"block"}) for part in self.parts)
        return cues | {"denial"} if denied else cues - {"denial"}

    @cached_property
    def cues_nearby(self) -> frozenset[str]:
        """Cues that may turn the meaning of a block: those of all parts but what only leads up to the first one that names a block."""
        begin = next((number for number, part in enumerate(self.parts) if "block" in part or "pointing" in part), 0)
        nearby = frozenset().union(*self.parts[begin:]) - {"block", "pointing", "denial"}
        return nearby & self.cues | (self.cues & {"denial"})

    @cached_property
    def parts(self) -> list[frozenset[str]]:
        """Cues of the parts between commas and buts, with ``block`` where one is named, ``pointing`` where a place or a pronoun is."""
        parts = []
        denials = [token.start for token in self.strange if kind_of(token.word) == "denial"]
        adverbs = [token for token in self.words if token.word in _ADVERBS]
        for begin, end in self.bounds:
            items = [item for item in self.items if begin <= item.start < end]
            denied = any(begin <= start < end for start in denials)
            kinds = {"block" if item.color or item.size else "pointing" for item in items if item.kind in _POINTING}
            kinds |= {token.word for token in adverbs if begin <= token.start < end}
            parts.append(cues_of(items) | ({"denial"} if denied else frozenset()) | kinds)
        return parts

    @cached_property
    def bounds(self) -> list[tuple[int, int]]:
        """Where its parts begin and end: between commas, buts and ends of sentences; a short label goes with what follows its colon."""
        cuts = [0]
        for item in self.items:
            label = (
                item.value == ":" and sum(cuts[-1] <= token.start < item.start and token.word.isalpha() for token in self.words) <= _LABEL
            )
            if (item.value in _PARTED and not label) or item.kind in ("but", "end") or self._closes(item):
                cuts.append(item.start)
        return list(zip(cuts, [*cuts[1:], self.words[-1].end], strict=True))

    def _closes(self, item: Stretch) -> bool:
        """Whether an ``and`` leads to no block and no place any more: ``there must be a red one and now is not``."""
        return item.kind == "and" and not any(
            other.color or other.kind in _POINTING - {"block"} for other in self.items if other.start > item.start
        )

    @cached_property
    def blocks(self) -> list[Stretch]:
        """The blocks that are named by colour or size."""
        return [item for item in self.items if item.kind == "block" and (item.color or item.size) and not item.absent]

    @cached_property
    def is_about_support(self) -> bool:
        """Whether it only states what the block that is asked for rests on: ``it goes on top of the red one``."""
        carried = any(item.kind in ("on_top", "below") for item in self.items) or any(token.word in _CARRYING for token in self.words)
        plain = len(self.blocks) == 1 and not self.blocks[0].size and not self.blocks[0].indefinite
        points = any(item.kind in ("pron", "there", "on_top", "below") for item in self.items)
        return carried and (plain or points) and len(self.blocks) == 1 and not any(item.kind in _PLACES | {"layer"} for item in self.items)

    @cached_property
    def left_over(self) -> str:
        """A colour, size, layer, place or request that no claim of the clause took up; empty if there is none."""
        ranked = any(item.kind in _UNPLACED or (item.kind == "order" and len(self.blocks) > 1) for item in self.items)
        if ranked or any(one.word in CELL_NOUNS and other.word in NUMERALS for one, other in pairwise(self.words)):
            return "the order of a list" if ranked else "a place"  # "slot 1": from 0 or from 1?
        related = any(item.kind in _RELATIONS for item in self.items)
        if not related and self._has_loose_block:
            return "a block"
        if not self.claims and self._points_at_request:
            return "a request"
        layers = {claim.layer for claim in self.claims} | (set() if self.blocks else self.layers)
        if not related and not self._describes_layer and any(item.kind == "layer" and item.number not in layers for item in self.items):
            return "a layer"
        cells = {cell for claim in self.claims for cell in claim.cells or ()} | (set() if self.blocks else self.cells)
        if self._only_mentions or self._names_whole_wall or all(_is_among(item, cells, self._walls) for item in self._places):
            return ""
        return "a place"

    @property
    def _describes_layer(self) -> bool:
        """Whether it only states how a layer is: ``so layer 1 is open``."""
        kinds = {item.kind for item in self.items}
        return (
            not self.blocks
            and bool(kinds & {"state", "empty", "confirm"})
            and not kinds & {"pron", "there", "block"}
            and not self.cues & (ASKS | TAKES)
        )

    @property
    def _has_loose_block(self) -> bool:
        claims = self.claims or ([self.sole] if self.sole else [])  # "I need a red block. Small."
        colors = {claim.color for claim in claims} | {claim.old.color for claim in claims if claim.old}
        sizes = {claim.size for claim in claims} | {claim.old.size for claim in claims if claim.old}
        return any((block.color and block.color not in colors) or (block.size and block.size not in sizes) for block in self.blocks)

    @property
    def _points_at_request(self) -> bool:
        """Whether a pronoun is to be placed or taken away: ``put it there``, ``that has to go``; not ``that makes me happy``."""
        kinds = [item.kind for item in self.items]
        if self.remarks or not {"pron", "there"} & set(kinds):
            return False
        if self.sole is not None and self.sole.verb == "place" and "act.place" in self.cues and not self.cues & TAKES:
            return False  # "Please place it." of the one block that is asked for
        messages = {token.word for token in self.words}
        if self.cues & TAKES - {"fault"}:
            return True
        ordered = any(one.startswith("act") and other in ("pron", "there") for one, other in pairwise(kinds))
        return ordered and not messages & (_SPEECH | _LIGHT)

    @property
    def _places(self) -> list[Stretch]:
        """The items that may name a place; next to coordinates ``right`` and ``left`` are words like others."""
        located = any(item.kind == "cell" for item in self.items)
        return [item for item in self.items if not (located and item.kind == "side")]

    @property
    def _only_mentions(self) -> bool:
        """Whether a coordinate is spoken of, and no block, layer or request."""
        named = any(item.kind == "cell" for item in self.items) and not self.claims
        others = any(item.kind in (_PLACES - {"cell", "listing"}) | {"block", "layer"} for item in self.items)
        foreign = any(item.kind == "director" for item in self.items)
        return named and not others and (foreign or not any(cue.startswith("act.") or cue in ("wish", "leave") for cue in self.cues))

    @property
    def _names_whole_wall(self) -> bool:
        """Whether all three sides stand in a clause that names no block: ``in my own left, middle and right``."""
        sides = {item.number for item in self.items if item.kind == "side"}
        joined = any(item.kind == "middle_side" for item in self.items)  # "left/middle/right"
        return (len(sides) == len(WALLS) or (joined and bool(sides))) and not self.blocks

    @cached_property
    def _walls(self) -> list[str]:
        return [self.speaker, *(f"D{item.number}" for item in self.items if item.kind == "director")]

    @property
    def names_by_words(self) -> bool:
        """Whether a cell is named in words, which only a certain claim resolves; a coordinate needs no resolution."""
        return any(item.kind in _PLACES - {"cell", "listing"} for item in self.items)

    def is_strange_to(self, claim: Claim) -> bool:
        """Whether a claim lies on the speaker's wall although the clause speaks of another director's and not of the own."""
        cells = set(claim.cells or ())
        if not cells or not cells <= set(WALLS[self.speaker]) or any(token.word in _OWN for token in self.words):
            return False
        return any(not cells <= set(WALLS[wall]) for wall in self._walls)

    @property
    def is_ambiguous(self) -> bool:
        """Whether its verb puts something down as well as throws it away."""
        verbs = [item for item in self.items if item.kind.startswith("act")]
        messages = {(token.start, token.end): token.word for token in self.words}
        return len(verbs) == 1 and messages.get((verbs[0].start, verbs[0].end)) in AMBIGUOUS

    @property
    def throws(self) -> bool:
        """Whether a word is left over with which something may be thrown out: ``away, that red one``."""
        return any(token.word in _THROWING for token in self.strange)

    @property
    def puts_into(self) -> bool:
        """Whether a pronoun is filled with something, and so means a place: ``fill it with a red block``."""
        kinds = [item.kind for item in self.items]
        return any(kinds[at].startswith("act") and kinds[at + 1 : at + 3] == ["pron", "with"] for at in range(len(kinds)))

    @property
    def is_bare_place(self) -> bool:
        """Whether it names a place and nothing else, and so goes on with the clause before."""
        return self._is_placed and not self.blocks and not self.cues

    @property
    def is_new(self) -> bool:
        """Whether a block of it is one that is not on the board yet: ``a red one``, ``one red block``."""
        return any(block.indefinite or block.number == 1 for block in self.blocks)

    @property
    def is_bare_order(self) -> bool:
        """Whether it only orders what was named before, as ``Please place it`` does."""
        acts = {cue for cue in self.cues if cue.startswith("act.")}
        named = any(item.kind in _PLACES | {"layer"} | _RELATIONS for item in self.items)
        points = any(item.kind == "pron" for item in self.items)
        return points and acts == {"act.place"} and not (self.cues - acts) and not (named or self.blocks or self.unknown)

    @property
    def repeats_removal(self) -> bool:
        """Whether it only repeats that a block mentioned before is to go: ``removing it comes first``."""
        asks = self.cues & TAKES and not self.cues & ASKS
        return bool(asks) and self.left_over == "a request" and not self.unknown and "denial" not in self.cues

    @property
    def only_lists(self) -> bool:
        """Whether it lists the cells of a wall and speaks of nothing else: ``Checking range (0,0), (0,1), (0,2)``."""
        kinds = {item.kind for item in self.items}
        return "listing" in kinds and kinds <= {"listing", "comma", "end", "wall", "subject", "state", "prep"}

    @property
    def goes_on(self) -> bool:
        """Whether it may go on about the block of the sentence before: ``It comes out`` and such."""
        points = any(item.kind in ("pron", "there", "empty") for item in self.items) or kind_of(self.words[0].word) == "denial"
        return points and not any(item.kind in _PLACES | {"layer"} for item in self.items)

    @property
    def is_filled(self) -> bool:
        """Whether its claims leave nothing open that another word could fill: action, block and every cell are given."""
        return bool(self.claims) and all(_is_complete(claim) for claim in self.claims)

    @property
    def states(self) -> bool:
        """Whether it states how something is or should be, and has no word of putting, taking away, wanting or going on to a next step."""
        steps = any(cue.startswith("act.") or cue in ("wish", "leave", "fault", "void", "instead", "repair") for cue in self.cues)
        return (
            bool(self.cues & {"see", "board", "target", "praise", "done"}) and not steps and not any(i.kind == "order" for i in self.items)
        )

    @property
    def may_judge(self) -> bool:
        """Whether it has a word of seeing or of persons; else it states neither who sees a place nor what is thought of others."""
        return any(token.word in _PERSONS or token.word.startswith(_SEEING) for token in self.words)

    @property
    def is_talk(self) -> bool:
        """Whether no word of it could ask for anything, or name a block or a place."""
        return not self.claims and not any(item.kind in _GAME or item.kind.startswith("act") for item in self.items)


def _is_complete(claim: Claim) -> bool:
    cells = len(claim.cells or ())
    known = None not in (claim.color, claim.size, claim.layer) and claim.certain
    return known and cells == (_PAIR if claim.size == "l" else 1)


def _is_among(item: Stretch, cells: set[str], walls: Iterable[str]) -> bool:
    if item.kind == "side" and item.number is not None:
        return any(WALLS[wall][item.number] in cells for wall in walls)
    if item.kind == "cell":
        return item.value in cells
    if item.kind == "cells" and item.value.isdigit():
        return any({WALLS[wall][int(digit)] for digit in item.value} <= cells for wall in walls)
    return True


_OPEN: Final[Mapping[str, str]] = packaged_yaml(__package__, "open.yaml")
_POLITE: Final = frozenset(_OPEN["polite"].split())


_KINDS: Final = {
    kind: re.compile(r"(?<!\S)(?:" + "|".join(re.escape(one.strip()) for one in _OPEN[kind].split("|")) + r")(?!\S)")
    for kind in ("condition", "time", "retraction", "shifting", "alike", "back", "several", "relation", "endorsement")
}
_SHARING: Final = frozenset(("share", "shared", "shares", "sharing", "their", "theirs", "your", "yours", "his", "her", "common"))
_SPEAKERS: Final = frozenset(("my", "mine"))
_DIRECTORS: Final = frozenset(("d1", "d2", "d3"))
_LOCATING: Final = frozenset(("side", "middle_side", "cell", "cells", "layer", "depth"))
_BLOCK_WORDS: Final = {**COLORS, "small": "s", "large": "l", "tiny": "s"}
_SIDE_WORDS: Final = frozenset((*SIDES, *MIDDLES, *BOTTOMS, *TOPS, *CELL_NOUNS))
_ALONE: Final = 1


def open_in(clause: ClauseWords, blocks: int, board: Board) -> str:
    """Why it is open what a clause asks for; empty if none of its words makes it so.

    Args:
        clause: one sentence.
        blocks: different blocks by colour that the clause itself, or else the one before that names any, speaks of.
        board: before the builder's move.
    """
    words = [token.word for token in clause.words]
    reply = " ".join(words)
    others = [word for word in words if word in _DIRECTORS and word != clause.speaker.lower()]
    talk = clause.is_talk
    located = bool(clause.claims) and all(
        claim.cells and claim.layer is not None and claim.origins.get("cells") == "stated" for claim in clause.claims
    )
    own = located and (
        _names_side_of(clause, others) or not _SPEAKERS.isdisjoint(words) or any(item.kind == "cell" for item in clause.items)
    )
    hazards = (
        ("retraction", True),
        ("condition", not talk or _KINDS["condition"].match(reply) is not None),
        ("time", not talk and not located),
        ("shifting", True),
        ("alike", not own),
        ("back", not talk and blocks != _ALONE),
        ("several", not talk and not located and _has_game(clause)),
        ("relation", _has_game(clause) and not located and not _is_stacked(clause, board)),
        ("endorsement", bool(others) and not own),
    )
    for kind, applies in hazards:
        found = _KINDS[kind].search(reply) if applies else None
        if found is not None:
            return f"{kind}: {found[0]}"
        if kind == "relation" and applies and any(item.kind in _RELATIONS for item in clause.items):
            return "relation: a place by another block"
    named = {item.color for item in clause.items} | {item.size for item in clause.items}
    loose = [word for word in words if word in _BLOCK_WORDS and _BLOCK_WORDS[word] not in named]
    if loose:
        return f"words that went into no request: {', '.join(loose)}"
    strange = others or [word for word in words if word in _SHARING]
    if strange and not own and (_has_game(clause) or any(item.kind in _LOCATING for item in clause.items)):
        return f"another player's place: {strange[0]}"
    return "a question" if words[-1] == "?" and _has_game(clause) and not _POLITE & set(words) else ""


def _names_side_of(clause: ClauseWords, others: Sequence[str]) -> bool:
    """Whether a place is stated to be another player's: ``D3's left``."""
    return any(
        one.word in others and one.end - one.start > len(one.word) and other.word in _SIDE_WORDS for one, other in pairwise(clause.words)
    )


def _is_stacked(clause: ClauseWords, board: Board) -> bool:
    """Whether its only relation is to a block below, and each claim lies right on top of a stack: ``on top of the green one``."""
    relations = {item.kind for item in clause.items} & _RELATIONS
    return relations == {"on_top"} and all(
        claim.size == "s" and claim.cells is not None and [height(board, cell) for cell in claim.cells] == [claim.layer]
        for claim in clause.claims
        if claim.cells is not None or claim.is_instruction
    )


def _has_game(clause: ClauseWords) -> bool:
    return bool(clause.blocks or clause.claims)
