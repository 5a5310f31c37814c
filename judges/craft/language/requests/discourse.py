"""Drafts to claims: statements and the requests that repeat them become one, and the order of work is settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from judges.craft.language.model import INSTRUCTIONS, BlockType, Claim, Color, Layer, Origin, Size, Verb
from judges.craft.language.requests.drafts import Draft

__all__ = ["settle"]


def settle(drafts: Sequence[Draft]) -> list[Claim]:
    """Merge, drop repetitions, and mark the first instruction."""
    merged = _merge([draft for draft in drafts if not draft.tentative])
    kept = _once(_without_taken_up(merged))
    first = _first_of(kept)
    return [_claim(draft, first=draft is first) for draft in kept]


def _merge(drafts: list[Draft]) -> list[Draft]:
    result: list[Draft] = []
    for draft in drafts:
        if draft.pointing:
            _accept_statements(result, draft)
            continue
        statement = _statement_for(result, draft) if draft.explicit and draft.verb in ("place", "replace", "keep") else None
        if statement is not None:
            result = [other for other in result if other is not statement]
        if draft.verb == "remove" and draft.explicit:
            result = [other for other in result if not _explained(other, draft)]
            _demote_replacement(result, draft)
        result.append(draft if statement is None else _filled(draft, statement))
    return result


def _accept_statements(result: list[Draft], pointing: Draft) -> None:
    """Turn the statements before ``let's fix that`` into requests."""
    for draft in result:
        if not draft.explicit and draft.verb in INSTRUCTIONS:
            draft.explicit = True
            draft.first = draft.first or pointing.first


def _statement_for(result: Sequence[Draft], request: Draft) -> Draft | None:
    fits = [draft for draft in result if not draft.explicit and draft.verb in ("place", "replace") and _same_block(draft, request)]
    return fits[-1] if fits else None


def _same_block(statement: Draft, request: Draft) -> bool:
    return (
        _agree(statement.color, request.color)
        and _agree(statement.size, request.size)
        and (request.color is not None or statement.color is not None)
        and _overlap(statement.place.cells, request.place.cells)
        and _agree(statement.place.layer, request.place.layer)
    )


def _agree(one: object, other: object) -> bool:
    return one is None or other is None or one == other


def _overlap(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> bool:
    return one is None or other is None or set(one) <= set(other) or set(other) <= set(one)


def _filled(request: Draft, statement: Draft) -> Draft:
    """Carry over to the request what only the statement says."""
    origins: dict[str, Origin] = dict(request.origins)
    place = request.place
    if place.cells is None and statement.place.cells is not None:
        place = replace(place, cells=statement.place.cells, cells_origin="carried")
    if place.layer is None and place.cells is not None and statement.place.layer is not None:
        place = replace(place, layer=statement.place.layer, layer_origin="carried")
    if request.color is None and statement.color is not None:
        origins["color"] = "carried"
    if request.size is None and statement.size is not None:
        origins["size"] = "carried"
    old = request.old if request.old and any(request.old) else statement.old or request.old
    return replace(request, color=request.color or statement.color, size=request.size or statement.size, place=place, old=old,
                   also=request.also | statement.told_in(), origins=origins)  # fmt: skip


def _explained(statement: Draft, removal: Draft) -> bool:
    """Whether ``because the top block must go`` gives the reason for the removal that is asked for."""
    return (
        statement.verb == "remove"
        and not statement.explicit
        and _agree(statement.color, removal.color)
        and _overlap(statement.place.cells, removal.place.cells)
    )


def _demote_replacement(result: list[Draft], removal: Draft) -> None:
    """After an explicit removal of the old block only the placing is left of ``A should be B``."""
    for draft in result:
        stated = not draft.explicit and draft.verb == "replace" and draft.old is not None and _agree(draft.old[0], removal.color)
        if stated and _overlap(draft.place.cells, removal.place.cells):
            draft.verb, draft.old = "place", None


def _without_taken_up(drafts: list[Draft]) -> list[Draft]:
    """Leave out observations whose content an instruction repeats, and drafts that say nothing."""
    instructions = [draft for draft in drafts if draft.verb in INSTRUCTIONS]
    return [draft for draft in drafts if not (_is_empty(draft) or (draft.droppable and _is_taken_up(draft, instructions)))]


def _is_empty(draft: Draft) -> bool:
    return draft.color is None and draft.size is None and draft.place.cells is None and draft.place.layer is None and not draft.whole


def _is_taken_up(observation: Draft, instructions: Sequence[Draft]) -> bool:
    for draft in instructions:
        if observation.color is None and _overlap(observation.place.cells, draft.place.cells) and draft.place.cells is not None:
            return True
        if observation.color is not None and draft.verb == "remove" and draft.color == observation.color:
            return True
        if draft.old is not None and observation.color is not None and draft.old[0] == observation.color:
            return True
    return False


def _once(drafts: Sequence[Draft]) -> list[Draft]:
    kept: list[Draft] = []
    for draft in drafts:
        twin = next((other for other in kept if _repeats(other, draft)), None)
        if twin is None:
            kept.append(draft)
            continue
        kept[kept.index(twin)] = replace(_filled(twin, draft), first=twin.first or draft.first, explicit=twin.explicit or draft.explicit)
    return kept


def _repeats(one: Draft, other: Draft) -> bool:
    return (
        one.verb == other.verb
        and one.color == other.color
        and _agree(one.size, other.size)
        and _same_cells(one, other)
        and _agree(one.place.layer, other.place.layer)
        and one.old == other.old
    )


def _same_cells(one: Draft, other: Draft) -> bool:
    """Whether two requests name the same cells, or one of them repeats the other without naming any."""
    if one.place.cells is None or other.place.cells is None:
        return one.color is not None and one.verb in INSTRUCTIONS
    return one.place.cells == other.place.cells


def _first_of(drafts: Sequence[Draft]) -> Draft | None:
    instructions = [draft for draft in drafts if draft.verb in INSTRUCTIONS]
    if not instructions:
        return None
    return min(instructions, key=lambda draft: (draft.later, not draft.first, draft.foreign, not draft.explicit))


def _claim(draft: Draft, *, first: bool) -> Claim:
    place = draft.place
    origins: dict[str, Origin] = {}
    if draft.color is not None:
        origins["color"] = draft.origins.get("color", "stated")
    if draft.size is not None:
        origins["size"] = draft.origins.get("size", "stated")
    if place.cells is not None:
        origins["cells"] = place.cells_origin
    if place.layer is not None:
        origins["layer"] = place.layer_origin
    old = draft.old
    return Claim(
        verb=cast("Verb", draft.verb),
        color=cast("Color | None", draft.color),
        size=cast("Size | None", draft.size),
        cells=place.cells,
        layer=cast("Layer | None", place.layer),
        first=first,
        old=BlockType(color=cast("Color | None", old[0]), size=cast("Size | None", old[1])) if old is not None else None,
        start=draft.start,
        end=draft.end,
        origins=origins,
        told_in=draft.told_in(),
    )
