"""Players who play well up to a turn and then fall into a fault: `vague@8` is `vague` from turn 8 on."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from schemas.errors import UsageError

__all__ = ["Onset", "onset_of"]

_MARK: Final = "@"


class Onset(NamedTuple):
    """A script, and from when on it plays."""

    script: str
    turn: int
    """From 1; before it the family's faultless script plays."""

    def at(self, turn: int, faultless: str) -> str:
        """Who plays in a turn."""
        return self.script if turn >= self.turn else faultless


def onset_of(name: str, known: Collection[str], what: str) -> Onset:
    """Read `script` or `script@turn`.

    Raises:
        UsageError: there is no such script, or the turn is none.
    """
    script, mark, turn = name.partition(_MARK)
    if script not in known:
        raise UsageError(f"unknown {what} {script!r}; there are: {', '.join(known)}")
    if not mark:
        return Onset(script, 1)
    if not turn.isdecimal() or int(turn) < 1:
        raise UsageError(f"{what} {name!r}: write {script}{_MARK}8 for one who plays so from turn 8 on")
    return Onset(script, int(turn))
