"""Engine checks of Collab-Overcooked: the category of a request and of an answer, by the rules of `games.overcooked.taxonomy`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from games.overcooked.engine.layout import AGENTS
from games.overcooked.taxonomy import as_meant, initiating_category, not_understood, responding_category
from judges.engine.checks import Check, Decision
from judges.evidence.transcript import Transcript
from judges.overcooked.conversations import event_at, layout_in, messages_of, references_of


def initiating(game: Transcript, turn: int, agent: str | None) -> Decision:
    """IC1: what kind of request the agent opened its conversation with."""
    opener = agent or ""
    event = event_at(game, turn, opener)
    if event is None:
        return Decision("na", "the agent opens no conversation on this turn")
    own, messages, layout = references_of(game, event.responder), messages_of(game, game.turn(turn), opener), layout_in(game)
    unread = not_understood(event, messages, layout)
    if unread:
        return Decision(None, f"message not understood: {'; '.join(map(repr, unread))}")
    category, meant = initiating_category(event, messages, own, layout), as_meant(event, messages, own, layout)
    asked = "; ".join(meant.request) or "nothing the partner can do"
    return Decision(category, f"requested: {asked}; the partner's trajectory score would change by {meant.initiating:+.3f}")


def responding(game: Transcript, turn: int, agent: str | None) -> Decision:
    """RC1: what kind of answer the agent gave to a conversation that its partner opened."""
    opener = next((name for name in AGENTS if name != agent), "")
    event = event_at(game, turn, opener)
    if event is None:
        return Decision("na", "the partner opens no conversation on this turn")
    own = references_of(game, event.responder)
    messages, layout = messages_of(game, game.turn(turn), opener), layout_in(game)
    category = responding_category(event, messages, own, layout)
    if category is None:
        return Decision(None, f"message not understood: {'; '.join(map(repr, not_understood(event, messages, layout)))}")
    planned = "; ".join(event.plan) or "nothing that counts"
    return Decision(category, f"planned: {planned}; the agent's trajectory score would change by {event.responding:+.3f}")


CHECKS: Final[Mapping[str, Check]] = {"overcooked.IC1": initiating, "overcooked.RC1": responding}
"""Name -> check."""
