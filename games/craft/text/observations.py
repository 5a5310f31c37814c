"""What an agent may see when it is its turn to speak or act; nothing else reaches a player."""

from dataclasses import dataclass

from games.craft.engine.blocks import Director
from games.craft.engine.board import Board
from games.craft.engine.move import Move
from games.craft.engine.views import View


@dataclass(frozen=True, slots=True)
class DirectorObservation:
    """All that a director may see when asked to speak."""

    director: Director
    turn: int
    target_view: View
    """The director's own wall of the target."""

    board_views: dict[Director, View]
    """All three walls of the current board; no view shows the hidden cells."""

    history: tuple[str, ...]
    """The conversation before this turn, and this turn's messages if the settings say so.

    Its result lines quote the whole board, hidden cells included, as in the published loop.
    """

    said: tuple[str, ...] = ()
    """The director's own earlier messages of this turn; empty under the published rules, which do not tell."""

    unread: bool = False
    """Whether nothing of the director's last reply could be read; not under the published rules, which do not tell."""


@dataclass(frozen=True, slots=True)
class BuilderObservation:
    """All that the builder may see when asked to act."""

    turn: int
    board: Board
    discussion: str
    """This turn's messages, one line each; the builder sees no earlier ones."""

    listed: tuple[Move, ...]
    """Verified candidates; empty without oracle or when there are none."""

    simulated: tuple[str, ...] = ()
    """What the tool answered in this turn, one JSON text a call."""

    unread: str | None = None
    """Why the builder's reply of the turn before could not be read; None if it could, and under the published rules, which do not tell."""
