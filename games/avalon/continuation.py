"""Avalon games with changes from a turn on, from cotrace's own log."""

from __future__ import annotations

from collections.abc import Sequence

from games.avalon.setup import course_of, game_of, setup_of
from games.players.course import Course
from games.players.setup import PlayerSetup
from schemas.game import Header, Turn


def player_setup(header: Header) -> PlayerSetup:
    """The players of the table."""
    return setup_of(len(header.agents))


def course(header: Header, _: Sequence[Turn]) -> Course:
    """The game of a log."""
    return course_of(game_of(header))
