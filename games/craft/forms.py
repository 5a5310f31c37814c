"""CRAFT's grammar as forms: a director's message, a builder's line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from games.craft.engine.board import BLOCKS, CELLS, MAX_HEIGHT, is_large
from games.craft.text.prompts import BuilderObservation
from games.craft.text.replies import builder_line
from games.players.player import Form, Observation, Slot

_LAYERS: Final = tuple(map(str, range(MAX_HEIGHT)))
_CELL: Final = Slot("cell", "cell", CELLS)
_SPAN: Final = Slot("span", "second cell", CELLS)
_LAYER: Final = Slot("layer", "layer", _LAYERS)
_WHY: Final = Slot("why", "why", default="as asked")
_SMALL: Final = Slot("block", "block", tuple(block for block in BLOCKS if not is_large(block)))
_LARGE: Final = Slot("block", "block", tuple(block for block in BLOCKS if is_large(block)))

_DIRECTOR: Final = (
    Form(
        "Say something",
        "<think>$thought</think>\n<message>$message</message>",  # without thoughts the published reader takes the closing tag for text
        (Slot("message", "your message, one or two sentences"), Slot("thought", "your thoughts; nobody else reads them")),
    ),
)
_BUILDER: Final = (
    Form("Place a small block", "PLACE:$block:$cell:$layer:CONFIRM:$why", (_SMALL, _CELL, _LAYER, _WHY)),
    Form("Place a large block", "PLACE:$block:$cell:$layer:$span:CONFIRM:$why", (_LARGE, _CELL, _SPAN, _LAYER, _WHY)),
    Form("Remove a small block", "REMOVE:$cell:$layer:CONFIRM:$why", (_CELL, _LAYER, _WHY)),
    Form("Remove a large block", "REMOVE:$cell:$layer:$span:CONFIRM:$why", (_CELL, _SPAN, _LAYER, _WHY)),
    Form("Ask back", "CLARIFY:$question", (Slot("question", "your question"),)),
)


def forms(seen: Observation) -> Sequence[Form]:
    """What can be written: of the builder the verified moves first, if it is shown any."""
    if not isinstance(seen.data, BuilderObservation):
        return _DIRECTOR
    listed = seen.data.listed
    lines = tuple(builder_line(move, "$why") for move in listed)
    verified = tuple(Form(line.partition(":CONFIRM")[0], line, (_WHY,)) for line in lines)
    return (*verified, *_BUILDER)
