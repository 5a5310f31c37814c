"""Clauses to drafts of claims.

Actions say what is to be placed, removed, replaced, moved or left; statements name needs, gaps, what is seen, what is right or wrong.
"""

from dataclasses import replace

from judges.craft.language.clauses import Clause, Group, is_bare, joined, listed, with_block
from judges.craft.language.drafts import Draft, DraftBook, Manner
from judges.craft.language.places import PointedAt
from judges.craft.language.vocabulary import Stretch


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
        """Read ``... to finish that row``: the layer of the request that is before it."""
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
                                         also=seen.clause_numbers(), end=clause.end, first=False))  # fmt: skip
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
                    self.book.take_up(seen)
                    block = Stretch(kind="block", start=seen.start, end=clause.end, color=seen.color, size=seen.size)
                    self.book.add(clause, "remove", Group(block=block), Manner(inherit=seen.place))
                    self.book.drafts[-1].moved = True
                    if goal is not None:
                        self.book.add(clause, "place", with_block(goal, block))
                        self.book.drafts[-1].moved = True
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


_UNSURE = frozenset(("cond", "not", "needless", "question", "ask", "if", "board"))
"""Marks of clauses that ask for nothing."""


class Statements:
    """Reads the clauses that ask for nothing in so many words."""

    def __init__(self, book: DraftBook) -> None:
        self.book = book

    def read(self, clause: Clause) -> None:
        """Append the drafts of one clause without an action."""
        getattr(self, f"_{clause.kind or 'bare'}")(clause)

    def _need(self, clause: Clause) -> None:
        if clause.denied:
            return
        body, subject = clause.groups(), clause.subject_groups()
        if not self._completes(clause, subject, body):
            self._needed(clause, subject, body)

    def _needed(self, clause: Clause, subject: list[Group], body: list[Group]) -> None:
        objects = [group for group in body if group.block is not None]
        if not objects:
            objects = [joined(group, body) for group in subject if group.block is not None]
        elif subject:
            objects[0] = joined(objects[0], subject)
        relative = any(item.kind == "where" for item in clause.subject) and not self._is_foreign(clause, subject)
        if objects and relative and not objects[0].has_place and not objects[0].relation:
            objects[0] = replace(objects[0], there=True)  # "the far right, where I expect a red one"
        objects = listed(objects, subject, personal=clause.personal)
        written = len(self.book.drafts)
        old = self.book.seen_here(clause, objects[0]) if objects else None
        for group in objects:
            if is_bare(group.block) and group.block is not None and (not group.block.number or "target" in clause.marks):
                self.book.note(clause, [group], "complaint")
                continue
            if old is not None and group is objects[0]:
                self.book.take_up(old)
                self.book.add(clause, "replace", group, Manner(explicit=False, old=(old.color, old.size), inherit=old.place))
            else:
                self.book.add(clause, "place", group, Manner(explicit=False))
        if not objects:
            self.book.note(clause, [*subject, *body], "plain")
        if self._is_foreign(clause, subject):  # what another director needs somewhere is not a request of the speaker
            self.book.drafts[written:] = [replace(draft, foreign=True) for draft in self.book.drafts[written:] if draft.place.cells]

    def _is_foreign(self, clause: Clause, subject: list[Group]) -> bool:
        """Whether another director is the one who needs something."""
        speaker = int(self.book.scene.speaker[1])
        owners = [group.director for group in subject if group.director is not None and group.director.kind == "director"]
        return bool(owners) and not clause.personal and all(owner.number != speaker for owner in owners)

    def _should(self, clause: Clause) -> None:
        body, subject = clause.groups(), clause.subject_groups()
        if clause.denied:
            self._go_away(clause, leaving=True)
            return
        if not self._completes(clause, subject, body):
            self._should_be(clause, subject, body)

    def _should_be(self, clause: Clause, subject: list[Group], body: list[Group]) -> None:
        named = [group for group in subject if group.block is not None]
        objects = [group for group in body if group.block is not None and (group.block.color or group.block.size)]
        if not objects:
            for group in named:
                self.book.add(clause, "place", joined(group, body), Manner(explicit=False))
            if not named:
                self._place_last(clause, body)
            return
        target = objects[0]
        earlier = self.book.last_seen(clause) if not named else None
        old: tuple[str | None, str | None] | None = None
        if named and named[0].block is not None and not (is_bare(named[0].block) and not named[0].has_place):
            old = (named[0].block.color, named[0].block.size)
        elif earlier is not None and not self._is_elsewhere(joined(target, subject), earlier):
            old = (earlier.color, earlier.size) if earlier.color else None
            self.book.take_up(earlier)
        if target.old is not None and target.old.kind == "block":
            old = (target.old.color, target.old.size)
        group = joined(target, subject)
        inherit = replace(earlier.place, relative=False) if earlier is not None else self.book.place_in_focus(clause)
        self.book.add(clause, "replace" if old else "place", group, Manner(explicit=False, old=old, inherit=inherit))
        for other in objects[1:]:
            self.book.add(clause, "place", other, Manner(explicit=False))

    def _completes(self, clause: Clause, subject: list[Group], body: list[Group]) -> bool:
        """Read ``that would be on the third level`` and ``it lives in the left cell``: what the request before left open."""
        if (
            clause.marks & {"not", "needless", "question", "ask", "cond", "board"}
            or not body
            or any(group.block for group in (*subject, *body))
        ):
            return False
        return len(subject) == 1 and subject[0].refers and not subject[0].has_place and self.book.complete(clause, body, seen=True)

    def _is_elsewhere(self, group: Group, earlier: Draft) -> bool:
        """Whether what should be is stated for another layer or other cells than what was seen."""
        stated, seen = self.book.scene.place_of(group, "place"), earlier.place
        other_layer = None not in (stated.layer, seen.layer) and stated.layer != seen.layer
        return other_layer or (bool(stated.cells and seen.cells) and not set(stated.cells or ()) & set(seen.cells or ()))

    def _state(self, clause: Clause) -> None:
        subject, body = clause.subject_groups(), clause.groups()
        if "target" in clause.marks and "board" not in clause.marks and not clause.denied and "question" not in clause.marks:
            self._need(clause)
            return
        if "question" in clause.marks and "ask" in clause.marks:
            for group in body[:1]:
                self.book.add(clause, "ask", group)
            return
        if self._completes(clause, subject, body):
            return
        if self._introduces(clause, subject, body):
            self.book.add(clause, "place", joined(body[0], body[1:]), Manner(explicit=False))
            return
        if len(subject) == 1 and len(body) == 1 and is_bare(subject[0].block) and body[0].block is not None:
            subject, body = [with_block(subject[0], body[0].block)], []
        blocks = [group for group in [*subject, *body] if group.block is not None]
        if clause.denied:
            self.book.note(clause, [*subject, *body], "complaint")
            return
        for group in blocks:
            others = body if group in subject else subject
            full = group if group.has_place and group.layers else joined(group, [g for g in others if g.block is None])
            self.book.add(clause, "other", full, Manner(droppable=True))
        if not blocks:
            self.book.note(clause, [*subject, *body], "plain")

    @staticmethod
    def _introduces(clause: Clause, subject: list[Group], body: list[Group]) -> bool:
        """Tell ``the first one is a small red block on my left`` from what is seen."""
        if not body or body[0].block is None or not body[0].block.indefinite or "question" in clause.marks:
            return False
        counted = bool(clause.marks & {"first", "then"}) and len(subject) == 1 and is_bare(subject[0].block) and not subject[0].has_place
        announced = any(item.value == ":" and item.start < body[0].block.start for item in clause.body)
        return counted or (announced and len(subject) == 1 and subject[0].refers and not subject[0].has_place)

    def _confirm(self, clause: Clause) -> None:
        assert clause.predicate is not None
        if "cond" in clause.marks or clause.denied:
            self.book.note(clause, [*clause.subject_groups(), *clause.groups()], "complaint")
            return
        subject = clause.subject_groups()
        pointing = len(subject) == 1 and not subject[0].has_place and (subject[0].refers or is_bare(subject[0].block))
        if clause.predicate.value == "already" and pointing and not clause.groups():
            self.book.hold_back(clause)  # "my target has a red one on the left. That one is already there"
            return
        if not subject and not clause.groups() and self._confirm_seen(clause):
            return
        if self._is_request_context(clause):
            return
        groups = [*clause.subject_groups(), *clause.groups()]
        for group in listed(groups, [], personal=True):
            if group.block is not None or group.layers or group.places:
                self.book.add(clause, "confirm", group, Manner(droppable=group.block is None))

    def _confirm_seen(self, clause: Clause) -> bool:
        """Turn ``I see A, which matches`` into a confirmation; the talk goes on about what was spoken of before it."""
        seen = self.book.drafts[-1] if self.book.drafts else None
        if seen is None or seen.verb != "other" or seen.sentence != clause.sentence:
            return False
        seen.verb, seen.end = "confirm", clause.end
        self.book.scene.focus = self.book.before_seen
        return True

    def _is_request_context(self, clause: Clause) -> bool:
        """Tell ``to set it correctly`` behind a request from a confirmation of its own."""
        groups = [*clause.subject_groups(), *clause.groups()]
        return not any(group.block for group in groups) and bool(self.book.drafts) and self.book.drafts[-1].sentence == clause.sentence

    def _wrong(self, clause: Clause) -> None:
        subject, body = clause.subject_groups(), clause.groups()
        named = [group for group in subject if group.block is not None and group.block.color]
        if named and clause.marks & {"cond", "before"}:
            self.book.add(clause, "remove", joined(named[0], body))  # "only after the green one is off"
            self.book.drafts[-1].first = "cond" in clause.marks
            return
        for group in [*subject, *body]:
            if group.block is not None and group.block.color:
                self.book.add(clause, "other", group, Manner(droppable=True))
                self.book.scene.focus = replace(self.book.scene.focus, source="complaint")
                return
        self.book.note(clause, [*subject, *body], "complaint")

    def _empty(self, clause: Clause) -> None:
        groups = [*clause.subject_groups(), *clause.groups()]
        wanted = [group for group in clause.groups() if group.block is not None and group.block.color and group.has_place]
        for group in listed(wanted, clause.subject_groups(), personal=True):
            self.book.add(clause, "place", group, Manner(explicit=False))
        if wanted:
            return
        self.book.note(clause, groups, "complaint")
        for group in groups:
            if group.places or group.layers:
                self.book.add(clause, "other", with_block(group, None), Manner(droppable=True))
                self.book.scene.focus = replace(self.book.scene.focus, source="complaint")

    def _go_away(self, clause: Clause, *, leaving: bool = False) -> None:
        subject, body = clause.subject_groups(), clause.groups()
        body = body or [Group(there=True)] * any(item.kind == "where" for item in clause.subject)
        named = [group for group in subject if group.block is not None]
        if not named:
            named = [joined(group, subject) for group in body if group.block is not None and group.block.color]
        for group in named:
            arriving = not leaving and not (group.has_place or group.layers) and any(other.has_place for other in body)
            self.book.add(clause, "place" if arriving else "remove", joined(group, body), Manner(explicit=False))
        if not named and (not subject or subject[0].refers):
            seen = self.book.last_seen(clause)
            if seen is not None:
                self.book.take_up(seen)
                place = self.book.scene.place_of(body[0], "remove") if body and body[0].places else seen.place
                place = place if place.layer is not None else replace(place, layer=seen.place.layer)
                self.book.append(replace(seen, verb="remove", explicit=False, droppable=False, end=clause.end, place=place,
                                         also=seen.clause_numbers() | {clause.sentence}))  # fmt: skip

    def _belong(self, clause: Clause) -> None:
        if clause.denied:
            return
        subject, body = clause.subject_groups(), clause.groups()
        if self._completes(clause, subject, body):
            return
        named = [group for group in [*subject, *body] if group.block is not None and (group.block.color or group.block.size)]
        if not named:
            self._place_last(clause, body)
        for group in named[:1]:
            others = body if group in subject else subject
            self.book.add(clause, "place", joined(group, others), Manner(explicit=False))

    def _place_last(self, clause: Clause, body: list[Group]) -> None:
        """Read ``... the block that belongs in my left corner``: the place of the block named just before."""
        last = self.book.drafts[-1] if self.book.drafts else None
        if last is None or last.sentence != clause.sentence or not body:
            return
        last.place, last.end = self.book.scene.place_of(body[0], last.verb), clause.end

    def _ensure(self, clause: Clause) -> None:
        for group in clause.groups():
            if group.block is None:
                continue
            place = self.book.scene.place_of(group, "keep")
            block = group.block
            there = place.cells is not None and self.book.scene.find(
                color=block.color, size=block.size, layer=place.layer, cells=place.cells[:1]
            )
            self.book.add(clause, "keep" if there else "place", group)

    def _is_talked_about(self, group: Group) -> bool:
        """Tell ``the red one on the left passes inspection`` from a request without a verb: that block is there."""
        if group.block is None or not group.block.definite:
            return False
        place = self.book.scene.place_of(group, "remove")
        found = place.cells and self.book.scene.find(color=group.block.color, size=None, layer=place.layer, cells=place.cells[:1])
        return found is not None and bool(found)

    def _completes_place(self, clause: Clause, group: Group) -> bool:
        """Tell the block of ``Top right. Small orange.`` from one that is only talked about."""
        block, focus = group.block, self.book.scene.focus
        if block is None or not block.color or block.again or clause.marks & {"cond", "not", "board", "ask"}:
            return False
        meant = block.size is not None or "target" in clause.marks
        return meant and focus.source in ("plain", "complaint") and self.book.place_in_focus(clause) is not None

    def _opens_request(self, clause: Clause, group: Group) -> bool:
        """Whether only a block is named, so that the next words may say where it goes."""
        block = group.block
        named = block is not None and block.color is not None and not block.again and not block.absent and not block.definite
        return named and not group.relation and not clause.marks & (_UNSURE | {"purpose", "because", "before"})

    def _bare(self, clause: Clause) -> None:
        groups = clause.groups()
        if not clause.marks & _UNSURE and self.book.complete(clause, groups):
            return
        for group in listed(groups, [], personal=True):
            if clause.marks & {"cond", "not"} or group.block is None or not group.block.color:
                named = False
            else:
                named = group.has_place or bool(group.relation)
            if named:
                verb = "ask" if "ask" in clause.marks else "other" if self._is_talked_about(group) else "place"
                self.book.add(clause, verb, group, Manner(explicit=False))
            elif group.block is not None and len(groups) == 1 and self._completes_place(clause, group):
                self.book.add(clause, "place", group, Manner(explicit=False, inherit=self.book.place_in_focus(clause)))
            elif len(groups) == 1 and self._opens_request(clause, group):
                self.book.announce(clause, group)
            elif not clause.denied:
                self.book.note(clause, [group], "plain")
