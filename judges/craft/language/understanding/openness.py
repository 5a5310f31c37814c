"""What leaves it open, by words alone, what a clause asks for: conditions, retractions, references, relations, other players, questions.

A claim may be read from such a clause, and may be right; but another clause, block or player decides what it means. So it is not
understood, and nothing is concluded from what it says or leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from judges.craft.language.places.walls import Board, height
from judges.craft.language.understanding.clause_words import ClauseWords
from judges.craft.language.words.spatial import BOTTOMS, MIDDLES, SIDES, TOPS
from judges.craft.language.words.vocabulary import CELL_NOUNS, COLORS
from schemas.packaged import packaged_yaml

__all__ = ["open_in"]

_TABLES: Final[Mapping[str, str]] = packaged_yaml(__package__, "open.yaml")
_POLITE: Final = frozenset(_TABLES["polite"].split())


def _phrases(kind: str) -> re.Pattern[str]:
    return re.compile(r"(?<!\S)(?:" + "|".join(re.escape(one.strip()) for one in _TABLES[kind].split("|")) + r")(?!\S)")


_KINDS: Final = {
    kind: _phrases(kind) for kind in ("condition", "time", "retraction", "shifting", "alike", "back", "several", "relation", "endorsement")
}
_SHARING: Final = frozenset(("share", "shared", "shares", "sharing", "their", "theirs", "your", "yours", "his", "her", "common"))
_OWN: Final = frozenset(("my", "mine"))
_DIRECTORS: Final = frozenset(("d1", "d2", "d3"))
_PLACES: Final = frozenset(("side", "middle_side", "cell", "cells", "layer", "depth"))
_RELATIONS: Final = frozenset(("on_top", "below", "next_to", "left_of", "right_of", "between"))
_BLOCK_WORDS: Final = {**COLORS, "small": "s", "large": "l", "tiny": "s"}
_SIDE_WORDS: Final = frozenset((*SIDES, *MIDDLES, *BOTTOMS, *TOPS, *CELL_NOUNS))
_ALONE: Final = 1


def open_in(clause: ClauseWords, blocks: int, board: Board) -> str:
    """Why it is open what a clause asks for; empty if nothing in its words says so.

    Args:
        clause: one sentence.
        blocks: different blocks by colour that the clause itself, or else the one before that names any, speaks of.
        board: before the builder's move.
    """
    words = [token.word for token in clause.words]
    said = " ".join(words)
    others = [word for word in words if word in _DIRECTORS and word != clause.speaker.lower()]
    talk = clause.is_talk
    located = _is_located(clause)
    own = located and (_names_side_of(clause, others) or not _OWN.isdisjoint(words) or any(item.kind == "cell" for item in clause.items))
    hazards = (
        ("retraction", True),
        ("condition", not talk or _KINDS["condition"].match(said) is not None),
        ("time", not talk and not located),
        ("shifting", True),
        ("alike", not own),
        ("back", not talk and blocks != _ALONE),
        ("several", not talk and not located and _has_game(clause)),
        ("relation", _has_game(clause) and not located and not _is_stacked(clause, board)),
        ("endorsement", bool(others) and not own),
    )
    for kind, applies in hazards:
        found = _KINDS[kind].search(said) if applies else None
        if found is not None:
            return f"{kind}: {found[0]}"
        if kind == "relation" and applies and any(item.kind in _RELATIONS for item in clause.items):
            return "relation: a place by another block"
    named = {item.color for item in clause.items} | {item.size for item in clause.items}
    loose = [word for word in words if word in _BLOCK_WORDS and _BLOCK_WORDS[word] not in named]
    if loose:
        return f"words that went into no request: {', '.join(loose)}"
    strange = others or [word for word in words if word in _SHARING]
    if strange and not own and (_has_game(clause) or any(item.kind in _PLACES for item in clause.items)):
        return f"another player's place: {strange[0]}"
    return "a question" if words[-1] == "?" and _has_game(clause) and not _POLITE & set(words) else ""


def _names_side_of(clause: ClauseWords, others: Sequence[str]) -> bool:
    """Whether a place is said to be another player's: ``D3's left``."""
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
    """Whether it names a block or makes a claim."""
    return bool(clause.blocks or clause.claims)


def _is_located(clause: ClauseWords) -> bool:
    """Whether every claim has its cells and its layer in words of the text, so that a second way to say them changes nothing."""
    return bool(clause.claims) and all(
        claim.cells and claim.layer is not None and claim.origins.get("cells") == "stated" for claim in clause.claims
    )
