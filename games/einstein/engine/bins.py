"""The seven bins of the table, who reaches them, and how two bins lie to each other.

Left and right, top and bottom are absolute: the player at the top sees no mirror image.
Source: formats/einstein.md sections 1 and 2.
"""

from typing import Final, Literal, get_args

Bin = Literal["top_left_bin", "bottom_left_bin", "top_right_bin", "bottom_right_bin", "player1_bin", "player2_bin", "commonbin"]
RelationKind = Literal["bin", "row", "column", "diagonal"]
Player = Literal[0, 1]

PLAYERS: Final[tuple[Player, Player]] = get_args(Player)
BINS: Final[tuple[Bin, ...]] = get_args(Bin)

DESTINATIONS: Final[tuple[Bin, ...]] = BINS[:4]
"""The place of a bin in this tuple is its digit in a game id: row + 2 * column, top = left = 0."""

START_BINS: Final[tuple[Bin, Bin]] = ("player1_bin", "player2_bin")
"""Start bin of player 0 and of player 1."""

COMMON: Final[Bin] = "commonbin"

OWN_DESTINATIONS: Final[tuple[frozenset[Bin], frozenset[Bin]]] = (
    frozenset({"bottom_left_bin", "bottom_right_bin"}),
    frozenset({"top_left_bin", "top_right_bin"}),
)
"""The destination bins that each player reaches: player 0 is at the bottom."""

REACH: Final[tuple[tuple[Bin, ...], tuple[Bin, ...]]] = (
    ("bottom_left_bin", "player1_bin", "bottom_right_bin", "commonbin"),
    ("top_left_bin", "player2_bin", "top_right_bin", "commonbin"),
)
"""The bins that each player reaches, in the order in which prompts name them."""

SHOWN_BINS: Final[tuple[Bin, ...]] = (
    "top_left_bin",
    "player2_bin",
    "top_right_bin",
    "commonbin",
    "bottom_left_bin",
    "player1_bin",
    "bottom_right_bin",
)
"""All bins in the order in which prompts list them."""

_OFFSET: Final[dict[RelationKind, int]] = {"bin": 0, "row": 2, "column": 1, "diagonal": 3}
"""Bit 0: the row differs; bit 1: the column differs. The digit of a destination has the same bits."""

_KIND: Final[dict[int, RelationKind]] = {offset: kind for kind, offset in _OFFSET.items()}
_CODE: Final[dict[Bin, int]] = {name: code for code, name in enumerate(DESTINATIONS)}


def relation_between(one: Bin, other: Bin) -> RelationKind:
    """Give the one relation that holds between two destination bins.

    Raises:
        KeyError: one of them is not a destination bin.
    """
    return _KIND[_CODE[one] ^ _CODE[other]]


def bin_at_offset(start: Bin, kind: RelationKind) -> Bin:
    """Give the destination bin that lies in this relation to a destination bin.

    Raises:
        KeyError: ``start`` is not a destination bin.
    """
    return DESTINATIONS[_CODE[start] ^ _OFFSET[kind]]
