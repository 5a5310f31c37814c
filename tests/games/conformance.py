"""One set of checks that every public environment passes.

========================= ============================================================================
``same_seed_same_game``   the same seed and the same answers give the same states and observations
``other_seed_other_game`` another seed gives another game
``turns_are_kept``        only the next agent acts, nobody after the end; a refused call changes nothing
``steps_are_judged``      every step is legal, or refused with a reason
``log_replays``           the answers of a log give the states that it holds
``cut_log_is_prefix``     a log that breaks off anywhere replays to the beginning of the same game
========================= ============================================================================

An environment takes part by a `Subject` that says how it is begun, answered, and read back (tests/games/conformance_subjects.py has the
list).
What an environment has no face for, its subject declares in ``lacks`` with the reason.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from schemas.common.errors import CotraceError, UsageError

_MOST_CALLS: Final = 2_000
"""No game of cotrace needs more answers than this; one that does has no end."""


class ConformanceError(CotraceError):
    """An environment breaks one of the rules that all environments keep."""


class Environment(Protocol):
    """What every game offers."""

    @property
    def agents(self) -> Sequence[str]:
        """Who takes part."""
        ...

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        ...

    @property
    def next_agent(self) -> str | None:
        """Who acts next; None after the end."""
        ...

    def state(self) -> Any:
        """Everything about the game as it stands; equal states compare equal."""
        ...

    def observe(self, agent: Any) -> Any:
        """What an agent may see; equal observations compare equal."""
        ...

    def act(self, agent: Any, answer: Any, /) -> Any:
        """Let the next agent answer.

        Raises:
            UsageError: the game is over, or it is another agent's turn.
        """
        ...


class Ruling(NamedTuple):
    """What the engine made of an attempted action."""

    accepted: bool | None
    """None where there was nothing to carry out, such as a question."""

    reason: str | None
    """Why it was refused; None if it was not."""


class LoggedStep(NamedTuple):
    """A part of a log between two states."""

    answers: Sequence[Any]
    """What the agents answered, in the order of acting."""

    state: Any
    """The state after them as the log holds it."""


class ReadBack(NamedTuple):
    """A log, read back."""

    environment: Environment
    """The game that its first line describes, before the first answer."""

    steps: Sequence[LoggedStep]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """An environment that is checked."""

    name: str
    begin: Callable[[int], Environment]
    """Seed -> a fresh game."""

    answer: Callable[[Environment, random.Random], Any]
    """What the next agent might answer: sensible, clumsy or nonsense."""

    verdicts: Callable[[Any], Sequence[Ruling]]
    """What ``act`` gave -> the engine's verdicts on the actions of that answer; empty where it held none."""

    write_log: Callable[[Path, int], Path]
    """Folder, seed -> the log of a whole scripted game, JSON Lines."""

    read_log: Callable[[Sequence[bytes]], ReadBack]
    """The first lines of a log, one at least -> the game as far as they tell it."""

    logged_state: Callable[[Environment], Any]
    """The state of a game in the form in which its logs hold it."""

    lacks: Mapping[str, str] = field(default_factory=dict)
    """Check that the environment offers nothing for -> why."""

    def __post_init__(self) -> None:
        """Refuse a declaration that excuses nothing.

        Raises:
            UsageError: a check is unknown, or has no reason.
        """
        for check, reason in self.lacks.items():
            if check not in CONFORMANCE_CHECKS or not reason.strip():
                raise UsageError(
                    f"{self.name}: lacks {check!r} because {reason!r}; give a check ({', '.join(CONFORMANCE_CHECKS)}) and a reason"
                )


def same_seed_same_game(subject: Subject, seed: int, folder: Path) -> None:  # noqa: ARG001 - all checks are called alike
    """Play two games from one seed with the same answers, side by side.

    Raises:
        ConformanceError: they differ, or end never.
    """
    one, other = subject.begin(seed), subject.begin(seed)
    answers, again = random.Random(seed), random.Random(seed)
    for _ in range(_MOST_CALLS):
        _demand(one.state() == other.state(), subject, f"seed {seed} gives two games that differ in their states")
        _demand(
            (one.next_agent, one.done) == (other.next_agent, other.done), subject, f"seed {seed} gives games that differ in who acts next"
        )
        if one.done:
            return
        agent = one.next_agent
        _demand(one.observe(agent) == other.observe(agent), subject, f"seed {seed} shows {agent} different things")
        one.act(agent, subject.answer(one, answers))
        other.act(agent, subject.answer(other, again))
    raise ConformanceError(f"{subject.name}: the game of seed {seed} has no end after {_MOST_CALLS} answers; give it a turn limit")


def other_seed_other_game(subject: Subject, seed: int, folder: Path) -> None:  # noqa: ARG001
    """Begin a game of this seed and one of the next; a game that is always the same would pass the check of its seed.

    Raises:
        ConformanceError: the agents of both see the same.
    """
    one, other = subject.begin(seed), subject.begin(seed + 1)
    shown, others = ([game.observe(agent) for agent in game.agents] for game in (one, other))
    _demand(shown != others, subject, f"seeds {seed} and {seed + 1} give the same game")


def turns_are_kept(subject: Subject, seed: int, folder: Path) -> None:  # noqa: ARG001
    """Let agents act out of turn at every point of a game, and all of them after its end.

    Raises:
        ConformanceError: a call was taken that must be refused, or a refused call changed the game.
    """
    environment, rng = subject.begin(seed), random.Random(seed)
    _demand(not environment.done, subject, "a fresh game is over")
    for agent, answer in _answers(subject, environment, rng):
        for stranger in (*environment.agents, "nobody"):
            if stranger != agent:
                _refuses(subject, environment, stranger, answer)
        environment.act(agent, answer)
    _demand(environment.next_agent is None, subject, "after the end somebody is to act next")
    for agent in environment.agents:
        _refuses(subject, environment, agent, "")


def steps_are_judged(subject: Subject, seed: int, folder: Path) -> None:  # noqa: ARG001
    """Play a game and look at the engine's verdict on every attempted action.

    Raises:
        ConformanceError: an action was refused without a reason, or accepted with one.
    """
    environment, rng = subject.begin(seed), random.Random(seed)
    for number, (agent, answer) in enumerate(_answers(subject, environment, rng), start=1):
        for verdict in subject.verdicts(environment.act(agent, answer)):
            refused = verdict.accepted is False
            _demand(
                refused == bool(verdict.reason),
                subject,
                f"answer {number} of {agent}: accepted {verdict.accepted}, reason {verdict.reason!r}",
            )


def log_replays(subject: Subject, seed: int, folder: Path) -> None:
    """Write the log of a scripted game, and play its answers again.

    Raises:
        ConformanceError: a state differs, the game ends elsewhere, or the log holds no step.
    """
    game = subject.read_log(_lines(subject.write_log(folder, seed)))
    _demand(bool(game.steps), subject, "a whole log holds no step")
    _replay(subject, game)
    _demand(game.environment.done, subject, "a whole log does not replay to the end of its game")


def cut_log_is_prefix(subject: Subject, seed: int, folder: Path) -> None:
    """Cut a log behind every line, and replay what is left.

    Raises:
        ConformanceError: what is left is not the beginning of the same game, or does not replay.
    """
    lines = _lines(subject.write_log(folder, seed))
    whole = subject.read_log(lines).steps
    for count in range(1, len(lines)):
        part = subject.read_log(lines[:count])
        _demand(list(part.steps) == list(whole[: len(part.steps)]), subject, f"the first {count} lines of a log are not its beginning")
        _replay(subject, part)


CONFORMANCE_CHECKS: Final[Mapping[str, Callable[[Subject, int, Path], None]]] = {
    "same_seed_same_game": same_seed_same_game,
    "other_seed_other_game": other_seed_other_game,
    "turns_are_kept": turns_are_kept,
    "steps_are_judged": steps_are_judged,
    "log_replays": log_replays,
    "cut_log_is_prefix": cut_log_is_prefix,
}
"""Name -> check; each takes the subject, a seed, and an empty folder for logs."""


def _answers(subject: Subject, environment: Environment, rng: random.Random) -> Any:
    """Yield who acts next and what it answers, until the game is over; the caller acts."""
    for _ in range(_MOST_CALLS):
        if environment.done:
            return
        yield environment.next_agent, subject.answer(environment, rng)
    raise ConformanceError(f"{subject.name}: a game has no end after {_MOST_CALLS} answers; give it a turn limit")


def _refuses(subject: Subject, environment: Environment, agent: str, answer: Any) -> None:
    before = copy.deepcopy(environment.state())
    try:
        environment.act(agent, answer)
    except UsageError:
        _demand(environment.state() == before, subject, f"a refused call of {agent} changed the game")
        return
    when = "after the end" if environment.done else f"although it is for {environment.next_agent} to act"
    raise ConformanceError(f"{subject.name}: {agent} could act {when}; refuse it with a UsageError")


def _replay(subject: Subject, game: ReadBack) -> None:
    for number, step in enumerate(game.steps, start=1):
        for answer in step.answers:
            game.environment.act(game.environment.next_agent, answer)
        found = subject.logged_state(game.environment)
        _demand(found == step.state, subject, f"step {number} of a log does not replay to the state that it holds")


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def _demand(holds: bool, subject: Subject, otherwise: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not holds:
        raise ConformanceError(f"{subject.name}: {otherwise}")
