"""Collab-Overcooked games that go on otherwise, from cotrace's own log."""

from __future__ import annotations

from collections.abc import Sequence

from games.continuations.own_log import replies, written
from games.overcooked.seated import SCRIPTS, SEATS, course_of, game_of
from games.players.course import Course
from games.players.seats import Seats
from schemas.game import Header, Turn

__all__ = ["course", "replies", "seats", "written"]


def seats(_: Header) -> Seats:
    """A chef and an assistant."""
    return Seats(SEATS, SCRIPTS)


def course(header: Header, _: Sequence[Turn]) -> Course:
    """The game of a log."""
    return course_of(game_of(header))
