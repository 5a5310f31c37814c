"""Einstein games with changes from a turn on, from cotrace's own log or a published one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from games.einstein.engine.actions import write_answer
from games.einstein.engine.puzzle import parse_game_id
from games.einstein.players.team import CASTS
from games.einstein.setup import ROLES, SCRIPTS, GameSetup, course_of, scripted_course, settings_of
from games.players.course import Course, Takeover
from games.players.setup import DEFAULT_START, PlayerSetup
from schemas.common.errors import BadInputError
from schemas.game import Header, ReplyEntry, Turn


def player_setup(_: Header) -> PlayerSetup:
    """Two players."""
    return PlayerSetup(ROLES, SCRIPTS, CASTS)


def course(header: Header, _: Sequence[Turn]) -> Course:
    """The game of a log."""
    return course_of(_game(header, {}))


def scripted(header: Header, taken: Mapping[str, str], takeover: Takeover | None) -> Course:
    """The game of a log, played by scripts that remember."""
    course = scripted_course(_game(header, taken), takeover)
    assert course is not None  # no number of a solution is asked for
    return course


def _game(header: Header, taken: Mapping[str, str]) -> GameSetup:
    started_at = datetime.fromisoformat(header.started_at) if header.started_at else DEFAULT_START
    puzzle = parse_game_id(str(header.task.get("id")))
    return GameSetup(puzzle=puzzle, settings=settings_of(header), taken=taken, seed=header.seed or 0, started_at=started_at)


def replies(header: Header, turn: Turn) -> list[ReplyEntry]:
    """The answers of the step; if the log has only the executed one of several, that one for all."""
    if not turn.actions or turn.actions[0].raw is None:
        raise BadInputError(f"turn {turn.turn} holds no answer", locator=".actions")
    settings = settings_of(header)
    count = 1 if settings.verifier is None else settings.samples
    texts = turn.samples.texts if turn.samples else [turn.actions[0].raw] * count
    return [ReplyEntry(agent=turn.actions[0].agent, text=text) for text in texts]


def written(_: str, __: str, text: str) -> str:
    """An action in its tag; sharing and asking are actions too."""
    return text if "<ACTION>" in text else write_answer(text, "")
