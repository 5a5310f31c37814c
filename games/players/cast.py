"""A team of scripts alone: they remember, and they know what they mean. Their games have planted labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from games.players.course import Course, Reply
from games.players.player import Observation
from schemas.game import End, ReplyEntry, Turn


class Cast(Protocol):
    """The scripts of one game."""

    keeps_replies: bool
    """Whether the log holds their replies; not where its turns hold all that is needed to play the game again."""

    def answer(self, seen: Observation) -> str:
        """What the agent that is asked replies."""
        ...

    def known(self, turn: Turn) -> Turn:
        """A finished turn with what its players know: labels, and the claims of their texts."""
        ...


def played_by(course: Course, cast: Cast) -> Course:
    """The same course, played by scripts: it asks nobody."""
    replies: list[ReplyEntry] = []
    try:
        step = next(course)
        while True:
            if isinstance(step, Turn):
                yield replace(cast.known(step), replies=tuple(replies))
                replies.clear()
                step = course.send(())
                continue
            texts = [cast.answer(seen) for seen in step]
            if cast.keeps_replies:
                replies += [ReplyEntry(agent=seen.agent, purpose=seen.purpose, text=text) for seen, text in zip(step, texts, strict=True)]
            step = course.send(tuple(map(Reply, texts)))
    except StopIteration as ended:
        over: End = ended.value
        return over
