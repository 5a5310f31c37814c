"""Games with exactly one faulty player: who it is, what its fault is, and from when on.

A family's module `experiment` can have ``FAULTLESS`` (scripts that play as well as they can) and ``play_planted`` (plays
such games, every fault and agent by turns).
"""

import copy
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from games.players.running import RunReport
from games.players.setup import SCRIPT, fixed_in, onset_of, script_of
from schemas.families import modules


def with_faults() -> dict[str, Any]:
    """The modules of families that have such games, by the families' names."""
    return {name: found for name, found in modules("games", "experiment") if hasattr(found, "play_planted")}


OnProgress: TypeAlias = Callable[[int, int], None]
"""Called with the games finished and the games in all."""

Fixed = Literal["throughout"] | Sequence[tuple[int, int]]
"""Faultless throughout; or games by their place, from 0, and the one turn of each in which the faulty player is faultless."""


class FaultyPlayer(NamedTuple):
    """The faulty player of a game."""

    agent: str
    fault: str
    turn: int
    """From which on, from 1; the fault need not show in that very turn."""


class PlantedGame(NamedTuple):
    """A game to be played."""

    place: int
    """From 0."""
    agent: str
    script: str
    """`fault`, or `fault@turn`."""
    rng: random.Random
    """For what else differs from game to game."""
    others: Mapping[str, str] = {}
    """Agent -> script of the other faulty players, where there are more."""

    @property
    def faulty(self) -> Mapping[str, str]:
        """Agent -> script of all faulty players."""
        return {**self.others, self.agent: self.script}


def the_faulty_one(scripts: Mapping[str, str | None], faultless: Collection[str]) -> FaultyPlayer | None:
    """The one agent whose script is none of the faultless ones; None if there is none, or more than one, or no agent plays by a script.

    What follows a comma in the name of a script, its manner of wording, does not count.
    """
    if not scripts or None in scripts.values():
        return None
    played = {agent: str(script).partition(",")[0] for agent, script in scripts.items()}
    at_fault = [(agent, script) for agent, script in played.items() if script_of(script) not in faultless]
    if len(at_fault) != 1:
        return None
    agent, name = at_fault[0]
    onset = onset_of(name, (script_of(name),), "script")
    return FaultyPlayer(agent, onset.script, onset.turn)


def cases(games: int, seed: int, faults: Mapping[str, Sequence[str]], *, latest: int) -> Iterator[PlantedGame]:
    """Every fault (agent -> scripts) of every agent by turns, from the start or from a later turn, at most `latest` (2 or more)."""
    rng = random.Random(f"planted:{seed}")
    pairs = [(agent, fault) for agent, scripts in faults.items() for fault in scripts]
    rng.shuffle(pairs)
    for place, (agent, fault) in enumerate(islice(cycle(pairs), games)):
        turn = rng.choice((1, rng.randint(2, latest)))
        yield PlantedGame(place, agent, fault if turn == 1 else f"{fault}@{turn}", random.Random(f"planted:{seed}:{place}"))


def _with_others(case: PlantedGame, faults: Mapping[str, Sequence[str]], seed: int) -> PlantedGame:
    """The same game with a fault, drawn from the start on, of every other agent; `GAME AGENT` are of one game."""
    rng, group = random.Random(f"others:{seed}:{case.place}"), case.agent.rpartition(" ")[0]
    agents = [agent for agent in faults if agent != case.agent and agent.rpartition(" ")[0] == group]
    return case._replace(others={agent: rng.choice(faults[agent]) for agent in agents})


def as_asked(team: Mapping[str, str]) -> list[str]:
    """Agent -> script, as players are asked for."""
    return [f"{agent}={SCRIPT}{name}" for agent, name in team.items()]


@dataclass(frozen=True, slots=True)
class PlantedGames:
    """The games of a family with one faulty player each."""

    faults: Mapping[str, Sequence[str]]
    """Agent -> scripts."""
    faultless: Callable[[PlantedGame], str]
    """The script of the same agent without a fault."""
    one: Callable[[Path, PlantedGame, int], RunReport]
    """Plays a game: folder for the logs, the game, the seed of all."""
    latest: int = 8
    """The latest turn from which on a fault begins, unless games are shorter."""

    def __call__(  # noqa: PLR0913
        self,
        out: Path,
        games: int,
        seed: int,
        on_progress: OnProgress | None = None,
        *,
        fixed: Fixed | None = None,
        all_faulty: bool = False,
    ) -> RunReport:
        """Play games with one faulty player each; what is there already is not played again.

        Args:
            out: folder for the logs.
            games: how many.
            seed: fixes all of them.
            on_progress: called with the games finished and the games in all.
            fixed: play the same games with the faulty player fixed, throughout or in one turn.
            all_faulty: every other agent has a fault, too.
        """
        chosen = [*cases(games, seed, self.faults, latest=self.latest)]
        if fixed == "throughout":
            chosen = [case._replace(script=self.faultless(case)) for case in chosen]
        elif fixed is not None:
            cases_of = [(chosen[place], turn) for place, turn in fixed]
            chosen = [case._replace(script=fixed_in(case.script, turn), rng=copy.copy(case.rng)) for case, turn in cases_of]
        if all_faulty:
            chosen = [_with_others(case, self.faults, seed) for case in chosen]
        report = RunReport()
        for number, case in enumerate(chosen, start=1):
            played = self.one(out, case, seed)
            report.paths = [*report.paths, *played.paths]
            report.played += played.played
            report.stored += played.stored
            report.turns += played.turns
            if on_progress is not None:
                on_progress(number, len(chosen))
        return report
