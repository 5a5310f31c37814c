"""A timestep as cotrace's own log holds it: what was said, refused and done, and the kitchen before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from games.overcooked.engine.actions import verb_of
from games.overcooked.engine.layout import AGENTS
from games.overcooked.engine.validator_codes import code_of
from games.overcooked.replay import ReplayedStep
from games.overcooked.text.grammar import Fields, said_parts
from schemas.game import ActionEntry, Turn, UtteranceEntry

_Refused: TypeAlias = tuple[int, str, str]
"""Agent, the action as written, and why it was refused."""


def turn_entry(
    entry: Mapping[str, Any], result: ReplayedStep, refused: Sequence[_Refused], thoughts: Sequence[tuple[int, str]], *, at: str
) -> Turn:
    """Give a timestep.

    Args:
        entry: its log entry as the published code writes it.
        result: what it did.
        refused: the actions that the validator refused.
        thoughts: agent and what a model thought apart from its text.
        at: time.
    """
    return Turn(
        turn=entry["timestamp"] + 1,
        at=at,
        state_before=result.before,
        state_after=result.after,
        utterances=[*_thoughts(thoughts), *_utterances(entry)],
        actions=[*map(_refusal, refused), *_done(entry, result)],
        goal_reached=entry["statistical_data"]["score"] > 0,
    )


def _thoughts(thoughts: Sequence[tuple[int, str]]) -> Iterator[UtteranceEntry]:
    for agent, text in thoughts:
        yield UtteranceEntry(agent=AGENTS[agent], channel="private", audience=[AGENTS[agent]], text=text)


def _utterances(entry: Mapping[str, Any]) -> Iterator[UtteranceEntry]:
    for messages in entry["content"]["content"]:
        for message in messages:
            agent = AGENTS[message["agent"]]
            for part, text in said_parts(Fields(message["analysis"], message["plan"], message["say"])):
                public = part == "say"
                yield UtteranceEntry(
                    agent=agent, channel="public" if public else "private", audience=list(AGENTS) if public else [agent], text=text
                )
    for name, lessons in zip(AGENTS, entry["content"]["reflection"], strict=True):
        for lesson in lessons:
            yield UtteranceEntry(agent=name, channel="private", audience=[name], text=f"Rethink: {lesson}")


def _refusal(refused: _Refused) -> ActionEntry:
    agent, written, message = refused
    verb, arguments = verb_of(written)
    return ActionEntry(
        agent=AGENTS[agent],
        verb=verb,
        arguments=arguments,
        raw=written,
        accepted=False,
        error_code=code_of(message),
        error_text=message.strip(),
    )


def _done(entry: Mapping[str, Any], result: ReplayedStep) -> Iterator[ActionEntry]:
    """What changed the world; walking and waiting leave no action."""
    for done, undoes in zip(result.done, result.undoes, strict=True):
        verb, arguments = verb_of(done.text)
        raw = entry["actions"][done.agent].strip()
        yield ActionEntry(agent=AGENTS[done.agent], verb=verb, arguments=arguments, raw=raw, accepted=True, undoes=undoes)
