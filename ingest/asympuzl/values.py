"""What each turn of an AsymPuzl game cost: rows of `turn_values`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from games.asympuzl.puzzle import AGENTS, Agent, Entry
from games.asympuzl.value import Standing, concluded, turns_left, understood
from ingest.asympuzl.replay import ReplayedGame
from schemas.records import TurnValue

__all__ = ["turn_values"]


def turn_values(episode: str, game: ReplayedGame, history_length: int | None) -> Iterator[TurnValue]:
    """Value the turns of a game; a turn that does all it could costs 0, since the turn itself is spent.

    Where a message was not understood, turns left are the least that they can be, and positions known are those that are certain: what was
    lost of these is unknown.

    Args:
        episode: its id.
        game: the game.
        history_length: messages of each agent that are shown; None: all of them.
    """
    puzzle = game.puzzle
    for number, (before, after) in enumerate(pairwise(_standings(game, history_length)), start=1):
        was, now = turns_left(puzzle, before), turns_left(puzzle, after)
        kind = "exact" if was.exact and now.exact else "bound"
        yield TurnValue(episode, number, "asympuzl.hands", was.hands, now.hands, 1 + now.hands - was.hands, "turns", "exact")
        yield TurnValue(episode, number, "asympuzl.know", was.know, now.know, 1 + now.know - was.know, "turns", kind)
        for agent in AGENTS:
            had, has = len(concluded(puzzle, before, agent)), len(concluded(puzzle, after, agent))
            is_whole = understood(puzzle, before, agent) and understood(puzzle, after, agent)
            cost = had - has if is_whole else None
            yield TurnValue(
                episode, number, f"asympuzl.known_{agent.lower()}", had, has, cost, "positions", "exact" if is_whole else "bound"
            )


def _standings(game: ReplayedGame, history_length: int | None) -> Iterator[Standing]:
    """The game before its first turn and after each."""
    hypotheses: dict[Agent, tuple[Entry, ...]] = {agent: game.puzzle.clues(agent) for agent in AGENTS}
    said: dict[Agent, list[str]] = {agent: [] for agent in AGENTS}
    yield Standing(dict(hypotheses), dict.fromkeys(AGENTS, ()))
    for start in range(0, len(game.turns), len(AGENTS)):
        for answer in game.turns[start : start + len(AGENTS)]:
            hypotheses[answer.agent] = answer.after
            said[answer.agent].append(answer.record.message)
        shown = {agent: tuple(said[agent][_first_shown(said[agent], history_length) :]) for agent in AGENTS}
        yield Standing(dict(hypotheses), shown)


def _first_shown(said: Sequence[str], history_length: int | None) -> int:
    return 0 if history_length is None else max(0, len(said) - history_length)
