"""A CRAFT turn as it is looked into: what was asked for, what was done, and how the two hang together."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal, NamedTuple

from games.craft.engine.board import Director
from games.craft.engine.rules import Move, accepts
from judges.attribution.findings import How, Link
from judges.claims.reading import Open
from judges.craft.attribution.following import following
from judges.craft.attribution.wishes import Wish, asked_in, wishes_of
from judges.craft.attribution.worth import Worth
from judges.craft.checks.prepared import PreparedGame, PreparedTurn

__all__ = ["BUILDER", "Agent", "BrokenLink", "TurnCase"]

BUILDER: Final = "Builder"
Agent = Director | Literal["Builder"]


class BrokenLink(NamedTuple):
    """A broken link, whatever came of it."""

    agent: Agent
    link: Link
    evidence: str


class _Followed(NamedTuple):
    wish: Wish
    how: How
    differs: tuple[str, ...]


@dataclass(frozen=True)
class TurnCase:
    """A turn with all that the links are read from."""

    game: PreparedGame
    prepared: PreparedTurn
    worth: Worth
    earlier: frozenset[tuple[Director, Move]] = field(default_factory=frozenset)
    """What directors asked for in the turns before."""

    removed: frozenset[tuple[str, int]] = field(default_factory=frozenset)
    """Cells and layers that were cleared before: what came back there looks right from another wall."""

    @cached_property
    def wishes(self) -> list[Wish]:
        """What was asked for in messages that were understood in every clause."""
        return wishes_of(self.game, self.prepared)

    @cached_property
    def unread_of(self) -> dict[Director, str]:
        """Directors with a message that was not understood -> which words of it.

        Where a director speaks several times in a turn, another message may give what a request leaves out.
        """
        speakers = [speech.agent for speech in self.prepared.current]
        found = {speech.agent: asked.why for speech in reversed(self.prepared.current) if isinstance(asked := asked_in(speech), Open)}
        good = {wish.author for wish in self.wishes if wish.is_good}
        for wish in self.wishes:
            if wish.missing and wish.author not in good and speakers.count(wish.author) > 1:
                found.setdefault(wish.author, f"another message may complete {wish.request}")
        return {agent: found[agent] for agent in speakers if agent in found}

    @cached_property
    def not_understood(self) -> str:
        """Whose message was not understood, and which words of it; empty if all were."""
        return next((f"{agent}'s message was not understood whole: {why}" for agent, why in self.unread_of.items()), "")

    @cached_property
    def followed(self) -> list[_Followed]:
        """What the move has to do with each request; empty without a move."""
        move = self.prepared.attempted
        return [] if move is None else [_Followed(wish, *following(wish.request, move)) for wish in self.wishes]

    @cached_property
    def same(self) -> list[Wish]:
        """The requests that the move does not contradict, those that say most first."""
        return [found.wish for how in ("fully", "partly") for found in self.followed if found.how == how]

    @cached_property
    def doable(self) -> list[Wish]:
        """Clear requests, right by their authors' views, that the engine would have carried out."""
        return [wish for wish in self.wishes if wish.is_good and wish.move is not None and accepts(self.prepared.board, wish.move)]

    @cached_property
    def asked_well(self) -> list[Move]:
        """The moves of `doable`."""
        return [wish.move for wish in self.doable if wish.move is not None]
