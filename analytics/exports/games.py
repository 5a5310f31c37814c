"""Games with their messages, actions, scores and verdicts, as the formats of others want them: one after the other."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from analytics.query import condition, query
from schemas.errors import UsageError
from schemas.store import Store

__all__ = ["AgentMessage", "GameOut", "ensure_some_game", "games", "messages_of"]

Row = Mapping[str, Any]

_AT_ONCE: Final = 100
"""Games that are in memory at the same time."""

_PARTS: Final = {
    "agents": "SELECT * FROM agents WHERE {these}",
    "turns": "SELECT * FROM turns WHERE {these} ORDER BY turn",
    "utterances": "SELECT * FROM utterances WHERE {these} ORDER BY turn, seq",
    "actions": "SELECT * FROM actions WHERE {these} ORDER BY turn, seq",
    "metrics": "SELECT * FROM episode_metrics WHERE {these} ORDER BY metric",
    "verdicts": "SELECT * FROM verdicts_latest WHERE {these} ORDER BY rubric, question, judge, variant, turn, agent, repeat",
    "calls": "SELECT * FROM calls WHERE {these} AND purpose = 'player' ORDER BY turn",
}


@dataclass(frozen=True, slots=True)
class GameOut:
    """A game and its rows, as the tables have them; JSON columns are values."""

    facts: Row
    run: Row
    agents: Sequence[Row]
    turns: Sequence[Row]
    utterances: Sequence[Row]
    actions: Sequence[Row]
    metrics: Sequence[Row]
    verdicts: Sequence[Row]
    calls: Sequence[Row]


@dataclass(slots=True)
class AgentMessage:
    """What an agent said in a turn, with the thought before it and what it did."""

    turn: int
    agent: str
    channel: str
    audience: Sequence[str]
    text: str
    thought: str | None
    actions: list[Row]


def games(store: Store, where: str = "true") -> Iterator[GameOut]:
    """The games for which a condition on `episodes` holds, by run.

    Raises:
        UsageError: it is no such condition.
    """
    chosen = f"SELECT episode_id FROM episodes WHERE {condition(where)} ORDER BY run_id, task_id, seed, episode_id"
    ids = [episode for (episode,) in query(store, chosen).rows()]
    runs = {row["run_id"]: row for row in _rows(store, "SELECT * FROM runs", [])}
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        facts = {row["episode_id"]: row for row in _rows(store, "SELECT * FROM episodes WHERE {these}", some)}
        parts = {name: _by_game(_rows(store, sql, some)) for name, sql in _PARTS.items()}
        for episode in some:
            yield GameOut(facts[episode], runs[facts[episode]["run_id"]], **{name: found.get(episode, []) for name, found in parts.items()})


def ensure_some_game(store: Store, where: str) -> None:
    """Refuse a condition that no game fits: what is written then is empty.

    Raises:
        UsageError: no game fits, or it is no condition on `episodes`.
    """
    if where == "true" or query(store, f"SELECT 1 FROM episodes WHERE {condition(where)} LIMIT 1").rows():
        return
    there = ", ".join(name for (name,) in query(store, "SELECT DISTINCT benchmark FROM episodes ORDER BY 1").rows()) or "nothing"
    raise UsageError(f"--where {where}: no game fits; the store has games of {there}")


def _rows(store: Store, sql: str, these: Sequence[str]) -> list[dict[str, Any]]:
    found = query(store, sql.format(these="list_contains($these, episode_id)"), {"these": these} if "{these}" in sql else None)
    return [{key: _value(key, value) for key, value in row.items()} for row in found.to_dicts()]


_JSON: Final = frozenset({"condition", "team", "goal", "details", "private_view", "state_before", "state_after", "arguments"})


def _value(name: str, value: Any) -> Any:
    return json.loads(value) if name in _JSON and isinstance(value, str) else value


def _by_game(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row["episode_id"]].append(row)
    return found


def messages_of(game: GameOut) -> list[AgentMessage]:
    """The messages in order: a thought goes with the message of the same agent that follows it, an action with its agent's last message."""
    found: list[AgentMessage] = []
    for turn, said in itertools.groupby(game.utterances, key=lambda row: row["turn"]):
        found += _with_thoughts(turn, list(said))
    for action in game.actions:
        found = _placed(found, action)
    return found


def _with_thoughts(turn: int, said: Sequence[Row]) -> Iterator[AgentMessage]:
    thought: Row | None = None
    for row in said:
        if thought is not None and (row["agent"] != thought["agent"] or row["channel"] == "private"):
            yield _message(turn, thought, None)
            thought = None
        if row["channel"] == "private" and list(row["audience"]) == [row["agent"]]:
            thought = row
        else:
            yield _message(turn, row, None if thought is None else thought["text"])
            thought = None
    if thought is not None:
        yield _message(turn, thought, None)


def _message(turn: int, row: Row, thought: str | None) -> AgentMessage:
    return AgentMessage(turn, row["agent"], row["channel"], list(row["audience"]), row["text"], thought, [])


def _placed(found: list[AgentMessage], action: Row) -> list[AgentMessage]:
    own = [message for message in found if message.turn == action["turn"] and message.agent == action["agent"]]
    if own:
        own[-1].actions.append(action)
        return found
    before = sum(message.turn <= action["turn"] for message in found)
    return [*found[:before], AgentMessage(action["turn"], action["agent"], "public", [], "", None, [action]), *found[before:]]
