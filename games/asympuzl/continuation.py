"""AsymPuzl games with changes from a turn on, from cotrace's own log."""

from __future__ import annotations

from collections.abc import Sequence

from games.asympuzl.setup import ROLES, SCRIPTS, SOLO_ROLES, course_of, game_of
from games.continuations import replies, written
from games.players.course import Course
from games.players.setup import PlayerSetup
from schemas.game import Header, Turn

__all__ = ["course", "replies", "seats", "written"]


def seats(header: Header) -> PlayerSetup:
    """Two players, or one."""
    return PlayerSetup(SOLO_ROLES if game_of(header).solo else ROLES, SCRIPTS)


def course(header: Header, _: Sequence[Turn]) -> Course:
    """The game of a log."""
    return course_of(game_of(header))
