"""Games with exactly one faulty player: who it is, what its fault is, and from when on.

A family's module `planted` has ``FAULTLESS`` (scripts that play as well as they can), ``fault_in`` (who is at fault in a team) and
``play_planted`` (plays such games, every fault and agent by turns).
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import cycle, islice
from typing import Final, Literal, NamedTuple, TypeAlias

from games.players.running import RunReport
from games.players.setup import mended_in, onset_of, script_of

OnProgress: TypeAlias = Callable[[int, int], None]
"""Called with the games finished and the games in all."""

Mended = Literal["throughout"] | Sequence[tuple[int, int]]
"""Faultless throughout; or games by their place, from 0, and the one turn of each in which the faulty player is faultless."""

_LATEST: Final = 8
"""The latest turn from which on a planted fault begins, unless games are shorter."""


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

    seat: str
    script: str
    """`fault`, or `fault@turn`."""

    rng: random.Random
    """For what else differs from game to game."""


def the_faulty_one(scripts: Mapping[str, str | None], faultless: Collection[str]) -> FaultyPlayer | None:
    """The one agent whose script is none of the faultless ones; None if there is none, or more than one, or nobody plays by a script.

    Args:
        scripts: agent -> script, as logs name it.
        faultless: scripts that play as well as they can.
    """
    if not scripts or None in scripts.values():
        return None
    at_fault = [(agent, str(script)) for agent, script in scripts.items() if script_of(str(script)) not in faultless]
    if len(at_fault) != 1:
        return None
    agent, name = at_fault[0]
    onset = onset_of(name, (script_of(name),), "script")
    return FaultyPlayer(agent, onset.script, onset.turn)


def cases(games: int, seed: int, faults: Mapping[str, Sequence[str]], *, latest: int = _LATEST) -> Iterator[PlantedGame]:
    """Every fault of every agent by turns, from the start or from a later turn.

    Args:
        games: how many.
        seed: fixes all of them.
        faults: seat -> scripts.
        latest: the latest turn from which on a fault begins, at least 2.
    """
    rng = random.Random(f"planted:{seed}")
    pairs = [(seat, fault) for seat, scripts in faults.items() for fault in scripts]
    rng.shuffle(pairs)
    for place, (seat, fault) in enumerate(islice(cycle(pairs), games)):
        turn = rng.choice((1, rng.randint(2, latest)))
        yield PlantedGame(place, seat, fault if turn == 1 else f"{fault}@{turn}", random.Random(f"planted:{seed}:{place}"))


def played_cases(
    chosen: Iterator[PlantedGame],
    play: Callable[[PlantedGame], RunReport],
    faultless: Callable[[PlantedGame], str],
    on_progress: OnProgress | None,
    mended: Mended | None,
) -> RunReport:
    """Play games one by one, or instead of them those that are mended; gives one report for all.

    Args:
        chosen: the games.
        play: plays one.
        faultless: the script of the same seat without a fault.
        on_progress: called with the games finished and the games in all.
        mended: which of them are mended, and how.
    """
    games = [*chosen]
    if mended == "throughout":
        games = [case._replace(script=faultless(case)) for case in games]
    elif mended is not None:
        games = [_mended(games[place], turn) for place, turn in mended]
    reports: list[RunReport] = []
    for case in games:
        reports.append(play(case))
        if on_progress is not None:
            on_progress(len(reports), len(games))
    return RunReport(
        paths=[path for report in reports for path in report.paths],
        played=sum(report.played for report in reports),
        kept=sum(report.kept for report in reports),
        turns=sum(report.turns for report in reports),
    )


def _mended(case: PlantedGame, turn: int) -> PlantedGame:
    return case._replace(script=mended_in(case.script, turn), rng=copy.copy(case.rng))
