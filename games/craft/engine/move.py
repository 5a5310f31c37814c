"""The builder's move as a typed record, and its form in logs."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from games.craft.engine.blocks import Cell, is_large


class Move(Struct, frozen=True, cache_hash=True):
    """One PLACE or REMOVE, as the builder wrote it or as the engine tidied it."""

    action: str
    """``place`` or ``remove``; logs of other engines could hold anything."""

    block: str | None
    """Block code. None for a removal whose block was not (or could not be) looked up."""

    position: str
    """Cell, ``"(i,j)"``; any text in moves that were rejected or that made ghost cells."""

    layer: int
    """Layer from 0 (bottom)."""

    span_to: str | None = None
    """Second cell of a large block; any text that the builder wrote is kept."""

    @classmethod
    def from_log(cls, move: Mapping[str, Any]) -> "Move":
        """Read ``builder_move_raw``, ``move_attempted`` or an entry of ``oracle_moves``.

        Raises:
            KeyError: action, position or layer is missing.
            TypeError: one of them, the block or the second cell has a type that no log writes.
        """
        fields = move["action"], move.get("block"), move["position"], move["layer"], move.get("span_to")
        match fields:
            case [str(), str() | None, str(), int(), str() | None]:
                return cls(*fields)
        raise TypeError(f"{dict(move)!r} is no move: action and position are texts, layer is an integer, block and span_to texts or null")

    def to_log(self) -> dict[str, Any]:
        """Give the dictionary logs hold; ``block`` is left out where it is unknown."""
        log: dict[str, Any] = {"action": self.action}
        if self.block is not None:
            log["block"] = self.block
        return log | {"position": self.position, "layer": self.layer, "span_to": self.span_to}

    def covered(self) -> frozenset[Cell]:
        """Give the cells the block covers: one, or two of a large block whose second cell is named."""
        if self.span_to is None or not is_large(self.block or ""):
            return frozenset((self.position,))
        return frozenset((self.position, self.span_to))
