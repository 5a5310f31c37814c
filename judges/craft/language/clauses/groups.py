"""Arguments to groups: a block with the places that belong to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from judges.craft.language.words.items import PLACES, Stretch, has_block
from judges.craft.language.words.vocabulary import word_set

__all__ = ["ARGUMENTS", "Group", "groups_of", "is_bare", "joined", "listed", "with_block"]

ARGUMENTS = word_set("groups", "arguments")
_RELATIONS = frozenset({"on_top", "below", "next_to", "left_of", "right_of", "between"})
_NAMED_PLACES = frozenset(("side", "middle_side", "cell", "cells", "listing", "depth", "layer"))
_FLAGS = frozenset(("there", "rest", "top_of", "same_layer", "whole"))
_BESIDE = frozenset({"next_to", "left_of", "right_of"})
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
    """The old block stands behind ``not``: a large one is not meant, it need not be there."""

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
    kept: list[Stretch] = []
    denied = False
    for index, item in enumerate(items):
        if item.kind in _ASIDE and any(other.kind in ARGUMENTS for other in kept):
            break
        if item.kind in ("not", "instead_of") and any(other.kind in PLACES for other in kept):
            denied = not has_block(items[index + 1 :])
        elif item.kind == "comma":
            denied = False
        if not denied:
            kept.append(item)
    return kept


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
    elif group.anchor is not None and group.anchor.kind == "block" and group.relation in _BESIDE and not parting:
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
