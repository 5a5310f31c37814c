"""CRAFT played by models, scripts and people, in any mixture; the log is cotrace's own."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from games.craft.engine.board import DIRECTORS, Board, Director, all_views, views_json
from games.craft.engine.rules import Move
from games.craft.game import Agent, Game, GameSettings, TurnRecord, kept
from games.craft.measures import COMPLETION_THRESHOLD, followed_action_position_layer
from games.craft.players import plain
from games.craft.players.team import ScriptedTeam
from games.craft.targets import Structure
from games.craft.text import replies
from games.craft.text.prompts import UNREADABLE, Archetype, BuilderObservation, builder_messages, director_messages, simulated_note
from games.players.course import Course, Reply, Step, Takeover, ask, played_by
from games.players.player import Observation, Round, ToolUse
from games.players.setup import DEFAULT_START
from schemas.chat.messages import Message
from schemas.game import ActionEntry, AgentEntry, End, Header, OracleEntry, Turn, UtteranceEntry

ROLES: Final[Mapping[str, str]] = {**dict.fromkeys(DIRECTORS, "director"), "Builder": "builder"}
"""Agent -> role."""

SCRIPTS: Final[Mapping[str, Mapping[str, Callable[[Any], str]]]] = {"director": plain.DIRECTORS_BY_NAME, "builder": plain.BUILDERS}
"""Role -> script -> policy over the role's observation."""

_EVERYONE: Final = tuple(ROLES)

_TURN_TIME: Final = timedelta(seconds=30)
"""Pretended length of a turn, so that the same game has the same log wherever and whenever it is played on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSetup:
    """One game to be played."""

    structure: Structure
    characters: Mapping[Director, Archetype]
    settings: GameSettings
    taken: Mapping[str, str]
    """Agent -> player."""
    seed: int
    started_at: datetime = DEFAULT_START
    cast: bool = False
    """All players are scripts that remember; they react to each other, so they hear each other within a turn."""


def header_of(game: GameSetup) -> Header:
    """Give the first line of a game's log; every switch that changes what a player receives is in its condition."""
    settings, builder = game.settings, game.taken["Builder"]
    directors = "+".join(dict.fromkeys(game.taken[director] for director in DIRECTORS))
    if game.cast and "+" in directors:
        directors = "+".join(game.taken[director] for director in DIRECTORS)
    condition = {**settings.logged(), "builder_tool_use": settings.simulations > 0, "archetypes": not game.cast, "run": game.seed}
    team = f"{directors}_{builder}".replace("/", "-").replace(":", "-")
    views = views_json(all_views(game.structure.target))
    agents = [
        AgentEntry(
            agent=director,
            role="director",
            model=game.taken[director],
            persona=game.characters[director],
            private_view=views[director],
            view_kind="spans",
        )
        for director in DIRECTORS
    ]
    return Header(
        benchmark="craft",
        episode=f"{team}/{game.structure.structure_id}_{game.seed}",
        run={"name": team, "condition": condition},
        task={"id": game.structure.structure_id, "level": game.structure.complexity, "goal": state_json(game.structure.target)},
        team={"director": directors, "builder": builder},
        agents=[*agents, AgentEntry(agent="Builder", role="builder", model=builder)],
        model=directors,
        seed=game.seed,
        max_turns=settings.max_turns,
        started_at=game.started_at.isoformat(),
        details={"same_turn_messages": settings.same_turn_messages},
    )


def course_of(asked: GameSetup, speakers: Sequence[tuple[Director, ...]] = (), game: Game | None = None) -> Course:
    """Give the course of a game.

    Args:
        asked: the game.
        speakers: the directors of the first turns, in place of those drawn.
        game: its environment; None: a new one.
    """
    game = game or Game(asked.structure, asked.settings, seed=asked.seed, speakers=speakers)
    while not game.done:
        if not asked.settings.same_turn_messages:
            yield from _asked_at_once(game, asked)
        record = None
        while record is None:
            agent = game.next_agent
            assert agent is not None
            reply = yield from (_decided(game, asked) if agent == "builder" else ask(_observation(game, agent, asked)))
            record = game.act(agent, _text(agent, reply), failed=agent == "builder" and reply.lost)
        yield turn_entry(record, asked.settings, asked.started_at + record.turn * _TURN_TIME)
    score = game.state().metrics.overall_progress
    return End(success=score >= COMPLETION_THRESHOLD, score=score, stop_reason=str(game.stop_reason), turns_taken=len(game.turns))


def scripted_course(asked: GameSetup, takeover: Takeover | None = None, speakers: Sequence[tuple[Director, ...]] = ()) -> Course:
    """The course of a game that scripts play which remember; `speakers` as in `course_of`."""
    game = Game(asked.structure, asked.settings, seed=asked.seed, speakers=speakers)
    return played_by(course_of(asked, game=game), ScriptedTeam(game, asked.taken), takeover)


def _asked_at_once(game: Game, asked: GameSetup) -> Generator[Step, tuple[Reply, ...], None]:
    """Ask the directors, none of whom hears the others: all at once, but a director who was drawn again after its earlier replies.

    Under the published rules no director knows that it has spoken, so all are asked at once.
    """
    speakers = game.speakers
    texts: dict[int, str] = {}
    while len(texts) < len(speakers):
        left = [place for place in range(len(speakers)) if place not in texts]
        firsts = {speakers[place]: place for place in reversed(left)}
        due = left if asked.settings.rules == "published" else sorted(firsts.values())
        own = {place: [texts[before] for before in texts if speakers[before] == speakers[place]] for place in due}
        answers = yield tuple(_observation(game, speakers[place], asked, own[place]) for place in due)
        texts |= {place: _text(speakers[place], answer) for place, answer in zip(due, answers, strict=True)}
    for place, director in enumerate(speakers):
        game.act(director, texts[place])


def _decided(game: Game, asked: GameSetup) -> Generator[Step, tuple[Reply, ...], Reply]:
    """What the builder answers in the end, after the moves that it tried."""
    seen, left = _observation(game, "builder", asked), asked.settings.simulations
    while True:
        reply = yield from ask(seen)
        calls = replies.asked_for(reply.text) if left else ()
        if not calls:
            return reply
        state = game.state()
        results = [replies.simulated(call, state.board, asked.structure.target) for call in calls] if len(calls) <= left else []
        left = left - len(calls) if results else 0
        note = simulated_note(results, left)
        answered: list[Message] = [{"role": "assistant", "content": reply.text}, {"role": "user", "content": "\n".join([*results, note])}]
        data = replace(seen.data, simulated=(*seen.data.simulated, *results))
        tool = seen.tool and seen.tool._replace(
            tools=(replies.TOOL,) if left else (), rounds=(*seen.tool.rounds, Round(reply.text, results, note))
        )
        seen = replace(seen, purpose="simulated", messages=[*seen.messages, *answered], data=data, tool=tool)


def _observation(game: Game, agent: Agent, asked: GameSetup, own: Sequence[str] | None = None) -> Observation:
    seen = game.observe_builder() if agent == "builder" else game.observe_director(agent, own)
    rules = asked.settings.rules
    name = "Builder" if agent == "builder" else agent
    tool: ToolUse | None = None
    if isinstance(seen, BuilderObservation):
        oracle, simulations = asked.settings.oracle, asked.settings.simulations
        messages = builder_messages(seen, oracle=oracle, simulations=simulations, rules=rules)
        if simulations and asked.settings.provider_tool:
            tool = ToolUse(
                builder_messages(seen, oracle=oracle, simulations=simulations, provider_tool=True, rules=rules),
                (replies.TOOL,),
                replies.written_call,
            )
    else:
        messages = director_messages(seen, asked.characters[seen.director], rules)
    return Observation(
        agent=name,
        role=ROLES[name],
        turn=seen.turn,
        messages=messages,
        data=seen,
        wants_thoughts=agent != "builder",
        tool=tool,
        reads=replies.READERS[rules]["builder" if agent == "builder" else "director"],
    )


def _text(agent: Agent, reply: Reply) -> str:
    """What the game reads: a failed call becomes what the published loop makes of it; reasoning that came apart is private."""
    if reply.lost:
        lost = f"Error in generation: {reply.error}"
        return f"{replies.FAILED_CALL} {reply.error}" if agent == "builder" else replies.director_text(lost, replies.FAILED_CALL_MESSAGE)
    if agent != "builder" and reply.reasoning and "<think>" not in reply.text.lower():
        message = reply.text if "<message>" in reply.text.lower() else f"<message>{reply.text}</message>"
        return f"<think>\n{replies.without_tags(reply.reasoning)}\n</think>\n\n{message}"
    return reply.text


# -- the log ----------------------------------------------------------------------------------------


def state_json(board: Board) -> dict[str, Any]:
    """Give a board as logs hold it."""
    return {"stacks": board.structure_json(ghosts=True), "spans": board.spans_json()}


def turn_entry(record: TurnRecord, settings: GameSettings, at: datetime) -> Turn:
    """Give a finished turn as a line of the log, without labels and calls."""
    attempted = record.outcome.move if record.outcome else None
    received = kept(record.answers) if settings.rules == "published" else range(len(record.answers))
    entries = [
        entry
        for number, (director, answer) in enumerate(record.answers)
        for entry in _spoken(director, answer, superseded=number not in received)
    ]
    unread = record.unreadable if settings.rules == "published" else UNREADABLE
    text = unread if record.unreadable is not None else record.clarification or record.confirmation
    return Turn(
        turn=record.turn,
        at=at.isoformat(),
        state_before=state_json(record.board_before),
        utterances=[*entries, UtteranceEntry(agent="Builder", channel="public", audience=_EVERYONE, text=text or "")],
        oracle=[OracleEntry(move.action, _arguments(move), undoes=move.action == "remove") for move in record.listed]
        if settings.oracle
        else None,
        oracle_followed=followed_action_position_layer(record.listed, attempted) if record.listed and attempted else None,
        actions=(_action(record),),
        state_after=state_json(record.board_after),
        goal_reached=record.metrics.overall_progress >= COMPLETION_THRESHOLD,
    )


def _spoken(director: Director, answer: replies.DirectorAnswer, *, superseded: bool) -> tuple[UtteranceEntry, UtteranceEntry]:
    """Thought and message. The builder is not shown what is superseded, nor the stand-in for a missing message."""
    thought = UtteranceEntry(agent=director, channel="private", audience=(director,), text=answer.thinking, superseded=superseded)
    audience = DIRECTORS if superseded or answer.message == replies.NO_MESSAGE else _EVERYONE
    return thought, UtteranceEntry(agent=director, channel="public", audience=audience, text=answer.message, superseded=superseded)


def _action(record: TurnRecord) -> ActionEntry:
    outcome = record.outcome
    if record.unreadable is not None:
        reason = {"reason": record.unreadable}
        return ActionEntry(agent="Builder", verb="unreadable", arguments=reason, raw=record.builder_text, accepted=None)
    if outcome is None:
        question = {"question": record.clarification}
        return ActionEntry(agent="Builder", verb="clarify", arguments=question, raw=record.builder_text, accepted=None)
    return ActionEntry(
        agent="Builder",
        verb=outcome.move.action,
        arguments=_arguments(outcome.move),
        raw=record.builder_text,
        accepted=outcome.accepted,
        error_code=outcome.error.code if outcome.error else None,
        error_text=outcome.error.message if outcome.error else None,
        undoes=outcome.move.action == "remove",
    )


def _arguments(move: Move) -> dict[str, Any]:
    return {"block": move.block, "position": move.position, "layer": move.layer, "span_to": move.span_to}
