"""What the agents asked of each other, what was answered, and how much of it is still to be done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from games.overcooked.engine.layout import AGENTS
from games.overcooked.taxonomy import asked_for, initiating_category, not_understood, responding_category
from judges.evidence.transcript import Transcript
from judges.overcooked.conversations import action_call, event_at, layout_in, messages_of, references_of, task_in

__all__ = ["TrackedRequest", "asked_of", "own_turns"]


@dataclass(slots=True)
class TrackedRequest:
    """A request, and what has become of it."""

    turn: int
    seq: int
    """The opener's message, as in `utterances`."""

    opener: int
    actions: Sequence[str]
    """What was asked for, in order."""

    request: str | None
    """Its category, one of `games.overcooked.taxonomy.INITIATING`; None where the message was not understood."""

    answer: str | None
    """Category of the answer, one of `RESPONDING`; None where it is not known."""

    unread: str = ""
    """Clauses of the message that were not understood."""

    done: int = 0
    """How many of the actions the responder has done since."""

    @property
    def responder(self) -> int:
        """Who was asked."""
        return 1 - self.opener

    @property
    def right(self) -> bool:
        """Whether the order needs what was asked for, and that now."""
        return self.request == "correct"

    @property
    def next(self) -> str | None:
        """The next of the actions; None if all have been done."""
        return self.actions[self.done] if self.done < len(self.actions) else None

    @property
    def words(self) -> str:
        """What was asked for and when, in words."""
        return f"asked for {'; '.join(self.actions)} in turn {self.turn}"


def asked_of(game: Transcript) -> list[TrackedRequest]:
    """All requests of a game in order; none where the order is not one of the benchmark's."""
    if task_in(game) is None:
        return []
    found = (_asked(game, entry["turn"], entry["opener"]) for entry in game.details.get("conversations", ()))
    return [asked for asked in found if asked is not None]


def _asked(game: Transcript, turn: int, opener: str) -> TrackedRequest | None:
    event = event_at(game, turn, opener)
    if event is None or AGENTS[event.opener] != opener:
        return None
    messages, references = messages_of(game, game.turn(turn), opener), references_of(game, event.responder)
    layout = layout_in(game)
    actions, unread = asked_for(event, messages, references, layout), not_understood(event, messages, layout)
    if not actions and not unread:
        return None
    said = next((said.seq for said in game.turn(turn).said("public", opener)), 0)
    kinds = initiating_category(event, messages, references, layout), responding_category(event, messages, references, layout)
    return TrackedRequest(turn, said, event.opener, actions, *kinds, unread="; ".join(map(repr, unread)))


def own_turns(game: Transcript, agent: int) -> Iterator[int]:
    """Turns in which an agent could open a conversation: those in which it wrote a plan that is no answer."""
    name = AGENTS[agent]
    asked_by_partner = {
        (entry["turn"], seq)
        for entry in game.details.get("conversations", ())
        if entry["opener"] != name
        for seq in range(entry["first_seq"], entry["last_seq"] + 1)
    }
    for turn in game.turns:
        if any(said.agent == name and (turn.turn, said.seq) not in asked_by_partner for said in turn.utterances):
            yield turn.turn


def note_done(asked: TrackedRequest, game: Transcript, turn: int) -> None:
    """Count what the responder did in a turn."""
    for action in game.turn(turn).actions:
        if action.accepted and action.agent == AGENTS[asked.responder] and action_call(action) == asked.next:
            asked.done += 1
