"""AsymPuzl games that go on otherwise, from cotrace's own log."""

from __future__ import annotations

from collections.abc import Sequence

from games.asympuzl.seated import SCRIPTS, SEATS, SOLO_SEATS, course_of, game_of
from games.players.course import Course
from games.players.seats import Seats
from schemas.errors import UsageError
from schemas.game import Header, ReplyEntry, Turn

__all__ = ["course", "replies", "seats", "written"]


def seats(header: Header) -> Seats:
    """Two players, or one."""
    return Seats(SOLO_SEATS if game_of(header).solo else SEATS, SCRIPTS)


def course(header: Header, _: Sequence[Turn]) -> Course:
    """The game of a log."""
    return course_of(game_of(header))


def replies(_: Header, turn: Turn) -> list[ReplyEntry]:
    """Only cotrace's own log keeps them.

    Raises:
        UsageError: always.
    """
    raise UsageError(f"turn {turn.turn} cannot be played again: its log does not keep what the agents wrote")


def written(_: str, __: str, text: str) -> str:
    """A reply word for word: messages and actions are one object."""
    return text
