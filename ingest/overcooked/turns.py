"""What was said and done in a timestep, as rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from games.overcooked.engine.actions import verb_of
from games.overcooked.engine.layout import AGENTS
from games.overcooked.engine.validator_codes import code_of
from games.overcooked.replay import ReplayedStep
from games.overcooked.scenes import Verified
from games.overcooked.text.grammar import Fields, said_parts
from ingest.overcooked.records import MessageRecord, StepRecord
from ingest.reading.json_text import dumps
from schemas.records import Action, Json, OracleAction, Utterance

__all__ = ["actions_of", "conversations_of", "oracle_actions_of", "utterances_of"]


def utterances_of(episode: str, step: StepRecord) -> Iterator[Utterance]:
    """Each message as up to three rows: analysis and plan, which only its author sees, and what it said to the partner.

    The tokens of a message, where the log has as many counts as messages, stand at its say.
    """
    turn, seq = step.timestamp + 1, 0
    for owner, messages in enumerate(step.content.content):
        counts = step.statistical_data.communication[owner].token
        for index, message in enumerate(messages):
            agent = AGENTS[message.agent]
            tokens = counts[index] if len(counts) == len(messages) else None
            for part, text in _parts(message):
                seq += 1
                if part == "say":
                    yield Utterance(episode, turn, seq, agent, "public", list(AGENTS), text, tokens, superseded=False)
                else:
                    yield Utterance(episode, turn, seq, agent, "private", [agent], text, None, superseded=False)


def conversations_of(step: StepRecord) -> Iterator[dict[str, object]]:
    """Which utterances of a turn make up a conversation, and who opened it."""
    if not any(counted.call for counted in step.statistical_data.communication):
        return
    last = 0
    for owner, messages in enumerate(step.content.content):
        first, last = last + 1, last + sum(len(_parts(message)) for message in messages)
        if step.statistical_data.communication[owner].call:
            yield {"turn": step.timestamp + 1, "opener": AGENTS[owner], "first_seq": first, "last_seq": last}


def _parts(message: MessageRecord) -> list[tuple[str, str]]:
    """What of a message is not empty."""
    return said_parts(Fields(message.analysis, message.plan, message.say))


def actions_of(episode: str, step: StepRecord, result: ReplayedStep) -> Iterator[Action]:
    """First the actions that the validator refused, then those that changed the world; walking and waiting leave no row."""
    turn, seq = step.timestamp + 1, 0
    for agent, errors in enumerate(step.statistical_data.error):
        for message in errors.validator_error.error_message:
            seq += 1
            verb, arguments, raw = _refused(step, agent, message)
            yield Action(
                episode_id=episode,
                turn=turn,
                seq=seq,
                agent=AGENTS[agent],
                verb=verb,
                arguments=arguments,
                raw=raw,
                accepted=False,
                undoes=False,
                error_code=code_of(message),
                error_text=message.strip(),
            )
    for done, undoes in zip(result.done, result.undoes, strict=True):
        seq += 1
        verb, arguments = _parsed(done.text)
        raw = step.actions[done.agent].strip()
        yield Action(
            episode, turn, seq, AGENTS[done.agent], verb, arguments, raw, accepted=True, undoes=undoes, error_code=None, error_text=None
        )


def oracle_actions_of(episode: str, step: StepRecord, result: ReplayedStep) -> Iterator[OracleAction]:
    """The next actions that would have brought the order on, the Chef's first; the log lists none. None of them undoes."""
    turn = step.timestamp + 1
    for rank, verb, arguments in _ranked(result.verified):
        yield OracleAction(episode, turn, rank, verb, arguments, undoes=False, listed=False, verified=True)


@lru_cache(maxsize=1024)  # they stay the same while agents walk
def _ranked(verified: Verified) -> list[tuple[int, str, Json]]:
    """Rank, verb and arguments of verified actions."""
    tried = [(agent, action) for agent, actions in zip(AGENTS, verified, strict=True) for action in actions]
    return [(rank, *_parsed(action, agent)) for rank, (agent, action) in enumerate(tried, start=1)]


@lru_cache(maxsize=16384)
def _parsed(text: str, agent: str | None = None) -> tuple[str, Json]:
    """Verb and arguments of an action; among them who would do it, where that is asked for."""
    verb, arguments = verb_of(text)
    return verb, Json(dumps(arguments if agent is None or verb == "unreadable" else {"agent": agent, **arguments}))


def _refused(step: StepRecord, agent: int, message: str) -> tuple[str, Json, str | None]:
    """The refused action, as the prompt of the correction quotes it before the error."""
    observation = step.content.observation[agent] if agent < len(step.content.observation) else None
    if isinstance(observation, str):
        head, found, _ = observation.rpartition(f" raised an error: {message.strip()[:40]}")
        if found:
            text = head.rpartition("Your action ")[2]
            return *_parsed(text), text
    return "unknown", Json("{}"), None
