"""CRAFT games with changes from a turn on, from cotrace's own log or a published one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

import orjson

from games.craft.engine.board import DIRECTORS, Board, Director
from games.craft.engine.rules import Move
from games.craft.game import GameSettings
from games.craft.players.team import CASTS
from games.craft.setup import ROLES, SCRIPTS, GameSetup, course_of, scripted_course
from games.craft.targets import START_BOARDS, Structure
from games.craft.text.prompts import ARCHETYPES, Archetype, archetypes
from games.craft.text.replies import Clarification, ParsedMove, Unreadable, builder_line, director_text, parse_answer, read_answer
from games.players.course import Course, Takeover
from games.players.setup import DEFAULT_START, PlayerSetup
from schemas.common.errors import BadInputError
from schemas.game import ActionEntry, Header, ReplyEntry, Turn

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
    drawn = archetypes(int(digits) - 1, header.seed or 0)
    return GameSetup(
        structure=Structure(str(header.task.get("id")), str(header.task.get("level")), target),
        characters={name: cast("Archetype", logged[name]) if logged.get(name) in ARCHETYPES else drawn[name] for name in DIRECTORS},
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
