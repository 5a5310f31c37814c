"""LLM-Coordination games with changes from a turn on, from cotrace's own log."""

from __future__ import annotations

from collections.abc import Sequence

from games.continuations.own_log import replies, written
from games.coordination.seated import course_of, game_of, seats_of, table_of
from games.players.course import Course
from games.players.seats import Seats
from schemas.game import Header, Turn

__all__ = ["course", "replies", "seats", "written"]


def seats(header: Header) -> Seats:
    """Alice and Bob, with the scripts of their game."""
    return seats_of(game_of(header).game)


def course(header: Header, turns: Sequence[Turn]) -> Course:
    """The game of a log."""
    return course_of(game_of(header), table_of(header, [turn.state_before for turn in turns]))
