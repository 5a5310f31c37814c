"""Lists that belong together: ``red and blue on the left and right``, ``two greens, one on the left and one on the right``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from judges.craft.language.words.items import Item

__all__ = ["paired"]

_LINKS = frozenset(("comma", "and"))
_SOME = 2

Run = tuple[int, int, list[Item]]
"""First index, index behind the last, the items listed."""


def paired(items: list[Item]) -> list[Item]:
    """Put each block beside its place where as many places as blocks are listed, and name again the block that ``one`` stands for."""
    items = _ones_named(items)
    said = any(item.kind == "respectively" for item in items)
    items = [item for item in items if item.kind != "respectively"]
    blocks = _runs(items, "block")
    sides, layers = _runs(items, "side"), _runs(items, "layer")
    if len(blocks) != 1:
        return items
    run = blocks[0]
    lists = [other for other in (*sides, *layers) if len(other[2]) == len(run[2]) and (said or _adjoins(items, run, other))]
    large = any(block.size == "l" for block in run[2])
    if not lists or len(lists) > _SOME or (large and not said) or len({other[2][0].kind for other in lists}) != len(lists):
        return [item for item in items if item.kind not in ("side", "cells")] if said and sides else items
    return _rebuilt(items, run, lists)


def _adjoins(items: Sequence[Item], run: Run, other: Run) -> bool:
    """Whether nothing but a preposition stands between the two lists."""
    begin, end = (run[1], other[0]) if other[0] >= run[1] else (other[1], run[0])
    return all(item.kind in ("prep", "wall") or item.value in (",", ":") for item in items[begin:end])


def _rebuilt(items: Sequence[Item], run: Run, lists: Sequence[Run]) -> list[Item]:
    taken = {index for begin, end, _ in lists for index in range(begin, end)}
    middle: list[Item] = []
    for number, block in enumerate(run[2]):
        middle += [Item(kind="and", start=block.start, end=block.start)] * (number > 0)
        middle += [block, *(other[2][number] for other in lists)]
    before = [item for index, item in enumerate(items[: run[0]]) if index not in taken]
    behind = [item for index, item in enumerate(items) if index >= run[1] and index not in taken]
    return [*before, *middle, *behind]


def _runs(items: Sequence[Item], kind: str) -> list[Run]:
    """Give the lists of two or more items of a kind, linked by commas and ``and``, with repeated prepositions."""
    runs: list[Run] = []
    index = 0
    while index < len(items):
        if not _is_listed(items[index], kind):
            index += 1
            continue
        members, end = [items[index]], index + 1
        while (following := _next_member(items, end, kind)) is not None:
            members.append(items[following])
            end = following + 1
        if len(members) >= _SOME:
            runs.append((index, end, members))
        index = end
    return runs


def _is_listed(item: Item, kind: str) -> bool:
    return item.kind == kind and (kind != "block" or (item.color is not None and not item.absent and not item.topmost))


def _next_member(items: Sequence[Item], begin: int, kind: str) -> int | None:
    here = begin
    while here < len(items) and items[here].kind in _LINKS and items[here].value not in (";", ":"):
        here += 1
    linked = here > begin
    here += here < len(items) and items[here].kind == "prep"
    return here if linked and here < len(items) and _is_listed(items[here], kind) else None


def _ones_named(items: list[Item]) -> list[Item]:
    """Read ``two greens, one on the left and one on the right`` as a green on the left and a green on the right."""
    head = next((at for at, item in enumerate(items) if item.kind == "block" and item.number in (2, 3) and item.color), None)
    if head is None:
        return items
    behind = items[head + 1 :]
    ones = [item for item in behind if item.kind == "block" and item.noun and item.again and not item.color and not item.size]
    others = [item for item in behind if item.kind == "block" and item.color]
    placed = any(item.kind in ("side", "cells", "cell", "middle_side") for item in _until_block(behind))
    if not ones or others or placed:
        return items
    named = replace(items[head], number=None)
    return [
        *items[:head],
        *(item for item in _until_block(behind)),
        *(replace(named, start=item.start, end=item.end) if item in ones else item for item in behind[len(_until_block(behind)) :]),
    ]


def _until_block(items: Sequence[Item]) -> list[Item]:
    cut = next((index for index, item in enumerate(items) if item.kind == "block"), len(items))
    return list(items[:cut])
