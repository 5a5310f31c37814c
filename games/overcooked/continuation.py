"""Collab-Overcooked games with changes from a turn on, from cotrace's own log."""

from __future__ import annotations

from collections.abc import Sequence

from games.continuations import replies, written
from games.overcooked.players.plain import SCRIPTS
from games.overcooked.setup import ROLES, course_of, game_of
from games.players.course import Course
from games.players.setup import PlayerSetup
from schemas.game import Header, Turn

__all__ = ["course", "replies", "seats", "written"]


def seats(_: Header) -> PlayerSetup:
    """A chef and an assistant."""
    return PlayerSetup(ROLES, SCRIPTS)


def course(header: Header, _: Sequence[Turn]) -> Course:
    """The game of a log."""
    return course_of(game_of(header))
