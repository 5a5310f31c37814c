"""What a game family brings to continuations: a module `games.<family>.continuation`, found by its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from games.players.course import Course
from games.players.setup import PlayerSetup
from schemas.errors import UsageError
from schemas.families import modules
from schemas.game import Header, ReplyEntry, Turn


class ContinuedGame(Protocol):
    """A module of this face makes a family's logged games go on otherwise."""

    @property
    def seats(self) -> Callable[[Header], PlayerSetup]:
        """Who can play which agent in the game of a log."""
        ...

    @property
    def course(self) -> Callable[[Header, Sequence[Turn]], Course]:
        """The game of a log from its beginning; the turns are those that will be played as they were.

        Raises BadInputError where the header is none of the family's.
        """
        ...

    @property
    def replies(self) -> Callable[[Header, Turn], Sequence[ReplyEntry]]:
        """What the agents gave in a turn, word for word or so that the game reads the same, where the log does not keep it."""
        ...

    @property
    def written(self) -> Callable[[str, str, str], str]:
        """A reply of an agent out of what a person wants it to `say` or to `do` (agent, which of the two, text)."""
        ...


def continued_game(benchmark: str) -> ContinuedGame:
    """The family's module.

    Raises:
        UsageError: games of this benchmark cannot be played on.
    """
    found: dict[str, Any] = dict(modules("games", "continuation"))
    if benchmark not in found:
        raise UsageError(f"games of {benchmark} cannot be played on: it can be done for {', '.join(found)}")
    game: ContinuedGame = found[benchmark]
    return game
