"""Units: what one judgment looks at, which of them a rubric has in a game, which a user selects, and which evidence comes after them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from judges.evidence.pieces import Piece, UnitContext, is_tool, piece, windows
from judges.evidence.transcript import ActionView, AgentView, Transcript, TurnView, UtteranceView
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
    `<first episode> vs <second episode>` for a pair; of a row what its column `unit_id` states."""
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
    whole = UnitContext(game=game, roles=rubric.roles, window_tokens=rubric.window_tokens)
    if rubric.unit == "episode":
        yield Unit(game.episode_id, game.episode_id, None, None, whole)
    elif rubric.unit == "window":
        for number, shown in enumerate(windows(game, rubric.window_tokens), start=1):
            yield Unit(f"{game.episode_id}/window{number}", game.episode_id, None, None, replace(whole, window=shown))
    else:
        for turn in game.turns if turns is None else [turn for turn in game.turns if turn.turn in turns]:
            yield from _of_turn(rubric, game, replace(whole, turn=turn))


def _of_turn(rubric: Rubric, game: Transcript, group: UnitContext) -> Iterator[Unit]:
    turn = group.now
    turn_id = f"{game.episode_id}/{turn.turn}"
    if rubric.unit == "turn":
        agents = [context.agent_name for _, context in _agents(group, turn)]
        if agents and all(is_tool(game, agent) for agent in agents):  # what a tool gave back is nothing that anybody decided
            return
        yield Unit(turn_id, game.episode_id, turn.turn, None, group)
        return
    for part, context in _PARTS[rubric.unit](group, turn):
        if group.is_judged_role(context.agent_name):
            yield Unit(f"{turn_id}/{part}", game.episode_id, turn.turn, context.agent, context)


def _agents(group: UnitContext, turn: TurnView) -> Iterator[tuple[str, UnitContext]]:
    for agent in dict.fromkeys([*(u.agent for u in turn.utterances), *(a.agent for a in turn.actions)]):
        yield agent, replace(group, agent=agent)


def _utterances(group: UnitContext, turn: TurnView) -> Iterator[tuple[str, UnitContext]]:
    for message in turn.by_channel("public"):
        yield f"{message.agent}/{message.seq}", replace(group, agent=message.agent, seq=message.seq)


def _actions(group: UnitContext, turn: TurnView) -> Iterator[tuple[str, UnitContext]]:
    for number, done in enumerate(turn.actions, start=1):
        yield f"{done.agent}/action{number}", replace(group, agent=done.agent, action=done)


def _events(group: UnitContext, turn: TurnView) -> Iterator[tuple[str, UnitContext]]:
    """Messages and thoughts, in order, then what was tried."""
    for message in turn.utterances:
        yield f"{message.agent}/{message.seq}", replace(group, agent=message.agent, seq=message.seq)
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
        UsageError: the condition is not SQL or names something that does not exist.
    """
    benchmarks = None if ANY_BENCHMARK in rubric.benchmarks else rubric.benchmarks
    return games_where(store, where, benchmarks, whole=rubric.unit in {"episode", "window", "pair"})


def games_where(store: Store, where: str | None, benchmarks: Sequence[str] | None = None, *, whole: bool = False) -> Selection:
    """The games, and their turns, that meet an SQL condition over the tables `episodes` and `turns`.

    The condition runs on a read-only connection that can reach nothing but the store. Columns that both tables have need the
    table's name in front (`turns.error`).

    Raises:
        StoreError: the store cannot be opened.
        UsageError: the condition is not SQL or names something that does not exist.
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


INSTEAD = "a judge that sees what came of a message judges it by that; said_before and reply_to end before the judged message"
"""What a warning about such a piece advises."""

_HAVE_AN_AFTER = frozenset({"utterance", "agent_turn", "action", "event", "turn"})
"""Kinds of unit after which a game goes on."""


def later_pieces(rubric: Rubric, contexts: Iterable[UnitContext]) -> dict[str, int]:
    """Piece -> in how many of these units it shows something that comes after the unit; others are left out.

    A piece is rendered twice: as it is, and with a log that ends with the unit. The outcome of a judged action is part of the action.
    """
    return dict(_later(rubric, _shown(rubric), contexts)) if rubric.unit in _HAVE_AN_AFTER else {}


def possibly_later(rubric: Rubric) -> list[str]:
    """Pieces of every benchmark that can show what comes after the unit: those that do in a conversation made for this."""
    if rubric.unit not in _HAVE_AN_AFTER:
        return []
    agent = None if rubric.unit == "turn" else "A"
    game = _conversation(rubric.roles[0] if rubric.roles else "agent")
    turn = game.turns[1]
    context = UnitContext(
        game=game,
        roles=rubric.roles,
        turn=turn,
        agent=agent,
        seq=2 if rubric.unit in {"utterance", "event"} else None,
        action=turn.actions[0] if rubric.unit == "action" else None,
    )
    return [*_later(rubric, {name: shown for name, shown in _shown(rubric).items() if not shown.benchmarks}, [context])]


def _later(rubric: Rubric, pieces: Mapping[str, Piece], contexts: Iterable[UnitContext]) -> Counter[str]:
    found: Counter[str] = Counter()
    for context in contexts:
        # The same unit in a log that ends with it
        now = context.now if rubric.unit == "turn" else _ended_turn(context)
        before = tuple(turn for turn in context.game.turns if turn.turn < now.turn)
        ended = replace(context, game=replace(context.game, turns=(*before, now)), turn=now)
        found.update(name for name, shown in pieces.items() if shown.render(context) != shown.render(ended))
    return found


def _shown(rubric: Rubric) -> dict[str, Piece]:
    named = [*rubric.shows, *(name for question in rubric.questions.values() for name in question.also_shows)]
    return {name: found for name in named if (found := piece(name, rubric.benchmarks)) is not None}


def _ended_turn(context: UnitContext) -> TurnView:
    turn, agent = context.now, context.agent
    own = [message.seq for message in turn.utterances if message.agent == agent]
    if context.seq is not None:
        last: float = context.seq
    else:
        last = max(own) if own and context.action is None else float("inf")
    return replace(
        turn,
        state_after={},
        utterances=tuple(message for message in turn.utterances if message.seq <= last),
        actions=_ended_actions(context),
        oracle_followed=None,
        error=None,
        goal_reached=None,
        failures=(),
    )


def _ended_actions(context: UnitContext) -> tuple[ActionView, ...]:
    """Of an action, those up to it; else the agent's own, which belong to its message, without what came of them."""
    done = context.now.actions
    if context.action is not None:
        place = next((number for number, one in enumerate(done) if one is context.action), len(done) - 1)
        return done[: place + 1]
    mine = (one for one in done if one.agent == context.agent)
    return tuple(replace(one, accepted=None, error_code=None, error_text=None) for one in mine)


def _conversation(role: str) -> Transcript:
    """Two agents, three turns; everything that can differ does."""
    names = ("A", "B")
    orders = ("AB", "BAAB", "AB")

    def turn(number: int, order: str) -> TurnView:
        messages = tuple(
            UtteranceView(seq, agent, "public", names, f"{number}.{seq}", superseded=False) for seq, agent in enumerate(order, start=1)
        )
        done = tuple(ActionView(agent, "do", {"turn": number}, True, None, None) for agent in names)  # noqa: FBT003 - a value of the log
        return TurnView(number, {"at": number}, {"at": number + 1}, messages, done, (), None, None, None, None)

    return Transcript(
        episode_id="conversation",
        benchmark="any",
        task_id="",
        model="",
        team={},
        goal=None,
        details={},
        agents={name: AgentView(name, role, None, None, None) for name in names},
        turns=tuple(turn(number, order) for number, order in enumerate(orders, start=1)),
    )
