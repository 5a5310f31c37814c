"""Units: what one judgment looks at, which of them a rubric has in a game, and which of them a user selects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from judges.evidence.pieces import UnitContext, windows
from judges.evidence.transcript import Transcript, TurnView
from judges.rubric import ANY_BENCHMARK, Rubric, UnitKind
from schemas.common.errors import UsageError
from schemas.store.read_only_sql import as_condition, reason_of
from schemas.store.store import Store

Selection = Mapping[str, frozenset[int] | None]
"""Episode id -> its selected turns; None: the whole game."""


class Unit(NamedTuple):
    """What one judgment looks at."""

    unit_id: str
    """`<episode>/<turn>/<agent>/<seq>`, parts left out where the unit is larger; `<episode>/window<number>`;
    `<first episode> vs <second episode>` for a pair; of a row what its column `unit_id` says."""
    episode_id: str
    turn: int | None
    agent: str | None
    context: UnitContext


def units(rubric: Rubric, game: Transcript, turns: frozenset[int] | None) -> Iterator[Unit]:
    """The units of a game in order; only those on the given turns (None: all).

    Pairs and rows do not come out of one game: `judges.evidence.selection` has them.
    """
    if rubric.unit in {"pair", "row"}:
        return
    if rubric.unit == "episode":
        yield Unit(
            game.episode_id, game.episode_id, None, None, UnitContext(game=game, roles=rubric.roles, window_tokens=rubric.window_tokens)
        )
        return
    if rubric.unit == "window":
        yield from _windows(rubric, game)
        return
    for turn in game.turns:
        if turns is None or turn.turn in turns:
            yield from _of_turn(rubric, game, turn)


def _windows(rubric: Rubric, game: Transcript) -> Iterator[Unit]:
    for number, shown in enumerate(windows(game, rubric.window_tokens), start=1):
        context = UnitContext(game=game, roles=rubric.roles, window_tokens=rubric.window_tokens, window=shown)
        yield Unit(f"{game.episode_id}/window{number}", game.episode_id, None, None, context)


def _of_turn(rubric: Rubric, game: Transcript, turn: TurnView) -> Iterator[Unit]:
    turn_id = f"{game.episode_id}/{turn.turn}"
    group = UnitContext(game=game, roles=rubric.roles, window_tokens=rubric.window_tokens, turn=turn)
    if rubric.unit == "turn":
        yield Unit(turn_id, game.episode_id, turn.turn, None, group)
        return
    for part, context in _PARTS[rubric.unit](group, turn):
        if group.is_judged_role(context.agent_name):
            yield Unit(f"{turn_id}/{part}", game.episode_id, turn.turn, context.agent, context)


def _agents(group: UnitContext, turn: TurnView) -> Iterator[tuple[str, UnitContext]]:
    for agent in dict.fromkeys([*(u.agent for u in turn.utterances), *(a.agent for a in turn.actions)]):
        yield agent, replace(group, agent=agent)


def _utterances(group: UnitContext, turn: TurnView) -> Iterator[tuple[str, UnitContext]]:
    for said in turn.said("public"):
        yield f"{said.agent}/{said.seq}", replace(group, agent=said.agent, seq=said.seq)


def _actions(group: UnitContext, turn: TurnView) -> Iterator[tuple[str, UnitContext]]:
    for number, done in enumerate(turn.actions, start=1):
        yield f"{done.agent}/action{number}", replace(group, agent=done.agent, action=done)


def _events(group: UnitContext, turn: TurnView) -> Iterator[tuple[str, UnitContext]]:
    """Messages and thoughts, in order, then what was tried."""
    for said in turn.utterances:
        yield f"{said.agent}/{said.seq}", replace(group, agent=said.agent, seq=said.seq)
    yield from _actions(group, turn)


_PARTS: Mapping[UnitKind, Callable[[UnitContext, TurnView], Iterator[tuple[str, UnitContext]]]] = {
    "agent_turn": _agents,
    "utterance": _utterances,
    "action": _actions,
    "event": _events,
}
"""Unit smaller than a turn -> the last parts of its ids, and its scenes, on a turn."""


def select(store: Store, rubric: Rubric, where: str | None) -> Selection:
    """The games of the rubric's benchmarks, and their turns, that meet an SQL condition (`games_where`).

    Raises:
        StoreError: the store cannot be opened.
        UsageError: the condition is no SQL or names something that does not exist.
    """
    benchmarks = None if ANY_BENCHMARK in rubric.benchmarks else rubric.benchmarks
    return games_where(store, where, benchmarks, whole=rubric.unit in {"episode", "window", "pair"})


def games_where(store: Store, where: str | None, benchmarks: Sequence[str] | None = None, *, whole: bool = False) -> Selection:
    """The games, and their turns, that meet an SQL condition over the tables `episodes` and `turns`.

    The condition runs on a read-only connection that can reach nothing but the store. Columns that both tables have need the
    table's name in front (`turns.error`).

    Raises:
        StoreError: the store cannot be opened.
        UsageError: the condition is no SQL or names something that does not exist.
    """
    import duckdb

    whole = whole or where is None
    picked = "NULL" if whole else "list(turn)"
    with store.reading() as connection:
        try:
            condition = as_condition("true" if where is None else where, connection)
            query = (
                f"SELECT episode_id, {picked} FROM episodes LEFT JOIN turns USING (episode_id) "
                f"WHERE (? OR list_contains(?, benchmark)) AND {condition} GROUP BY ALL ORDER BY episode_id"
            )
            rows = connection.execute(query, [benchmarks is None, list(benchmarks or ())]).fetchall()
        except (UsageError, duckdb.Error) as error:
            raise UsageError(
                f"--where {where!r} does not work: {reason_of(error)}; give one SQL condition, such as \"model = 'gpt-4o' and turn <= 5\""
            ) from error
    return {episode_id: None if whole else frozenset(turns) for episode_id, turns in rows}
