"""Whole mentions: a stretch that names one block, its place and its layer, whatever verb ties them together.

What such a stretch wants follows from its words of polarity (need, blank, wrong, praise; denied or not) and from the board: a block
that is not there cannot be remarked, one that stands there is not asked for. Where the two do not settle it, nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Sequence

from judges.craft.language.model import Claim, Verb
from judges.craft.language.places.walls import WALLS, Board, height
from judges.craft.language.understanding.clause_words import ASKS, TAKES, ClauseWords
from judges.craft.language.words.items import Stretch

__all__ = ["mentioned"]

_UNSETTLED = frozenset(("void", "act.move", "act.pass", "act.keep", "repair", "act.replace", "instead", "all", "condition", "act.fix"))
"""Cues of which it is not known what they make of a block."""

_RELATIVE = frozenset(("on_top", "below", "next_to", "left_of", "right_of", "between", "rest", "whole", "last", "top_of", "depth", "shared",
                       "cells", "middle_side", "same_layer", "listing", "except", "where"))  # fmt: skip
"""Items by which a place is something else than it is called."""

_ORDERS = frozenset(("act.place", "act.cap"))
_PAIR = 2


def mentioned(clause: ClauseWords, board: Board, told_in: frozenset[int]) -> Claim | None:
    """Give the claim that a stretch of words makes if it is one whole mention, and its words and the board agree on the verb."""
    if len(clause.blocks) != 1 or any(item.kind in _RELATIVE for item in clause.items) or clause.cues & _UNSETTLED or clause.throws:
        return None
    block, cells = clause.blocks[0], _cells(clause)
    layers = {item.number or 0 for item in clause.items if item.kind == "layer"}
    if any(item.kind == "block" and item.noun and not item.color and item.start < block.start for item in clause.items):
        return None  # "remove the block, it is in the way of the red one"
    if not block.color or block.number not in (None, 1) or len(layers) != 1 or not cells:
        return None
    if len(cells) != (_PAIR if block.size == "l" else 1) or not _adjoining(cells):
        return None
    layer = layers.pop()
    stands = all(layer < height(board, cell) and board[cell][layer][0] == block.color for cell in cells)
    verb = _verb(clause, block, stands=stands)
    if verb is None:
        return None
    spots = [item for item in clause.items if item.kind in ("block", "cell", "side", "layer")]
    return Claim(verb=verb, color=block.color, size=block.size, cells=cells, layer=layer, told_in=told_in,  # type: ignore[arg-type]
                 start=min(item.start for item in spots), end=max(item.end for item in spots),
                 origins=dict.fromkeys(("color", *(("size",) if block.size else ()), "cells", "layer"), "stated"))  # fmt: skip


def _cells(clause: ClauseWords) -> tuple[str, ...]:
    """The cells named by coordinates, else by sides of the speaker's wall."""
    named = {item.value for item in clause.items if item.kind == "cell"}
    if named:
        return tuple(sorted(named))
    if any(item.kind == "director" for item in clause.items):
        return ()
    sides = {item.number for item in clause.items if item.kind == "side" and item.number is not None}
    return tuple(sorted(WALLS[clause.speaker][side] for side in sides))


def _adjoining(cells: Sequence[str]) -> bool:
    """Whether two cells lie side by side on a wall."""
    return len(cells) == 1 or any(set(cells) in ({wall[0], wall[1]}, {wall[1], wall[2]}) for wall in WALLS.values())


def _verb(clause: ClauseWords, block: Stretch, *, stands: bool) -> Verb | None:
    parts = clause.parts
    here = next(number for number, (begin, end) in enumerate(clause.bounds) if begin <= block.start < end)
    if any(part == {"denial"} or ("denial" in part and part & _ORDERS) for part in parts) or (
        clause.is_ambiguous and not any("leave" in part for part in parts)
    ):
        return None
    if clause.is_ambiguous:
        parts = [part - _ORDERS for part in parts]  # "get it out of there"
    asked = any(part & ASKS and not part & {"denial", "act.remove", "leave"} for part in parts)
    lacking = any(_tells_lack(part) for part in parts[here:])
    unwanted = any(
        part & TAKES or (part & {"denial", "empty"} and "yet" not in part and part & ASKS and not part & _ORDERS) for part in parts
    )
    praised = any("praise" in part and "denial" not in part for part in parts)
    ordered = any(part & {"act.remove", "leave"} and "denial" not in part for part in parts)
    denied = "denial" in parts[here] and not _tells_lack(parts[here])
    if unwanted:
        placing = any(part & _ORDERS for part in parts) or (asked and not denied)
        return "remove" if (ordered or stands) and not (placing or praised or lacking) else None
    if praised and not asked:
        return "confirm" if stands and not denied and not lacking else None
    if stands or denied or praised:
        return None
    return "place" if asked or lacking else None


def _tells_lack(part: frozenset[str]) -> bool:
    """Whether a part says that the place is blank: ``the board has nothing there``, ``not there yet``."""
    told = "empty" in part or ("denial" in part and bool(part & {"board", "there", "yet", "done"}))
    return told and not part & ASKS
