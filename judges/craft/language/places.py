"""The board as a director speaks of it: words to walls, cells, layers and blocks; who sees a place, by the words of `perspective.yaml`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from games.craft.claims import SeenBy, Stance, View
from games.craft.engine import board as blocks
from games.craft.engine.board import DIRECTORS, Director
from judges.claims.reading import ReadClaim
from judges.craft.language.clauses import Group
from judges.craft.language.vocabulary import Origin, Stretch
from schemas.common.packages import packaged_yaml

WALLS: Mapping[str, tuple[str, str, str]] = {str(director): cells for director, cells in blocks.WALLS.items()}
"""Cells of each director's wall from left to right (formats, 4.2)."""

LAYERS = range(blocks.MAX_HEIGHT)
"""Layers from bottom to top."""

WALL_LENGTH = 3
"""Cells of a wall."""

_DOMINO = 2
"""Cells of a large block."""

Board = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class WallBlock:
    """One block as it shows on a wall."""

    color: str
    size: str
    cells: tuple[str, ...]
    layer: int
    is_top: bool


def cells_of(speaker: str, places: Sequence[int]) -> tuple[str, ...]:
    """Give the cells at the named places (0 left to 2 right) of a director's wall."""
    return tuple(WALLS[speaker][place] for place in sorted(set(places)))


def height(board: Board, cell: str) -> int:
    """Number of blocks stacked on a cell."""
    return len(board.get(cell, ()))


_ADJACENT = ("next_to", "left_of", "right_of")
_PAIR = (2,)
_DEPTHS = {("D1", "far"): 0, ("D1", "near"): 2, ("D3", "far"): 0, ("D3", "near"): 2}


@dataclass(frozen=True)
class PointedAt:
    """Where a claim points to; None where the words do not settle it."""

    cells: tuple[str, ...] | None = None
    layer: int | None = None
    cells_origin: Origin = "stated"
    layer_origin: Origin = "stated"
    relative: bool = False
    """Given by another block."""


@dataclass(frozen=True)
class Focus:
    """What ``there`` and ``it`` refer to."""

    cells: tuple[str, ...] | None = None
    layer: int | None = None
    color: str | None = None
    size: str | None = None
    source: str = ""
    """What kind of clause it comes from: an instruction, an observation, a complaint, a bare mention."""
    sentence: int = -9


@dataclass
class Scene:
    """Whose words are read, before which board, and what was spoken of last."""

    speaker: str
    board: Board
    focus: Focus = field(default_factory=Focus)
    blocks: list[WallBlock] = field(init=False)

    def __post_init__(self) -> None:
        found: list[WallBlock] = []
        wall = WALLS[self.speaker]
        for layer in LAYERS:
            codes = [self.board[cell][layer] if height(self.board, cell) > layer else "" for cell in wall]
            place = 0
            while place < WALL_LENGTH:
                code = codes[place]
                run = 1
                while code.endswith("l") and place + run < WALL_LENGTH and codes[place + run] == code:
                    run += 1
                width = run if run == _DOMINO else 1
                if code:
                    cells = wall[place : place + width]
                    is_top = all(height(self.board, cell) == layer + 1 for cell in cells)
                    found.append(WallBlock(code[0], code[1], cells, layer, is_top))
                place += width
        self.blocks = found

    def place_of(self, group: Group, verb: str) -> PointedAt:
        """Give the place of a group for an action with the given verb."""
        named = self._named(group)
        if group.same_layer and named.layer is None:
            named = replace(named, layer=self.focus.layer, layer_origin="carried")
        if named.cells is None and group.rest:
            named = self._rest(group, named)
        pointing = group.there and group.relation not in _ADJACENT
        if named.cells is None and (pointing or (group.refers and not group.relation)) and not group.places:
            carried = self.focus.layer if named.layer is None else named.layer
            named = PointedAt(self.focus.cells, carried, "carried", "carried" if named.layer is None else named.layer_origin)
        ends = cells_of(self._wall(group), (0, WALL_LENGTH - 1))
        if group.relation == "between" and named.cells in (None, ends):
            return PointedAt(cells_of(self._wall(group), (1,)), named.layer, "resolved", named.layer_origin, relative=True)
        if group.relation == "on_top" and self._means_place(group):
            return PointedAt(self.focus.cells, self.focus.layer if named.layer is None else named.layer, "carried", "carried")
        if group.relation in ("on_top", "below"):
            return self._stacked(group, named, verb)
        if group.relation in ("next_to", "left_of", "right_of"):
            return self._adjacent(group, named)
        if group.top_of or (group.block is not None and group.block.topmost):
            return self._topmost(group, named, verb)
        return named

    def find(self, *, color: str | None, size: str | None, layer: int | None, cells: tuple[str, ...] | None = None,
             top: bool = False) -> WallBlock | None:  # fmt: skip
        """Give the only block of the speaker's wall that fits the description, None if there are several or none."""
        fits = [
            block
            for block in self.blocks
            if (color is None or block.color == color)
            and (size is None or block.size == size)
            and (layer is None or block.layer == layer)
            and (cells is None or set(cells) <= set(block.cells))
            and (not top or block.is_top)
        ]
        return fits[0] if len(fits) == 1 else None

    def _wall(self, group: Group) -> str:
        return f"D{group.director.number}" if group.director is not None else self.speaker

    def _named(self, group: Group) -> PointedAt:
        wall = self._wall(group)
        layers = {item.number for item in group.layers}
        layer = next(iter(layers)) if len(layers) == 1 else None
        coordinates = [cell for item in group.places for cell in re.findall(r"\(\d,\d\)", item.value)]
        if coordinates:
            return PointedAt(tuple(sorted(set(coordinates))), layer)
        if any(item.kind == "middle_side" for item in group.places):
            if layers:
                return PointedAt(None, layer)
            layer = 1
        indexes = [self._indexes(item, wall) for item in self._without_wall_name(group, wall)]
        if not indexes or any(found is None for found in indexes):
            return PointedAt(None, layer)
        return PointedAt(cells_of(wall, [index for found in indexes for index in found or ()]), layer)

    @staticmethod
    def _without_wall_name(group: Group, wall: str) -> list[Stretch]:
        """Leave out ``my left side`` where D1 means the whole left wall, where other words name the cell."""
        own = {"D1": 0, "D3": 2}.get(wall)
        named = [item for item in group.places if not (item.value == "side" and item.number == own)]
        large = group.block is not None and group.block.size == "l"
        others_are_sides = any(item.value == "side" for item in named)
        return named if len(named) >= (2 if large else 1) and not others_are_sides else group.places

    def _indexes(self, item: Stretch, wall: str) -> tuple[int, ...] | None:
        if item.kind in ("side", "middle_side"):
            return None if item.number is None else (item.number,)
        if item.kind == "cells" and item.value.isdigit():
            return tuple(int(digit) for digit in item.value)
        if item.kind == "shared":
            return self._shared(wall, item.number, away=item.value == "away")
        if item.kind == "depth" and wall == "D2" and item.number is not None:
            return (item.number,)
        if item.kind == "depth" and (wall, item.value) in _DEPTHS:
            return (_DEPTHS[wall, item.value],)
        return None

    def _shared(self, wall: str, other: int | None, *, away: bool = False) -> tuple[int, ...] | None:
        """Give the place on the wall that it has in common with another director's wall, or with the only neighbour; or its far end."""
        others = [f"D{other}"] if other is not None else [name for name in WALLS if name != wall]
        common = [at for at, cell in enumerate(WALLS[wall]) for name in others if name != wall and cell in WALLS[name]]
        if len(common) != 1:
            return None
        return (WALL_LENGTH - 1 - common[0],) if away else (common[0],)

    def _rest(self, group: Group, named: PointedAt) -> PointedAt:
        wall = WALLS[self._wall(group)]
        taken = self.focus.cells or ()
        if not taken or any(cell not in wall for cell in taken):
            return named
        free = tuple(cell for cell in wall if cell not in taken)
        layer = self.focus.layer if named.layer is None else named.layer
        return PointedAt(free, layer, "resolved", "carried", relative=True)

    def _anchor(self, group: Group, cells: tuple[str, ...] | None) -> WallBlock | None:
        item = group.anchor
        if item is None or item.kind != "block" or not (item.color or item.size):
            return None
        stated = {other.number for other in group.anchor_layers}
        layer = next(iter(stated)) if len(stated) == 1 else None
        found = self.find(color=item.color, size=item.size, layer=layer, cells=cells)
        return found or (self.find(color=item.color, size=item.size, layer=None, cells=cells) if cells else None)

    def _stacked(self, group: Group, named: PointedAt, verb: str) -> PointedAt:
        """Resolve ``on top of``, ``above``, ``below``: one layer off the block that is referred to."""
        step = 1 if group.relation == "on_top" else -1
        cells, origin = named.cells, named.cells_origin
        if cells is None and (group.anchor is None or group.anchor.kind == "pron"):
            cells, origin = self.focus.cells, "carried"
        anchor = self._anchor(group, cells)
        if cells is None and anchor is not None:
            too_wide = verb == "place" and group.block is not None and group.block.size == "s" and len(anchor.cells) > 1
            cells, origin = None if too_wide else anchor.cells, "resolved"
        stated = {other.number for other in group.anchor_layers}
        base: int | None = anchor.layer if anchor is not None else None
        if base is None and len(stated) == 1:
            base = next(iter(stated))
        if base is None and group.anchor is not None and group.anchor.kind == "pron":
            base = self.focus.layer
        layer = base + step if base is not None and base + step in LAYERS else None
        if layer is None and step == 1 and cells is not None and base is None:
            layer = self._top_layer(cells, verb)
        if named.layer is not None and (group.anchor is None or layer is None):
            layer = named.layer
        return PointedAt(cells, layer, origin, "resolved", relative=True)

    def _means_place(self, group: Group) -> bool:
        """Whether the ``it`` of ``on it`` is a place that was spoken of without a block."""
        pointing = group.anchor is not None and group.anchor.kind == "pron" and not group.places
        return pointing and self.focus.color is None and self.focus.source == "complaint"

    def _adjacent(self, group: Group, named: PointedAt) -> PointedAt:
        """Resolve ``next to it``: the middle cell next to an outer one, both others for two blocks or a large one."""
        if named.cells is not None:
            return named
        where = self._named(replace(group, places=group.anchor_places, layers=group.anchor_layers))
        anchor = self._anchor(group, where.cells)
        adjacent, layer = where.cells, where.layer
        if adjacent is None and anchor is not None:
            adjacent = anchor.cells
        elif adjacent is None and (group.anchor is None or group.anchor.kind != "block" or group.anchor.again):
            adjacent, layer = self.focus.cells, self.focus.layer
        wall = WALLS[self._wall(group)]
        if adjacent is None or any(cell not in wall for cell in adjacent):
            return PointedAt(None, named.layer, relative=True)
        wide = group.block is not None and (group.block.size == "l" or group.block.number in _PAIR)
        indexes = _neighbours([wall.index(cell) for cell in adjacent], group.relation or "", wide=wide)
        cells = cells_of(self._wall(group), indexes) if indexes else None
        return PointedAt(cells, layer if named.layer is None else named.layer, "resolved", "carried", relative=True)

    def _topmost(self, group: Group, named: PointedAt, verb: str) -> PointedAt:
        cells = named.cells
        if cells is None and verb != "place" and group.block is not None:
            found = self.find(color=group.block.color, size=group.block.size, layer=None, top=True)
            cells = found.cells if found is not None else None
            named = PointedAt(cells, named.layer, "resolved")
        if cells is None and group.top_of and not group.places:
            named = PointedAt(self.focus.cells, None, "carried")
            cells = named.cells
        if cells is None:
            return PointedAt(None, None, relative=True)
        return PointedAt(cells, self._top_layer(cells, verb), named.cells_origin, "resolved", relative=True)

    def _top_layer(self, cells: tuple[str, ...], verb: str) -> int | None:
        """Give the layer of the top block, or the next free layer for a block to be placed."""
        heights = {height(self.board, cell) for cell in cells}
        if len(heights) != 1:
            return None
        layer = heights.pop() - (0 if verb == "place" else 1)
        return layer if layer in LAYERS else None


def _neighbours(indexes: list[int], relation: str, *, wide: bool) -> tuple[int, ...] | None:
    if relation == "left_of":
        return (min(indexes) - 1,) if min(indexes) > 0 else None
    if relation == "right_of":
        return (max(indexes) + 1,) if max(indexes) + 1 in range(WALL_LENGTH) else None
    free = [index for index in range(3) if index not in indexes]
    if wide:
        return (free[0], free[1]) if free in ([0, 1], [1, 2]) else None
    adjacent = [index for index in free if any(abs(index - other) == 1 for other in indexes)]
    return (adjacent[0],) if len(adjacent) == 1 else None


_TABLES: Final[Mapping[str, Any]] = packaged_yaml(__package__, "perspective.yaml")
_PART: Final = re.compile(r"<([a-z_]+)>")


def _expanded(fragment: str) -> str:
    return _PART.sub(lambda part: _expanded(_TABLES["parts"][part[1]]), fragment)


def _any_of(fragments: Iterable[str]) -> re.Pattern[str]:
    return re.compile(r"(?<![\w])(?:" + "|".join(map(_expanded, fragments)) + r")(?![\w])", re.IGNORECASE)


_EXCLUSIVE: Final = _any_of(_TABLES["exclusive"])
_SHARED: Final = _any_of(_TABLES["shared"])
_OWN: Final = _any_of(("my", "mine"))
_SIDE_OF: Final = _any_of(_TABLES["seat"])
_DISAGREEMENT: Final = _any_of(_TABLES["disagreement"])
_POSSESSIVE: Final = _any_of([_TABLES["possessive"]])
_DIRECTOR: Final = {name: _any_of((rf"{name}(?:'s)?", rf"(?:director|player|agent) ?(?:#|no\.? ?)?{name[1]}")) for name in DIRECTORS}


def remarks_in(text: str) -> Iterator[tuple[int, int]]:
    """Give the stretches of a text that are about who sees a place or what another director wrote; sides alone are not."""
    for pattern in (_EXCLUSIVE, _SHARED, _DISAGREEMENT):
        yield from (match.span() for match in pattern.finditer(text))


def views(text: str) -> Iterator[ReadClaim[View]]:
    """Give what the text states of who sees a place; a word of a side counts only where nothing more is stated."""
    kinds: tuple[tuple[SeenBy, re.Pattern[str], str | None], ...] = (
        ("speaker", _EXCLUSIVE, None),
        ("shared", _SHARED, None),
        ("seat", _OWN, None),
        ("seat", _SIDE_OF, "whose side the place is on is not stated"),
    )
    for seen_by, pattern, doubt in kinds:
        match = pattern.search(text)
        if match is not None:
            yield ReadClaim(View(seen_by=seen_by, words=match[0]), match.start(), match.end(), doubt)
            return


def stances(text: str) -> Iterator[ReadClaim[Stance]]:
    """Give the other directors that are spoken of, apart from whose side a place is on and who sees it."""
    plain = _blanked(text, _EXCLUSIVE, _SHARED)
    disagreement = _DISAGREEMENT.search(plain)
    aside = _blanked(plain, _POSSESSIVE)
    named = [claimed for director in DIRECTORS for claimed in _stance(director, plain, aside, disagreement)]
    yield from named
    if disagreement is not None and not any(claimed.claim.attitude == "disputes" for claimed in named):
        claim = Stance(director=None, attitude="disputes", words=disagreement[0])
        yield ReadClaim(claim, disagreement.start(), disagreement.end())


def _stance(director: Director, plain: str, aside: str, disagreement: re.Match[str] | None) -> Iterator[ReadClaim[Stance]]:
    disputed = _DIRECTOR[director].search(plain) if disagreement is not None else None
    named = disputed or _DIRECTOR[director].search(aside)
    if named is None:
        return
    reply = disagreement if disputed is not None and disagreement is not None else named
    yield ReadClaim(Stance(director=director, attitude="disputes" if disputed else "named", words=reply[0]), reply.start(), reply.end())


def _blanked(text: str, *patterns: re.Pattern[str]) -> str:
    for pattern in patterns:
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    return text
