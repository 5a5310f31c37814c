"""Drafts of claims, and the book that holds them together with what was mentioned last; at the end it settles which claims come of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from judges.craft.language.clauses import Clause, Group
from judges.craft.language.places import Focus, PointedAt, Scene
from judges.craft.language.vocabulary import INSTRUCTIONS, BlockType, Claim, Color, Layer, Origin, Size, Verb

_PAIR = 2
_MEMORY = 2
"""Sentences over which a place spoken of is still meant when none is named."""


@dataclass
class Draft:
    """A claim in the making."""

    verb: str
    start: int
    end: int
    explicit: bool = True
    """A request, not a statement of what should be."""
    color: str | None = None
    size: str | None = None
    place: PointedAt = field(default_factory=PointedAt)
    old: tuple[str | None, str | None] | None = None
    first: bool = False
    later: bool = False
    """Put off by ``before``: carried out after the others."""
    droppable: bool = False
    """An observation that is left out when a request takes its content up."""
    tentative: bool = False
    """A block without a place; a request only if the next words say where it goes."""
    pointing: bool = False
    """Names no block of its own: ``fix that``, ``add those``."""
    sentence: int = 0
    until: int = -1
    """Last sentence that added to the claim; before any did, its own sentence counts."""
    also: frozenset[int] = frozenset()
    """Other sentences whose words went into the claim."""
    foreign: bool = False
    """What another director needs; comes after the speaker's own requests."""
    moved: bool = False
    whole: bool = False
    origins: dict[str, Origin] = field(default_factory=dict)

    def reached(self) -> int:
        """Give the sentence up to which the claim was spoken of."""
        return max(self.sentence, self.until)

    def clause_numbers(self) -> frozenset[int]:
        """Give all sentences whose words went into the claim."""
        return self.also | {self.sentence, self.reached()}


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How a clause speaks of a block."""

    explicit: bool = True
    """As a request; else as a statement of what should be."""
    old: tuple[str | None, str | None] | None = None
    """Colour and size of the block that is there now."""
    inherit: PointedAt | None = None
    """The place to be taken over if the words name none."""
    droppable: bool = False
    """As an observation."""


class DraftBook:
    """The drafts of one text in text order; writes new ones, filling from earlier sentences what the words leave open."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.drafts: list[Draft] = []
        self.before_seen = Focus()
        """What was spoken of before the last observation."""

        self.denied: Focus | None = None
        """The block that is not to be placed named by a clause, or not to be touched."""

        self.layer_before: int | None = None
        """The layer spoken of before the last draft."""

    def add(self, clause: Clause, verb: str, group: Group, how: Manner | None = None) -> None:
        """Append a draft about one group; without block, place and layer nothing or only a pointer is written."""
        how = how or Manner()
        if group.block is not None and group.block.absent:
            self.note(clause, [group], "complaint")
            return
        if self._is_blank(clause, verb, group):
            return
        color, size, origins = self._type_of(group)
        place = self._place_for(clause, verb, group, color, how)
        if verb in ("remove", "keep") and color:
            place, size = self._as_mentioned(clause, color, size, place, origins)
            if place.cells is None and not group.places:
                found = self.scene.find(color=color, size=size, layer=place.layer)
                place = replace(place, cells=found.cells, cells_origin="resolved") if found is not None else place
        old = how.old
        if old is None and group.old is not None and group.old.kind == "block":
            corrected = group.corrects and how.explicit
            old, verb = (group.old.color, group.old.size), "replace" if verb == "place" and not corrected else verb
            old = None if corrected else old
        if not how.explicit and place.layer is None and old is None:
            place = self._layer_of_sentence(clause, place)
        start, end = _span(clause, group)
        self.append(Draft(verb=verb, start=start, end=end, explicit=how.explicit, color=color, size=size, place=place, old=old,
                          droppable=how.droppable, sentence=clause.sentence, origins=origins, whole=group.whole))  # fmt: skip

    def _is_blank(self, clause: Clause, verb: str, group: Group) -> bool:
        """Whether the group names no block and no place; ``add that one`` is stored as a reference to what was named before."""
        block = group.block
        if (block is not None and (block.color or block.size)) or group.has_place or group.layers:
            return False
        if verb in ("other", "confirm", "ask"):
            return True
        if verb == "place" and not group.relation and (block is None or not block.number):
            self.point(clause, verb)
            return True
        return False

    def _type_of(self, group: Group) -> tuple[str | None, str | None, dict[str, Origin]]:
        block = group.block
        if block is None:
            return None, None, {}
        if not block.again or block.color is not None:
            return block.color, block.size, {}
        focus = self.scene.focus  # "one", "another": the kind of block that was spoken of last
        if block.size is not None:
            return focus.color, block.size, {"color": "carried"}
        return focus.color, focus.size, {"color": "carried", "size": "carried"}

    def _place_for(self, clause: Clause, verb: str, group: Group, color: str | None, how: Manner) -> PointedAt:
        place = self.scene.place_of(group, verb)
        if place.cells is None and how.inherit is not None:
            place = _inherited(how.inherit, place)
        block = group.block
        asking = verb in ("place", "remove", "keep", "replace") or (verb == "other" and place.layer is not None)
        if place.cells is None and asking and not group.places and not group.relation:
            place = self._carried(clause, verb, color, place, one_small=block is not None and block.size == "s" and block.indefinite)
        return place

    def announce(self, clause: Clause, group: Group) -> None:
        """Append a block without a place; without a place in the next words it asks for nothing."""
        color, size, origins = self._type_of(group)
        start, end = _span(clause, group)
        draft = Draft(verb="place", start=start, end=end, explicit=False, color=color, size=size, sentence=clause.sentence, origins=origins)
        draft.place, draft.tentative = self.scene.place_of(group, "place"), True
        self.drafts.append(draft)

    def complete(self, clause: Clause, groups: list[Group], *, seen: bool = False) -> bool:
        """Fill what the last request leaves open with words that name only that; false if they say more or something else."""
        last = self.drafts[-1] if self.drafts else None
        if (
            last is None
            or clause.marks & {"then", "first"}
            or last.verb not in ("place", "replace", "remove", "other" if seen else "place")
            or last.pointing
            or not 0 <= clause.sentence - last.reached() <= 1
        ):
            return False
        if not groups or not all(self._fits_gap(last, group) for group in groups):
            return False
        for group in groups:
            place = self.scene.place_of(group, last.verb)
            if place.cells is not None:
                last.place = replace(last.place, cells=place.cells, cells_origin="carried")
            if place.layer is not None:
                last.place = replace(last.place, layer=place.layer, layer_origin="carried")
            if group.block is not None:
                last.color, last.size = last.color or group.block.color, last.size or group.block.size
        last.until = clause.sentence
        last.tentative = last.tentative and last.place.cells is None
        focus = self.scene.focus
        self.scene.focus = replace(focus, cells=last.place.cells, layer=last.place.layer, color=last.color, size=last.size,
                                   source="instruction", sentence=clause.sentence)  # fmt: skip
        return True

    def _fits_gap(self, last: Draft, group: Group) -> bool:
        """Whether a group states nothing that the request already states, and no block of its own."""
        if group.relation or group.there or group.refers or group.rest or group.whole or group.top_of or group.director or group.old:
            return False
        place = self.scene.place_of(group, last.verb)
        block = group.block
        if block is not None and (
            (block.color and last.color) or (block.size and last.size) or not (block.color or block.size) or block.absent
        ):
            return False
        open_cells = place.cells is None or last.place.cells is None
        open_layer = place.layer is None or last.place.layer is None
        informative = place.cells is not None or place.layer is not None or block is not None
        wide = place.cells is None or last.size != "l" or len(place.cells) > 1
        return informative and open_cells and open_layer and wide

    def append(self, draft: Draft) -> None:
        """Append a finished draft and remember what it spoke of."""
        self.drafts.append(draft)
        if draft.pointing:
            return
        if draft.verb == "confirm" and self.scene.focus.source in ("complaint", "plain"):
            return
        if draft.verb == "other":
            self.before_seen = self.scene.focus
        source = "observation" if draft.droppable else "instruction"
        self.layer_before = self.scene.focus.layer
        self.scene.focus = Focus(draft.place.cells, draft.place.layer, draft.color, draft.size, source, draft.sentence)

    def point(self, clause: Clause, verb: str) -> None:
        """Append a pointer: the statements before are what is asked for."""
        self.append(Draft(verb=verb, start=clause.start, end=clause.end, pointing=True, sentence=clause.sentence))

    def note(self, clause: Clause, groups: list[Group], source: str) -> None:
        """Remember the place that a clause speaks of without asking for anything."""
        for group in groups:
            place = self.scene.place_of(group, "other")
            only_listing = any(item.kind == "listing" for item in group.places)
            if place.cells is None or only_listing:
                continue
            block = group.block
            self.scene.focus = Focus(place.cells, place.layer, block.color if block else None, block.size if block else None,
                                      source, clause.sentence)  # fmt: skip

    def name(self, clause: Clause, groups: list[Group]) -> None:
        """Remember the block and the place of what is not to be done: ``don't remove the green block; build on top of it``."""
        block = groups[0].block if groups else None
        if block is None or not block.color:
            return
        place = self.described(groups[0])
        self.denied = Focus(None, None, block.color, block.size, "denied", clause.sentence)
        if place is not None and self.scene.place_of(groups[0], "remove").cells is None:
            found = self.scene.find(color=block.color, size=block.size, layer=place.layer, cells=place.cells)
            layer = found.layer if found is not None else place.layer
            self.scene.focus = Focus(place.cells, layer, block.color, block.size, "plain", clause.sentence)

    def take_up(self, draft: Draft) -> None:
        """Forget an observation whose content a request repeats."""
        if draft in self.drafts and draft.verb == "other":
            self.drafts.remove(draft)

    def last_seen(self, clause: Clause, *, any_source: bool = False) -> Draft | None:
        """Give the observation just before the clause, or with ``any_source`` whatever was spoken of."""
        for draft in reversed(self.drafts):
            if clause.sentence - draft.sentence > 1:
                return None
            if draft.verb == "other" or (any_source and not draft.pointing and draft.verb != "remove"):
                return draft if draft.color or draft.size or draft.place.cells else None
            if not any_source:
                return None
        return None

    def last_standing(self, clause: Clause) -> Draft | None:
        """Give the block seen on the board just before a wish for another one: what ``remove it`` then means."""
        if len(self.drafts) < _PAIR:
            return None
        seen, wished = self.drafts[-2:]
        near = clause.sentence - seen.sentence <= 1 and seen.verb == "other" and seen.color is not None
        return seen if near and wished.verb == "place" and not wished.explicit and wished.color != seen.color else None

    def hold_back(self, clause: Clause) -> None:
        """Turn the wish just stated into an observation."""
        last = self.drafts[-1] if self.drafts else None
        if last is not None and last.verb in ("place", "replace") and clause.sentence - last.sentence <= 1:
            last.verb, last.droppable, last.old = "other", True, None

    def seen_here(self, clause: Clause, group: Group) -> Draft | None:
        """Give the block that was just seen where another one is needed: ``I see A where I need B``."""
        seen = self.last_seen(clause)
        if seen is None or (seen.sentence != clause.sentence and "instead" not in clause.marks):
            return None
        compared = "target" in clause.marks and not (group.has_place or group.layers or group.relation)
        referring = compared or group.there or any(item.kind == "where" for item in clause.subject) or "instead" in clause.marks
        return seen if referring and seen.color is not None else None

    def mentioned(self, clause: Clause, group: Group) -> PointedAt | None:
        """Give the place at which the last sentences saw the block of the group."""
        if group.block is None or not group.block.color:
            return None
        stated = self.scene.place_of(group, "remove")
        place, _ = self._as_mentioned(clause, group.block.color, group.block.size, stated, {})
        return place if place.cells is not None else None

    def described(self, group: Group) -> PointedAt | None:
        """Give the place of a block that is described and occurs once on the speaker's wall."""
        if group.block is None or not group.block.color:
            return None
        stated = self.scene.place_of(group, "remove")
        found = self.scene.find(color=group.block.color, size=group.block.size, layer=stated.layer)
        if found is None:
            return None
        return PointedAt(found.cells, stated.layer, "resolved")

    def place_in_focus(self, clause: Clause) -> PointedAt | None:
        """Give the place that the sentence before spoke of without asking for anything."""
        focus = self.scene.focus
        if focus.cells is None or clause.sentence - focus.sentence > 1 or focus.source == "instruction":
            return None
        return PointedAt(focus.cells, focus.layer)

    def _carried(self, clause: Clause, verb: str, color: str | None, place: PointedAt, *, one_small: bool) -> PointedAt:
        focus = self.scene.focus
        near = clause.sentence - focus.sentence <= _MEMORY
        same = focus.source == "observation" and verb == "remove" and color is not None and focus.color == color
        if any(not draft.explicit and draft.color == color and draft.place.cells for draft in self.drafts):
            return place  # the statement itself knows better where the block belongs
        if focus.cells is None or not near or (one_small and len(focus.cells) > 1) or not (focus.source in ("complaint", "plain") or same):
            return place
        layer = focus.layer if place.layer is None else place.layer
        return PointedAt(focus.cells, layer, "carried", "carried" if place.layer is None else place.layer_origin)

    def _layer_of_sentence(self, clause: Clause, place: PointedAt) -> PointedAt:
        """Carry the layer of the observation that a wish of the same sentence contradicts."""
        seen = self.drafts[-1] if self.drafts else None
        if seen is None or seen.sentence != clause.sentence or seen.verb not in ("other", "confirm"):
            return place
        return replace(place, layer=seen.place.layer, layer_origin="carried")

    def _as_mentioned(self, clause: Clause, color: str, size: str | None, place: PointedAt,
                      origins: dict[str, Origin]) -> tuple[PointedAt, str | None]:  # fmt: skip
        """Fill place, layer and size from the last sentences if they spoke of the same block."""
        for draft in reversed(self.drafts):
            about = (draft.color, draft.size) if draft.verb == "other" else draft.old or (None, None)
            if clause.sentence - draft.sentence > 1 or about[0] != color or (size and about[1] and size != about[1]):
                continue
            cells, layer = draft.place.cells, draft.place.layer
            if place.cells is not None and (cells is None or set(place.cells) != set(cells)):
                continue
            if size is None and about[1] is not None:
                size, origins["size"] = about[1], "carried"
            if place.cells is None:
                place = replace(place, cells=cells, cells_origin="carried")
            if place.layer is None and layer is not None:
                place = replace(place, layer=layer, layer_origin="carried")
            break
        return place, size


def _inherited(earlier: PointedAt, own: PointedAt) -> PointedAt:
    if own.layer is not None:
        return PointedAt(earlier.cells, own.layer, "carried", own.layer_origin)
    return PointedAt(earlier.cells, earlier.layer, "carried", "carried")


def _span(clause: Clause, group: Group) -> tuple[int, int]:
    own = [item for item in (group.block, group.anchor, *group.places, *group.layers) if item is not None]
    starts = [item.start for item in own] + ([clause.predicate.start] if clause.predicate else [])
    ends = [item.end for item in own] + ([clause.predicate.end] if clause.predicate else [])
    return (min(starts), max(ends)) if starts else (clause.start, clause.end)


def settle(drafts: Sequence[Draft]) -> list[Claim]:
    """Merge, drop repetitions, and mark the first instruction."""
    merged = _merge([draft for draft in drafts if not draft.tentative])
    retained = _once(_without_taken_up(merged))
    first = _first_of(retained)
    return [_claim(draft, first=draft is first) for draft in retained]


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
    """Carry over to the request what only the statement has."""
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
                   also=request.also | statement.clause_numbers(), origins=origins)  # fmt: skip


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
    retained: list[Draft] = []
    for draft in drafts:
        twin = next((other for other in retained if _repeats(other, draft)), None)
        if twin is None:
            retained.append(draft)
            continue
        retained[retained.index(twin)] = replace(
            _filled(twin, draft), first=twin.first or draft.first, explicit=twin.explicit or draft.explicit
        )
    return retained


def _repeats(one: Draft, other: Draft) -> bool:
    return (
        one.verb == other.verb
        and one.color == other.color
        and _agree(one.size, other.size)
        and (
            one.color is not None and one.verb in INSTRUCTIONS
            if one.place.cells is None or other.place.cells is None
            else one.place.cells == other.place.cells
        )
        and _agree(one.place.layer, other.place.layer)
        and one.old == other.old
    )


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
        clause_numbers=draft.clause_numbers(),
    )
