"""Items to clauses: one predicate each, with its arguments as groups, a block with the places that belong to it.

Helper verbs join the verb that they carry, and participles that only describe a block are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from judges.craft.language.vocabulary import PLACES, Stretch, has_block, word_set

ACTS = frozenset({"act_base", "act_ing", "act_ed"})
PREDICATES = ACTS | {"need", "should", "state", "confirm", "wrong", "empty", "go_away", "belong", "ensure"}
_STAYING = frozenset({"keep", "is", "are", "sitting"})


def merge_predicates(items: list[Stretch]) -> list[Stretch]:
    """Join helper verbs to the verb they carry: ``need you to place``, ``should be removed``, ``want it taken off``."""
    result: list[Stretch] = []
    for item in items:
        previous = next((other for other in reversed(result) if other.kind not in ("first", "instead")), None)
        if previous is None:
            result.append(item)
        elif _ensured(result) and item.kind in ("state", "act_base") and item.value in _STAYING:
            if item.value == "keep":
                result[:] = [replace(item, start=o.start, end=o.end) if o.kind == "ensure" else o for o in result]
        elif item.kind in ACTS:
            _merge_verb(result, previous, item)
        elif previous.kind == "state" and item.kind in ("confirm", "wrong", "empty", "need", "go_away", "belong"):
            result.remove(previous)
            result.append(replace(item, start=previous.start))
        elif item.kind == previous.kind == "state":
            result[result.index(previous)] = replace(item, start=previous.start)
        elif not (item.kind in ("state", "confirm") and previous.kind in ("need", "state", "confirm", "wrong")):
            result.append(item)
    return result


def _merge_verb(result: list[Stretch], previous: Stretch, item: Stretch) -> None:
    """Join a verb to the helper before it, or leave out a participle that only describes a block."""
    done = item.kind == "act_ed"
    if not done and result and (result[-1].kind, result[-1].value) == ("with", "to"):
        _drop_carrier(result)
    elif previous.kind == "should" and (done or item.value == "place"):
        result.remove(previous)
        item = replace(item, kind="act_ed", start=previous.start, number=1)
    elif previous.kind in ("state", "confirm") and (done or item.value == "place"):
        result.remove(previous)
        item = Stretch(kind="confirm", start=previous.start, end=item.end, value=item.value)
    elif done and item.value != "keep":
        carrier = _carrier(result)
        if carrier is not None:
            result[carrier] = replace(item, start=result[carrier].start, number=2, end=result[carrier].end)
            return
        if any(other.kind in PREDICATES for other in result):
            return
    result.append(item)


def _ensured(result: Sequence[Stretch]) -> bool:
    """Whether the talk is of ``make sure`` and the block it is about."""
    last = next((item for item in reversed(result) if item.kind in PREDICATES or item.kind in ("comma", "but")), None)
    return last is not None and last.kind == "ensure"


def _drop_carrier(result: list[Stretch]) -> None:
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
        result.append(Stretch(kind="subject", start=carrier.start, end=carrier.end, value="i"))


def _carrier(result: Sequence[Stretch]) -> int | None:
    """Find the wish whose object a participle closes: ``I want the red one removed``."""
    for index in range(len(result) - 1, -1, -1):
        if result[index].kind == "need" or (result[index].kind == "state" and result[index].value == "have"):
            blocks = [item for item in result[index + 1 :] if item.kind in ("block", "pron")]
            return index if len(blocks) == 1 else None
        if result[index].kind in PREDICATES or (result[index].kind == "comma" and not _only_places(result[index + 1 :])):
            return None
    return None


def _only_places(items: Sequence[Stretch]) -> bool:
    return all(item.kind in PLACES | {"comma", "prep", "wall"} for item in items)


ARGUMENTS = word_set("groups", "arguments")
_RELATIONS = frozenset({"on_top", "below", "next_to", "left_of", "right_of", "between"})
_NAMED_PLACES = frozenset(("side", "middle_side", "cell", "cells", "listing", "depth", "layer"))
_FLAGS = frozenset(("there", "rest", "top_of", "same_layer", "whole"))
_ADJACENT = frozenset({"next_to", "left_of", "right_of"})
_ASIDE = word_set("groups", "aside")


@dataclass
class Group:
    """A block with the places named for it; either part may be missing."""

    role: str = "main"
    """``main``, ``with`` (what something is replaced by or moved to), ``from``, ``next`` (followed by)."""
    block: Stretch | None = None
    places: list[Stretch] = field(default_factory=list)
    layers: list[Stretch] = field(default_factory=list)
    director: Stretch | None = None
    relation: str | None = None
    anchor: Stretch | None = None
    """The block or pronoun that the relation refers to."""
    anchor_layers: list[Stretch] = field(default_factory=list)
    anchor_places: list[Stretch] = field(default_factory=list)
    top_of: bool = False
    same_layer: bool = False
    """``that row``: the layer mentioned before."""
    refers: bool = False
    """``it``, ``them``, ``that``: the block is one mentioned before."""
    there: bool = False
    rest: bool = False
    whole: bool = False
    old: Stretch | None = None
    """What follows ``instead of`` or ``not``."""
    corrects: bool = False
    """The old block is behind ``not``: a large one is not meant, it need not be there."""
    place_first: bool = False

    @property
    def has_place(self) -> bool:
        """Whether the group names or describes a cell of its own."""
        return bool(self.places or self.there or self.rest)

    @property
    def is_blank(self) -> bool:
        """Whether nothing was stated at all."""
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


def groups_of(items: Sequence[Stretch], *, follow_roles: bool) -> list[Group]:
    """Give the groups of the arguments in text order; ``follow_roles`` tells ``A with B`` and ``from P to Q`` apart."""
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
        if (kind in ("instead_of", "not") and groups[-1].block is not None) or kind == "instead_of":
            groups[-1].old, groups[-1].corrects = item, kind == "not"
            continue
        if kind in ARGUMENTS:
            fronted = separated and items[index - 1].kind == "prep" and _leads_on(items[index + 1 :])
            parting = "fronted" if fronted else "apart" if separated else ""
            _attach(groups, item, role=role, parting=parting, ahead=items[index + 1 :])
        separated = separated and kind in ("prep", "with")
    return [group for group in groups if not group.is_blank or group.whole]


def _without_asides(items: Sequence[Stretch]) -> list[Stretch]:
    """Leave out reasons, purposes and ``not on the right``: they name places that are not meant."""
    retained: list[Stretch] = []
    denied = False
    for index, item in enumerate(items):
        if item.kind in _ASIDE and any(other.kind in ARGUMENTS for other in retained):
            break
        if item.kind in ("not", "instead_of") and any(other.kind in PLACES for other in retained):
            denied = not has_block(items[index + 1 :])
        elif item.kind == "comma":
            denied = False
        if not denied:
            retained.append(item)
    return retained


def _attach(groups: list[Group], item: Stretch, *, role: str, parting: str, ahead: Sequence[Stretch]) -> None:
    if item.kind == "block":
        _attach_block(groups, item, role=role)
        return
    if _begins_group(groups[-1], item, parting=parting, ahead=ahead):
        groups.append(Group(role=role))
    group = groups[-1]
    if item.kind in _FLAGS:
        setattr(group, item.kind, True)
    elif item.kind in _RELATIONS:
        group.relation = item.kind
    elif item.kind == "pron":
        _attach_pronoun(group, item)
    elif item.kind in ("director", "wall"):
        group.director = item
    elif item.kind == "layer":
        (group.anchor_layers if group.anchor is not None else group.layers).append(item)
    elif group.anchor is not None and group.anchor.kind == "block" and group.relation in _ADJACENT and not parting:
        group.anchor_places.append(item)
    else:
        group.place_first = group.place_first or group.block is None
        group.places.append(item)


def _attach_pronoun(group: Group, item: Stretch) -> None:
    if group.relation and group.anchor is None:
        group.anchor = item
    elif group.block is None:
        group.refers = True


def _begins_group(group: Group, item: Stretch, *, parting: str, ahead: Sequence[Stretch]) -> bool:
    """Whether a place or a relation belongs to the next block: ``on the left A, in the middle B``.

    ``parting`` is empty where no comma or ``and`` stood before, ``fronted`` where a preposition and then a block frame the place.
    """
    if item.kind == "cell" and any(other.kind == "listing" for other in group.places):
        return True
    if not parting or group.block is None:
        return False
    if item.kind == "layer" and group.layers and group.layers[0].number != item.number:
        return has_block(ahead)
    if item.kind in _NAMED_PLACES - {"layer"} and parting == "fronted":
        return True  # "a red one at the left, and at the right a blue one"
    return item.kind in _NAMED_PLACES and group.place_first and has_block(ahead)


def _attach_block(groups: list[Group], item: Stretch, *, role: str) -> None:
    group = groups[-1]
    if group.relation == "between" or (group.relation and group.anchor is None):
        group.anchor = item
    elif group.old is not None and group.old.kind != "block":
        group.old = item
    elif group.block is None and not group.refers:
        group.block = item
    else:
        groups.append(Group(role=role, block=item))


def _leads_on(ahead: Sequence[Stretch]) -> bool:
    """Whether a block follows at once, with nothing but its layer between, and no place of its own behind it."""
    here = next((index for index, item in enumerate(ahead) if item.kind not in ("prep", "wall", "layer")), len(ahead))
    if here == len(ahead) or ahead[here].kind != "block" or ahead[here].again:
        return False
    behind = next((item for item in ahead[here + 1 :] if item.kind not in ("prep", "wall")), None)
    return behind is None or behind.kind not in _NAMED_PLACES


def joined(group: Group, others: list[Group]) -> Group:
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


def listed(groups: list[Group], subject: list[Group], *, personal: bool) -> list[Group]:
    """Share the layer and the wall within an enumeration: ``A on the left and B on the right of my top layer``."""
    colored = [group for group in groups if group.block is not None and group.block.color]
    head = groups[0] if groups else None
    if head is not None and head.block is not None and not head.block.color and head.block.number in (2, 3) and len(colored) > 1:
        groups = [_under(head, group) for group in groups[1:]]
    elif head is not None and is_bare(head.block) and len(groups) > 1 and colored and not groups[1].has_place:
        groups = [joined(groups[1], [head]), *groups[2:]]  # "my left corner needs one more: a small red block"
    stated = [group.layers for group in [*groups, *subject] if group.layers and not group.relation and not group.director]
    owners = [] if personal else [group.director for group in subject if group.director is not None]
    shared: list[Group] = []
    for group in groups:
        apart = group.layers or group.relation or group.there or group.director or group.top_of or not stated or len(groups) == 1
        layers = group.layers if apart else stated[0]
        mid = any(item.kind == "middle_side" for item in group.places)
        shared.append(replace(group, layers=group.layers if mid else layers, director=group.director or (owners[0] if owners else None)))
    return shared


def _under(head: Group, group: Group) -> Group:
    """Give a group of an enumeration the size and the layer that its heading states: ``two small blocks: ...``."""
    block = group.block
    if block is not None and head.block is not None and block.size is None:
        block = replace(block, size=head.block.size)
    return replace(group, block=block, layers=group.layers or head.layers)


def is_bare(block: Stretch | None) -> bool:
    """Whether a block is named without colour and size."""
    return block is not None and not (block.color or block.size)


def with_block(group: Group, block: Stretch | None) -> Group:
    """Give a copy of the group that speaks of another block."""
    return replace(group, block=block)


_WITH_SUBJECT = frozenset({"should", "state", "confirm", "wrong", "empty", "go_away", "belong", "need"})
_CONNECTORS = word_set("clauses", "connectors")
_SEEING = frozenset({"see", "sees", "notice", "noticed", "seeing", "spot", "observed", "noticing", "find", "notice that", "see that"})
_MODIFIERS = word_set("clauses", "modifiers")


@dataclass
class Clause:
    """One predicate with its subject, its groups and the small words that steer it."""

    predicate: Stretch | None
    subject: list[Stretch]
    body: list[Stretch]
    marks: frozenset[str]
    """Steering words of the clause: ``first then not cond if before purpose instead question ask``."""
    personal: bool
    """Whether a person (I, we, you) is the subject, so that nothing else can be."""
    sentence: int
    passive: bool = False

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
    def _items(self) -> list[Stretch]:
        own = [self.predicate] if self.predicate else []
        return [*self.subject, *own, *self.body]

    def groups(self) -> list[Group]:
        """The clause's groups behind the predicate."""
        replacing = self.predicate is not None and self.predicate.value in ("replace", "move", "cap")
        return groups_of(self.body, follow_roles=replacing)

    def subject_groups(self) -> list[Group]:
        """The groups before the predicate."""
        return groups_of(self.subject, follow_roles=False)


def clauses_of(items: Sequence[Stretch], sentence: int) -> list[Clause]:
    """Split one sentence's items at its predicates."""
    question = bool(items) and items[-1].value == "?"
    merged = merge_predicates([item for item in items if item.kind != "end"])
    at = [index for index, item in enumerate(merged) if item.kind in PREDICATES]
    if not at:
        return [_clause(None, [], merged, sentence, question=question)] if merged else []
    clauses: list[Clause] = []
    before = merged[: at[0]]
    cut = _bare_end(before, merged[at[0]])
    if cut:
        clauses.append(_clause(None, [], before[:cut], sentence, question=question))
        before = before[cut:]
    for number, index in enumerate(at):
        stop = at[number + 1] if number + 1 < len(at) else len(merged)
        span = merged[index + 1 : stop]
        cut = len(span) if stop == len(merged) else _split(span, merged[stop], merged[index])
        more = _more_begin(span[:cut], merged[index])
        clauses.append(_clause(merged[index], before, span[:more], sentence, question=question))
        if more < cut:
            clauses.append(_clause(None, [], span[more:cut], sentence, question=question))
        before = span[cut:]
    return clauses


def _bare_end(before: Sequence[Stretch], predicate: Stretch) -> int:
    """Give the length of a request without a verb that a ``but`` or ``once`` parts from the first predicate, 0 without one."""
    commas = [index for index, item in enumerate(before) if item.value in (",", ";")]
    if predicate.kind == "empty" and commas and all(item.kind in PLACES | {"prep", "comma"} for item in before[commas[-1] :]):
        listed = before[: commas[-1]]
        return commas[-1] if has_block(listed) and any(item.kind in PLACES for item in listed) else 0
    for index, item in enumerate(before):
        blocks = [other for other in before[:index] if other.kind == "block" and other.color and not other.definite]
        if item.kind in ("but", "cond") and blocks and any(other.kind in PLACES for other in before[:index]):
            return index
        if item.kind in ("subject", "if", "where", "cond"):
            return 0
    return 0


def _clause(predicate: Stretch | None, before: list[Stretch], body: list[Stretch], sentence: int, *, question: bool) -> Clause:
    own_begin = max((index + 1 for index, item in enumerate(before) if item.kind in ("comma", "but")), default=0)
    own = before[own_begin:]  # what is before the last comma steers another clause
    marks = {item.kind for item in own if item.kind in _MODIFIERS} | {item.kind for item in before if item.kind == "first"}
    marks |= {item.kind for item in body if item.kind in ("first", "instead")}
    if question:
        marks.add("question")
    if predicate is None:
        begin = next((index for index, item in enumerate(body) if item.kind in ARGUMENTS), len(body))
        marks |= {item.kind for index, item in enumerate(body) if item.kind in _MODIFIERS and (index < begin or item.kind != "not")}
    return Clause(
        predicate=predicate,
        subject=[item for item in before[_subject_begin(before) :] if item.kind != "not"],
        body=body,
        marks=frozenset(marks),
        personal=any(item.kind == "subject" for item in before),
        sentence=sentence,
        passive=predicate is not None and predicate.kind == "act_ed" and predicate.number == 1,
    )


def _more_begin(span: Sequence[Stretch], predicate: Stretch) -> int:
    """Give the index from which a request without a verb follows a remark: ``the left is empty; small red``."""
    if predicate.kind in ("confirm", "empty", "wrong"):
        for index, item in enumerate(span):
            block = next((other for other in span[index:] if other.kind == "block"), None)
            if item.value in (";", ":") and block is not None and block.color and not block.definite and not has_block(span[:index]):
                return index
    return len(span)


def _subject_begin(before: Sequence[Stretch]) -> int:
    """Give the index behind what a ``but`` sets aside: ``not sure about the right, but the left needs ...``."""
    for index in range(len(before) - 1, -1, -1):
        if before[index].kind == "but" or before[index].value == ";":
            aside, own = before[:index], before[index + 1 :]
            ruled_out = before[index].kind == "but" or any(item.kind == "not" for item in aside)
            names = any(item.kind in PLACES for item in own) and not any(item.kind == "not" for item in own)
            return index + 1 if ruled_out and names and not has_block(aside) else 0
    return 0


def _split(span: Sequence[Stretch], predicate: Stretch, previous: Stretch) -> int:
    """Give the index from which the items between two predicates belong to the second one."""
    if _speaks_of_all(span, predicate, previous):
        return 0
    # tell the ``that`` of ``the blocks that should be ...``
    if len(span) > 1 and span[-1].value == "that" and (span[-2].kind in ARGUMENTS - {"pron"}):
        return len(span) - 1
    for index in range(len(span) - 1, -1, -1):
        if span[index].kind in ("subject", "not", "needless", "first"):
            # step back over a fronted place: ``..., in the middle I need``
            cut = _split(span[:index], predicate, previous)
            return cut if cut < index and span[cut].kind in _CONNECTORS | {"and", "first", "subject", "not", "if"} else index
        if _separates(span, index, predicate):
            return index
    return 0 if predicate.number == 1 and not has_block(span) else len(span)


def _separates(span: Sequence[Stretch], index: int, predicate: Stretch) -> bool:
    kind = span[index].kind
    if kind == "and":
        tail = span[index + 1 :]
        arguments = [item for item in tail if item.kind in ARGUMENTS]
        if not arguments or tail[0].kind == "prep":
            return True
        if predicate.kind not in _WITH_SUBJECT or predicate.number == 1:
            return False
        between_places = index > 0 and span[index - 1].kind in PLACES and tail[0].kind in PLACES
        earlier = [at for at in range(index) if span[at].kind in ("comma", "but")]
        return not (between_places and earlier and not has_block(span[earlier[-1] :]))
    tail = span[index + 1 :]
    return kind in _CONNECTORS | {"ask"} and not (kind == "comma" and tail and _continues_list(span[:index], tail, predicate))


def _speaks_of_all(span: Sequence[Stretch], predicate: Stretch, previous: Stretch) -> bool:
    """Whether all between is the subject of the second verb: ``I notice that X is Y``, ``I need the left cell to be green``."""
    if any(item.kind in ("comma", "but", "where", "subject", "because") for item in span) or (span and span[-1].kind == "and"):
        return False
    noticed = previous.kind == "state" and previous.value in _SEEING and predicate.kind in _WITH_SUBJECT
    return noticed or (previous.kind == "need" and predicate.kind == "should")


def _continues_list(before: Sequence[Stretch], tail: Sequence[Stretch], predicate: Stretch) -> bool:
    """Tell ``left, middle`` of a place from the begin of a new clause."""
    return (
        predicate.kind in ACTS
        and predicate.number != 1
        and not any(item.kind == "prep" for item in tail[:1])
        and bool(before)
        and not has_block(tail)
        and tail[-1].kind not in ("subject", "then", "first", "and", "not")
    )
