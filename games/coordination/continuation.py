"""LLM-Coordination games with changes from a turn on, from cotrace's own log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from games.coordination.setup import course_of, game_of, scripted_course, setup_of, table_of
from games.players.course import Course, Takeover
from games.players.setup import PlayerSetup
from schemas.game import Header, Turn


def player_setup(header: Header) -> PlayerSetup:
    """Alice and Bob, with the scripts of their game."""
    return setup_of(game_of(header).game)


def course(header: Header, turns: Sequence[Turn]) -> Course:
    """The game of a log."""
    return course_of(game_of(header), table_of(header, [turn.state_before for turn in turns]))


def scripted(header: Header, taken: Mapping[str, str], takeover: Takeover | None) -> Course:
    """The game of a log, played by scripts that remember."""
    return scripted_course(replace(game_of(header), taken=taken), takeover=takeover)
