"""Players who play well up to a turn and then fall into a fault: `vague@8` is `vague` from turn 8 on, and `vague@8!12` not in turn 12."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from schemas.errors import UsageError
from schemas.text import near

_FROM: Final = "@"
_NOT_IN: Final = "!"


class Onset(NamedTuple):
    """A script, and when it plays."""

    script: str
    turn: int
    """From 1; before it the family's faultless script plays."""

    mended: int | None = None
    """The one turn from then on in which the faultless script plays all the same; None: there is none."""

    def at(self, turn: int, faultless: str) -> str:
        """Who plays in a turn."""
        return self.script if turn >= self.turn and turn != self.mended else faultless


def onset_of(name: str, known: Collection[str], what: str) -> Onset:
    """Read `script`, `script@turn`, `script!turn` or `script@turn!turn`.

    Raises:
        UsageError: there is no such script, or a turn is none.
    """
    rest, not_in, mended = name.partition(_NOT_IN)
    script, begins, turn = rest.partition(_FROM)
    if script not in known:
        raise UsageError(f"unknown {what} {script!r}{near(script, known)}")
    for mark, number in ((begins, turn), (not_in, mended)):
        if mark and (not number.isdecimal() or int(number) < 1):
            raise UsageError(
                f"{what} {name!r}: write {script}{_FROM}8 for one who plays so from turn 8 on, {script}{_NOT_IN}12 for all but turn 12"
            )
    return Onset(script, int(turn) if begins else 1, int(mended) if not_in else None)


def mended_in(name: str, turn: int) -> str:
    """The same player, but faultless in one turn."""
    return f"{unmended(name)}{_NOT_IN}{turn}"


def unmended(name: str) -> str:
    """A script's name, or several, as they seed random numbers: a mended game is the same up to the turn that is mended."""
    head, *rest = name.split(_NOT_IN)
    return head + "".join(part.lstrip("0123456789") for part in rest)


def script_of(name: str) -> str:
    """The script alone, without turns."""
    return unmended(name).partition(_FROM)[0]
