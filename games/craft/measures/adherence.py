"""Did the builder follow a listed candidate? Three readings, of the logs and of the reference tables."""

from collections.abc import Sequence

from games.craft.engine.move import Move


def followed_action_position_layer(listed: Sequence[Move], attempted: Move) -> bool:
    """Tell whether a candidate has the same action, position and layer.

    This is the logs' ``builder_followed_oracle``: block and second cell are not compared and the
    engine may have refused the move.
    """
    return attempted in listed or any(same_place(move, attempted) for move in listed)


def followed_full(listed: Sequence[Move], attempted: Move) -> bool:
    """Tell whether the move is literally a candidate, block and second cell included.

    The engine refuses such a move only when a blank in its coordinates leads execution to a ghost cell (X1).
    """
    return attempted in listed


def followed_physical(listed: Sequence[Move], attempted: Move) -> bool:
    """Tell whether the move is a candidate, a large block named from either end.

    As in ``followed_full`` a superfluous second cell on a small block does not count as following; ``same_effect`` lets it pass.
    """
    return attempted in listed or any(_same_ends(move, attempted) for move in listed)


def same_place(first: Move, second: Move) -> bool:
    """Compare action, position and layer."""
    return (first.action, first.position, first.layer) == (
        second.action,
        second.position,
        second.layer,
    )


def same_effect(first: Move, second: Move) -> bool:
    """Compare what two moves do to the board: action, block, layer and the cells the block covers."""
    return (first.action, first.block, first.layer) == (second.action, second.block, second.layer) and first.covered() == second.covered()


def _same_ends(first: Move, second: Move) -> bool:
    ends = {first.position, first.span_to}
    return (first.action, first.block, first.layer) == (second.action, second.block, second.layer) and ends == {
        second.position,
        second.span_to,
    }
