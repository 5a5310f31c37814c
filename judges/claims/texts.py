"""The texts of games that make claims, and what a reader needs to know of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import NamedTuple

from pydantic import BaseModel

from judges.claims.extraction import form_of
from judges.claims.readers import reading_room
from judges.claims.rows import TextPlace
from judges.evidence.reader import Reader
from judges.evidence.transcript import Transcript, UtteranceView, load
from judges.evidence.units import games_where
from schemas.store import Store


class Room(NamedTuple):
    """How a benchmark's texts are read (`judges.<family>.reading`)."""

    module: ModuleType

    @property
    def types(self) -> tuple[type, ...]:
        """Its kinds of claim."""
        return tuple(self.module.TYPES)

    @property
    def instructions(self) -> str:
        """What a model is told of the game, whoever speaks."""
        return str(self.module.INSTRUCTIONS)

    @property
    def form(self) -> str:
        """What it is shown of the form, after the text."""
        return str(self.module.FORM)

    @property
    def model(self) -> type[BaseModel]:
        """The form that it fills in."""
        return form_of(self.types, self.form)

    def reads(self, said: UtteranceView) -> bool:
        """Whether a text is one that makes claims."""
        return bool(self.module.reads(said))

    def frame(self, game: Transcript, turn: int, said: UtteranceView) -> str:
        """What its words refer to: all that a model is told of the speaker."""
        return str(self.module.frame(game, turn, said))


class Text(NamedTuple):
    """A text in its game."""

    game: Transcript
    turn: int
    said: UtteranceView
    room: Room

    @property
    def place(self) -> TextPlace:
        """Where it stands."""
        return TextPlace(self.game.episode_id, self.turn, self.said)

    @property
    def author(self) -> str:
        """Who wrote it: a scripted player's persona, else the model."""
        agent = self.game.agents.get(self.said.agent)
        return str(self.persona or self.game.team.get(agent.role if agent else "") or self.game.model)

    @property
    def persona(self) -> str | None:
        """The scripted player that wrote it; None: somebody else did."""
        agent = self.game.agents.get(self.said.agent)
        return agent.persona if agent else None


def texts(
    store: Store, where: str | None = None, reader: Reader | None = None, *, benchmarks: Sequence[str] | None = None, earlier: bool = False
) -> Iterator[Text]:
    """All texts that make claims, game by game, with what a reader has made of them.

    Args:
        store: where the games are.
        where: SQL condition over `episodes` and `turns`; None: all.
        reader: whose claims come along; None: read by rules.
        benchmarks: only theirs; None: of all.
        earlier: with all turns before the selected ones, too: checks look back.

    Raises:
        StoreError: the store cannot be opened.
        UsageError: the condition is no SQL.
    """
    selection = games_where(store, where, benchmarks)
    for game in load(store, list(selection), reader):
        room, turns = Room(reading_room(game.benchmark)), selection[game.episode_id]
        for turn in game.turns:
            if turns is None or turn.turn in turns or (earlier and turn.turn < max(turns)):
                yield from (Text(game, turn.turn, said, room) for said in turn.utterances if room.reads(said))
