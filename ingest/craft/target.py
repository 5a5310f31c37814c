"""What is wrong with a logged target in itself: blocks that do not exist, large blocks without their other half, another tier."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from games.craft.engine.blocks import BLOCKS, CELLS, NEIGHBORS, is_large
from games.craft.engine.board import Board
from games.craft.targets.structures import COMPLEXITIES, complexity_of
from ingest.reading.difference import Difference
from ingest.reading.json_text import dumps

__all__ = ["target_differences"]


def target_differences(target: Board, level: str | None) -> Iterator[Difference]:
    """Yield what cannot be true of a target; its tier is compared where it is one of the published."""
    yield from _faults(target)
    tier = complexity_of(target.blocks_total())
    if level in COMPLEXITIES and level != tier:
        yield Difference("complexity", dumps(level), dumps(tier))


@lru_cache(maxsize=1024)
def _faults(target: Board) -> tuple[Difference, ...]:
    strange = sorted({block for stack in target.stacks for block in stack} - set(BLOCKS)) + [name for name, _ in target.ghosts]
    found = [Difference("target_structure", dumps(strange), None)] if strange else []
    spans = [(layer, *span) for layer, records in target.spans for span in records]
    wrong = [span for span in spans if not _is_large_block(target, *span)]
    halves = {(layer, cell) for layer, *cells in spans for cell in cells}
    single = [
        (layer, cell)
        for cell, stack in zip(CELLS, target.stacks, strict=True)
        for layer, block in enumerate(stack)
        if block in BLOCKS and is_large(block) and (layer, cell) not in halves
    ]
    if wrong or single or len(halves) < 2 * len(spans):
        found.append(Difference("target_spans", dumps(spans), dumps(single) if single else None))
    return tuple(found)


def _is_large_block(target: Board, layer: int, first: str, second: str) -> bool:
    """Whether the same large block lies on both cells, side by side."""
    if second not in NEIGHBORS.get(first, ()):
        return False
    one, other = target.stack(first), target.stack(second)
    return layer < min(len(one), len(other)) and one[layer] == other[layer] and is_large(one[layer])
