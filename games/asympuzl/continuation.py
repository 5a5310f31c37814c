"""AsymPuzl games with changes from a turn on, from cotrace's own log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from games.asympuzl.setup import CASTS, ROLES, SCRIPTS, SOLO_ROLES, course_of, game_of, scripted_course
from games.players.course import Course, Takeover
from games.players.setup import PlayerSetup
from schemas.game import Header, Turn


def player_setup(header: Header) -> PlayerSetup:
    """Two players, or one."""
    return PlayerSetup(SOLO_ROLES, SCRIPTS) if game_of(header).solo else PlayerSetup(ROLES, SCRIPTS, CASTS)


def course(header: Header, _: Sequence[Turn]) -> Course:
    """The game of a log."""
    return course_of(game_of(header))


def scripted(header: Header, taken: Mapping[str, str], takeover: Takeover | None) -> Course:
    """The game of a log, played by scripts that remember."""
    return scripted_course(replace(game_of(header), taken=taken), takeover=takeover)
