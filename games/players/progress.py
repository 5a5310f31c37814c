"""How far many games are, told while they are played."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from games.players.player import Observation, Player, PlayerReply, reading_of
from providers.asker import Usage
from schemas.replies import Read

_EVERY_S: Final = 0.2
"""Most often that anybody is told."""


class PlayProgress(NamedTuple):
    """How far a run is."""

    games: int
    """Finished, those that were there before included."""
    total: int
    turns: int
    """Played now, those of unfinished games included."""
    calls: int
    """Replies that came, out of the journal too."""
    cost: float | None
    """USD, paid now."""
    seconds_left: float | None
    """If it goes on as so far, and unfinished games need all their turns; None: not known yet."""


OnProgress = Callable[[PlayProgress], None]


class Watch:
    """Counts the turns of many games as they go on.

    Args:
        most_turns: turn limit of each game that is to be played, None where there is none, by its log.
        kept: games that are there already.
        usage: what is asked of models meanwhile.
        tell: whom.
    """

    def __init__(self, most_turns: Mapping[Path, int | None], *, kept: int, usage: Usage, tell: OnProgress | None) -> None:
        self._most, self._kept, self._usage, self._tell = most_turns, kept, usage, tell
        self._turn: dict[Path, int] = {}
        """Finished turns of the games under way."""
        self._ended = self._turns_of_ended = 0
        self._began = time.monotonic()
        self._told = 0.0
        self.reads: Counter[Read | None] = Counter()
        """How replies of models were read; None: nothing came, or nothing reads them."""

    def saw(self, game: Path, turn: int) -> None:
        """A turn of a game is under way."""
        self._turn[game] = turn - 1
        if time.monotonic() - self._told >= _EVERY_S:
            self._say()

    def ended(self, game: Path, turns: int) -> None:
        """A game is over."""
        self._turn.pop(game, None)
        self._ended += 1
        self._turns_of_ended += turns
        self._say()

    def _say(self) -> None:
        self._told = time.monotonic()
        if self._tell is not None:
            self._tell(self._progress())

    def _progress(self) -> PlayProgress:
        parts = (turn / most for game, turn in self._turn.items() if (most := self._most[game]))
        done = (self._ended + sum(parts)) / len(self._most)
        took = time.monotonic() - self._began
        return PlayProgress(
            games=self._kept + self._ended,
            total=self._kept + len(self._most),
            turns=self._turns_of_ended + sum(self._turn.values()),
            calls=self._usage.asked,
            cost=self._usage.cost,
            seconds_left=took * (1 - done) / done if done else None,
        )


class WatchedPlayer:
    """A player of whom it is told which turn it is asked in."""

    def __init__(self, player: Player, game: Path, watch: Watch) -> None:
        self.name = player.name
        self._player, self._game, self._watch = player, game, watch

    async def reply(self, seen: Observation, *, episode: str) -> PlayerReply:
        """Let the player answer."""
        self._watch.saw(self._game, seen.turn)
        reply = await self._player.reply(seen, episode=episode)
        if reply.call is not None:
            self._watch.reads[reading.read if (reading := reading_of(seen, reply)) else None] += 1
        return reply
