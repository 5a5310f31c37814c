"""Did the builder follow a listed candidate? Three readings, from loose to physical."""

from collections.abc import Sequence

from games.craft.move import Move

__all__ = ["followed_full", "followed_logged", "followed_physical", "same_effect", "same_place"]


def followed_logged(listed: Sequence[Move], attempted: Move) -> bool:
    """Tell whether a candidate has the same action, position and layer.

    This is the logs' ``builder_followed_oracle``: block and second cell are not compared and the
    engine may have refused the move.
    """
    return any(same_place(move, attempted) for move in listed)


def followed_full(listed: Sequence[Move], attempted: Move, *, accepted: bool) -> bool:
    """Tell whether an accepted move is literally a candidate, second cell included."""
    return accepted and attempted in listed


def followed_physical(listed: Sequence[Move], attempted: Move, *, accepted: bool) -> bool:
    """Tell whether an accepted move does what a candidate does.

    A large block may be named from either end; a small one may carry a superfluous second cell.
    """
    return accepted and any(same_effect(move, attempted) for move in listed)


def same_place(first: Move, second: Move) -> bool:
    """Compare action, position and layer."""
    return (first.action, first.position, first.layer) == (
        second.action,
        second.position,
        second.layer,
    )


def same_effect(first: Move, second: Move) -> bool:
    """Compare what two moves do to the board: action, block, layer and the cells it covers."""
    return (first.action, first.block, first.layer) == (second.action, second.block, second.layer) and first.covered() == second.covered()
