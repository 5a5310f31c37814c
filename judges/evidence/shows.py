"""The pieces of evidence that a rubric can list under `shows`: what a judge can see.

A prompt is built from the pieces that the rubric lists and from nothing else. Pieces of all benchmarks stand here, those of one
benchmark in a module of its family (`judges.craft.pieces`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from judges.evidence.pieces import AGENT_UNITS, TURN_UNITS, Piece, UnitContext, action_text
from judges.evidence.text import Entry, one_line, with_plain_names
from judges.evidence.transcript import JsonObject, Transcript, TurnView, UtteranceView
from schemas.families import offered

HISTORY_TURNS = 5
"""Turns before the judged one that `history` reaches back: a little more than the 12 lines of the published judge (formats section 8.5)."""


class Viewer:
    """Shows pieces of one context; a piece that several groups of questions see is made once."""

    def __init__(self, context: UnitContext) -> None:
        self._scene = context
        self._made: dict[str, list[Entry]] = {}

    def show(self, names: Sequence[str]) -> dict[str, list[Entry]]:
        """The listed pieces, in that order; nothing else can be in the result."""
        for name in names:
            if name not in self._made:
                self._made[name] = self._told(name)
        return {name: self._made[name] for name in names}

    def _told(self, name: str) -> list[Entry]:
        context = self._scene
        entries = pieces()[name].render(context) if context.row is None else _column(context.row, name)
        renamed = entries if context.renaming is None else [context.renaming.entry(entry) for entry in entries]
        return with_plain_names(renamed, [*context.game.agents, *(context.other.agents if context.other else ())])


def doc(name: str) -> str:
    """What a piece shows: one of `pieces`, or a column of the rubric's own query."""
    return pieces()[name].doc if name in pieces() else "a column of the record that is judged"


def _column(row: Mapping[str, object], name: str) -> list[Entry]:
    value = row[name]
    return [] if value is None or value == "" else [Entry(f"{name}:", str(value))]


def _judged_agent(context: UnitContext) -> list[Entry]:
    name = context.agent_name
    agent = context.game.agents.get(name)
    return [Entry("The agent that is judged:", f"{one_line(name)} ({one_line(agent.role) if agent else 'role unknown'})")]


def _quoted(messages: Iterable[UtteranceView]) -> list[Entry]:
    return [Entry(f"{one_line(u.agent)} said:", u.text) for u in messages if u.text.strip()]


def _utterance(context: UnitContext) -> list[Entry]:
    return _quoted(u for u in context.now.utterances if u.seq == context.seq)


def _action(context: UnitContext) -> list[Entry]:
    done = context.action
    return [] if done is None else [Entry(f"{one_line(done.agent)} tried:", action_text(done.verb, done.arguments))]


def _action_outcome(context: UnitContext) -> list[Entry]:
    done = context.action
    if done is None or done.accepted is None:
        return []
    return [Entry("What came of the action:", _outcome(accepted=done.accepted) + (f": {done.error_text}" if done.error_text else ""))]


def _event(context: UnitContext) -> list[Entry]:
    spoken = (u for u in context.now.utterances if u.seq == context.seq)
    said = [Entry(f"{one_line(u.agent)} {'thought' if u.channel == 'private' else 'said'}:", u.text) for u in spoken if u.text.strip()]
    return said or _action(context)


def _first_dialogue(context: UnitContext) -> list[Entry]:
    return _record(context.game, context.game.turns)


def _second_dialogue(context: UnitContext) -> list[Entry]:
    return [] if context.other is None else _record(context.other, context.other.turns)


def _public_message(context: UnitContext) -> list[Entry]:
    return _quoted(context.now.received(context.agent_name))


def _private_reasoning(context: UnitContext) -> list[Entry]:
    thoughts = (u for u in context.now.said("private", context.agent_name) if not u.superseded and u.text.strip())
    return [Entry(f"{one_line(u.agent)} thought:", u.text) for u in thoughts]


def _public_messages(context: UnitContext) -> list[Entry]:
    return _quoted(u for u in context.now.received() if context.is_judged_role(u.agent) and _reaches_others(context, u))


def _reaches_others(context: UnitContext, message: UtteranceView) -> bool:
    """Whether an agent outside the judged roles, who acts on the messages, could read it; where all agents are judged, always."""
    others = {name for name in context.game.agents if not context.is_judged_role(name)}
    return not others or not others.isdisjoint(message.audience)


def _other_messages(context: UnitContext) -> list[Entry]:
    said = context.now.received()
    return _quoted(u for u in said if u.agent != context.agent_name and context.is_judged_role(u.agent))


def _history(context: UnitContext) -> list[Entry]:
    turn = context.now.turn
    return _record(context.game, (t for t in context.game.turns if turn - HISTORY_TURNS <= t.turn < turn))


def _dialogue(context: UnitContext) -> list[Entry]:
    return _record(context.game, context.game.turns)


def _record(game: Transcript, turns: Iterable[TurnView]) -> list[Entry]:
    """Public messages, each with who of the agents did not receive it, and actions; not the state, which not everybody could see."""
    entries: list[Entry] = []
    for turn in turns:
        entries += [
            Entry(f"turn {turn.turn}, {one_line(u.agent)} said{_not_received(game, u)}:", u.text)
            for u in turn.said("public")
            if u.text.strip()
        ]
        entries += [
            Entry(f"turn {turn.turn}, {one_line(a.agent)} tried:", f"{action_text(a.verb, a.arguments)}: {_outcome(accepted=a.accepted)}")
            for a in turn.actions
            if a.accepted is not None
        ]
    return entries


def _not_received(game: Transcript, message: UtteranceView) -> str:
    absent = [one_line(name) for name in game.agents if name != message.agent and name not in message.audience]
    return f" ({', '.join(absent)} did not receive this)" if absent and message.audience else ""


def _outcome(*, accepted: bool | None) -> str:
    return "carried out" if accepted else "refused"


def _world_before(context: UnitContext) -> list[Entry]:
    return _as_json("The world before this turn:", context.now.state_before)


def _goal(context: UnitContext) -> list[Entry]:
    return _as_json("The goal:", context.game.goal or {})


def _as_json(head: str, value: JsonObject) -> list[Entry]:
    return [Entry(head, json.dumps(value, ensure_ascii=False))] if value else []


def _oracle_actions(context: UnitContext) -> list[Entry]:
    listed = [action_text(o.verb, o.arguments) for o in context.now.oracle if o.listed]
    return [Entry("Candidate actions of this turn, each verified to make progress:", "\n".join(listed))] if listed else []


_GENERAL: tuple[Piece, ...] = (
    Piece("judged_agent", "who is judged: name and role", AGENT_UNITS, (), _judged_agent),
    Piece("utterance", "the one public message that is judged", ("utterance",), (), _utterance),
    Piece("public_message", "what the judged agent said to others this turn", AGENT_UNITS, (), _public_message),
    Piece("private_reasoning", "what the judged agent thought this turn", AGENT_UNITS, (), _private_reasoning),
    Piece("public_messages", "what the agents of the judged roles said this turn", TURN_UNITS, (), _public_messages),
    Piece("other_messages", "what the other agents of the judged roles said this turn", AGENT_UNITS, (), _other_messages),
    Piece("history", f"public messages and actions of up to {HISTORY_TURNS} turns strictly before this one", TURN_UNITS, (), _history),
    Piece("dialogue", "public messages and actions of the whole game", ("episode",), (), _dialogue),
    Piece("action", "the one action that is judged; not whether it worked", ("action", "event"), (), _action),
    Piece("action_outcome", "whether the judged action was carried out", ("action", "event"), (), _action_outcome),
    Piece("event", "the one thing that is judged: something said, thought or tried", ("event",), (), _event),
    Piece("first_dialogue", "public messages and actions of the first game", ("pair",), (), _first_dialogue),
    Piece("second_dialogue", "public messages and actions of the second game", ("pair",), (), _second_dialogue),
    Piece("world_before", "the whole world before this turn, as JSON, also what an agent could not see", TURN_UNITS, (), _world_before),
    Piece("goal", "the goal, as JSON, also where no agent was shown it", (*TURN_UNITS, "episode"), (), _goal),
    Piece("oracle_actions", "the candidate actions that the log lists for this turn", TURN_UNITS, (), _oracle_actions),
)


@cache
def pieces() -> Mapping[str, Piece]:
    """Name -> piece: everything that a rubric can show. The first call loads the families."""
    of_families = (piece for _, offered_pieces in offered("judges", "pieces", "PIECES") for piece in offered_pieces)
    return {piece.name: piece for piece in (*_GENERAL, *of_families)}
