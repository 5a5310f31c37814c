"""What was asked and answered in a logged game: the prompts are made again, as the agents saw them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from games.continuations.family import continued_game
from games.players.course import Reply
from games.players.player import Observation
from schemas.game import Header, ReplyEntry, Turn


class Exchange(NamedTuple):
    """A call of an agent."""

    seen: Observation
    """Its messages are those of a model that plays this agent."""
    reply: ReplyEntry


def exchanges(header: Header, turns: Sequence[Turn]) -> Iterator[Exchange]:
    """Every call of a game, in order; stops where the log has no more replies.

    Raises:
        UsageError: games of this benchmark cannot be played again, or the log does not keep what the agents wrote.
        BadInputError: the log is none of such a game.
    """
    game = continued_game(header.benchmark)
    turns = [turn if turn.replies else replace(turn, replies=tuple(game.replies(header, turn))) for turn in turns]
    waiting = {agent: iter(found) for agent, found in _by_agent(turns).items()}
    course = game.course(header, turns)
    try:
        step = next(course)
        while True:
            if isinstance(step, Turn):
                step = course.send(())
                continue
            replies = [reply for seen in step if (reply := next(waiting.get(seen.agent, iter(())), None)) is not None]
            if len(replies) < len(step):
                return
            yield from map(Exchange, step, replies)
            step = course.send(tuple(Reply(reply.text, reply.reasoning, reply.error) for reply in replies))
    except StopIteration:
        return


def _by_agent(turns: Sequence[Turn]) -> dict[str, list[ReplyEntry]]:
    """An agent's replies in their order; between agents the order depends on who was asked together."""
    found: dict[str, list[ReplyEntry]] = defaultdict(list)
    for turn in turns:
        for reply in turn.replies:
            found[reply.agent].append(reply)
    return found
