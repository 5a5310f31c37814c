"""Games that scripts play among themselves, for the tests of every family."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from games.craft.engine.board import DIRECTORS
from games.craft.game import Game
from games.craft.game import GameSettings as CraftSettings
from games.craft.players.team import ScriptedTeam
from games.craft.players.truths import TurnFacts
from games.craft.setup import GameSetup, course_of
from games.craft.targets import Structure, StructureRules
from games.craft.text.prompts import archetypes
from games.einstein.engine.puzzle import OBJECT_COUNTS
from games.einstein.game import GameSettings as EinsteinSettings
from games.experiments.plan import play as play_short
from games.players.course import played_by
from games.players.running import PlayProgress, RunReport


class Request(Protocol):
    """What is to be played."""

    def runs(self) -> Sequence[tuple[str, Path, dict[str, Any]]]:
        """Family, folder and arguments of `games.experiments.plan.play`, one after the other."""
        ...


def play(request: Request, on_progress: Callable[[int, int], None] | None = None) -> RunReport:
    """Play what is not there yet; one report for all."""
    done = RunReport()

    def watch(now: PlayProgress) -> None:
        assert on_progress is not None
        on_progress(now.games, now.total)

    for family, out, asked in request.runs():
        report = play_short(family, out, on_progress=watch if on_progress else None, **asked)
        done.paths = [*done.paths, *report.paths]
        done.played += report.played
        done.stored += report.stored
        done.turns += report.turns
    return done


def _seats(**scripts: Sequence[str]) -> list[str]:
    return [f"{seat}=script:{name}" for seat, names in scripts.items() for name in names]


@dataclass(frozen=True, slots=True, kw_only=True)
class CraftRequest:
    """Every persona with every builder on every structure."""

    out: Path
    personas: Sequence[str] = ("clear",)
    builders: Sequence[str] = ("oracle_follower",)
    structures: int = 20
    structures_file: Path | None = None
    rules: StructureRules = field(default_factory=StructureRules)
    seed: int = 3
    turns: int = 20
    oracle: bool = True
    start: str = "empty"
    processes: int | None = None

    def runs(self) -> Sequence[tuple[str, Path, dict[str, Any]]]:
        """One run."""
        rules = {"tier": self.rules.complexity, "reachable": self.rules.reachable, "distinct_layers": self.rules.distinct_layers}
        tasks = rules if self.structures_file is None else {"file": self.structures_file}
        asked = {"players": _seats(directors=self.personas, builder=self.builders), "games": self.structures, "seeds": (self.seed,)}
        return [("craft", self.out, {**asked, **tasks, "turns": self.turns, "oracle": self.oracle, "start": self.start})]


@dataclass(frozen=True, slots=True, kw_only=True)
class EinsteinRequest:
    """Every persona with every partner, in every condition, on every puzzle."""

    out: Path
    personas: Sequence[str] = ("sensible",)
    partners: Sequence[str] = ("sensible",)
    games: int = 12
    num_objects: Sequence[int] = OBJECT_COUNTS
    game_ids: Sequence[str] = ()
    seed: int = 3
    conditions: Sequence[EinsteinSettings] = field(default_factory=lambda: (EinsteinSettings(),))
    trajectories: int = 0

    def runs(self) -> Sequence[tuple[str, Path, dict[str, Any]]]:
        """One run a condition."""
        tasks: dict[str, Any] = {"task": list(self.game_ids)} if self.game_ids else {"objects": list(self.num_objects)}
        players = {} if self.trajectories else {"players": _seats(player1=self.personas, player2=self.partners)}
        asked = {**players, "games": self.games, "seeds": (self.seed,), **tasks, "trajectories": self.trajectories}
        return [("einstein", self.out, {**asked, **_einstein(settings)}) for settings in self.conditions]


def _einstein(settings: EinsteinSettings) -> dict[str, Any]:
    facts = settings.model_dump()
    return {**facts, "modes": "+".join(facts["modes"])}


def craft_turns(structure: Structure, settings: CraftSettings, persona: str, builder: str, *, seed: int) -> Iterator[TurnFacts]:
    """What is known of each turn of a game; three personas joined by + are those of D1, D2 and D3."""
    names = persona.split("+")
    players = dict(zip(DIRECTORS, names * 3 if len(names) == 1 else names, strict=True)) | {"Builder": builder}
    game = Game(structure, settings, seed=seed)
    asked = GameSetup(structure=structure, characters=archetypes(0, seed), settings=settings, taken=players, seed=seed, cast=True)
    team = _Team(game, players)
    for _ in played_by(course_of(asked, game=game), team):
        yield team.facts


class _Team(ScriptedTeam):
    facts: TurnFacts

    def finished(self) -> TurnFacts:
        self.facts = super().finished()
        return self.facts
