"""Clauses to drafts of claims: what each predicate does with its subject and its groups."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from judges.craft.language.clauses import Clause, Group
from judges.craft.language.items import Item
from judges.craft.language.model import Origin
from judges.craft.language.places import Focus, Place, Scene

__all__ = ["Draft", "DraftWriter"]


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
    place: Place = field(default_factory=Place)
    count: int | None = None
    old: tuple[str | None, str | None] | None = None
    first: bool = False
    later: bool = False
    """Put off by ``before``: carried out after the others."""

    droppable: bool = False
    """An observation that is left out when a request takes its content up."""

    pointing: bool = False
    """Names no block of its own: ``fix that``, ``add those``."""

    sentence: int = 0
    moved: bool = False
    whole: bool = False
    origins: dict[str, Origin] = field(default_factory=dict)


class DraftWriter:
    """Writes the drafts of one text, clause after clause, keeping track of what was spoken of last."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.drafts: list[Draft] = []
        self._before_seen = Focus()
        self._layer_before: int | None = None

    def read(self, clause: Clause) -> None:
        """Append the drafts of one clause."""
        before = len(self.drafts)
        if "if" in clause.marks and not clause.personal:
            return
        if clause.kind.startswith("act"):
            self._act(clause)
        elif clause.kind:
            getattr(self, f"_{clause.kind}")(clause)
        else:
            self._bare(clause)
        if "first" in clause.marks:
            for draft in self.drafts[before:]:
                draft.first = draft.verb not in ("other", "confirm", "ask")
        if "purpose" in clause.marks:
            self.drafts[before:] = [draft for draft in self.drafts[before:] if draft.place.cells is not None or draft.pointing]
        if "because" in clause.marks:
            for draft in self.drafts[before:]:
                draft.explicit = False
        if "before" in clause.marks:
            for draft in self.drafts[before:]:
                draft.later = True

    # -- predicates ---------------------------------------------------------------------------------------------------

    def _act(self, clause: Clause) -> None:
        assert clause.predicate is not None
        verb = clause.predicate.value
        groups = self._objects(clause)
        if clause.denied:
            self._forbidden(clause, verb, groups)
        elif clause.kind == "act_ed" and clause.predicate.number is None and "if" not in clause.marks:
            for group in groups:
                self._add(clause, "confirm", group, droppable=True)
        elif verb == "move":
            self._move(clause, groups)
        elif verb == "replace":
            self._replace(clause, groups)
        elif verb == "fix":
            self._note(clause, groups, "complaint")
            if not any(group.has_place for group in groups):
                self._point(clause, "replace")
        elif verb == "place" and any(group.refers for group in groups) and not any(group.block for group in groups):
            self._place_it(clause, groups)
        elif verb == "keep" and not any(group.block for group in groups):
            self._note(clause, groups, "complaint")
        elif verb == "remove":
            self._remove(clause, groups)
        else:
            for group in _listed(groups, clause.subject_groups(), personal=True):
                if group.block is not None:
                    self._add(clause, verb, group)
                elif group.layers or group.same_layer:
                    self._finish_layer(clause, group)

    def _need(self, clause: Clause) -> None:
        if clause.denied:
            return
        body, subject = clause.groups(), clause.subject_groups()
        objects = [group for group in body if group.block is not None]
        if not objects:
            objects = [_joined(group, body) for group in subject if group.block is not None]
        elif subject:
            objects[0] = _joined(objects[0], subject)
        objects = _listed(objects, subject, personal=clause.personal)
        old = self._seen_here(clause, objects[0]) if objects else None
        for group in objects:
            if old is not None and group is objects[0]:
                self._take_up(old)
                self._add(clause, "replace", group, explicit=False, old=(old.color, old.size), inherit=old.place)
            else:
                self._add(clause, "place", group, explicit=False)
        if not objects:
            self._note(clause, [*subject, *body], "plain")

    def _should(self, clause: Clause) -> None:
        body, subject = clause.groups(), clause.subject_groups()
        if clause.denied:
            self._go_away(clause)
            return
        named = [group for group in subject if group.block is not None]
        objects = [group for group in body if group.block is not None and (group.block.color or group.block.size)]
        if not objects:
            for group in named:
                self._add(clause, "place", _joined(group, body), explicit=False)
            if not named:
                self._place_last(clause, body)
            return
        target = objects[0]
        earlier = self._last_seen(clause) if not named else None
        old: tuple[str | None, str | None] | None = None
        if named and named[0].block is not None and not (_is_bare(named[0].block) and not named[0].has_place):
            old = (named[0].block.color, named[0].block.size)
        elif earlier is not None:
            old = (earlier.color, earlier.size)
            self._take_up(earlier)
        if target.old is not None and target.old.kind == "block":
            old = (target.old.color, target.old.size)
        group = _joined(target, subject)
        inherit = earlier.place if earlier is not None else self._place_in_focus(clause)
        self._add(clause, "replace" if old else "place", group, explicit=False, old=old, inherit=inherit)
        for other in objects[1:]:
            self._add(clause, "place", other, explicit=False)

    def _state(self, clause: Clause) -> None:
        subject, body = clause.subject_groups(), clause.groups()
        if "question" in clause.marks and "ask" in clause.marks:
            for group in body[:1]:
                self._add(clause, "ask", group)
            return
        if len(subject) == 1 and len(body) == 1 and _is_bare(subject[0].block) and body[0].block is not None:
            subject, body = [replace_block(subject[0], body[0].block)], []
        blocks = [group for group in [*subject, *body] if group.block is not None]
        if clause.denied:
            self._note(clause, [*subject, *body], "complaint")
            return
        for group in blocks:
            others = body if group in subject else subject
            full = group if group.has_place and group.layers else _joined(group, [g for g in others if g.block is None])
            self._add(clause, "other", full, droppable=True)
        if not blocks:
            self._note(clause, [*subject, *body], "plain")

    def _confirm(self, clause: Clause) -> None:
        assert clause.predicate is not None
        if "cond" in clause.marks and clause.predicate.value == "remove":
            for group in clause.subject_groups():
                self._add(clause, "remove", _joined(group, clause.groups()))
                self.drafts[-1].first = True
            return
        if "cond" in clause.marks or clause.denied:
            self._note(clause, [*clause.subject_groups(), *clause.groups()], "complaint")
            return
        if not clause.subject_groups() and not clause.groups() and self._confirm_seen(clause):
            return
        if self._is_request_context(clause):
            return
        groups = [*clause.subject_groups(), *clause.groups()]
        for group in _listed(groups, [], personal=True):
            if group.block is not None or group.layers or group.places:
                self._add(clause, "confirm", group, droppable=group.block is None)

    def _confirm_seen(self, clause: Clause) -> bool:
        """Turn ``I see A, which matches`` into a confirmation; the talk goes on about what was spoken of before it."""
        seen = self.drafts[-1] if self.drafts else None
        if seen is None or seen.verb != "other" or seen.sentence != clause.sentence:
            return False
        seen.verb, seen.end = "confirm", clause.end
        self._scene.focus = self._before_seen
        return True

    def _is_request_context(self, clause: Clause) -> bool:
        """Tell ``to set it correctly`` behind a request from a confirmation of its own."""
        groups = [*clause.subject_groups(), *clause.groups()]
        return not any(group.block for group in groups) and bool(self.drafts) and self.drafts[-1].sentence == clause.sentence

    def _wrong(self, clause: Clause) -> None:
        subject, body = clause.subject_groups(), clause.groups()
        for group in [*subject, *body]:
            if group.block is not None and group.block.color:
                self._add(clause, "other", group, droppable=True)
                self._scene.focus = replace(self._scene.focus, source="complaint")
                return
        self._note(clause, [*subject, *body], "complaint")

    def _empty(self, clause: Clause) -> None:
        groups = [*clause.subject_groups(), *clause.groups()]
        wanted = [group for group in clause.groups() if group.block is not None and group.block.color and group.has_place]
        if wanted:
            for group in _listed(wanted, clause.subject_groups(), personal=True):
                self._add(clause, "place", group, explicit=False)
            return
        self._note(clause, groups, "complaint")
        for group in groups:
            if group.places or group.layers:
                self._add(clause, "other", replace_block(group, None), droppable=True)
                self._scene.focus = replace(self._scene.focus, source="complaint")

    def _go_away(self, clause: Clause) -> None:
        subject, body = clause.subject_groups(), clause.groups()
        named = [group for group in subject if group.block is not None]
        for group in named:
            self._add(clause, "remove", _joined(group, body), explicit=False)
        if not named and (not subject or subject[0].refers):
            seen = self._last_seen(clause)
            if seen is not None:
                self._take_up(seen)
                place = self._scene.place_of(body[0], "remove") if body and body[0].places else seen.place
                place = place if place.layer is not None else replace(place, layer=seen.place.layer)
                self._append(replace(seen, verb="remove", explicit=False, droppable=False, end=clause.end, place=place))

    def _belong(self, clause: Clause) -> None:
        subject, body = clause.subject_groups(), clause.groups()
        named = [group for group in [*subject, *body] if group.block is not None and (group.block.color or group.block.size)][:1]
        if not named:
            self._place_last(clause, body)
        for group in named:
            others = body if group in subject else subject
            self._add(clause, "place", _joined(group, others), explicit=False)

    def _place_last(self, clause: Clause, body: list[Group]) -> None:
        """Read ``... the block that belongs in my left corner``: the place of the block named just before."""
        last = self.drafts[-1] if self.drafts else None
        if last is None or last.sentence != clause.sentence or last.place.cells is not None or not body:
            return
        last.place, last.end = self._scene.place_of(body[0], last.verb), clause.end

    def _ensure(self, clause: Clause) -> None:
        for group in clause.groups():
            if group.block is None:
                continue
            place = self._scene.place_of(group, "keep")
            block = group.block
            there = place.cells is not None and self._scene.find(
                color=block.color, size=block.size, layer=place.layer, cells=place.cells[:1]
            )
            self._add(clause, "keep" if there else "place", group)

    def _bare(self, clause: Clause) -> None:
        groups = clause.groups()
        for group in groups:
            if group.block is not None and group.block.color and (group.has_place or group.relation) and not clause.marks & {"cond", "not"}:
                verb = "ask" if "ask" in clause.marks else "place"
                self._add(clause, verb, group, explicit=False)
            elif not clause.denied:
                self._note(clause, [group], "plain")

    # -- actions ------------------------------------------------------------------------------------------------------

    def _objects(self, clause: Clause) -> list[Group]:
        body, subject = clause.groups(), clause.subject_groups()
        if clause.passive or (clause.predicate is not None and clause.predicate.value == "keep" and not any(g.block for g in body)):
            named = [group for group in subject if not group.is_blank]
            own = [group for group in body if group.role == "main"]
            return [*(_joined(group, own) for group in named), *(group for group in body if group not in own)] if named else body
        fronted = [group for group in subject if group.block is None and (group.places or group.layers or group.relation)]
        if fronted and body:
            return [_joined(body[0], fronted), *body[1:]]
        return body

    def _finish_layer(self, clause: Clause, group: Group) -> None:
        """Read ``... to finish that row``: the layer of the request that stands before it."""
        asked = self.drafts[-1] if self.drafts else None
        if asked is None or asked.sentence != clause.sentence or asked.verb != "place" or asked.place.layer is not None:
            return
        layer = next((item.number for item in group.layers), self._layer_before)
        asked.place = replace(asked.place, layer=layer, layer_origin="carried")

    def _forbidden(self, clause: Clause, verb: str, groups: list[Group]) -> None:
        if verb in ("remove", "replace", "move") and not clause.personal and "needless" not in clause.marks:
            for group in groups[:1]:
                if group.block is not None:
                    self._add(clause, "keep", group)
        else:
            self._note(clause, groups, "plain")

    def _remove(self, clause: Clause, groups: list[Group]) -> None:
        for group in _listed(groups, clause.subject_groups(), personal=True):
            if group.refers and group.block is None and not group.relation:
                wished = bool(self.drafts) and self.drafts[-1].verb == "place"
                if (clause.kind == "act_ing" or "first" in clause.marks or wished) and self._removal_again(clause):
                    continue
                seen = self._last_seen(clause, any_source=True)
                if seen is not None:
                    self._take_up(seen)
                    self._append(replace(seen, verb="remove", explicit=True, droppable=False, old=None, sentence=clause.sentence,
                                         end=clause.end, first=False))  # fmt: skip
                    continue
            if group.block is None and not group.has_place and not group.top_of and not group.whole:
                continue
            self._add(clause, "remove", group)

    def _removal_again(self, clause: Clause) -> bool:
        """Read ``removing it comes first``: a remark on a removal asked for before."""
        asked = [draft for draft in self.drafts if draft.verb == "remove"]
        if asked and "first" in clause.marks:
            asked[-1].first = True
        return bool(asked)

    def _replace(self, clause: Clause, groups: list[Group]) -> None:
        olds = [group for group in groups if group.role == "main"]
        news = [group for group in groups if group.role == "with"]
        if not news and len(olds) > 1 and not olds[0].block:
            news, olds = olds[1:], olds[:1]
        if not news:
            if olds and olds[0].block is None:
                self._point(clause, "replace")
            elif olds:
                self._add_replacement(clause, olds[0], Group())
            return
        self._add_replacement(clause, olds[0] if olds else Group(refers=True), news[0])
        for other in news[1:]:
            if other.block is not None:
                self._add(clause, "place", other)

    def _add_replacement(self, clause: Clause, old: Group, new: Group) -> None:
        previous = self.drafts[-1] if self.drafts else None
        after_removal = previous is not None and previous.verb == "remove" and old.block is None and old.refers
        seen = self._last_seen(clause) if old.block is None and not old.has_place else None
        group = new if new.has_place or new.relation else _joined(new, [old])
        old_type: tuple[str | None, str | None] | None = None
        if old.block is not None:
            old_type = (old.block.color, old.block.size)
        elif seen is not None:
            old_type = (seen.color, seen.size)
        inherit = seen.place if seen is not None else None
        if inherit is None and not group.has_place and not group.relation and not old.there:
            inherit = self._mentioned(clause, old) or self._described(old) or self._place_in_focus(clause)
        if seen is not None:
            self._take_up(seen)
        if not group.layers and not after_removal and (new.has_place or new.relation):
            group = replace(group, layers=list(old.layers)) if old.layers or seen is None else self._with_layer(group, seen)
        self._add(clause, "place" if after_removal else "replace", group, old=None if after_removal else old_type or (None, None),
                  inherit=previous.place if after_removal and previous else inherit)  # fmt: skip

    @staticmethod
    def _with_layer(group: Group, seen: Draft) -> Group:
        """Give the replacement the layer of the block it takes the place of."""
        if seen.place.layer is None:
            return group
        return replace(group, layers=[Item(kind="layer", start=seen.start, end=seen.end, number=seen.place.layer)])

    def _move(self, clause: Clause, groups: list[Group]) -> None:
        source = next((group for group in groups if group.role == "main" and group.block is not None), None)
        goal = next((group for group in groups if group.role == "with" and (group.has_place or group.relation)), None)
        if source is None:
            if groups and groups[0].refers:
                seen = self._last_seen(clause, any_source=True)
                if seen is not None:
                    self._move_seen(clause, seen, goal)
            return
        origin = next((group for group in groups if group.role == "from"), None)
        leaving = _joined(source, [origin]) if origin is not None else source
        self._add(clause, "remove", leaving)
        self.drafts[-1].moved = True
        if goal is not None:
            self._add(clause, "place", replace_block(goal, source.block))
            self.drafts[-1].moved = True

    def _move_seen(self, clause: Clause, seen: Draft, goal: Group | None) -> None:
        self._take_up(seen)
        block = Item(kind="block", start=seen.start, end=clause.end, color=seen.color, size=seen.size)
        self._add(clause, "remove", Group(block=block), inherit=seen.place)
        self.drafts[-1].moved = True
        if goal is not None:
            self._add(clause, "place", replace_block(goal, block))
            self.drafts[-1].moved = True

    def _place_it(self, clause: Clause, groups: list[Group]) -> None:
        """Read ``place that there``, ``add those``: the earlier statements are what is asked for."""
        target = next((group for group in groups if group.places), None)
        seen = self.drafts[-1] if self.drafts else None
        if target is not None and seen is not None and seen.verb in ("remove", "other") and seen.color:
            block = Item(kind="block", start=clause.start, end=clause.end, color=seen.color, size=seen.size)
            self._add(clause, "place", replace_block(target, block))
            return
        self._point(clause, "place")

    def _point(self, clause: Clause, verb: str) -> None:
        self._append(Draft(verb=verb, start=clause.start, end=clause.end, pointing=True, sentence=clause.sentence))

    # -- drafts -------------------------------------------------------------------------------------------------------

    def _add(self, clause: Clause, verb: str, group: Group, *, explicit: bool = True, old: tuple[str | None, str | None] | None = None,
             inherit: Place | None = None, droppable: bool = False) -> None:  # fmt: skip
        block = group.block
        color, size = (block.color, block.size) if block is not None else (None, None)
        if not (color or size) and not group.has_place:
            if verb in ("other", "confirm", "ask") and not group.layers:
                return
            if verb == "place" and not group.relation and not group.layers and (block is None or not block.number):
                self._point(clause, verb)
                return
        origins: dict[str, Origin] = {}
        if block is not None and block.again and color is None:
            color = self._scene.focus.color
            origins["color"] = "carried"
            if size is None and block.size is None:
                size = self._scene.focus.size
                origins["size"] = "carried"
        place = self._scene.place_of(group, verb)
        if place.cells is None and inherit is not None:
            place = Place(inherit.cells, inherit.layer if place.layer is None else place.layer, "carried",
                          "carried" if place.layer is None else place.layer_origin)  # fmt: skip
        asking = verb in ("place", "remove", "keep", "replace") or (verb == "other" and place.layer is not None)
        if place.cells is None and asking and not group.places and not group.relation:
            place = self._carried(clause, verb, color, place)
        if verb in ("remove", "keep") and color:
            place, size = self._as_mentioned(clause, color, size, place, origins)
        if place.cells is None and verb in ("remove", "keep") and not group.places and color:
            found = self._scene.find(color=color, size=size, layer=place.layer)
            if found is not None:
                place = replace(place, cells=found.cells, cells_origin="resolved")
        if old is None and group.old is not None and group.old.kind == "block":
            old = (group.old.color, group.old.size)
            verb = "replace" if verb == "place" else verb
        if not explicit and place.layer is None and old is None:
            place = self._layer_of_sentence(clause, place)
        start, end = _span(clause, group)
        draft = Draft(verb=verb, start=start, end=end, explicit=explicit, color=color, size=size, place=place, old=old,
                      droppable=droppable, sentence=clause.sentence, origins=origins, whole=group.whole,
                      count=block.number if block is not None else None)  # fmt: skip
        self._append(draft)

    def _layer_of_sentence(self, clause: Clause, place: Place) -> Place:
        """Carry the layer of the observation that a wish of the same sentence stands against."""
        seen = self.drafts[-1] if self.drafts else None
        if seen is None or seen.sentence != clause.sentence or seen.verb != "other":
            return place
        return replace(place, layer=seen.place.layer, layer_origin="carried")

    def _as_mentioned(self, clause: Clause, color: str, size: str | None, place: Place,
                      origins: dict[str, Origin]) -> tuple[Place, str | None]:  # fmt: skip
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

    def _append(self, draft: Draft) -> None:
        self.drafts.append(draft)
        if draft.pointing:
            return
        if draft.verb == "confirm" and self._scene.focus.source in ("complaint", "plain"):
            return
        if draft.verb == "other":
            self._before_seen = self._scene.focus
        source = "observation" if draft.droppable else "instruction"
        self._layer_before = self._scene.focus.layer
        self._scene.focus = Focus(draft.place.cells, draft.place.layer, draft.color, draft.size, source, draft.sentence)

    def _carried(self, clause: Clause, verb: str, color: str | None, place: Place) -> Place:
        focus = self._scene.focus
        near = clause.sentence - focus.sentence <= 2
        same = focus.source == "observation" and verb == "remove" and color is not None and focus.color == color
        if any(not draft.explicit and draft.color == color and draft.place.cells for draft in self.drafts):
            return place  # the statement itself knows better where the block belongs
        if focus.cells is None or not near or not (focus.source in ("complaint", "plain") or same):
            return place
        layer = focus.layer if place.layer is None else place.layer
        return Place(focus.cells, layer, "carried", "carried" if place.layer is None else place.layer_origin)

    def _mentioned(self, clause: Clause, group: Group) -> Place | None:
        """Give the place at which the last sentences saw the block of the group."""
        if group.block is None or not group.block.color:
            return None
        stated = self._scene.place_of(group, "remove")
        place, _ = self._as_mentioned(clause, group.block.color, group.block.size, stated, {})
        return place if place.cells is not None else None

    def _described(self, group: Group) -> Place | None:
        """Give the place of a block that is described and stands only once on the speaker's wall."""
        if group.block is None or not group.block.color:
            return None
        stated = self._scene.place_of(group, "remove")
        found = self._scene.find(color=group.block.color, size=group.block.size, layer=stated.layer)
        if found is None:
            return None
        return Place(found.cells, stated.layer, "resolved")

    def _place_in_focus(self, clause: Clause) -> Place | None:
        focus = self._scene.focus
        if focus.cells is None or clause.sentence - focus.sentence > 1 or focus.source == "instruction":
            return None
        return Place(focus.cells, focus.layer)

    def _note(self, clause: Clause, groups: list[Group], source: str) -> None:
        """Remember the place that a clause speaks of without asking for anything."""
        for group in groups:
            place = self._scene.place_of(group, "other")
            only_listing = any(item.kind == "listing" for item in group.places)
            if place.cells is None or only_listing:
                continue
            block = group.block
            self._scene.focus = Focus(place.cells, place.layer, block.color if block else None, block.size if block else None,
                                      source, clause.sentence)  # fmt: skip

    def _seen_here(self, clause: Clause, group: Group) -> Draft | None:
        """Give the block that was just seen where another one is needed: ``I see A where I need B``."""
        seen = self._last_seen(clause)
        if seen is None or seen.sentence != clause.sentence:
            return None
        referring = group.there or any(item.kind == "where" for item in clause.subject) or "instead" in clause.marks
        return seen if referring and seen.color is not None else None

    def _last_seen(self, clause: Clause, *, any_source: bool = False) -> Draft | None:
        for draft in reversed(self.drafts):
            if clause.sentence - draft.sentence > 1:
                return None
            if draft.verb == "other" or (any_source and not draft.pointing and draft.verb != "remove"):
                return draft if draft.color or draft.size or draft.place.cells else None
            if not any_source:
                return None
        return None

    def _take_up(self, draft: Draft) -> None:
        if draft in self.drafts and draft.verb in ("other",):
            self.drafts.remove(draft)


def _is_bare(block: Item | None) -> bool:
    return block is not None and not (block.color or block.size)


def replace_block(group: Group, block: Item | None) -> Group:
    """Give a copy of the group that speaks of another block."""
    return replace(group, block=block)


def _under(head: Group, group: Group) -> Group:
    """Give a group of an enumeration the size and the layer that its heading states: ``two small blocks: ...``."""
    block = group.block
    if block is not None and head.block is not None and block.size is None:
        block = replace(block, size=head.block.size)
    return replace(group, block=block, layers=group.layers or head.layers)


def _listed(groups: list[Group], subject: list[Group], *, personal: bool) -> list[Group]:
    """Share the layer and the wall within an enumeration: ``A on the left and B on the right of my top layer``."""
    colored = [group for group in groups if group.block is not None and group.block.color]
    head = groups[0] if groups else None
    if head is not None and head.block is not None and not head.block.color and head.block.number in (2, 3) and len(colored) > 1:
        groups = [_under(head, group) for group in groups[1:]]
    stated = [group.layers for group in [*groups, *subject] if group.layers and not group.relation and not group.director]
    owners = [] if personal else [group.director for group in subject if group.director is not None]
    shared: list[Group] = []
    for group in groups:
        apart = group.layers or group.relation or group.there or group.director or group.top_of or not stated or len(groups) == 1
        layers = group.layers if apart else stated[0]
        mid = any(item.kind == "middle_side" for item in group.places)
        shared.append(replace(group, layers=group.layers if mid else layers, director=group.director or (owners[0] if owners else None)))
    return shared


def _joined(group: Group, others: list[Group]) -> Group:
    """Give a copy of a group with the places of the others where it has none."""
    places, layers, director = list(group.places), list(group.layers), group.director
    joined = replace(group)
    for other in others:
        if not places:
            places = list(other.places)
            director = director or other.director
            joined.there = joined.there or other.there
            joined.rest = joined.rest or other.rest
        layers = layers or list(other.layers)
        joined.relation = joined.relation or other.relation
        joined.anchor = joined.anchor or other.anchor
        joined.top_of = joined.top_of or other.top_of
        joined.old = joined.old or other.old
        joined.refers = joined.refers or (other.refers and group.block is None)
    joined.places, joined.layers, joined.director = places, layers, director
    return joined


def _span(clause: Clause, group: Group) -> tuple[int, int]:
    own = [item for item in (group.block, group.anchor, *group.places, *group.layers) if item is not None]
    starts = [item.start for item in own] + ([clause.predicate.start] if clause.predicate else [])
    ends = [item.end for item in own] + ([clause.predicate.end] if clause.predicate else [])
    return (min(starts), max(ends)) if starts else (clause.start, clause.end)
