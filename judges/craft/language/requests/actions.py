"""Actions to drafts: what is to be placed, removed, replaced, moved or kept."""

from __future__ import annotations

from dataclasses import replace

from judges.craft.language.clauses.clauses import Clause
from judges.craft.language.clauses.groups import Group, joined, listed, with_block
from judges.craft.language.places.places import PointedAt
from judges.craft.language.requests.drafts import Draft, DraftBook, Manner
from judges.craft.language.words.items import Stretch

__all__ = ["Actions"]


class Actions:
    """Reads the clauses whose predicate is an action."""

    def __init__(self, book: DraftBook) -> None:
        self.book = book

    def read(self, clause: Clause) -> None:
        """Append the drafts of one clause with an action."""
        assert clause.predicate is not None
        verb, groups = clause.predicate.value, self._objects(clause)
        reported = clause.kind == "act_ed" and clause.predicate.number is None and "if" not in clause.marks
        if clause.denied:
            self._forbidden(clause, verb, groups)
        elif reported:
            for group in groups:
                self.book.add(clause, "confirm", group, Manner(droppable=True))
        elif verb == "place" and any(item.kind == "off" or item.value == "out" for item in clause.body):
            self._remove(clause, groups)  # "pop it off", "get it out of there"
        else:
            getattr(self, f"_{verb}")(clause, groups)

    def _place(self, clause: Clause, groups: list[Group]) -> None:
        if any(group.refers for group in groups) and not any(group.block for group in groups):
            self._place_it(clause, groups)
            return
        if not any(group.block for group in groups):
            self.book.note(clause, groups, "plain")
        for group in listed(groups, clause.subject_groups(), personal=True):
            if group.block is not None:
                self.book.add(clause, "place", group)
            elif group.layers or group.same_layer:
                self._finish_layer(clause, group)

    def _pass(self, clause: Clause, groups: list[Group]) -> None:
        """Read ``skip the middle``: a place that nothing is to be done with."""

    def _keep(self, clause: Clause, groups: list[Group]) -> None:
        named = [group for group in groups if group.block is not None]
        if not named:
            self.book.note(clause, groups, "complaint")
        for group in listed(named, clause.subject_groups(), personal=True):
            self.book.add(clause, "keep", group)

    def _cap(self, clause: Clause, groups: list[Group]) -> None:
        """Read ``cap the yellow block with a red one``: the new block goes on top of what is named first."""
        below = next((group for group in groups if group.role == "main"), None)
        new = next((group for group in groups if group.role == "with" and group.block is not None), None)
        if new is None:
            self._place(clause, groups)
        elif below is None or below.block is None:
            self.book.add(clause, "place", joined(new, [replace(below, top_of=not below.layers)] if below is not None else []))
        else:
            places = new.places or below.places
            self.book.add(clause, "place", replace(new, relation="on_top", places=places, anchor=below.block, anchor_layers=below.layers))

    def _fix(self, clause: Clause, groups: list[Group]) -> None:
        self.book.note(clause, groups, "complaint")
        if not any(group.has_place for group in groups):
            self.book.point(clause, "replace")

    def _objects(self, clause: Clause) -> list[Group]:
        body, subject = clause.groups(), clause.subject_groups()
        if clause.passive or (clause.predicate is not None and clause.predicate.value == "keep" and not any(g.block for g in body)):
            named = [group for group in subject if not group.is_blank]
            own = [group for group in body if group.role == "main"]
            return [*(joined(group, own) for group in named), *(group for group in body if group not in own)] if named else body
        if not body and self._follows_object(clause):
            return [group for group in subject if group.block is not None and group.block.color]
        fronted = [group for group in subject if group.block is None and (group.places or group.layers or group.relation)]
        if fronted and body:
            return [joined(body[0], fronted), *body[1:]]
        return body

    @staticmethod
    def _follows_object(clause: Clause) -> bool:
        """Tell the verb of ``red block, middle, top: remove``."""
        named = clause.predicate is not None and clause.kind == "act_base" and clause.predicate.value in ("remove", "keep", "place")
        return named and bool(clause.subject) and clause.subject[-1].kind == "comma" and not clause.personal

    def _forbidden(self, clause: Clause, verb: str, groups: list[Group]) -> None:
        if verb in ("remove", "replace", "move") and not clause.personal and "needless" not in clause.marks:
            for group in groups[:1]:
                if group.block is not None:
                    self.book.add(clause, "keep", group)
        elif verb == "place" and groups and all(group.refers and not group.has_place and group.block is None for group in groups):
            self.book.hold_back(clause)  # "but do not place it yet"
        else:
            self.book.note(clause, groups, "plain")
            self.book.name(clause, groups)

    def _finish_layer(self, clause: Clause, group: Group) -> None:
        """Read ``... to finish that row``: the layer of the request that stands before it."""
        asked = self.book.drafts[-1] if self.book.drafts else None
        if asked is None or asked.sentence != clause.sentence or asked.verb != "place" or asked.place.layer is not None:
            return
        layer = next((item.number for item in group.layers), self.book.layer_before)
        asked.place = replace(asked.place, layer=layer, layer_origin="carried")

    def _remove(self, clause: Clause, groups: list[Group]) -> None:
        if not groups and (clause.kind == "act_ing" or clause.passive):
            groups = [Group(refers=True)]  # "ask for removal", "is a mistake to be removed"
        for group in listed(groups, clause.subject_groups(), personal=True):
            if group.refers and group.block is None and not group.relation:
                wished = bool(self.book.drafts) and self.book.drafts[-1].verb == "place"
                if (clause.kind == "act_ing" or "first" in clause.marks or wished) and self._removal_again(clause):
                    continue
                seen = self.book.last_standing(clause) or self.book.last_seen(clause, any_source=True)
                if seen is not None:
                    self.book.take_up(seen)
                    self.book.append(replace(seen, verb="remove", explicit=True, droppable=False, old=None, sentence=clause.sentence,
                                         also=seen.told_in(), end=clause.end, first=False))  # fmt: skip
                    continue
                if self._remove_complained(clause):
                    continue
            if group.block is None and not group.has_place and not group.top_of and not group.whole:
                continue
            self.book.add(clause, "remove", group)

    def _remove_complained(self, clause: Clause) -> bool:
        """Read ``my target does not show the red block on the left, so remove it``."""
        focus = self.book.scene.focus
        if focus.source != "complaint" or focus.color is None or clause.sentence - focus.sentence > 1:
            return False
        place = PointedAt(focus.cells, focus.layer, "carried", "carried")
        self.book.append(Draft(verb="remove", start=clause.start, end=clause.end, color=focus.color, size=focus.size, place=place,
                                sentence=clause.sentence, origins={"color": "carried", "size": "carried"}))  # fmt: skip
        return True

    def _removal_again(self, clause: Clause) -> bool:
        """Read ``removing it comes first``: a remark on a removal asked for before."""
        asked = [draft for draft in self.book.drafts if draft.verb == "remove"]
        if asked and "first" in clause.marks:
            asked[-1].first = True
        return bool(asked)

    def _replace(self, clause: Clause, groups: list[Group]) -> None:
        olds = [group for group in groups if group.role == "main"]
        news = [group for group in groups if group.role == "with"]
        olds = olds or [group for group in clause.subject_groups() if group.block is not None and group.block.color]
        if not news:
            if olds and olds[0].block is None:
                self.book.point(clause, "replace")
            elif olds:
                self._add_replacement(clause, olds[0], Group())
            return
        self._add_replacement(clause, olds[0] if olds else Group(refers=True), news[0])
        for other in news[1:]:
            if other.block is not None:
                self.book.add(clause, "place", other)

    def _add_replacement(self, clause: Clause, old: Group, new: Group) -> None:
        previous = self.book.drafts[-1] if self.book.drafts else None
        if previous is not None and previous.verb == "remove" and old.block is None and old.refers:
            group = new if new.has_place or new.relation else joined(new, [old])
            self.book.add(clause, "place", group, Manner(inherit=previous.place))  # "remove A and replace it with B" is two claims
            return
        seen = self.book.last_seen(clause) if old.block is None and not old.has_place else None
        if seen is not None:
            self.book.take_up(seen)
        group, inherit = self._place_of_new(clause, old, new, seen)
        there = old.block or seen
        now = (there.color, there.size) if there is not None else (None, None)
        self.book.add(clause, "replace", group, Manner(old=now, inherit=inherit))

    def _place_of_new(self, clause: Clause, old: Group, new: Group, seen: Draft | None) -> tuple[Group, PointedAt | None]:
        """Give the new block's group with the layer of the old one, and the place it takes over if it names none."""
        if new.has_place or new.relation:
            layers = new.layers or old.layers
            if not layers and seen is not None and seen.place.layer is not None:
                layers = [Stretch(kind="layer", start=seen.start, end=seen.end, number=seen.place.layer)]
            return replace(new, layers=layers), (seen.place if seen is not None else None)
        group = joined(new, [old])
        if seen is not None or group.has_place or group.relation:
            return group, seen.place if seen is not None else None
        return group, self.book.mentioned(clause, old) or self.book.place_in_focus(clause) or self.book.described(old)

    def _move(self, clause: Clause, groups: list[Group]) -> None:
        source = next((group for group in groups if group.role == "main" and group.block is not None), None)
        if source is None and groups and groups[-1].block is not None and any(group.role == "from" for group in groups):
            source = Group(block=groups[-1].block)
            groups[-1] = replace(groups[-1], block=None)  # "from the left to the right: the red block"
        goal = next((group for group in groups if group.role == "with" and (group.has_place or group.relation)), None)
        if source is None:
            if goal is None and self.book.drafts and not self.book.drafts[-1].explicit:
                self.book.point(clause, "move")  # "A should be in the middle. Move it over."
            elif groups and groups[0].refers:
                seen = self.book.last_seen(clause, any_source=True)
                if seen is not None:
                    self._move_seen(clause, seen, goal)
            else:
                self.book.note(clause, groups, "plain")
            return
        origin = next((group for group in groups if group.role == "from"), None)
        leaving = joined(source, [origin]) if origin is not None else source
        self.book.add(clause, "remove", leaving)
        self.book.drafts[-1].moved = True
        if goal is not None:
            self.book.add(clause, "place", with_block(goal, source.block))
            self.book.drafts[-1].moved = True

    def _move_seen(self, clause: Clause, seen: Draft, goal: Group | None) -> None:
        self.book.take_up(seen)
        block = Stretch(kind="block", start=seen.start, end=clause.end, color=seen.color, size=seen.size)
        self.book.add(clause, "remove", Group(block=block), Manner(inherit=seen.place))
        self.book.drafts[-1].moved = True
        if goal is not None:
            self.book.add(clause, "place", with_block(goal, block))
            self.book.drafts[-1].moved = True

    def _place_it(self, clause: Clause, groups: list[Group]) -> None:
        """Read ``place that there``, ``add those``: the earlier statements are what is asked for."""
        target = next((group for group in groups if group.places or group.layers), None)
        denied = self.book.denied if self.book.denied is not None and self.book.denied.sentence == clause.sentence else None
        last = self.book.drafts[-1] if self.book.drafts and self.book.drafts[-1].verb in ("remove", "other") else None
        seen = denied or last
        if target is not None and seen is not None and seen.color:
            block = Stretch(kind="block", start=clause.start, end=clause.end, color=seen.color, size=seen.size)
            self.book.add(clause, "place", with_block(target, block))
            return
        asked = self.book.drafts[-1] if self.book.drafts else None
        if target is not None and asked is not None and asked.verb == "place" and asked.place.cells is None and not asked.pointing:
            place = self.book.scene.place_of(target, "place")  # "I need a red block. Put it on the left."
            asked.place = replace(place, layer=asked.place.layer if place.layer is None else place.layer)
        self.book.point(clause, "place")
