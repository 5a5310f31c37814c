"""Which pieces of evidence show what comes after the judged unit: a judge that sees the answer to a message judges it by that answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from judges.evidence.pieces import UnitContext, pieces
from judges.evidence.transcript import ActionView, AgentView, Transcript, TurnView, UtteranceView
from judges.rubric import Rubric

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
    general = [name for name in _shown(rubric) if not pieces()[name].benchmarks]
    return [*_later(rubric, general, [context])]


def _later(rubric: Rubric, names: Sequence[str], contexts: Iterable[UnitContext]) -> Counter[str]:
    found: Counter[str] = Counter()
    for context in contexts:
        ended = _ended(rubric, context)
        found.update(name for name in names if pieces()[name].render(context) != pieces()[name].render(ended))
    return found


def _shown(rubric: Rubric) -> list[str]:
    named = [*rubric.shows, *(name for question in rubric.questions.values() for name in question.also_shows)]
    return [name for name in dict.fromkeys(named) if name in pieces()]


def _ended(rubric: Rubric, context: UnitContext) -> UnitContext:
    """The same unit in a log that ends with it."""
    now = context.now if rubric.unit == "turn" else _ended_turn(context)
    before = tuple(turn for turn in context.game.turns if turn.turn < now.turn)
    return replace(context, game=replace(context.game, turns=(*before, now)), turn=now)


def _ended_turn(context: UnitContext) -> TurnView:
    turn, agent = context.now, context.agent
    own = [said.seq for said in turn.utterances if said.agent == agent]
    if context.seq is not None:
        last: float = context.seq
    else:
        last = max(own) if own and context.action is None else float("inf")
    return replace(
        turn,
        state_after={},
        utterances=tuple(said for said in turn.utterances if said.seq <= last),
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
        said = tuple(
            UtteranceView(seq, agent, "public", names, f"{number}.{seq}", superseded=False) for seq, agent in enumerate(order, start=1)
        )
        done = tuple(ActionView(agent, "do", {"turn": number}, True, None, None) for agent in names)  # noqa: FBT003 - a value of the log
        return TurnView(number, {"at": number}, {"at": number + 1}, said, done, (), None, None, None, None)

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
