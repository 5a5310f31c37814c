"""Rows and columns told in order: ``bottom row, left to right: red, blue, green`` gives each block its cell and layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judges.craft.language.clauses.predicates import ACTS
from judges.craft.language.places.places import Place
from judges.craft.language.places.walls import LAYERS, WALL_LENGTH, cells_of
from judges.craft.language.requests.drafts import Draft, DraftBook
from judges.craft.language.words.items import Item
from judges.craft.language.words.vocabulary import word_set

__all__ = ["joined_rows", "read_row"]

_LARGE = 2
"""Cells of a large block."""

_WISHING = ACTS | {"need", "should", "belong", "ensure", "target"}
_PLACES = word_set("rows", "places")
_NO_ROW = frozenset(("not", "needless", "go_away", "wrong", "void", "ask", "confirm", "there", "rest", "top_of"))
_IN_LIST = frozenset(("block", "comma", "end", "then", "and", "empty", "first"))


@dataclass(frozen=True)
class _Step:
    """One block of the list, or a gap, with the cells (or layers) it takes."""

    block: Item | None
    begin: int
    width: int


def joined_rows(sentences: Sequence[list[Item]]) -> list[tuple[int, list[Item]]]:
    """Join a heading that names an order to the lines below it that name one block each; gives each sentence with its number."""
    result: list[tuple[int, list[Item]]] = []
    heading: list[Item] | None = None
    for number, items in enumerate(sentences):
        if heading is not None and _is_element(items):
            heading += [Item(kind="comma", start=items[0].start, end=items[0].start, value=","), *(i for i in items if i.kind != "end")]
        elif heading is None or any(item.kind != "end" for item in items):
            result.append((number, list(items)))
            heading = result[-1][1] if _is_heading(items) else None
    return result


def _is_heading(items: Sequence[Item]) -> bool:
    orders = [at for at, item in enumerate(items) if item.kind == "order"]
    return bool(orders) and all(item.kind in _IN_LIST for item in items[orders[0] + 1 :])


def _is_element(items: Sequence[Item]) -> bool:
    kinds = [item.kind for item in items]
    return set(kinds) <= _IN_LIST and (kinds.count("block") == 1 or kinds.count("empty") == 1)


def read_row(items: Sequence[Item], book: DraftBook, sentence: int) -> bool:
    """Append the drafts of a row or column told in order; false if the sentence is none, then nothing is written."""
    column = _told_by_layer(items)
    if column is not None:
        _append_column(book, sentence, *column)
        return True
    order = next((item.value for item in items if item.kind == "order"), "lr" if _is_whole_row(items) else "")
    kinds = {item.kind for item in items}
    if not order or kinds & _NO_ROW or items[-1].value == "?":
        return False
    if any(item.kind in ACTS and item.value != "place" for item in items):
        return False  # "on the top layer, remove the large red and the small blue"
    along = order in ("lr", "rl")
    named = [item for item in items if item.kind in _PLACES]
    layers = {item.number for item in items if item.kind == "layer"}
    if (along and (named or len(layers) > 1)) or (not along and (layers or len(named) != 1 or named[0].kind not in ("side", "cell"))):
        return False
    steps = _steps(items, order)
    if steps is None:
        return False
    wished = bool(kinds & _WISHING) or not kinds & {"state", "board"}
    explicit = bool(kinds & ACTS)
    for step in steps:
        if step.block is None:
            continue
        if along:
            cells = cells_of(book.scene.speaker, range(step.begin, step.begin + step.width))
            place = Place(cells, next(iter(layers), None))
        else:
            cell = cells_of(book.scene.speaker, (named[0].number,)) if named[0].number is not None else (named[0].value,)
            place = Place(cell, step.begin)
        block = step.block
        there = book.scene.find(color=block.color, size=block.size, layer=place.layer, cells=place.cells) is not None
        standing = there and not explicit and place.layer is not None
        verb = "place" if wished and not standing else "other"
        book.append(Draft(verb=verb, start=block.start, end=block.end, explicit=explicit, color=block.color, size=block.size, place=place,
                          droppable=verb == "other", sentence=sentence))  # fmt: skip
    return True


def _is_whole_row(items: Sequence[Item]) -> bool:
    """Whether a layer's name is followed by blocks for all its cells and nothing else: ``top row: red, blue, green``, as one reads."""
    begin = next((index for index, item in enumerate(items) if item.kind == "block"), 0)
    end = max((index + 1 for index, item in enumerate(items) if item.kind in ("block", "empty")), default=0)
    listed = all(item.kind in ("block", "comma", "and", "then", "empty") for item in items[begin:end])
    count = sum(item.number or 1 for item in items[begin:end] if item.kind in ("block", "empty"))
    return (
        listed and count >= WALL_LENGTH and [item.kind for item in items[:begin] if item.kind in ("layer", "director", "wall")] == ["layer"]
    )


def _told_by_layer(items: Sequence[Item]) -> tuple[Item, list[tuple[Item, int]]] | None:
    """Read ``right column: red at the bottom, green in the middle, blue on top``: the cell, and each block with its layer."""
    colon = next((index for index, item in enumerate(items) if item.value == ":"), 0)
    head = [item for item in items[:colon] if item.kind not in ("prep", "wall")]
    if len(head) != 1 or head[0].kind not in ("side", "cell"):
        return None
    told: list[tuple[Item, int]] = []
    block: Item | None = None
    for item in items[colon + 1 :]:
        if item.kind == "block" and item.color is not None and not item.absent and block is None:
            block = item
        elif block is not None and (layer := _layer_named(item)) is not None:
            told.append((block, layer))
            block = None
        elif item.kind not in ("comma", "and", "prep", "end", "then"):
            return None
    layers = [layer for _, layer in told]
    return (head[0], told) if block is None and len(told) > 1 and len(set(layers)) == len(layers) else None


def _layer_named(item: Item) -> int | None:
    """Give the layer that ``bottom``, ``in the middle`` or ``on top`` means within one column."""
    if item.kind == "top_of":
        return LAYERS[-1]
    return item.number if item.kind == "layer" or (item.kind == "side" and item.number == 1) else None


def _append_column(book: DraftBook, sentence: int, head: Item, told: Sequence[tuple[Item, int]]) -> None:
    cells = cells_of(book.scene.speaker, (head.number,)) if head.number is not None else (head.value,)
    for block, layer in told:
        standing = book.scene.find(color=block.color, size=block.size, layer=layer, cells=cells) is not None
        verb = "other" if standing else "place"
        book.append(Draft(verb=verb, start=block.start, end=block.end, explicit=False, color=block.color, size=block.size,
                          place=Place(cells, layer), droppable=standing, sentence=sentence))  # fmt: skip


def _steps(items: Sequence[Item], order: str) -> list[_Step] | None:
    """Give the blocks with the cells they take, None unless they fill the row (or fit the column)."""
    listed = list(_listed(items))
    size = next((item.size for item in items if item.kind == "block" and not item.color and item.size), None)
    blocks = [None if item is None else _sized(item, size) for item in listed]
    if len([block for block in blocks if block is not None]) < _LARGE:
        return None
    along = order in ("lr", "rl")
    widths = [_LARGE if along and block is not None and block.size == "l" else 1 for block in blocks]
    total = sum(widths)
    if (along and total != WALL_LENGTH) or total > len(LAYERS):
        return None
    begins = [sum(widths[:number]) for number in range(len(widths))]
    if order in ("rl", "down"):
        if order == "down" and total != len(LAYERS):
            return None
        begins = [total - begin - width for begin, width in zip(begins, widths, strict=True)]
    return [_Step(*step) for step in zip(blocks, begins, widths, strict=True)]


def _listed(items: Sequence[Item]) -> Iterator[Item | None]:
    """Give the coloured blocks in text order, None for a cell that is to stay empty; ``two small reds`` are two."""
    for item in items:
        if item.kind == "empty":
            yield None
        elif item.kind == "block" and item.color is not None and not item.absent:
            yield from [item] * (item.number or 1)


def _sized(block: Item, size: str | None) -> Item:
    return (
        block
        if block.size is not None or size is None
        else Item(kind="block", start=block.start, end=block.end, color=block.color, size=size)
    )
