"""Places that a text gives by another block: worked out by the board, and left open where that is not settled."""

from __future__ import annotations

from typing import Any, Final

import pytest

from games.craft.claims import CraftClaim, Named, Relation, Request
from games.craft.engine.board import CELLS, Board, Cell, Director
from judges.claims.reading import Read, ReadClaim, TextClaims
from judges.craft.reading import blocks_of, board_of, resolved

TEXT = "I need a green block next to the orange one."
BESIDE_THE_ORANGE: Final[dict[str, tuple[Director, list[Cell], dict[Cell, list[str]], tuple[Cell, ...], bool | None]]] = {
    "the board has it there": ("D3", ["(2,2)"], {"(2,2)": ["os"]}, ("(1,2)",), True),
    "the board has none": ("D3", ["(2,2)"], {}, ("(1,2)",), True),
    "the board has it elsewhere, and both lead to one cell": ("D3", ["(2,2)"], {"(0,2)": ["os"]}, ("(1,2)",), False),
    "the board has it elsewhere, and they lead to two cells": ("D2", ["(0,0)"], {"(0,1)": ["os"]}, (), None),
    "the board has it where nothing is beside it on the wall": ("D1", ["(0,0)"], {"(1,2)": ["os"]}, ("(1,0)",), False),
    "the board has two elsewhere": ("D3", ["(1,2)"], {"(0,2)": ["os"], "(2,2)": ["os"]}, (), None),
}


@pytest.mark.parametrize("case", BESIDE_THE_ORANGE)
def test_a_block_that_is_not_where_a_text_sees_it_may_be_either(case: str) -> None:
    """The place is worked out only if all blocks that can be meant lead to it; the text gives it only if there is one."""
    speaker, seen_at, stacks, cells, stated = BESIDE_THE_ORANGE[case]
    request = asked(speaker, seen_at, stacks)
    assert (request.cells, request.stated if request.cells else None) == (cells, stated)


def test_a_text_names_the_cell_of_a_block_beside_which_something_goes() -> None:
    """Whatever it says of the cell."""
    read = reading("D3", ["(2,2)"], {"(2,2)": ["os"]})
    named = TextClaims(read).whole(Named)
    assert isinstance(named, tuple)
    assert {one.cell for one in named} == {"(1,2)", "(2,2)"}


def asked(speaker: Director, seen_at: list[Cell], stacks: dict[Cell, list[str]]) -> Request:
    """The one request of a text."""
    [request] = [told.claim for told in reading(speaker, seen_at, stacks).claims if isinstance(told.claim, Request)]
    return request


def reading(speaker: Director, seen_at: list[Cell], stacks: dict[Cell, list[str]]) -> Read[CraftClaim]:
    """What a model reads, after the places are worked out: a green block beside an orange one on the bottom layer of a cell."""
    beside = Relation(how="beside", color="o", cells=tuple(seen_at), layer=0)
    request = Request(verb="place", color="g", relations=(beside,), words=TEXT)
    board = Board.from_json({cell: stacks.get(cell, []) for cell in CELLS}, None)
    return resolved(Read((ReadClaim(request, 0, len(TEXT)),)), TEXT, speaker, board)


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        ({"stacks": {"(0,1)": ["bl"]}, "spans": {"0": [["(0,1)", "(0,3)"]]}}, "large blue (0,1) layer 0"),
        ({"stacks": {"(0,1)": ["bl"], "(0,2)": ["bl"]}, "spans": {"0": [["(0,2)", "(0,1)"]]}}, "large blue (0,1)+(0,2) layer 0"),
        ({"stacks": {"(0,0)": ["purple"], "(1,1)": [""]}, "spans": {}}, "some block (0,0) layer 0; some block (1,1) layer 0"),
    ],
)
def test_what_a_log_states_outside_the_game_is_shown_as_far_as_it_is_known(state: dict[str, Any], shown: str) -> None:
    """A large block that reaches beyond the grid, and blocks of no kind that the game has."""
    assert "; ".join(map(str, blocks_of(board_of(state)))) == shown
