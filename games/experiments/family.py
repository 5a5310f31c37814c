"""What a game family brings to experiments: a module `games.<family>.experiment`, found by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict

from games.players.course import Course
from games.players.forms import Form
from games.players.player import Observation
from games.players.running import Job
from games.players.seats import Seats
from schemas.errors import UsageError
from schemas.families import modules
from schemas.game import Header
from schemas.text import near

__all__ = ["ExperimentGame", "Match", "Part", "Task", "game_of", "games", "job_of"]


class Part(BaseModel):
    """A part of an experiment file; a key that it does not know is a mistake."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


class Task(NamedTuple):
    """What is to be solved in a game."""

    name: str
    """Tells it apart from the others of the experiment; part of its logs' names."""
    content: Any
    """The family's own."""
    place: int
    """Its place among the tasks, from 0."""


class Match(NamedTuple):
    """A game as its family is asked for it."""

    task: Task
    condition: Any
    """A `Condition` of the family."""
    taken: Mapping[str, str]
    """Agent -> player."""
    seed: int
    path: Path
    """Where its log goes."""
    run: str
    """Name of the experiment."""
    episode: str
    """A name of the game that no other of the experiment has."""
    details: Mapping[str, Any]
    """For the log's header: what else fixes the game."""


class ExperimentGame(Protocol):
    """A module of this face, `games.<family>.experiment`, makes a game playable by experiments."""

    @property
    def Tasks(self) -> type[Part]:  # noqa: N802 - the module's class
        """What can stand under `tasks`."""
        ...

    @property
    def Condition(self) -> type[Part]:  # noqa: N802 - the module's class
        """The switches of a game, with their defaults."""
        ...

    @property
    def KINDS(self) -> Sequence[str]:  # noqa: N802 - the module's constant
        """Kinds of single games; one empty name where there is only one."""
        ...

    @property
    def one_game(self) -> Callable[[int, Any], Part]:
        """The `Tasks` of a single game of a kind, drawn by a number: for people who sit down at a table."""
        ...

    @property
    def forms(self) -> Callable[[Observation], Sequence[Form]]:
        """What a person can write when asked, as forms to fill in."""
        ...

    @property
    def seats(self) -> Callable[[Any], Seats]:
        """Who can sit where in what stands under `tasks`."""
        ...

    @property
    def tasks(self) -> Callable[[Any, Path], Sequence[Task]]:
        """The tasks in what stands under `tasks`; files are looked for in the folder.

        Raises UsageError or BadInputError where there are none like that.
        """
        ...

    @property
    def job(self) -> Callable[[Match], Job]:
        """A game, ready to be played.

        Raises UsageError or BadInputError where its switches contradict each other.
        """
        ...


def job_of(match: Match, header: Header, begin: Callable[[], Course]) -> Job:
    """A game, ready to be played.

    Args:
        match: what was asked for.
        header: of the game's log, as the family writes it; its names become those of the experiment.
        begin: gives the game's course, from its beginning.
    """
    header = replace(
        header,
        episode=match.episode,
        run={"name": match.run, "condition": header.run["condition"]},
        details={**header.details, **match.details},
    )
    return Job(match.path, header, match.taken, begin)


def games() -> dict[str, ExperimentGame]:
    """All games, by their families' names."""
    found: dict[str, Any] = dict(modules("games", "experiment"))
    return found


def game_of(name: str) -> ExperimentGame:
    """The game of a family's name.

    Raises:
        UsageError: there is no such game.
    """
    found = games()
    if name not in found:
        raise UsageError(f"there is no game {name!r}{near(name, found)}")
    return found[name]
