"""What a piece of evidence is made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from judges.evidence.text import Entry
from judges.evidence.transcript import ActionView, JsonObject, Transcript, TurnView
from judges.rubric import UnitKind

AGENT_UNITS: tuple[UnitKind, ...] = ("utterance", "agent_turn", "action", "event")
TURN_UNITS: tuple[UnitKind, ...] = (*AGENT_UNITS, "turn")


class Renaming(NamedTuple):
    """Other names under which agents appear in the evidence, for a probe."""

    names: Mapping[str, str]
    """Agent -> how it is called."""
    also_in_texts: bool
    """Whether what agents say changes too, or only the heads above it."""

    def entry(self, entry: Entry) -> Entry:
        """The entry with the other names."""
        return Entry(self.of(entry.head), self.of(entry.text) if self.also_in_texts else entry.text)

    def of(self, text: str) -> str:
        """The text with the other names."""
        if not self.names:
            return text
        pattern = "|".join(re.escape(name) for name in sorted(self.names, key=len, reverse=True))
        return re.sub(rf"(?<!\w)({pattern})(?!\w)", lambda found: self.names[found[1]], text)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitContext:
    """The unit that is judged, inside its game."""

    game: Transcript
    roles: tuple[str, ...]
    """Roles that the rubric is about; empty: all."""
    turn: TurnView | None = None
    """None for a whole game."""
    agent: str | None = None
    """None for a group."""
    seq: int | None = None
    """Which utterance of the turn; None unless the unit is one utterance."""
    action: ActionView | None = None
    """None unless the unit is one action."""
    other: Transcript | None = None
    """The second game of a pair, `game` being the first; None for other units."""
    row: Mapping[str, object] | None = None
    """Column -> value of a row of the rubric's own query; None for other units."""
    renaming: Renaming | None = None
    """None: names as in the log."""

    @property
    def now(self) -> TurnView:
        """The turn of a unit that has one; rubric validation lets turn-bound pieces stand only in such rubrics."""
        assert self.turn is not None
        return self.turn

    @property
    def agent_name(self) -> str:
        """The agent of a unit that has one; guarded like `now`."""
        assert self.agent is not None
        return self.agent

    def is_judged_role(self, agent: str) -> bool:
        """Whether the agent has one of the roles that the rubric is about."""
        known = self.game.agents.get(agent)
        return not self.roles or (known is not None and known.role in self.roles)


class Piece(NamedTuple):
    """A named piece of evidence."""

    name: str
    doc: str
    """What it shows, for the documentation."""
    units: tuple[UnitKind, ...]
    """Kinds of unit it makes sense for."""
    benchmarks: tuple[str, ...]
    """Benchmarks it exists for; empty: all."""
    render: Callable[[UnitContext], list[Entry]]
    """The evidence; an empty list where there is none in this unit."""


def action_text(verb: str, arguments: JsonObject) -> str:
    """An action on one line: ``place: block=gs, position=(0,1), layer=0, span_to=none``; other arguments without a value are left out."""
    told = {name: "none" if value is None and name == "span_to" and verb == "place" else value for name, value in arguments.items()}
    given = ", ".join(f"{name}={value}" for name, value in told.items() if value is not None)
    return f"{verb}: {given}" if given else verb
