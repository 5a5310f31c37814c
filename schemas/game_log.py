"""Writes anybody's game as a log that cotrace reads: a few calls inside one's own loop."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import datetime
from numbers import Real
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import msgspec

from schemas.common.errors import UsageError
from schemas.game import (
    ActionEntry,
    AgentEntry,
    End,
    FailureEntry,
    Header,
    LogWriter,
    OracleEntry,
    Turn,
    UtteranceEntry,
    end_line,
    header_line,
    turn_line,
)

_Entry = TypeVar("_Entry", AgentEntry, UtteranceEntry, ActionEntry, OracleEntry, FailureEntry)
_MESSAGE_KEYS: Final = ("agent", "text")
_BEYOND: Final = 2**63


class GameLog:
    """One game of any benchmark, written a turn at a time; whoever reads the file meanwhile sees whole turns.

    Use as a context manager. A game left without ``end`` counts as cut: it is neither won nor lost.

    Example:
        with GameLog("logs/1.jsonl", benchmark="negotiation", agents=["buyer", "seller"], task="lamp") as log:
            log.turn(messages=[("buyer", "40?"), ("seller", "60.")], actions=[{"agent": "seller", "verb": "offer", "raw": "60"}])
            log.end(success=True, score=0.5)

    Args:
        path: the file; written anew, with its folders.
        benchmark: name of the game; one of a family's name is replayed and checked by its rules, any other is taken as written.
        agents: names, or objects with ``agent``, ``role``, ``model``, ``persona``, ``private_view``.
        task: id of what is played for; None: the file's name.
        level: tier of the task.
        goal: what is to be reached, as JSON.
        run: name of the experiment.
        condition: what tells its runs apart, by name.
        model: the evaluated model; None: the agents' models.
        seed: tells repetitions apart.
        max_turns: the limit.
        details: further facts.

    Raises:
        UsageError: an agent has no name or an unknown field, two have the same name, or a value cannot be logged.
        OSError: the file cannot be written.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        benchmark: str,
        agents: Iterable[str | Mapping[str, Any]],
        task: str | None = None,
        level: str | None = None,
        goal: Any = None,
        run: str | None = None,
        condition: Mapping[str, Any] | None = None,
        model: str | None = None,
        seed: int | None = None,
        max_turns: int | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        known = [_entry(AgentEntry, {"agent": agent} if isinstance(agent, str) else agent, "agents") for agent in agents]
        self._agents = [agent.agent for agent in known]
        if len(set(self._agents)) < len(self._agents) or not self._agents:
            raise UsageError(f"agents {self._agents}: give at least one, each with a name of its own")
        if isinstance(benchmark, str) and not benchmark.strip():
            raise UsageError(f"benchmark is {benchmark!r}: give the game a name")
        for name, value in {"task": task, "level": level, "run": run}.items():
            if value is not None and not isinstance(value, str):
                raise UsageError(f"{name} is {value!r}: give a text")
        header = Header(
            benchmark=benchmark,
            agents=known,
            episode=Path(path).stem,
            run={"name": run or benchmark, "condition": dict(condition or {})},
            task={"id": task or Path(path).stem, "level": level, "goal": goal},
            model=model,
            seed=seed,
            max_turns=max_turns,
            started_at=_now(),
            details=details or {},
        )
        _ensure_readable(lambda: header_line(header), Header, "the game")
        if seed is not None and abs(seed) >= _BEYOND:
            raise UsageError(f"seed is {seed}, and no table holds whole numbers from 2 ** 63 on")
        self._log = LogWriter(Path(path), header)
        self._turns = 0
        self._ended = False

    def turn(
        self,
        *,
        messages: Iterable[tuple[str, str] | Mapping[str, Any]] = (),
        thoughts: Iterable[tuple[str, str]] = (),
        actions: Iterable[Mapping[str, Any]] = (),
        state_before: Any = None,
        state_after: Any = None,
        oracle: Iterable[Mapping[str, Any]] | None = None,
        oracle_followed: bool | None = None,
        progress: float | None = None,
        failures: Iterable[Mapping[str, Any]] = (),
        metrics: Mapping[str, float] | None = None,
        goal_reached: bool | None = None,
        error: str | None = None,
    ) -> None:
        """Append a turn; everything that is left out is not known.

        Args:
            messages: (agent, text), or objects with ``agent``, ``text``, ``audience`` (names; everybody without it), in order.
            thoughts: (agent, text): what only that agent knows it thought.
            actions: objects with ``agent``, ``verb``, ``arguments``, ``raw``, ``accepted``, ``error_code``, ``error_text``, ``undoes``.
            state_before: the world as JSON.
            state_after: the world after the turn.
            oracle: actions known to make progress: ``verb``, ``arguments``, ``undoes``; None: not known.
            oracle_followed: one of them was taken.
            progress: 0 to 1.
            failures: objects with ``taxonomy``, ``category``, ``agent``, ``evidence``.
            metrics: further numbers by name.
            goal_reached: the goal was reached on this turn.
            error: what ended the turn.

        Raises:
            UsageError: an entry has an unknown field or agent, or lacks one that it needs; a value cannot be logged; the game has
                ended. Nothing is written then, and the game can go on.
            OSError: the file cannot be written.
        """
        number = self._turns + 1
        if self._ended:
            raise UsageError(f"turn {number}: the game has ended: give its turns before `end`")
        if progress is not None and not _is_share(progress):
            raise UsageError(f"turn {number}: progress is {progress!r}: give a number from 0 to 1")
        utterance = [_as_message(message) for message in messages] + [
            {"agent": who, "text": text, "channel": "private"} for who, text in thoughts
        ]
        turn = Turn(
            turn=number,
            at=_now(),
            state_before=state_before,
            utterances=[_entry(UtteranceEntry, entry, "messages") for entry in utterance],
            oracle=None if oracle is None else [_entry(OracleEntry, entry, "oracle") for entry in oracle],
            oracle_followed=oracle_followed,
            actions=[_entry(ActionEntry, entry, "actions") for entry in actions],
            state_after=state_after,
            goal_reached=goal_reached,
            error=error,
            progress=progress,
            failures=[_entry(FailureEntry, entry, "failures") for entry in failures],
            metrics=metrics or {},
        )
        heard = (name for utterance in turn.utterances for name in utterance.audience or ())
        for who in (*(utterance.agent for utterance in turn.utterances), *heard, *(done.agent for done in turn.actions)):
            if who not in self._agents:
                raise UsageError(f"turn {number}: no agent {who!r} in this game: there are {', '.join(self._agents)}")
        _ensure_readable(lambda: turn_line(turn), Turn, f"turn {number}")
        self._log.turn(turn)
        self._turns = number

    def end(
        self,
        *,
        success: bool | None = None,
        score: float | None = None,
        reason: str | None = None,
        metrics: Mapping[str, float] | None = None,
        error: str | None = None,
    ) -> None:
        """Append the last line.

        Args:
            success: whether the goal was reached; None: the game has no such thing.
            score: the game's main number; None: 1 or 0 by success, where that is known.
            reason: why it ended.
            metrics: further numbers of the game by name.
            error: what ended the game.

        Raises:
            UsageError: success is neither True, False nor None, another value cannot be logged, or the game has ended.
            OSError: the file cannot be written.
        """
        if self._ended:
            raise UsageError("the game has ended: call `end` once")
        if success not in (True, False, None):
            raise UsageError(f"success is {success!r}: give True, False, or None where the game has no such thing")
        if score is not None and not (isinstance(score, Real) and abs(score) != math.inf):
            raise UsageError(f"score is {score!r}: give a number, or None where the game has none")
        success = None if success is None else bool(success)
        end = End(success=success, score=score, stop_reason=reason, turns_taken=self._turns, error=error, metrics=metrics or {})
        _ensure_readable(lambda: end_line(end), dict[str, End], "the end")
        self._log.end(end)
        self._ended = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._log.__exit__(*error)


def _as_message(message: tuple[str, str] | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(message, Mapping):
        return message
    if isinstance(message, str) or len(message) != len(_MESSAGE_KEYS):
        raise UsageError(f"messages: {message!r} is neither (agent, text) nor an object")
    return dict(zip(_MESSAGE_KEYS, message, strict=True))


def _ensure_readable(line: Callable[[], bytes], kind: type, where: str) -> None:
    """Refuse what cannot be written, and what an ingest would stop at, which costs every line behind it."""
    try:
        msgspec.json.decode(line(), type=kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: a value cannot be logged ({error})") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"{where}: a value is not JSON ({error}): give numbers, texts, lists and dictionaries") from error


def _entry(kind: type[_Entry], value: Mapping[str, Any], where: str) -> _Entry:
    if not isinstance(value, Mapping):
        raise UsageError(f"{where}: {value!r} is not an object")
    known = [field.name for field in fields(kind)]
    unknown = [name for name in value if name not in known]
    if unknown:
        raise UsageError(f"{where}: unknown field {unknown[0]!r}; there are {', '.join(known)}")
    try:
        return kind(**value)
    except TypeError as error:
        raise UsageError(f"{where}: {str(error).partition('() ')[2]} in {dict(value)!r}") from error


def _is_share(value: object) -> bool:
    """A number from 0 to 1; NaN is one that is not known."""
    return isinstance(value, Real) and not (float(value) < 0 or float(value) > 1)


def _now() -> str:
    return datetime.now().isoformat(timespec="seconds")  # noqa: DTZ005 - logs hold local times without zone
