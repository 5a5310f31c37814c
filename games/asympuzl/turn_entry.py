"""A turn of AsymPuzl as cotrace's own log holds it: whole answers, what they did, and both hypotheses before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from games.asympuzl.answer import FAULTS
from games.asympuzl.game import AgentTurn
from games.asympuzl.hypothesis import Applied
from games.asympuzl.puzzle import Agent, Entry
from games.asympuzl.tokens import Tokenizer
from schemas.game import ActionEntry, Turn, UtteranceEntry

NO_JSON: Final = ("no_json", "no JSON object with message or actions")
"""Code and text of an answer that could not be read: one refused action of its own."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An agent's answer in a turn."""

    made: AgentTurn
    reasoning: str
    """What a model thought apart from its text."""
    audience: Sequence[str]
    """Who gets its message."""
    touched: frozenset[int]
    """Positions, from 1, that the agent has changed in earlier turns."""


def entries_json(entries: Sequence[Entry]) -> list[dict[str, str | None]]:
    """A hypothesis, a list of clues or the truth as states hold it."""
    return [entry._asdict() for entry in entries]


def turn_entry(answers: Sequence[Answered], before: Mapping[Agent, Sequence[Entry]], count: Tokenizer, *, at: str, progress: float) -> Turn:
    """Give a finished turn; ``before``: the hypotheses at its start."""
    after = dict(before) | {answer.made.agent: answer.made.after for answer in answers}
    return Turn(
        turn=answers[0].made.turn,
        at=at,
        state_before={agent: entries_json(entries) for agent, entries in before.items()},
        state_after={agent: entries_json(entries) for agent, entries in after.items()},
        utterances=[said for answer in answers for said in _utterances(answer)],
        actions=[action for answer in answers for action in _actions(answer)],
        goal_reached=progress == 1,
        progress=progress,
        metrics={name: value for answer in answers for name, value in _tokens(answer.made, count)},
    )


def _tokens(made: AgentTurn, count: Tokenizer) -> Iterator[tuple[str, float]]:
    yield f"output_tokens_{made.agent.lower()}", count(made.raw)
    yield f"message_tokens_{made.agent.lower()}", count(made.answer.message)


def _utterances(answer: Answered) -> Iterator[UtteranceEntry]:
    """What an agent thought and what it wrote around its JSON, for itself; then its message, empty ones included."""
    made = answer.made
    for thought in (answer.reasoning, made.answer.preamble):
        if thought:
            yield UtteranceEntry(agent=made.agent, channel="private", audience=[made.agent], text=thought)
    yield UtteranceEntry(agent=made.agent, channel="public", audience=list(answer.audience), text=made.answer.message)


def _actions(answer: Answered) -> Iterator[ActionEntry]:
    made = answer.made
    if not made.answer.parse_ok:
        code, text = NO_JSON
        yield ActionEntry(agent=made.agent, verb="answer", raw=made.raw, accepted=False, error_code=code, error_text=text)
    touched = set(answer.touched)
    for applied in made.applied:
        fault, place = applied.request.fault, applied.request.replace
        yield ActionEntry(
            agent=made.agent,
            verb="replace",
            arguments=_arguments(applied),
            accepted=applied.valid,
            error_code=fault,
            error_text=None if fault is None else FAULTS[fault],
            undoes=applied.takes_back or (applied.changed and place in touched),
        )
        if applied.changed and place is not None:
            touched.add(place)


def _arguments(applied: Applied) -> dict[str, Any]:
    asked = applied.request
    return {"position": asked.replace, "shape": asked.shape, "color": asked.color}
