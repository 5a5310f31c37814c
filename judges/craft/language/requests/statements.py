"""Statements to drafts: needs, gaps, what should be, what is seen, what is right or wrong."""

from __future__ import annotations

from dataclasses import replace

from judges.craft.language.clauses.clauses import Clause
from judges.craft.language.clauses.groups import Group, is_bare, joined, listed, with_block
from judges.craft.language.requests.drafts import Draft, DraftBook, Manner

__all__ = ["Statements"]


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
        if self._is_foreign(clause, subject):  # what another director needs somewhere is no request of the speaker
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
                                         also=seen.told_in() | {clause.sentence}))  # fmt: skip

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
        """Tell ``the red one on the left passes inspection`` from a request without a verb: that block stands there."""
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
        """Whether a block stands alone, so that the next words may say where it goes."""
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
