"""AsymPuzl games that go on otherwise, from cotrace's own log."""

from __future__ import annotations

from collections.abc import Sequence

from games.asympuzl.seated import SCRIPTS, SEATS, SOLO_SEATS, course_of, game_of
from games.continuations.own_log import replies, written
from games.players.course import Course
from games.players.seats import Seats
from schemas.game import Header, Turn

__all__ = ["course", "replies", "seats", "written"]


def seats(header: Header) -> Seats:
    """Two players, or one."""
    return Seats(SOLO_SEATS if game_of(header).solo else SEATS, SCRIPTS)


def course(header: Header, _: Sequence[Turn]) -> Course:
    """The game of a log."""
    return course_of(game_of(header))
