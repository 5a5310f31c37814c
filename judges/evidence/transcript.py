"""Whole games out of the store as typed objects: what judges and engine checks look at, read by a chosen reader.

Readers:

======================== ============================================================================================
``rules``                the family's own reader of plain language, on the spot
``planted``              what the author of a scripted text knows it to claim, out of the log (table `claims`)
``llm:<model>``          rules and model together, in columns ``both:llm:<model>``: what one does not read the other may, and where
                         they differ nothing is certain
``llm-only:<model>``     what the model made of it alone, out of the table `claims`, where `judges.claims.job` put it
``both:planted``         rules and author together
======================== ============================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import orjson

from schemas.common.errors import UsageError
from schemas.store.store import Store

if TYPE_CHECKING:
    import duckdb


RULES: Final = "rules"
PLANTED: Final = "planted"
_LLM: Final = "llm:"
_ALONE: Final = "llm-only:"
_BOTH: Final = "both:"


class Reader(NamedTuple):
    """A reader by name."""

    name: str
    """As in the column `claims.reader`, but for a model alone, whose claims stand under `stored`."""
    rules: bool
    """Whether the rules read along."""
    stored: str | None
    """The reader whose claims stand in the table `claims`; None if none is needed."""

    @property
    def model(self) -> str | None:
        """The model that reads, if one does."""
        return self.stored.removeprefix(_LLM) if self.stored is not None and self.stored.startswith(_LLM) else None

    @property
    def judge(self) -> str:
        """The engine with this reader, as in the column `verdicts.judge`."""
        return "engine" if self.name == RULES else f"engine:{self.name}"


BY_RULES: Final = Reader(RULES, rules=True, stored=None)
"""The reader that needs nothing but the text."""


def reader_named(name: str) -> Reader:
    """The reader of that name.

    Raises:
        UsageError: there is none.
    """
    if name == RULES:
        return BY_RULES
    other = name.removeprefix(_BOTH)
    alone = other.removeprefix(_ALONE) if name == other else other
    if other == PLANTED:
        return Reader(name, rules=name != other, stored=PLANTED)
    if alone not in ("", other):
        return Reader(name, rules=False, stored=_LLM + alone)
    if other.startswith(_LLM) and len(other) > len(_LLM):
        return Reader(_BOTH + other, rules=True, stored=other)
    raise UsageError(f"there is no reader {name}: give rules, planted, llm:<provider/model>, llm-only:<provider/model> or both:planted")


JsonObject = Mapping[str, Any]
"""A parsed JSON object out of the store. Equal states share one object, so treat it as read-only."""

_GAMES_PER_READ = 256
"""Games held in memory, and read in one short connection, at a time."""


@dataclass(frozen=True, slots=True)
class AgentView:
    """An agent of the game (table `agents`)."""

    name: str
    role: str
    persona: str | None
    private_view: JsonObject | None
    """What only this agent knew, as it was really shown; None if it knew nothing of its own."""
    view_kind: str | None
    """Which reading of the target that view is (CRAFT: spans, flat, spans_mirrored, flat_mirrored, other)."""


@dataclass(frozen=True, slots=True)
class UtteranceView:
    """A message or a thought (table `utterances`)."""

    seq: int
    agent: str
    channel: str
    """`public` or `private`."""
    audience: tuple[str, ...]
    text: str
    superseded: bool
    """A later utterance of this agent took its place before all others could read it."""


@dataclass(frozen=True, slots=True)
class ActionView:
    """An attempted action (table `actions`)."""

    agent: str
    verb: str
    arguments: JsonObject
    accepted: bool | None
    error_code: str | None
    error_text: str | None


class ClaimView(NamedTuple):
    """A row of `claims` about a text."""

    kind: str
    claim: JsonObject
    words: str | None
    start: int | None
    end: int | None
    certain: bool
    reason: str | None
    prompt_hash: str | None = None


@dataclass(frozen=True, slots=True)
class OracleView:
    """A candidate action (table `oracle_actions`)."""

    verb: str
    arguments: JsonObject
    listed: bool
    """The log lists it: the agents could be shown it."""
    verified: bool
    """Replay confirms that it makes progress."""


@dataclass(frozen=True, slots=True)
class FailureView:
    """A category that a rule gave (table `failures`); for engine checks, and in no piece of evidence."""

    agent: str | None
    """None for the team."""
    taxonomy: str
    category: str
    evidence: str | None


@dataclass(frozen=True, slots=True)
class TurnView:
    """What happens between two states (tables `turns`, `utterances`, `actions`, `oracle_actions`, `failures`)."""

    turn: int
    """From 1."""
    state_before: JsonObject
    """Empty if the log has no states."""
    state_after: JsonObject
    utterances: tuple[UtteranceView, ...]
    """In order of creation."""
    actions: tuple[ActionView, ...]
    oracle: tuple[OracleView, ...]
    """Candidates by rank: first the listed ones."""
    oracle_available: bool | None
    oracle_followed: bool | None
    error: str | None
    goal_reached: bool | None
    """The goal was reached on this turn; None if the turn crashed."""
    failures: tuple[FailureView, ...] = ()

    def by_channel(self, channel: str, agent: str | None = None) -> list[UtteranceView]:
        """Utterances of one channel, of one agent if given, in order."""
        return [u for u in self.utterances if u.channel == channel and (agent is None or u.agent == agent)]

    said = by_channel
    """Its old name, for checks of installed packages."""

    def received(self, agent: str | None = None) -> list[UtteranceView]:
        """The public messages that count in this turn, in order, of one author if given: who acted on them had them all before it."""
        return [u for u in self.by_channel("public", agent) if not u.superseded]

    def action_of(self, agent: str | None) -> ActionView | None:
        """What an agent did, the first of several actions; None if nothing."""
        return next((action for action in self.actions if action.agent == agent), None)


@dataclass(frozen=True, slots=True)
class Transcript:
    """A whole game."""

    episode_id: str
    benchmark: str
    task_id: str
    model: str
    """The evaluated one."""
    team: JsonObject
    """Role -> model."""
    goal: JsonObject | None
    details: JsonObject
    agents: Mapping[str, AgentView]
    turns: tuple[TurnView, ...]
    """In order; turn numbers count from 1 without gaps."""
    reader: str = "rules"
    """Who reads its texts for engine checks (`judges.evidence.transcript`)."""
    claims: Mapping[tuple[int, int], tuple[ClaimView, ...]] = field(default_factory=dict)
    """Turn and number of the utterance -> what that reader's rows of `claims` say; empty where it reads on the spot."""

    def turn(self, number: int) -> TurnView:
        """The turn of that number, from 1.

        Raises:
            IndexError: the game has no such turn.
        """
        if not 1 <= number <= len(self.turns):
            raise IndexError(f"episode {self.episode_id} has turns 1 to {len(self.turns)}, not {number}")
        return self.turns[number - 1]


def load(store: Store, episode_ids: Sequence[str], reader: Reader | None = None) -> Iterator[Transcript]:
    """The games of those ids, in that order; ids that are not in the store are left out. Their texts are read by rules, or by that reader.

    Games are read some hundreds at a time, each time in one short read-only connection, so a store of any size can be walked through.

    Raises:
        StoreError: the store cannot be opened.
    """
    for start in range(0, len(episode_ids), _GAMES_PER_READ):
        chunk = list(episode_ids[start : start + _GAMES_PER_READ])
        with store.reading() as connection:
            games = read_games(connection, chunk, reader)
        yield from (games[episode_id] for episode_id in chunk if episode_id in games)


def first_found(found: Iterable[T]) -> Iterator[T]:
    """The same, with the first found at once: queries before it and its own can share an opening of the store."""
    rest = iter(found)
    return chain(list(islice(rest, 1)), rest)


def read_games(connection: duckdb.DuckDBPyConnection, ids: list[str], reader: Reader | None = None) -> dict[str, Transcript]:
    """The games of those ids over a connection that the caller holds; ids that are not in the store are left out."""

    def rows(table: str, columns: str, order: str) -> dict[str, list[_Row]]:
        return _grouped(
            connection, f"SELECT episode_id, {columns} FROM {table} WHERE episode_id IN (SELECT unnest($1)) ORDER BY {order}", [ids]
        )

    agents = rows("agents", "agent, role, persona, private_view, view_kind", "agent")
    turns = rows("turns", "turn, state_before, state_after, oracle_available, oracle_followed, error, goal_reached", "turn")
    messages = rows("utterances", "turn, seq, agent, channel, audience, text, superseded", "turn, seq")
    done = rows("actions", "turn, agent, verb, arguments, accepted, error_code, error_text", "turn, seq")
    oracle = rows("oracle_actions", "turn, verb, arguments, listed, verified", "turn, rank")
    failures = rows("failures", "turn, agent, taxonomy, category, evidence", "turn, agent, taxonomy, category")
    claims = {} if reader is None or reader.stored is None else _grouped(connection, _CLAIMS, [ids, reader.stored])
    games: dict[str, Transcript] = {}
    for episode_id, (row,) in rows("episodes", "benchmark, task_id, model, team, goal, details", "episode_id").items():
        benchmark, task_id, model, team, goal, details = row
        games[episode_id] = Transcript(
            episode_id=episode_id,
            benchmark=benchmark,
            task_id=task_id,
            model=model,
            team=_parsed(team),
            goal=_parsed_or_none(goal),
            details=_parsed(details),
            agents={a[0]: AgentView(a[0], a[1], a[2], _parsed_or_none(a[3]), a[4]) for a in agents.get(episode_id, [])},
            turns=_turns(*(found.get(episode_id, []) for found in (turns, messages, done, oracle, failures))),
            reader=reader.name if reader is not None else "rules",
            claims=_by(claims.get(episode_id, []), 2, lambda kind, claim, *rest: ClaimView(kind, _parsed(claim), *rest)),
        )
    return games


_CLAIMS: Final = """
SELECT episode_id, turn, seq, kind, claim, words, start_char, end_char, certain, reason, prompt_hash
FROM claims JOIN utterances USING (episode_id, turn, seq)
WHERE episode_id IN (SELECT unnest($1)) AND reader = $2 AND text_hash = md5(text)
ORDER BY episode_id, turn, seq, number
"""

_Row = tuple[Any, ...]
T = TypeVar("T")


def _grouped(connection: duckdb.DuckDBPyConnection, query: str, values: list[Any]) -> dict[str, list[_Row]]:
    """Episode -> the other columns of its rows, in the order of the query."""
    groups: dict[str, list[_Row]] = {}
    for episode_id, *rest in connection.execute(query, values).fetchall():
        groups.setdefault(episode_id, []).append(tuple(rest))
    return groups


def _by(rows: list[_Row], keys: int, made: Callable[..., T]) -> dict[Any, tuple[T, ...]]:
    """The first columns, or the first one -> what is made of the others of their rows."""
    found: dict[Any, list[T]] = {}
    for row in rows:
        found.setdefault(row[0] if keys == 1 else row[:keys], []).append(made(*row[keys:]))
    return {key: tuple(several) for key, several in found.items()}


def _turns(turns: list[_Row], messages: list[_Row], done: list[_Row], oracle: list[_Row], failures: list[_Row]) -> tuple[TurnView, ...]:
    utterances = _by(messages, 1, lambda seq, agent, channel, audience, *rest: UtteranceView(seq, agent, channel, tuple(audience), *rest))
    actions = _by(done, 1, lambda agent, verb, arguments, *rest: ActionView(agent, verb, _parsed(arguments), *rest))
    candidates = _by(oracle, 1, lambda verb, arguments, *rest: OracleView(verb, _parsed(arguments), *rest))
    by_rule = _by(failures, 1, FailureView)
    states: dict[str, JsonObject] = {}
    return tuple(
        TurnView(
            turn=number,
            state_before=_shared(before, states),
            state_after=_shared(after, states),
            utterances=utterances.get(number, ()),
            actions=actions.get(number, ()),
            oracle=candidates.get(number, ()),
            oracle_available=available,
            oracle_followed=followed,
            error=error,
            goal_reached=reached,
            failures=by_rule.get(number, ()),
        )
        for number, before, after, available, followed, error, reached in turns
    )


def _shared(text: str | None, states: dict[str, JsonObject]) -> JsonObject:
    """A state is mostly the one before it: parse each text once. Without a state in the log it is empty."""
    if text is None:
        return {}
    if text not in states:
        states[text] = _parsed(text)
    return states[text]


def _parsed(text: str) -> JsonObject:
    value: JsonObject = orjson.loads(text)
    return value


def _parsed_or_none(text: str | None) -> JsonObject | None:
    return None if text is None else _parsed(text)
