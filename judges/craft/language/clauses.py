"""Items to clauses: one predicate each, with the blocks and places that belong to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from judges.craft.language.items import Item

__all__ = ["Clause", "Group", "clauses_of"]

_ACTS = frozenset({"act_base", "act_ing", "act_ed"})
_PREDICATES = _ACTS | {"need", "should", "state", "confirm", "wrong", "empty", "go_away", "belong", "ensure"}
_WITH_SUBJECT = frozenset({"should", "state", "confirm", "wrong", "empty", "go_away", "belong", "need"})
_ARGUMENTS = frozenset("block side middle_side cell cells listing layer director wall there pron rest whole on_top below next_to "
                       "top_of depth shared between left_of right_of same_layer".split())  # fmt: skip
_PLACES = frozenset("shared side middle_side cell cells listing layer there rest depth director".split())
_CONNECTORS = frozenset("comma but then where cond if before purpose because".split())
_STAYING = frozenset({"keep", "is", "are", "sitting"})
_ASIDE = frozenset("because purpose aim if cond before".split())
_SEEING = frozenset({"see", "sees", "notice", "noticed", "seeing", "spot", "observed", "noticing", "find", "notice that", "see that"})
_BESIDE = frozenset({"next_to", "left_of", "right_of"})
_RELATIONS = frozenset({"on_top", "below", "next_to", "left_of", "right_of", "between"})
_MODIFIERS = frozenset("first then not cond if before purpose instead ask because needless".split())


@dataclass
class Group:
    """A block with the places named for it; either part may be missing."""

    role: str = "main"
    """``main``, ``with`` (what something is replaced by or moved to), ``from``, ``next`` (followed by)."""

    block: Item | None = None
    places: list[Item] = field(default_factory=list)
    layers: list[Item] = field(default_factory=list)
    director: Item | None = None
    relation: str | None = None
    anchor: Item | None = None
    """The block or pronoun that the relation refers to."""

    anchor_layers: list[Item] = field(default_factory=list)
    anchor_places: list[Item] = field(default_factory=list)
    top_of: bool = False
    same_layer: bool = False
    """``that row``: the layer mentioned before."""

    refers: bool = False
    """``it``, ``them``, ``that``: the block is one mentioned before."""

    there: bool = False
    rest: bool = False
    whole: bool = False
    old: Item | None = None
    """What follows ``instead of`` or ``not``."""

    place_first: bool = False

    @property
    def has_place(self) -> bool:
        """Whether the group names or describes a cell of its own."""
        return bool(self.places or self.there or self.rest)

    @property
    def is_blank(self) -> bool:
        """Whether nothing was said at all."""
        return not (
            self.block
            or self.places
            or self.layers
            or self.there
            or self.refers
            or self.rest
            or self.relation
            or self.top_of
            or self.director
            or self.same_layer
        )


@dataclass
class Clause:
    """One predicate with its subject, its groups and the small words that steer it."""

    predicate: Item | None
    subject: list[Item]
    body: list[Item]
    marks: frozenset[str]
    """Steering words of the clause: ``first then not cond if before purpose instead question ask``."""

    personal: bool
    """Whether a person (I, we, you) is the subject, so that nothing else can be."""

    sentence: int
    passive: bool = False
    contrast: bool = False
    """Begins with but, which, where or and, and so speaks about what was said just before."""

    @property
    def kind(self) -> str:
        """Kind of the predicate, empty without one."""
        return self.predicate.kind if self.predicate else ""

    @property
    def denied(self) -> bool:
        """Whether the predicate is negated."""
        return bool(self.marks & {"not", "needless"})

    @property
    def start(self) -> int:
        """Offset of the first item."""
        return min(item.start for item in self._items)

    @property
    def end(self) -> int:
        """Offset behind the last item that is not a mark."""
        return max(item.end for item in self._items if item.kind != "comma" or len(self._items) == 1)

    @property
    def _items(self) -> list[Item]:
        own = [self.predicate] if self.predicate else []
        return [*self.subject, *own, *self.body]

    def groups(self) -> list[Group]:
        """The clause's groups behind the predicate."""
        replacing = self.predicate is not None and self.predicate.value in ("replace", "move")
        return _groups(self.body, follow_roles=replacing)

    def subject_groups(self) -> list[Group]:
        """The groups before the predicate."""
        return _groups(self.subject, follow_roles=False)


def clauses_of(items: Sequence[Item], sentence: int) -> list[Clause]:
    """Split one sentence's items at its predicates."""
    question = bool(items) and items[-1].value == "?"
    merged = _merge_predicates([item for item in items if item.kind != "end"])
    at = [index for index, item in enumerate(merged) if item.kind in _PREDICATES]
    if not at:
        return [_clause(None, [], merged, sentence, question=question)] if merged else []
    clauses: list[Clause] = []
    before = merged[: at[0]]
    for number, index in enumerate(at):
        stop = at[number + 1] if number + 1 < len(at) else len(merged)
        span = merged[index + 1 : stop]
        cut = len(span) if stop == len(merged) else _split(span, merged[stop], merged[index])
        clauses.append(_clause(merged[index], before, span[:cut], sentence, question=question))
        before = span[cut:]
    return clauses


def _clause(predicate: Item | None, before: list[Item], body: list[Item], sentence: int, *, question: bool) -> Clause:
    own = before[_own_begin(before) :]
    marks = {item.kind for item in own if item.kind in _MODIFIERS} | {item.kind for item in before if item.kind == "first"}
    marks |= {item.kind for item in body if item.kind in ("first", "instead")}
    if question:
        marks.add("question")
    if predicate is None:
        marks |= {item.kind for item in body if item.kind in _MODIFIERS}
    connected = any(item.kind in ("but", "where", "and") for item in before)
    return Clause(
        predicate=predicate,
        subject=[item for item in before if item.kind not in ("not",)],
        body=body,
        marks=frozenset(marks),
        personal=any(item.kind == "subject" for item in before),
        sentence=sentence,
        passive=predicate is not None and predicate.kind == "act_ed" and predicate.number == 1,
        contrast=connected,
    )


def _own_begin(before: Sequence[Item]) -> int:
    """Give the index behind the last comma: what stands before it steers another clause."""
    return max((index + 1 for index, item in enumerate(before) if item.kind in ("comma", "but")), default=0)


def _split(span: Sequence[Item], predicate: Item, previous: Item) -> int:
    """Give the index from which the items between two predicates belong to the second one."""
    fresh = not any(item.kind in ("comma", "but", "where", "subject", "because") for item in span)
    if previous.kind == "state" and previous.value in _SEEING and predicate.kind in _WITH_SUBJECT and fresh:
        return 0  # "I notice that X is Y": all that was noticed is the subject of the second verb
    if previous.kind == "need" and predicate.kind == "should" and fresh:
        return 0  # "I need the left cell to be green"
    if _ends_relative(span):
        return len(span) - 1
    for index in range(len(span) - 1, -1, -1):
        kind = span[index].kind
        if kind in ("subject", "not", "needless", "first"):
            return _split_before(span, index, predicate, previous)
        if kind in _CONNECTORS or kind == "ask":
            tail = span[index + 1 :]
            if not (kind == "comma" and tail and _continues_list(span[:index], tail, predicate)):
                return index
        if kind == "and" and _opens_clause(span, index, predicate):
            return index
    if predicate.number == 1 and span and not _has_block(span):
        return 0
    return len(span)


def _ends_relative(span: Sequence[Item]) -> bool:
    """Tell the ``that`` of ``the blocks that should be ...``."""
    return len(span) > 1 and span[-1].value == "that" and span[-2].kind in _ARGUMENTS - {"pron"}


def _opens_clause(span: Sequence[Item], index: int, predicate: Item) -> bool:
    """Tell the ``and`` between two clauses from the one between two places of one block."""
    tail = span[index + 1 :]
    arguments = [item for item in tail if item.kind in _ARGUMENTS]
    if not arguments or tail[0].kind == "prep":
        return True
    if predicate.kind not in _WITH_SUBJECT or predicate.number == 1:
        return False
    between_places = index > 0 and span[index - 1].kind in _PLACES and tail[0].kind in _PLACES
    earlier = [at for at in range(index) if span[at].kind in ("comma", "but")]
    return not (between_places and earlier and not _has_block(span[earlier[-1] :]))


def _split_before(span: Sequence[Item], index: int, predicate: Item, previous: Item) -> int:
    """Step back over a fronted place: ``..., in the middle I need``."""
    cut = _split(span[:index], predicate, previous)
    return cut if cut < index and span[cut].kind in _CONNECTORS | {"and", "first", "subject", "not", "if"} else index


def _has_block(span: Sequence[Item]) -> bool:
    return any(item.kind == "block" for item in span)


def _continues_list(before: Sequence[Item], tail: Sequence[Item], predicate: Item) -> bool:
    """Tell ``left, middle`` of a place from the begin of a new clause."""
    return (
        predicate.kind in _ACTS
        and predicate.number != 1
        and not any(item.kind == "prep" for item in tail[:1])
        and bool(before)
        and not _has_block(tail)
        and tail[-1].kind not in ("subject", "then", "first", "and", "not")
    )


def _merge_predicates(items: list[Item]) -> list[Item]:
    """Join helper verbs to the verb they carry: ``need you to place``, ``should be removed``, ``want it taken off``."""
    result: list[Item] = []
    for item in items:
        previous = next((other for other in reversed(result) if other.kind not in ("first", "instead")), None)
        if previous is None:
            result.append(item)
        elif _ensured(result) and item.kind in ("state", "act_base") and item.value in _STAYING:
            if item.value == "keep":
                result[:] = [replace(item, start=o.start, end=o.end) if o.kind == "ensure" else o for o in result]
        elif item.kind in _ACTS:
            _merge_verb(result, previous, item)
        elif previous.kind == "state" and item.kind in ("confirm", "wrong", "empty", "need", "go_away", "belong"):
            result.remove(previous)
            result.append(replace(item, start=previous.start))
        elif not (item.kind in ("state", "confirm") and previous.kind in ("need", "state", "confirm", "wrong")):
            result.append(item)
    return result


def _ensured(result: Sequence[Item]) -> bool:
    """Whether the talk is of ``make sure`` and the block it is about."""
    last = next((item for item in reversed(result) if item.kind in _PREDICATES or item.kind in ("comma", "but")), None)
    return last is not None and last.kind == "ensure"


def _merge_verb(result: list[Item], previous: Item, item: Item) -> None:
    """Join a verb to the helper before it, or leave out a participle that only describes a block."""
    done = item.kind == "act_ed"
    if not done and _ends_with_to(result):
        _drop_carrier(result)
    elif previous.kind == "should" and (done or item.value == "place"):
        result.remove(previous)
        item = replace(item, kind="act_ed", start=previous.start, number=1)
    elif previous.kind in ("state", "confirm") and (done or item.value == "place"):
        result.remove(previous)
        item = Item(kind="confirm", start=previous.start, end=item.end, value=item.value)
    elif done and item.value != "keep":
        carrier = _carrier(result)
        if carrier is not None:
            result[carrier] = replace(item, start=result[carrier].start, number=2, end=result[carrier].end)
            return
        if any(other.kind in _PREDICATES for other in result):
            return
    result.append(item)


def _ends_with_to(result: Sequence[Item]) -> bool:
    return bool(result) and result[-1].kind == "with" and result[-1].value == "to"


def _drop_carrier(result: list[Item]) -> None:
    """Forget ``need (you) to`` before a verb, so that the verb itself is the predicate."""
    result.pop()
    while (
        result
        and result[-1].kind in ("subject", "first", "pron")
        and len(result) > 1
        and any(o.kind in ("need", "ensure", "should") for o in result[-3:])
    ):
        result.pop()
    if result and result[-1].kind in ("need", "state", "ensure", "should"):
        carrier = result.pop()
        result.append(Item(kind="subject", start=carrier.start, end=carrier.end, value="i"))


def _carrier(result: Sequence[Item]) -> int | None:
    """Find the wish whose object a participle closes: ``I want the red one removed``."""
    for index in range(len(result) - 1, -1, -1):
        if result[index].kind == "need" or (result[index].kind == "state" and result[index].value == "have"):
            blocks = [item for item in result[index + 1 :] if item.kind in ("block", "pron")]
            return index if len(blocks) == 1 else None
        if result[index].kind in _PREDICATES or result[index].kind == "comma":
            return None
    return None


def _groups(items: Sequence[Item], *, follow_roles: bool) -> list[Group]:
    groups = [Group()]
    role = "main"
    separated = False
    items = _without_asides(items)
    for index, item in enumerate(items):
        kind = item.kind
        if kind in ("comma", "and", "then", "but"):
            separated = True
            if kind == "then":
                role = "next"
            continue
        if follow_roles and kind in ("with", "from"):
            role = "from" if kind == "from" else "with"
            if not groups[-1].is_blank:
                groups.append(Group(role=role))
            else:
                groups[-1].role = role
            continue
        if kind in ("instead_of", "not") and groups[-1].block is not None or kind == "instead_of":
            groups[-1].old = item
            continue
        if kind in _ARGUMENTS:
            groups[-1].whole |= kind == "whole"
            _attach(groups, item, role=role, separated=separated, ahead=items[index + 1 :])
        separated = separated and kind in ("prep", "with")
    return [group for group in groups if not group.is_blank or group.whole]


def _without_asides(items: Sequence[Item]) -> list[Item]:
    """Leave out reasons, purposes and ``not on the right``: they name places that are not meant."""
    kept: list[Item] = []
    denied = False
    for index, item in enumerate(items):
        if item.kind in _ASIDE and any(other.kind in _ARGUMENTS for other in kept):
            break
        if item.kind in ("not", "instead_of") and any(other.kind in _PLACES for other in kept):
            denied = not _has_block(items[index + 1 :])
        elif item.kind == "comma":
            denied = False
        if not denied:
            kept.append(item)
    return kept


def _attach(groups: list[Group], item: Item, *, role: str, separated: bool, ahead: Sequence[Item]) -> None:
    group = groups[-1]
    if item.kind == "block":
        _attach_block(groups, item, role=role)
        return
    if item.kind in ("side", "middle_side", "cell", "cells", "listing", "depth", "layer") and separated and group.block is not None:
        if group.place_first and any(other.kind == "block" for other in ahead):
            group = Group(role=role)
            groups.append(group)
    if item.kind == "cell" and any(other.kind == "listing" for other in group.places):
        group = Group(role=role)
        groups.append(group)
    if item.kind in _RELATIONS and separated and group.block is not None and _fronts_block(ahead):
        group = Group(role=role)
        groups.append(group)
    if item.kind in _RELATIONS:
        group.relation = item.kind
    elif item.kind == "pron":
        if group.relation and group.anchor is None:
            group.anchor = item
        elif group.block is None:
            group.refers = True
    elif item.kind == "same_layer":
        group.same_layer = True
    elif item.kind == "there":
        group.there = True
    elif item.kind == "rest":
        group.rest = True
    elif item.kind == "top_of":
        group.top_of = True
    elif item.kind in ("director", "wall"):
        group.director = item
    elif item.kind == "layer":
        (group.anchor_layers if group.anchor is not None else group.layers).append(item)
    elif group.anchor is not None and group.anchor.kind == "block" and group.relation in _BESIDE and not separated:
        group.anchor_places.append(item)
    elif item.kind != "whole":
        group.place_first = group.place_first or group.block is None
        group.places.append(item)


def _fronts_block(ahead: Sequence[Item]) -> bool:
    """Tell ``and next to it, a green one`` from ``a green one next to it``."""
    kinds = [item.kind for item in ahead[:3]]
    return len(kinds) == 3 and kinds[0] in ("pron", "block") and kinds[1:] == ["comma", "block"]


def _attach_block(groups: list[Group], item: Item, *, role: str) -> None:
    group = groups[-1]
    if group.relation == "between" or (group.relation and group.anchor is None):
        group.anchor = item
    elif group.old is not None and group.old.kind != "block":
        group.old = item
    elif group.block is None and not group.refers:
        group.block = item
    else:
        groups.append(Group(role=role, block=item))
