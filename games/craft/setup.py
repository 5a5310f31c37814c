"""CRAFT played by models, scripts and people, in any mixture; the log is cotrace's own."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, cast

import orjson

from games.craft.engine.board import DIRECTORS, Board, Director, all_views, views_json
from games.craft.engine.rules import Move
from games.craft.game import Agent, Game, GameSettings, TurnRecord, kept
from games.craft.measures import COMPLETION_THRESHOLD, followed_action_position_layer
from games.craft.players import plain
from games.craft.players.team import CASTS, ScriptedTeam
from games.craft.targets import START_BOARDS, Structure
from games.craft.text import prompts
from games.craft.text import replies as grammar
from games.craft.text.prompts import Archetype
from games.craft.text.replies import Clarification, ParsedMove, Unreadable, builder_line, director_text, parse_answer, read_answer
from games.players.course import Course, Reply, Step, Takeover, ask, played_by
from games.players.player import Observation, Round, ToolUse
from games.players.setup import DEFAULT_START, PlayerSetup
from schemas.chat.messages import Message
from schemas.common.errors import BadInputError
from schemas.game import ActionEntry, AgentEntry, End, Header, OracleEntry, ReplyEntry, Turn, UtteranceEntry

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
    """Give the course of a game; `speakers` are the directors of the first turns, in place of those drawn; `game` is its environment."""
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
        calls = grammar.asked_for(reply.text) if left else ()
        if not calls:
            return reply
        state = game.state()
        results = [grammar.simulated(call, state.board, asked.structure.target) for call in calls] if len(calls) <= left else []
        left = left - len(calls) if results else 0
        note = prompts.simulated_note(results, left)
        answered: list[Message] = [{"role": "assistant", "content": reply.text}, {"role": "user", "content": "\n".join([*results, note])}]
        data = replace(seen.data, simulated=(*seen.data.simulated, *results))
        tool = seen.tool and seen.tool._replace(
            tools=(grammar.TOOL,) if left else (), rounds=(*seen.tool.rounds, Round(reply.text, results, note))
        )
        seen = replace(seen, purpose="simulated", messages=[*seen.messages, *answered], data=data, tool=tool)


def _observation(game: Game, agent: Agent, asked: GameSetup, own: Sequence[str] | None = None) -> Observation:
    seen = game.observe_builder() if agent == "builder" else game.observe_director(agent, own)
    rules = asked.settings.rules
    name = "Builder" if agent == "builder" else agent
    tool: ToolUse | None = None
    if isinstance(seen, prompts.BuilderObservation):
        oracle, simulations = asked.settings.oracle, asked.settings.simulations
        messages = prompts.builder_messages(seen, oracle=oracle, simulations=simulations, rules=rules)
        if simulations and asked.settings.provider_tool:
            tool = ToolUse(
                prompts.builder_messages(seen, oracle=oracle, simulations=simulations, provider_tool=True, rules=rules),
                (grammar.TOOL,),
                grammar.written_call,
            )
    else:
        messages = prompts.director_messages(seen, asked.characters[seen.director], rules)
    return Observation(
        agent=name,
        role=ROLES[name],
        turn=seen.turn,
        messages=messages,
        data=seen,
        wants_thoughts=agent != "builder",
        tool=tool,
        reads=grammar.READERS[rules]["builder" if agent == "builder" else "director"],
    )


def _text(agent: Agent, reply: Reply) -> str:
    """What the game reads: a failed call becomes what the published loop makes of it; reasoning that came apart is private."""
    if reply.lost:
        lost = f"Error in generation: {reply.error}"
        return f"{grammar.FAILED_CALL} {reply.error}" if agent == "builder" else grammar.director_text(lost, grammar.FAILED_CALL_MESSAGE)
    if agent != "builder" and reply.reasoning and "<think>" not in reply.text.lower():
        message = reply.text if "<message>" in reply.text.lower() else f"<message>{reply.text}</message>"
        return f"<think>\n{grammar.without_tags(reply.reasoning)}\n</think>\n\n{message}"
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
    unread = record.unreadable if settings.rules == "published" else prompts.UNREADABLE
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


def _spoken(director: Director, answer: grammar.DirectorAnswer, *, superseded: bool) -> tuple[UtteranceEntry, UtteranceEntry]:
    """Thought and message. The builder is not shown what is superseded, nor the stand-in for a missing message."""
    thought = UtteranceEntry(agent=director, channel="private", audience=(director,), text=answer.thinking, superseded=superseded)
    audience = DIRECTORS if superseded or answer.message == grammar.NO_MESSAGE else _EVERYONE
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


_BUILDER = "Builder"
_REDRAW = 1_000_003
"""Between the seeds of speakers of two repeats."""


def player_setup(_: Header) -> PlayerSetup:
    """Three directors and a builder."""
    return PlayerSetup(ROLES, SCRIPTS, CASTS)


def course(header: Header, turns: Sequence[Turn]) -> Course:
    """The game of a log; in the given turns the directors speak who spoke then, behind them they are drawn anew for each repeat."""
    return course_of(_game(header, turns), [_speakers(turn) for turn in turns])


def scripted(header: Header, taken: Mapping[str, str], takeover: Takeover | None) -> Course:
    """The game of a log, played by scripts that remember."""
    speakers = [_speakers(turn) for turn in takeover.before] if takeover else []
    return scripted_course(replace(_game(header, takeover.before if takeover else ()), taken=taken, cast=True), takeover, speakers)


def _game(header: Header, turns: Sequence[Turn]) -> GameSetup:
    condition: Mapping[str, Any] = header.run.get("condition", {})
    try:
        goal = header.task["goal"]
        target = Board.from_json(goal["stacks"], goal["spans"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInputError(f"the log has no readable target ({type(error).__name__}: {error})", locator="line 1.task.goal") from error
    settings = GameSettings.of_log(_known(condition, header, turns), GameSettings().logged())
    # the archetypes of the log, where it names them; else those that the released code draws for the structure
    logged = {agent.agent: agent.persona for agent in header.agents}
    digits = "".join(filter(str.isdigit, str(header.task.get("id")))) or "1"
    drawn = prompts.archetypes(int(digits) - 1, header.seed or 0)
    return GameSetup(
        structure=Structure(str(header.task.get("id")), str(header.task.get("level")), target),
        characters={name: cast("Archetype", logged[name]) if logged.get(name) in prompts.ARCHETYPES else drawn[name] for name in DIRECTORS},
        settings=settings,
        taken={},
        seed=(header.seed or 0) + _REDRAW * int(header.details.get("redraw", 0)),
        started_at=datetime.fromisoformat(header.started_at) if header.started_at else DEFAULT_START,
    )


def _known(condition: Mapping[str, Any], header: Header, turns: Sequence[Turn]) -> dict[str, Any]:
    """The settings, of published logs and of older ones of ours too, as far as they are known and exist."""
    known = {
        "use_oracle": bool(condition.get("use_oracle")),
        "max_turns": header.max_turns or len(turns) or 1,
        "same_turn_messages": bool(condition.get("same_turn_messages", header.details.get("same_turn_messages"))),
        "rules": "published" if condition.get("rules", _older(turns)) == "published" else "sane",
        "start_board": start if (start := condition.get("start_board")) in START_BOARDS else "empty",
    }
    others = ("num_oracle", "speakers", "history_limit", "simulations", "provider_tool")
    return known | {name: condition[name] for name in others if condition.get(name) is not None}


def _older(turns: Sequence[Turn]) -> str | None:
    """The rules of an older log, which names none: under the published ones a director who is drawn twice replies twice before the next."""
    replied = [[reply.agent for reply in turn.replies if reply.agent in DIRECTORS] for turn in turns]
    return "published" if any(agents[: len({*agents})] != list(dict.fromkeys(agents)) for agents in replied) else None


def _speakers(turn: Turn) -> tuple[Director, ...]:
    """The directors in the order in which their messages reached the builder.

    A director who spoke twice was asked again after the others, so the order of the replies can be another one.
    """
    replied = tuple(reply.agent for reply in turn.replies if reply.agent in DIRECTORS)
    spoke = tuple(message.agent for message in turn.utterances if message.channel == "public" and message.agent in DIRECTORS)
    return spoke if sorted(spoke) == sorted(replied) else replied


def replies(_: Header, turn: Turn) -> list[ReplyEntry]:
    """The directors' thoughts and messages in their order, and the builder's line."""
    return [*_directors(turn), ReplyEntry(agent=_BUILDER, text=_builder(turn))]


def _directors(turn: Turn) -> Iterator[ReplyEntry]:
    thought = ""
    for utterance in turn.utterances:
        if utterance.agent == _BUILDER:
            continue
        if utterance.channel == "private":
            thought = utterance.text
            continue
        yield ReplyEntry(agent=utterance.agent, text=director_text(thought, utterance.text))
        thought = ""


def _builder(turn: Turn) -> str:
    action = next(iter(turn.actions), None)
    confirmation = next((utterance.text for utterance in turn.utterances if utterance.agent == _BUILDER), "")
    raw = (action.raw if action else None) or ""
    now = read_answer(raw)
    if action is None or action.verb == "clarify":
        return raw if isinstance(now, Clarification) else f"CLARIFY:{confirmation}"
    if action.verb == "unreadable":
        return raw if isinstance(now, Unreadable) else ""
    if isinstance(now, ParsedMove) and now.confirmation == confirmation and now.move.span_to == action.arguments.get("span_to"):
        return raw
    then = parse_answer(raw)
    return builder_line(then.move if isinstance(then, ParsedMove) else _move(action), confirmation)


def _move(action: ActionEntry) -> Move:
    """As the builder wrote it, blanks and all, where the log has that as JSON: its blanks make ghost cells."""
    is_json = action.raw is not None and action.raw.lstrip().startswith("{")
    written: Mapping[str, Any] = orjson.loads(action.raw or "") if is_json else action.arguments
    layer = written.get("layer")
    return Move(action.verb, written.get("block"), str(written.get("position")), int(layer or 0), written.get("span_to"))


def written(agent: str, kind: str, text: str) -> str:
    """A director says a message; the builder does a line of its grammar, or asks."""
    if agent == _BUILDER:
        return f"CLARIFY:{text}" if kind == "say" else text
    return director_text("", text)
