"""A game of Collab-Overcooked whose queries two players answer at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from games.overcooked.game import Game
from games.overcooked.text.prompts import Query


class Answerer(Protocol):
    """Plays an agent."""

    def answer(self, query: Query) -> str:
        """Give a whole output with its three labelled fields."""
        ...


def timestep(game: Game, players: Sequence[Answerer]) -> dict[str, Any]:
    """Play one timestep; gives its log entry."""
    asking = game.timestep()
    try:
        query = next(asking)
        while True:
            query = asking.send(players[query.agent].answer(query))
    except StopIteration as over:
        entry: dict[str, Any] = over.value
        return entry


def timesteps(game: Game, players: Sequence[Answerer]) -> Iterator[dict[str, Any]]:
    """Play to the end; gives the log entry of each timestep once it is over."""
    while not game.over:
        yield timestep(game, players)
