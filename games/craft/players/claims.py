"""What a scripted director's texts claim: known from the plan, whatever the wording."""

from collections.abc import Iterator
from typing import Any, Final, cast

from games.craft.claims import CraftClaim, Named, Remark, Request, SeenBy, Stance, View
from games.craft.engine.blocks import CELLS, SEEN_BY
from games.craft.players.facts import Voice
from games.craft.players.instruction import Instruction
from schemas.claims import written

_VOUCHED: Final = {"private": ("request", "remark"), "public": ("request", "remark", "named")}
"""Kinds of claim that come of the plan alone; others may come of the wording, too, such as a wall that is looked over cell by cell."""


def planted_claims(voice: Voice, channel: str) -> list[dict[str, Any]]:
    """Give what a director's thought or message claims, as logs write it; nothing where the text does not show the plan."""
    shows, claims = (voice.thinks, _thought(voice)) if channel == "private" else (voice.speaks, _said(voice))
    vouched = {"kind": "read", "kinds": list(_VOUCHED[channel])}
    return [vouched, *(written(claim) for claim in claims)] if shows else [vouched]


def _thought(voice: Voice) -> Iterator[CraftClaim]:
    plan = voice.plan
    named = set(plan.thought.cells if plan.thought else ())
    if plan.thought is not None:
        yield _request(plan.thought)
    if plan.right_block is not None:
        cell, layer, color = plan.right_block
        yield Remark(verb="confirm", color=cast("Any", color), cells=(cell,), layer=cast("Any", layer))
        named.add(cell)
    if plan.other_wall is not None:
        named.add(plan.other_wall)
    yield from _names(named)


def _said(voice: Voice) -> Iterator[CraftClaim]:
    plan = voice.plan
    if plan.said is not None:
        yield _request(plan.said)
        yield from _names(set(plan.said.cells))
    if plan.perspective != "bare":
        yield View(seen_by=_seen_by(voice) if plan.perspective == "explicit" and plan.said is not None else "seat")
    if plan.endorses is not None:
        yield Stance(director=plan.endorses, attitude="agrees")
    if plan.disputes is not None:
        yield Stance(director=plan.disputes, attitude="disputes")


def _seen_by(voice: Voice) -> SeenBy:
    cells = voice.plan.said.cells if voice.plan.said is not None else ()
    return "shared" if any(SEEN_BY[cell] != (voice.director,) for cell in cells) else "speaker"


def _request(told: Instruction) -> Request:
    cells = tuple(cell for cell in CELLS if cell in told.cells)
    return Request(verb=told.verb, color=cast("Any", told.color), size=cast("Any", told.size), cells=cells, layer=cast("Any", told.layer),
                   stated=bool(cells), first=True)  # fmt: skip


def _names(cells: set[str]) -> Iterator[Named]:
    return (Named(cell=cell) for cell in CELLS if cell in cells)
