"""What can go wrong between a builder's intention and its line: misreadings of the move, and broken lines."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from games.craft.engine.blocks import CELLS, COLORS, MAX_HEIGHT, NEIGHBORS, WALLS, Director, is_large
from games.craft.engine.board import Board
from games.craft.engine.move import Move


@dataclass(frozen=True, slots=True)
class SlipScene:
    """What a slip can depend on."""

    board: Board
    followed: Director | None
    rng: random.Random


MoveSlip = Callable[[Move, SlipScene], Move | None]
"""Gives the move that is written instead, or None where this slip cannot happen."""

LineSlip = Callable[[str, Move, SlipScene], str | None]
"""Gives the line that is written instead, or None where this slip cannot happen."""


def _layer(move: Move, scene: SlipScene) -> Move | None:
    return replace(move, layer=scene.rng.choice([layer for layer in range(MAX_HEIGHT) if layer != move.layer]))


def _span_omitted(move: Move, _: SlipScene) -> Move | None:
    return replace(move, span_to=None) if move.span_to else None


def _span_wrong(move: Move, scene: SlipScene) -> Move | None:
    if not move.span_to:
        return None
    return replace(move, span_to=scene.rng.choice([cell for cell in CELLS if cell not in (move.position, move.span_to)]))


def _span_none_text(move: Move, _: SlipScene) -> Move | None:
    return None if move.span_to else replace(move, span_to="None")


def _span_extra(move: Move, scene: SlipScene) -> Move | None:
    if move.span_to or is_large(move.block or "") or move.action != "place":
        return None
    return replace(move, span_to=scene.rng.choice(NEIGHBORS[move.position]))


def _endpoint_reversed(move: Move, _: SlipScene) -> Move | None:
    return replace(move, position=move.span_to, span_to=move.position) if move.span_to else None


def _frame_flip(move: Move, scene: SlipScene) -> Move | None:
    """Left and right of the director's wall are swapped."""
    wall = WALLS[scene.followed] if scene.followed else ()
    flipped = dict(zip(wall, wall[::-1], strict=True))
    position = flipped.get(move.position)
    if position is None or position == move.position:
        return None
    layer = min(scene.board.height(position), MAX_HEIGHT - 1)
    return replace(move, position=position, layer=layer, span_to=flipped.get(move.span_to or ""))


def _color(move: Move, scene: SlipScene) -> Move | None:
    if move.action != "place" or not move.block:
        return None
    return replace(move, block=scene.rng.choice([letter for letter in COLORS if letter != move.block[0]]) + move.block[1])


def _bad_block_code(move: Move, scene: SlipScene) -> Move | None:
    return replace(move, block=scene.rng.choice(["p", "w", "x"]) + (move.block or "s")[-1]) if move.action == "place" else None


def _bad_coordinate(move: Move, scene: SlipScene) -> Move | None:
    return replace(move, position=scene.rng.choice(["(3,1)", "(1,4)", "(0)", "0,2", "A1"]))


def _space_in_coordinate(move: Move, _: SlipScene) -> Move | None:
    return replace(move, position=move.position.replace(",", ", "))


def _place_on_full(move: Move, scene: SlipScene) -> Move | None:
    full = [cell for cell in CELLS if scene.board.height(cell) == MAX_HEIGHT]
    if move.action != "place" or not full:
        return None
    return replace(move, position=scene.rng.choice(full), layer=MAX_HEIGHT)


MOVE_SLIPS: Final[dict[str, MoveSlip]] = {
    "layer_slip": _layer,
    "span_omitted": _span_omitted,
    "span_wrong": _span_wrong,
    "span_none_text": _span_none_text,
    "span_extra": _span_extra,
    "endpoint_reversed": _endpoint_reversed,
    "frame_flip": _frame_flip,
    "color_slip": _color,
    "bad_block_code": _bad_block_code,
    "bad_coordinate": _bad_coordinate,
    "space_in_coordinate": _space_in_coordinate,
    "place_on_full": _place_on_full,
}


def _malformed_line(_: str, move: Move, scene: SlipScene) -> str | None:
    return scene.rng.choice([f"I will {move.action} it at {move.position} now.", f"{move.action.title()} {move.position}", "OK"])


def _layer_not_a_number(line: str, move: Move, scene: SlipScene) -> str | None:
    return line.replace(f":{move.layer}:", f":{scene.rng.choice(['bottom', 'top', '1st'])}:", 1)


def _remove_with_code(line: str, move: Move, _: SlipScene) -> str | None:
    return line.replace("REMOVE:", f"REMOVE:{move.block}:", 1) if move.action == "remove" and move.block else None


def _brackets(line: str, _: Move, __: SlipScene) -> str | None:
    return f"[{line}]"


def _colon_in_confirmation(line: str, _: Move, __: SlipScene) -> str | None:
    return line.replace("CONFIRM:", "CONFIRM:Here goes: ", 1)


def _extra_line(line: str, _: Move, __: SlipScene) -> str | None:
    return f"{line}\nLet me know what comes next."


LINE_SLIPS: Final[dict[str, LineSlip]] = {
    "malformed_line": _malformed_line,
    "layer_not_a_number": _layer_not_a_number,
    "remove_with_code": _remove_with_code,
    "brackets": _brackets,
    "colon_in_confirmation": _colon_in_confirmation,
    "extra_line": _extra_line,
}

MISREADINGS: Final = frozenset(("frame_flip", "color_slip"))
"""Slips that show the builder did not understand side or colour."""

HARMLESS_SLIPS: Final = frozenset(
    (
        "layer_slip", "span_omitted", "span_wrong", "span_none_text", "span_extra", "endpoint_reversed",
        "remove_with_code", "brackets", "extra_line",
    )
)  # fmt: skip
"""Slips of layer, second cell or form: what was asked for was understood."""
