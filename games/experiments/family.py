"""What a game family brings to experiments: a module `games.<family>.experiment`, found by its name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from games.players.course import Course
from games.players.player import Form, Observation
from games.players.running import Job
from games.players.setup import PlayerSetup, named
from games.settings import Settings
from schemas.common.errors import UsageError
from schemas.common.text import near
from schemas.families import module, modules
from schemas.game import Header


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
    out: Path
    """Folder of the logs."""
    cast: bool = False
    """All players are scripts that remember."""
    run: str | None = None
    """Name of the experiment; None: there is none, and the family's own names stand."""
    episode: str | None = None
    """A name of the game that no other of the experiment has."""
    details: Mapping[str, Any] = {}
    """For the log's header: what else fixes the game."""

    @property
    def players(self) -> Mapping[str, str]:
        """Agent -> player, as the log names it."""
        return named(self.taken) if self.cast else self.taken


class ShortForm(NamedTuple):
    """`cotrace play GAME`, as far as it differs from family to family."""

    games: int
    """How many games of a team are played by default."""
    counted: str
    """What --games counts, in words."""
    seeds: Sequence[int]
    team: Callable[[Any], Sequence[str]]
    """The `Tasks` -> who plays by default."""
    drawn: Callable[[int | None, int, dict[str, Any]], tuple[dict[str, Any], Sequence[int]]]
    """--games (None: not given), --seed and the options of tasks -> the keys of `Tasks`, and the seeds."""
    examples: Sequence[str]
    """The words after `cotrace play`; the first example is the shortest."""
    one: Callable[[int, Any], Settings]
    """The `Tasks` of a single game, drawn by a number, of one of the kinds that are `offered`: for people who play."""
    kinds: Sequence[str] = ()
    """Games of the family, one of which is named first; empty: it has one."""
    offered: Sequence[Any] = ("",)
    """Kinds of single games; one empty name where there is only one."""
    renamed: Mapping[str, str] = {}
    """Old option -> the one that took its place, or `of a number|of a file`."""
    scripts: Mapping[str, tuple[str, str]] = {}
    """Old option that named a script -> the role it plays, and the role if no other such option is given."""
    turns: str = "turns"
    """What the game calls them."""


class ExperimentGame(Protocol):
    """A module of this form, `games.<family>.experiment`, makes a game playable by experiments."""

    Tasks: type[Settings]
    """The keys under `tasks`."""
    Condition: type[Settings]
    """The switches of a game, with their defaults."""
    SHORT: ShortForm
    """How it is played from the command line."""
    forms: Callable[[Observation], Sequence[Form]]
    """What a person can write when asked, as forms to fill in."""
    player_setup: Callable[[Any], PlayerSetup]
    """`Tasks` -> who can play which agent."""
    tasks: Callable[[Any, Path], Sequence[Task]]
    """`Tasks` and the folder of its files -> the tasks. Raises UsageError or BadInputError where there are none like that."""
    job: Callable[[Match], Job]
    """A game, ready to be played. Raises UsageError or BadInputError where its switches contradict each other."""


def job_of(match: Match, header: Header, begin: Callable[[], Course | None], **details: Any) -> Job:
    """A game, ready to be played.

    Args:
        match: what was asked for.
        header: of the game's log, as the family writes it; in an experiment its names become those of the experiment.
        begin: gives the game's course, from its beginning; of a cast, one that asks no player.
        details: for the log's header, in an experiment.
    """
    if match.cast:
        agents = [replace(agent, persona=agent.model) for agent in header.agents]
        header = replace(header, agents=agents, details={**header.details, "scripted": True})
    if match.run is not None:
        run = {"name": match.run, "condition": header.run["condition"]}
        header = replace(header, episode=match.episode, run=run, details={**header.details, **details, **match.details})
    return Job(match.out / f"{header.episode}.jsonl", header, match.taken, begin, alone=match.cast)


def games() -> dict[str, ExperimentGame]:
    """All games, by their families' names."""
    found: dict[str, Any] = dict(modules("games", "experiment"))
    return found


def game_of(name: str) -> ExperimentGame:
    """The game of a family's name.

    Raises:
        UsageError: no such game.
    """
    found: Any = module(name, "games", "experiment")
    if found is None:
        raise UsageError(f"there is no game {name!r}{near(name, games())}")
    game: ExperimentGame = found
    return game
