"""Who said and thought what in a turn of a published CRAFT log, in order, and who could read it.

``director_responses`` keeps a director's last answer of the turn. The shared history (``conversation_snapshot``, taken after the builder
acted) has every message, so a director who was drawn twice has an earlier message there; the builder was not shown that one, nor the
stand-in for a missing message. The history has no line of the turn that reaches the target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from games.craft.engine.blocks import DIRECTORS
from games.craft.text.director_output import NO_MESSAGE
from games.craft.text.history import trimmed
from ingest.craft.game import BUILDER
from ingest.craft.records import TurnRecord
from schemas.records import Utterance

__all__ = ["utterances"]

_EVERYBODY: Final[list[str]] = [*DIRECTORS, BUILDER]
_DIRECTORS: Final[list[str]] = list(DIRECTORS)


def utterances(episode: str, turn: TurnRecord, history: Sequence[str]) -> Iterator[Utterance]:
    """The utterances of a turn.

    Args:
        episode: id of the game.
        turn: the turn.
        history: the history after the turn before, as logged; empty before the first turn.
    """
    for seq, (agent, channel, audience, text, superseded) in enumerate(_said(turn, history), start=1):
        yield Utterance(episode, turn.turn_number, seq, agent, channel, audience, text, None, superseded)


def _said(turn: TurnRecord, history: Sequence[str]) -> Iterator[tuple[str, str, list[str], str, bool]]:
    spoken = _director_lines(turn, history)
    for index, (director, message) in enumerate(spoken):
        superseded = any(later == director for later, _ in spoken[index + 1 :])
        if not superseded:
            yield director, "private", [director], turn.director_responses[director].internal_thinking, False
        hidden = superseded or message == NO_MESSAGE
        yield director, "public", _DIRECTORS if hidden else _EVERYBODY, message, superseded
    for text in (turn.clarification, turn.builder_confirmation):
        if text is not None:
            yield BUILDER, "public", _EVERYBODY, text, False


def _director_lines(turn: TurnRecord, history: Sequence[str]) -> list[tuple[str, str]]:
    """Messages in the order in which they were made; where the history does not fit the answers, the answers alone."""
    answers = {director: answer.public_message for director, answer in turn.director_responses.items()}
    lines = (line.partition(": ") for line in _new_lines(turn.conversation_snapshot, history))
    found = [(director, text) for director, separator, text in lines if separator and director in answers]
    return found if dict(found) == answers else list(answers.items())


def _new_lines(snapshot: Sequence[str] | None, history: Sequence[str]) -> Sequence[str]:
    known = trimmed(history)
    if snapshot is None or tuple(snapshot[: len(known)]) != known:
        return ()
    return snapshot[len(known) :]
