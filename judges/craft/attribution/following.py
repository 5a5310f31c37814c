"""What the builder's move has to do with a request."""

from __future__ import annotations

from games.craft.claims import Request
from games.craft.engine.rules import Move
from judges.attribution.findings import How

__all__ = ["following"]


def following(request: Request, move: Move) -> tuple[How, tuple[str, ...]]:
    """Compare a move with a request; gives how it follows, and in what it differs."""
    if request.verb not in (move.action, "replace"):
        return "no", ()
    covered = move.covered()
    placed = bool(request.cells)
    if placed and covered.isdisjoint(request.cells):
        same_block = request.block is not None and request.block == move.block and move.action == "place"
        return ("differs", ("place",)) if same_block else ("no", ())
    differs = [] if not placed or covered <= {*request.cells} or {*request.cells} <= covered else ["second cell"]
    if request.layer not in (None, move.layer):
        differs.append("layer")
    if move.action == "place" and move.block:
        differs += [
            name
            for name, said, done in (("colour", request.color, move.block[:1]), ("size", request.size, move.block[1:]))
            if said not in (None, done)
        ]
    if differs:
        return ("differs" if placed else "no"), tuple(differs)
    known = request.cells if move.action == "remove" else request.cells and request.color and request.size
    whole = len(request.cells) == len(covered) or not request.cells
    return ("fully" if known and whole else "partly"), ()
